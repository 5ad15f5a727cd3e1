package app

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/app/runlog"
	"sandglass/kaggle/sandbox"
	"sandglass/runnerpack"
)

// resumeWorld is an App with a project and a run of it in the log.
func resumeWorld(t *testing.T, change func(*runlog.Run), tasks ...runlog.Task) (*App, runlog.Run) {
	t.Helper()
	w := newWorld(t, sandbox.Options{}, works(time.Minute))
	a := w.open(t, "")
	t.Cleanup(func() { closeApp(t, a) })
	acc, err := a.Account(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	project := t.TempDir()
	writeAll(t, project, map[string]string{"src/train.py": "print(1)\n", "data/folds.csv": "id,fold\n1,0\n2,1\n"})
	r := runlog.Run{Account: acc.ID, Kernel: "sam-roe/idea-train", Name: "idea", Version: 1, Project: project, Accelerator: "NvidiaTeslaT4",
		Command: "python src/train.py --name idea --folds {fold}", Folds: []int{0, 1}, Cap: 2 * time.Hour, Internet: true, State: StateComplete,
		Outcome: OutcomePartial, Origin: originPush, CollectedAt: a.now()}
	if change != nil {
		change(&r)
	}
	if r, err = a.store.CreateRun(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		if err := a.store.PutTask(t.Context(), r.ID, task); err != nil {
			t.Fatal(err)
		}
	}
	return a, r
}

func foldTask(k int, state string) runlog.Task {
	return runlog.Task{Job: "idea", Fold: &k, State: state}
}

func metadataOf(t *testing.T, dir string) runnerpack.Metadata {
	t.Helper()
	f, err := runnerpack.ReadFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f.Metadata
}

func TestResume(t *testing.T) {
	a, r := resumeWorld(t, nil, foldTask(0, "done"), foldTask(1, "timeout"))
	b, err := a.Resume(t.Context(), "idea-train", ResumeOptions{Hours: 3})
	if err != nil {
		t.Fatal(err)
	}
	if b.Kernel != "sam-roe/idea-train-r2" || b.CapHours != 3 || !slices.Equal(b.Folds, []int{0, 1}) || !slices.Equal(b.Jobs, []string{"idea"}) {
		t.Errorf("%+v", b)
	}
	if got := metadataOf(t, b.Dir).KernelSources; !slices.Equal(got, []string{"sam-roe/idea-train"}) {
		t.Errorf("attached %v", got)
	}
	if b.Dir != filepath.Join(r.Project, ".sandglass", "build", "idea-train-r2") {
		t.Errorf("built in %s", b.Dir)
	}
	// Built again before it was pushed, it is the same one.
	again, err := a.Resume(t.Context(), "idea-train", ResumeOptions{})
	if err != nil || again.Kernel != b.Kernel || again.CapHours != 2 {
		t.Errorf("%+v, %v", again, err)
	}
}

// A chain links each earlier output once, whether the notes of its build are
// still there or not, and gives the next free number.
func TestResumeChain(t *testing.T) {
	a, r := resumeWorld(t, func(r *runlog.Run) {
		r.Kernel, r.Inputs = "sam-roe/idea-train-r3", []string{"kernel sam-roe/idea-train", "kernel sam-roe/idea-train-r2", "kernel sam-roe/features", "dataset a/b"}
	}, foldTask(0, "killed"))
	if _, err := a.store.CreateRun(t.Context(), runlog.Run{Account: r.Account, Kernel: "sam-roe/idea-train-r7", Version: 1, State: StateError}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.store.CreateRun(t.Context(), runlog.Run{Account: r.Account, Kernel: "sam-roe/idea-train-r9", State: StateRefused}); err != nil {
		t.Fatal(err)
	}
	b, err := a.Resume(t.Context(), "idea-train-r3", ResumeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if b.Kernel != "sam-roe/idea-train-r8" {
		t.Errorf("built %s", b.Kernel)
	}
	got := slices.Sorted(slices.Values(metadataOf(t, b.Dir).KernelSources))
	if want := []string{"sam-roe/features", "sam-roe/idea-train", "sam-roe/idea-train-r2", "sam-roe/idea-train-r3"}; !slices.Equal(got, want) {
		t.Errorf("attached %v, want %v", got, want)
	}
	f, err := runnerpack.ReadFolder(b.Dir)
	if err != nil || !slices.Equal(f.Record.ResumeFrom, []string{"sam-roe/idea-train", "sam-roe/idea-train-r2", "sam-roe/idea-train-r3"}) {
		t.Errorf("resumes from %v, %v", f.Record.ResumeFrom, err)
	}
	// The same with the notes: resume what was just built.
	row := r
	row.ID, row.Kernel, row.BuildDir, row.BuildID, row.CreatedAt = 0, b.Kernel, b.Dir, b.BuildID, a.now()
	if row, err = a.store.CreateRun(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	next, err := a.Resume(t.Context(), b.Kernel, ResumeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if f, err = runnerpack.ReadFolder(next.Dir); err != nil || len(f.Record.ResumeFrom) != 4 || next.Kernel != "sam-roe/idea-train-r9" {
		t.Errorf("%s resumes from %v, %v", next.Kernel, f.Record.ResumeFrom, err)
	}
}

func TestResumeRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*runlog.Run)
		tasks  []runlog.Task
		want   string
	}{
		"all done":         {func(r *runlog.Run) { r.Outcome = OutcomeComplete }, []runlog.Task{foldTask(0, "done"), foldTask(1, "skipped")}, "nothing is left to do"},
		"done and pruned":  {nil, []runlog.Task{foldTask(0, "done"), foldTask(1, "pruned")}, "1 were pruned"},
		"never ran":        {func(r *runlog.Run) { r.State = StateNoRun }, nil, "never ran"},
		"waits here":       {func(r *runlog.Run) { r.State, r.CollectedAt = StateWaiting, time.Time{} }, nil, "not been pushed"},
		"not built here":   {func(r *runlog.Run) { r.Command = "" }, []runlog.Task{foldTask(0, "failed")}, "--resume-from sam-roe/idea-train"},
		"complete, no log": {func(r *runlog.Run) { r.Outcome = OutcomeComplete }, nil, "nothing is left to do"},
	} {
		t.Run(name, func(t *testing.T) {
			a, r := resumeWorld(t, c.change, c.tasks...)
			_, err := a.Resume(t.Context(), r.Kernel, ResumeOptions{})
			var re *ResumeError
			if !errors.As(err, &re) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if _, err := os.Stat(filepath.Join(r.Project, ".sandglass", "build")); err == nil {
				t.Error("something was built")
			}
			if e := Explain(err); e.Exit != ExitFailed || e.Sentence == "" {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestResumeWithWorkLeft(t *testing.T) {
	for name, tasks := range map[string][]runlog.Task{
		"killed before any record":   nil,
		"trained, not joined":        {foldTask(0, "done"), foldTask(1, "done")},
		"failed":                     {foldTask(0, "done"), foldTask(1, "failed")},
		"running when it was killed": {foldTask(0, "running")},
	} {
		t.Run(name, func(t *testing.T) {
			a, r := resumeWorld(t, nil, tasks...)
			if _, err := a.Resume(t.Context(), r.Kernel, ResumeOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestResumeOnAnotherSplit(t *testing.T) {
	a, r := resumeWorld(t, func(r *runlog.Run) { r.Kernel = "sam-roe/first-train" }, foldTask(0, "failed"))
	b, err := a.Build(t.Context(), BuildSpec{Project: r.Project, Name: "idea", Command: r.Command, Hours: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	row := r
	row.ID, row.Kernel, row.BuildDir, row.BuildID = 0, b.Kernel, b.Dir, b.BuildID
	if row, err = a.store.CreateRun(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Resume(t.Context(), b.Kernel, ResumeOptions{}); err != nil {
		t.Errorf("the same split: %v", err)
	}
	writeAll(t, r.Project, map[string]string{"data/folds.csv": "id,fold\n1,1\n2,0\n"})
	if _, err := a.Resume(t.Context(), b.Kernel, ResumeOptions{}); err == nil || !strings.Contains(err.Error(), "no longer the split") {
		t.Errorf("another split: %v", err)
	}
}

func TestResumeOfAnOldVersion(t *testing.T) {
	a, r := resumeWorld(t, nil, foldTask(0, "failed"))
	newer := r
	newer.ID, newer.Version, newer.CreatedAt = 0, 2, a.now().Add(time.Minute)
	if _, err := a.store.CreateRun(t.Context(), newer); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Resume(t.Context(), r.Kernel+"/1", ResumeOptions{}); err == nil || !strings.Contains(err.Error(), "version 1 was replaced by version 2") {
		t.Errorf("got %v", err)
	}
}

func TestBuildWithSplitFrom(t *testing.T) {
	a, r := resumeWorld(t, nil)
	b, err := a.Build(t.Context(), BuildSpec{Project: r.Project, Name: "idea", Command: r.Command, Hours: 1, SplitFrom: "sam-roe/splits"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := metadataOf(t, b.Dir).DatasetSources; !slices.Equal(got, []string{"sam-roe/splits"}) {
		t.Errorf("attached %v", got)
	}
}
