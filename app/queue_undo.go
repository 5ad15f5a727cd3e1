package app

import (
	"context"
	"errors"
	"fmt"

	"sandglass/app/runlog"
)

// QueueTake takes a run out of the launch queue as QueueRemove does, and gives the way back: called, the run waits again in its
// old place under the same authorisation. back is nil where there is none, because its authorisation had ended before.
func (a *App) QueueTake(ctx context.Context, runID int64) (back func(context.Context) error, err error) {
	r, err := a.store.Run(ctx, runID)
	if err != nil {
		return nil, err
	}
	e, err := a.store.Queued(ctx, runID)
	if err != nil && !errors.Is(err, runlog.ErrNotFound) {
		return nil, err
	}
	kept, keptErr := a.keptPush(r)
	if err := a.QueueRemove(ctx, runID); err != nil {
		return nil, err
	}
	if r.State != StateWaiting || !e.StoppedAt.IsZero() || keptErr != nil {
		return nil, nil
	}
	return func(ctx context.Context) error { return a.queueBack(ctx, r, e, kept) }, nil
}

// queueBack undoes a QueueTake. A run of the same kernel that came since stands in the way: two of them would be pushed.
func (a *App) queueBack(ctx context.Context, r runlog.Run, e runlog.QueueEntry, kept keptPush) error {
	runs, err := a.store.Runs(ctx, runlog.Filter{Account: r.Account})
	if err != nil {
		return err
	}
	for _, o := range runs {
		if o.ID > r.ID && o.Kernel == r.Kernel {
			return fmt.Errorf("%s was pushed again since and does not come back into the queue", r.Kernel)
		}
	}
	if err := a.keepPush(r, kept); err != nil {
		return err
	}
	_, err = a.store.Requeue(ctx, r, e, func(now runlog.Run) error {
		if now.State != StateCancel {
			return fmt.Errorf("%s does not come back into the queue: it is %s by now", r.Kernel, now.State)
		}
		return nil
	})
	if err != nil {
		return err
	}
	a.queueChanged(ctx, r.ID)
	return nil
}
