package app

import "strings"

// CallError is a request that is wrong by itself, whatever the state of things.
// Nothing was done. Exit status 2.
type CallError struct {
	Reason string
	Action string // what to write instead, or ""
}

func (e *CallError) Error() string { return e.Reason }

// GuardError is a push that was not made because something speaks against it.
// Nothing was sent. Exit status 3.
type GuardError struct {
	Kernel string
	Guards []Guard
}

func (e *GuardError) Error() string {
	reasons := make([]string, len(e.Guards))
	for i, g := range e.Guards {
		reasons[i] = g.Reason
	}
	return "not pushed: " + strings.Join(reasons, "; ")
}

// PushError is a push that Kaggle refused, or of which it is not known whether
// it arrived. Run is its row in the run log, which says the same.
type PushError struct {
	Run     RunRow
	State   string // StateRefused, StateUnclear
	Message string // Kaggle's words
	Advice  string // what to do
	Err     error  // the cause, when there is one beyond Kaggle's answer
}

func (e *PushError) Error() string {
	head := "Kaggle refused " + e.Run.Kernel
	switch {
	case e.State == StateUnclear:
		head = "it is not known whether the push of " + e.Run.Kernel + " arrived"
	case notSent(e.Err):
		return reachWords(e.Err) + "; nothing of " + e.Run.Kernel + " was sent"
	}
	if e.Message != "" {
		head += ": " + e.Message
	}
	return head
}

func (e *PushError) Unwrap() error { return e.Err }
