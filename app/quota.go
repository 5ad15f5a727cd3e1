package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sandglass/app/runlog"
	"sandglass/kaggle"
	"sandglass/planner"
)

// holdWindow is how far back a run may lie and still count in the quota: the
// longest reading age that is not re-based anyway.
const holdWindow = 8 * 24 * time.Hour

const weekLong = 7 * 24 * time.Hour

// Quota gives this week's hours. With live it asks Kaggle; when that fails the
// last reading is given with Live false, Why and Failed saying so, and an error
// only when there has never been a reading.
func (a *App) Quota(ctx context.Context, live bool) (QuotaView, error) {
	acc, err := a.Account(ctx)
	if err != nil {
		return QuotaView{}, err
	}
	why := "not asked again"
	var asked error
	if live {
		a.catchUp(ctx, acc)
		if asked = a.readQuota(ctx, acc); asked != nil {
			why = asked.Error()
		}
	}
	v, err := a.cachedQuota(ctx, acc)
	if err != nil {
		return v, err
	}
	if v.FetchedAt.IsZero() && asked != nil {
		return v, asked
	}
	v.Live, v.Failed = live && asked == nil, asked
	if !v.Live {
		v.Why = why
	}
	return v, nil
}

// catchUp asks about our metered runs that Kaggle has, before the quota is read: one that left the queue a moment ago would be
// counted twice, as waiting by the log and as reserved by Kaggle. What cannot be asked stays as the log has it.
func (a *App) catchUp(ctx context.Context, acc Account) {
	runs, err := a.store.Runs(ctx, runlog.Filter{Account: acc.ID, States: []string{StateQueued, StateRunning, StateStopping}})
	if err != nil {
		return
	}
	for _, r := range runs {
		if poolOf(r) == PoolCPU {
			continue
		}
		if err := a.refresh(ctx, acc, r); err != nil {
			a.log.Info("a run in flight could not be asked before the quota was read", "run", r.ID, "err", err)
			return
		}
	}
}

// readQuota asks Kaggle once and keeps the answer. An answer that cannot be read
// is logged raw and the last good one stays.
func (a *App) readQuota(ctx context.Context, acc Account) error {
	c, err := a.client(ctx)
	if err != nil {
		return err
	}
	q, err := c.Quota(ctx)
	a.quotaLost.Store(err != nil)
	if err != nil {
		if errors.Is(err, kaggle.ErrMalformed) {
			a.log.Warn("quota answer not understood, the last good one is kept", "op", "quota", "raw", q.Raw)
		}
		return err // says itself that the quota was asked for
	}
	r := runlog.QuotaReading{At: a.now(), RefreshAt: q.RefreshAt, GPU: poolReading(q.GPU), TPU: poolReading(q.TPU)}
	if err := a.store.AddQuota(ctx, acc.ID, r); err != nil {
		return fmt.Errorf("keep the quota: %w", err)
	}
	a.hub.emit(Event{Kind: EventQuota})
	return nil
}

func poolReading(p *kaggle.PoolQuota) *runlog.PoolReading {
	if p == nil {
		return nil
	}
	return &runlog.PoolReading{Used: p.Used, Reserved: p.Reserved, Total: p.Total}
}

// cachedQuota is the last reading brought up to now: what our own runs hold is
// taken off, and a reading from before the reset is re-based.
func (a *App) cachedQuota(ctx context.Context, acc Account) (QuotaView, error) {
	return a.quotaAt(ctx, acc, a.now())
}

// quotaAt is the same at a time that a plan is made for. A reading whose own next
// reset is less than a week after that time is of that week, whatever this
// computer's clock said when it came.
func (a *App) quotaAt(ctx context.Context, acc Account, now time.Time) (QuotaView, error) {
	r, err := a.store.LastQuota(ctx, acc.ID)
	if errors.Is(err, runlog.ErrNotFound) {
		return QuotaView{Why: "never read"}, nil
	}
	if err != nil {
		return QuotaView{}, fmt.Errorf("read the quota kept on this computer: %w", err)
	}
	holds, err := a.holds(ctx, acc, r.At, 0)
	if err != nil {
		return QuotaView{}, err
	}
	v := QuotaView{FetchedAt: r.At, RefreshAt: r.RefreshAt, StartedSince: startedSince(holds, r.At)}
	for _, p := range []struct {
		pool planner.Pool
		from *runlog.PoolReading
		to   *PoolView
	}{{PoolGPU, r.GPU, &v.GPU}, {PoolTPU, r.TPU, &v.TPU}} {
		b := a.balanceAt(acc, p.pool, r, p.from, holds, now)
		if b == nil {
			continue
		}
		*p.to = PoolView{Known: true, Used: b.Used.Hours(), Reserved: b.Reserved.Hours(), Held: b.Held.Hours(),
			Total: b.Total.Hours(), Left: b.Left.Hours()}
		for _, h := range holds {
			if h.Pool == p.pool && h.Phase != planner.HoldEnded {
				p.to.Holders = append(p.to.Holders, h.Label)
			}
		}
		v.Rebased = v.Rebased || b.Rebased
		v.RefreshAt = b.RefreshAt
	}
	return v, nil
}

// startedSince names our metered runs that went out after a reading, which it
// therefore does not contain.
func startedSince(holds []planner.Hold, at time.Time) []string {
	var names []string
	for _, h := range holds {
		if h.Pool != PoolCPU && (h.StartedAt.After(at) || h.StartedAt.IsZero() && h.Phase != planner.HoldEnded) {
			names = append(names, h.Label)
		}
	}
	return names
}

// markFresh says whether a reading is still live on screen: the last question was answered, and not long ago.
func (a *App) markFresh(v *QuotaView) {
	age := a.now().Sub(v.FetchedAt)
	v.Live = !v.FetchedAt.IsZero() && age < quotaIdle+quotaBusy && !a.quotaLost.Load()
	switch {
	case v.Live, v.FetchedAt.IsZero() && !a.quotaLost.Load():
		v.Why = "" // live, or not asked for the first time yet
	case a.quotaLost.Load():
		v.Why = "Kaggle did not answer when it was asked again"
	case !v.FetchedAt.IsZero():
		v.Why = "it was not asked since"
	}
}

// balance reckons one pool now; nil when Kaggle did not report it.
func (a *App) balance(acc Account, pool planner.Pool, r runlog.QuotaReading, p *runlog.PoolReading, holds []planner.Hold) *planner.Balance {
	return a.balanceAt(acc, pool, r, p, holds, a.now())
}

// balanceAt is the same at a time that a plan is made for.
func (a *App) balanceAt(acc Account, pool planner.Pool, r runlog.QuotaReading, p *runlog.PoolReading, holds []planner.Hold, now time.Time) *planner.Balance {
	if p == nil {
		return nil
	}
	var mine []planner.Hold
	for _, h := range holds {
		if h.Pool != pool {
			continue
		}
		h.StartedAt, h.EndedAt = quotaTime(acc, h.StartedAt, now), quotaTime(acc, h.EndedAt, now)
		mine = append(mine, h)
	}
	at := quotaTime(acc, r.At, now)
	if until := r.RefreshAt.Sub(now); speedOf(acc) == 1 && until > 0 && until <= weekLong && r.RefreshAt.Sub(at) > weekLong {
		at = now
	}
	b := planner.BalanceOf(planner.Reading{Pool: pool, Used: p.Used, Reserved: p.Reserved, Total: p.Total,
		FetchedAt: at, RefreshAt: r.RefreshAt}, mine, now)
	return &b
}

// poolBalance is the balance of one pool from the last reading, without the run
// except; nil when nothing is known of it.
func (a *App) poolBalance(ctx context.Context, acc Account, pool planner.Pool, except int64) (*planner.Balance, error) {
	r, err := a.store.LastQuota(ctx, acc.ID)
	if errors.Is(err, runlog.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	holds, err := a.holds(ctx, acc, r.At, except)
	if err != nil {
		return nil, err
	}
	switch pool {
	case PoolGPU:
		return a.balance(acc, pool, r, r.GPU, holds), nil
	case PoolTPU:
		return a.balance(acc, pool, r, r.TPU, holds), nil
	}
	return nil, nil
}

// quotaTime moves a past time to where it lies on the account's own clock: a
// sandbox whose clock runs faster charges an hour of quota for less than an hour
// of the wall's.
func quotaTime(acc Account, t, now time.Time) time.Time {
	if t.IsZero() || acc.Speed <= 0 || acc.Speed == 1 {
		return t
	}
	return now.Add(-time.Duration(float64(now.Sub(t)) * acc.Speed))
}

// holds lists our runs that hold hours, or held some after the reading at since.
// The run except is left out (a push does not compete with itself).
func (a *App) holds(ctx context.Context, acc Account, since time.Time, except int64) ([]planner.Hold, error) {
	runs, err := a.store.Runs(ctx, runlog.Filter{Account: acc.ID, Since: a.now().Add(-holdWindow)})
	if err != nil {
		return nil, fmt.Errorf("read the runs that hold quota: %w", err)
	}
	var out []planner.Hold
	for _, r := range runs {
		if r.ID == except || r.Origin == originRecorded {
			continue
		}
		h := planner.Hold{Run: r.ID, Pool: planner.PoolOf(r.Accelerator), Cap: r.Cap, StartedAt: r.StartedAt, EndedAt: r.EndedAt, Label: r.Name}
		switch r.State {
		case StatePushing, StateUnclear:
			h.Phase = planner.HoldPushing
		case StateWaiting, StateQueued:
			h.Phase = planner.HoldQueued
		case StateRunning, StateStopping:
			h.Phase = planner.HoldRunning
		default:
			if r.StartedAt.IsZero() || !r.EndedAt.After(since) {
				continue
			}
			h.Phase = planner.HoldEnded
		}
		out = append(out, h)
	}
	return out, nil
}
