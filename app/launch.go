package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sandglass/app/runlog"
	"sandglass/planner"
)

// Pauses between two tries to push what waits for a slot.
const (
	launchFirst = 30 * time.Second
	launchLast  = 5 * time.Minute
)

// launch pushes waiting runs whose pool has a free slot, the oldest first, each
// exactly once, under the consent given when it was queued.
func (w *watcher) launch(ctx context.Context, runs []runlog.Run) {
	now := w.a.now()
	if !w.reconciled || now.Before(w.launchAt) {
		return
	}
	var waiting []runlog.Run
	for _, r := range runs {
		if r.State == StateWaiting {
			waiting = append(waiting, r)
		}
	}
	if len(waiting) == 0 {
		w.launchWait = 0
		return
	}
	unlock, ok := w.a.tryLockPush()
	if !ok {
		return
	}
	defer unlock()
	full := map[planner.Pool]bool{}
	launched := false
	for i := len(waiting) - 1; i >= 0 && ctx.Err() == nil; i-- { // newest first in the list: oldest first here
		r := waiting[i]
		if full[poolOf(r)] {
			continue
		}
		why, err := w.a.launchOne(ctx, w.acc, r)
		if err != nil {
			w.reached(err)
			w.a.log.Info("waiting run not pushed", "run", r.ID, "err", err)
		}
		launched = launched || why == "" && err == nil
		full[poolOf(r)] = full[poolOf(r)] || why == "slots" || err != nil
	}
	if launched {
		w.launchWait = 0
	}
	w.launchWait = min(max(launchFirst, w.launchWait*2), launchLast)
	w.launchAt = w.a.now().Add(w.launchWait)
}

// launchOne pushes one waiting run if nothing speaks against it any more; why
// says what still does ("slots", "inputs", "quota"). The caller holds the push lock.
func (a *App) launchOne(ctx context.Context, acc Account, r runlog.Run) (why string, err error) {
	kept, err := a.keptPush(r)
	if err != nil {
		return "", a.refuse(ctx, acc, r, "the request that was authorised is no longer on this computer: push it again", "", nil)
	}
	if !kept.NoRun {
		if g, err := a.stillBlocked(ctx, acc, r, kept); err != nil || g.Code != "" {
			if err == nil && r.Note != g.Reason {
				_, err = a.change(ctx, r.ID, func(r *runlog.Run) error { r.Note = g.Reason; return nil })
			}
			return g.Code, err
		}
	}
	kept.Base = a.versionBefore(ctx, r.Kernel)
	if kept.Base < 0 {
		return "", errors.New("the version at Kaggle could not be asked for")
	}
	a.at("launch: before the request is kept")
	if err := a.keepPush(r, kept); err != nil {
		return "", err
	}
	a.at("launch: before the intent row")
	r, err = a.change(ctx, r.ID, func(r *runlog.Run) error {
		if r.State != StateWaiting {
			return fmt.Errorf("it is %s by now", r.State)
		}
		r.State, r.PushedAt, r.Note = StatePushing, a.now(), ""
		return nil
	})
	if err != nil {
		return "", err
	}
	a.pushes.Add(1)
	row, err := a.send(context.WithoutCancel(ctx), acc, r, kept, true)
	if err == nil && row.State == StateWaiting {
		return "slots", nil
	}
	return "", err
}

// stillBlocked asks again what can have changed since the run was queued: slots,
// inputs that were running, and the quota.
func (a *App) stillBlocked(ctx context.Context, acc Account, r runlog.Run, kept keptPush) (Guard, error) {
	p := &pushFolder{shape: r.Accelerator, pool: poolOf(r), limit: r.Cap}
	f := planner.PushFacts{Pool: p.pool, Shape: p.shape, Cap: r.Cap}
	busy, err := a.busySessions(ctx, acc, p.pool, r.ID)
	if err != nil {
		return Guard{}, err
	}
	f.BusySessions, f.BusyNames = len(busy), busy
	if f.BusySessions < planner.Slots(p.pool) { // only when it is near: these cost questions
		p.meta.KernelSources, p.meta.DatasetSources = kept.Request.KernelDataSources, kept.Request.DatasetDataSources
		a.inputFacts(ctx, &f, p.meta)
		if err := a.readQuota(ctx, acc); err != nil {
			return Guard{}, err
		}
		f.Balance, err = a.poolBalance(ctx, acc, p.pool, r.ID)
		if err != nil {
			return Guard{}, err
		}
	}
	for _, g := range planner.PushGuards(f) {
		if g.Code == "slots" || !kept.Forced {
			return Guard(g), nil
		}
	}
	return Guard{}, nil
}
