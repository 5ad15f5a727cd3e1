package app

import (
	"context"
	"errors"
	"time"
)

var errNotReady = errors.New("not ready")

// RunFilter narrows a list of runs. The zero value is every run, newest first.
type RunFilter struct {
	Text     string // part of the name, kernel, command or project, any letter case
	Pool     string // PoolGPU, PoolTPU, PoolCPU
	InFlight bool   // pushing, unclear, waiting, queued, running or stopping
	NeedsYou bool   // finished and not collected, or failed and not looked at
	Limit    int    // 0 = all
}

// WaitOptions says how to wait for a run.
type WaitOptions struct {
	Collect  bool          // fetch the outputs when it has ended
	Interval time.Duration // between two looks at Kaggle; 0 = adaptive
	Max      time.Duration // give up after this long; 0 = never
}

// CollectOptions says what to fetch and where to put it.
type CollectOptions struct {
	Weights bool   // model weights too (left out by default, by suffix)
	Dir     string // everything below this folder, instead of into the project
	Pattern string // only paths that match this regular expression
}

func (a *App) Quota(ctx context.Context, live bool) (QuotaView, error) { return QuotaView{}, errNotReady }

func (a *App) Build(ctx context.Context, spec BuildSpec, progress func(Progress)) (BuildResult, error) {
	return BuildResult{}, errNotReady
}

func (a *App) PlanPush(ctx context.Context, dir string, opt PushOptions) (PushPlan, error) {
	return PushPlan{}, errNotReady
}

func (a *App) Push(ctx context.Context, plan PushPlan, consent Consent) (RunRow, error) {
	return RunRow{}, errNotReady
}

func (a *App) Refresh(ctx context.Context, kernel string) (RunView, error) {
	return RunView{}, errNotReady
}

func (a *App) Wait(ctx context.Context, kernel string, opt WaitOptions, onChange func(RunView)) (RunView, error) {
	return RunView{}, errNotReady
}

func (a *App) Collect(ctx context.Context, kernel string, opt CollectOptions, progress func(Progress)) (Collected, error) {
	return Collected{}, errNotReady
}

func (a *App) Delete(ctx context.Context, kernel string) error { return errNotReady }

func (a *App) Resolve(ctx context.Context, kernel string) (RunRow, error) {
	return RunRow{}, errNotReady
}

func (a *App) Week(ctx context.Context) (WeekView, error) { return WeekView{}, errNotReady }

func (a *App) Runs(ctx context.Context, f RunFilter) ([]RunRow, error) { return nil, errNotReady }

func (a *App) Run(ctx context.Context, id int64) (RunView, error) { return RunView{}, errNotReady }

// LogLines gives n lines of a run's log from line number from, and how many there are.
func (a *App) LogLines(ctx context.Context, id int64, from, n int) ([]LogLine, int, error) {
	return nil, 0, errNotReady
}

func (a *App) StartWatcher(ctx context.Context) error { return errNotReady }

func (a *App) Nudge() {}

func WriteDemo(dir string) (BuildSpec, error) { return BuildSpec{}, errNotReady }

func (a *App) StartDemo(ctx context.Context, progress func(Progress)) (RunRow, error) {
	return RunRow{}, errNotReady
}
