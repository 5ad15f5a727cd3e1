package planner

import "strings"

// NormalStatus brings Kaggle's word for a session into one form: queued, running, stopping, complete, error, cancelled,
// "no run" (a draft that was saved and never run), "" (no word), or "unknown:<word>". Any letter case, with or without
// underscores, camel case, numbers and our own words are understood.
func NormalStatus(word string) string {
	w := strings.TrimSpace(word)
	if rest, ok := strings.CutPrefix(strings.ToLower(w), "unknown:"); ok {
		return "unknown:" + rest
	}
	key := strings.ToLower(w)
	if i := strings.LastIndexByte(key, '.'); i >= 0 { // KernelWorkerStatus.RUNNING
		key = key[i+1:]
	}
	key = strings.NewReplacer("_", "", "-", "", " ", "").Replace(key)
	switch key {
	case "":
		return ""
	case "0", "queued", "starting", "pending":
		return StateQueued
	case "1", "running":
		return StateRunning
	case "2", "complete", "completed":
		return StateComplete
	case "3", "error", "failed":
		return StateError
	case "4", "cancelrequested", "stopping":
		return StateStopping
	case "5", "cancelacknowledged", "cancelled", "canceled":
		return StateCancelled
	case "6", "newscript", "norun":
		return StateNoRun
	}
	return "unknown:" + w
}

// Terminal says whether nothing more will come of a run in this state.
func Terminal(state string) bool {
	switch state {
	case StateComplete, StateError, StateCancelled, StateMissing, StateNoRun:
		return true
	}
	return false
}

// live says whether a session of that status takes a slot.
func live(status string) bool {
	switch status {
	case StateQueued, StateRunning, StateStopping:
		return true
	}
	return strings.HasPrefix(status, "unknown:")
}
