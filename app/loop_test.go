package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/kaggle/sandbox"
)

// The whole loop with a folder of a person's own: push, watch, collect by itself.
func TestLoopOwnKernel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sandbox.Options{StartDelay: time.Minute}, works(2*time.Hour))
		a := w.open(t, "")
		defer closeApp(t, a)
		dir := kernelFolder(t, "leaf-fold-zero", "NvidiaTeslaT4", nil)
		sub := a.Subscribe()
		defer sub.Close()
		if err := a.StartWatcher(t.Context()); err != nil {
			t.Fatal(err)
		}
		row := pushDir(t, a, dir, PushOptions{Hours: 3})
		if row.State != StateQueued || row.Version != 1 || row.Kernel != "sam-roe/leaf-fold-zero" {
			t.Fatalf("after the push: %+v", row)
		}
		until(t, 4*time.Hour, "collected", func() bool { return !getRun(t, a, row.ID).CollectedAt.IsZero() })
		v, err := a.Run(t.Context(), row.ID)
		if err != nil {
			t.Fatal(err)
		}
		if v.State != StateComplete || v.Outcome != OutcomeComplete {
			t.Errorf("got state %q, outcome %q, want complete twice (%s)", v.State, v.Outcome, v.Failure)
		}
		if v.Hours < 1.98 || v.Hours > 2.02 {
			t.Errorf("burned %.3f h, want 2.0", v.Hours)
		}
		text, err := os.ReadFile(filepath.Join(dir, ".sandglass", "runs", "leaf-fold-zero-v1", "result.txt"))
		if err != nil || !strings.HasPrefix(string(text), "result of") {
			t.Errorf("collected file: %q, %v", text, err)
		}
		lines, n, err := a.LogLines(t.Context(), row.ID, 0, 10)
		if err != nil || n != 2 || lines[0].Text != "hello from leaf-fold-zero" || lines[1].Text != "bye" {
			t.Errorf("log: %v, %d lines, %v", lines, n, err)
		}
		if got := w.count("SaveKernel"); got != 1 {
			t.Errorf("%d pushes, want 1", got)
		}
		var notices []Notice
		for len(sub.C()) > 0 {
			if e := <-sub.C(); e.Notice != nil {
				notices = append(notices, *e.Notice)
			}
		}
		if len(notices) != 1 || notices[0].Kind != "finished" || !strings.Contains(notices[0].Title, "leaf-fold-zero") {
			t.Errorf("notices: %+v", notices)
		}
	})
}

var _ = context.Background
