package app

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/kaggle/sandbox"
)

// The monotonic clock stands still in sleep on some systems and goes on in others.
func TestSleepIsSeenByEitherClock(t *testing.T) {
	w := newWorld(t, sandbox.Options{}, works(0))
	a := w.open(t, "")
	defer closeApp(t, a)
	start := time.Now()
	at := func(d time.Duration) time.Time { return start.Add(d) }
	for _, c := range []struct {
		name              string
		wall, mono, alarm time.Duration
		jumped            bool
	}{
		{"awake", 2 * time.Second, 2 * time.Second, 2 * time.Second, false},
		{"woken early", time.Second, time.Second, 2 * time.Second, false},
		{"a busy computer", 20 * time.Second, 20 * time.Second, 2 * time.Second, false},
		{"asleep, the clock stood", time.Hour, 2 * time.Second, 2 * time.Second, true},
		{"asleep, the clock went on", time.Hour, time.Hour, 2 * time.Second, true},
		{"set forward", 24 * time.Hour, 2 * time.Second, 2 * time.Second, true},
		{"set back", -24 * time.Hour, 2 * time.Second, 2 * time.Second, true},
		{"set by a second", 3 * time.Second, 2 * time.Second, 2 * time.Second, false},
	} {
		x := newWatcher(a)
		x.wall, x.mono, x.alarm = start.Round(0), start, at(c.alarm)
		if got := x.jumped(start.Round(0).Add(c.wall), at(c.mono)); got != c.jumped {
			t.Errorf("%s: jumped %v", c.name, got)
		}
		if x.jumped(start.Round(0).Add(c.wall), at(c.mono)) {
			t.Errorf("%s: seen twice", c.name)
		}
	}
	x := newWatcher(a) // a long round is no sleep: no alarm was set
	x.wall, x.mono = start.Round(0), start
	if x.jumped(start.Round(0).Add(time.Hour), at(time.Hour)) {
		t.Error("an hour of work counts as sleep")
	}
}

// A clock that is set back by a day does not stop the watch for a day.
func TestTheClockIsSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sandbox.Options{}, works(time.Hour))
		var off atomic.Int64
		off.Store(int64(24 * time.Hour))
		a := w.open(t, "", func(o *Options) { o.Now = func() time.Time { return time.Now().Add(time.Duration(off.Load())) } })
		defer closeApp(t, a)
		if err := a.StartWatcher(t.Context()); err != nil {
			t.Fatal(err)
		}
		row := pushDir(t, a, kernelFolder(t, "set-back", "NvidiaTeslaT4", nil), PushOptions{Hours: 2})
		time.Sleep(10 * time.Minute)
		off.Store(0)
		until(t, 2*time.Hour, "collected", func() bool { return !getRun(t, a, row.ID).CollectedAt.IsZero() })
		time.Sleep(time.Minute)
		week, err := a.Week(t.Context())
		if err != nil || !week.Quota.Live || week.Quota.FetchedAt.After(a.now()) {
			t.Errorf("the quota shown is of %v, live %v (%v); it is %v", week.Quota.FetchedAt, week.Quota.Live, err, a.now())
		}
	})
}

// A TPU run that left the queue while nobody watched is told of at the next start,
// and one that a plan or a verb saw first is told of as well; each once.
func TestTheStartOfATPURunIsToldWhoeverSeesIt(t *testing.T) {
	for _, how := range []string{"while closed", "by another question", "while watched"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, sandbox.Options{TPUQueue: time.Hour}, works(5*time.Hour))
				home := t.TempDir()
				a := w.open(t, home)
				row := pushDir(t, a, kernelFolder(t, "cnx-tpu", "TpuV5E8", nil), PushOptions{Hours: 6})
				sub := a.Subscribe()
				if how != "while closed" {
					if err := a.StartWatcher(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if how == "by another question" {
					for range 3 * 60 { // it asks more often than the watcher does
						time.Sleep(time.Minute)
						if _, err := a.Refresh(t.Context(), "cnx-tpu"); err != nil {
							t.Fatal(err)
						}
					}
				} else {
					time.Sleep(3 * time.Hour)
				}
				if how == "while closed" {
					sub.Close()
					closeApp(t, a)
					a = w.open(t, home)
					sub = a.Subscribe()
					if err := a.StartWatcher(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(time.Minute)
				ns := notices(sub)
				if len(ns) != 1 || ns[0].Kind != "tpu-started" || ns[0].Run != row.ID || !strings.HasPrefix(ns[0].Body, "waited 1 h") {
					t.Errorf("told %+v", ns)
				}
				sub.Close()
				closeApp(t, a)
			})
		})
	}
}

// An end that somebody else saw first is told of, unless the person brought it about.
func TestAnEndIsToldWhoeverSeesIt(t *testing.T) {
	for _, how := range []string{"seen by a verb", "deleted from here"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, sandbox.Options{}, works(time.Hour))
				a := w.open(t, "")
				defer closeApp(t, a)
				if err := a.SetSetting(t.Context(), "collect.auto", "off"); err != nil {
					t.Fatal(err)
				}
				if err := a.StartWatcher(t.Context()); err != nil {
					t.Fatal(err)
				}
				pushDir(t, a, kernelFolder(t, "some-run", "NvidiaTeslaT4", nil), PushOptions{Hours: 2})
				time.Sleep(30 * time.Minute)
				sub := a.Subscribe()
				defer sub.Close()
				want := 1
				if how == "deleted from here" {
					want = 0
					if err := a.Delete(t.Context(), "some-run"); err != nil {
						t.Fatal(err)
					}
				} else {
					for range 60 * 60 {
						time.Sleep(time.Second)
						if _, err := a.Refresh(t.Context(), "some-run"); err != nil {
							t.Fatal(err)
						}
					}
				}
				time.Sleep(10 * time.Minute)
				if ns := notices(sub); len(ns) != want || want == 1 && ns[0].Kind != "finished" {
					t.Errorf("told %+v", ns)
				}
			})
		})
	}
}
