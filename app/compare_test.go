package app

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/app/runlog"
	"sandglass/kaggle/sandbox"
	"sandglass/planner"
)

// trialBench is a project's past runs, each an hour after the one before.
type trialBench struct {
	t       *testing.T
	a       *App
	acc     Account
	project string
	at      time.Time
}

func newTrialBench(t *testing.T) *trialBench {
	t.Helper()
	w := newWorld(t, sandbox.Options{}, works(time.Minute))
	a := w.open(t, "")
	t.Cleanup(func() { closeApp(t, a) })
	acc, err := a.Account(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &trialBench{t: t, a: a, acc: acc, project: t.TempDir(), at: wednesday}
}

// scored is a run to put into the log.
type scored struct {
	name    string
	command string // "" = plain
	epochs  int
	planned []int // nil = those with scores
	scores  map[int]float64
	states  map[int]string // other than done
	lower   bool
	metric  string // "" = AUC
	score   float64
	hours   float64 // of the session; 0 = 1
	taskS   float64 // seconds a fold; 0 = 600
	change  func(*runlog.Run)
}

func folds(scores ...float64) map[int]float64 {
	m := map[int]float64{}
	for k, s := range scores {
		m[k] = s
	}
	return m
}

func (b *trialBench) run(x scored) runlog.Run {
	b.t.Helper()
	b.at = b.at.Add(time.Hour)
	r := runlog.Run{Account: b.acc.ID, Kernel: fmt.Sprintf("sam-roe/%s-train", x.name), Name: x.name, Version: 1, Project: b.project, Accelerator: "NvidiaTeslaT4",
		Command: "python src/train.py --name " + x.name + " --folds {fold}", Jobs: []string{x.name}, Cap: 9 * time.Hour, State: StateComplete, Outcome: OutcomeComplete,
		Metric: "AUC", Greater: !x.lower, Origin: originPush, CreatedAt: b.at, PushedAt: b.at, StartedAt: b.at, EndedAt: b.at.Add(time.Hour), CollectedAt: b.at.Add(time.Hour),
		Burned: time.Hour}
	if x.command != "" {
		r.Command = x.command
	}
	if x.metric != "" {
		r.Metric = x.metric
	}
	if x.hours != 0 {
		r.Burned = time.Duration(x.hours * float64(time.Hour))
	}
	if x.score != 0 {
		r.Score = &x.score
	}
	for k := range x.scores {
		r.Folds = append(r.Folds, k)
	}
	if x.planned != nil {
		r.Folds = x.planned
	}
	slices.Sort(r.Folds)
	if x.change != nil {
		x.change(&r)
	}
	r, err := b.a.store.CreateRun(b.t.Context(), r)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, k := range r.Folds {
		t := runlog.Task{Job: x.name, Fold: &k, State: "done", Seconds: 600}
		if x.taskS != 0 {
			t.Seconds = x.taskS
		}
		if s, ok := x.states[k]; ok {
			t.State = s
		}
		if v, ok := x.scores[k]; ok {
			t.Best = &v
		}
		if err := b.a.store.PutTask(b.t.Context(), r.ID, t); err != nil {
			b.t.Fatal(err)
		}
		if x.epochs > 0 {
			c := runlog.Curve{Job: x.name, Fold: k, Epochs: x.epochs, Greater: !x.lower, Points: []runlog.Point{{Epoch: x.epochs - 1, Score: x.scores[k], Seconds: 600}}}
			if err := b.a.store.AddPoints(b.t.Context(), r.ID, runlog.SeriesRun, c); err != nil {
				b.t.Fatal(err)
			}
		}
	}
	return r
}

// all are the experiments by name, and the one project's summary.
func (b *trialBench) all() (map[string]Experiment, ExperimentProject) {
	b.t.Helper()
	v, err := b.a.Experiments(b.t.Context(), "")
	if err != nil {
		b.t.Fatal(err)
	}
	if len(v.Projects) != 1 {
		b.t.Fatalf("%d projects", len(v.Projects))
	}
	by := map[string]Experiment{}
	for _, e := range v.Experiments {
		by[e.Name] = e
	}
	if len(by) != len(v.Experiments) || v.Projects[0].Count != len(by) {
		b.t.Fatalf("%d experiments of %d names, told as %d", len(v.Experiments), len(by), v.Projects[0].Count)
	}
	return by, v.Projects[0]
}

func TestExperimentsMeasureTheirGain(t *testing.T) {
	b := newTrialBench(t)
	if v, err := b.a.Experiments(t.Context(), ""); err != nil || len(v.Experiments) != 0 || len(v.Projects) != 0 {
		t.Fatalf("before anything ran: %+v, %v", v, err)
	}
	base := b.run(scored{name: "baseline", scores: folds(.80, .81, .82, .83, .84), score: .8205, hours: 4.8})
	b.run(scored{name: "better", scores: folds(.804, .816, .822, .835, .843), hours: 2})
	b.run(scored{name: "mixed", scores: folds(.81, .80, .83, .82, .841), score: .8199})
	b.run(scored{name: "broken", scores: map[int]float64{}, planned: []int{0, 1, 2, 3, 4}, states: map[int]string{0: "failed", 1: "failed", 2: "failed", 3: "failed", 4: "failed"}, hours: .2,
		change: func(r *runlog.Run) { r.State, r.Outcome, r.Metric = StateError, OutcomeFailed, "" }})
	b.run(scored{name: "refused", scores: folds(.9), change: func(r *runlog.Run) { r.State = StateRefused }})
	by, p := b.all()
	if len(by) != 4 || p.Baseline != "baseline" || p.Chosen || p.Metric != "AUC" || p.Better != BetterHigher || p.Fidelity.Verdict != planner.FidelityFew {
		t.Fatalf("%d experiments, project %+v", len(by), p)
	}
	x := by["baseline"]
	if !x.Baseline || x.Gain != nil || x.Why != "" || x.Kind != KindFull || *x.Score != .8205 || x.Hours != 4.8 || x.Folds[4].Run != base.ID || x.Planned != 5 {
		t.Errorf("baseline %+v", x)
	}
	wantNear(t, "mean", x.Mean, .82, 1e-12)
	wantNear(t, "spread", x.Spread, math.Sqrt(.00025), 1e-12)
	wantNear(t, "hours a fold", x.FoldHours, .96, 1e-12)
	g := by["better"].Gain
	if g == nil || g.Verdict != BeyondNoise || g.Advice != AdviceKeep || g.Better != 5 || len(g.Folds) != 5 || g.Source != "folds" {
		t.Fatalf("better: %+v", g)
	}
	wantNear(t, "gain", g.Mean, .004, 1e-12)
	if want := "Better than baseline by 0.004, ahead on 5 of 5 folds. That is beyond the noise: 95 % between +0.00106 and +0.00694, by the folds' differences."; g.Text != want {
		t.Errorf("told as %q, want %q", g.Text, want)
	}
	wantNear(t, "score without an assembled one", by["better"].Score, .824, 1e-12)
	if g := by["mixed"].Gain; g == nil || g.Verdict != WithinNoise || g.Advice != AdviceSecondSeed {
		t.Errorf("mixed: %+v", g)
	}
	if x := by["broken"]; x.Gain != nil || x.Why != "it measured nothing yet" || x.Kind != "" || x.Hours != .2 || x.FoldHours != nil || x.Newest.Outcome != OutcomeFailed {
		t.Errorf("broken: %+v", x)
	}
}

// A run and its follow-ups are one experiment: of each fold the newest whole training counts, a half one never does.
// A baseline that no run of the log measured, as the demo's, is there all the same: from the curves that a run was shown beside.
func TestARecordedBaselineIsAnExperiment(t *testing.T) {
	b := newTrialBench(t)
	r := b.run(scored{name: "idea", epochs: 3, scores: folds(.80, .81, .83, .82, .84), change: func(r *runlog.Run) {
		score := .795
		r.BaselineName, r.BaselineScore = "recorded", &score
	}})
	for k, s := range folds(.78, .79, .81, .80, .82) {
		c := runlog.Curve{Job: "recorded", Fold: k, Epochs: 3, Greater: true, Points: []runlog.Point{{Epoch: 2, Score: s, Seconds: 60}}}
		if err := b.a.store.AddPoints(t.Context(), r.ID, runlog.SeriesBaseline, c); err != nil {
			t.Fatal(err)
		}
	}
	by, p := b.all()
	base := by["recorded"]
	if p.Baseline != "recorded" || !base.Baseline || len(base.Folds) != 5 || base.Runs != 0 || base.Hours != 0 || base.Run != r.ID || base.Score == nil || *base.Score != .795 {
		t.Fatalf("baseline %q: %+v", p.Baseline, base)
	}
	if g := by["idea"].Gain; g == nil || g.Mean == nil || math.Abs(*g.Mean-.02) > 1e-9 || g.Verdict != BeyondNoise {
		t.Errorf("gain %+v, %s", g, by["idea"].Why)
	}
	v, err := b.a.Compare(t.Context(), CompareAsk{Project: b.project, Names: []string{"idea"}})
	if err != nil || len(v.Sides) != 2 || v.Sides[0].Name != "recorded" {
		t.Fatalf("%+v, %v", v, err)
	}
	if n := len(v.Curves); n == 0 {
		t.Error("no curves")
	}
	// A run of that name takes its place.
	b.run(scored{name: "recorded", epochs: 3, scores: folds(.79, .80, .82, .81, .83)})
	by, _ = b.all()
	if base := by["recorded"]; base.Runs != 1 || base.Folds[0].Score != .79 || len(by) != 2 {
		t.Errorf("%+v", base)
	}
}

func TestARunAndItsFollowUpsAreOneExperiment(t *testing.T) {
	b := newTrialBench(t)
	five := []int{0, 1, 2, 3, 4}
	b.run(scored{name: "idea", planned: five, epochs: 30, scores: folds(.80, .81, .50), states: map[int]string{2: "timeout", 3: "not-started", 4: "pruned"}, hours: 2})
	second := b.run(scored{name: "idea", planned: five, epochs: 30, scores: folds(.80, .81, .82, .83), states: map[int]string{0: "skipped", 1: "skipped", 4: "running"}, hours: 1.5,
		change: func(r *runlog.Run) { r.Kernel += "-r2" }})
	by, _ := b.all()
	x := by["idea"]
	if x.Runs != 2 || x.Hours != 3.5 || len(x.Folds) != 4 || x.Folds[2].Score != .82 || x.Folds[2].Run != second.ID || x.Planned != 5 || x.Kind != KindFull || x.Epochs != 30 {
		t.Errorf("%+v", x)
	}
	if x.Why != "the project has no baseline" {
		t.Errorf("why %q", x.Why)
	}
	// Other settings under the same name are another measurement, and the newest counts.
	b.run(scored{name: "idea", planned: five, epochs: 30, command: "python src/train.py --name idea --lr 0.1 --folds {fold}", scores: folds(.7, .7, .7, .7, .7)})
	if by, _ := b.all(); math.Abs(*by["idea"].Mean-.7) > 1e-12 || by["idea"].Runs != 3 {
		t.Errorf("the newest settings: %+v", by["idea"])
	}
}

func TestScreensAreHeldAgainstTheirControl(t *testing.T) {
	b := newTrialBench(t)
	b.run(scored{name: "baseline", epochs: 30, scores: folds(.80, .81, .82, .83)})
	for i, x := range []struct{ screen, gain float64 }{{-.02, -.03}, {-.01, -.012}, {.001, .002}, {.004, .006}, {.01, .015}, {.02, .018}} {
		name := fmt.Sprintf("idea%d", i)
		b.run(scored{name: name, epochs: 6, scores: map[int]float64{0: .70 + x.screen}, taskS: 120})
		b.run(scored{name: name, epochs: 30, scores: folds(.80+x.gain, .811+x.gain, .819+x.gain, .83+x.gain)})
	}
	b.run(scored{name: "lone", epochs: 6, scores: map[int]float64{0: .72}, taskS: 120})
	by, p := b.all()
	// A short training is never held against a long one.
	if x := by["lone"]; x.Kind != KindScreen || x.Gain != nil || !strings.Contains(x.Why, "there is no control: baseline was not run with a schedule of 6") {
		t.Errorf("a screen without a control: %+v %q", x.Gain, x.Why)
	}
	// Without a control the scores are ranked: all screens are of one kind.
	if f := p.Fidelity; f.Gains || len(f.Points) != 6 || f.Verdict != planner.FidelityYes || *f.Rank != 1 || len(f.Uncontrols) != 6 || f.Agree != 0 {
		t.Errorf("by scores: %+v", f)
	}
	b.run(scored{name: "baseline", epochs: 6, scores: map[int]float64{0: .70}, taskS: 120})
	by, p = b.all()
	if x := by["lone"]; x.Gain == nil || x.Gain.Verdict != TooFewFolds || x.Gain.Advice != AdviceMoreFolds || math.Abs(*x.Gain.Mean-.02) > 1e-12 || x.Gain.Low != nil {
		t.Errorf("a screen with a control: %+v %q", x.Gain, x.Why)
	}
	if x := by["idea4"]; x.Kind != KindFull || x.Gain == nil || math.Abs(*x.Gain.Mean-.015) > 1e-9 || x.Runs != 2 {
		t.Errorf("a full run is held against a full run: %+v", x)
	}
	f := p.Fidelity
	if !f.Gains || len(f.Points) != 6 || f.Agree != 6 || f.Rank == nil || *f.Rank != 1 || f.Verdict != planner.FidelityYes || len(f.Uncontrols) != 0 {
		t.Errorf("by gains: %+v", f)
	}
	if i := slices.IndexFunc(f.Points, func(q FidelityPoint) bool { return q.Name == "idea0" }); i < 0 || math.Abs(f.Points[i].Screen+.02) > 1e-9 || math.Abs(f.Points[i].Full+.03) > 1e-9 || f.Points[i].ScreenFolds != 1 || f.Points[i].FullFolds != 4 {
		t.Errorf("points %+v", f.Points)
	}
	// Side by side a screen stands beside its control, and a full run beside the full baseline.
	v, err := b.a.Compare(t.Context(), CompareAsk{Names: []string{"lone"}})
	if err != nil || v.Bases != 1 || len(v.Sides) != 2 || v.Sides[0].Name != "baseline at 6 epochs" || len(v.Folds) != 1 || *v.Folds[0].Scores[0] != .70 || len(v.Curves[0]) != 1 || v.Pairs[0].Against != "baseline at 6 epochs" ||
		!strings.HasPrefix(v.Pairs[0].Gain.Text, "Better than baseline at 6 epochs by 0.02 on the one fold in common. Those are too few folds: ") || v.Sides[0].Hours != 1 {
		t.Errorf("a screen side by side: %+v, %v", v, err)
	}
	v, err = b.a.Compare(t.Context(), CompareAsk{Names: []string{"lone", "idea4"}})
	if err != nil || v.Bases != 2 || len(v.Sides) != 4 || v.Sides[1].Name != "baseline" || v.Pairs[1].Base != 1 || v.Pairs[1].Side != 3 || v.Pairs[2].Base != 2 || v.Pairs[2].Side != 3 || *v.Folds[0].Scores[1] != .80 {
		t.Errorf("a screen and a full run: %+v, %v", v.Pairs, err)
	}
	if by["baseline"].Epochs != 30 || len(by["baseline"].Folds) != 4 {
		t.Errorf("the control took the baseline's place: %+v", by["baseline"])
	}
}

// A screen may have a name of its own, and a control that it was built to be shown beside.
func TestAScreenUnderItsOwnName(t *testing.T) {
	b := newTrialBench(t)
	b.run(scored{name: "baseline", epochs: 30, scores: folds(.80, .81, .82, .83)})
	b.run(scored{name: "control-256", epochs: 10, scores: map[int]float64{0: .70}})
	b.run(scored{name: "aug-b-screen", epochs: 10, scores: map[int]float64{0: .71}, change: func(r *runlog.Run) { r.BaselineName = "control-256" }})
	b.run(scored{name: "aug-b", epochs: 30, scores: folds(.81, .82, .83, .84)})
	by, p := b.all()
	if x := by["aug-b-screen"]; x.Kind != KindScreen || x.Gain == nil || x.Gain.Against != "control-256" {
		t.Errorf("screen: %+v %q", x.Gain, x.Why)
	}
	b.run(scored{name: "baseline-screen", epochs: 10, scores: map[int]float64{0: .701}})
	if by, _ := b.all(); !by["baseline-screen"].Control || by["baseline-screen"].Gain != nil || by["aug-b-screen"].Control {
		t.Errorf("the baseline's own screen: %+v", by["baseline-screen"])
	}
	// It is not its own control when it is held against the full run of its idea.
	if v, err := b.a.Compare(t.Context(), CompareAsk{Names: []string{"aug-b-screen"}, Baseline: "aug-b"}); err != nil || v.Pairs[0].Gain != nil || !strings.Contains(v.Pairs[0].Why, "it is the screen of aug-b itself") {
		t.Errorf("against its own idea: %+v, %v", v.Pairs, err)
	}
	if f := p.Fidelity; len(f.Points) != 1 || f.Points[0].Name != "aug-b" || math.Abs(f.Points[0].Screen-.01) > 1e-9 || f.Verdict != planner.FidelityFew {
		t.Errorf("fidelity %+v", f)
	}
}

func TestSeedsTellTheNoise(t *testing.T) {
	b := newTrialBench(t)
	seeded := func(name string, seed int, scores ...float64) {
		b.run(scored{name: name, scores: folds(scores...), command: fmt.Sprintf("python src/train.py --name %s --seed %d --folds {fold}", name, seed)})
	}
	seeded("baseline", 1, .80, .81)
	if _, p := b.all(); len(p.Noise) != 0 {
		t.Errorf("noise out of one seed: %+v", p.Noise)
	}
	seeded("baseline-seed2", 2, .82, .83) // .02 apart on both folds: variance .0002 each
	seeded("idea", 1, .86, .87)
	by, p := b.all()
	if len(p.Noise) != 1 || p.Noise[0].DF != 2 || math.Abs(p.Noise[0].SD-math.Sqrt(.0002)) > 1e-12 {
		t.Fatalf("noise %+v", p.Noise)
	}
	g := by["idea"].Gain
	half := planner.TQuantile(.975, 2) * math.Sqrt(.0002*2/2)
	if g == nil || g.Source != "seeds" || g.Verdict != WithinNoise || g.Advice != AdviceSecondSeed {
		t.Fatalf("two folds under one seed: %+v", g)
	}
	wantNear(t, "low", g.Low, .06-half, 1e-9)
	// Three more seeds under one name: their mean counts, and their noise is known better.
	seeded("idea", 2, .861, .871)
	seeded("idea", 3, .859, .869)
	by, p = b.all()
	x := by["idea"]
	if x.Seeds != 3 || math.Abs(*x.Mean-.865) > 1e-9 || p.Noise[0].DF != 6 || x.Gain.Verdict != BeyondNoise {
		t.Errorf("three seeds: %+v, gain %+v, noise %+v", x, x.Gain, p.Noise)
	}
}

func TestUnlikeRunsAreNotCompared(t *testing.T) {
	b := newTrialBench(t)
	b.run(scored{name: "baseline", scores: folds(.80, .81, .82)})
	b.run(scored{name: "loss", scores: folds(.4, .5, .6), metric: "log loss", lower: true})
	b.run(scored{name: "turned", scores: folds(.4, .5, .6), lower: true})
	b.run(scored{name: "same", scores: folds(.81, .82, .83), metric: "auc"})
	split := func(name, sum string) {
		dir := t.TempDir()
		if err := writeJSON(filepath.Join(dir, notesName), buildNotes{BuildID: name, Split: sum}); err != nil {
			t.Fatal(err)
		}
		b.run(scored{name: name, scores: folds(.81, .82, .83), change: func(r *runlog.Run) { r.BuildDir, r.BuildID = dir, name }})
	}
	split("split-a", "aa")
	split("split-b", "bb")
	by, _ := b.all()
	for name, says := range map[string]string{"loss": "the metrics differ: loss measured log loss and baseline measured AUC", "turned": "a lower AUC is better"} {
		if x := by[name]; x.Gain != nil || !strings.Contains(x.Why, says) {
			t.Errorf("%s: %+v %q", name, x.Gain, x.Why)
		}
	}
	if by["same"].Gain == nil || by["split-a"].Gain == nil {
		t.Errorf("auc is AUC, and a split that is not known is no other split: %q %q", by["same"].Why, by["split-a"].Why)
	}
	var call *CallError
	if _, err := b.a.Compare(t.Context(), CompareAsk{Names: []string{"loss"}}); !errors.As(err, &call) || !strings.Contains(call.Reason, "log loss") {
		t.Errorf("unlike metrics: %v", err)
	}
	if _, err := b.a.Compare(t.Context(), CompareAsk{Names: []string{"split-b"}, Baseline: "split-a"}); !errors.As(err, &call) || !strings.Contains(call.Reason, "the splits differ") {
		t.Errorf("two splits: %v", err)
	}
}

func TestCompare(t *testing.T) {
	b := newTrialBench(t)
	b.run(scored{name: "baseline", epochs: 2, scores: folds(.80, .81, .82, .83, .84)})
	b.run(scored{name: "a", epochs: 2, scores: folds(.804, .816, .822, .835)})
	b.run(scored{name: "b", epochs: 2, scores: map[int]float64{1: .83, 2: .84, 3: .85, 4: .86}})
	v, err := b.a.Compare(t.Context(), CompareAsk{Names: []string{"a", "b"}})
	if err != nil || v.Baseline != "baseline" || len(v.Sides) != 3 || len(v.Pairs) != 3 || len(v.Folds) != 5 || v.Metric != "AUC" || len(v.Curves) != 3 || len(v.Curves[0]) != 5 {
		t.Fatalf("%+v, %v", v, err)
	}
	if p := v.Pairs[2]; p.Name != "b" || p.Against != "a" || len(p.Gain.Folds) != 3 || !slices.Equal(p.Gain.OnlyOwn, []int{4}) || !slices.Equal(p.Gain.OnlyBase, []int{0}) {
		t.Errorf("the two against each other: %+v", p.Gain)
	}
	if f := v.Folds[0]; f.Scores[2] != nil || *f.Scores[1] != .804 || *f.Scores[0] != .80 {
		t.Errorf("fold 0: %+v", f)
	}
	v, err = b.a.Compare(t.Context(), CompareAsk{Names: []string{"a"}, Baseline: "b", Project: b.project})
	if err != nil || v.Baseline != "b" || len(v.Pairs) != 1 || v.Pairs[0].Gain.Mean == nil || *v.Pairs[0].Gain.Mean > 0 {
		t.Errorf("against b: %+v, %v", v.Pairs, err)
	}
	for name, ask := range map[string]CompareAsk{"nothing": {}, "itself": {Names: []string{"baseline"}}, "unknown": {Names: []string{"nobody"}}, "unknown baseline": {Names: []string{"a"}, Baseline: "nobody"},
		"another project": {Names: []string{"a"}, Project: t.TempDir()}} {
		var call *CallError
		if _, err := b.a.Compare(t.Context(), ask); !errors.As(err, &call) || call.Action == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The same names in a second project: it has to be named.
	b.project = t.TempDir()
	b.run(scored{name: "baseline", scores: folds(.5, .5, .5)})
	b.run(scored{name: "a", scores: folds(.6, .7, .8)})
	var call *CallError
	if _, err := b.a.Compare(t.Context(), CompareAsk{Names: []string{"a"}}); !errors.As(err, &call) || !strings.Contains(call.Reason, "several projects") {
		t.Errorf("two projects: %v", err)
	}
	if v, err := b.a.Compare(t.Context(), CompareAsk{Names: []string{"a"}, Project: b.project}); err != nil || v.Project.Dir != b.project {
		t.Errorf("named: %v", err)
	}
}

func TestTheBaselineCanBeChosen(t *testing.T) {
	b := newTrialBench(t)
	b.run(scored{name: "first", scores: folds(.80, .81, .82)})
	b.run(scored{name: "second", scores: folds(.81, .82, .83), change: func(r *runlog.Run) { r.BaselineName = "first" }})
	b.run(scored{name: "empty", scores: nil, planned: []int{}})
	if _, p := b.all(); p.Baseline != "first" || p.Chosen {
		t.Errorf("what the runs were shown beside: %+v", p)
	}
	if err := b.a.SetBaseline(t.Context(), b.project, "second"); err != nil {
		t.Fatal(err)
	}
	by, p := b.all()
	if p.Baseline != "second" || !p.Chosen || by["second"].Gain != nil || by["first"].Gain == nil || *by["first"].Gain.Mean > 0 {
		t.Errorf("chosen: %+v", p)
	}
	for _, name := range []string{"nobody", "empty"} {
		var call *CallError
		if err := b.a.SetBaseline(t.Context(), b.project, name); !errors.As(err, &call) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := b.a.SetBaseline(t.Context(), b.project, ""); err != nil {
		t.Fatal(err)
	}
	if _, p := b.all(); p.Baseline != "first" {
		t.Errorf("taken back: %+v", p)
	}
}

// Jobs that ride in one session are experiments of their own, and its hours are shared by what their tasks took.
func TestJobsOfOneSessionShareItsHours(t *testing.T) {
	b := newTrialBench(t)
	r := b.run(scored{name: "idea", scores: folds(.8, .9), hours: 4, taskS: 300, change: func(r *runlog.Run) { r.Jobs = []string{"idea", "seed2"} }})
	for k := range 2 {
		best := .7
		if err := b.a.store.PutTask(t.Context(), r.ID, runlog.Task{Job: "seed2", Fold: &k, State: "done", Seconds: 900, Best: &best}); err != nil {
			t.Fatal(err)
		}
	}
	by, _ := b.all()
	if by["idea"].Hours != 1 || by["seed2"].Hours != 3 || *by["seed2"].Mean != .7 || by["seed2"].Metric != "AUC" && by["seed2"].Metric != "" {
		t.Errorf("%+v", by)
	}
}

func TestAScreenIsPromoted(t *testing.T) {
	b := newTrialBench(t)
	r := b.run(scored{name: "aug-b-screen", scores: map[int]float64{0: .8}, command: "python src/train.py --name aug-b-screen --folds {fold} --mix 0.2"})
	spec, err := b.a.PromoteSpec(t.Context(), r.ID)
	if err != nil || spec.Name != "aug-b" || spec.Command != "python src/train.py --name aug-b --folds {fold} --mix 0.2" || spec.Folds != nil || spec.Project != b.project {
		t.Errorf("%+v, %v", spec, err)
	}
	r = b.run(scored{name: "ema", scores: map[int]float64{0: .8}})
	if spec, err := b.a.PromoteSpec(t.Context(), r.ID); err != nil || spec.Name != "ema" || spec.Folds != nil {
		t.Errorf("%+v, %v", spec, err)
	}
	if _, err := b.a.PromoteSpec(t.Context(), 99); err == nil {
		t.Error("a run that is not there was promoted")
	}
}

func TestPlainCommand(t *testing.T) {
	for command, want := range map[string][2]string{
		"python src/train.py --name idea --folds {fold} --lr 0.1":          {"python src/train.py --lr 0.1", ""},
		"python src/train.py --folds 0 1 2 --seed 7 --name=idea":           {"python src/train.py", "7"},
		"python src/train.py --seed=8 --out artifacts/idea --folds":        {"python src/train.py --out artifacts/{name}", "8"},
		"python src/train.py --seed --name idea":                           {"python src/train.py", ""},
		"":                                                                 {"", ""},
		"torchrun src/train.py --epochs 5 --subset 0.1 --fold 3 --seed 12": {"torchrun src/train.py --epochs 5 --subset 0.1", "12"},
	} {
		if plain, seed := plainCommand(command, "idea"); plain != want[0] || seed != want[1] {
			t.Errorf("%q: %q seed %q, want %q", command, plain, seed, want)
		}
	}
}

// The hours of all experiments are those of all runs.
func TestManyExperiments(t *testing.T) {
	b := newTrialBench(t)
	b.run(scored{name: "baseline", epochs: 5, scores: folds(.80, .81, .82, .83, .84)})
	for i := range 60 {
		g := float64(i%17)*.001 - .008
		b.run(scored{name: fmt.Sprintf("idea-%03d", i), epochs: 5, scores: folds(.80+g, .812+g, .82+g, .829+g, .84+g)})
	}
	by, p := b.all()
	if len(by) != 61 || p.Count != 61 {
		t.Errorf("%d", len(by))
	}
	sum := 0.0
	for _, x := range by {
		sum += x.Hours
	}
	if math.Abs(sum-61) > 1e-9 {
		t.Errorf("%v hours in all, want those of the runs", sum)
	}
}
