package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sandglass/app/runlog"
	"sandglass/planner"
	"sandglass/runnerpack"
)

// Pauses between two looks at the queue.
const (
	launchFirst = 30 * time.Second
	launchLast  = 5 * time.Minute
)

// launch pushes what may go out of the queue. Only the owner of the watch does,
// once what is at Kaggle is known, and under the push lock.
func (w *watcher) launch(ctx context.Context) {
	if !w.reconciled {
		return
	}
	waiting, sign, err := w.a.queueWaiting(ctx, w.acc)
	if err != nil {
		w.a.log.Error("queue not read", "err", err)
		return
	}
	now := w.a.now()
	if sign != w.queueSign { // another order, another run, a pause that ended
		w.queueSign, w.launchAt, w.launchWait = sign, time.Time{}, 0
	}
	if now.Before(w.launchAt) {
		return
	}
	if len(waiting) == 0 {
		w.launchWait, w.launchAt = 0, now.Add(launchLast)
		w.slotNotices(ctx, nil, nil)
		return
	}
	unlock, ok := w.a.tryLockPush()
	if !ok {
		return
	}
	defer unlock()
	l := launcher{a: w.a, acc: w.acc, busy: map[planner.Pool][]string{}, went: map[planner.Pool]bool{}}
	if err := l.round(ctx, waiting); err != nil {
		w.reached(err)
		w.a.log.Info("the queue was not looked through", "err", err)
	}
	w.slotNotices(ctx, l.went, waiting)
	if len(l.went) > 0 {
		w.launchWait = 0
	}
	w.launchWait = min(max(launchFirst, w.launchWait*2), launchLast)
	w.launchAt = w.a.now().Add(w.launchWait)
}

// queueWaiting is what waits in the account's queue, in order, none while it is
// paused; sign changes when the queue does.
func (a *App) queueWaiting(ctx context.Context, acc Account) (waiting []runlog.QueuedRun, sign string, err error) {
	paused, err := a.store.Get(ctx, queuePausedKey(acc))
	if err != nil {
		return nil, "", err
	}
	all, err := a.store.Queue(ctx, acc.ID)
	if err != nil {
		return nil, "", err
	}
	sign = paused
	for _, q := range all {
		if q.Run.State == StateWaiting && q.Entry.StoppedAt.IsZero() {
			waiting = append(waiting, q)
			sign += fmt.Sprintf(" %d", q.Run.ID)
		}
	}
	if paused == "on" {
		waiting = nil
	}
	return waiting, sign, nil
}

// launcher is one look through the queue. What it learns of a pool's sessions is
// kept for the rest of the look.
type launcher struct {
	a       *App
	acc     Account
	busy    map[planner.Pool][]string
	quotaAt time.Time
	went    map[planner.Pool]bool // something was pushed
}

// round looks at every pool by itself: a run never waits for one of another pool,
// and one that Kaggle cannot be asked about ends the look.
func (l *launcher) round(ctx context.Context, waiting []runlog.QueuedRun) error {
	for _, pool := range []planner.Pool{planner.GPU, planner.TPU, planner.CPU} {
		var ahead []waitingAhead
		mine := slices.DeleteFunc(slices.Clone(waiting), func(q runlog.QueuedRun) bool { return poolOf(q.Run) != pool })
		for i, q := range mine {
			if ctx.Err() != nil {
				return nil
			}
			wait, err := l.one(ctx, q, ahead, mine[i+1:])
			if err != nil {
				return err
			}
			if wait != "" {
				ahead = append(ahead, waitingAhead{QueueHead: planner.QueueHead{Code: wait, Cap: cmp.Or(q.Entry.Least, q.Run.Cap)}, name: q.Run.Name})
			}
		}
	}
	return nil
}

// waitingAhead is a run of the same pool that goes first.
type waitingAhead struct {
	planner.QueueHead
	name string
}

// one looks at one run: it is pushed, it stops, or it waits for the code given.
// ahead are the runs of its pool before it that wait, behind all those after it.
func (l *launcher) one(ctx context.Context, q runlog.QueuedRun, ahead []waitingAhead, behind []runlog.QueuedRun) (wait string, err error) {
	a, r := l.a, q.Run
	kept, v := a.stillAuthorised(q)
	if v.Stop {
		_, err := a.stopQueued(ctx, r, v)
		return "", err
	}
	if a.now().Before(q.Entry.NotBefore) {
		return q.Entry.Code, nil
	}
	for _, h := range ahead {
		// Only an order that may be passed at all is worth questions.
		switch h.Code {
		case planner.WaitInputs, planner.WaitMissing, planner.WaitQuota, planner.WaitFill:
		default:
			return planner.WaitBehind, a.noteWait(ctx, q, runlog.QueueEntry{Code: planner.WaitBehind, Why: "behind " + h.name})
		}
	}
	f, err := l.facts(ctx, q, kept, ahead, behind)
	if err != nil {
		return waitReach, errors.Join(err, a.noteWait(ctx, q, runlog.QueueEntry{Code: waitReach, Why: askWords(err)}))
	}
	v = planner.QueueVerdict{Go: true}
	if !kept.NoRun {
		v = planner.QueueCheck(f)
	}
	f.Cap = cmp.Or(v.Cap, f.Cap)
	for _, h := range ahead {
		if !planner.MayPass(h.QueueHead, f, a.now()) {
			return planner.WaitBehind, a.noteWait(ctx, q, runlog.QueueEntry{Code: planner.WaitBehind, Why: "behind " + h.name})
		}
	}
	switch {
	case v.Stop:
		_, err := a.stopQueued(ctx, r, v)
		return "", err
	case !v.Go:
		if v.Code == planner.WaitInputs || v.Code == planner.WaitMissing {
			v.Why += "; what is behind it may go first meanwhile"
		}
		return v.Code, a.noteWait(ctx, q, runlog.QueueEntry{Code: v.Code, Why: v.Why, Advice: v.Advice})
	}
	return l.push(ctx, r, v.Cap)
}

// push sends one run, with a shorter cap unless that is 0, and says what it waits
// for if it did not go out.
func (l *launcher) push(ctx context.Context, r runlog.Run, shorter time.Duration) (wait string, err error) {
	row, err := l.a.launchOne(ctx, l.acc, r, shorter)
	var refused *PushError
	switch {
	case err == nil && row.State == StateWaiting:
		e, err := l.a.store.Queued(ctx, r.ID)
		return e.Code, err
	case err == nil:
		l.went[poolOf(r)] = true
		l.busy[poolOf(r)] = append(l.busy[poolOf(r)], r.Name)
		return "", nil
	case errors.As(err, &refused) && refused.State == StateRefused:
		return "", nil // it left the queue, and the person was told
	case errors.As(err, &refused): // nobody knows whether it holds a slot: nothing follows before that is clear
		return waitUnclear, nil
	}
	return waitReach, err
}

// noteWait writes why a run waits, when that is something new.
func (a *App) noteWait(ctx context.Context, q runlog.QueuedRun, why runlog.QueueEntry) error {
	if q.Entry.Why == why.Why && q.Entry.Code == why.Code && !q.Entry.TriedAt.IsZero() && a.now().Sub(q.Entry.TriedAt) < launchLast {
		return nil
	}
	_, err := a.store.UpdateQueued(ctx, q.Run.ID, func(r *runlog.Run, e *runlog.QueueEntry) (bool, error) {
		if r.State == StateWaiting && e.StoppedAt.IsZero() {
			a.waits(r, e, why)
		}
		return true, nil
	})
	if errors.Is(err, runlog.ErrNotFound) {
		return nil // it was removed meanwhile
	}
	if err == nil && (q.Entry.Why != why.Why || q.Entry.Code != why.Code) {
		a.noteChange(ctx, EventRun, q.Run.ID)
	}
	return err
}

func askWords(err error) string {
	if isUnreachable(err) || notSent(err) {
		return "Kaggle cannot be reached; it is tried again when it can"
	}
	return "Kaggle could not be asked: " + strings.TrimRight(err.Error(), ".")
}

// lostRequest is said of a run whose request is no longer on this computer.
var lostRequest = planner.QueueVerdict{Stop: true, Code: "lost", Why: "the request that was authorised is no longer on this computer, or is not the one that was agreed to",
	Advice: "Push it again."}

// stillAuthorised compares what would be sent with what the person agreed to, and
// with the folder it came from. It asks nobody.
func (a *App) stillAuthorised(q runlog.QueuedRun) (keptPush, planner.QueueVerdict) {
	e := q.Entry
	kept, err := a.keptPush(q.Run)
	if err != nil || textSHA256(kept.Request.Text) != e.SourceSHA256 || e.Cap != q.Run.Cap || e.Accelerator != q.Run.Accelerator || e.SourceSHA256 != q.Run.SourceSHA256 ||
		!kept.NoRun && e.Cap > 0 && kept.Request.SessionTimeoutSeconds > 0 && kept.Request.SessionTimeoutSeconds != int(e.Cap.Seconds()) {
		return kept, lostRequest
	}
	if e.Least > 0 && (kept.Options == nil || leastOf(*kept.Options) != e.Least) {
		return kept, lostRequest
	}
	if e.Dir == "" || kept.Options == nil {
		return kept, planner.QueueVerdict{}
	}
	p, err := a.readPushFolder(context.Background(), Account{ID: q.Run.Account, Username: kaggleRef(q.Run.Kernel).Owner}, e.Dir, *kept.Options)
	if err != nil {
		return kept, planner.QueueVerdict{Stop: true, Code: "folder", Why: "its build folder " + e.Dir + " is gone or cannot be read any more",
			Advice: "Build it and push it again."}
	}
	if textSHA256(p.folder.Source) != e.SourceSHA256 || !sameRequest(saveRequest(p, *kept.Options), kept.Request) {
		return kept, planner.QueueVerdict{Stop: true, Code: "folder", Why: "its build folder " + e.Dir + " changed since it was authorised",
			Advice: "Push it again to send what is there now."}
	}
	return kept, planner.QueueVerdict{}
}

// sameRequest compares two requests as they would be sent.
func sameRequest(x, y any) bool {
	a, err1 := json.Marshal(x)
	b, err2 := json.Marshal(y)
	return err1 == nil && err2 == nil && string(a) == string(b)
}

// facts asks what the queue has to know of one run: sessions, quota and, when both
// allow, inputs.
func (l *launcher) facts(ctx context.Context, q runlog.QueuedRun, kept keptPush, ahead []waitingAhead, behind []runlog.QueuedRun) (planner.QueueFacts, error) {
	a, r := l.a, q.Run
	pool := poolOf(r)
	f := planner.QueueFacts{PushFacts: planner.PushFacts{Pool: pool, Shape: r.Accelerator, Cap: r.Cap}, Forced: kept.Forced,
		MissingBefore: q.Entry.Code == planner.WaitMissing, WaitedInputs: q.Entry.Code == planner.WaitInputs}
	if kept.NoRun {
		return f, nil
	}
	if _, known := l.busy[pool]; !known {
		busy, err := a.busySessions(ctx, l.acc, pool)
		if err != nil {
			return f, err
		}
		l.busy[pool] = append([]string{}, busy...)
	}
	f.BusyNames = l.busy[pool]
	f.BusySessions = len(f.BusyNames)
	free := f.BusySessions < planner.Slots(pool)
	if pool != planner.CPU {
		if err := l.freshQuota(ctx, free); err != nil {
			return f, err
		}
		b, err := a.queueBalance(ctx, l.acc, pool)
		if err != nil {
			return f, err
		}
		if f.Balance = b; b != nil {
			f.RefreshAt = b.RefreshAt
		}
		f.Passes = slices.ContainsFunc(ahead, func(h waitingAhead) bool { return h.Code == planner.WaitQuota })
		if err := l.mayBeShorter(ctx, &f, q, behind); err != nil {
			return f, err
		}
	}
	if v := planner.QueueCheck(f); !v.Go {
		return f, nil // it does not go now anyway: inputs cost questions
	}
	inputs := runnerpack.Metadata{ID: r.Kernel, KernelSources: kept.Request.KernelDataSources, DatasetSources: kept.Request.DatasetDataSources}
	if problems := a.inputFacts(ctx, &f.PushFacts, inputs); len(problems) > 0 && !kept.Forced {
		return f, errors.New(problems[0])
	}
	return f, nil
}

// freshQuota reads the quota for this look when the last reading is old, and in any
// case before something may be pushed.
func (l *launcher) freshQuota(ctx context.Context, free bool) error {
	if !l.quotaAt.IsZero() {
		return nil
	}
	last, err := l.a.store.LastQuota(ctx, l.acc.ID)
	if err == nil && !free && l.a.now().Sub(last.At) < quotaBusy {
		return nil
	}
	if err != nil && !errors.Is(err, runlog.ErrNotFound) {
		return err
	}
	if err := l.a.readQuota(ctx, l.acc); err != nil {
		return err
	}
	l.quotaAt = l.a.now()
	return nil
}

// queueBalance is a pool's balance without what waits in the queue: a run does not
// compete with those behind it.
func (a *App) queueBalance(ctx context.Context, acc Account, pool planner.Pool) (*planner.Balance, error) {
	reading, err := a.store.LastQuota(ctx, acc.ID)
	if errors.Is(err, runlog.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	holds, err := a.holds(ctx, acc, reading.At, 0)
	if err != nil {
		return nil, err
	}
	q, err := a.store.Queue(ctx, acc.ID)
	if err != nil {
		return nil, err
	}
	waiting := map[int64]bool{}
	for _, x := range q {
		waiting[x.Run.ID] = x.Run.State == StateWaiting
	}
	holds = slices.DeleteFunc(holds, func(h planner.Hold) bool { return waiting[h.Run] })
	from := reading.GPU
	if pool == planner.TPU {
		from = reading.TPU
	}
	return a.balance(acc, pool, reading, from, holds), nil
}

// launchOne pushes one waiting run, with a shorter cap than its own unless shorter
// is 0: request and version before it on the disk, then the intent, then the one
// request. The caller holds the push lock.
func (a *App) launchOne(ctx context.Context, acc Account, r runlog.Run, shorter time.Duration) (RunRow, error) {
	kept, err := a.keptPush(r)
	if err != nil {
		_, err := a.stopQueued(ctx, r, lostRequest)
		return RunRow{}, errors.Join(&PushError{State: StateRefused, Message: lostRequest.Why}, err)
	}
	now, err := a.versionBefore(ctx, r.Kernel)
	if err != nil {
		return RunRow{}, fmt.Errorf("the version at Kaggle could not be asked for: %w", err)
	}
	if kept.Base >= 0 && now > kept.Base { // it went out before and could not be seen: it may have appeared since
		if row, found, err := a.arrivedLate(ctx, acc, r); err != nil || found {
			return row, err
		}
	}
	kept.Base = now
	if err := kept.cut(shorter); err != nil {
		_, serr := a.stopQueued(ctx, r, planner.QueueVerdict{Code: "folder", Why: "its script cannot be given a shorter cap by this version of the program", Advice: "Build it and push it again."})
		return RunRow{}, errors.Join(&PushError{State: StateRefused, Message: err.Error(), Err: err}, serr)
	}
	a.at("launch: before the request is kept")
	if err := a.keepPush(r, kept); err != nil {
		return RunRow{}, err
	}
	a.at("launch: before the intent row")
	r, err = a.store.UpdateQueued(ctx, r.ID, func(r *runlog.Run, e *runlog.QueueEntry) (bool, error) {
		if r.State != StateWaiting || !e.StoppedAt.IsZero() {
			return true, fmt.Errorf("%s is %s by now and is not pushed", r.Kernel, r.State)
		}
		if shorter > 0 && (e.Least <= 0 || shorter < e.Least || shorter >= e.Cap) {
			return true, fmt.Errorf("a cap of %s was not agreed to for %s, which is not pushed", planner.Hours(shorter), r.Kernel)
		}
		r.State, r.PushedAt, r.Note, e.TriedAt = StatePushing, a.now(), "", a.now()
		return true, nil
	})
	if err != nil {
		return RunRow{}, err
	}
	a.noteChange(ctx, EventRun, r.ID)
	a.pushes.Add(1)
	return a.send(context.WithoutCancel(ctx), acc, r, kept, pushMode{mayWait: true, byItself: true})
}

// arrivedLate looks whether an earlier try of a waiting run has become a version
// after all, and attaches to it.
func (a *App) arrivedLate(ctx context.Context, acc Account, r runlog.Run) (RunRow, bool, error) {
	c, err := a.client(ctx)
	if err != nil {
		return RunRow{}, false, err
	}
	open := r
	open.State = StateUnclear
	s := settler{a: a, c: c, acc: acc, source: map[string]string{}}
	if err := s.gather(ctx, []runlog.Run{open}); err != nil {
		return RunRow{}, false, err
	}
	act, err := s.judge(ctx, open, planner.Action{Run: fmt.Sprint(r.ID), Kernel: r.Kernel, Do: planner.ActRequeue})
	if err != nil || act.Do != planner.ActAttach {
		return RunRow{}, false, err
	}
	if err := s.attach(ctx, r, act); err != nil {
		return RunRow{}, false, err
	}
	stored, err := a.store.Run(ctx, r.ID)
	return rowOf(stored, a.now(), speedOf(acc)), true, err
}
