package desktop

import (
	"math"
	"testing"
	"time"

	"sandglass/app"
)

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 12 * time.Second: "12 s", 46 * time.Minute: "46 min", 2*time.Hour + 41*time.Minute: "2 h 41 min",
		3 * time.Hour: "3 h", 52 * time.Hour: "2 d 4 h", 48 * time.Hour: "2 d", 59*time.Second + 600*time.Millisecond: "1 min",
	} {
		if got := span(d); got != want {
			t.Errorf("span(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestWhen(t *testing.T) {
	zone := time.Local
	time.Local = time.FixedZone("CET", 3600)
	t.Cleanup(func() { time.Local = zone })
	now := time.Date(2026, 12, 2, 15, 0, 0, 0, time.Local)
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{time.Time{}, "-"},
		{now.Add(-3 * time.Second), "just now"},
		{now.Add(-12 * time.Minute), "12 min ago"},
		{now.Add(-9 * time.Hour), "06:00"},
		{now.Add(-24 * time.Hour), "yesterday 15:00"},
		{now.Add(-4 * 24 * time.Hour), "Sat 28 Nov"},
		{now.Add(-400 * 24 * time.Hour), "28 Oct 2025"},
		{now.Add(24 * time.Hour), "tomorrow 15:00"},
		{now.Add(2 * time.Hour), "17:00"},
	} {
		if got := when(c.at, now); got != c.want {
			t.Errorf("when(%v) = %q, want %q", c.at, got, c.want)
		}
	}
}

func TestScoreAndBytes(t *testing.T) {
	f := func(x float64) *float64 { return &x }
	for _, c := range []struct{ got, want string }{
		{score(nil), "—"}, {score(f(math.NaN())), "—"}, {score(f(0.85149)), "0.851"}, {score(f(-12.345)), "-12.35"}, {score(f(1234.5)), "1234.5"},
		{bytesText(812), "812 B"}, {bytesText(40_100), "40.1 kB"}, {bytesText(1_240_000), "1.2 MB"}, {hours(9.95), "9.9 h"}, {poolHours(7, app.PoolTPU), "7.0 TPU-hours"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestStatusNamesEveryState(t *testing.T) {
	for _, s := range []string{app.StatePushing, app.StateUnclear, app.StateWaiting, app.StateRefused, app.StateQueued, app.StateRunning, app.StateStopping,
		app.StateComplete, app.StateError, app.StateCancel, app.StateMissing, app.StateNoRun} {
		if word, _ := statusOf(app.RunRow{State: s}); word == "" || word == s {
			t.Errorf("state %q has no word of its own: %q", s, word)
		}
	}
	if word, tn := statusOf(app.RunRow{State: app.StateCancel, Outcome: app.OutcomeKilled}); word != "Stopped by its cap" || tn != toneWarn {
		t.Errorf("the outcome must beat the state, got %q", word)
	}
}
