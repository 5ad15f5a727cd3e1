package planner

import "time"

// Burn is one session that ran, for the burn chart.
type Burn struct {
	Start, End time.Time
	Outcome    string // complete, partial: kept; failed; killed
}

// Week is what one week burnt of one pool.
type Week struct {
	Start                           time.Time
	Kept, Failed, Killed, Elsewhere time.Duration // Elsewhere: used according to Kaggle, and not by our runs
	Reserved                        time.Duration // current week only
	Current                         bool
}

// Point is the cumulative burn of the week at a time.
type Point struct {
	At   time.Time
	Used time.Duration
}

// WeekStart is the last reset at or before now, given any one reset. A zero refreshAt means Saturday 00:00 UTC.
func WeekStart(refreshAt, now time.Time) time.Time { panic("not yet") }

// BurnByWeek sums the burns of one pool over the last n weeks, the oldest first, the current one last. A session that
// crosses a reset is split at it. readings are those of the same pool, in any order; they tell what others burnt.
func BurnByWeek(burns []Burn, readings []Reading, refreshAt, now time.Time, n int) []Week {
	panic("not yet")
}

// EvenPace is the use at time at if the week's total is spent evenly from one reset to the next.
func EvenPace(total time.Duration, refreshAt, at time.Time) time.Duration { panic("not yet") }

// Pace is this week's cumulative use, from the readings of one pool.
func Pace(readings []Reading, refreshAt, now time.Time) []Point { panic("not yet") }
