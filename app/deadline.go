package app

import (
	"context"
	"time"
)

// deadlineKey is the setting that holds the deadline of the plan.
const deadlineKey = "plan.deadline"

// Deadline is what the plan runs to; zero while the person has not said.
func (a *App) Deadline(ctx context.Context) (time.Time, error) {
	text, err := a.store.Get(ctx, deadlineKey)
	if err != nil || text == "" {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		a.log.Warn("the deadline in the settings cannot be read and is asked for again", "err", err)
		return time.Time{}, nil
	}
	return t, nil
}

// SetDeadline keeps a deadline; zero forgets it.
func (a *App) SetDeadline(ctx context.Context, t time.Time) error {
	if t.IsZero() {
		return a.store.Set(ctx, deadlineKey, "")
	}
	return a.store.Set(ctx, deadlineKey, t.UTC().Format(time.RFC3339))
}
