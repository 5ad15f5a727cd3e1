package app

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/kaggle/sandbox"
)

// A session of a full pool that frees is told of once for ever, with what it means, unless the queue takes it at once; one of
// a pool that was not full is no news.
func TestSlotFreed(t *testing.T) {
	for name, c := range map[string]struct {
		holders, waits int           // runs that hold a session, and that wait for one
		paused         bool          // the queue is
		total          time.Duration // of a week; 0 = 30 h
		want           []string      // how each notice begins
	}{
		"both were taken":          {holders: 2, want: []string{"A GPU slot is free: hold-0 ended, and nothing waits for it; 29.2 GPU-hours are left until "}},
		"one was free all along":   {holders: 1},
		"the queue takes it":       {holders: 2, waits: 1},
		"the queue is paused":      {holders: 2, waits: 1, paused: true, want: []string{"A GPU slot is free: hold-0 ended; wait-0 does not go out: the queue is paused"}},
		"no hours are left for it": {holders: 2, total: 65 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, sandbox.Options{GPUTotal: c.total}, func(ctx context.Context, job sandbox.Job) sandbox.Result {
					d := 20 * time.Minute
					if job.Slug == "hold-1" {
						d = 29 * time.Minute
					}
					return works(d)(ctx, job)
				})
				home := t.TempDir()
				a := w.open(t, home)
				sub := a.Subscribe()
				if err := a.StartWatcher(t.Context()); err != nil {
					t.Fatal(err)
				}
				for i := range c.holders {
					pushDir(t, a, kernelFolder(t, fmt.Sprint("hold-", i), "NvidiaTeslaT4", nil), PushOptions{Hours: 0.5})
				}
				for i := range c.waits {
					pushDir(t, a, kernelFolder(t, fmt.Sprint("wait-", i), "NvidiaTeslaT4", nil), PushOptions{Hours: 0.5, QueueIfFull: true})
				}
				if err := a.QueuePause(t.Context(), c.paused); err != nil {
					t.Fatal(err)
				}
				time.Sleep(25 * time.Minute) // hold-0 is over, hold-1 is not
				var got []string
				for range 2 {
					for _, n := range notices(sub) {
						if n.Kind == "slot-freed" {
							got = append(got, n.Title+": "+n.Body)
						}
					}
					sub.Close()
					closeApp(t, a) // and nothing of it again after a restart
					a = w.open(t, home)
					sub = a.Subscribe()
					if err := a.StartWatcher(t.Context()); err != nil {
						t.Fatal(err)
					}
					time.Sleep(2 * time.Minute)
				}
				sub.Close()
				closeApp(t, a)
				for i := range max(len(got), len(c.want)) {
					if i >= len(got) || i >= len(c.want) || !strings.HasPrefix(got[i], c.want[i]) {
						t.Fatalf("told %q, want %q", got, c.want)
					}
				}
			})
		})
	}
}
