package app

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/kaggle/sandbox"
)

// told gives the keys that listeners of a were told, and drains them.
func told(sub *Subscription) string {
	var keys []string
	for _, n := range notices(sub) {
		keys = append(keys, n.Key)
	}
	return strings.Join(keys, " ")
}

// A silenced kind counts as told: nothing comes later. A pause silences everything
// until midnight where the person is, and no longer.
func TestSilencedNoticesDoNotComeLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sandbox.Options{}, works(0))
		a := w.open(t, "")
		defer closeApp(t, a)
		ctx := t.Context()
		sub := a.Subscribe()
		defer sub.Close()
		if err := a.SilenceNotices(ctx, "finished", true); err != nil {
			t.Fatal(err)
		}
		a.tell(ctx, Notice{Key: "a", Kind: "finished"})
		a.tell(ctx, Notice{Key: "b", Kind: "failed"})
		if err := a.SilenceNotices(ctx, "finished", false); err != nil {
			t.Fatal(err)
		}
		a.tell(ctx, Notice{Key: "a", Kind: "finished"})
		a.tell(ctx, Notice{Key: "c", Kind: "finished"})
		if got := told(sub); got != "b c" {
			t.Errorf("told %q, want b and c", got)
		}
		if err := a.PauseNotices(ctx, true); err != nil {
			t.Fatal(err)
		}
		c, err := a.NoticeChoices(ctx)
		if at := Local(c.PausedUntil); err != nil || at.Hour() != 0 || at.Minute() != 0 || !at.After(a.now()) || at.Sub(a.now()) > 25*time.Hour {
			t.Fatalf("paused until %v (%v)", at, err)
		}
		a.tell(ctx, Notice{Key: "d", Kind: "failed"})
		time.Sleep(time.Until(c.PausedUntil) + time.Second)
		a.tell(ctx, Notice{Key: "d", Kind: "failed"})
		a.tell(ctx, Notice{Key: "e", Kind: "failed"})
		if got := told(sub); got != "e" {
			t.Errorf("told %q after midnight, want e alone", got)
		}
		if err := a.PauseNotices(ctx, true); err != nil {
			t.Fatal(err)
		}
		if err := a.PauseNotices(ctx, false); err != nil {
			t.Fatal(err)
		}
		a.tell(ctx, Notice{Key: "f", Kind: "failed"})
		if got := told(sub); got != "f" {
			t.Errorf("told %q after the pause was ended, want f", got)
		}
		if err := a.SilenceNotices(ctx, "no-such-kind", true); err == nil {
			t.Error("a kind that does not exist was silenced")
		}
	})
}

// A pause that was begun under a clock a year ahead does not silence a year.
func TestAPauseIsNeverLongerThanADay(t *testing.T) {
	w := newWorld(t, sandbox.Options{}, works(0))
	var ahead atomic.Int64
	a := w.open(t, "", func(o *Options) { o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) } })
	defer closeApp(t, a)
	ahead.Store(int64(365 * 24 * time.Hour))
	if err := a.PauseNotices(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	ahead.Store(0)
	if c, err := a.NoticeChoices(t.Context()); err != nil || !c.PausedUntil.IsZero() {
		t.Errorf("paused until %v (%v)", c.PausedUntil, err)
	}
}

// What the window shows is not told on top of it, by whatever process it was seen.
func TestWhatIsOnTheScreenIsNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sandbox.Options{}, works(0))
		home := t.TempDir()
		a, b := w.open(t, home), w.open(t, home)
		defer closeApp(t, a)
		defer closeApp(t, b)
		ctx := context.Background()
		for _, x := range []*App{a, b} {
			if err := x.StartWatcher(ctx); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		here, there := a.Subscribe(), b.Subscribe()
		defer here.Close()
		defer there.Close()
		tell := func(key string) {
			a.tell(ctx, Notice{Key: key + "run", Kind: "finished", Run: 7})
			a.tell(ctx, Notice{Key: key + "other", Kind: "finished", Run: 8})
			a.tell(ctx, Notice{Key: key + "hours", Kind: "expiring"})
			time.Sleep(10 * time.Second)
		}
		b.Look(Sight{Run: 7})
		tell("1")
		b.Look(Sight{Week: true})
		tell("2")
		b.Look(Sight{})
		tell("3")
		if got := told(there); got != "1other 1hours 2run 2other 3run 3other 3hours" {
			t.Errorf("the window was told %q", got)
		}
		if got := told(here); got != "1run 1other 1hours 2run 2other 2hours 3run 3other 3hours" {
			t.Errorf("the other process was told %q", got)
		}
	})
}

// Several at once become one, from which what is silenced is left out.
func TestAGroupLeavesOutWhatIsSilenced(t *testing.T) {
	w := newWorld(t, sandbox.Options{}, works(0))
	a := w.open(t, "")
	defer closeApp(t, a)
	if err := a.SilenceNotices(t.Context(), "finished", true); err != nil {
		t.Fatal(err)
	}
	sub := a.Subscribe()
	defer sub.Close()
	watch := newWatcher(a)
	for _, n := range []Notice{{Key: "1", Kind: "finished", Title: "Finished: one", Run: 1}, {Key: "2", Kind: "near-cap", Title: "Near its cap: two", Run: 2}, {Key: "3", Kind: "failed", Title: "Failed: three", Run: 3}} {
		watch.notice(n)
	}
	watch.flushNotices(true)
	ns := notices(sub)
	if len(ns) != 1 || ns[0].Kind != "failed" || ns[0].Title != "2 runs changed" || ns[0].Body != "Near its cap: two\nFailed: three" {
		t.Errorf("told %+v", ns)
	}
	for _, n := range []Notice{{Key: "4", Kind: "expiring", Title: "GPU"}, {Key: "5", Kind: "quota-reset", Title: "TPU"}} {
		watch.notice(n)
	}
	watch.flushNotices(true)
	if ns := notices(sub); len(ns) != 1 || ns[0].Title != "2 things happened" {
		t.Errorf("told %+v", ns)
	}
}
