package app

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sandglass/app/runlog"
	"sandglass/runnerpack"
)

//go:embed all:demo
var demoFiles embed.FS

// demoSpec is demo/demo.json: how the demo project is built.
type demoSpec struct {
	Name        string   `json:"name"`
	Command     string   `json:"cmd"`
	Hours       float64  `json:"hours"`
	Accelerator string   `json:"accelerator"`
	Include     []string `json:"include"`
}

// demoDefaults hold where demo.json says nothing.
var demoDefaults = demoSpec{
	Name: "scaled-wide", Command: "python src/train.py --name scaled-wide --folds {fold}", Hours: 0.5, Accelerator: runnerpack.AcceleratorT4,
	Include: []string{"src", "data/penguins.csv"},
}

// WriteDemo writes the demo project into dir and says how to build it. Files that
// are there already stay as they are: they may have been edited.
func WriteDemo(dir string) (BuildSpec, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return BuildSpec{}, fmt.Errorf("write the demo: %w", err)
	}
	err = fs.WalkDir(demoFiles, "demo", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == "demo/demo.json" {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(path, "demo/")))
		if _, err := os.Lstat(to); err == nil {
			return nil
		}
		raw, err := demoFiles.ReadFile(path)
		if err != nil {
			return err
		}
		return writeFile(to, raw)
	})
	if err != nil {
		return BuildSpec{}, fmt.Errorf("write the demo into %s: %w", dir, err)
	}
	s, err := readDemoSpec()
	if err != nil {
		return BuildSpec{}, err
	}
	return BuildSpec{Project: dir, Name: s.Name, Command: s.Command, Hours: s.Hours, Accelerator: s.Accelerator, Include: s.Include, Baseline: "baseline"}, nil
}

func readDemoSpec() (demoSpec, error) {
	s := demoDefaults
	raw, err := demoFiles.ReadFile("demo/demo.json")
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	if err != nil {
		return s, fmt.Errorf("read the demo's own description: %w", err)
	}
	return s, nil
}

// StartDemo starts the embedded sandbox, writes the demo project to <home>/demo,
// takes its recorded baseline into the run log, builds and pushes the idea, and
// watches. A demo run that is going already is given instead of a second one.
func (a *App) StartDemo(ctx context.Context, progress func(Progress)) (RunRow, error) {
	if progress == nil {
		progress = func(Progress) {}
	}
	progress(Progress{Stage: "Starting the sandbox"})
	acc, err := a.UseSandbox(ctx)
	if err != nil {
		return RunRow{}, err
	}
	progress(Progress{Stage: "Writing the demo project"})
	spec, err := WriteDemo(filepath.Join(a.home, "demo"))
	if err != nil {
		return RunRow{}, err
	}
	if err := a.importBaseline(ctx, acc, spec.Project); err != nil {
		return RunRow{}, err
	}
	if err := a.StartWatcher(ctx); err != nil {
		return RunRow{}, err
	}
	going, err := a.store.Runs(ctx, runlog.Filter{Account: acc.ID, Project: spec.Project, Name: spec.Name, States: unsettled, Limit: 1})
	if err != nil {
		return RunRow{}, err
	}
	if len(going) == 1 {
		return rowOf(going[0], a.now(), speedOf(acc)), nil
	}
	b, err := a.Build(ctx, spec, progress)
	if err != nil {
		return RunRow{}, err
	}
	progress(Progress{Stage: "Pushing", Item: b.Kernel})
	plan, err := a.PlanPush(ctx, b.Dir, PushOptions{QueueIfFull: true})
	if err != nil {
		return RunRow{}, err
	}
	return a.Push(ctx, plan, Consent{By: "demo"})
}

// importBaseline takes the run that came with a project into the log, once: its
// curves, scores and, where its record tells them, its times.
func (a *App) importBaseline(ctx context.Context, acc Account, project string) error {
	have, err := a.store.Runs(ctx, runlog.Filter{Project: project, Origins: []string{originRecorded}, Limit: 1})
	if err != nil || len(have) > 0 {
		return err
	}
	dir := filepath.Join(project, "artifacts", "baseline")
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil // deleted by the person: the demo runs without a comparison
	}
	curves, err := runnerpack.ReadCurves(dir)
	if err != nil {
		return fmt.Errorf("read the recorded baseline in %s: %w", dir, err)
	}
	score := readScore(dir)
	r := runlog.Run{Account: acc.ID, Kernel: acc.Username + "/baseline-recorded", Name: "baseline", Project: project, ArtifactsDir: filepath.Join(project, "artifacts"),
		Command: "recorded with the project", Accelerator: runnerpack.AcceleratorNone, State: StateComplete, Status: StateComplete, Outcome: OutcomeComplete,
		Score: score.Score, Metric: score.Metric, Origin: originRecorded, CollectedAt: a.now(), SeenAt: a.now(), Jobs: []string{"baseline"}}
	if len(curves) > 0 {
		r.Greater = curves[0].Greater
	}
	for _, c := range curves {
		r.Folds = append(r.Folds, c.Fold)
	}
	recordedTimes(&r, dir)
	if r, err = a.store.CreateRun(ctx, r); err != nil {
		return err
	}
	for _, c := range curves {
		c.Job = "baseline"
		if err := a.store.AddPoints(ctx, r.ID, runlog.SeriesRun, logCurve(c)); err != nil {
			return err
		}
		t := runlog.Task{Job: c.Job, Fold: &c.Fold, State: "done", Epochs: len(c.Points)}
		if best, ok := bestOf(c); ok {
			t.Best = &best
		}
		for _, p := range c.Points {
			if p.Seconds > 0 {
				t.Seconds += p.Seconds // of each epoch
			}
		}
		if err := a.store.PutTask(ctx, r.ID, t); err != nil {
			return err
		}
	}
	a.noteChange(ctx, EventRun, r.ID)
	return nil
}

// recordedTimes reads start and length from a run.json beside the curves.
func recordedTimes(r *runlog.Run, dir string) {
	raw, err := os.ReadFile(filepath.Join(dir, "run.json"))
	var rec runnerpack.RunRecord
	if err != nil || json.Unmarshal(raw, &rec) != nil {
		return
	}
	t, err := time.Parse(time.RFC3339Nano, rec.StartedUTC)
	if err != nil {
		return
	}
	r.CreatedAt, r.StartedAt, r.EndedAt = t, t, t.Add(time.Duration(rec.ElapsedS*float64(time.Second)))
	r.Command, r.BuildID = "python src/train.py --name baseline --folds {fold}", rec.BuildID
	if rec.Accelerator != "" {
		r.Accelerator = rec.Accelerator
	}
	r.Burned = r.EndedAt.Sub(r.StartedAt)
	r.Cap = time.Duration(rec.BudgetH * float64(time.Hour))
}
