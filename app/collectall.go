package app

import (
	"context"
	"errors"
	"fmt"
)

// CollectFinished fetches the files of every run that has ended and was not collected, oldest first, and returns how many it
// fetched. A run whose files cannot be had does not stop the others; the errors are joined.
func (a *App) CollectFinished(ctx context.Context) (int, error) {
	rows, err := a.Runs(ctx, RunFilter{NeedsYou: true})
	if err != nil {
		return 0, err
	}
	n := 0
	var failed []error
	for i := len(rows) - 1; i >= 0; i-- {
		r := rows[i]
		if !r.Ended || r.Collected || r.State == StateMissing || r.State == StateRefused || r.State == StateNoRun {
			continue
		}
		if _, err := a.Collect(ctx, fmt.Sprint(r.ID), CollectOptions{}, nil); err != nil {
			if ctx.Err() != nil {
				return n, err
			}
			failed = append(failed, fmt.Errorf("%s: %w", r.Name, err))
			continue
		}
		n++
	}
	return n, errors.Join(failed...)
}
