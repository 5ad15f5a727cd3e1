package app

import (
	"errors"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"sandglass/app/runlog"
	"sandglass/kaggle/sandbox"
)

func timedTask(job string, fold int, state string, hours float64) runlog.Task {
	return runlog.Task{Job: job, Fold: &fold, State: state, Seconds: hours * 3600}
}

func wantNear(t *testing.T, what string, got *float64, want, tol float64) {
	t.Helper()
	if got == nil || math.Abs(*got-want) > tol {
		t.Errorf("%s: got %v, want %v", what, num(got), want)
	}
}

func num(x *float64) any {
	if x == nil {
		return nil
	}
	return *x
}

func TestHoursFromTheLog(t *testing.T) {
	a, r := resumeWorld(t, nil, timedTask("idea", 0, "done", 1.8), timedTask("idea", 1, "done", 2.1), timedTask("idea", 2, "timeout", 9))
	v, err := a.Hours(t.Context(), HoursAsk{Kernel: r.Kernel})
	if err != nil || v.Basis != "runs" || len(v.Runs) != 2 || v.Tasks != 2 || v.Devices != 2 || v.Waves != 1 || v.Runs[0].Run != r.ID {
		t.Fatalf("got %+v, %v", v, err)
	}
	wantNear(t, "median", v.TaskMedianH, math.Sqrt(1.8*2.1), 1e-9)
	again, err := a.Hours(t.Context(), HoursAsk{Name: "idea", Command: r.Command, Project: r.Project, Tasks: 5, Curve: true})
	if err != nil || again.TaskUpperH == nil || *again.TaskUpperH != *v.TaskUpperH || again.Waves != 3 || len(again.Curve) != curvePoints+1 {
		t.Errorf("by its command: %+v, %v", again, err)
	}
	for i, p := range again.Curve {
		if i > 0 && p.Within < again.Curve[i-1].Within {
			t.Fatalf("the curve falls at %v", p)
		}
	}
	for _, none := range []HoursAsk{{Kernel: r.Kernel, Accelerator: "TpuV5E8"}, {Name: "other"}, {Kernel: r.Kernel, Job: "other"}, {}} {
		if v, err := a.Hours(t.Context(), none); err != nil || v.Basis != "unknown" || v.CapH != nil || v.PKilled != nil {
			t.Errorf("%+v: got %+v, %v", none, v, err)
		}
	}
}

// In a follow-up the fold that an earlier session had begun took only its rest.
func TestTheRestOfAFoldIsNotAFold(t *testing.T) {
	a, r := resumeWorld(t, nil, timedTask("idea", 0, "done", 2), timedTask("idea", 1, "timeout", 1.5), timedTask("idea", 2, "not-started", 0))
	next := r
	next.ID, next.Kernel, next.CreatedAt = 0, r.Kernel+"-r2", r.CreatedAt.Add(time.Hour)
	next, err := a.store.CreateRun(t.Context(), next)
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range []runlog.Task{timedTask("idea", 0, "skipped", 0), timedTask("idea", 1, "done", .4), timedTask("idea", 2, "done", 2.1)} {
		if err := a.store.PutTask(t.Context(), next.ID, task); err != nil {
			t.Fatal(err)
		}
	}
	v, err := a.Hours(t.Context(), HoursAsk{Kernel: r.Kernel})
	if err != nil || len(v.Runs) != 2 || v.Runs[0].H != 2 || v.Runs[1].H != 2.1 {
		t.Errorf("got %+v, %v", v.Runs, err)
	}
}

// Two jobs of different length ride in one session: each counts with its own.
func TestHoursOfTwoJobs(t *testing.T) {
	a, r := resumeWorld(t, nil, timedTask("idea", 0, "done", 2), timedTask("idea", 1, "done", 2), timedTask("small", 0, "done", .5), timedTask("small", 1, "done", .5))
	v, err := a.Hours(t.Context(), HoursAsk{Kernel: r.Kernel})
	if err != nil || v.Tasks != 4 {
		t.Fatalf("got %+v, %v", v, err)
	}
	wantNear(t, "expected", v.ExpectedH, .25+2.5+.1, .25)
	one, err := a.Hours(t.Context(), HoursAsk{Kernel: r.Kernel, Job: "small"})
	if err != nil || one.Tasks != 2 {
		t.Fatalf("got %+v, %v", one, err)
	}
	wantNear(t, "the small job", one.TaskMedianH, .5, 1e-9)
}

// A second job with folds of its own: its tasks are not the run's times two, and a job that never ran counts as long as the measured.
func TestHoursOfJobsWithTheirOwnFolds(t *testing.T) {
	a, r := resumeWorld(t, nil, timedTask("idea", 0, "done", 2), timedTask("idea", 1, "done", 2), timedTask("small", 0, "done", .5))
	s := BuildSpec{Name: "idea", Command: "python src/train.py --folds {fold}", ExtraJobs: []JobSpec{
		{Name: "small", Command: "python src/small.py --folds {fold}", Folds: []int{0}}, {Name: "whole", Command: "python src/whole.py"},
		{Name: "all", Command: "python src/all.py --folds {fold}"}}}
	jobs := s.TasksByJob([]int{0, 1, 2, 3, 4})
	if want := map[string]int{"idea": 5, "small": 1, "whole": 1, "all": 5}; !maps.Equal(jobs, want) {
		t.Fatalf("tasks %v, want %v", jobs, want)
	}
	if s.Folds = []int{3}; !maps.Equal(s.TasksByJob([]int{0, 1}), map[string]int{"idea": 1, "small": 1, "whole": 1, "all": 1}) {
		t.Errorf("one fold asked for: %v", s.TasksByJob([]int{0, 1}))
	}
	v, err := a.Hours(t.Context(), HoursAsk{Kernel: r.Kernel, Jobs: jobs})
	if err != nil || v.Tasks != 12 {
		t.Fatalf("got %+v, %v", v, err)
	}
	wantNear(t, "expected", v.ExpectedH, 12+.25, .6) // eleven tasks of two hours and one of a half, two at a time
	same, err := a.Hours(t.Context(), HoursAsk{Kernel: r.Kernel, Jobs: map[string]int{"idea": 2, "small": 1}})
	if err != nil {
		t.Fatal(err)
	}
	was, err := a.Hours(t.Context(), HoursAsk{Kernel: r.Kernel, Tasks: 2})
	if err != nil || same.Tasks != 3 || was.Tasks != 4 || *same.ExpectedH > *was.ExpectedH {
		t.Errorf("%d tasks %v h, without the jobs %d tasks %v h, %v", same.Tasks, num(same.ExpectedH), was.Tasks, num(was.ExpectedH), err)
	}
	if unknown, err := a.Hours(t.Context(), HoursAsk{Runs: []float64{2}, Jobs: jobs}); err != nil || unknown.Tasks != 12 {
		t.Errorf("given runs: %+v, %v", unknown, err)
	}
}

func TestHoursKnowTheQuota(t *testing.T) {
	a, r := resumeWorld(t, nil, timedTask("idea", 0, "done", 1.8), timedTask("idea", 1, "done", 2.1))
	acc, err := a.Account(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	reading := runlog.QuotaReading{At: a.now(), RefreshAt: a.now().Add(2 * time.Hour), GPU: &runlog.PoolReading{Used: 28 * time.Hour, Total: 30 * time.Hour}}
	if err := a.store.AddQuota(t.Context(), acc.ID, reading); err != nil {
		t.Fatal(err)
	}
	v, err := a.Hours(t.Context(), HoursAsk{Kernel: r.Kernel})
	if err != nil || v.FitsQuota == nil || *v.FitsQuota || v.CrossesReset == nil || !*v.CrossesReset || v.ResetAt == nil {
		t.Fatalf("got %+v, %v", v, err)
	}
	wantNear(t, "left", v.LeftH, 2, 1e-9)
	if text := strings.Join(v.Warnings, " "); !strings.Contains(text, "would be refused") || !strings.Contains(text, "not documented") {
		t.Errorf("warnings %q", v.Warnings)
	}
	if cpu, err := a.Hours(t.Context(), HoursAsk{Runs: []float64{1, 2}, Accelerator: "none"}); err != nil || cpu.LeftH != nil || cpu.Devices != 1 {
		t.Errorf("CPU: %+v, %v", cpu, err)
	}
}

func TestHoursRefusesWhatCannotBeMeant(t *testing.T) {
	a := newWorld(t, sandbox.Options{}, nil).open(t, "")
	defer closeApp(t, a)
	left := -1.0
	for _, ask := range []HoursAsk{{Runs: []float64{0}}, {Runs: []float64{math.NaN()}}, {Fold: -1}, {Confidence: 1}, {Confidence: .1}, {Tasks: -1}, {Devices: 99},
		{LeftHours: &left}, {Rehearsal: 2}, {Runs: []float64{1e308, 2}}, {CapHours: 9000}, {Accelerator: "Nope"}, {Jobs: map[string]int{"idea": -1}}} {
		_, err := a.Hours(t.Context(), ask)
		var call *CallError
		if !errors.As(err, &call) || Explain(err).Exit != ExitUsage {
			t.Errorf("%+v: %v", ask, err)
		}
	}
}
