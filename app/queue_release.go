package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sandglass/app/runlog"
	"sandglass/kaggle"
)

// StandsError is a run that is not stopped, or whose hours are not given back, because of how it stands. Nothing was changed. Exit
// status 3.
type StandsError struct {
	Kernel string
	Reason string
	Action string // what to do instead
}

func (e *StandsError) Error() string { return e.Kernel + ": " + e.Reason }

// explainStands gives a StandsError its words.
func explainStands(err error) (Explained, bool) {
	var s *StandsError
	if !errors.As(err, &s) {
		return Explained{}, false
	}
	return Explained{Title: "Nothing was changed", Sentence: s.Error(), Action: s.Action, Exit: ExitRefused}, true
}

// Cancelled is what a Cancel came to.
type Cancelled struct {
	Run RunRow
	Did string // CancelDropped or CancelAsked
}

// What Cancel did.
const (
	CancelDropped = "dropped" // it waited here and is out of the launch queue; nothing at Kaggle was touched
	CancelAsked   = "asked"   // Kaggle took the order to stop the session
)

// Cancel stops a run. One that waits in the launch queue is taken out of it. A session at Kaggle is stopped by session, Kaggle's own
// number of it, which no public answer tells and which is not checked against the kernel; without it (0) the answer is a *StandsError
// that says what a person can do, and nothing is changed. What a stopped session saved can be collected.
func (a *App) Cancel(ctx context.Context, kernel string, session int64) (Cancelled, error) {
	acc, r, err := a.standing(ctx, kernel)
	if err != nil {
		return Cancelled{}, err
	}
	stands := func(reason, action string) (Cancelled, error) {
		return Cancelled{Run: rowOf(r, a.now(), speedOf(acc))}, &StandsError{r.Kernel, reason, action}
	}
	did := CancelDropped
	switch {
	case r.State == StateWaiting:
		err = a.QueueRemove(ctx, r.ID)
	case r.State == StatePushing || r.State == StateUnclear:
		return stands("whether its push arrived is being looked up, about 2 minutes at most", "Try again then.")
	case !atKaggle(r.State):
		return stands("it does not run, it is "+r.State, "")
	case session > 0:
		did, err = CancelAsked, a.stopSession(ctx, r, session)
	case r.State == StateQueued:
		return stands("Kaggle cannot take a run out of its queue",
			"Deleting the kernel frees the slot. It removes the kernel with all its versions and their output and cannot be undone: sandglass delete "+r.Kernel)
	default:
		page := "On its page"
		if r.URL != "" {
			page += " (" + r.URL + ")"
		}
		return stands("Kaggle has no public way to stop a running session",
			page+" choose Stop session: what it saved by then is kept and can be collected and resumed. Deleting the kernel ends it too, with all its versions and their output: sandglass delete "+r.Kernel)
	}
	if err != nil {
		return Cancelled{}, err
	}
	if r, err = a.store.Run(ctx, r.ID); err != nil {
		return Cancelled{}, err
	}
	return Cancelled{Run: rowOf(r, a.now(), speedOf(acc)), Did: did}, nil
}

// standing finds a run and brings it up to date with what Kaggle says.
func (a *App) standing(ctx context.Context, kernel string) (Account, runlog.Run, error) {
	acc, err := a.Account(ctx)
	if err != nil {
		return acc, runlog.Run{}, err
	}
	r, err := a.findRun(ctx, acc, kernel)
	if err != nil {
		return acc, r, err
	}
	if err := a.refresh(ctx, acc, r); err != nil {
		return acc, r, err
	}
	r, err = a.store.Run(ctx, r.ID)
	return acc, r, err
}

// stopSession asks Kaggle to stop a session and marks its run.
func (a *App) stopSession(ctx context.Context, r runlog.Run, session int64) error {
	c, err := a.client(ctx)
	if err != nil {
		return err
	}
	if err := c.CancelSession(ctx, session); err != nil {
		return fmt.Errorf("stop %s: %w", r.Kernel, err)
	}
	_, err = a.change(ctx, r.ID, func(r *runlog.Run) error {
		if atKaggle(r.State) {
			r.State, r.Note = StateStopping, askedToStop
		}
		return nil
	})
	a.Nudge()
	return err
}

// Released is what a Release came to. Hours are of the run's pool.
type Released struct {
	Run   RunRow
	Held  float64  // what it held
	Left  *float64 // what is left of the week now; nil = not known, or a CPU run
	Freed bool     // its hold was dropped; false: it held nothing any more
}

// Release drops the hours that a run holds though it will not burn them: its kernel was deleted, it never started, or it is over and the
// last reading of the quota is older. What Kaggle still has, or may have, is a *StandsError; with force it is released all the same,
// and no longer watched here. Nothing at Kaggle is changed.
func (a *App) Release(ctx context.Context, kernel string, force bool) (Released, error) {
	acc, r, err := a.standing(ctx, kernel)
	if err != nil && (!force || r.ID == 0) {
		return Released{}, err
	}
	out := Released{}
	if out.Held, err = a.heldBy(ctx, acc, r); err != nil {
		return out, err
	}
	if err := a.readQuota(ctx, acc); err != nil { // without a new reading the last one stands
		a.log.Info("quota not read before a release", "run", r.ID, "err", err)
	}
	if inFlight(r.State) {
		if out.Held, err = a.heldBy(ctx, acc, r); err != nil {
			return out, err
		}
		if err := a.mayRelease(ctx, r); err != nil && !force {
			return out, err
		}
		if err := a.letGo(ctx, r); err != nil {
			return out, err
		}
		out.Freed = true
	}
	if r, err = a.store.Run(ctx, r.ID); err != nil {
		return out, err
	}
	out.Run = rowOf(r, a.now(), speedOf(acc))
	if b, err := a.poolBalance(ctx, acc, poolOf(r), 0); err == nil && b != nil {
		left := b.Left.Hours()
		out.Left = &left
	}
	a.kick()
	return out, nil
}

// heldBy is what a run holds of its pool, in hours.
func (a *App) heldBy(ctx context.Context, acc Account, r runlog.Run) (float64, error) {
	with, err := a.poolBalance(ctx, acc, poolOf(r), 0)
	if err != nil || with == nil {
		return 0, err
	}
	without, err := a.poolBalance(ctx, acc, poolOf(r), r.ID)
	if err != nil || without == nil {
		return 0, err
	}
	return max(with.Held-without.Held, 0).Hours(), nil
}

// showsWithin is how long after its push Kaggle may not show a kernel yet.
const showsWithin = 10 * time.Minute

// mayRelease says why a run in flight keeps its hours; nil when Kaggle does not have it.
func (a *App) mayRelease(ctx context.Context, r runlog.Run) error {
	stands := func(reason string) error {
		return &StandsError{r.Kernel, reason, "To release it all the same: --force. It is then no longer watched here."}
	}
	switch r.State {
	case StateWaiting:
		return nil // it never started, and does not any more
	case StatePushing, StateUnclear:
		return stands("whether its push arrived is being looked up, about 2 minutes at most; until then it may be about to run")
	}
	c, err := a.client(ctx)
	if err != nil {
		return err
	}
	_, err = c.Status(ctx, kaggleRef(r.Kernel), r.Version)
	switch gone := errors.Is(err, kaggle.ErrNotFound) || errors.Is(err, kaggle.ErrForbidden); {
	case gone && a.now().Sub(r.PushedAt) < showsWithin:
		return stands("it was pushed minutes ago, and Kaggle may not show it yet")
	case gone:
		return nil
	case err != nil:
		return err
	case r.State == StateQueued:
		return stands("it is in Kaggle's queue and will burn hours when it starts")
	}
	return stands("Kaggle says that it is " + r.State + ", and it burns hours until it ends")
}

// letGo ends a run in the log, and with it its hold and its authorisation.
func (a *App) letGo(ctx context.Context, r runlog.Run) error {
	if r.State == StateWaiting {
		return a.QueueRemove(ctx, r.ID)
	}
	unlock, err := a.lockPush(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	before := r
	_, err = a.changeQueued(ctx, r.ID, func(r *runlog.Run, _ *runlog.QueueEntry) bool {
		now := a.now()
		r.State, r.Note, r.EndedAt, r.SeenAt, r.EndedFrom, r.UnreachableSince = StateMissing, "its hours were released from here", now, now, endObserved, time.Time{}
		return false
	})
	if err == nil {
		a.dropPush(before)
	}
	return err
}
