package planner

import "time"

// States a Tracker reports, the same words as the run log's.
const (
	StateQueued     = "queued"
	StateRunning    = "running"
	StateStopping   = "stopping"
	StateComplete   = "complete"
	StateError      = "error"
	StateCancelled  = "cancelled"
	StateMissing    = "missing"
	StateNoRun      = "no run"
	StateNotVisible = "not visible yet"
)

// Observation is one answer to "how is it going", or the failure to get one.
type Observation struct {
	At      time.Time
	Status  string // Kaggle's word in any spelling, or normalised: queued, starting, running, stopping, cancelled, complete, error, unknown:<word>
	HTTP    int    // status of an answer that was not a status: 404, 502, …; 0 or 200 when Status holds
	Network string // why there was no answer at all
	Message string // Kaggle's failure message
	// Pinned: the question named our version, and that version is known to exist, so the answer cannot be an older one's.
	Pinned bool
}

// Verdict is what the answers so far amount to.
type Verdict struct {
	State            string
	Word             string    // Kaggle's last word when we do not know it: shown as it is
	UnreachableSince time.Time // zero: the last question was answered
	Message          string    // Kaggle's failure message
	Note             string    // what we have to say about it
	Terminal         bool      // nothing more will come
	Started          bool      // it was seen running, or ended as complete
	Asked            bool      // a stop was asked for before it was cancelled
}

// Tracker turns a sequence of answers about one pushed version into its state.
type Tracker struct {
	version  int
	pushedAt time.Time
	v        Verdict
}

// NewTracker starts for a version that was just pushed. Version 0 means that a kernel was saved without running, or that
// the version is not known.
func NewTracker(pushedVersion int, pushedAt time.Time) *Tracker {
	return &Tracker{version: pushedVersion, pushedAt: pushedAt, v: Verdict{State: StateQueued}}
}

// ResumeTracker starts for a run whose state the log already has, after a restart.
func ResumeTracker(pushedVersion int, pushedAt time.Time, state string, started bool) *Tracker {
	panic("not yet")
}

// Observe takes one answer and returns the state after it.
func (t *Tracker) Observe(o Observation) Verdict { panic("not yet") }

// Verdict is the state so far.
func (t *Tracker) Verdict() Verdict { return t.v }

// PollEvery says how long to wait before asking again about a run that has been inState for so long; visible: a person is
// looking at it. 0 means there is nothing to ask any more.
func PollEvery(state string, inState time.Duration, visible bool) time.Duration { panic("not yet") }
