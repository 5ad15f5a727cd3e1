package app

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// SpecOf is what a run was built from, to start the next one with. The notes beside its build hold every word of it; when a later
// build took their place, or the folder is gone, the run log's own columns are what is left.
func (a *App) SpecOf(ctx context.Context, id int64) (BuildSpec, error) {
	r, err := a.store.Run(ctx, id)
	if err != nil {
		return BuildSpec{}, err
	}
	if r.BuildDir != "" {
		if n, err := readNotes(r.BuildDir); err == nil && n.BuildID == r.BuildID && n.Spec.Name != "" {
			return n.Spec, nil
		}
	}
	s := BuildSpec{Project: r.Project, Name: r.Name, Command: r.Command, Hours: r.Cap.Hours(), Folds: r.Folds, Accelerator: r.Accelerator,
		Baseline: r.BaselineName, NoInternet: !r.Internet}
	for _, in := range r.Inputs {
		kind, ref, _ := strings.Cut(in, " ")
		switch kind {
		case "dataset":
			s.Datasets = append(s.Datasets, ref)
		case "competition":
			s.Competitions = append(s.Competitions, ref)
		case "kernel":
			s.Kernels = append(s.Kernels, ref)
		case "model":
			s.Models = append(s.Models, ref)
		}
	}
	return s, nil
}

// SpecOfFolder is what a kernel folder was built from. A folder that Build did not write is refused.
func SpecOfFolder(dir string) (BuildSpec, error) {
	n, err := readNotes(dir)
	if err != nil {
		return BuildSpec{}, fmt.Errorf("read what %s was built from: %w", dir, err)
	}
	if n.Spec.Name != "" {
		return n.Spec, nil
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return BuildSpec{}, &CallError{Reason: "there is no folder " + dir, Action: "Name a folder that sandglass build wrote."}
	}
	return BuildSpec{}, &CallError{Reason: dir + " was not built by Sandglass, so what it runs is not known", Action: "Rehearse a project instead, with --name and --cmd."}
}

// TasksByJob is how many tasks each job of the session has, by the job's name: one a fold, or one for a command without {fold}.
// folds are those of data/folds.csv, run where the spec names none.
func (s BuildSpec) TasksByJob(folds []int) map[string]int {
	if len(s.Folds) > 0 {
		folds = s.Folds
	}
	out := map[string]int{}
	for _, j := range append([]JobSpec{{Name: s.Name, Command: s.Command, Folds: folds}}, s.ExtraJobs...) {
		switch {
		case !strings.Contains(j.Command, "{fold}"):
			out[j.Name]++
		case len(j.Folds) > 0:
			out[j.Name] += len(j.Folds)
		default:
			out[j.Name] += len(folds)
		}
	}
	return out
}
