package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sandglass/app/runlog"
	"sandglass/planner"
)

// slotNews is how long a session that frees is news.
const slotNews = 10 * time.Minute

// slotNotices tells that a session of a pool that was full freed and that nothing
// takes it: went are the pools in which this look at the queue pushed something,
// waited what stood in it before. Each end of a run is told once, or never when it
// is no news.
func (w *watcher) slotNotices(ctx context.Context, went map[planner.Pool]bool, waited []runlog.QueuedRun) {
	runs, err := w.a.store.Runs(ctx, runlog.Filter{Account: w.acc.ID, Since: w.a.now().Add(-holdWindow)})
	if err != nil {
		w.a.log.Warn("slots not looked at", "err", err)
		return
	}
	w.mu.Lock()
	woke := !w.wokeAt.IsZero() && w.a.now().Sub(w.wokeAt) < holdNotices // what ended meanwhile freed long ago
	w.mu.Unlock()
	for _, pool := range []planner.Pool{planner.GPU, planner.TPU, planner.CPU} {
		freed := w.freed(ctx, pool, runs, waited)
		switch {
		case len(freed) == 0 || woke || went[pool] || slotsHeld(pool, runs, time.Time{}) >= planner.Slots(pool):
		default:
			if n, ok := w.slotNotice(ctx, pool, freed); ok && w.a.tells(ctx, n.Kind) {
				w.a.publish(ctx, n)
			}
		}
	}
}

// freed are the runs whose end freed a session of a full pool a moment ago, and of
// which nobody was told. They count as told from now on.
func (w *watcher) freed(ctx context.Context, pool planner.Pool, runs []runlog.Run, waited []runlog.QueuedRun) []runlog.Run {
	wanted := false // something waited for a slot, so all were taken, whoever held them
	for _, q := range waited {
		wanted = wanted || poolOf(q.Run) == pool && q.Entry.Code == planner.WaitSlots
	}
	var out []runlog.Run
	for _, r := range runs {
		if poolOf(r) != pool || inFlight(r.State) || r.StartedAt.IsZero() || r.EndedAt.IsZero() || w.a.now().Sub(r.EndedAt) > slotNews {
			continue
		}
		if !wanted && slotsHeld(pool, runs, r.EndedAt) < planner.Slots(pool) {
			continue
		}
		if first, err := w.a.store.Once(ctx, fmt.Sprintf("notice/slot-freed/%d", r.ID)); err == nil && first {
			out = append(out, r)
		}
	}
	return out
}

// slotsHeld counts our runs that hold a session of a pool, or did at a time, those
// that ended at that very moment included.
func slotsHeld(pool planner.Pool, runs []runlog.Run, at time.Time) int {
	n := 0
	for _, r := range runs {
		now := inFlight(r.State) && r.State != StateWaiting
		then := now || !r.StartedAt.IsZero() && !r.EndedAt.Before(at)
		if poolOf(r) == pool && (at.IsZero() && now || !at.IsZero() && then && !queuedFrom(r).After(at)) {
			n++
		}
	}
	return n
}

// slotNotice says what a free session means: who waits all the same and for what,
// or that nothing does. ok is false when no hours are left to use it.
func (w *watcher) slotNotice(ctx context.Context, pool planner.Pool, freed []runlog.Run) (n Notice, ok bool) {
	var names []string
	for _, r := range freed {
		names = append(names, r.Name)
	}
	n = Notice{Key: fmt.Sprintf("slot-freed/%d", freed[0].ID), Kind: "slot-freed", Title: "A " + pool.PoolName() + " slot is free"}
	if planner.Slots(pool) == 1 {
		n.Title = "The " + pool.PoolName() + " slot is free"
	}
	n.Body = strings.Join(names, " and ") + " ended"
	rows, err := w.a.queueRows(ctx, w.acc)
	if err != nil {
		w.a.log.Warn("slots not looked at", "err", err)
		return n, false
	}
	for _, q := range rows {
		if q.Pool == string(pool) && q.State == StateWaiting && !q.Stopped {
			n.Run, n.Body = q.ID, n.Body+"; "+q.Name+" does not go out: "+strings.TrimRight(q.Why, ".")
			return n, true
		}
	}
	n.Body += ", and nothing waits for it"
	b, err := w.a.poolBalance(ctx, w.acc, pool, 0)
	if err != nil || b == nil {
		return n, err == nil
	}
	n.Body += fmt.Sprintf("; %.1f %s-hours are left until %s", b.Left.Hours(), pool.PoolName(), momentText(b.RefreshAt))
	return n, b.Left >= planner.LeastUseful(pool)
}
