package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sandglass/app/runlog"
	"sandglass/planner"
)

// Hours that expire are told of when the reset is this near and so many are left
// that a session could still use them.
const (
	expireSoon  = 24 * time.Hour
	expireLeast = 2 * time.Hour
	resetNews   = 24 * time.Hour // how long a reset is news
)

// quotaNotices is what a new reading means: the hours are back, or are about to
// expire unused. The key of each is of this week.
func (a *App) quotaNotices(ctx context.Context, acc Account) ([]Notice, error) {
	r, err := a.store.LastQuota(ctx, acc.ID)
	if err != nil || r.RefreshAt.IsZero() {
		return nil, err
	}
	var out []Notice
	week := fmt.Sprintf("%d/%d", acc.ID, r.RefreshAt.Round(time.Hour).Unix()) // an answer that is off by seconds is no other week
	fresh, err := a.isNewWeek(ctx, acc, r)
	if err != nil {
		return nil, err
	}
	if fresh {
		var parts []string
		for _, p := range []struct {
			pool planner.Pool
			r    *runlog.PoolReading
		}{{planner.GPU, r.GPU}, {planner.TPU, r.TPU}} {
			if p.r != nil {
				parts = append(parts, fmt.Sprintf("%.1f %s-hours", max(0, p.r.Total-p.r.Used).Hours(), p.pool.PoolName()))
			}
		}
		out = append(out, Notice{Key: "quota-reset/" + week, Kind: "quota-reset", Title: "The week's hours are back",
			Body: strings.Join(parts, " and ") + ", until " + momentText(r.RefreshAt)})
	}
	if toReset := r.RefreshAt.Sub(a.now()); toReset > expireSoon || toReset < expireLeast {
		return out, nil
	}
	for _, pool := range []planner.Pool{planner.GPU, planner.TPU} {
		b, err := a.poolBalance(ctx, acc, pool, 0) // what waits in the queue counts as planned
		if err != nil {
			return out, err
		}
		if b == nil || b.Left < expireLeast {
			continue
		}
		out = append(out, Notice{Key: "expiring/" + string(pool) + "/" + week, Kind: "expiring", Title: fmt.Sprintf("%s-hours about to expire: %.1f h left", pool.PoolName(), b.Left.Hours()),
			Body: "nothing is planned for them; they end " + momentText(r.RefreshAt) + ", a run that starts now can still use them"})
	}
	return out, nil
}

// isNewWeek says that a reading is the first day's of a week, and that the week
// before was seen as well: a first sign-in is no reset.
func (a *App) isNewWeek(ctx context.Context, acc Account, r runlog.QuotaReading) (bool, error) {
	began := planner.WeekStart(r.RefreshAt, a.now())
	if a.now().Sub(began) > resetNews {
		return false, nil
	}
	seen, err := a.store.QuotaHistory(ctx, acc.ID, began.Add(-holdWindow))
	if err != nil {
		return false, err
	}
	for _, q := range seen {
		if q.At.Before(began) && !q.RefreshAt.IsZero() && r.RefreshAt.Sub(q.RefreshAt) > resetNews {
			return true, nil
		}
	}
	return false, nil
}

// momentText is a time in the person's own zone, for a notification.
func momentText(t time.Time) string { return Local(t).Format("Mon 15:04") }
