package app

import (
	"testing"

	"sandglass/planner"
	"sandglass/runnerpack"
)

// TestJobsThatOweAScore: a score is asked of what trains, by folds or by curves; a job that prepares data owes none.
func TestJobsThatOweAScore(t *testing.T) {
	rec := &runnerpack.RunRecord{}
	rec.Jobs = append(rec.Jobs,
		runnerpack.RunJob{Name: "compact", Complete: true},
		runnerpack.RunJob{Name: "whole", Complete: true},
		runnerpack.RunJob{Name: "idea", Folds: []int{0, 1}, Complete: true},
		runnerpack.RunJob{Name: "begun", Folds: []int{0, 1}})
	out := &runnerpack.Outputs{Curves: []runnerpack.Curve{{Job: "whole"}, {Job: "idea"}, {Job: "begun"}}}
	var f planner.RunFacts
	recordFacts(&f, rec, out)
	want := map[string]int{"compact": 0, "whole": 1, "idea": 1, "begun": 0}
	for _, j := range f.Jobs {
		if len(j.MissingOutputs) != want[j.Name] {
			t.Errorf("%s is missing %q", j.Name, j.MissingOutputs)
		}
	}
}
