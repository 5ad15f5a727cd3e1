package app

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sandglass/app/runlog"
	"sandglass/kaggle"
	"sandglass/planner"
)

// lockPoll is how often a lock that another process holds is tried.
const lockPoll = 50 * time.Millisecond

// askedToStop begins the note of a run that a person stopped from here.
const askedToStop = "stopped from here"

// ErrNoRun is the answer when nothing of that name is known.
var ErrNoRun = errors.New("no such run")

// Resolve finds a run of the log by what a person calls it: "owner/slug",
// "owner/slug/3", "slug", a run's name or number, a kernel's web address. Of
// several the newest is meant.
func (a *App) Resolve(ctx context.Context, kernel string) (RunRow, error) {
	acc, err := a.Account(ctx)
	if err != nil && !errors.Is(err, ErrNoAccount) {
		return RunRow{}, err
	}
	r, err := a.resolve(ctx, acc, kernel)
	if err != nil {
		return RunRow{}, err
	}
	return rowOf(r, a.now(), speedOf(acc)), nil
}

func (a *App) resolve(ctx context.Context, acc Account, name string) (runlog.Run, error) {
	name = strings.TrimSpace(name)
	if name == "" {
		return runlog.Run{}, fmt.Errorf("%w: no name was given", ErrNoRun)
	}
	if id, err := strconv.ParseInt(name, 10, 64); err == nil {
		if r, err := a.store.Run(ctx, id); err == nil {
			return r, nil
		}
	}
	kernel, version := kernelName(acc, name)
	if kernel != "" {
		r, err := a.store.FindRun(ctx, acc.ID, kernel, version)
		if err == nil || !errors.Is(err, runlog.ErrNotFound) {
			return r, err
		}
	}
	f := runlog.Filter{Account: acc.ID, Name: name, Limit: 1}
	short, of := shortVersion(name)
	if of > 0 { // "slug/3" and "name/3" of one's own
		if own, _ := kernelName(acc, short); own != "" {
			r, err := a.store.FindRun(ctx, acc.ID, own, of)
			if err == nil || !errors.Is(err, runlog.ErrNotFound) {
				return r, err
			}
		}
		f.Name, f.Version = short, of
	}
	rs, err := a.store.Runs(ctx, f)
	if err != nil {
		return runlog.Run{}, err
	}
	if len(rs) == 1 {
		return rs[0], nil
	}
	return runlog.Run{}, fmt.Errorf("%w as %s (a run is named by owner/slug, slug, its name or its number, the first three also with /VERSION); \"sandglass log\" lists the runs known here", ErrNoRun, name)
}

// shortVersion splits "slug/3" and "name/v3"; 0 when it is none of them.
func shortVersion(name string) (string, int) {
	short, tail, ok := strings.Cut(name, "/")
	v, err := strconv.Atoi(strings.TrimPrefix(tail, "v"))
	if !ok || err != nil || v <= 0 || v > 9999 || short == "" { // a slug has five characters at least
		return "", 0
	}
	return short, v
}

// kernelName reads "owner/slug", "owner/slug/3", "slug" and web addresses; ""
// when it is none of them.
func kernelName(acc Account, name string) (string, int) {
	version := 0
	if i := strings.LastIndexByte(name, '/'); i > 0 && strings.Count(name, "/") == 2 && !strings.Contains(name, ":") {
		if v, err := strconv.Atoi(strings.TrimPrefix(name[i+1:], "v")); err == nil {
			name, version = name[:i], v
		}
	}
	if !strings.Contains(name, "/") && acc.Username != "" {
		name = acc.Username + "/" + name
	}
	ref, err := kaggle.ParseRef(name)
	if err != nil {
		return "", 0
	}
	return ref.String(), version
}

// findRun is resolve, and for a kernel that this log does not know a look at
// Kaggle: one that was pushed elsewhere gets a row of its own, origin "found".
func (a *App) findRun(ctx context.Context, acc Account, name string) (runlog.Run, error) {
	r, err := a.resolve(ctx, acc, name)
	if err == nil && r.Account != acc.ID {
		return r, a.ofAnother(ctx, acc, r)
	}
	if !errors.Is(err, ErrNoRun) {
		return r, err
	}
	kernel, version := kernelName(acc, name)
	if short, of := shortVersion(name); of > 0 {
		kernel, _ = kernelName(acc, short)
		version = of
	}
	if kernel == "" {
		return r, err
	}
	c, cerr := a.client(ctx)
	if cerr != nil {
		return r, err
	}
	k, kerr := c.GetKernel(ctx, kaggleRef(kernel), version)
	switch {
	case errors.Is(kerr, kaggle.ErrNotFound), errors.Is(kerr, kaggle.ErrForbidden):
		return r, fmt.Errorf("%w, and Kaggle shows none to %s", err, acc.Username)
	case kerr != nil:
		return r, fmt.Errorf("look for %s: %w", kernel, kerr)
	}
	if version == 0 {
		version = k.Meta.CurrentVersion
	}
	row := runlog.Run{Account: acc.ID, Kernel: kernel, Name: kaggleRef(kernel).Slug, Version: version, KernelID: k.Meta.ID,
		URL: pageOf(acc, kaggleRef(kernel).WebURL()), State: StateQueued, Status: StateQueued, Origin: "found", QueuedAt: k.Meta.LastRunTime,
		Accelerator: remoteShape(k.Meta), SourceSHA256: textSHA256(k.Source), Internet: k.Meta.EnableInternet, ScriptBytes: len(k.Source)}
	r, err = a.store.CreateRun(ctx, row)
	if err == nil {
		a.noteChange(ctx, EventRun, r.ID)
	}
	return r, err
}

// ofAnother refuses a run of another account, which its number can name: asked as this one, Kaggle would not know it, or answer
// about, or delete, a kernel of the same name that is another.
func (a *App) ofAnother(ctx context.Context, acc Account, r runlog.Run) error {
	whose := "another account"
	if o, err := a.store.Account(ctx, r.Account); err == nil {
		whose = o.Username + " at " + placeOf(o.Endpoint)
	}
	return &CallError{Reason: fmt.Sprintf("run %d (%s) belongs to %s, and %s at %s is signed in; nothing was asked or changed", r.ID, r.Kernel, whose, acc.Username, placeOf(acc.Endpoint)),
		Action: "Sign in as its account, or name a run of this one: sandglass log"}
}

func placeOf(endpoint string) string {
	if endpoint == "" {
		return "Kaggle"
	}
	return endpoint
}

// remoteShape is the machine of a kernel as Kaggle tells it.
func remoteShape(m kaggle.KernelMeta) string {
	switch {
	case m.MachineShape != "":
		return m.MachineShape
	case m.EnableTPU:
		return "TpuV5E8"
	case m.EnableGPU:
		return "NvidiaTeslaT4"
	}
	return "none"
}

func newWatched(r runlog.Run, now time.Time) *watched {
	return &watched{tracker: planner.ResumeTracker(r.Version, r.PushedAt, r.State, !r.StartedAt.IsZero()), inState: now, state: r.State}
}

// Refresh asks Kaggle once about a run. A push whose outcome is not known is
// looked up. When Kaggle cannot be reached the view is what is known here, with
// the error.
func (a *App) Refresh(ctx context.Context, kernel string) (RunView, error) {
	acc, err := a.Account(ctx)
	if err != nil {
		return RunView{}, err
	}
	r, err := a.findRun(ctx, acc, kernel)
	if err != nil {
		return RunView{}, err
	}
	asked := a.refresh(ctx, acc, r)
	v, err := a.runView(ctx, r.ID)
	if err != nil {
		return v, err
	}
	return v, asked
}

func (a *App) refresh(ctx context.Context, acc Account, r runlog.Run) error {
	switch {
	case r.State == StatePushing || r.State == StateUnclear:
		unlock, ok := a.tryLockPush()
		if !ok {
			return nil // it is being pushed right now
		}
		defer unlock()
		return a.settle(ctx, acc, []runlog.Run{r})
	case atKaggle(r.State):
		_, err := a.ask(ctx, acc, r, newWatched(r, a.now()))
		return err
	}
	return nil
}

// Wait watches until the run has ended (and, with opt.Collect, is collected),
// calling onChange with every new view. It starts the watcher, which this process
// may own or share. After opt.Max it gives the view and an error.
func (a *App) Wait(ctx context.Context, kernel string, opt WaitOptions, onChange func(RunView)) (RunView, error) {
	acc, err := a.Account(ctx)
	if err != nil {
		return RunView{}, err
	}
	r, err := a.findRun(ctx, acc, kernel)
	if err != nil {
		return RunView{}, err
	}
	sub := a.Subscribe()
	defer sub.Close()
	if err := a.StartWatcher(ctx); err != nil {
		return RunView{}, err
	}
	var over, again <-chan time.Time
	if opt.Max > 0 {
		t := time.NewTimer(opt.Max)
		defer t.Stop()
		over = t.C
	}
	if opt.Interval > 0 {
		t := time.NewTicker(opt.Interval)
		defer t.Stop()
		again = t.C
	}
	if onChange == nil {
		onChange = func(RunView) {}
	}
	for {
		v, err := a.runView(ctx, r.ID)
		if err != nil {
			return v, err
		}
		onChange(v)
		if !inFlight(v.State) {
			return a.waited(ctx, acc, v, opt)
		}
		if v, err := a.untilChange(ctx, acc, r, sub, over, again, opt.Max); err != nil {
			return v, err
		}
	}
}

// untilChange blocks until the run may look different.
func (a *App) untilChange(ctx context.Context, acc Account, r runlog.Run, sub *Subscription, over, again <-chan time.Time, limit time.Duration) (RunView, error) {
	for {
		select {
		case <-ctx.Done():
			return a.lastView(r.ID), ctx.Err()
		case <-over:
			v := a.lastView(r.ID)
			return v, fmt.Errorf("%s is still %s after %s; it goes on, \"sandglass wait\" takes it up again", v.Kernel, v.State, spanText(limit))
		case <-again:
			if err := a.refresh(ctx, acc, r); err != nil {
				a.log.Info("not asked", "run", r.ID, "err", err)
			}
			return RunView{}, nil
		case e, ok := <-sub.C():
			if !ok {
				return a.lastView(r.ID), context.Canceled
			}
			if e.Run == r.ID || e.Kind == EventReload {
				return RunView{}, nil
			}
		}
	}
}

func (a *App) lastView(id int64) RunView {
	v, err := a.runView(context.WithoutCancel(a.ctx), id)
	if err != nil {
		a.log.Warn("run not read", "run", id, "err", err)
	}
	return v
}

// waited is the end of a wait: the collect, if it was asked for.
func (a *App) waited(ctx context.Context, acc Account, v RunView, opt WaitOptions) (RunView, error) {
	if !opt.Collect || !ended(v.State) || v.Collected && !opt.Weights {
		return v, nil
	}
	r, err := a.store.Run(ctx, v.ID)
	if err != nil {
		return v, err
	}
	c, err := a.collect(ctx, acc, r, CollectOptions{Weights: opt.Weights}, nil)
	if c.Run.ID != 0 {
		v = c.Run
	}
	return v, err
}

// Delete deletes the kernel of a run at Kaggle, with all its versions and
// outputs; a session that is going stops. A run that only waits here is dropped
// and nothing at Kaggle is touched.
func (a *App) Delete(ctx context.Context, kernel string) error {
	acc, err := a.Account(ctx)
	if err != nil {
		return err
	}
	r, err := a.findRun(ctx, acc, kernel)
	if err != nil {
		return err
	}
	unlock, err := a.lockPush(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if r, err = a.store.Run(ctx, r.ID); err != nil {
		return err
	}
	if r.State == StateWaiting {
		if err := a.QueueRemove(ctx, r.ID); !errors.Is(err, ErrNotQueued) {
			return err
		}
		a.dropPush(r)
		return a.markStopped(ctx, r, askedToStop+" before it was pushed")
	}
	c, err := a.client(ctx)
	if err != nil {
		return err
	}
	if err := c.DeleteKernel(ctx, kaggleRef(r.Kernel)); err != nil {
		return fmt.Errorf("delete %s: %w", r.Kernel, err)
	}
	runs, err := a.store.Runs(ctx, runlog.Filter{Account: acc.ID, Kernel: r.Kernel})
	if err != nil {
		return err
	}
	for _, o := range runs {
		if inFlight(o.State) && o.State != StateWaiting {
			if err := a.markStopped(ctx, o, askedToStop+": the kernel was deleted at Kaggle"); err != nil {
				return err
			}
		}
	}
	a.kick()
	return nil
}

func (a *App) markStopped(ctx context.Context, r runlog.Run, note string) error {
	_, err := a.change(ctx, r.ID, func(r *runlog.Run) error { dropped(r, note, a.now()); return nil })
	return err
}

// dropped marks a run that a person stopped from here: nothing is left to collect.
func dropped(r *runlog.Run, note string, now time.Time) {
	r.State, r.Note, r.EndedAt, r.CollectedAt, r.SeenAt = StateCancel, note, now, now, now
	r.Outcome, r.EndedFrom = OutcomeFailed, endObserved
}
