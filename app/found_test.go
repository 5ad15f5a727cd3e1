package app

import (
	"testing"
	"testing/synctest"
	"time"

	"sandglass/kaggle/sandbox"
)

// TestFoundLongAfter: a kernel that was pushed elsewhere and ended days ago is not charged for the days until somebody looked.
func TestFoundLongAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sandbox.Options{}, works(2*time.Hour))
		here := w.open(t, "")
		defer closeApp(t, here)
		run := pushDir(t, here, kernelFolder(t, "long-ago", "NvidiaTeslaT4", nil), PushOptions{Hours: 3})
		time.Sleep(50 * time.Hour)

		elsewhere := w.open(t, "")
		defer closeApp(t, elsewhere)
		before, err := elsewhere.Quota(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}
		c, err := elsewhere.Collect(t.Context(), run.Kernel, CollectOptions{Dir: t.TempDir()}, nil)
		if err != nil || c.Run.State != StateComplete || c.Run.Hours != 0 {
			t.Errorf("%s, %.1f h: %v", c.Run.State, c.Run.Hours, err)
		}
		after, err := elsewhere.Quota(t.Context(), false)
		if err != nil || after.GPU.Left != before.GPU.Left || after.GPU.Held != 0 {
			t.Errorf("left %.1f h before and %.1f h after, held %.1f h: %v", before.GPU.Left, after.GPU.Left, after.GPU.Held, err)
		}
	})
}
