package app

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/kaggle/sandbox"
)

// A run is told of once when it nears its cap and once when the cap stops it, also
// over a restart in between; one that ends in time is told of once, as finished.
func TestTheEndOfARunIsToldOnce(t *testing.T) {
	for name, c := range map[string]struct {
		takes time.Duration
		want  []string
		title string
	}{
		"stopped by the cap": {9 * time.Hour, []string{"near-cap", "failed"}, "Stopped by its cap: some-run"},
		"late, in time":      {115 * time.Minute, []string{"near-cap", "finished"}, "Finished: some-run"},
		"early":              {time.Hour, []string{"finished"}, "Finished: some-run"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, sandbox.Options{}, works(c.takes))
				home := t.TempDir()
				var told []Notice
				watch := func(d time.Duration, more func(a *App)) {
					a := w.open(t, home)
					defer closeApp(t, a)
					sub := a.Subscribe()
					defer sub.Close()
					if err := a.StartWatcher(context.Background()); err != nil {
						t.Fatal(err)
					}
					more(a)
					time.Sleep(d)
					told = append(told, notices(sub)...)
				}
				watch(114*time.Minute, func(a *App) { pushDir(t, a, kernelFolder(t, "some-run", "NvidiaTeslaT4", nil), PushOptions{Hours: 2}) })
				watch(20*time.Minute, func(*App) {})
				watch(20*time.Minute, func(*App) {})
				var kinds []string
				for _, n := range told {
					kinds = append(kinds, n.Kind)
				}
				if !slices.Equal(kinds, c.want) || told[len(told)-1].Title != c.title || told[len(told)-1].Body == "" {
					t.Errorf("told %+v, want %v", told, c.want)
				}
				if kinds[0] == "near-cap" && !strings.HasPrefix(told[0].Body, "stopped in ") {
					t.Errorf("near the cap it says %q", told[0].Body)
				}
			})
		})
	}
}

// Every kind that is told can be silenced: what the person cannot name they cannot switch off.
func TestEveryKindCanBeSilenced(t *testing.T) {
	names := map[string]bool{}
	for _, k := range NoticeKinds() {
		if k.Kind == "" || k.Name == "" || k.What == "" || names[k.Kind] {
			t.Errorf("%+v", k)
		}
		names[k.Kind] = true
	}
	for _, kind := range []string{"tpu-started", "finished", "failed", "near-cap", "queue-stopped", "slot-freed", "quota-reset", "expiring"} {
		if !names[kind] {
			t.Errorf("%s cannot be silenced", kind)
		}
	}
}
