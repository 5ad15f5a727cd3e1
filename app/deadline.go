package app

import (
	"context"
	"fmt"
	"strconv"
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

// ReadDeadline reads a deadline as a person writes it (ParseTime): a date alone is the end of that day in UTC. One that has passed,
// or is more than ten years away, is a *CallError.
func (a *App) ReadDeadline(text string) (time.Time, error) {
	t, err := ParseTime(text, true)
	if err != nil {
		return t, err
	}
	switch left := t.Sub(a.now()); {
	case left <= 0:
		return t, &CallError{Reason: fmt.Sprintf("%s has passed", stamp(t)), Action: "Give a deadline that is still to come."}
	case left > 10*366*24*time.Hour:
		return t, &CallError{Reason: fmt.Sprintf("%s is more than ten years away", stamp(t)), Action: "Check its year."}
	}
	return t, nil
}

// PlanView is everything the Plan page shows.
type PlanView struct {
	Now      time.Time
	Deadline time.Time // zero while the person has not said
	Passed   bool      // the deadline is over: there is nothing to plan
	Season   *SeasonView
	Quota    QuotaView
	Backlog  []BacklogItem // open, the oldest first
	Queue    QueueView
	Waits    QueueHistory // of the TPU
}

// Plan is everything the Plan page shows. It reads this computer only; the watcher keeps the quota fresh. Season is nil without a
// deadline that is still to come.
func (a *App) Plan(ctx context.Context) (PlanView, error) {
	acc, err := a.Account(ctx)
	if err != nil {
		return PlanView{}, err
	}
	v := PlanView{Now: a.now()}
	if v.Deadline, err = a.Deadline(ctx); err != nil {
		return v, err
	}
	v.Passed = !v.Deadline.IsZero() && !v.Deadline.After(v.Now)
	if v.Quota, err = a.cachedQuota(ctx, acc); err != nil {
		return v, err
	}
	a.markFresh(&v.Quota)
	if v.Backlog, err = a.Backlog(ctx, false); err != nil {
		return v, err
	}
	if v.Queue, err = a.LaunchQueue(ctx); err != nil {
		return v, err
	}
	if v.Waits, err = a.QueueHistory(ctx, PoolTPU); err != nil {
		return v, err
	}
	if v.Deadline.IsZero() || v.Passed {
		return v, nil
	}
	s, err := a.Season(ctx, SeasonAsk{Deadline: v.Deadline, Now: v.Now})
	if err != nil {
		return v, err
	}
	v.Season = &s
	return v, nil
}

// Ready says whether a suggestion needs nothing but consent: it is built, or its follow-up can be. A part of a built run is not
// ready, because the script would not know of the shorter cap.
func (v PlanView) Ready(s Suggestion) bool {
	switch {
	case s.Run != 0:
		return true
	case s.Partial:
		return false
	}
	for _, b := range v.Backlog {
		if b.ID == s.Backlog {
			return b.Dir != ""
		}
	}
	return false
}

// PlanSuggestion says what pushing a suggestion would do and cost, by way of the launch queue. The follow-up of a run is built for
// it first; nothing that spends is sent. progress may be nil.
func (a *App) PlanSuggestion(ctx context.Context, s Suggestion, progress func(Progress)) (PushPlan, error) {
	opt := PushOptions{QueueIfFull: true}
	if s.Run != 0 {
		ask := ResumeOptions{Progress: progress}
		if s.Partial && s.Hours != nil {
			ask.Hours = *s.Hours
		}
		b, err := a.Resume(ctx, s.Kernel, ask)
		if err != nil {
			return PushPlan{}, err
		}
		return a.PlanPush(ctx, b.Dir, opt)
	}
	it, err := a.openBacklog(ctx, s.Backlog)
	if err != nil {
		return PushPlan{}, err
	}
	if it.Dir == "" {
		return PushPlan{}, &CallError{Reason: it.Name + " is not built yet", Action: "Open it in New run."}
	}
	return a.PlanPush(ctx, it.Dir, opt)
}

// PushSuggestion pushes what PlanSuggestion planned, or puts it into the launch queue. Its item of the backlog is then done.
func (a *App) PushSuggestion(ctx context.Context, s Suggestion, plan PushPlan, consent Consent) (RunRow, error) {
	row, err := a.Push(ctx, plan, consent)
	if err != nil || s.Backlog == 0 {
		return row, err
	}
	if _, err := a.MarkBacklog(context.WithoutCancel(ctx), strconv.FormatInt(s.Backlog, 10), BacklogDone); err != nil {
		a.log.Warn("a pushed item stays open in the backlog", "item", s.Backlog, "err", err) // the push is what counts
	}
	return row, nil
}
