package app

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"sandglass/app/runlog"
	"sandglass/planner"
)

// costRuns is how many of the newest measured runs tell what a run costs.
const costRuns = 30

// seasonFacts adds what the log knows: which sessions are taken, what runs cost, what is unfinished, and the TPU's queue.
func (a *App) seasonFacts(ctx context.Context, acc Account, p *planner.PlanAsk, now time.Time) error {
	runs, err := a.store.Runs(ctx, runlog.Filter{Account: acc.ID})
	if err != nil {
		return err
	}
	speed := speedOf(acc)
	for _, r := range runs {
		if !atKaggle(r.State) {
			continue
		}
		left := sessionCap(r)
		if !r.StartedAt.IsZero() {
			left -= time.Duration(float64(now.Sub(r.StartedAt)) * speed)
		}
		switch h := max(left.Hours(), 0); poolOf(r) {
		case planner.GPU:
			p.GPU.BusyH = append(p.GPU.BusyH, h)
		case planner.TPU:
			p.TPU.BusyH = append(p.TPU.BusyH, h)
		}
	}
	if p.GPU.Costs, err = a.costs(ctx, runs, planner.GPU, speed); err != nil {
		return err
	}
	if p.TPU.Costs, err = a.costs(ctx, runs, planner.TPU, speed); err != nil {
		return err
	}
	waits, err := a.queueWaits(ctx, acc, planner.TPU)
	if err != nil {
		return err
	}
	p.TPU.QueueH = planner.EstimateQueue(planner.TPU, waits).Median
	p.Items, err = a.unfinished(ctx, runs, map[planner.Pool]planner.RunCosts{planner.GPU: p.GPU.Costs, planner.TPU: p.TPU.Costs}, speed)
	return err
}

// sessionCap is a run's cap, or the session limit when it has none.
func sessionCap(r runlog.Run) time.Duration {
	if r.Cap > 0 {
		return r.Cap
	}
	return planner.SessionLimit(poolOf(r))
}

// costs are measured costs of one pool: a fold of the runs over several folds, a screen from the runs of one fold.
func (a *App) costs(ctx context.Context, runs []runlog.Run, pool planner.Pool, speed float64) (planner.RunCosts, error) {
	var c planner.RunCosts
	var folds, screens []float64
	for _, r := range runs { // newest first
		if poolOf(r) != pool || r.Origin != originPush || !ended(r.State) {
			continue
		}
		tasks, err := a.store.Tasks(ctx, r.ID)
		if err != nil {
			return c, err
		}
		var mine []float64
		for _, t := range tasks {
			if t.State == "done" && t.Fold != nil && t.Seconds > 0 {
				mine = append(mine, t.Seconds/3600*speed)
			}
		}
		if len(mine) == 0 {
			continue
		}
		if len(r.Folds) == 1 {
			screens = append(screens, mine...)
		} else {
			folds = append(folds, mine...)
			c.Folds = max(c.Folds, len(r.Folds))
		}
		if c.Runs++; c.Runs == costRuns {
			break
		}
	}
	c.FoldH, c.ScreenH = medianOf(folds), medianOf(screens)
	return c, nil
}

func medianOf(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

// unfinished are the runs that a follow-up could finish, and the newest failures, which are to be left alone.
func (a *App) unfinished(ctx context.Context, runs []runlog.Run, costs map[planner.Pool]planner.RunCosts, speed float64) ([]planner.PlanItem, error) {
	var out []planner.PlanItem
	seen := map[string]bool{}
	for _, r := range runs { // newest first: what a name's last run came to is what counts
		if r.State == StateCancel && r.StartedAt.IsZero() {
			continue // taken out of a queue: it never ran, so it tells nothing
		}
		pool := poolOf(r)
		chain := followUpSlug.ReplaceAllString(r.Kernel, "")
		if pool == planner.CPU || r.Origin != originPush || r.Command == "" || r.State == StateRefused || r.State == StateNoRun || seen[chain] {
			continue
		}
		seen[chain] = true
		if !ended(r.State) {
			continue
		}
		it := planner.PlanItem{ID: fmt.Sprintf("run %d %s", r.ID, r.Kernel), Name: r.Name, Pool: pool}
		switch r.Outcome {
		case OutcomeFailed:
			it.WhyNot = "its last run failed: rehearse it before it costs hours again"
			out = append(out, it)
			continue
		case OutcomePartial, OutcomeKilled:
		default:
			continue
		}
		tasks, err := a.store.Tasks(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		if somethingLeft(r, tasks) != nil {
			continue
		}
		it.Resume, it.Divisible = true, true
		it.Name += ", the rest"
		it.Hours = restHours(r, tasks, costs[pool], speed)
		out = append(out, it)
	}
	return out, nil
}

// restHours is at most what the follow-up burns: a task that was begun counts whole, because how far its checkpoint is is
// not known here. 0 = not known.
func restHours(r runlog.Run, tasks []runlog.Task, c planner.RunCosts, speed float64) float64 {
	var done []float64
	left := 0
	for _, t := range tasks {
		switch t.State {
		case "done":
			done = append(done, t.Seconds/3600*speed)
		case "skipped", "pruned":
		default:
			left++
		}
	}
	one := medianOf(done)
	if one <= 0 {
		one = c.FoldH
	}
	if len(tasks) == 0 {
		left = max(len(r.Folds), 1)
	}
	if one <= 0 || left == 0 && len(tasks) > 0 && strings.Contains(r.Command, "{fold}") {
		return 0
	}
	shape, _ := planner.LookupShape(r.Accelerator)
	startUp := planner.StartUpH
	if shape.Pool == planner.TPU {
		startUp = planner.TPUStartUpH
	}
	waves := math.Ceil(float64(left) / float64(max(shape.Devices, 1)))
	return startUp + waves*one + planner.TailH
}
