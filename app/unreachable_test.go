package app

import (
	"testing"
	"testing/synctest"
	"time"

	"sandglass/kaggle/sandbox"
)

// TestUnreachableIsTakenBack: each verb is a process of its own, so the one that gets an answer again is not the one that got
// none; the mark goes all the same, though the state is what it was, and while it lasts it keeps its first time.
func TestUnreachableIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sandbox.Options{}, works(5*time.Hour))
		a := w.open(t, "")
		defer closeApp(t, a)
		run := pushDir(t, a, kernelFolder(t, "far-away", "NvidiaTeslaT4", nil), PushOptions{Hours: 6})
		time.Sleep(10 * time.Minute)
		if _, err := a.Refresh(t.Context(), run.Kernel); err != nil {
			t.Fatal(err)
		}
		w.setDown(true)
		if _, err := a.Refresh(t.Context(), run.Kernel); err == nil {
			t.Fatal("there was an answer without a network")
		}
		first := getRun(t, a, run.ID).UnreachableSince
		time.Sleep(20 * time.Minute)
		if _, err := a.Refresh(t.Context(), run.Kernel); err == nil {
			t.Fatal("there was an answer without a network")
		}
		if since := getRun(t, a, run.ID).UnreachableSince; first.IsZero() || !since.Equal(first) {
			t.Errorf("unreachable since %v, and before since %v", since, first)
		}
		w.setDown(false)
		v, err := a.Refresh(t.Context(), run.Kernel)
		if err != nil || v.State != StateRunning || !v.UnreachableAt.IsZero() {
			t.Errorf("%s, unreachable since %v, %v", v.State, v.UnreachableAt, err)
		}
	})
}
