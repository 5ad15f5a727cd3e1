package planner

import (
	"strings"
	"time"
)

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

const (
	// visibleWithin is how long after a push a 404 still means that Kaggle does not show the kernel yet.
	visibleWithin = 10 * time.Minute
	// missingAfter is how many 404 in a row it takes to believe that a kernel is gone.
	missingAfter = 3
)

// Observation is one answer to "how is it going", or the failure to get one.
type Observation struct {
	At      time.Time
	Status  string // Kaggle's word in any spelling, or as NormalStatus gives it
	HTTP    int    // status of an answer that was not a status: 404, 502, …; 0 or 200 when Status holds
	Network string // why there was no answer at all
	Message string // Kaggle's failure message
	// Pinned: the question named our version, and that version is known to exist, so that the answer cannot be an older one's.
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

// Tracker turns the answers about one pushed version into its state. It is not safe for concurrent use.
//
// The rules: a failure to get an answer is never a state. A terminal answer counts at once when the question was pinned
// to our version or when ours is the first version; otherwise it may be about an older version and counts only after a
// live answer was seen. A 404 means "not visible yet" in the first minutes and "missing" after several in a row later.
// A word nobody knows means: not finished. What is terminal stays so, except that a missing kernel may reappear.
type Tracker struct {
	version  int
	pushedAt time.Time
	v        Verdict
	live     bool // a live answer was seen
	gone     int  // answers 404 in a row
}

// NewTracker starts for a version that was just pushed. Version 0 means that a kernel was saved without running, or that
// the version is not known. A zero pushedAt is taken to be the first observation's time.
func NewTracker(pushedVersion int, pushedAt time.Time) *Tracker {
	return &Tracker{version: pushedVersion, pushedAt: pushedAt, v: Verdict{State: StateQueued}}
}

// ResumeTracker starts for a run whose state the log already has, after a restart.
func ResumeTracker(pushedVersion int, pushedAt time.Time, state string, started bool) *Tracker {
	t := NewTracker(pushedVersion, pushedAt)
	switch s := NormalStatus(state); s {
	case StateRunning, StateStopping:
		t.v.State, t.live = s, true
		t.v.Started = s == StateRunning
		t.v.Asked = s == StateStopping
	case StateComplete, StateError, StateCancelled:
		t.v.State, t.v.Terminal, t.live = s, true, true
	}
	t.v.Started = t.v.Started || started
	t.live = t.live || started
	return t
}

// Verdict is the state so far.
func (t *Tracker) Verdict() Verdict { return t.v }

// Observe takes one answer and returns the state after it.
func (t *Tracker) Observe(o Observation) Verdict {
	if t.pushedAt.IsZero() {
		t.pushedAt = o.At
	}
	if t.v.Terminal && t.v.State != StateMissing {
		return t.v
	}
	status := NormalStatus(o.Status)
	switch {
	case o.HTTP == 404:
		t.notFound(o)
	case o.Network != "" || o.HTTP >= 300 || status == "":
		if t.v.UnreachableSince.IsZero() {
			t.v.UnreachableSince = o.At
		}
	default:
		t.answered(status, o)
	}
	return t.v
}

func (t *Tracker) notFound(o Observation) {
	t.v.UnreachableSince = time.Time{}
	t.gone++
	switch {
	case !t.live && o.At.Sub(t.pushedAt) <= visibleWithin:
		t.v.State = StateNotVisible
	case t.gone >= missingAfter:
		t.v.State, t.v.Terminal = StateMissing, true
		t.v.Note = "Kaggle no longer knows this kernel: it was deleted or renamed. It is not pushed again by itself."
	}
}

func (t *Tracker) answered(status string, o Observation) {
	t.v.UnreachableSince = time.Time{}
	t.v.Word = ""
	t.gone = 0
	switch {
	case strings.HasPrefix(status, "unknown:"):
		t.v.Word = strings.TrimPrefix(status, "unknown:")
		t.revive(t.v.State)
		t.live = true // an older version would have said that it is over
	case status == StateNoRun && t.version > 0:
		t.revive(StateQueued) // the version was run, its session is not made yet
	case status == StateNoRun:
		t.v = Verdict{State: StateNoRun, Terminal: true, Note: "The kernel was saved and not run: there is nothing to collect."}
	case live(status):
		t.revive(status)
		t.live = true
		t.v.Started = t.v.Started || status == StateRunning
		t.v.Asked = t.v.Asked || status == StateStopping
	case t.live || o.Pinned || t.version == 1:
		t.end(status, o)
	default:
		t.revive(StateQueued) // an older version's end: ours is not on show yet
	}
}

// revive sets a state that is not terminal, also after "not visible" and "missing".
func (t *Tracker) revive(state string) {
	switch state {
	case StateNotVisible, StateMissing:
		state = StateQueued
		if t.v.Started {
			state = StateRunning
		}
	case StateQueued:
		if t.v.State == StateStopping || t.v.Started { // a late answer does not put a running session back
			state = t.v.State
			if state == StateMissing || state == StateNotVisible {
				state = StateRunning
			}
		}
	}
	t.v.State, t.v.Terminal, t.v.Note = state, false, ""
}

func (t *Tracker) end(status string, o Observation) {
	t.v.State, t.v.Terminal, t.v.Message, t.v.Note = status, true, o.Message, ""
	switch {
	case status == StateComplete:
		t.v.Started = true
	case status == StateCancelled && !t.v.Asked:
		t.v.Note = "Nobody here asked for the stop: Kaggle ended it. Compare its running time with the cap; what it had saved can still be collected."
	}
}

// PollEvery says how long to wait before asking again about a run that has been in a state for so long; visible: a person
// is looking at it. 0 means there is nothing to ask any more.
//
// A running session is asked about every 10 seconds in sight and every 30 out of sight. In a queue the wait grows by a
// thirtieth of the time queued, to a minute in sight and five out of it: a queue of half a day costs some 200 questions.
func PollEvery(state string, inState time.Duration, visible bool) time.Duration {
	lo, hi := 15*time.Second, 5*time.Minute
	switch NormalStatus(state) {
	case StateComplete, StateError, StateCancelled, StateNoRun:
		return 0
	case StateRunning:
		lo, hi = 30*time.Second, 30*time.Second
		if visible {
			lo, hi = 10*time.Second, 10*time.Second
		}
	case StateStopping:
		lo, hi = 10*time.Second, 30*time.Second
	default:
		switch state {
		case StateMissing:
			return 0
		case "pushing", "unclear", StateNotVisible:
			lo, hi = 5*time.Second, time.Minute
		}
		if visible {
			lo, hi = min(lo, 10*time.Second), time.Minute
		}
	}
	return min(max(inState/30, lo), hi)
}
