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
func BalanceOf(r Reading, holds []Hold, now time.Time) Balance {
	panic("not yet")
}
