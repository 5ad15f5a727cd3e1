package app

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/app/runlog"
	"sandglass/kaggle/sandbox"
)

func TestThePlanPageHasEverything(t *testing.T) {
	a, r := resumeWorld(t, nil, timedTask("idea", 0, "done", 2), timedTask("idea", 1, "timeout", 1))
	v, err := a.Plan(t.Context())
	if err != nil || v.Season != nil || !v.Deadline.IsZero() || v.Passed || len(v.Backlog) != 0 || len(v.Queue.Rows) != 0 {
		t.Fatalf("without a deadline: %+v, %v", v, err)
	}
	putQuota(t, a, runlog.QuotaReading{At: a.now(), RefreshAt: a.now().Add(60 * time.Hour), GPU: &runlog.PoolReading{Used: 10 * time.Hour, Total: 30 * time.Hour}})
	if err := a.SetDeadline(t.Context(), a.now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if v, err = a.Plan(t.Context()); err != nil || !v.Passed || v.Season != nil {
		t.Errorf("a deadline that is over: %+v, %v", v, err)
	}
	until := a.now().Add(20 * 24 * time.Hour).Truncate(time.Second)
	if err := a.SetDeadline(t.Context(), until); err != nil {
		t.Fatal(err)
	}
	built, err := a.AddBacklog(t.Context(), BacklogItem{Name: "seed2", Hours: 2, Validated: true, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := a.AddBacklog(t.Context(), BacklogItem{Name: "wide", Hours: 3, Validated: true})
	if err != nil {
		t.Fatal(err)
	}
	v, err = a.Plan(t.Context())
	if err != nil || v.Passed || !v.Deadline.Equal(until) || v.Season == nil || len(v.Backlog) != 2 || !v.Quota.GPU.Known {
		t.Fatalf("got %+v, %v", v, err)
	}
	for _, c := range []struct {
		s    Suggestion
		want bool
	}{{Suggestion{Backlog: built.ID}, true}, {Suggestion{Backlog: built.ID, Partial: true}, false}, {Suggestion{Backlog: raw.ID}, false}, {Suggestion{Run: r.ID}, true}, {Suggestion{Run: r.ID, Partial: true}, true}} {
		if got := v.Ready(c.s); got != c.want {
			t.Errorf("ready %+v: %v", c.s, got)
		}
	}
}

// A suggestion goes through the launch queue as any push does, and its item is done then, and only then.
func TestASuggestionIsPushed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a := queueWorld(t, sandbox.Options{}, 90*time.Minute)
		defer closeApp(t, a)
		it, err := a.AddBacklog(t.Context(), BacklogItem{Name: "third", Hours: 2, Validated: true, Dir: kernelFolder(t, "third-run", "NvidiaTeslaT4", nil)})
		if err != nil {
			t.Fatal(err)
		}
		s := Suggestion{Do: "start", Name: it.Name, Backlog: it.ID}
		plan, err := a.PlanSuggestion(t.Context(), s, nil)
		if err != nil || len(plan.Guards) == 0 || !plan.Guards[0].Waits {
			t.Fatalf("both slots are taken: %+v, %v", plan.Guards, err)
		}
		if _, err := a.PushSuggestion(t.Context(), s, plan, Consent{}); err == nil {
			t.Fatal("pushed without consent")
		}
		if open, err := a.Backlog(t.Context(), false); err != nil || len(open) != 1 {
			t.Fatalf("nothing was pushed and the item is gone: %v, %v", open, err)
		}
		row, err := a.PushSuggestion(t.Context(), s, plan, Consent{By: "button"})
		if err != nil || row.State != StateWaiting {
			t.Fatalf("%+v, %v", row, err)
		}
		q, err := a.LaunchQueue(t.Context())
		if err != nil || len(q.Rows) != 1 || q.Paused || !q.Served || len(q.Warnings) != 0 {
			t.Errorf("queue %+v, %v", q, err)
		}
		if open, err := a.Backlog(t.Context(), false); err != nil || len(open) != 0 {
			t.Errorf("it is still open: %v, %v", open, err)
		}
		var call *CallError
		if _, err := a.PlanSuggestion(t.Context(), s, nil); !errors.As(err, &call) {
			t.Errorf("planned again: %v", err)
		}
		tpu := kernelFolder(t, "on-a-tpu", "TpuV5E8", nil)
		if err := a.QueuePause(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		pushDir(t, a, tpu, PushOptions{Hours: 2, QueueIfFull: true})
		pushDir(t, a, kernelFolder(t, "tpu-again", "TpuV5E8", nil), PushOptions{Hours: 2, QueueIfFull: true})
		if q, err = a.LaunchQueue(t.Context()); err != nil || !q.Paused || len(q.Warnings) != 1 {
			t.Errorf("with a TPU run waiting: %+v, %v", q, err)
		}
	})
}

func TestABacklogItemBecomesASpec(t *testing.T) {
	a, r := resumeWorld(t, nil)
	other := r
	other.ID, other.Kernel, other.Name, other.Command, other.Inputs = 0, "sam-roe/idea-train-r2", "idea", "python src/other.py", []string{"dataset sam-roe/leaf"}
	if _, err := a.store.CreateRun(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		item  BacklogItem
		hours float64
		want  BuildSpec
	}{
		{"nothing but a name", BacklogItem{Name: "New idea: wide!", Pool: PoolTPU}, 0, BuildSpec{Name: "new-idea-wide", Accelerator: "TpuV5E8"}},
		{"the newest run of its project", BacklogItem{Name: "seed2", Project: r.Project}, 3, BuildSpec{Name: "seed2", Project: r.Project, Command: "python src/other.py", Hours: 3, Accelerator: "NvidiaTeslaT4", Datasets: []string{"sam-roe/leaf"}}},
		{"the run of its command", BacklogItem{Name: "on cpu", Project: r.Project, Command: r.Command, Pool: PoolCPU}, 0, BuildSpec{Name: "on-cpu", Project: r.Project, Command: r.Command, Accelerator: "none"}},
		{"a folder without runs", BacklogItem{Name: "else", Project: t.TempDir(), Command: "python a.py"}, 0, BuildSpec{Name: "else", Command: "python a.py", Accelerator: "NvidiaTeslaT4"}},
	} {
		it, err := a.AddBacklog(t.Context(), c.item)
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.BacklogSpec(t.Context(), it.ID, c.hours)
		if err != nil || got.Name != c.want.Name || got.Project != it.Project || got.Command != c.want.Command || got.Hours != c.want.Hours ||
			got.Accelerator != c.want.Accelerator || len(got.Datasets) != len(c.want.Datasets) || got.Slug != "" || got.ResumeFrom != nil {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
	var call *CallError
	if _, err := a.BacklogSpec(t.Context(), 99, 0); !errors.As(err, &call) {
		t.Errorf("no such item: %v", err)
	}
}

// What a run has left is built for the question already, with the cap that is suggested; nothing is sent.
func TestASuggestionToResumeIsBuilt(t *testing.T) {
	a, r := resumeWorld(t, nil, timedTask("idea", 0, "done", 2), timedTask("idea", 1, "timeout", 1))
	hours := 1.5
	s := Suggestion{Do: "resume", Run: r.ID, Kernel: r.Kernel, Partial: true, Hours: &hours}
	plan, err := a.PlanSuggestion(t.Context(), s, nil)
	if err != nil || plan.Kernel != "sam-roe/idea-train-r2" || plan.CapHours != 1.5 || !plan.Options.QueueIfFull {
		t.Errorf("%+v, %v", plan, err)
	}
	if runs, err := a.Runs(t.Context(), RunFilter{}); err != nil || len(runs) != 1 {
		t.Errorf("sent: %+v, %v", runs, err)
	}
}

// A run that was taken out of the queue has not failed, and does not hide what the one before it left.
func TestARunThatNeverRanIsNoFailure(t *testing.T) {
	a, r := resumeWorld(t, nil, timedTask("idea", 0, "done", 2), timedTask("idea", 1, "timeout", 1))
	putQuota(t, a, runlog.QuotaReading{At: a.now(), RefreshAt: a.now().Add(60 * time.Hour), GPU: &runlog.PoolReading{Total: 30 * time.Hour}})
	taken := r
	taken.ID, taken.Version, taken.CollectedAt, taken.Outcome, taken.State = 0, 0, time.Time{}, "", StateWaiting
	dropped(&taken, "by the person", a.now())
	if _, err := a.store.CreateRun(t.Context(), taken); err != nil {
		t.Fatal(err)
	}
	if err := a.SetDeadline(t.Context(), a.now().Add(20*24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	v, err := a.Plan(t.Context())
	if err != nil || len(v.Season.Suggestions) != 1 || v.Season.Suggestions[0].Do != "resume" || v.Season.Suggestions[0].Run != r.ID {
		t.Errorf("suggested %+v, %v", v.Season.Suggestions, err)
	}
}
