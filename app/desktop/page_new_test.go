package desktop

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"sandglass/app"
)

func TestFormReadsWhatPeopleType(t *testing.T) {
	good := newForm{Project: "/home/me/leaf ", Name: "cnx384", Command: "python src/train.py --folds {fold}", Hours: " 2,5 h", Shape: "NvidiaTeslaT4",
		Datasets: "sam-roe/leaf-scans=data/leaf\nsam-roe/extra, kim/x", Models: "google/bert/pytorch/base/1", Folds: "0 2,3", Internet: true}
	base := app.BuildSpec{Pip: []string{"timm"}, ExtraJobs: []app.JobSpec{{Name: "b", Command: "x"}}, Folds: []int{7}, Layout: "nested"}
	spec, problems := good.spec(base)
	if len(problems) != 0 {
		t.Fatalf("problems %v", problems)
	}
	if spec.Hours != 2.5 || !reflect.DeepEqual(spec.Folds, []int{0, 2, 3}) || len(spec.Datasets) != 3 || spec.Project != "/home/me/leaf" || spec.NoInternet || spec.Layout != "" {
		t.Errorf("read as %+v", spec)
	}
	if len(spec.Pip) != 1 || len(spec.ExtraJobs) != 1 || len(spec.Models) != 1 {
		t.Errorf("what the form does not ask for was lost: %+v", spec)
	}
	for name, c := range map[string]struct {
		edit func(*newForm)
		at   field
	}{
		"empty folder":   {func(f *newForm) { f.Project = "" }, fieldProject},
		"spaced name":    {func(f *newForm) { f.Name = "my run" }, fieldName},
		"no command":     {func(f *newForm) { f.Command = "  " }, fieldCommand},
		"words for time": {func(f *newForm) { f.Hours = "two" }, fieldHours},
		"zero hours":     {func(f *newForm) { f.Hours = "0" }, fieldHours},
		"bare dataset":   {func(f *newForm) { f.Datasets = "leaf-scans" }, fieldInputs},
		"negative fold":  {func(f *newForm) { f.Folds = "-1" }, fieldFolds},
	} {
		f := good
		c.edit(&f)
		if _, problems := f.spec(base); problems[c.at] == "" || len(problems) != 1 {
			t.Errorf("%s: problems %v, want one at %s", name, problems, c.at)
		}
	}
}

func TestFormSuggestsButNeverOverwrites(t *testing.T) {
	told := app.BuildSpec{Name: "My-project", Command: "python src/train.py --name My-project --folds {fold}", Baseline: "baseline"}
	if got := (newForm{Project: "/p"}).suggest(told); got.Name != told.Name || got.Command != told.Command || got.Baseline != "baseline" {
		t.Errorf("suggested %+v", got)
	}
	typed := newForm{Project: "/p", Name: "mine", Command: "make", Baseline: "old"}
	if again := typed.suggest(told); again != typed {
		t.Errorf("typed %+v became %+v", typed, again)
	}
}

func TestFormOfAnEarlierRunReadsBackTheSame(t *testing.T) {
	want := app.BuildSpec{Project: "/p", Name: "cnx384", Command: "python src/train.py --folds {fold}", Hours: 2.5, Folds: []int{0, 3}, Accelerator: "TpuV5E8",
		Datasets: []string{"sam-roe/leaf-scans=data/leaf", "kim/x"}, Kernels: []string{"me/prep"}, Competitions: []string{"leaf-cup"}, Models: []string{"a/b/c/d/1"}, Baseline: "baseline",
		Include: []string{"src", "data/penguins.csv"}, NoInternet: true, Layout: "nested", Pip: []string{"timm"}}
	got, problems := formOf(want).spec(want)
	if len(problems) != 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v with problems %v, want %+v", got, problems, want)
	}
}

func TestInputsAreAttachedPlacedAndTakenAway(t *testing.T) {
	var f newForm
	if !f.attach(app.InputDataset, "a/x") || !f.attach(app.InputDataset, "a/y") || f.attach(app.InputDataset, "a/x") || f.attach("planet", "mars") {
		t.Errorf("attached %q", f.Datasets)
	}
	f.place(app.InputDataset, "a/x", "data/x")
	if f.Datasets != "a/x=data/x a/y" {
		t.Errorf("placed %q", f.Datasets)
	}
	f.detach(app.InputDataset, "a/x")
	if f.Datasets != "a/y" {
		t.Errorf("left %q", f.Datasets)
	}
}

// aWizard is a run that can be pushed, with everything answered.
func aWizard() wizard {
	w := wizard{at: stepReview, reached: stepReview, shapeTyped: true, capTyped: true, model: modelForm{Kind: "cnn"},
		form: newForm{Project: "/p", Name: "cnx384", Command: "python src/train.py --folds {fold}", Hours: "7", Shape: shapeT4, Internet: true}}
	w.facts.ask("/p")
	w.facts.answer("/p", app.ProjectFacts{Exists: true, Folds: []int{0, 1, 2, 3, 4}}, nil)
	w.advice.ask(w.adviceKey())
	w.advice.answer(w.adviceKey(), []option{
		{Shape: shapeT4, Title: "GPU T4 ×2", Pool: app.PoolGPU, Fits: true, Recommended: true, Memory: "9.1 – 11.0 of 15 GiB", Burns: "5.1 – 6.3 h", Done: "23:10 – Tue 00:20", Leaves: "11.1 h GPU",
			Reasons: []string{"Both cards stay busy: 5 folds in 3 waves, the last with one card idle.", "Use fp16: bf16 is emulated on a T4."}, Doubts: []string{"From your 4 runs of this job."}},
		{Shape: shapeTPU, Title: "TPU v5e-8", Pool: app.PoolTPU, Fits: true, Memory: "6 – 9 of 16 GiB a chip", Burns: "0.9 – 1.6 h", Done: "Tue 01:30 – 12:40", Leaves: "9.4 h TPU",
			Reasons: []string{"All 5 folds at once, one chip each. Saves 6 GPU-hours, costs the wait: your queue has taken 2 to 13 h."}, Doubts: []string{"Speed is a prior (2 to 5 T4 a chip) until a TPU run of yours is measured.", "The script must be ported to torch_xla."}},
		{Shape: shapeCPU, Title: "CPU", Pool: app.PoolCPU, Memory: "30 GiB RAM", Burns: "no quota", Done: "in about 9 days",
			Reasons: []string{"Free of quota, but about 40 times slower for this model: over the 12 h session limit 18 times."}, Doubts: []string{"Right for boosting on tables and for preprocessing."}},
	}, nil)
	w.hours.ask(w.hoursKey())
	w.hours.answer(w.hoursKey(), sampleHours(w.jobKey()), nil)
	w.build.ask(w.buildKey())
	w.build.answer(w.buildKey(), app.BuildResult{Kernel: "mara/cnx384-train", Dir: "/p/.sandglass/build/cnx384-train", BuildID: "x", Jobs: []string{"cnx384"}, Folds: []int{0, 1, 2, 3, 4}, ScriptBytes: 41_000,
		Parts: []app.SizePart{{Name: "runner", Bytes: 26_000}, {Name: "code", Bytes: 11_000}, {Name: "folds", Bytes: 4_000}},
		Fill: []app.FillOffer{{Text: "Fold 4 leaves a card idle for its whole length: a second seed of it would cost no quota.", JobName: "seed2", JobCommand: "python src/train.py --name seed2 --folds {fold} --seed 2", Folds: []int{4}},
			{Text: "Or another job could ride there.", Flag: `--extra-job other "python src/other.py --name other --folds {fold}" --job-folds other=4`}}}, nil)
	w.plan.ask(w.planKey())
	w.plan.answer(w.planKey(), app.PushPlan{Kernel: "mara/cnx384-train", Pool: app.PoolGPU, CapHours: 7, CostText: "up to 7.0 GPU-hours", LeftAfter: 10.4,
		Quota: app.QuotaView{GPU: app.PoolView{Known: true, Left: 17.4}}}, nil)
	w.rehearsal.ask(w.rehearsalKey())
	w.rehearsal.answer(w.rehearsalKey(), app.Rehearsal{OK: true, Verdict: "The script runs: imports, inputs, paths and outputs are in order.", Seconds: 41, At: time.Now().Add(-time.Minute),
		Checks: []app.RehearsalCheck{{Code: "imports", State: app.CheckOK, Text: "Every module was found."}, {Code: "outputs", State: app.CheckWarn, Text: "Each fold writes a 480 MB checkpoint.", Fix: "Keep the best one only."},
			{Code: "devices", State: app.CheckSkipped, Text: "There is no GPU here."}}, NotRehearsed: []string{"the speed of a T4", "bf16"}}, nil)
	return w
}

func sampleHours(job string) hoursView {
	left := 11.7
	return hoursView{job: job, Known: true, Basis: "Bound from your 4 runs of this job, 95 %.", Parts: "Start-up 0.2 h, three waves of folds at up to 2.1 h each, 0.1 h to save.", CapH: 7, ExpectedH: 5.7, BoundH: 6.9,
		PKilled: 0.02, LimitH: 12, LeftAfterH: &left, Runs: []float64{5.4, 5.6, 5.8, 6.1},
		Stopped:  "Finished folds are kept, the running ones continue from their checkpoint. Resuming costs about 0.3 h more.",
		ThisWeek: "Fits: 17.4 h left, 7.0 h held until it ends. It ends before the reset on Saturday 01:00.",
		KilledAt: func(c float64) float64 { return 0.5 * math.Erfc((math.Log(c)-math.Log(5.7))/0.1/math.Sqrt2) }}
}

func value(t *testing.T, tk ticket, label string) string {
	t.Helper()
	for _, l := range tk.Lines {
		if l.Label == label {
			return l.Value
		}
	}
	t.Fatalf("the ticket has no row %q: %+v", label, tk.Lines)
	return ""
}

func TestTheTicketSaysWhatIsKnownAndNothingElse(t *testing.T) {
	w := aWizard()
	tk := w.ticket()
	for label, want := range map[string]string{"accelerator": "T4 ×2", "tasks": "5 folds", "cap": "7.0 h", "expected": "5.7 h", "chance to finish": "98 %", "done by": "23:10 – Tue 00:20",
		"quota after": "11.7 h", "script": "41.0 kB of 1 MB"} {
		if got := value(t, tk, label); got != want {
			t.Errorf("%s: %q, want %q", label, got, want)
		}
	}
	w.form.Hours = "5" // another cap: the chance follows at once, the build and its size are of other words now
	w.form.Command += " --epochs 30"
	tk = w.ticket()
	for _, label := range []string{"expected", "chance to finish", "done by", "script"} {
		if got := value(t, tk, label); got != unknown {
			t.Errorf("%s of another command is told as %q", label, got)
		}
	}
	w = aWizard()
	w.form.Hours = "5"
	if got := value(t, w.ticket(), "chance to finish"); got != "10 %" {
		t.Errorf("chance under a cap of 5 h: %q", got)
	}
	w.form.Shape = shapeCPU
	tk = w.ticket()
	if got := value(t, tk, "quota after"); got != "untouched" || !strings.Contains(tk.Note, "no quota") {
		t.Errorf("CPU: %q, %q", got, tk.Note)
	}
	empty := wizard{form: newForm{Shape: shapeT4}}
	for _, l := range empty.ticket().Lines[1:] {
		if l.Value != unknown {
			t.Errorf("of nothing the ticket says %s = %q", l.Label, l.Value)
		}
	}
}

func TestStepsOpenInOrderAndBackLosesNothing(t *testing.T) {
	w := wizard{form: newForm{Shape: shapeT4}}
	if w.next() || !w.wrong(stepProject) {
		t.Fatal("an empty project leads on")
	}
	full := aWizard()
	w.form, w.facts = full.form, full.facts
	for i := stepInputs; i <= stepReview; i++ {
		if !w.next() || w.at != i {
			t.Fatalf("stuck at %s", w.at.key())
		}
	}
	if w.next() {
		t.Error("there is a step after the last")
	}
	was := w.form
	for w.back() {
	}
	if w.at != stepProject || w.reached != stepReview || w.form != was {
		t.Errorf("back led to %s with %+v", w.at.key(), w.form)
	}
	w.form.Hours = "soon"
	if !w.open(stepHours) || w.open(stepReview) || !w.wrong(stepHours) {
		t.Error("a later step is open over an answer that cannot be read")
	}
	w.facts.got.Exists, w.facts.got.Problem = false, "There is no such folder."
	if w.open(stepInputs) {
		t.Error("a folder that is not there leads on")
	}
}

func TestADraftIsTheWizardAsItWas(t *testing.T) {
	w := aWizard()
	w.at = stepHours
	w.form.Hours = "two"
	w.base = app.BuildSpec{Pip: []string{"timm"}}
	back := wizardOf(w.draft())
	if back.form != w.form || back.at != stepHours || back.model != w.model || !back.capTyped || !back.shapeTyped || !reflect.DeepEqual(back.base, w.base) {
		t.Errorf("came back as %+v", back)
	}
	if w.draft().Project != "/p" || w.draft().Name != "cnx384" {
		t.Errorf("kept under %+v", w.draft())
	}
}

func TestAnAnswerToAnotherQuestionIsDropped(t *testing.T) {
	var a asked[int]
	if !a.due("x") {
		t.Error("nothing was asked, and nothing is due")
	}
	a.ask("x")
	if a.due("x") {
		t.Error("asked twice")
	}
	a.ask("y")
	if a.answer("x", 1, nil) || a.fresh("x") || a.fresh("y") {
		t.Error("an old answer was taken")
	}
	if a.answer("y", 0, errors.New("no")); a.fresh("y") || a.busy || a.due("y") {
		t.Error("an error is an answer, and is not asked again by itself")
	}
}

func TestThePushButtonNamesTheCost(t *testing.T) {
	for _, c := range []struct {
		name     string
		guards   []app.Guard
		override bool
		button   string
		can      bool
	}{
		{"plain", nil, false, "Push, up to 7.0 GPU-hours", true},
		{"slots", []app.Guard{{Code: "slots", Override: "--queue", Waits: true}}, false, "Add to launch queue, up to 7.0 GPU-hours", true},
		{"size", []app.Guard{{Code: "size"}}, true, "Push, up to 7.0 GPU-hours", false},
		{"quota", []app.Guard{{Code: "quota", Override: "--force"}}, false, "Push, up to 7.0 GPU-hours", false},
		{"quota that a reset gives", []app.Guard{{Code: "quota", Override: "--force", Waits: true}}, false, "Add to launch queue, up to 7.0 GPU-hours", true},
		{"slots, overridden in vain", []app.Guard{{Code: "slots", Override: "--queue", Waits: true}}, true, "Add to launch queue, up to 7.0 GPU-hours", true},
		{"quota overridden", []app.Guard{{Code: "quota", Override: "--force"}}, true, "Push, up to 7.0 GPU-hours", true},
		{"slots and inputs", []app.Guard{{Code: "inputs", Override: "--force"}, {Code: "slots", Override: "--queue", Waits: true}}, false, "Add to launch queue, up to 7.0 GPU-hours", false},
	} {
		w := aWizard()
		w.plan.got.Guards, w.override = c.guards, c.override
		if v := w.newReviewView(); v.Button != c.button || v.CanPush != c.can {
			t.Errorf("%s: %q, can push %v", c.name, v.Button, v.CanPush)
		}
	}
	w := aWizard()
	w.form.Hours = "8"
	if v := w.newReviewView(); v.CanPush || v.Busy == "" {
		t.Errorf("the plan of another cap can be pushed: %+v", v)
	}
}

func TestARehearsalInWords(t *testing.T) {
	w := aWizard()
	v := newRehearsalView(w.rehearsal.got)
	if v.Tone != toneGood || len(v.Rows) != 3 || v.Rows[0].Status.Word != "look" || v.Rows[2].Status.Word != "not seen" || v.Log != "" || !strings.Contains(v.Not, "bf16") {
		t.Errorf("%+v", v)
	}
	bad := w.rehearsal.got
	bad.OK, bad.Log = false, []string{"Traceback", "ModuleNotFoundError: timm"}
	bad.Checks = append(bad.Checks, app.RehearsalCheck{State: app.CheckBad, Text: "timm is missing"})
	if v := newRehearsalView(bad); v.Tone != toneBad || v.Rows[0].Text != "timm is missing" || !strings.Contains(v.Log, "timm") {
		t.Errorf("%+v", v)
	}
	w.form.Hours = "9"
	if w.rehearsed() != "good" {
		t.Error("a longer cap made the rehearsal another one's")
	}
	w.form.Command = "python src/other.py"
	if w.rehearsed() != "" {
		t.Error("another command counts as rehearsed")
	}
}

func TestInputRowsSayWhatIsWrongAndWhatHelps(t *testing.T) {
	w := aWizard()
	w.form.Datasets, w.form.Kernels = "a/x b/y", "me/prep"
	for _, r := range w.inputRows() {
		if r.Status.Word != "not checked" || r.Bad {
			t.Errorf("before Kaggle was asked: %+v", r)
		}
	}
	w.inputs.ask(w.inputsKey())
	w.inputs.answer(w.inputsKey(), []app.InputState{
		{InputRef: app.InputRef{Kind: app.InputDataset, Ref: "a/x"}, State: app.InputReady, Text: "Ready.", Folder: "data", Bytes: 41_000, Files: 2},
		{InputRef: app.InputRef{Kind: app.InputDataset, Ref: "b/y"}, State: app.InputReady, Folder: "data", Clash: "data/train.csv is there from a/x already."},
		{InputRef: app.InputRef{Kind: app.InputKernel, Ref: "me/prep"}, State: app.InputRunning, Text: "It is running."},
	}, nil)
	rows := w.inputRows()
	if rows[0].Text != "" || rows[0].Where != "2 files · 41.0 kB · in data/" || rows[1].Own != "data/y" || rows[1].Status.Word != "clash" || !rows[2].Bad || rows[2].Text != "It is running." {
		t.Errorf("%+v", rows)
	}
}

func TestTheHumpIsThatOfTheStatedChances(t *testing.T) {
	v := sampleHours("")
	pts := v.density(7)
	sum, top := 0.0, 0.0
	for i := 1; i < len(pts); i++ {
		sum += (pts[i].X - pts[i-1].X) * (pts[i].Y + pts[i-1].Y) / 2
		if pts[i].Y > top {
			top = pts[i].Y
		}
	}
	if math.Abs(sum-1) > 0.03 || pts[0].X > 4.6 || pts[len(pts)-1].X < 7 {
		t.Errorf("the hump holds %.3f, from %.2f to %.2f", sum, pts[0].X, pts[len(pts)-1].X)
	}
	if d := v.chart(7, app.PoolGPU).Describe(); !strings.Contains(d, "stopped in about 2 of 100 runs") {
		t.Errorf("described as %q", d)
	}
	if (hoursView{}).chart(7, app.PoolGPU) != nil {
		t.Error("nothing is known, and a hump is drawn")
	}
}

func TestNumbersAndTimesOfTheWizard(t *testing.T) {
	for in, want := range map[string]float64{"86": 86, "86 M": 86, "1,5": 1.5, "": 0, "many": 0, "-3": 0, "0.5 h": 0.5} {
		if got := number(in); got != want {
			t.Errorf("number(%q) = %g, want %g", in, got, want)
		}
	}
	now := time.Date(2026, 12, 1, 20, 0, 0, 0, time.Local)
	for _, c := range []struct {
		low, high float64
		want      string
	}{{1, 3, "21:00 – 23:00"}, {3, 5, "23:00 – Wed 01:00"}, {1, 1, "21:00"}, {200, 232, "in about 9 days"}} {
		if got := finishText(c.low, c.high, now); got != c.want {
			t.Errorf("finish %g to %g: %q, want %q", c.low, c.high, got, c.want)
		}
	}
	if got := rangeText(5.11, 5.14); got != "5.1" {
		t.Errorf("range %q", got)
	}
	for p, want := range map[float64]string{0.001: "stopped in under 1 of 100 runs", 0.024: "stopped in about 2 of 100 runs", 1: "stopped for sure"} {
		if got := stoppedText(p); got != want {
			t.Errorf("stopped %g: %q", p, got)
		}
	}
}

func TestACapFitsTheMachine(t *testing.T) {
	w := aWizard()
	w.hours.got.shape, w.form.Hours = shapeT4, "13"
	if _, problems := w.spec(); !strings.Contains(problems[fieldHours], "12.0 h at most") {
		t.Errorf("13 h on a GPU: %v", problems)
	}
	w.form.Shape, w.hours.got = shapeTPU, hoursView{shape: shapeTPU, LimitH: 9}
	w.lastHours = 12
	if got := w.adviseCap(); got != 9 {
		t.Errorf("12 h of the last run become %g h on a TPU", got)
	}
}
