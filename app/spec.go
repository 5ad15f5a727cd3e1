package app

import (
	"context"
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
