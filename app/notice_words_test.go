package app

import (
	"testing"

	"sandglass/app/runlog"
)

func TestAFailureIsToldInTheTasksOwnWords(t *testing.T) {
	fold := 1
	tasks := []runlog.Task{{Job: "a", State: "done"}, {Job: "a", Fold: &fold, State: "failed", Error: "Traceback (most recent call last):\n  …\nFileNotFoundError: data/x.csv\n"}}
	r := runlog.Run{ID: 7, Name: "idea", State: StateError, Failure: "the process ended with exit code 1"}
	if n := endNotice(r, tasks); n.Title != "Failed: idea" || n.Body != "fold 1: FileNotFoundError: data/x.csv" {
		t.Errorf("%q, %q", n.Title, n.Body)
	}
	if n := endNotice(r, nil); n.Body != r.Failure {
		t.Errorf("without tasks: %q", n.Body)
	}
	r.Failure = ""
	if n := endNotice(r, nil); n.Body == "" {
		t.Error("a failure without a reason still needs words")
	}
}
