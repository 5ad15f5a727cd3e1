package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sandglass/app/runlog"
	"sandglass/kaggle"
	"sandglass/planner"
)

// laterVersions is how many versions above the one before our push are compared
// with what we sent, when the newest is somebody else's.
const laterVersions = 5

// unsettled are the states whose truth is at Kaggle.
var unsettled = []string{StatePushing, StateUnclear, StateWaiting, StateQueued, StateRunning, StateStopping}

// reconcile compares every run in flight with what Kaggle has: after a start, a
// sleep, a time without network. Nothing is pushed here; a push that did not
// arrive goes back to the launch queue if it was authorised for it. The caller holds
// the push lock.
func (a *App) reconcile(ctx context.Context, acc Account) error {
	runs, err := a.store.Runs(ctx, runlog.Filter{Account: acc.ID, States: unsettled})
	if err != nil {
		return err
	}
	return a.settle(ctx, acc, runs)
}

// settle does the same for some runs. It stops at the first answer that does not
// come: half a picture decides nothing.
func (a *App) settle(ctx context.Context, acc Account, runs []runlog.Run) error {
	c, err := a.client(ctx)
	if err != nil {
		return err
	}
	s := settler{a: a, c: c, acc: acc, source: map[string]string{}}
	if err := s.gather(ctx, runs); err != nil {
		return err
	}
	byID := map[string]runlog.Run{}
	for _, r := range runs {
		byID[fmt.Sprint(r.ID)] = r
	}
	for _, act := range planner.Reconcile(s.local, s.remote, a.now()) {
		r, ours := byID[act.Run]
		if !ours {
			continue // a sibling, there for its version number only
		}
		if err := s.apply(ctx, r, act); err != nil {
			return err
		}
	}
	return nil
}

// settler is one comparison.
type settler struct {
	a      *App
	c      *kaggle.Client
	acc    Account
	local  []planner.LocalRun
	remote []planner.RemoteKernel
	source map[string]string // source of each kernel's newest version, where it was pulled
}

// gather reads both sides: of our side also the settled runs of the same
// kernels, because their versions are not free to be taken for another's.
func (s *settler) gather(ctx context.Context, runs []runlog.Run) error {
	asked, listed := map[string]bool{}, map[int64]bool{}
	for _, r := range runs {
		s.local = append(s.local, localRun(r))
		listed[r.ID] = true
	}
	for _, r := range runs {
		if asked[r.Kernel] || r.State == StateWaiting {
			continue
		}
		asked[r.Kernel] = true
		siblings, err := s.a.store.Runs(ctx, runlog.Filter{Account: s.acc.ID, Kernel: r.Kernel})
		if err != nil {
			return err
		}
		for _, o := range siblings {
			if !listed[o.ID] && o.Version > 0 {
				s.local = append(s.local, localRun(o))
			}
		}
		k, there, err := s.look(ctx, r)
		if err != nil {
			return fmt.Errorf("look for %s: %w", r.Kernel, err)
		}
		if there {
			s.remote = append(s.remote, k)
		}
	}
	return nil
}

// look asks Kaggle for one kernel: its newest version, source and state.
func (s *settler) look(ctx context.Context, r runlog.Run) (planner.RemoteKernel, bool, error) {
	ref, err := kaggle.ParseRef(r.Kernel)
	if err != nil {
		return planner.RemoteKernel{}, false, err
	}
	k, err := s.c.GetKernel(ctx, ref, 0)
	if errors.Is(err, kaggle.ErrNotFound) || errors.Is(err, kaggle.ErrForbidden) {
		return planner.RemoteKernel{}, false, nil
	}
	if err != nil {
		return planner.RemoteKernel{}, false, err
	}
	st, err := s.c.Status(ctx, ref, 0)
	if err != nil && !errors.Is(err, kaggle.ErrNotFound) && !errors.Is(err, kaggle.ErrForbidden) {
		return planner.RemoteKernel{}, false, err
	}
	out := planner.RemoteKernel{Kernel: r.Kernel, Version: k.Meta.CurrentVersion, GPU: k.Meta.EnableGPU, TPU: k.Meta.EnableTPU,
		SourceSHA256: textSHA256(k.Source), LastRun: k.Meta.LastRunTime}
	if err == nil {
		out.Status = statusWord(st)
	}
	s.source[r.Kernel] = k.Source
	if kept, err := s.a.keptPush(r); err == nil && sameSource(kept.sent().Text, k.Source) {
		out.SourceSHA256 = r.SourceSHA256
	}
	return out, true, nil
}

// sameSource compares what was sent with what Kaggle gives back. Line ends and
// white space at the end are not held against it.
func sameSource(sent, got string) bool {
	clean := func(s string) string { return strings.TrimRight(strings.ReplaceAll(s, "\r\n", "\n"), " \n\t") }
	return clean(sent) == clean(got)
}

// apply does what the planner says. A push without known outcome is first judged
// by the version number that was noted before it was sent, which is better
// evidence than any clock.
func (s *settler) apply(ctx context.Context, r runlog.Run, act planner.Action) error {
	if r.State == StatePushing || r.State == StateUnclear {
		var err error
		if act, err = s.judge(ctx, r, act); err != nil {
			return err
		}
	}
	switch act.Do {
	case planner.ActAttach:
		return s.attach(ctx, r, act)
	case planner.ActRequeue:
		return s.requeue(ctx, r, act)
	case planner.ActForeignVersion:
		return s.foreign(ctx, r, act)
	case planner.ActMissing:
		_, err := s.a.change(ctx, r.ID, func(r *runlog.Run) error {
			r.State, r.Note, r.EndedAt, r.EndedFrom = StateMissing, act.Note, s.a.now(), endObserved
			return nil
		})
		return err
	case planner.ActKeepWatching:
		if r.State == StatePushing { // its process is gone: the outcome has to be looked up from now on
			_, err := s.a.changeQueued(ctx, r.ID, func(r *runlog.Run, e *runlog.QueueEntry) bool {
				r.State, r.Note = StateUnclear, unclearNote(e != nil)
				return true
			})
			return err
		}
	}
	// Collect and push-when-free: the watcher's next round does it.
	return nil
}

// judge decides about a push by the version Kaggle had before it.
func (s *settler) judge(ctx context.Context, r runlog.Run, act planner.Action) (planner.Action, error) {
	kept, err := s.a.keptPush(r)
	if err != nil || kept.Base < 0 {
		return act, nil
	}
	k, there := s.find(r.Kernel)
	if !there {
		return act, nil
	}
	for v := max(kept.Base+1, k.Version-laterVersions); v <= k.Version; v++ {
		if s.taken(r, v) {
			continue
		}
		same := sameSource(kept.sent().Text, s.source[r.Kernel])
		if v < k.Version {
			old, err := s.c.GetKernel(ctx, kaggleRef(r.Kernel), v)
			if errors.Is(err, kaggle.ErrNotFound) {
				continue
			}
			if err != nil {
				return act, err
			}
			same = sameSource(kept.sent().Text, old.Source)
		}
		if same {
			return planner.Action{Run: act.Run, Kernel: act.Kernel, Do: planner.ActAttach, Version: v, Note: fmt.Sprintf("The push did arrive: it is version %d.", v)}, nil
		}
	}
	if k.Version <= kept.Base && act.Do == planner.ActAttach {
		act = planner.Action{Run: act.Run, Kernel: act.Kernel, Do: planner.ActKeepWatching, Note: "The push is not to be seen at Kaggle yet; it may still appear."}
		if s.a.now().Sub(r.PushedAt) > notSeenFor {
			act.Do, act.Note = planner.ActRequeue, fmt.Sprintf("The push did not reach Kaggle, which has version %d from before.", k.Version)
		}
	}
	return act, nil
}

// notSeenFor is how long a push may stay invisible before it counts as not arrived.
const notSeenFor = 2 * time.Minute

func (s *settler) find(kernel string) (planner.RemoteKernel, bool) {
	for _, k := range s.remote {
		if k.Kernel == kernel {
			return k, true
		}
	}
	return planner.RemoteKernel{}, false
}

// taken says whether another run of ours is that version.
func (s *settler) taken(r runlog.Run, version int) bool {
	for _, l := range s.local {
		if l.Kernel == r.Kernel && l.Version == version && l.Run != fmt.Sprint(r.ID) {
			return true
		}
	}
	return false
}

func (s *settler) attach(ctx context.Context, r runlog.Run, act planner.Action) error {
	now := s.a.now()
	kept, keptErr := s.a.keptPush(r)
	_, err := s.a.changeQueued(ctx, r.ID, func(r *runlog.Run, _ *runlog.QueueEntry) bool {
		r.State, r.Status, r.Version, r.Note, r.Failure = StateQueued, StateQueued, act.Version, "", ""
		if keptErr == nil && kept.NoRun {
			r.State, r.Status = StateNoRun, StateNoRun
		}
		if r.QueuedAt.IsZero() {
			r.QueuedAt = r.PushedAt
		}
		if r.QueuedAt.IsZero() {
			r.QueuedAt = now
		}
		r.URL = pageOf(s.acc, kaggleRef(r.Kernel).WebURL())
		if keptErr == nil {
			kept.cutRun(r)
		}
		return false
	})
	if err == nil {
		s.a.dropPush(r)
		s.a.log.Info("push found again", "run", r.ID, "kernel", r.Kernel, "version", act.Version)
		for i := range s.local {
			if s.local[i].Run == fmt.Sprint(r.ID) {
				s.local[i].Version = act.Version
			}
		}
	}
	return err
}

// requeue puts a push that did not arrive back to the launch queue, if the person
// said that it may wait there. Otherwise nothing is sent by itself: the person is
// told and pushes again.
func (s *settler) requeue(ctx context.Context, r runlog.Run, act planner.Action) error {
	_, err := s.a.store.Queued(ctx, r.ID)
	switch {
	case errors.Is(err, runlog.ErrNotFound):
		return s.a.notArrived(ctx, r)
	case err != nil:
		return err
	}
	if _, err := s.a.keptPush(r); err != nil {
		_, err := s.a.stopQueued(ctx, r, lostRequest)
		return err
	}
	_, err = s.a.changeQueued(ctx, r.ID, func(r *runlog.Run, e *runlog.QueueEntry) bool {
		r.State, r.PushedAt, r.Failure = StateWaiting, time.Time{}, ""
		if e != nil {
			s.a.waits(r, e, runlog.QueueEntry{Code: "due", Why: "its push did not reach Kaggle; it goes out once more when a slot is free"})
		}
		return true
	})
	return err
}

// notArrived ends a push that did not reach Kaggle and that nobody allowed to wait.
func (a *App) notArrived(ctx context.Context, r runlog.Run) error {
	r, err := a.changeQueued(ctx, r.ID, func(r *runlog.Run, _ *runlog.QueueEntry) bool {
		r.State, r.Failure, r.Note = StateRefused, notArrivedWords, notArrivedAdvice
		return false
	})
	if err != nil {
		return err
	}
	a.dropPush(r)
	a.tell(ctx, Notice{Key: fmt.Sprintf("not-arrived/%d", r.ID), Kind: "failed", Run: r.ID, Title: "Not pushed: " + r.Name,
		Body: "Kaggle has no such version: nothing ran; push again"})
	return nil
}

// foreign notes a newer version that is not ours. Ours is watched and collected
// under its own version; a push without outcome is not repeated over it.
func (s *settler) foreign(ctx context.Context, r runlog.Run, act planner.Action) error {
	if r.State == StatePushing || r.State == StateUnclear {
		if _, err := s.a.store.Queued(ctx, r.ID); err == nil {
			_, err := s.a.stopQueued(ctx, r, planner.QueueVerdict{Code: "foreign", Why: fmt.Sprintf("version %d of this kernel was pushed elsewhere while the outcome of our push was open", act.Version),
				Advice: "Look at it, and push again if yours is still wanted."})
			return err
		}
	}
	_, err := s.a.changeQueued(ctx, r.ID, func(r *runlog.Run, _ *runlog.QueueEntry) bool {
		r.Note = act.Note
		if r.State == StatePushing || r.State == StateUnclear {
			r.State, r.Failure = StateRefused, act.Note
		}
		return true
	})
	return err
}

// kaggleRef is a kernel name of the run log as the client takes it.
func kaggleRef(kernel string) kaggle.Ref {
	owner, slug, _ := strings.Cut(kernel, "/")
	return kaggle.Ref{Owner: owner, Slug: slug}
}
