package app

import (
	"log/slog"
	"testing"
	"time"
)

// A screen says "live" only of a recent reading whose successor was not refused, and never claims a failure nobody had.
func TestMarkFresh(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	a := &App{now: func() time.Time { return now }, log: slog.New(slog.DiscardHandler)}
	for _, c := range []struct {
		name string
		age  time.Duration // < 0: never read
		lost bool
		live bool
		why  bool
	}{
		{"just read", time.Second, false, true, false},
		{"between two readings", quotaIdle, false, true, false},
		{"long ago", 3 * time.Hour, false, false, true},
		{"recent, then no answer", time.Minute, true, false, true},
		{"not asked yet", -1, false, false, false},
		{"asked and no answer", -1, true, false, true},
	} {
		v := QuotaView{Why: "before"}
		if c.age >= 0 {
			v.FetchedAt = now.Add(-c.age)
		}
		a.quotaLost.Store(c.lost)
		a.markFresh(&v)
		if v.Live != c.live || (v.Why != "") != c.why {
			t.Errorf("%s: live %v, why %q", c.name, v.Live, v.Why)
		}
	}
}
