package app

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"sandglass/app/runlog"
	"sandglass/kaggle"
	"sandglass/planner"
)

// Reasons to wait that have nothing to do with slots, quota or inputs.
const (
	waitReach   = "offline" // Kaggle cannot be reached
	waitPace    = "pace"    // Kaggle asked for a pause
	waitSignIn  = "signin"  // Kaggle does not accept the sign-in
	waitUnclear = "unclear" // whether an earlier push of it arrived is being looked up
)

// quotaPause is how long the queue leaves a run alone after Kaggle itself said
// that the hours are used up.
const quotaPause = 30 * time.Minute

// notPushedYet are the words about a push that did not arrive and that nobody
// allowed to go out by itself.
const (
	notArrivedWords  = "not pushed: Kaggle has no such version; push again"
	notArrivedAdvice = "Nothing ran and nothing was burnt. Push it again; with --queue it may go out by itself."
)

// recordPush turns Kaggle's answer into the run's next state.
func (a *App) recordPush(ctx context.Context, acc Account, r runlog.Run, kept keptPush, v kaggle.PushVerdict, cause error, mode pushMode) (RunRow, error) {
	if v.State == kaggle.PushAccepted || v.State == kaggle.PushAcceptedWrong {
		r, err := a.accept(ctx, acc, r, kept, v)
		return rowOf(r, a.now(), speedOf(acc)), err
	}
	if v.State == kaggle.PushUnknown {
		return a.unclear(ctx, acc, r, v, cause, mode)
	}
	if wait, ok := a.waitsAfter(v, cause, mode); ok {
		return a.backToQueue(ctx, acc, r, wait)
	}
	err := a.refuse(ctx, acc, r, mode, messageOr(v.Message, cause), v.Advice, cause)
	switch {
	case notSent(cause): // said by the error's own words
	case v.State == kaggle.PushWaitingForSlot:
		return RunRow{}, &GuardError{Kernel: r.Kernel, Guards: []Guard{{Code: "slots", Reason: "Kaggle says that every session is taken: " + v.Message, Override: "--queue", Waits: true}}}
	case v.State == kaggle.PushQuotaExhausted:
		return RunRow{}, &GuardError{Kernel: r.Kernel, Guards: []Guard{{Code: "quota", Reason: "Kaggle says that the hours are used up: " + v.Message, Waits: true,
			Advice: "Wait for the weekly reset, or push with --queue: it then goes out after it."}}}
	}
	return RunRow{}, err
}

// waitsAfter says whether a run that did not go out waits in the queue, and for what.
func (a *App) waitsAfter(v kaggle.PushVerdict, cause error, mode pushMode) (runlog.QueueEntry, bool) {
	if !mode.mayWait {
		return runlog.QueueEntry{}, false
	}
	now := a.now()
	switch {
	case errors.Is(cause, kaggle.ErrRateLimited):
		return runlog.QueueEntry{Code: waitPace, Why: reachWords(cause), NotBefore: now.Add(pauseOf(cause))}, true
	case notSent(cause):
		return runlog.QueueEntry{Code: waitReach, Why: reachWords(cause)}, true
	case v.State == kaggle.PushWaitingForSlot:
		return runlog.QueueEntry{Code: planner.WaitSlots, Why: "a slot: Kaggle says that every one is taken (" + strings.TrimRight(v.Message, ".") + ")"}, true
	case v.State == kaggle.PushQuotaExhausted:
		return runlog.QueueEntry{Code: planner.WaitQuota, Why: "quota: Kaggle says that the hours are used up (" + strings.TrimRight(v.Message, ".") + ")", NotBefore: now.Add(quotaPause)}, true
	case mode.byItself && errors.Is(cause, kaggle.ErrUnauthorized):
		return runlog.QueueEntry{Code: waitSignIn, Why: "Kaggle does not accept the sign-in", Advice: "Sign in again; what was authorised stands.", NotBefore: now.Add(quotaPause)}, true
	}
	return runlog.QueueEntry{}, false
}

// backToQueue puts a run whose try did not go out back to where it waited.
func (a *App) backToQueue(ctx context.Context, acc Account, r runlog.Run, why runlog.QueueEntry) (RunRow, error) {
	r, err := a.changeQueued(ctx, r.ID, func(r *runlog.Run, e *runlog.QueueEntry) bool {
		r.State, r.PushedAt, r.Failure = StateWaiting, time.Time{}, ""
		a.waits(r, e, why)
		return true
	})
	if err == nil && why.Code == waitSignIn {
		a.tell(ctx, Notice{Key: fmt.Sprintf("queue-signin/%d", r.ID), Kind: "queue-stopped", Run: r.ID, Title: "The queue cannot push: " + r.Name,
			Body: "Kaggle does not accept the sign-in; sign in again and it goes on"})
	}
	return rowOf(r, a.now(), speedOf(acc)), err
}

// waits writes what a run of the queue waits for.
func (a *App) waits(r *runlog.Run, e *runlog.QueueEntry, why runlog.QueueEntry) {
	e.Code, e.Why, e.Advice, e.NotBefore, e.TriedAt = why.Code, why.Why, why.Advice, why.NotBefore, a.now()
	r.Note = why.Why
}

// changeQueued edits a run together with its place in the queue and tells
// everybody. When keep is false it leaves the queue. e is nil for a run that has
// no place there; keep then means nothing.
func (a *App) changeQueued(ctx context.Context, id int64, edit func(r *runlog.Run, e *runlog.QueueEntry) (keep bool)) (runlog.Run, error) {
	r, err := a.store.UpdateQueued(ctx, id, func(r *runlog.Run, e *runlog.QueueEntry) (bool, error) { return edit(r, e), nil })
	if errors.Is(err, runlog.ErrNotFound) {
		r, err = a.store.UpdateRun(ctx, id, func(r *runlog.Run) error { edit(r, nil); return nil })
	}
	if err == nil {
		a.noteChange(ctx, EventRun, id)
	}
	return r, err
}

// accept records a version Kaggle made of the push. Its ref is kept, not ours:
// the server may have chosen another slug from the title.
func (a *App) accept(ctx context.Context, acc Account, r runlog.Run, kept keptPush, v kaggle.PushVerdict) (runlog.Run, error) {
	now, before := a.now(), r
	note := ""
	if v.State == kaggle.PushAcceptedWrong {
		note = "Kaggle started the run without " + refusedText(v.Refused)
	}
	r, err := a.changeQueued(ctx, r.ID, func(r *runlog.Run, _ *runlog.QueueEntry) bool {
		r.Version, r.KernelID, r.URL, r.Note, r.Failure = v.Version, v.KernelID, pageOf(acc, v.URL), note, ""
		if v.Ref.Slug != "" {
			r.Kernel = v.Ref.String()
		}
		r.State, r.Status, r.QueuedAt = StateQueued, StateQueued, now
		if kept.NoRun {
			r.State, r.Status = StateNoRun, StateNoRun
		}
		kept.cutRun(r)
		return false
	})
	if err != nil {
		return r, fmt.Errorf("the push of %s arrived as version %d and could not be recorded (%w); it is found again at the next start", r.Kernel, v.Version, err)
	}
	if note != "" {
		f := runlog.Finding{Code: "inputs-dropped", Level: "bad", Text: note + ".", Detail: v.Message,
			Fix: "Stop this run on its page at Kaggle (it burns hours without its data), correct the inputs and push again. " + v.Advice}
		if err := a.store.SetFindings(ctx, r.ID, []runlog.Finding{f}); err != nil {
			a.log.Error("finding not stored", "run", r.ID, "err", err)
		}
		a.tell(ctx, Notice{Key: fmt.Sprintf("inputs-dropped/%d", r.ID), Kind: "failed", Title: r.Name + " runs without its inputs", Body: note + ": stop it or it burns hours for nothing", Run: r.ID})
	}
	a.dropPush(before)
	return r, nil
}

// pageOf is the address of a kernel's page: a sandbox has none, whatever its
// answer copies from Kaggle's.
func pageOf(acc Account, url string) string {
	if acc.Kind == kindSandbox {
		return ""
	}
	return url
}

func refusedText(refused []kaggle.RefusedInput) string {
	var s []string
	for _, r := range refused {
		s = append(s, fmt.Sprintf("%s %s", r.Kind, r.Ref))
	}
	return strings.Join(s, ", ")
}

// refuse records that nothing runs, and gives the error that says so. A run that
// the queue pushed by itself is told of: nobody was looking.
func (a *App) refuse(ctx context.Context, acc Account, r runlog.Run, mode pushMode, message, advice string, cause error) error {
	if mode.byItself {
		stored, err := a.stopQueued(ctx, r, planner.QueueVerdict{Code: "refused", Why: "Kaggle refused it: " + strings.TrimRight(message, "."), Advice: advice})
		if err != nil {
			a.log.Error("refusal not stored", "run", r.ID, "err", err)
			stored = r
		}
		return &PushError{Run: rowOf(stored, a.now(), speedOf(acc)), State: StateRefused, Message: message, Advice: advice, Err: cause}
	}
	perr := &PushError{State: StateRefused, Message: message, Advice: advice, Err: cause}
	if notSent(cause) {
		perr.Advice = reachAdvice(cause)
	}
	stored, err := a.changeQueued(ctx, r.ID, func(r *runlog.Run, _ *runlog.QueueEntry) bool {
		r.State, r.Failure, r.Note = StateRefused, message, perr.Advice
		if notSent(cause) {
			r.Failure = "nothing was sent: " + reachWords(cause)
		}
		return false
	})
	if err != nil {
		a.log.Error("refusal not stored", "run", r.ID, "err", err)
		stored = r
	}
	a.dropPush(r)
	perr.Run = rowOf(stored, a.now(), speedOf(acc))
	return perr
}

// stopQueued ends a run's authorisation, because what it was given for is no longer
// so, and tells the person once. Nothing was sent. A run that left the queue by
// itself meanwhile is left as it is.
func (a *App) stopQueued(ctx context.Context, r runlog.Run, v planner.QueueVerdict) (runlog.Run, error) {
	gone := errors.New("it is not in the queue any more")
	stored, err := a.store.UpdateQueued(ctx, r.ID, func(r *runlog.Run, e *runlog.QueueEntry) (bool, error) {
		if !e.StoppedAt.IsZero() || r.State != StateWaiting && r.State != StatePushing && r.State != StateUnclear {
			return true, gone
		}
		a.waits(r, e, runlog.QueueEntry{Code: v.Code, Why: v.Why, Advice: v.Advice})
		r.State, r.PushedAt, r.Failure, r.Note, e.StoppedAt = StateRefused, time.Time{}, "left the queue: "+v.Why, v.Advice, a.now()
		return true, nil
	})
	switch {
	case errors.Is(err, gone), errors.Is(err, runlog.ErrNotFound):
		return a.store.Run(ctx, r.ID)
	case err != nil:
		return stored, err
	}
	a.noteChange(ctx, EventRun, r.ID)
	a.dropPush(r)
	a.log.Info("queued run stopped", "run", r.ID, "kernel", r.Kernel, "code", v.Code, "why", v.Why)
	body := v.Why
	if v.Advice != "" {
		body += ". " + strings.TrimRight(v.Advice, ".")
	}
	a.tell(ctx, Notice{Key: fmt.Sprintf("queue-stopped/%d", r.ID), Kind: "queue-stopped", Run: r.ID, Title: "Left the queue: " + r.Name, Body: body})
	return stored, nil
}

// unclear records that nobody knows whether the push arrived, and looks once.
// Until it is known this kernel is not pushed again.
func (a *App) unclear(ctx context.Context, acc Account, r runlog.Run, v kaggle.PushVerdict, cause error, mode pushMode) (RunRow, error) {
	message := messageOr(v.Message, cause)
	r, err := a.changeQueued(ctx, r.ID, func(r *runlog.Run, e *runlog.QueueEntry) bool {
		r.State, r.Failure, r.Note = StateUnclear, "", unclearNote(mode.mayWait)
		if e != nil {
			e.TriedAt, e.Code, e.Why = a.now(), waitUnclear, "whether its push arrived is being looked up"
		}
		return true
	})
	if err != nil {
		return RunRow{}, err
	}
	if err := a.settle(ctx, acc, []runlog.Run{r}); err != nil {
		a.log.Info("outcome of the push not seen yet", "run", r.ID, "err", err)
	}
	if r, err = a.store.Run(ctx, r.ID); err != nil {
		return RunRow{}, err
	}
	row := rowOf(r, a.now(), speedOf(acc))
	if atKaggle(r.State) || r.State == StateNoRun {
		return row, nil
	}
	return row, &PushError{Run: row, State: StateUnclear, Message: message, Err: cause,
		Advice: "Do not push it again yet: " + unclearNote(mode.mayWait) + ". \"sandglass status " + r.Kernel + "\" looks at once."}
}

// unclearNote is what happens to a push whose outcome is not known.
func unclearNote(mayWait bool) string {
	if mayWait {
		return "it is looked up whether it arrived, about 2 minutes at most; if it did not, it waits in the queue and goes out once"
	}
	return "it is looked up whether it arrived, about 2 minutes at most; if it did not, nothing is sent by itself and you are told"
}

// notSent says that Kaggle could not be asked at all, so that nothing was sent: no
// connection, or a pause that Kaggle asked for.
func notSent(err error) bool {
	return errors.Is(err, kaggle.ErrOffline) || errors.Is(err, kaggle.ErrRateLimited)
}

// pauseOf is how long Kaggle asked to wait; a minute when it did not say.
func pauseOf(err error) time.Duration {
	var e *kaggle.Error
	if errors.As(err, &e) && e.RetryAfter > 0 {
		return e.RetryAfter
	}
	return time.Minute
}

// reachWords says why nothing was sent.
func reachWords(err error) string {
	if !errors.Is(err, kaggle.ErrRateLimited) {
		return "Kaggle could not be reached"
	}
	var e *kaggle.Error
	if errors.As(err, &e) && e.RetryAfter > 0 {
		return fmt.Sprintf("Kaggle is rate limiting: retry in %.0f s", math.Ceil(e.RetryAfter.Seconds()))
	}
	return "Kaggle is rate limiting: retry in about a minute"
}

// reachAdvice is what to do about it.
func reachAdvice(err error) string {
	if errors.Is(err, kaggle.ErrRateLimited) {
		return "Push again then; it has nothing to do with sessions or quota."
	}
	return "Check the network and push again. With --queue it goes out by itself when the connection is back."
}

func messageOf(err error) string { return messageOr("", err) }

// messageOr is Kaggle's own words, else the error's.
func messageOr(message string, err error) string {
	if message == "" && err != nil {
		return err.Error()
	}
	return message
}
