package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"sandglass/app/runlog"
	"sandglass/kaggle"
	"sandglass/planner"
)

// pushLimit is how long one push may take before its outcome is called unknown.
const pushLimit = 3 * time.Minute

// cutFor is how long a push believes its plan that Kaggle cannot be reached.
const cutFor = 10 * time.Second

// keptPush is what is kept on disk from before a push is sent until its outcome
// is known: the very request, so that a push that did not arrive, or that waits
// for a slot, goes out later as it was authorised, whatever happened to the folder.
type keptPush struct {
	Request kaggle.SaveKernelRequest `json:"request"`
	Base    int                      `json:"base"` // version Kaggle had before the last try; -1 = not known, or not tried yet
	Forced  bool                     `json:"forced"`
	NoRun   bool                     `json:"no_run"`
	Options *PushOptions             `json:"options,omitempty"` // with which the folder gave this request; nil = not kept
	// Cut is what the last try sent in place of Request, which stays what was authorised: the same with a shorter cap; nil = Request.
	Cut *kaggle.SaveKernelRequest `json:"cut,omitempty"`
}

// sent is the very request of the last try.
func (k keptPush) sent() kaggle.SaveKernelRequest {
	if k.Cut != nil {
		return *k.Cut
	}
	return k.Request
}

// Push sends a planned push. It is refused without consent and when something
// speaks against it that plan.Options does not override (*GuardError: nothing was
// sent). What Kaggle refuses, and what it left unclear, is a *PushError; the run
// is in the run log either way. A cancelled ctx no longer stops a request that is
// out: its outcome is recorded.
func (a *App) Push(ctx context.Context, plan PushPlan, consent Consent) (RunRow, error) {
	if consent.By == "" {
		return RunRow{}, errors.New("a push spends quota and needs a person's consent; nothing was sent")
	}
	acc, err := a.Account(ctx)
	if err != nil {
		return RunRow{}, err
	}
	unlock, err := a.lockPush(ctx)
	if err != nil {
		return RunRow{}, err
	}
	defer unlock()
	p, err := a.readPushFolder(ctx, acc, plan.Dir, plan.Options)
	if err != nil {
		return RunRow{}, err
	}
	if plan.source != "" && plan.source != textSHA256(p.folder.Source) {
		return RunRow{}, fmt.Errorf("the folder %s changed since the push was planned; nothing was sent, look at the new plan first", plan.Dir)
	}
	if err := p.checkLeast(plan.Options); err != nil {
		return RunRow{}, err
	}
	guards, err := a.guardsNow(ctx, acc, p, plan)
	if err != nil {
		return RunRow{}, err
	}
	block, wait := standing(guards, plan.Options)
	if len(block) > 0 {
		return RunRow{}, &GuardError{Kernel: plan.Kernel, Guards: block}
	}
	if wait == nil && plan.Options.QueueIfFull {
		if wait, err = a.behind(ctx, acc, p); err != nil {
			return RunRow{}, err
		}
	}
	if plan.cut != nil && a.now().Sub(plan.at) < cutFor && wait == nil {
		if !plan.Options.QueueIfFull {
			return RunRow{}, a.notReached(acc, p, consent, plan.cut)
		}
		wait = &waitFor{Code: waitReach, Why: reachWords(plan.cut)}
	}
	return a.pushNow(context.WithoutCancel(ctx), acc, p, plan.Options, consent, wait)
}

// notReached is the error of a push that there was nobody to send to. Nothing of
// it is in the log.
func (a *App) notReached(acc Account, p *pushFolder, consent Consent, err error) error {
	return &PushError{Run: rowOf(a.newRun(acc, p, consent), a.now(), speedOf(acc)), State: StateRefused, Message: messageOf(err), Advice: reachAdvice(err), Err: err}
}

// Codes of the guards that come from our own run log. They are asked again under
// the push lock, where nothing can change any more.
const (
	guardUnclear = "unclear" // an earlier push has no known outcome
	guardWaiting = "waiting" // the kernel is in the launch queue
	guardTwice   = "twice"   // it was pushed while this push was being prepared
	guardRunning = "running" // the same source of the same kernel is in flight
)

// guardsNow is the plan's guards brought up to date under the push lock: what
// another push of ours did since, and a plan that was left lying is made again.
func (a *App) guardsNow(ctx context.Context, acc Account, p *pushFolder, plan PushPlan) ([]Guard, error) {
	guards := plan.Guards
	if a.now().Sub(plan.at) > time.Minute || a.pushes.Load() != plan.pushes {
		fresh, err := a.planOf(ctx, acc, p, plan.Options)
		if err != nil {
			return nil, err
		}
		guards = fresh.Guards
	}
	own, _, err := a.ownGuards(ctx, acc, p, plan.Options, plan.last)
	if err != nil {
		return nil, err
	}
	for _, g := range guards {
		switch g.Code {
		case guardUnclear, guardWaiting, guardTwice, guardRunning:
		default:
			own = append(own, g)
		}
	}
	return own, nil
}

// ownGuards is what the run log has against a push of this kernel, and the newest
// run of it. seen is the newest run that was known when the push was planned: a
// later one is another push, of this process or of another, that came first.
// seen < 0 means that nothing was planned yet.
func (a *App) ownGuards(ctx context.Context, acc Account, p *pushFolder, opt PushOptions, seen int64) (guards []Guard, newest int64, err error) {
	runs, err := a.store.Runs(ctx, runlog.Filter{Account: acc.ID, Kernel: strings.ToLower(p.meta.ID)})
	if err != nil {
		return nil, 0, err
	}
	source := textSHA256(p.folder.Source)
	for _, r := range runs {
		newest = max(newest, r.ID)
		switch {
		case r.State == StatePushing || r.State == StateUnclear:
			guards = append(guards, Guard{Code: guardUnclear, Reason: "an earlier push of " + r.Kernel + " has no known outcome yet; it is looked up first, so that nothing runs twice",
				Advice: "Wait about 2 minutes and push again: by then it is known whether the earlier one arrived. \"sandglass status " + r.Kernel + "\" looks at once."})
		case r.State == StateWaiting:
			guards = append(guards, Guard{Code: guardWaiting, Reason: fmt.Sprintf("%s is waiting here in the launch queue already", r.Kernel),
				Advice: fmt.Sprintf("Drop that one first (sandglass queue remove %d), or build this one under another name.", r.ID)})
		case seen >= 0 && r.ID > seen && r.State != StateRefused:
			guards = append(guards, Guard{Code: guardTwice, Reason: fmt.Sprintf("%s was pushed from here a moment ago, while this push was being prepared; it is version %d", r.Kernel, r.Version),
				Advice: "Look at it first (sandglass status " + r.Kernel + "). To have one more version of it, push again."})
		case !opt.NoRun && atKaggle(r.State) && (r.SourceSHA256 == source || p.wentOutCut(r)):
			guards = append(guards, Guard{Code: guardRunning, Reason: fmt.Sprintf("version %d of %s has the very same source and is %s; a second one would not replace it, both would run and burn", r.Version, r.Kernel, r.State),
				Override: "--force"})
		}
	}
	return guards, newest, nil
}

// waitFor is what a run that goes into the launch queue waits for at first.
type waitFor struct{ Code, Why string }

// standing splits what speaks against a push into what stops it and what it waits
// for in the launch queue; wait nil means that it goes out now.
func standing(guards []Guard, opt PushOptions) (block []Guard, wait *waitFor) {
	for _, g := range guards {
		switch {
		case g.Override != "" && opt.Force && !(g.Code == "slots" && opt.QueueIfFull):
		case g.Waits && opt.QueueIfFull:
			if wait == nil {
				wait = &waitFor{Code: g.Code, Why: g.Reason}
			}
		default:
			block = append(block, g)
		}
	}
	return block, wait
}

// behind says which run of the queue goes before a push that was authorised for
// it, nil when none does.
func (a *App) behind(ctx context.Context, acc Account, p *pushFolder) (*waitFor, error) {
	q, err := a.store.Queue(ctx, acc.ID)
	if err != nil {
		return nil, err
	}
	for _, x := range q {
		if x.Run.State == StateWaiting && poolOf(x.Run) == p.pool && (x.Entry.FollowUp || !p.followUp()) {
			return &waitFor{Code: planner.WaitBehind, Why: "behind " + x.Run.Name}, nil
		}
	}
	return nil, nil
}

// pushNow keeps the request, writes the intent, sends, writes the outcome. With
// wait the run goes into the launch queue instead.
func (a *App) pushNow(ctx context.Context, acc Account, p *pushFolder, opt PushOptions, consent Consent, wait *waitFor) (RunRow, error) {
	r := a.newRun(acc, p, consent)
	kept := keptPush{Request: saveRequest(p, opt), Base: -1, Forced: opt.Force, NoRun: opt.NoRun, Options: &opt}
	if opt.NoRun {
		r.Cap = 0 // nothing runs, so nothing is held
	}
	if wait == nil {
		base, err := a.versionBefore(ctx, r.Kernel)
		switch {
		case !notSent(err):
			kept.Base = base
		case opt.QueueIfFull:
			wait = &waitFor{Code: waitReach, Why: reachWords(err)}
		default: // nothing of it is in the log: there was nothing to send
			return RunRow{}, a.notReached(acc, p, consent, err)
		}
	}
	r.State, r.PushedAt = StatePushing, r.CreatedAt
	if wait != nil {
		r.State, r.PushedAt, r.Note = StateWaiting, time.Time{}, wait.Why
	}
	a.at("push: before the request is kept")
	if err := a.keepPush(r, kept); err != nil {
		return RunRow{}, fmt.Errorf("push %s: the request could not be kept (%w); nothing was sent", r.Kernel, err)
	}
	a.at("push: before the intent row")
	stored, err := a.writeIntent(ctx, r, p, opt, wait)
	if err != nil {
		a.dropPush(r)
		return RunRow{}, fmt.Errorf("push %s: the intent could not be written (%w); nothing was sent", r.Kernel, err)
	}
	r = stored
	a.pushes.Add(1)
	a.noteChange(ctx, EventRun, r.ID)
	a.at("push: before the baseline")
	a.attachBaseline(ctx, r, p.notes.Baseline)
	a.forgetStopped(ctx, acc, r)
	if wait != nil {
		a.Nudge()
		return rowOf(r, a.now(), speedOf(acc)), nil
	}
	return a.send(ctx, acc, r, kept, pushMode{mayWait: opt.QueueIfFull})
}

// writeIntent writes the run, and with it its place in the queue when the person
// said that it may wait: a crash cannot leave one without the other.
func (a *App) writeIntent(ctx context.Context, r runlog.Run, p *pushFolder, opt PushOptions, wait *waitFor) (runlog.Run, error) {
	if !opt.QueueIfFull {
		return a.store.CreateRun(ctx, r)
	}
	e := runlog.QueueEntry{Since: r.CreatedAt, Consent: r.Consent, Dir: p.folder.Dir, Cap: r.Cap, Accelerator: r.Accelerator, SourceSHA256: r.SourceSHA256,
		Least: leastOf(opt), FollowUp: p.followUp()}
	if wait != nil {
		e.Code, e.Why = wait.Code, wait.Why
	}
	return a.store.CreateQueued(ctx, r, e)
}

// forgetStopped takes entries of the same kernel that were stopped off the queue:
// the person pushed it again.
func (a *App) forgetStopped(ctx context.Context, acc Account, r runlog.Run) {
	q, err := a.store.Queue(ctx, acc.ID)
	if err != nil {
		a.log.Warn("queue not read", "err", err)
		return
	}
	for _, x := range q {
		if x.Run.Kernel != r.Kernel || x.Entry.StoppedAt.IsZero() {
			continue
		}
		if err := a.store.Dequeue(ctx, x.Run.ID); err != nil {
			a.log.Warn("stopped entry not removed", "run", x.Run.ID, "err", err)
		}
	}
}

// pushMode says what may become of one try to push.
type pushMode struct {
	mayWait  bool // authorised for the launch queue: what did not go out waits there
	byItself bool // the queue pushes it, nobody is looking
}

// send makes the one request of a run in state pushing and records its outcome.
func (a *App) send(ctx context.Context, acc Account, r runlog.Run, kept keptPush, mode pushMode) (RunRow, error) {
	c, err := a.client(ctx)
	if err != nil {
		return RunRow{}, a.refuse(ctx, acc, r, mode, messageOf(err), "nothing was sent", err)
	}
	a.at("push: before the request")
	sctx, cancel := context.WithTimeout(ctx, pushLimit)
	resp, err := c.SaveKernel(sctx, kept.sent())
	cancel()
	a.at("push: before the outcome row")
	v := kaggle.ClassifyPush(resp, err)
	a.log.Info("push answered", "op", "push", "run", r.ID, "kernel", r.Kernel, "state", v.State, "version", v.Version)
	row, err := a.recordPush(ctx, acc, r, kept, v, err, mode)
	a.at("push: done")
	a.Nudge()
	return row, err
}

// versionBefore is the version Kaggle has of a kernel before a push: 0 when it
// has none, -1 and the reason when that could not be asked.
func (a *App) versionBefore(ctx context.Context, kernel string) (int, error) {
	c, err := a.client(ctx)
	if err != nil {
		return -1, err
	}
	ref, err := kaggle.ParseRef(kernel)
	if err != nil {
		return -1, err
	}
	k, err := c.GetKernel(ctx, ref, 0)
	switch {
	case err == nil:
		return k.Meta.CurrentVersion, nil
	case errors.Is(err, kaggle.ErrNotFound), errors.Is(err, kaggle.ErrForbidden):
		return 0, nil
	}
	return -1, err
}

// newRun is the intent of a push.
func (a *App) newRun(acc Account, p *pushFolder, consent Consent) runlog.Run {
	f, m := p.folder, p.meta
	r := runlog.Run{
		Account: acc.ID, Kernel: strings.ToLower(m.ID), Name: p.name, Project: f.Dir, BuildDir: f.Dir, Accelerator: p.shape,
		SourceSHA256: textSHA256(f.Source), Cap: p.limit, Consent: consent.By, Origin: originFolder,
		Internet: m.EnableInternet, ScriptBytes: len(f.Source), CreatedAt: a.now().UTC().Truncate(time.Millisecond),
	}
	for _, in := range []struct {
		kind string
		refs []string
	}{{"competition", m.CompetitionSources}, {"dataset", m.DatasetSources}, {"kernel", m.KernelSources}, {"model", m.ModelSources}} {
		for _, ref := range in.refs {
			r.Inputs = append(r.Inputs, in.kind+" "+ref)
		}
	}
	if b := f.Record; b != nil {
		r.Origin, r.Project, r.Command, r.BuildID, r.Folds = originPush, b.Project, b.Command, b.BuildID, b.Folds
		for _, j := range b.Jobs {
			r.Jobs = append(r.Jobs, j.Name)
		}
		if b.Prune != nil {
			r.PruneMargin, r.PruneMinFrac = b.Prune.Margin, b.Prune.MinFrac
		}
		if p.notes.BuildID == b.BuildID {
			for _, part := range p.notes.Parts {
				r.Parts = append(r.Parts, runlog.Part(part))
			}
			if p.notes.Baseline != "" {
				r.BaselineName = filepath.Base(p.notes.Baseline)
			}
		}
	}
	return r
}

// keepPath is where a run's request is kept. It follows from what the row is
// made with, so that the request can be on disk before the row is.
func (a *App) keepPath(r runlog.Run) string {
	return filepath.Join(a.home, "pushes", fmt.Sprintf("%.16s-%d.json", r.SourceSHA256, r.CreatedAt.UnixMilli()))
}

func (a *App) keepPush(r runlog.Run, k keptPush) error { return writeJSON(a.keepPath(r), k) }

func (a *App) keptPush(r runlog.Run) (keptPush, error) {
	var k keptPush
	raw, err := os.ReadFile(a.keepPath(r))
	if err != nil {
		return k, err
	}
	return k, json.Unmarshal(raw, &k)
}

func (a *App) dropPush(r runlog.Run) {
	if err := os.Remove(a.keepPath(r)); err != nil && !errors.Is(err, os.ErrNotExist) {
		a.log.Warn("kept request not removed", "run", r.ID, "err", err)
	}
}

// sweepPushes removes kept requests that no run needs: a crash between keeping
// one and writing its row leaves it behind. Young ones may belong to a push that
// is going on.
func (a *App) sweepPushes(ctx context.Context) {
	runs, err := a.store.Runs(ctx, runlog.Filter{States: []string{StatePushing, StateUnclear, StateWaiting}})
	if err != nil {
		return
	}
	needed := map[string]bool{}
	for _, r := range runs {
		needed[a.keepPath(r)] = true
	}
	files, _ := filepath.Glob(filepath.Join(a.home, "pushes", "*.json")) // the pattern is good
	for _, f := range files {
		if st, err := os.Stat(f); err == nil && !needed[f] && a.now().Sub(st.ModTime()) > 24*time.Hour {
			os.Remove(f)
		}
	}
}

// lockPush makes this the only push of all processes on this home.
func (a *App) lockPush(ctx context.Context) (unlock func(), err error) {
	l := flock.New(filepath.Join(a.home, "push.lock"))
	ok, err := l.TryLockContext(ctx, 50*time.Millisecond)
	if err != nil || !ok {
		return nil, fmt.Errorf("another push is going on and did not end (%w); nothing was sent", err)
	}
	return func() { l.Unlock() }, nil
}

// tryLockPush is lockPush for who can come back later.
func (a *App) tryLockPush() (unlock func(), ok bool) {
	l := flock.New(filepath.Join(a.home, "push.lock"))
	if ok, err := l.TryLock(); err != nil || !ok {
		return nil, false
	}
	return func() { l.Unlock() }, true
}

// change edits a run in one transaction and tells everybody.
func (a *App) change(ctx context.Context, id int64, edit func(*runlog.Run) error) (runlog.Run, error) {
	r, err := a.store.UpdateRun(ctx, id, edit)
	if err == nil {
		a.noteChange(ctx, EventRun, id)
	}
	return r, err
}

// poolOf is a run's pool.
func poolOf(r runlog.Run) planner.Pool { return planner.PoolOf(r.Accelerator) }
