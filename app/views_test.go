package app

import (
	"testing"
	"time"

	"sandglass/app/runlog"
)

// TestSessionWithTwoJobsBurnsOnce: the hours are the session's, however many jobs and tasks ran in it.
func TestSessionWithTwoJobsBurnsOnce(t *testing.T) {
	var end time.Time
	a, _ := resumeWorld(t, func(r *runlog.Run) {
		end = time.Now().Truncate(time.Second)
		r.PushedAt, r.StartedAt, r.EndedAt, r.Cap, r.Outcome = end.Add(-2*time.Hour), end.Add(-2*time.Hour), end, 3*time.Hour, OutcomeComplete
	}, timedTask("idea", 0, "done", 1.9), timedTask("idea", 1, "done", 1.9), timedTask("seed1", 0, "done", 1.8), timedTask("seed1", 1, "done", 1.8))
	v, err := a.Week(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, w := range v.GPU {
		sum += w.Kept + w.Failed + w.Killed
	}
	wantNear(t, "hours of the session", &sum, 2, 1e-3)
}
