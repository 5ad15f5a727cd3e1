package app

import (
	"context"
	"time"

	"sandglass/app/runlog"
	"sandglass/planner"
)

// QueueHistory is how long runs of one pool waited at Kaggle before they started.
type QueueHistory struct {
	Waits []PastWait // the oldest first
	Runs  int        // runs of the pool that were pushed, whatever is known of their wait
}

// PastWait is one run's wait.
type PastWait struct {
	Run      int64
	Name     string
	QueuedAt time.Time
	Hours    float64 // so far while it waits; in hours of the account's clock
	Waiting  bool    // it has not started
}

// QueueHistory reads the signed-in account's waits in a pool from the log.
func (a *App) QueueHistory(ctx context.Context, pool string) (QueueHistory, error) {
	acc, err := a.Account(ctx)
	if err != nil {
		return QueueHistory{}, err
	}
	runs, err := a.store.Runs(ctx, runlog.Filter{Account: acc.ID})
	if err != nil {
		return QueueHistory{}, err
	}
	var out QueueHistory
	for i := len(runs) - 1; i >= 0; i-- { // they come newest first
		r := runs[i]
		from := queuedFrom(r)
		if poolOf(r) != planner.Pool(pool) || from.IsZero() || r.State == StateNoRun {
			continue
		}
		out.Runs++
		w := PastWait{Run: r.ID, Name: r.Name, QueuedAt: from, Waiting: r.State == StateQueued}
		switch {
		case w.Waiting:
			w.Hours = a.now().Sub(from).Hours() * speedOf(acc)
		case r.StartedAt.After(from):
			w.Hours = r.StartedAt.Sub(from).Hours() * speedOf(acc)
		default:
			continue
		}
		out.Waits = append(out.Waits, w)
	}
	return out, nil
}

// QueueView is the launch queue and whether it moves.
type QueueView struct {
	Rows     []QueueRow // in order; what was stopped comes last
	Paused   bool
	Served   bool     // a program on this computer looks after it now
	Warnings []string // what to know of the runs that wait
}

// LaunchQueue reads the launch queue of the signed-in account.
func (a *App) LaunchQueue(ctx context.Context) (QueueView, error) {
	rows, err := a.Queue(ctx)
	if err != nil {
		return QueueView{}, err
	}
	v := QueueView{Rows: rows, Served: a.QueueServed(), Warnings: queueAdvice(rows)}
	v.Paused, err = a.QueuePaused(ctx)
	return v, err
}

// queueAdvice is what a person should know of the runs that wait, once for each pool.
func queueAdvice(rows []QueueRow) []string {
	var out []string
	for _, pool := range []planner.Pool{planner.GPU, planner.TPU} {
		for _, r := range rows {
			if !r.Stopped && r.Pool == string(pool) {
				out = append(out, planner.QueueWarnings(pool)...)
				break
			}
		}
	}
	return out
}
