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

// keptPush is what is kept on disk from before a push is sent until its outcome
// is known: the very request, so that a push that did not arrive, or that waits
// for a slot, goes out later as it was authorised, whatever happened to the folder.
type keptPush struct {
	Request kaggle.SaveKernelRequest `json:"request"`
	Base    int                      `json:"base"` // version Kaggle had before; -1 = not known
	Forced  bool                     `json:"forced"`
	NoRun   bool                     `json:"no_run"`
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
	guards, err := a.guardsNow(ctx, acc, p, plan)
	if err != nil {
		return RunRow{}, err
	}
	block, queue := standing(guards, plan.Options)
	if len(block) > 0 {
		return RunRow{}, &GuardError{Kernel: plan.Kernel, Guards: block}
	}
	return a.pushNow(context.WithoutCancel(ctx), acc, p, plan.Options, consent, queue)
}

// guardsNow is the plan's guards brought up to date under the push lock: what
// another push of ours did since, and a plan that was left lying is made again.
func (a *App) guardsNow(ctx context.Context, acc Account, p *pushFolder, plan PushPlan) ([]Guard, error) {
	if a.now().Sub(plan.at) > time.Minute || a.pushes.Load() != plan.pushes {
		fresh, err := a.planOf(ctx, acc, p, plan.Options)
		if err != nil {
			return nil, err
		}
		plan.Guards = fresh.Guards
	}
	open, err := a.store.Runs(ctx, runlog.Filter{Account: acc.ID, Kernel: strings.ToLower(p.meta.ID), States: []string{StatePushing, StateUnclear, StateWaiting}})
	if err != nil {
		return nil, err
	}
	for _, r := range open {
		g := Guard{Code: "unclear", Reason: "an earlier push of this kernel has no known outcome yet; it is looked up first, so that nothing runs twice"}
		if r.State == StateWaiting {
			g = Guard{Code: "waiting", Reason: "this kernel is waiting here for a free slot already; drop that one first or give this one another name"}
		}
		plan.Guards = append(plan.Guards, g)
	}
	return plan.Guards, nil
}

// standing splits what speaks against a push into what stops it and whether it waits for a slot.
func standing(guards []Guard, opt PushOptions) (block []Guard, queue bool) {
	for _, g := range guards {
		switch {
		case g.Code == "slots" && opt.QueueIfFull:
			queue = true
		case g.Override != "" && opt.Force:
		default:
			block = append(block, g)
		}
	}
	return block, queue
}

// pushNow keeps the request, writes the intent, sends, writes the outcome.
func (a *App) pushNow(ctx context.Context, acc Account, p *pushFolder, opt PushOptions, consent Consent, queue bool) (RunRow, error) {
	r := a.newRun(acc, p, consent)
	kept := keptPush{Request: saveRequest(p, opt), Base: -1, Forced: opt.Force, NoRun: opt.NoRun}
	if queue {
		r.State, r.Note = StateWaiting, "waits for a free slot"
	} else {
		r.State, r.PushedAt = StatePushing, r.CreatedAt
		kept.Base = a.versionBefore(ctx, r.Kernel)
	}
	a.at("push: before the request is kept")
	if err := a.keepPush(r, kept); err != nil {
		return RunRow{}, fmt.Errorf("push %s: the request could not be kept (%w); nothing was sent", r.Kernel, err)
	}
	a.at("push: before the intent row")
	stored, err := a.store.CreateRun(ctx, r)
	if err != nil {
		a.dropPush(r)
		return RunRow{}, fmt.Errorf("push %s: the intent could not be written (%w); nothing was sent", r.Kernel, err)
	}
	r = stored
	a.pushes.Add(1)
	a.noteChange(ctx, EventRun, r.ID)
	a.at("push: before the baseline")
	a.attachBaseline(ctx, r, p.notes.Baseline)
	if queue {
		a.Nudge()
		return rowOf(r, a.now(), speedOf(acc)), nil
	}
	return a.send(ctx, acc, r, kept, opt.QueueIfFull)
}

// send makes the one request of a run in state pushing and records its outcome.
func (a *App) send(ctx context.Context, acc Account, r runlog.Run, kept keptPush, queueIfFull bool) (RunRow, error) {
	c, err := a.client(ctx)
	if err != nil {
		return RunRow{}, a.refuse(ctx, acc, r, "", "nothing was sent", err)
	}
	a.at("push: before the request")
	sctx, cancel := context.WithTimeout(ctx, pushLimit)
	resp, err := c.SaveKernel(sctx, kept.Request)
	cancel()
	a.at("push: before the outcome row")
	v := kaggle.ClassifyPush(resp, err)
	a.log.Info("push answered", "op", "push", "run", r.ID, "kernel", r.Kernel, "state", v.State, "version", v.Version)
	row, err := a.recordPush(ctx, acc, r, kept, v, err, queueIfFull)
	a.at("push: done")
	a.Nudge()
	return row, err
}

// recordPush turns Kaggle's answer into the run's next state.
func (a *App) recordPush(ctx context.Context, acc Account, r runlog.Run, kept keptPush, v kaggle.PushVerdict, cause error, queueIfFull bool) (RunRow, error) {
	switch v.State {
	case kaggle.PushAccepted, kaggle.PushAcceptedWrong:
		r, err := a.accept(ctx, r, kept, v)
		return rowOf(r, a.now(), speedOf(acc)), err
	case kaggle.PushWaitingForSlot:
		if queueIfFull {
			r, err := a.change(ctx, r.ID, func(r *runlog.Run) error {
				r.State, r.Note, r.PushedAt = StateWaiting, "waits for a free slot: "+v.Message, time.Time{}
				return nil
			})
			return rowOf(r, a.now(), speedOf(acc)), err
		}
		a.refuse(ctx, acc, r, v.Message, v.Advice, cause)
		return RunRow{}, &GuardError{Kernel: r.Kernel, Guards: []Guard{{Code: "slots", Reason: v.Message, Override: "--queue"}}}
	case kaggle.PushQuotaExhausted:
		a.refuse(ctx, acc, r, v.Message, v.Advice, cause)
		return RunRow{}, &GuardError{Kernel: r.Kernel, Guards: []Guard{{Code: "quota", Reason: v.Message}}}
	case kaggle.PushFailed:
		return RunRow{}, a.refuse(ctx, acc, r, v.Message, v.Advice, cause)
	}
	return a.unclear(ctx, acc, r, v, cause)
}

// accept records a version Kaggle made of the push. Its ref is kept, not ours:
// the server may have chosen another slug from the title.
func (a *App) accept(ctx context.Context, r runlog.Run, kept keptPush, v kaggle.PushVerdict) (runlog.Run, error) {
	now := a.now()
	note := ""
	if v.State == kaggle.PushAcceptedWrong {
		note = "Kaggle started the run without " + refusedText(v.Refused)
	}
	r, err := a.change(ctx, r.ID, func(r *runlog.Run) error {
		r.Version, r.KernelID, r.URL, r.Note, r.Failure = v.Version, v.KernelID, v.URL, note, ""
		if v.Ref.Slug != "" {
			r.Kernel = v.Ref.String()
		}
		r.State, r.Status, r.QueuedAt = StateQueued, StateQueued, now
		if kept.NoRun {
			r.State, r.Status = StateNoRun, StateNoRun
		}
		return nil
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
	a.dropPush(r)
	return r, nil
}

func refusedText(refused []kaggle.RefusedInput) string {
	var s []string
	for _, r := range refused {
		s = append(s, fmt.Sprintf("%s %s", r.Kind, r.Ref))
	}
	return strings.Join(s, ", ")
}

// refuse records that nothing runs, and gives the error that says so.
func (a *App) refuse(ctx context.Context, acc Account, r runlog.Run, message, advice string, cause error) error {
	if message == "" && cause != nil {
		message = cause.Error()
	}
	stored, err := a.change(ctx, r.ID, func(r *runlog.Run) error {
		r.State, r.Failure, r.Note = StateRefused, message, advice
		return nil
	})
	if err != nil {
		a.log.Error("refusal not stored", "run", r.ID, "err", err)
		stored = r
	}
	a.dropPush(r)
	return &PushError{Run: rowOf(stored, a.now(), speedOf(acc)), State: StateRefused, Message: message, Advice: advice, Err: cause}
}

// unclear records that nobody knows whether the push arrived, and looks once.
// Until it is known this kernel is not pushed again.
func (a *App) unclear(ctx context.Context, acc Account, r runlog.Run, v kaggle.PushVerdict, cause error) (RunRow, error) {
	message := v.Message
	if message == "" && cause != nil {
		message = cause.Error()
	}
	r, err := a.change(ctx, r.ID, func(r *runlog.Run) error {
		r.State, r.Failure, r.Note = StateUnclear, message, v.Advice
		return nil
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
		Advice: "Do not push it again: Sandglass looks whether it arrived and says so. \"sandglass status\" looks at once."}
}

// versionBefore is the version Kaggle has of a kernel before a push: 0 when it
// has none, -1 when that could not be asked.
func (a *App) versionBefore(ctx context.Context, kernel string) int {
	c, err := a.client(ctx)
	if err != nil {
		return -1
	}
	ref, err := kaggle.ParseRef(kernel)
	if err != nil {
		return -1
	}
	k, err := c.GetKernel(ctx, ref, 0)
	switch {
	case err == nil:
		return k.Meta.CurrentVersion
	case errors.Is(err, kaggle.ErrNotFound), errors.Is(err, kaggle.ErrForbidden):
		return 0
	}
	return -1
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
