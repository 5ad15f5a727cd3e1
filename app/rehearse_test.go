package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sandglass/app/keychain"
)

// rehearsalTrainer keeps the whole contract in plain Python; a case replaces the marks.
const rehearsalTrainer = `import argparse, json, os, struct, sys, time
#IMPORT#

def npy(path, values, kind="<f8"):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }" % (kind, len(values))
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%d%s" % (len(values), "d" if kind == "<f8" else "q"), *values))

p = argparse.ArgumentParser()
p.add_argument("--name")
p.add_argument("--folds", type=int)
p.add_argument("--assemble", action="store_true")
#FLAGS#
args = p.parse_args()
out = "artifacts/" + args.name
os.makedirs(out, exist_ok=True)
if args.assemble:
    #ASSEMBLE#
    json.dump({"score": 0.5, "metric": "acc", "greater_is_better": True}, open(out + "/score.json", "w"))
    sys.exit(0)
#BEFORE#
from sandglass.budget import TrainBudget
rows = [int(line.split(",")[1]) for line in open("data/folds.csv").read().split()[1:]]
budget = TrainBudget(out, args.folds, 1)
budget.start_epoch()
time.sleep(0.01)
budget.end_epoch(0, 0.5)
idx = [i for i, k in enumerate(rows) if k == args.folds]
oof = [0.5] * len(idx)
#SHAPE#
npy("%s/fold%d_oof.npy" % (out, args.folds), oof)
npy("%s/fold%d_idx.npy" % (out, args.folds), idx, "<i8")
#AFTER#
budget.write_status("done")
`

// rehearsalProject writes a project with two folds of five rows around the trainer, with marks replaced.
func rehearsalProject(t *testing.T, marks map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	code := rehearsalTrainer
	for mark, text := range marks {
		if !strings.Contains(code, "#"+mark+"#") {
			t.Fatalf("the trainer has no mark %s", mark)
		}
		code = strings.ReplaceAll(code, "#"+mark+"#", text)
	}
	folds := "id,fold\n"
	for i := range 10 {
		folds += fmt.Sprintf("r%d,%d\n", i, i%2)
	}
	writeProject(t, dir, map[string]string{"src/train.py": code, "data/folds.csv": folds, "artifacts/idea/mine.txt": "the person's own"})
	return dir
}

func writeProject(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
}

func rehearsalApp(t *testing.T) *App {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3")
	}
	a, err := Open(t.Context(), Options{Home: t.TempDir(), Getenv: envOf(nil), Keychain: keychain.Memory(), Log: testLog(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeApp(t, a) })
	return a
}

func ideaSpec(dir string) BuildSpec {
	return BuildSpec{Project: dir, Name: "idea", Command: "python src/train.py --name idea --folds {fold}", Hours: 2, Accelerator: "NvidiaTeslaT4"}
}

func checkOf(r Rehearsal, code, state string) (RehearsalCheck, bool) {
	for _, c := range r.Checks {
		if c.Code == code && c.State == state {
			return c, true
		}
	}
	return RehearsalCheck{}, false
}

func tellChecks(r Rehearsal) string {
	var b strings.Builder
	fmt.Fprintln(&b, r.Verdict)
	for _, c := range r.Checks {
		fmt.Fprintf(&b, "  %-12s %-7s %s | %s | %s\n", c.Code, c.State, c.Text, strings.ReplaceAll(c.Detail, "\n", " / "), c.Fix)
	}
	for _, n := range r.NotRehearsed {
		fmt.Fprintln(&b, "  not:", n)
	}
	return b.String() + strings.Join(r.Log, "\n")
}

// Each planted mistake gets its own verdict; a sound project passes.
func TestRehearseMistakes(t *testing.T) {
	big := t.TempDir()
	writeProject(t, big, map[string]string{"train.csv": "id\n1\n"})
	tests := []struct {
		name    string
		marks   map[string]string
		spec    func(dir string, s *BuildSpec)
		opt     RehearseOptions
		code    string // of the check that has to say it
		state   string
		text    string // in the check's words
		fix     string
		detail  string
		ok      bool
		not     string // in what was not rehearsed
		minutes float64
	}{
		{name: "sound", code: "outputs", state: CheckOK, ok: true, text: "right shape"},
		{name: "missing module", marks: map[string]string{"IMPORT": "import nonexistent_zz"}, code: "imports", state: CheckBad,
			text: "nonexistent_zz is missing here, and it is not known whether Kaggle's image has it", fix: "--pip nonexistent-zz", detail: "src/train.py:2"},
		{name: "module of Kaggle's image", marks: map[string]string{"IMPORT": "import geopandas"}, code: "imports", state: CheckWarn, ok: true,
			text: "geopandas is missing here and is on Kaggle's image", not: "What comes after the import of geopandas"},
		{name: "caught import of Kaggle's image", marks: map[string]string{"IMPORT": "try:\n    import geopandas\nexcept ImportError:\n    geopandas = None"},
			code: "imports", state: CheckWarn, ok: true, text: "went on without geopandas"},
		{name: "module not on the TPU image", marks: map[string]string{"IMPORT": "import catboost"}, code: "imports", state: CheckBad,
			spec: func(_ string, s *BuildSpec) { s.Accelerator, s.Hours = "TpuV5E8", 2 }, text: "not on Kaggle's TPU image either", fix: "--pip catboost"},
		{name: "module that pip brings", marks: map[string]string{"IMPORT": "import some_thing"}, code: "imports", state: CheckWarn, ok: true,
			spec: func(_ string, s *BuildSpec) { s.Pip = []string{"some-thing==1.2"} }, text: "the session installs it", not: "pip install some-thing==1.2 was left out"},
		{name: "module of the project that stays behind", marks: map[string]string{"IMPORT": "import helper"}, code: "imports", state: CheckBad,
			spec: func(dir string, _ *BuildSpec) { writeProject(t, dir, map[string]string{"helper.py": "x = 1\n"}) }, text: "helper.py, and it does not travel", fix: "--include helper.py"},
		{name: "absolute path to the project", marks: map[string]string{"BEFORE": "import pathlib\nopen(PROJECT + '/data/folds.csv')"},
			spec: func(dir string, _ *BuildSpec) { replaceIn(t, dir, "PROJECT", fmt.Sprintf("%q", dir)) }, code: "paths", state: CheckBad,
			text: "by its place on this computer", fix: "Write data/folds.csv instead", detail: "src/train.py:"},
		{name: "absolute path of another computer", marks: map[string]string{"BEFORE": "open('/home/nobody-zz/data/train.csv')"}, code: "paths", state: CheckBad,
			text: "/home/nobody-zz/data/train.csv is an absolute path"},
		{name: "path of Windows", marks: map[string]string{"BEFORE": `open(r'C:\Users\zz\train.csv')`}, code: "paths", state: CheckBad, text: `C:\Users\zz\train.csv is an absolute path`},
		{name: "path of Kaggle", marks: map[string]string{"BEFORE": "open('/kaggle/input/zz-leaves/train.csv')"}, code: "paths", state: CheckBad, text: "cannot be rehearsed here", fix: "KAGGLE_INPUT"},
		{name: "file that stays behind", marks: map[string]string{"BEFORE": "open('data/train.csv')"}, code: "paths", state: CheckBad,
			spec: func(dir string, _ *BuildSpec) { writeProject(t, dir, map[string]string{"data/train.csv": "id\n"}) }, text: "data/train.csv is in the project and does not travel", fix: "--include data/train.csv"},
		{name: "file that is nowhere", marks: map[string]string{"BEFORE": "open('data/tarin.csv')"}, code: "paths", state: CheckBad, text: "There is no data/tarin.csv in the session"},
		{name: "place named and not opened", marks: map[string]string{"AFTER": "where = '/home/zz/models'"}, code: "paths", state: CheckWarn, ok: true, text: "/home/zz/models", detail: "src/train.py:"},
		{name: "writes to the project", marks: map[string]string{"AFTER": "open(PROJECT + '/artifacts/idea/model.bin', 'w').write('x')"},
			spec: func(dir string, _ *BuildSpec) { replaceIn(t, dir, "PROJECT", fmt.Sprintf("%q", dir)) }, code: "writes", state: CheckBad, text: "was refused", fix: "artifacts/NAME/"},
		{name: "writes outside", marks: map[string]string{"AFTER": "os.makedirs('/opt/zz-models', exist_ok=True)"}, code: "writes", state: CheckBad, text: "/opt/zz-models was to be written outside"},
		{name: "writes into an input", marks: map[string]string{"AFTER": "open('data/cache.bin', 'w'); os.remove(os.path.join(os.environ['KAGGLE_INPUT'], 'datasets/sam/leaves/train.csv'))"},
			spec: func(_ string, s *BuildSpec) { s.Datasets = []string{"sam/leaves"} }, opt: RehearseOptions{Inputs: []string{"sam/leaves=" + big}}, code: "writes", state: CheckBad, text: "read-only at Kaggle"},
		{name: "writes beside the results", marks: map[string]string{"AFTER": "open('model.bin', 'w').write('x')"}, code: "writes", state: CheckWarn, ok: true, text: "model.bin", fix: "artifacts/NAME/"},
		{name: "no outputs", marks: map[string]string{"BEFORE": "sys.exit(0)"}, code: "outputs", state: CheckBad, text: "left nothing in artifacts/idea/"},
		{name: "outputs under another name", spec: func(_ string, s *BuildSpec) { s.Command = "python src/train.py --name other --folds {fold}" },
			code: "outputs", state: CheckBad, text: "wrote to artifacts/other/", fix: "--name idea"},
		{name: "too few predictions", marks: map[string]string{"SHAPE": "oof = oof[1:]"}, code: "outputs", state: CheckBad, text: "fold0_oof.npy has 4 rows and artifacts/idea/fold0_idx.npy 5"},
		{name: "a part of the fold", marks: map[string]string{"SHAPE": "oof, idx = oof[1:], idx[1:]"}, code: "outputs", state: CheckBad, text: "has 4 rows, and fold 0 of data/folds.csv has 5"},
		{name: "rows of another fold", marks: map[string]string{"SHAPE": "idx = [i ^ 1 for i in idx]"}, code: "outputs", state: CheckBad, text: "which is of fold"},
		{name: "predictions that are no numbers", marks: map[string]string{"SHAPE": "oof[0] = float('nan')"}, code: "outputs", state: CheckWarn, ok: true, text: "1 of 5 predictions are no number"},
		{name: "a join that breaks", marks: map[string]string{"ASSEMBLE": "boom()"}, code: "assemble", state: CheckBad, text: "NameError"},
		{name: "a join refused after a smoke test", marks: map[string]string{"FLAGS": "p.add_argument('--smoke', action='store_true')", "ASSEMBLE": "sys.exit('a smoke test is not joined')"},
			code: "assemble", state: CheckSkipped, ok: true, text: "a smoke test is not joined"},
		{name: "hangs", marks: map[string]string{"BEFORE": "time.sleep(600)"}, minutes: 0.3, code: "tasks", state: CheckBad, text: "hangs at src/train.py:", fix: "waits for"},
		{name: "computes for ever", marks: map[string]string{"FLAGS": "p.add_argument('--smoke', action='store_true')", "BEFORE": "while True: pass"}, minutes: 0.3, code: "tasks", state: CheckBad,
			text: "although it was given --smoke at src/train.py:", fix: "two batches"},
		{name: "too much for this computer", marks: map[string]string{"BEFORE": "while True: pass"}, minutes: 0.3, code: "tasks", state: CheckWarn, ok: true,
			text: "had no score after", not: "beyond its first"},
		{name: "six hundred files", marks: map[string]string{"AFTER": "for n in range(300): open('%s/fold%d_part%d.txt' % (out, args.folds, n), 'w').write('x')"},
			code: "output-files", state: CheckWarn, ok: true, text: "files would be left and Kaggle keeps about 500"},
		{name: "an input that is not here", marks: map[string]string{"BEFORE": "open('data/train.csv')"}, spec: func(_ string, s *BuildSpec) { s.Datasets = []string{"zz/leaves"} },
			code: "inputs", state: CheckBad, text: "zz/leaves is not on this computer", fix: "--input zz/leaves=FOLDER"},
		{name: "an input that is told", marks: map[string]string{"BEFORE": "open('data/train.csv')"}, spec: func(_ string, s *BuildSpec) { s.Datasets = []string{"zz/leaves"} },
			opt: RehearseOptions{Inputs: []string{"zz/leaves=" + big}}, code: "inputs", state: CheckOK, ok: true, text: "1 input linked"},
		{name: "an input that is found", marks: map[string]string{"BEFORE": "open('data/leaves/train.csv')"}, code: "inputs", state: CheckOK, ok: true, detail: "found there",
			spec: func(dir string, s *BuildSpec) {
				s.Datasets = []string{"zz/leaves=data/leaves"}
				writeProject(t, dir, map[string]string{"data/leaves/train.csv": "id\n"})
			}},
		{name: "needs a GPU", marks: map[string]string{"BEFORE": "raise RuntimeError('Found no NVIDIA driver on your system.')"}, code: "tasks", state: CheckSkipped, ok: true, text: "there is no GPU here"},
		{name: "any other error", marks: map[string]string{"BEFORE": "1 / 0"}, code: "tasks", state: CheckBad, text: "ZeroDivisionError"},
	}
	t.Run("mistakes", func(t *testing.T) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				a := rehearsalApp(t)
				dir := rehearsalProject(t, tt.marks)
				spec := ideaSpec(dir)
				if tt.spec != nil {
					tt.spec(dir, &spec)
				}
				tt.opt.Minutes = tt.minutes
				if tt.minutes == 0 {
					tt.opt.Minutes = 2
				}
				before := listTree(t, dir)
				r, err := a.Rehearse(t.Context(), spec, tt.opt, nil)
				if err != nil {
					t.Fatal(err)
				}
				c, found := checkOf(r, tt.code, tt.state)
				for _, other := range r.Checks {
					if other.Code == tt.code && other.State == tt.state && strings.Contains(other.Text, tt.text) {
						c = other
					}
				}
				if !found || !strings.Contains(c.Text, tt.text) || !strings.Contains(c.Fix, tt.fix) || !strings.Contains(c.Detail, tt.detail) {
					t.Errorf("no %s check that is %s with %q, %q, %q", tt.code, tt.state, tt.text, tt.fix, tt.detail)
				}
				if r.OK != tt.ok {
					t.Errorf("passed: %v, want %v", r.OK, tt.ok)
				}
				if !slices.ContainsFunc(r.NotRehearsed, func(s string) bool { return strings.Contains(s, tt.not) }) {
					t.Errorf("not among what was not rehearsed: %q", tt.not)
				}
				if after := listTree(t, dir); !slices.Equal(before, after) {
					t.Errorf("the project changed:\n%q\n%q", before, after)
				}
				if fileThere("/opt/zz-models") {
					t.Error("it was written outside")
				}
				if t.Failed() {
					t.Log(tellChecks(r))
				}
			})
		}
	})
	if raw, err := os.ReadFile(filepath.Join(big, "train.csv")); err != nil || len(raw) == 0 {
		t.Errorf("the input was changed: %v", err)
	}
}

func fileThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func replaceIn(t *testing.T, dir, old, new string) {
	t.Helper()
	path := filepath.Join(dir, "src", "train.py")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	writeProject(t, dir, map[string]string{"src/train.py": strings.ReplaceAll(string(raw), old, new)})
}

// listTree is every file of a project with its size and time.
func listTree(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		out = append(out, fmt.Sprintf("%s %d %s", path, info.Size(), info.ModTime()))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The demo, signed out: the script that ran is the one that a build would push, and the rehearsal is found again by it.
func TestRehearseDemo(t *testing.T) {
	a := rehearsalApp(t)
	spec, err := WriteDemo(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := a.LastRehearsal(t.Context(), spec.Project); ok || err != nil {
		t.Fatalf("rehearsed before: %v, %v", ok, err)
	}
	var mu sync.Mutex
	var lines []LogLine
	stages := map[string]bool{}
	r, err := a.Rehearse(t.Context(), spec, RehearseOptions{Log: func(l LogLine) { mu.Lock(); lines = append(lines, l); mu.Unlock() }},
		func(p Progress) { mu.Lock(); stages[p.Stage] = true; mu.Unlock() })
	if err != nil {
		t.Fatal(err)
	}
	if !r.OK || !r.Smoke || len(r.Tasks) != 5 || r.TaskSeconds == nil || r.EpochSeconds == nil || r.PredictedTaskHours != nil || r.BatchSeconds != nil {
		t.Errorf("smoke %v, %d tasks, task %v s, epoch %v s, hours %v\n%s", r.Smoke, len(r.Tasks), r.TaskSeconds, r.EpochSeconds, r.PredictedTaskHours, tellChecks(r))
	}
	for _, want := range []string{"size", "python", "devices", "imports", "paths", "writes", "tasks", "outputs", "assemble", "output-size", "output-files"} {
		if _, ok := checkOf(r, want, CheckOK); !ok {
			t.Errorf("%s is not ok\n%s", want, tellChecks(r))
		}
	}
	mu.Lock()
	if len(lines) == 0 || lines[0].N != 0 || !stages["Packing"] || !stages["Rehearsing"] && r.Seconds > 2 {
		t.Errorf("%d lines, stages %v", len(lines), stages)
	}
	mu.Unlock()
	if _, err := os.Stat(filepath.Join(r.Dir, "working", "artifacts", "scaled-wide", "score.json")); err != nil {
		t.Error(err)
	}
	if fileThere(filepath.Join(r.Dir, "session")) || fileThere(filepath.Join(spec.Project, "artifacts", "scaled-wide")) {
		t.Error("the session's folder is left, or the project has artifacts")
	}
	last, ok, err := a.LastRehearsal(t.Context(), spec.Project)
	if err != nil || !ok || last.BuildID != r.BuildID || !last.OK || last.Spec.Name != spec.Name || !last.At.Equal(r.At) {
		t.Errorf("remembered: %v %v %+v", ok, err, last)
	}
	if _, err := a.UseSandbox(t.Context()); err != nil {
		t.Fatal(err)
	}
	spec.Hours = 3 // another cap and another account: the same code
	b, err := a.Build(t.Context(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	if of, ok, err := a.RehearsalOf(t.Context(), b.Dir); err != nil || !ok || of.BuildID != r.BuildID {
		t.Errorf("the build was rehearsed: %v %v", ok, err)
	}
	script, err := os.ReadFile(filepath.Join(b.Dir, filepath.Base(b.Script)))
	if err != nil || payloadOf(string(script)) != r.Payload {
		t.Errorf("payload %q, %v", r.Payload, err)
	}
	writeProject(t, spec.Project, map[string]string{"src/new.py": "x = 1\n"})
	if b, err = a.Build(t.Context(), spec, nil); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := a.RehearsalOf(t.Context(), b.Dir); ok || err != nil {
		t.Errorf("changed code counts as rehearsed: %v", err)
	}
}

// The projects that a person starts from pass as they are, where their packages are here.
func TestRehearseTemplates(t *testing.T) {
	python := pythonWith(t, "numpy")
	torch := pythonHas(python, "torch")
	for _, tt := range []struct{ name, command, accelerator, data string }{
		{"tabular", "python src/train.py --name idea --folds {fold}", "none", "--rows=200"},
		{"preprocess", "python src/preprocess.py --name idea --source synthetic", "none", ""},
		{"image", "python src/train.py --name idea --backbone tiny --workers 0 --batch-size 16 --folds {fold}", "NvidiaTeslaT4", "--pictures=90"},
		{"text", "python src/train.py --name idea --backbone tiny --workers 0 --batch-size 16 --max-len 24 --folds {fold}", "NvidiaTeslaT4", "--texts=90"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if testing.Short() && (tt.name == "image" || tt.name == "text") {
				t.Skip("takes a minute")
			}
			a := rehearsalApp(t)
			p, err := WriteTemplate(tt.name, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			spec := BuildSpec{Project: p.Dir, Name: "idea", Command: tt.command, Hours: 1, Accelerator: tt.accelerator}
			if fileThere(filepath.Join(p.Dir, "src", "make_data.py")) {
				cmd := exec.Command(python, "src/make_data.py", tt.data)
				cmd.Dir = p.Dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				spec.Include = []string{"src", "data/train.csv", "data/test.csv"}
			}
			r, err := a.Rehearse(t.Context(), spec, RehearseOptions{Python: python, Minutes: 10}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !r.OK || !r.Smoke {
				t.Error("did not pass, or without --smoke")
			}
			needsTorch := tt.name == "image" || tt.name == "text"
			if _, ok := checkOf(r, "outputs", CheckOK); !ok && (torch || !needsTorch) {
				t.Error("its outputs are not right")
			}
			if needsTorch && !torch && !slices.ContainsFunc(r.NotRehearsed, func(s string) bool { return strings.Contains(s, "torch") }) {
				t.Error("torch is missing here, and it is not told")
			}
			t.Logf("%.1f s", r.Seconds)
			if t.Failed() {
				t.Log(tellChecks(r))
			}
		})
	}
}

// pythonWith is an interpreter that has a module; the test is skipped without one.
func pythonWith(t *testing.T, module string) string {
	t.Helper()
	for _, name := range []string{"python3", "/usr/bin/python3", "python"} {
		if path, err := exec.LookPath(name); err == nil && pythonHas(path, module) {
			return path
		}
	}
	t.Skip("no Python with " + module)
	return ""
}

func pythonHas(python, module string) bool {
	return exec.Command(python, "-c", "import "+module).Run() == nil
}

// A rehearsal that is cancelled leaves no process and no folder behind.
func TestRehearseCancel(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("looks through /proc")
	}
	a := rehearsalApp(t)
	dir := rehearsalProject(t, map[string]string{"BEFORE": `import subprocess, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)  # zz-left-behind"], start_new_session=True)
print("zz-ready", flush=True)
time.sleep(600)`})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := time.AfterFunc(2*time.Minute, cancel) // in case the line never comes
	defer done.Stop()
	ready := false
	_, err := a.Rehearse(ctx, ideaSpec(dir), RehearseOptions{Log: func(l LogLine) {
		if strings.Contains(l.Text, "zz-ready") {
			ready = true
			cancel()
		}
	}}, nil)
	if !errors.Is(err, context.Canceled) || !ready {
		t.Fatalf("error %v, ready %v", err, ready)
	}
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if raw, err := os.ReadFile(f); err == nil && strings.Contains(string(raw), "zz-left-behind") {
			t.Errorf("left behind: %s", f)
		}
	}
	if left, err := filepath.Glob(filepath.Join(a.Home(), "rehearsals", "*", "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, ok, err := a.LastRehearsal(t.Context(), dir); ok || err != nil {
		t.Errorf("a rehearsal that did not end is remembered: %v", err)
	}
}

// A trainer without --smoke runs into the deadline, saves and stops: that is the contract, and it is told.
func TestRehearseDeadline(t *testing.T) {
	a := rehearsalApp(t)
	dir := t.TempDir()
	writeProject(t, dir, map[string]string{"data/folds.csv": "id,fold\na,0\nb,1\n", "src/train.py": `import os, sys, time
from sandglass.budget import TrainBudget
fold = int(sys.argv[2])
out = "artifacts/idea"
os.makedirs(out, exist_ok=True)
budget = TrainBudget(out, fold, 1000)
for epoch in range(1000):
    budget.start_epoch()
    time.sleep(0.2)
    if budget.end_epoch(epoch, 0.5) == "timeout":
        open("%s/fold%d_resume.pt" % (out, fold), "w").write("state")
        budget.write_status("timeout", next_epoch=epoch + 1)
        break
`})
	spec := BuildSpec{Project: dir, Name: "idea", Command: "python src/train.py --folds {fold}", Hours: 2, Accelerator: "none"}
	r, err := a.Rehearse(t.Context(), spec, RehearseOptions{Minutes: 0.2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, ok := checkOf(r, "deadline", CheckOK)
	if !ok || !strings.Contains(c.Text, "left a checkpoint") || !r.OK || r.Smoke {
		t.Errorf("deadline: %+v\n%s", c, tellChecks(r))
	}
	if r.PredictedTaskHours == nil || *r.PredictedTaskHours < 1000*0.2/3600 || *r.PredictedTaskHours > 1000*2.0/3600 || r.TaskSeconds != nil {
		t.Errorf("hours %v, task %v s", r.PredictedTaskHours, r.TaskSeconds)
	}

	// What a task would take here is what the cap rests on until a run was measured: as it is for a CPU session, scaled for another.
	ask := HoursAsk{Project: dir, Command: spec.Command, Name: "idea", Accelerator: "none", Tasks: 2}
	v, err := a.Hours(t.Context(), ask)
	if err != nil || v.Basis != "rehearsal" {
		t.Fatalf("basis %q, %v", v.Basis, err)
	}
	wantNear(t, "a task on the CPU", v.TaskMedianH, *r.PredictedTaskHours, 1e-6)
	ask.Accelerator, ask.Kind = "NvidiaTeslaT4", "cnn"
	if v, err = a.Hours(t.Context(), ask); err != nil || v.Basis != "rehearsal" {
		t.Fatalf("basis %q, %v", v.Basis, err)
	}
	wantNear(t, "a task on a T4", v.TaskMedianH, *r.PredictedTaskHours/60, 1e-6)
	for _, other := range []HoursAsk{{Project: dir, Command: "python src/other.py"}, {Project: t.TempDir(), Command: spec.Command}, {Project: dir, Command: spec.Command, Kind: "tabular", Accelerator: "TpuV5E8"}} {
		if v, err := a.Hours(t.Context(), other); err != nil || v.Basis != "unknown" {
			t.Errorf("%+v: basis %q, %v", other, v.Basis, err)
		}
	}
	if v, err := a.Hours(t.Context(), HoursAsk{Project: dir, Command: spec.Command, Fold: 3}); err != nil || v.Basis != "one fold" {
		t.Errorf("a measured fold is worth more: basis %q, %v", v.Basis, err)
	}
}

func TestRehearseCalls(t *testing.T) {
	a := rehearsalApp(t)
	dir := rehearsalProject(t, nil)
	for _, opt := range []RehearseOptions{
		{Minutes: -1}, {Minutes: 1e9}, {Inputs: []string{"sam/leaves"}}, {Inputs: []string{"sam/leaves=/nowhere-zz"}}, {Inputs: []string{"sam/leaves=" + dir}}, {Python: "/nowhere-zz/python"},
	} {
		var call *CallError
		if _, err := a.Rehearse(t.Context(), ideaSpec(dir), opt, nil); !errors.As(err, &call) {
			t.Errorf("%+v: %v", opt, err)
		}
	}
	spec := ideaSpec(dir)
	spec.Hours = 0
	if _, err := a.Rehearse(t.Context(), spec, RehearseOptions{}, nil); err == nil {
		t.Error("a spec that cannot be built is rehearsed")
	}
	if left, err := filepath.Glob(filepath.Join(a.Home(), "rehearsals", "*", "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestInsertFlag(t *testing.T) {
	for command, want := range map[string]string{
		"python a.py --x 1":                 "python a.py --x 1 --smoke",
		"python a.py --x 1 > log 2>&1":      "python a.py --x 1 --smoke > log 2>&1",
		"python a.py 2>&1":                  "python a.py --smoke 2>&1",
		"python a.py | tee log":             "python a.py --smoke | tee log",
		"python a.py && python b.py":        "python a.py --smoke && python b.py",
		`python a.py --note "a; b | c"`:     `python a.py --note "a; b | c" --smoke`,
		"python a.py --smoke":               "python a.py --smoke",
		"python a.py --folds {fold} ; rm x": "python a.py --folds {fold} --smoke ; rm x",
	} {
		if got := insertFlag(command, "--smoke"); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}

func TestPackagesKnown(t *testing.T) {
	for _, tt := range []struct {
		pool, module string
		want         packageKnown
	}{
		{PoolGPU, "torch", packageThere}, {PoolCPU, "sklearn", packageThere}, {PoolTPU, "torch_xla", packageThere}, {PoolTPU, "lightgbm", packageAbsent},
		{PoolGPU, "torch_xla", packageUnknown}, {PoolGPU, "nonexistent_zz", packageUnknown}, {PoolTPU, "catboost", packageAbsent},
	} {
		if got := onImage(tt.pool, tt.module); got != tt.want {
			t.Errorf("%s on %s: %d, want %d", tt.module, tt.pool, got, tt.want)
		}
	}
	for _, tt := range []struct {
		pip    []string
		module string
		want   bool
	}{
		{[]string{"scikit-learn>=1.2"}, "sklearn", true}, {[]string{"?iterative_stratification"}, "iterative_stratification", true}, {[]string{"timm"}, "torch", false},
		{[]string{"git+https://example.org/x"}, "x", false}, {nil, "x", false},
	} {
		if got := pipInstalls(tt.pip, tt.module); got != tt.want {
			t.Errorf("%v brings %s: %v", tt.pip, tt.module, got)
		}
	}
}
