package planner

import "time"

// Reading is what Kaggle said about one pool at one moment. A pool that Kaggle did not report has no Reading at all:
// unknown is not zero.
type Reading struct {
	Pool      Pool // "": the holds are taken as they come
	Used      time.Duration
	Reserved  time.Duration // held by the sessions that were running at FetchedAt, in Kaggle's words
	Total     time.Duration
	FetchedAt time.Time
	RefreshAt time.Time // the reset that was next at FetchedAt; zero: Saturday 00:00 UTC is assumed
}

// HoldPhase says how far a run that holds quota has come.
type HoldPhase int

const (
	// HoldPushing is a push whose outcome is not known yet. It holds its whole cap.
	HoldPushing HoldPhase = iota
	// HoldQueued waits at Kaggle. It burns nothing, so waiting does not reduce what it holds.
	HoldQueued
	// HoldRunning burns.
	HoldRunning
	// HoldEnded is over. Its real time counts until a newer reading contains it.
	HoldEnded
)

// Hold is one of our own runs that holds hours, or did so after the last reading.
type Hold struct {
	Run       int64
	Pool      Pool
	Cap       time.Duration // 0 = the session limit, which is what Kaggle reserves for a push without a cap
	Phase     HoldPhase
	StartedAt time.Time // zero: not known, so nothing of the cap counts as burnt
	EndedAt   time.Time
	Label     string
}

// Balance is the state of one pool. Left = Total - Used - Reserved - Held, never below zero.
type Balance struct {
	Used      time.Duration
	Reserved  time.Duration
	Held      time.Duration // what our own runs hold beyond Reserved
	Total     time.Duration
	Left      time.Duration
	Rebased   bool          // the reading is older than the last reset: nothing is used of the new week as far as we know
	Overdrawn time.Duration // used beyond the total
	RefreshAt time.Time     // the next reset after now
}

// BalanceOf reckons what is left of one pool at now, from the last reading and our own runs.
//
// A queued run holds its whole cap however long it waits. A running one holds what was left of its cap at the reading,
// because everything before is in Used already. Kaggle's Reserved covers the sessions that ran at the reading, ours and
// others': so of the running ones only what exceeds Reserved is held on top. (StartedAt is when we saw it run, which is
// later than it did; so a start shortly after the reading is taken to be in Reserved as well.) A run that ended after the
// reading holds its real time until a newer reading contains it.
//
// For the sum to be right, the states of the runs should be no older than the reading: a run that left the queue unseen
// would be counted here and in Reserved.
//
// When a reset has passed since the reading, nothing is used of the new week as far as anybody knows; a running session
// that crosses the reset holds in the old week what it can burn until then, and in the new one what it had left at the
// reset. (Which week Kaggle charges for such a session is not documented; this is the split by time. What Kaggle itself
// reserves wins where it is more. One that waits may start at any time, so it holds its whole cap in either.)
func BalanceOf(r Reading, holds []Hold, now time.Time) Balance {
	at := r.FetchedAt
	if at.IsZero() {
		at = now
	}
	next := nextReset(r.RefreshAt, at)
	b := Balance{Used: notNegative(r.Used), Reserved: notNegative(r.Reserved), Total: notNegative(r.Total), RefreshAt: next}
	if !now.Before(next) {
		start := WeekStart(next, now)
		// What ran at the reading went on burning until the reset; no session outlives the longest limit.
		b.Reserved = notNegative(b.Reserved - start.Sub(at))
		if start.Sub(at) >= SessionLimit(r.Pool) {
			b.Reserved = 0
		}
		b.Used, b.Rebased, b.RefreshAt = 0, true, start.Add(week)
		at = start
	}
	var inReading, beyond time.Duration
	for _, h := range holds {
		if h.Pool == CPU || (r.Pool != "" && h.Pool != "" && h.Pool != r.Pool) {
			continue
		}
		d, seen := h.at(at)
		if from := h.StartedAt; h.Phase == HoldRunning && !from.IsZero() {
			if from.Before(at) {
				from = at
			}
			d = min(d, notNegative(b.RefreshAt.Sub(from))) // the rest of it is the new week's
		}
		if seen {
			inReading += d
		} else {
			beyond += d
		}
	}
	b.Held = max(b.Reserved, inReading) + beyond - b.Reserved
	b.Left = notNegative(b.Total - b.Used - b.Reserved - b.Held)
	b.Overdrawn = notNegative(b.Used - b.Total)
	return b
}

// at is what the hold takes of the week beyond a reading made at that time, and whether Kaggle's own figure of reserved
// time has it in sight.
func (h Hold) at(reading time.Time) (d time.Duration, seen bool) {
	limit := h.Cap
	if limit <= 0 {
		limit = SessionLimit(h.Pool)
	}
	started := !h.StartedAt.IsZero() && !h.StartedAt.After(reading)
	switch h.Phase {
	case HoldRunning:
		if started {
			return notNegative(limit - reading.Sub(h.StartedAt)), true
		}
		return limit, true
	case HoldEnded:
		switch {
		case !h.EndedAt.After(reading):
			return 0, true
		case started:
			return min(h.EndedAt.Sub(reading), limit), true
		case h.StartedAt.IsZero():
			return min(h.EndedAt.Sub(reading), limit), false // started we know not when: at most this
		}
		return min(notNegative(h.EndedAt.Sub(h.StartedAt)), limit), false
	}
	return limit, false
}

func notNegative(d time.Duration) time.Duration { return max(d, 0) }
