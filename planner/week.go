package planner

import (
	"slices"
	"time"
)

const week = 7 * 24 * time.Hour

// knownReset is a Saturday 00:00 UTC. Real accounts showed 2026-08-29T00:00:00 and 2026-09-19T00:00:00, both Saturdays,
// as their reset; it stands in when Kaggle does not say.
var knownReset = time.Date(2026, 8, 29, 0, 0, 0, 0, time.UTC)

// WeekStart is the last reset at or before now, given any one reset. A zero refreshAt means Saturday 00:00 UTC.
func WeekStart(refreshAt, now time.Time) time.Time {
	if refreshAt.IsZero() {
		refreshAt = knownReset
	}
	d := now.Sub(refreshAt)
	n := d / week
	if d%week < 0 {
		n--
	}
	return refreshAt.Add(n * week).UTC()
}

// nextReset is the first reset after now.
func nextReset(refreshAt, now time.Time) time.Time { return WeekStart(refreshAt, now).Add(week) }

// ResetsBefore counts the resets after now and before the deadline. One exactly at the deadline brings nothing any more.
func ResetsBefore(refreshAt, now, deadline time.Time) int {
	next := nextReset(refreshAt, now)
	if !next.Before(deadline) {
		return 0
	}
	return int((deadline.Sub(next)-1)/week) + 1
}

// Burn is one session that ran, for the burn chart.
type Burn struct {
	Start, End time.Time
	Outcome    string // complete, partial: kept; failed; killed; "" while it is running: kept
}

// Week is what one week burnt of one pool.
type Week struct {
	Start                           time.Time
	Kept, Failed, Killed, Elsewhere time.Duration // Elsewhere: used according to Kaggle, and not by our runs
	Reserved                        time.Duration // current week only: reserved in the latest reading
	Current                         bool
}

// Point is the cumulative burn of the week at a time.
type Point struct {
	At   time.Time
	Used time.Duration
}

// BurnByWeek sums the burns of one pool over the last n weeks, the oldest first, the current one last. A session that
// crosses a reset is split at it. readings are those of the same pool, in any order; they tell what others burnt: the
// last reading of a week, less our own burn up to it.
func BurnByWeek(burns []Burn, readings []Reading, refreshAt, now time.Time, n int) []Week {
	if n <= 0 {
		return nil
	}
	current := WeekStart(refreshAt, now)
	out := make([]Week, n)
	for i := range out {
		w := &out[i]
		w.Start = current.Add(-time.Duration(n-1-i) * week)
		w.Current = i == n-1
		end := w.Start.Add(week)
		if w.Current {
			end = now
		}
		for _, b := range burns {
			d := overlap(b, w.Start, end)
			switch b.Outcome {
			case OutcomeFailed:
				w.Failed += d
			case OutcomeKilled:
				w.Killed += d
			default:
				w.Kept += d
			}
		}
		if r, ok := lastReading(readings, w.Start, w.Start.Add(week)); ok {
			w.Elsewhere = elsewhere(r, burns, w.Start)
			if w.Current {
				w.Reserved = notNegative(r.Reserved)
			}
		}
	}
	return out
}

// negligible is how far Kaggle's clock and ours differ about the length of a session: less than that is nobody's burn. (We
// see a start late, by up to the time between two questions; the runner's own record, taken in later, is closer.)
const negligible = 90 * time.Second

// elsewhere is the part of a reading that none of our runs explains: sessions that were started on the website or by
// another program.
func elsewhere(r Reading, burns []Burn, start time.Time) time.Duration {
	rest := r.Used
	for _, b := range burns {
		rest -= overlap(b, start, r.FetchedAt)
	}
	if rest < negligible {
		return 0
	}
	return rest
}

func lastReading(readings []Reading, from, to time.Time) (Reading, bool) {
	var last Reading
	for _, r := range readings {
		if !r.FetchedAt.Before(from) && r.FetchedAt.Before(to) && r.FetchedAt.After(last.FetchedAt) {
			last = r
		}
	}
	return last, !last.FetchedAt.IsZero()
}

func overlap(b Burn, from, to time.Time) time.Duration {
	if b.Start.IsZero() {
		return 0
	}
	if b.Start.After(from) {
		from = b.Start
	}
	if !b.End.IsZero() && b.End.Before(to) {
		to = b.End
	}
	return notNegative(to.Sub(from))
}

// EvenPace is the use at time at if the week's total is spent evenly from one reset to the next.
func EvenPace(total time.Duration, refreshAt, at time.Time) time.Duration {
	share := float64(at.Sub(WeekStart(refreshAt, at))) / float64(week)
	return time.Duration(float64(notNegative(total)) * share)
}

// Pace is this week's cumulative use, from the readings of one pool, beginning with nothing at the week's start.
func Pace(readings []Reading, refreshAt, now time.Time) []Point {
	start := WeekStart(refreshAt, now)
	out := []Point{{At: start}}
	for _, r := range readings {
		if r.FetchedAt.After(start) && !r.FetchedAt.After(now) {
			out = append(out, Point{At: r.FetchedAt, Used: notNegative(r.Used)})
		}
	}
	slices.SortStableFunc(out, func(a, b Point) int { return a.At.Compare(b.At) })
	return out
}
