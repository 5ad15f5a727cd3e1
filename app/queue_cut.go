package app

import (
	"context"
	"fmt"
	"math"
	"time"

	"sandglass/app/runlog"
	"sandglass/planner"
	"sandglass/runnerpack"
)

// A run that waits may be allowed to start with a shorter cap than it was built
// for, so that hours that would expire are used. Its session's own deadline is in
// the script, so the script that goes out is another one: the very one that a build
// with that cap gives. What was authorised stays on the disk as it was, and the
// shorter one is made of it anew for each try.

// leastOf is the shortest cap that a push may get; 0 = its own only.
func leastOf(opt PushOptions) time.Duration {
	return time.Duration(opt.LeastHours * float64(time.Hour)).Round(time.Second)
}

// checkLeast refuses least hours that a folder cannot be given.
func (p *pushFolder) checkLeast(opt PushOptions) error {
	switch {
	case opt.LeastHours == 0:
		return nil
	case !(opt.LeastHours > 0 && opt.LeastHours <= planner.SessionLimit(p.pool).Hours()):
		return &CallError{Reason: fmt.Sprintf("%v is no number of hours that a session may have at least", opt.LeastHours), Action: "Give the hours that it needs to get somewhere, for example 2."}
	case !opt.QueueIfFull:
		return &CallError{Reason: "least hours are for a run that waits in the launch queue", Action: "Add --queue."}
	}
	if why := planner.LeastProblem(p.pool, p.limit, leastOf(opt), p.folder.Record != nil); why != "" {
		return &CallError{Reason: why}
	}
	if _, err := runnerpack.WithHours(p.folder.Source, scriptHours(leastOf(opt))); err != nil {
		return &CallError{Reason: fmt.Sprintf("its cap cannot be shortened: %v", err), Action: "Build it anew."}
	}
	return nil
}

// scriptHours is a cap as it stands in a script, in hours.
func scriptHours(limit time.Duration) float64 { return math.Round(limit.Hours()*1e4) / 1e4 }

// followUp says that a folder goes on with an earlier run.
func (p *pushFolder) followUp() bool {
	return p.folder.Record != nil && len(p.folder.Record.ResumeFrom) > 0
}

// wentOutCut says that a run is this folder's session under a shorter cap.
func (p *pushFolder) wentOutCut(r runlog.Run) bool {
	if p.folder.Record == nil || r.BuildID != p.folder.Record.BuildID || r.Cap <= 0 {
		return false
	}
	text, err := runnerpack.WithHours(p.folder.Source, scriptHours(r.Cap))
	return err == nil && textSHA256(text) == r.SourceSHA256
}

// cut makes the request of a try: what was authorised, or that with a shorter cap.
func (k *keptPush) cut(shorter time.Duration) error {
	if k.Cut = nil; shorter <= 0 {
		return nil
	}
	text, err := runnerpack.WithHours(k.Request.Text, scriptHours(shorter))
	if err != nil {
		return err
	}
	c := k.Request
	c.Text, c.SessionTimeoutSeconds = text, int(shorter.Seconds())
	k.Cut = &c
	return nil
}

// cutRun writes into a run that went out with a shorter cap what it is now. Its
// build stays the one of the folder, by whose notes a follow-up is made.
func (k keptPush) cutRun(r *runlog.Run) {
	if k.Cut == nil {
		return
	}
	was := r.Cap
	r.Cap = time.Duration(k.Cut.SessionTimeoutSeconds) * time.Second
	r.SourceSHA256, r.ScriptBytes = textSHA256(k.Cut.Text), len(k.Cut.Text)
	if r.Note == "" {
		r.Note = fmt.Sprintf("started with a cap of %s instead of %s, to use what was left of the week; what it does not finish can be resumed", planner.Hours(r.Cap), planner.Hours(was))
	}
}

// mayBeShorter adds what decides about a shorter cap to the facts about a run that
// is allowed one.
func (l *launcher) mayBeShorter(ctx context.Context, f *planner.QueueFacts, q runlog.QueuedRun, behind []runlog.QueuedRun) error {
	if f.Least = q.Entry.Least; f.Least <= 0 || f.Balance == nil {
		return nil
	}
	if speedOf(l.acc) == 1 { // another clock's reset is not on ours
		f.ResetIn = max(f.RefreshAt.Sub(l.a.now()), 0)
	}
	f.Next = l.next(q, behind)
	waits, err := l.a.queueWaits(ctx, l.acc, f.Pool)
	if err != nil {
		return err
	}
	if e := planner.EstimateQueue(f.Pool, waits); f.Pool == planner.TPU {
		f.QueueMedianH, f.QueueP90H = e.Median, e.High
	}
	return nil
}

// next is the run behind one that may be shortened that goes first when not both
// fit: the first one that may not be shortened, when it waits for nothing of its
// own. A follow-up makes way for follow-ups only.
func (l *launcher) next(q runlog.QueuedRun, behind []runlog.QueuedRun) *planner.QueueNext {
	for _, x := range behind {
		e := x.Entry
		switch {
		case e.Least > 0 && e.Code != planner.WaitQuota || e.Code == planner.WaitInputs || e.Code == planner.WaitMissing:
			continue // it lets others pass
		case e.Least > 0 || q.Entry.FollowUp && !e.FollowUp || l.a.now().Before(e.NotBefore):
			return nil
		}
		switch e.Code {
		case "", "due", planner.WaitSlots, planner.WaitQuota, planner.WaitBehind:
			return &planner.QueueNext{Name: x.Run.Name, Cap: x.Run.Cap}
		}
		return nil
	}
	return nil
}
