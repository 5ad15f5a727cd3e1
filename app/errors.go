package app

import (
	"fmt"
	"strings"
)

// CallError is a request that is wrong by itself, whatever the state of things.
// Nothing was done. Exit status 2.
type CallError struct {
	Reason string
	Action string // what to write instead, or ""
}

func (e *CallError) Error() string { return e.Reason }

// CollectError is a collect that did not come to its end. What came is kept, and
// half files go on from where they stopped. Its exit status is that of Err.
type CollectError struct {
	Kernel string
	Dir    string // where the files are
	Here   int    // files that are whole there
	Err    error  // why, naming the files
}

func (e *CollectError) Error() string {
	have := fmt.Sprintf("%d files are here", e.Here)
	switch e.Here {
	case 0:
		return fmt.Sprintf("collect %s: %v; no file is whole yet: collect again", e.Kernel, e.Err)
	case 1:
		have = "1 file is here"
	}
	return fmt.Sprintf("collect %s: %v; %s in %s, half ones go on from where they stopped: collect again", e.Kernel, e.Err, have, e.Dir)
}

func (e *CollectError) Unwrap() error { return e.Err }

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
