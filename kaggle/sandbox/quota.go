package sandbox

import (
	"time"
)

// Pools of machines; slots and quota are counted in them.
const (
	poolGPU = "gpu"
	poolTPU = "tpu"
	poolCPU = "cpu"
)

// Limits of a pool: concurrent sessions (queued ones count) and the longest a session may last, in wall time.
var (
	poolSlots = map[string]int{poolGPU: 2, poolTPU: 1, poolCPU: 5}
	poolLimit = map[string]time.Duration{poolGPU: 12 * time.Hour, poolTPU: 9 * time.Hour, poolCPU: 12 * time.Hour}
)

// clockNow is the sandbox's own time: that of queue, quota and week. The caller holds s.mu (or owns s alone).
func (s *Sandbox) clockNow() time.Time {
	wall := s.now().Sub(s.st.WallAt)
	return s.st.ClockAt.Add(time.Duration(float64(wall) * s.opt.Speed))
}

// wallFor is how long d of the sandbox's time takes on the wall.
func (s *Sandbox) wallFor(d time.Duration) time.Duration {
	return time.Duration(float64(d) / s.opt.Speed)
}

// weekStart is the last Saturday 00:00 UTC at or before t.
func weekStart(t time.Time) time.Time {
	t = t.UTC()
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	return day.AddDate(0, 0, -((int(day.Weekday()) + 1) % 7))
}

// poolUse is what a pool has used in the week of now, and what running sessions may still use. A session that crosses
// the reset is charged to each week for its part in it. The caller holds s.mu.
func (s *Sandbox) poolUse(pool string) (used, reserved time.Duration, ever bool) {
	now := s.clockNow()
	week := weekStart(now)
	for _, c := range s.st.Charges {
		if c.Pool != pool {
			continue
		}
		ever = true
		end := c.End
		if end.IsZero() {
			end = now
			reserved += max(0, c.Cap-now.Sub(c.Start))
		}
		if last := c.Start.Add(c.Cap); end.After(last) {
			end = last // never more than the session's own limit
		}
		start := c.Start
		if start.Before(week) {
			start = week
		}
		used += max(0, end.Sub(start))
	}
	return used, reserved, ever
}

func (s *Sandbox) poolTotal(pool string) time.Duration {
	switch pool {
	case poolGPU:
		return s.opt.GPUTotal
	case poolTPU:
		return s.opt.TPUTotal
	}
	return 0
}

// startCharge begins to burn quota for a session that starts running; CPU costs none. The caller holds s.mu.
func (s *Sandbox) startCharge(x *session) {
	if x.Pool == poolCPU {
		return
	}
	week := weekStart(s.clockNow())
	kept := s.st.Charges[:0]
	for _, c := range s.st.Charges {
		// The last old one of each pool stays: it is what hasEverRun is known from.
		if c.End.IsZero() || c.End.After(week.AddDate(0, 0, -7)) || c.Pool == x.Pool {
			kept = append(kept, c)
		}
	}
	s.st.Charges = append(kept, &charge{Session: x.ID, Pool: x.Pool, Start: s.clockNow(), Cap: x.Limit})
}

// endCharge stops the burning. The caller holds s.mu.
func (s *Sandbox) endCharge(id int64) {
	for _, c := range s.st.Charges {
		if c.Session == id && c.End.IsZero() {
			c.End = s.clockNow()
			if last := c.Start.Add(c.Cap); c.End.After(last) {
				c.End = last
			}
		}
	}
}
