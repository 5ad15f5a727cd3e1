package desktop

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"sandglass/app"
)

func TestFormReadsWhatPeopleType(t *testing.T) {
	dir := t.TempDir()
	good := newForm{Project: dir + " ", Name: "cnx384", Command: "python src/train.py --folds {fold}", Hours: " 2,5 h", Shape: "NvidiaTeslaT4",
		Datasets: "sam-roe/leaf-scans=data/leaf\nsam-roe/extra, kim/x", Folds: "0 2,3", Internet: true}
	spec, problems := good.spec()
	if len(problems) != 0 {
		t.Fatalf("problems %v", problems)
	}
	if spec.Hours != 2.5 || !reflect.DeepEqual(spec.Folds, []int{0, 2, 3}) || len(spec.Datasets) != 3 || spec.Project != dir || spec.NoInternet {
		t.Errorf("read as %+v", spec)
	}
	for name, c := range map[string]struct {
		edit func(*newForm)
		at   field
	}{
		"no folder":      {func(f *newForm) { f.Project = filepath.Join(dir, "nope") }, fieldProject},
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
		if _, problems := f.spec(); problems[c.at] == "" || len(problems) != 1 {
			t.Errorf("%s: problems %v, want one at %s", name, problems, c.at)
		}
	}
}

func TestFormSuggestsButNeverOverwrites(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "My project")
	for _, p := range []string{"src/train.py", "data/folds.csv", "artifacts/baseline/score.json"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, p)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, p), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := newForm{Project: dir}.suggest()
	if got.Name != "My-project" || got.Command != "python src/train.py --name My-project --folds {fold}" || got.Baseline != "baseline" {
		t.Errorf("suggested %+v", got)
	}
	typed := newForm{Project: dir, Name: "mine", Command: "make", Baseline: "old"}
	if again := typed.suggest(); again != typed {
		t.Errorf("typed %+v became %+v", typed, again)
	}
}

func TestTicketButtonNamesTheCost(t *testing.T) {
	b := app.BuildResult{Jobs: []string{"a"}, Folds: []int{0, 1, 2}, ScriptBytes: 40_100}
	p := app.PushPlan{Kernel: "mara/a-train", Pool: app.PoolGPU, CapHours: 7, CostText: "up to 7.0 GPU-hours", LeftAfter: 10.4,
		Quota: app.QuotaView{GPU: app.PoolView{Known: true, Left: 17.4}}}
	if tk := newTicket(b, p); tk.Button != "Push, up to 7.0 GPU-hours" || !tk.CanPush || tk.Queue {
		t.Errorf("plain: %+v", tk)
	}
	p.Guards = []app.Guard{{Code: "slots", Reason: "2 of 2", Override: "--queue"}}
	if tk := newTicket(b, p); !tk.Queue || !tk.CanPush || !strings.Contains(tk.Button, "slot") || !strings.Contains(tk.Button, "7.0 GPU-hours") {
		t.Errorf("slots: %+v", tk)
	}
	p.Guards = []app.Guard{{Code: "size", Reason: "too big"}}
	if tk := newTicket(b, p); tk.CanPush {
		t.Errorf("a guard without an override must stop the button: %+v", tk)
	}
	p.Guards = []app.Guard{{Code: "quota", Reason: "too little", Override: "--force"}}
	if tk := newTicket(b, p); !tk.CanPush || !strings.Contains(tk.Button, "all the same") {
		t.Errorf("quota: %+v", tk)
	}
}

func TestFormOfAnEarlierRunReadsBackTheSame(t *testing.T) {
	dir := t.TempDir()
	want := app.BuildSpec{Project: dir, Name: "cnx384", Command: "python src/train.py --folds {fold}", Hours: 2.5, Folds: []int{0, 3}, Accelerator: "TpuV5E8",
		Datasets: []string{"sam-roe/leaf-scans=data/leaf", "kim/x"}, Kernels: []string{"me/prep"}, Competitions: []string{"leaf-cup"}, Baseline: "baseline",
		Include: []string{"src", "data/penguins.csv"}, NoInternet: true}
	got, problems := formOf(want).spec()
	if len(problems) != 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v with problems %v, want %+v", got, problems, want)
	}
}
