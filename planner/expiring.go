package planner

import "time"

// When hours that are about to expire are spoken of: the reset is no more than two days away, and an hour or more is left
// that can still be burnt. Nobody starts a session for less than an hour, and earlier there is time for plans of one's own.
const (
	ExpiringWithin = 48 * time.Hour
	ExpiringLeastH = 1.0
)

// Expiring is what is about to expire unused in one pool, in hours.
type Expiring struct {
	LeftH     float64 // left now
	BurnableH float64 // of it, with the sessions that can run until the reset
	LostH     float64 // LeftH - BurnableH: lost whatever is started
	LongestH  float64 // cap of the longest run that can start now and end before the reset
}

// AboutToExpire says whether hours of a pool are about to expire, and what can still be done about them. ok is false when
// there is nothing to say: the reset is not known or far, or too little is left.
func AboutToExpire(pool Pool, in PlanPool, refreshAt, now time.Time) (e Expiring, ok bool) {
	left := refreshAt.Sub(now)
	if refreshAt.IsZero() || left <= 0 || left > ExpiringWithin || !in.Known || in.LeftH < ExpiringLeastH {
		return Expiring{}, false
	}
	in = in.filled(pool)
	e = Expiring{LeftH: in.LeftH, BurnableH: min(in.LeftH, in.burnable(left.Hours(), in.BusyH))}
	e.LostH = e.LeftH - e.BurnableH
	e.LongestH = max(0, min(e.LeftH, in.LimitH, left.Hours()-in.QueueH))
	return e, true
}
