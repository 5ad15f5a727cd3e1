package planner

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

func task(fold int, state string) TaskFacts {
	return TaskFacts{Job: "train", Fold: &fold, State: state, Seconds: 3600}
}

func num(x float64) *float64 { return &x }

func healthy() RunFacts {
	return RunFacts{Pool: GPU, State: StateComplete, Elapsed: 3 * h, Cap: 5 * h, HasRecord: true,
		Devices: []DeviceFacts{{"gpu0", 500, 93}, {"gpu1", 480, 91}}, Tasks: []TaskFacts{task(0, "done"), task(1, "done")},
		Jobs: []JobFacts{{Name: "train", HasFolds: true, Complete: true, Assembled: true}}}
}

func codes(f []Finding) string {
	var out []string
	for _, x := range f {
		out = append(out, x.Level+":"+x.Code)
	}
	return strings.Join(out, " ")
}

func TestDiagnose(t *testing.T) {
	with := func(change func(f *RunFacts)) RunFacts { f := healthy(); change(&f); return f }
	tests := []struct {
		name  string
		facts RunFacts
		want  string
	}{
		{"nothing wrong", healthy(), "info:cost"},
		{"second card idle", with(func(f *RunFacts) { f.Devices[1].Median = 0 }), "warn:gpu-idle info:cost"},
		{"no card works", with(func(f *RunFacts) { f.Devices[0].Median, f.Devices[1].Median = 1, 0 }), "bad:all-idle info:cost"},
		{"input-bound", with(func(f *RunFacts) { f.Devices[1].Median = 59 }), "warn:input-bound info:cost"},
		{"just not input-bound", with(func(f *RunFacts) { f.Devices[1].Median = 60 }), "info:cost"},
		{"idle and input-bound", with(func(f *RunFacts) { f.Devices[0].Median, f.Devices[1].Median = 40, 2 }), "warn:gpu-idle warn:input-bound info:cost"},
		{"under 20 minutes nothing is said of the devices", with(func(f *RunFacts) { f.Elapsed = 19 * time.Minute; f.Devices[0].Median, f.Devices[1].Median = 20, 0 }), "info:too-short info:cost"},
		{"too few samples", with(func(f *RunFacts) { f.Devices[1].Median, f.Devices[1].Samples = 0, 3 }), "info:cost"},
		{"a TPU's figures are not read that way", with(func(f *RunFacts) { f.Pool = TPU; f.Devices = []DeviceFacts{{"tpu0", 100, 3}} }), "info:cost"},
		{"deadline", with(func(f *RunFacts) { f.DeadlineHit = true; f.Tasks[1].State = "timeout" }), "warn:deadline-hit info:cost"},
		{"never started", with(func(f *RunFacts) { f.Tasks[1].State = "not-started" }), "warn:not-started info:cost"},
		{"killed by the cap", with(func(f *RunFacts) { f.State, f.Elapsed = StateCancelled, 5*h-time.Minute }), "bad:killed-by-cap info:cost"},
		{"stopped by Kaggle long before the cap", with(func(f *RunFacts) { f.State, f.Elapsed = StateCancelled, 2*h }), "warn:stopped-by-kaggle info:cost"},
		{"stopped as asked", with(func(f *RunFacts) { f.State, f.StopAsked = StateCancelled, true }), "info:stopped info:cost"},
		{"pruned", with(func(f *RunFacts) { f.Tasks[1].State = "pruned" }), "info:pruned info:cost"},
		{"a fold failed", with(func(f *RunFacts) { f.Tasks[1].State = "failed" }), "bad:fold-failed info:cost"},
		{"inputs", with(func(f *RunFacts) {
			f.Inputs = InputFacts{Missing: []string{"a/b"}, Clashing: []string{"train.csv"}, Dropped: []string{"c/d"}}
		}), "bad:inputs-missing bad:inputs-dropped warn:inputs-clash info:cost"},
		{"no record", with(func(f *RunFacts) { f.HasRecord = false; f.Devices, f.Tasks, f.Jobs = nil, nil, nil }), "warn:no-record"},
		{"no record and a crash", with(func(f *RunFacts) { *f = RunFacts{Pool: GPU, State: StateError, LogTail: "x\nKilled"} }), "bad:session-failed"},
		{"a kernel of one's own has no contract", with(func(f *RunFacts) { *f = RunFacts{Pool: GPU, State: StateComplete, OwnKernel: true} }), ""},
		{"contract outputs missing", with(func(f *RunFacts) { f.Jobs[0].MissingOutputs = []string{"curve_fold1.json"} }), "warn:outputs-missing info:cost"},
		{"missing outputs of a job that failed are no news", with(func(f *RunFacts) {
			f.Jobs[0].MissingOutputs = []string{"score.json"}
			f.Tasks[0].State, f.Tasks[1].State = "failed", "failed"
		}), "bad:fold-failed"},
		{"score above", with(func(f *RunFacts) { f.BaselineName, f.Score, f.BaselineScore, f.Greater = "b", num(.9), num(.8), true }), "good:above-baseline info:cost"},
		{"score below, lower is better", with(func(f *RunFacts) { f.BaselineName, f.Score, f.BaselineScore = "b", num(.9), num(.8) }), "warn:below-baseline info:cost"},
		{"inside the spread", with(func(f *RunFacts) {
			f.BaselineName, f.Score, f.BaselineScore, f.Greater, f.BaselineSpread = "b", num(.81), num(.8), true, .02
		}), "info:cost info:level-with-baseline"},
		{"the session's own words", with(func(f *RunFacts) { f.Runner = []Finding{{Code: "pip-failed", Level: "bad", Text: "No such version."}} }), "bad:pip-failed info:cost"},
		{"said twice, told once", with(func(f *RunFacts) { f.DeadlineHit = true; f.Runner = []Finding{{Code: "deadline", Level: "warn"}} }), "warn:deadline-hit info:cost"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Diagnose(tt.facts)
			if s := codes(got); s != tt.want {
				t.Errorf("got %q, want %q", s, tt.want)
			}
			for _, f := range got {
				if f.Text != "" && !strings.HasSuffix(f.Text, ".") && !strings.HasSuffix(f.Text, ")") {
					t.Errorf("%s: %q is not a sentence", f.Code, f.Text)
				}
				if (f.Level == "bad" || f.Level == "warn") && f.Fix == "" && f.Code != "below-baseline" && f.Text != "" {
					t.Errorf("%s says nothing of what to do", f.Code)
				}
			}
		})
	}
}

func TestFailedFolds(t *testing.T) {
	f := healthy()
	f.Tasks = []TaskFacts{task(3, "failed"), task(1, "failed"), task(2, "done"), task(4, "failed")}
	f.Tasks[0].Error = "Traceback\ntorch.OutOfMemoryError: CUDA out of memory. Tried"
	f.Tasks[1].Error = f.Tasks[0].Error
	f.Tasks[3].Error = "ModuleNotFoundError: No module named 'timm'"
	got := failedTasks(f)
	if len(got) != 2 {
		t.Fatalf("%d findings, want one for each error: %+v", len(got), got)
	}
	if !strings.HasPrefix(got[0].Text, "Folds 1 and 3 of train failed: torch.OutOfMemoryError") || got[0].Fix != oomFix || !strings.Contains(got[0].Detail, "Traceback") {
		t.Errorf("%+v", got[0])
	}
	if !strings.Contains(got[1].Fix, "--pip") {
		t.Errorf("%+v", got[1])
	}
}

func TestKilledByCapNamesTheNextCap(t *testing.T) {
	f := healthy()
	f.State, f.Elapsed, f.Cap = StateCancelled, 2*h, 2*h
	got := Diagnose(f)[0]
	if !strings.Contains(got.Fix, "2.6 h to 3.0 h") || !strings.Contains(got.Fix, "--resume-from") {
		t.Errorf("%q", got.Fix)
	}
}

func TestTrending(t *testing.T) {
	curve := func(fold int, upTo float64, level float64) CurveFacts {
		c := CurveFacts{Job: "train", Fold: fold}
		for x := .1; x <= upTo+1e-9; x += .1 {
			c.Frac = append(c.Frac, x)
			c.Scores = append(c.Scores, level+.1*x)
		}
		return c
	}
	f := RunFacts{State: StateRunning, BaselineName: "b", Greater: true, Baseline: []CurveFacts{curve(0, 1, .5), curve(1, 1, .5)}}
	tests := []struct {
		name   string
		curves []CurveFacts
		lower  bool
		want   string
	}{
		{"above", []CurveFacts{curve(0, .4, .6), curve(1, .3, .6)}, false, "good:trending-above-baseline"},
		{"below", []CurveFacts{curve(0, .4, .4)}, false, "warn:trending-below-baseline"},
		{"lower is better", []CurveFacts{curve(0, .4, .4)}, true, "good:trending-above-baseline"},
		{"the same place, not the baseline's end", []CurveFacts{curve(0, .2, .55)}, false, "good:trending-above-baseline"},
		{"a fold the baseline does not have", []CurveFacts{curve(7, .4, .9)}, false, ""},
		{"no points yet", []CurveFacts{{Job: "train"}}, false, ""},
		{"diverged", []CurveFacts{{Job: "train", Frac: []float64{.1, .2}, Scores: []float64{math.NaN(), math.Inf(1)}}}, false, ""},
	}
	for _, tt := range tests {
		f.Curves, f.Greater = tt.curves, !tt.lower
		got := againstBaseline(f)
		if codes(got) != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, codes(got), tt.want)
		}
	}
	f.Curves, f.Greater = []CurveFacts{curve(0, .4, .6), curve(1, .4, .6)}, true
	if got := againstBaseline(f)[0].Text; got != "At 40 % of the schedule the run is better than the baseline b (better by 0.1 over 2 folds)." {
		t.Errorf("%q", got)
	}
}

// Folds differ among themselves more than ideas do on one fold: the demo's baseline scores 0.79 on one fold and 0.96 on another.
func TestFinishedRunsAreComparedFoldByFold(t *testing.T) {
	curves := func(best ...float64) (out []CurveFacts) {
		for k, b := range best {
			out = append(out, CurveFacts{Job: "j", Fold: k, Frac: []float64{.5, 1}, Scores: []float64{b - .1, b}})
		}
		return out
	}
	score := .9
	f := RunFacts{State: StateComplete, BaselineName: "baseline", Greater: true, Score: &score, BaselineScore: &score, BaselineSpread: .068,
		Baseline: curves(.946, .956, .909, .955, .794)}
	for _, tt := range []struct {
		name string
		run  []CurveFacts
		want string
		text string
	}{
		{"a real gain inside the folds' spread", curves(.977, .977, .973, .970, .952), "good:above-baseline", "Better than the baseline on 5 of 5 folds, by 0.0578 on average."},
		{"worse everywhere", curves(.93, .94, .89, .94, .78), "warn:below-baseline", "Better than the baseline on 0 of 5 folds, worse by 0.016 on average."},
		{"one fold carries it", curves(.940, .950, .900, .950, .95), "info:level-with-baseline", "Better than the baseline on 1 of 5 folds, by 0.026 on average."},
		{"the same", curves(.946, .956, .909, .955, .794), "info:level-with-baseline", "Better than the baseline on 0 of 5 folds, by 0 on average."},
	} {
		f.Curves = tt.run
		got := againstBaseline(f)
		if codes(got) != tt.want || got[0].Text != tt.text {
			t.Errorf("%s: %s %q %q", tt.name, codes(got), got[0].Text, got[0].Detail)
		}
	}
	f.Greater, f.Curves = false, curves(.93, .94, .89, .94, .78)
	if got := againstBaseline(f); codes(got) != "good:above-baseline" {
		t.Errorf("lower is better: %s", codes(got))
	}
}

func TestOutcome(t *testing.T) {
	tests := []struct {
		name  string
		facts RunFacts
		want  string
	}{
		{"every task failed after an evaluation", func() RunFacts {
			f := healthy()
			f.State, f.Jobs = StateError, nil
			for i := range f.Tasks {
				b := .5
				f.Tasks[i].State, f.Tasks[i].Best = "failed", &b
			}
			return f
		}(), OutcomeFailed},
		{"all jobs complete", healthy(), OutcomeComplete},
		{"one job is not", RunFacts{State: StateComplete, HasRecord: true, Jobs: []JobFacts{{Complete: true}, {}}}, OutcomePartial},
		{"one fold of two", RunFacts{State: StateError, HasRecord: true, Jobs: []JobFacts{{}}, Tasks: []TaskFacts{{State: "done"}, {State: "failed"}}}, OutcomePartial},
		{"every fold failed", RunFacts{State: StateError, HasRecord: true, Jobs: []JobFacts{{}}, Tasks: []TaskFacts{{State: "failed"}}}, OutcomeFailed},
		{"killed by the cap", RunFacts{State: StateCancelled, HasRecord: true, Jobs: []JobFacts{{}}, Tasks: []TaskFacts{{State: "done"}, {State: "running"}}}, OutcomeKilled},
		{"stopped as asked, nothing saved", RunFacts{State: StateCancelled, StopAsked: true, HasRecord: true, Jobs: []JobFacts{{}}}, OutcomeFailed},
		{"stopped as asked, a fold is done", RunFacts{State: StateCancelled, StopAsked: true, HasRecord: true, Jobs: []JobFacts{{}}, Tasks: []TaskFacts{{State: "done"}}}, OutcomePartial},
		{"own kernel, complete", RunFacts{State: StateComplete, OwnKernel: true}, OutcomeComplete},
		{"own kernel, error", RunFacts{State: StateError, OwnKernel: true}, OutcomeFailed},
		{"own kernel, killed", RunFacts{State: StateCancelled, OwnKernel: true}, OutcomeKilled},
		{"no record of ours though it should have one", RunFacts{State: StateComplete}, OutcomeFailed},
	}
	for _, tt := range tests {
		if got := Outcome(tt.facts); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestAfterCap: what is advised after a kill at the cap must be possible for that kernel and name real lengths.
func TestAfterCap(t *testing.T) {
	for _, tt := range []struct {
		name   string
		facts  RunFacts
		want   []string
		never  []string
		noFlag bool
	}{
		{"one of ours", RunFacts{Pool: GPU, Cap: 4 * h, HasRecord: true}, []string{"--resume-from", "5.2 h to 6.0 h"}, nil, false},
		{"near the limit", RunFacts{Pool: GPU, Cap: 10 * h, HasRecord: true}, []string{"12.0 h, the longest there is"}, []string{"13.0 h", "15.0 h"}, false},
		{"at the limit of a TPU", RunFacts{Pool: TPU, Cap: 9 * h, HasRecord: true}, []string{"--resume-from", "No TPU session may last longer than 9.0 h"}, []string{"11.7 h"}, false},
		{"a short kernel of one's own", RunFacts{Pool: CPU, Cap: 36 * time.Second, OwnKernel: true}, []string{"47 s to 54 s", "save checkpoints"}, []string{"0.0 h"}, true},
		{"a long kernel of one's own", RunFacts{Pool: GPU, Cap: 12 * h, OwnKernel: true}, []string{"cut the work into parts"}, []string{"15.6 h"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := tt.facts
			f.State, f.Elapsed = StateCancelled, f.Cap
			x := Diagnose(f)[0]
			all := x.Text + " " + x.Fix
			for _, w := range tt.want {
				if !strings.Contains(all, w) {
					t.Errorf("%q is not in: %s", w, all)
				}
			}
			for _, w := range tt.never {
				if strings.Contains(all, w) {
					t.Errorf("%q is in: %s", w, all)
				}
			}
			if tt.noFlag && strings.Contains(strings.ToLower(all), "resume") {
				t.Errorf("resume is named for a kernel that cannot be resumed: %s", all)
			}
		})
	}
	for _, f := range []RunFacts{{StopAsked: true}, {Elapsed: h, Cap: 5 * h}} {
		f.State, f.OwnKernel = StateCancelled, true
		if x := Diagnose(f)[0]; strings.Contains(x.Fix, "resume") {
			t.Errorf("%s: %s", x.Code, x.Fix)
		}
	}
}

// TestNotFound: the advice for a file that is not there names where the inputs really are.
func TestNotFound(t *testing.T) {
	const text = "Traceback …\nFileNotFoundError: [Errno 2] No such file or directory: '%s'"
	flat := []InputPlace{{"sam/leaves", "data"}}
	for _, tt := range []struct {
		name, missing string
		facts         RunFacts
		want          string
	}{
		{"straight in data", "data/leaves/train.csv", RunFacts{Inputs: InputFacts{Places: flat}}, "read it from data/, or attach sam/leaves=data/leaves"},
		{"a target of its own", "data/train.csv", RunFacts{Inputs: InputFacts{Places: []InputPlace{{"sam/leaves", "data/leaves"}}}}, "those of sam/leaves in data/leaves/. The script looks for data/train.csv: read it from data/leaves/, or attach sam/leaves=data"},
		{"not in it", "data/train.csv", RunFacts{Inputs: InputFacts{Places: flat}}, "None of them has data/train.csv"},
		{"an absolute path", "/kaggle/input/leaves/train.csv", RunFacts{Inputs: InputFacts{Places: flat}}, "those of sam/leaves in data/"},
		{"nothing attached", "data/train.csv", RunFacts{}, "Nothing was attached"},
		{"a kernel of one's own", "data/train.csv", RunFacts{OwnKernel: true}, "dataset_sources"},
	} {
		f := tt.facts
		f.State, f.LogTail = StateError, fmt.Sprintf(text, tt.missing)
		if x := Diagnose(f)[0]; !strings.Contains(x.Fix, tt.want) {
			t.Errorf("%s: %s", tt.name, x.Fix)
		}
	}
}
