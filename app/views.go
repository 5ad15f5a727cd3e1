package app

import (
	"context"
	"errors"
	"strings"
	"time"

	"sandglass/app/runlog"
	"sandglass/planner"
)

// RunFilter narrows a list of runs. The zero value is every run, newest first.
type RunFilter struct {
	Text     string // part of the name, kernel, command or project, any letter case
	Pool     string // PoolGPU, PoolTPU, PoolCPU
	InFlight bool   // pushing, unclear, waiting, queued, running or stopping
	NeedsYou bool   // finished and not collected, or failed and not looked at
	Limit    int    // 0 = all
}

// Runs lists runs of the signed-in account and those that came with a project,
// newest first. It reads this computer only.
func (a *App) Runs(ctx context.Context, f RunFilter) ([]RunRow, error) {
	acc, err := a.Account(ctx)
	if err != nil && !errors.Is(err, ErrNoAccount) {
		return nil, err
	}
	lf := runlog.Filter{Text: f.Text}
	if f.InFlight {
		lf.States = unsettled
	}
	all, err := a.store.Runs(ctx, lf)
	if err != nil {
		return nil, err
	}
	rows := []RunRow{}
	for _, r := range all {
		switch {
		case acc.ID != 0 && r.Account != 0 && r.Account != acc.ID:
		case f.Pool != "" && string(poolOf(r)) != f.Pool:
		case f.NeedsYou && !needsYou(r):
		default:
			rows = append(rows, rowOf(r, a.now(), speedOf(acc)))
		}
		if f.Limit > 0 && len(rows) == f.Limit {
			break
		}
	}
	return rows, nil
}

// needsYou says whether a person has something to do about a run: it ended and
// its files are not home, or it failed or was refused and nobody looked.
func needsYou(r runlog.Run) bool {
	switch {
	case r.Origin == originRecorded:
		return false
	case ended(r.State) && r.CollectedAt.IsZero():
		return true
	case !r.SeenAt.IsZero():
		return false
	case r.State == StateRefused, r.State == StateMissing, r.State == StateError:
		return true
	}
	return r.Outcome == OutcomeFailed || r.Outcome == OutcomeKilled
}

// Run is everything the page of one run shows. Looking at a failed run takes it
// off the list of what needs you.
func (a *App) Run(ctx context.Context, id int64) (RunView, error) {
	r, err := a.store.Run(ctx, id)
	if err != nil {
		return RunView{}, err
	}
	if !inFlight(r.State) && r.SeenAt.IsZero() && r.Origin != originRecorded {
		if _, err := a.change(ctx, id, func(r *runlog.Run) error { r.SeenAt = a.now(); return nil }); err != nil {
			a.log.Warn("look not noted", "run", id, "err", err)
		}
	}
	return a.runView(ctx, id)
}

// runView is Run without the mark that somebody looked.
func (a *App) runView(ctx context.Context, id int64) (RunView, error) {
	acc, err := a.Account(ctx)
	if err != nil && !errors.Is(err, ErrNoAccount) {
		return RunView{}, err
	}
	r, err := a.store.Run(ctx, id)
	if err != nil {
		return RunView{}, err
	}
	now := a.now()
	v := RunView{
		RunRow: rowOf(r, now, speedOf(acc)), Command: r.Command, Folds: r.Folds, Jobs: r.Jobs,
		BaselineName: r.BaselineName, BaselineScore: r.BaselineScore, Greater: r.Greater,
		PruneMargin: r.PruneMargin, PruneMinFrac: r.PruneMinFrac,
		BuildDir: r.BuildDir, ArtifactsDir: r.ArtifactsDir, Parts: partViews(r.Parts), Inputs: r.Inputs, LogLines: a.logs.total(a, id),
		QueuedFor: queuedFor(r, now),
	}
	if !r.StartedAt.IsZero() && r.Cap > 0 {
		v.EndsBy = r.StartedAt.Add(r.Cap)
	}
	tasks, err := a.store.Tasks(ctx, id)
	if err != nil {
		return v, err
	}
	mine, err := a.store.Curves(ctx, id, runlog.SeriesRun)
	if err != nil {
		return v, err
	}
	base, err := a.store.Curves(ctx, id, runlog.SeriesBaseline)
	if err != nil {
		return v, err
	}
	util, err := a.store.Util(ctx, id)
	if err != nil {
		return v, err
	}
	findings, err := a.store.Findings(ctx, id)
	if err != nil {
		return v, err
	}
	files, err := a.store.Files(ctx, id)
	if err != nil {
		return v, err
	}
	v.Tasks, v.Curves, v.Baseline = taskViews(tasks, mine), curveViews(mine), curveViews(base)
	v.Util, v.Findings, v.Files = utilViews(util), findingViews(findings), fileViews(files)
	return v, nil
}

// queuedFor is how long a run waited at Kaggle, or waits so far.
func queuedFor(r runlog.Run, now time.Time) time.Duration {
	from := queuedFrom(r)
	if from.IsZero() || r.State == StateNoRun { // saved only: it never waited
		return 0
	}
	to := now
	switch {
	case !r.StartedAt.IsZero():
		to = r.StartedAt
	case !r.EndedAt.IsZero():
		to = r.EndedAt
	}
	return max(0, to.Sub(from))
}

// weeksShown is how many weeks the burn chart covers.
const weeksShown = 8

// Week is everything the Week page shows. It reads this computer only; the
// watcher keeps the quota fresh.
func (a *App) Week(ctx context.Context) (WeekView, error) {
	acc, err := a.Account(ctx)
	if err != nil {
		return WeekView{}, err
	}
	v := WeekView{Now: a.now()}
	if v.Quota, err = a.cachedQuota(ctx, acc); err != nil {
		return v, err
	}
	a.markFresh(&v.Quota)
	v.WeekFrom = planner.WeekStart(v.Quota.RefreshAt, v.Now)
	v.WeekTo = v.WeekFrom.Add(7 * 24 * time.Hour)
	if err := a.weekBurn(ctx, acc, &v); err != nil {
		return v, err
	}
	if err := a.weekRuns(ctx, acc, &v); err != nil {
		return v, err
	}
	return v, a.weekExpiring(ctx, acc, &v)
}

// weekExpiring says which hours are about to expire unused.
func (a *App) weekExpiring(ctx context.Context, acc Account, v *WeekView) error {
	if planner.ExpiringWithin < v.Quota.RefreshAt.Sub(v.Now) {
		return nil
	}
	var p planner.PlanAsk
	if err := a.seasonFacts(ctx, acc, &p, v.Now); err != nil {
		return err
	}
	for _, x := range []struct {
		pool planner.Pool
		view PoolView
		in   planner.PlanPool
		to   **Expiring
	}{{PoolGPU, v.Quota.GPU, p.GPU, &v.ExpiringGPU}, {PoolTPU, v.Quota.TPU, p.TPU, &v.ExpiringTPU}} {
		x.in.Known, x.in.LeftH = x.view.Known, x.view.Left
		if e, ok := planner.AboutToExpire(x.pool, x.in, v.Quota.RefreshAt, v.Now); ok {
			e := Expiring(e)
			*x.to = &e
		}
	}
	return nil
}

// weekBurn fills the burn by week and the pace of this one.
func (a *App) weekBurn(ctx context.Context, acc Account, v *WeekView) error {
	since := v.WeekFrom.AddDate(0, 0, -7*weeksShown)
	runs, err := a.store.Runs(ctx, runlog.Filter{Since: since})
	if err != nil {
		return err
	}
	readings, err := a.store.QuotaHistory(ctx, acc.ID, since)
	if err != nil {
		return err
	}
	for _, p := range []struct {
		pool  planner.Pool
		from  func(runlog.QuotaReading) *runlog.PoolReading
		burn  *[]BurnWeek
		pace  *[]PacePoint
		total float64
	}{
		{PoolGPU, func(q runlog.QuotaReading) *runlog.PoolReading { return q.GPU }, &v.GPU, &v.Pace, v.Quota.GPU.Total},
		{PoolTPU, func(q runlog.QuotaReading) *runlog.PoolReading { return q.TPU }, &v.TPU, &v.PaceTPU, v.Quota.TPU.Total},
	} {
		var rs []planner.Reading
		for _, q := range readings {
			if r := p.from(q); r != nil {
				rs = append(rs, planner.Reading{Pool: p.pool, Used: r.Used, Reserved: r.Reserved, Total: r.Total, FetchedAt: q.At, RefreshAt: q.RefreshAt})
			}
		}
		var burns []planner.Burn
		for _, r := range runs {
			if poolOf(r) == p.pool && (r.Account == acc.ID || r.Origin == originRecorded) {
				if b, ok := burnOf(r, v.Now, speedOf(acc)); ok {
					burns = append(burns, b)
				}
			}
		}
		for _, w := range planner.BurnByWeek(burns, rs, v.Quota.RefreshAt, v.Now, weeksShown) {
			*p.burn = append(*p.burn, BurnWeek{Start: w.Start, Kept: w.Kept.Hours(), Failed: w.Failed.Hours(), Killed: w.Killed.Hours(),
				Elsewhere: w.Elsewhere.Hours(), Reserved: w.Reserved.Hours(), Current: w.Current})
		}
		for _, q := range planner.Pace(rs, v.Quota.RefreshAt, v.Now) {
			*p.pace = append(*p.pace, PacePoint{At: q.At, Hours: q.Used.Hours()})
		}
	}
	return nil
}

// burnOf is a run in the burn chart. Its length is the quota it took, which on a
// sandbox with a fast clock is more than the wall's time, so it is laid so that it
// ends when the run did.
func burnOf(r runlog.Run, now time.Time, speed float64) (planner.Burn, bool) {
	d := burnedSoFar(r, now, speed)
	end := r.EndedAt
	if end.IsZero() {
		end = now
	}
	return planner.Burn{Start: end.Add(-d), End: end, Outcome: outcomeOf(r)}, d > 0
}

// outcomeOf is a run's outcome, guessed from Kaggle's word while it is not collected.
func outcomeOf(r runlog.Run) string {
	switch {
	case r.Outcome != "":
		return r.Outcome
	case r.State == StateError:
		return OutcomeFailed
	case r.State == StateCancel:
		return OutcomeKilled
	}
	return ""
}

// weekRuns fills what is in flight, what waits and what needs a person.
func (a *App) weekRuns(ctx context.Context, acc Account, v *WeekView) error {
	runs, err := a.store.Runs(ctx, runlog.Filter{Account: acc.ID})
	if err != nil {
		return err
	}
	for _, r := range runs {
		switch {
		case r.State == StateWaiting:
			v.Waiting = append(v.Waiting, rowOf(r, v.Now, speedOf(acc)))
		case inFlight(r.State):
			rv, err := a.runView(ctx, r.ID)
			if err != nil {
				return err
			}
			v.InFlight = append(v.InFlight, rv)
		case needsYou(r):
			v.NeedsYou = append(v.NeedsYou, rowOf(r, v.Now, speedOf(acc)))
		}
	}
	return nil
}

// logTail is the end of a run's log as text.
func (a *App) logTail(id int64, n int) string {
	total := a.logs.total(a, id)
	lines, _, err := a.logs.page(a, id, max(0, total-n), n)
	if err != nil {
		return ""
	}
	var b strings.Builder
	for _, l := range lines {
		if !strings.HasPrefix(l.Text, telemetryMark) {
			b.WriteString(l.Text + "\n")
		}
	}
	return b.String()
}
