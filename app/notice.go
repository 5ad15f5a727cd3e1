package app

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"sandglass/app/runlog"
)

// holdNotices is how long after a wake-up notices are held back, so that several
// runs that ended meanwhile make one bubble.
const holdNotices = 45 * time.Second

// tell gives a notice to everybody, in every process, unless it was told before or
// the person silenced its kind.
func (a *App) tell(ctx context.Context, n Notice) {
	if a.fresh(ctx, n) {
		a.publish(ctx, n)
	}
}

// fresh says whether a notice is to be shown, and remembers it as told either way:
// what is silenced now does not come when it is silenced no more.
func (a *App) fresh(ctx context.Context, n Notice) bool {
	first, err := a.store.Once(ctx, "notice/"+n.Key)
	if err != nil {
		a.log.Warn("notice not told", "key", n.Key, "err", err)
	}
	return err == nil && first && a.tells(ctx, n.Kind)
}

// publish gives a notice to the listeners of this process and of the others.
func (a *App) publish(ctx context.Context, n Notice) {
	data, _ := json.Marshal(n) // strings and a number: cannot fail
	a.append(ctx, runlog.Event{Kind: string(EventNotice), Run: n.Run, Data: string(data)})
	a.show(n)
}

// show gives a notice to the listeners of this process, unless the window shows the
// thing itself.
func (a *App) show(n Notice) {
	if !a.sees(n) {
		a.hub.emit(Event{Kind: EventNotice, Run: n.Run, Notice: &n})
	}
}

// notice queues a notice for the end of the round.
func (w *watcher) notice(n Notice) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.pending) == 0 && !w.wokeAt.IsZero() && w.a.now().Sub(w.wokeAt) < holdNotices {
		w.heldUntil = w.wokeAt.Add(holdNotices)
	}
	w.pending = append(w.pending, n)
}

// flushNotices tells what is queued: one by one, or as one when several came at
// once. After a sleep it waits until nothing more is being collected.
func (w *watcher) flushNotices(all bool) {
	w.mu.Lock()
	now := w.a.now()
	held := now.Before(w.heldUntil) && len(w.collecting) > 0 && !all
	if held || len(w.pending) == 0 {
		w.mu.Unlock()
		return
	}
	pending := w.pending
	w.pending, w.heldUntil = nil, time.Time{}
	w.mu.Unlock()
	ctx := context.WithoutCancel(w.a.ctx)
	var fresh []Notice
	for _, n := range pending {
		if w.a.fresh(ctx, n) {
			fresh = append(fresh, n)
		}
	}
	if len(fresh) > 0 {
		w.a.publish(ctx, grouped(fresh))
	}
}

// grouped makes one notice of several. One alone stays as it is.
func grouped(ns []Notice) Notice {
	if len(ns) == 1 {
		return ns[0]
	}
	g := Notice{Key: "group", Kind: ns[0].Kind}
	var lines []string
	runs, expiring := true, true
	for _, n := range ns {
		if n.Kind == "failed" {
			g.Kind = "failed"
		}
		runs, expiring = runs && n.Run != 0, expiring && n.Kind == "expiring"
		g.Key += "+" + n.Key
		lines = append(lines, n.Title)
	}
	g.Body = strings.Join(lines, "\n")
	switch {
	case expiring:
		g.Title = "Hours are about to expire"
	case runs:
		g.Title = fmt.Sprintf("%d runs changed", len(ns))
	default:
		g.Title = fmt.Sprintf("%d things happened", len(ns))
	}
	return g
}

// startNotice says that a queued TPU run runs.
func startNotice(r runlog.Run) Notice {
	n := Notice{Key: fmt.Sprintf("tpu-started/%d", r.ID), Kind: "tpu-started", Title: "TPU run started: " + r.Name, Run: r.ID}
	var parts []string
	if from := queuedFrom(r); !from.IsZero() && r.StartedAt.After(from) {
		parts = append(parts, "waited "+spanText(r.StartedAt.Sub(from)))
	}
	if r.Cap > 0 && !r.StartedAt.IsZero() {
		parts = append(parts, "ends by "+Local(r.StartedAt.Add(r.Cap)).Format("15:04"))
	}
	n.Body = strings.Join(parts, ", ")
	return n
}

// taskError is the first failed task's own words, "" when no task failed. They say more than the session's exit code does.
func taskError(tasks []runlog.Task) string {
	for _, t := range tasks {
		if t.Error == "" {
			continue
		}
		lines := strings.Split(strings.TrimSpace(t.Error), "\n")
		last := lines[len(lines)-1]
		if t.Fold != nil {
			return fmt.Sprintf("fold %d: %s", *t.Fold, last)
		}
		return t.Job + ": " + last
	}
	return ""
}

// endNotice says how a run ended.
func endNotice(r runlog.Run, tasks []runlog.Task) Notice {
	n := Notice{Key: fmt.Sprintf("ended/%d", r.ID), Kind: "failed", Run: r.ID}
	why := failureOf(r)
	switch {
	case r.State == StateMissing:
		n.Title = "Gone from Kaggle: " + r.Name
	case r.Outcome == OutcomeKilled || r.State == StateCancel && capHit(r):
		n.Title = "Stopped by its cap: " + r.Name
		why = fmt.Sprintf("ran %s of %s; what it saved can be collected and resumed", spanText(r.EndedAt.Sub(r.StartedAt)), spanText(r.Cap))
	case r.State == StateCancel:
		n.Title = "Stopped: " + r.Name
	case r.State == StateError || r.Outcome == OutcomeFailed:
		n.Title = "Failed: " + r.Name
		if told := taskError(tasks); told != "" {
			why = told
		}
		if why == "" {
			why = "Kaggle gave no reason; the log says more"
		}
	default:
		n.Kind, n.Title, why = "finished", "Finished: "+r.Name, endBody(r)
	}
	n.Body = why
	return n
}

// endNotice reads the run's tasks, whose errors are the better words; without them the run's own failure stands.
func (w *watcher) endNotice(ctx context.Context, r runlog.Run) Notice {
	tasks, err := w.a.store.Tasks(ctx, r.ID)
	if err != nil {
		w.a.log.Warn("the tasks of an ended run could not be read", "run", r.ID, "err", err)
	}
	return endNotice(r, tasks)
}

// endBody is what a finished run came to.
func endBody(r runlog.Run) string {
	var parts []string
	if r.Score != nil {
		s := fmt.Sprintf("%s %.4f", metricName(r.Metric), *r.Score)
		if r.BaselineScore != nil {
			s += fmt.Sprintf(" against %.4f of %s", *r.BaselineScore, r.BaselineName)
		}
		parts = append(parts, s)
	}
	if r.Burned > 0 && poolOf(r) != PoolCPU {
		parts = append(parts, fmt.Sprintf("%.1f %s-hours", r.Burned.Hours(), poolOf(r).PoolName()))
	}
	if r.Outcome == OutcomePartial {
		parts = append(parts, "not every job is complete")
	}
	if r.CollectedAt.IsZero() {
		parts = append(parts, "its files are not here yet")
	}
	return strings.Join(parts, ", ")
}

func metricName(m string) string {
	if m == "" {
		return "score"
	}
	return m
}

// capHit says whether a run lasted as long as its cap allowed.
func capHit(r runlog.Run) bool {
	return r.Cap > 0 && !r.StartedAt.IsZero() && r.EndedAt.Sub(r.StartedAt) >= r.Cap*97/100
}

// nearCap warns once when a run comes near its cap: a tenth of it, ten minutes at most.
func (w *watcher) nearCap(_ context.Context, r runlog.Run) {
	if r.State != StateRunning || r.Cap <= 0 || r.StartedAt.IsZero() {
		return
	}
	left := r.StartedAt.Add(r.Cap).Sub(w.a.now())
	if left <= 0 || left > min(10*time.Minute, r.Cap/10) || r.Cap < 10*time.Minute {
		return
	}
	w.notice(Notice{Key: fmt.Sprintf("near-cap/%d", r.ID), Kind: "near-cap", Title: "Near its cap: " + r.Name,
		Body: "stopped in " + spanText(left) + "; what it saves by then is kept", Run: r.ID})
}

// queuedFrom is since when a run waited at Kaggle.
func queuedFrom(r runlog.Run) time.Time {
	if !r.QueuedAt.IsZero() {
		return r.QueuedAt
	}
	return r.PushedAt
}

// spanText is a duration in words: "11 h 20 min", "4 min", "25 s".
func spanText(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}
