package app

import (
	"context"
	"errors"
	"strings"
	"time"

	"sandglass/app/runlog"
	"sandglass/kaggle"
	"sandglass/planner"
)

// trustGap is how long nobody may have looked for the moment of looking to stand
// for the moment of the change.
const trustGap = 2 * time.Minute

// skew is how far our clock and Kaggle's may be apart.
const skew = 5 * time.Minute

// ask asks Kaggle once about a run that it has, lets the tracker judge the
// answer, and stores what changed. The error is why there was no answer; the run
// is then unchanged but for the mark since when nothing is known.
func (a *App) ask(ctx context.Context, acc Account, r runlog.Run, s *watched) (runlog.Run, error) {
	c, err := a.client(ctx)
	if err != nil {
		return r, err
	}
	st, err := c.Status(ctx, kaggleRef(r.Kernel), r.Version)
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	o := a.observe(st, err)
	if err == nil && st.State.Terminal() && !s.tracker.Verdict().Started {
		o.Pinned = a.isOurs(ctx, c, r)
	}
	before := s.tracker.Verdict()
	v := s.tracker.Observe(o)
	gap := s.asked.IsZero() || o.At.Sub(s.asked) > trustGap
	var lastRun time.Time
	if gap && v.Started && (r.StartedAt.IsZero() || v.Terminal) {
		lastRun = a.lastRun(ctx, c, r)
	}
	if o.Network == "" && o.HTTP == 0 {
		s.asked = o.At
	}
	word := ""
	if o.Status != "" {
		word = planner.NormalStatus(o.Status)
	}
	if before == v && word == r.Status && v.UnreachableSince.IsZero() == r.UnreachableSince.IsZero() {
		return r, unanswered(err)
	}
	r, serr := a.storeVerdict(ctx, r, v, word, o.At, gap, lastRun)
	if serr != nil {
		return r, serr
	}
	return r, unanswered(err)
}

// unanswered is the error when it means that Kaggle did not answer the question;
// "not found" is an answer.
func unanswered(err error) error {
	if errors.Is(err, kaggle.ErrNotFound) || errors.Is(err, kaggle.ErrForbidden) {
		return nil
	}
	return err
}

// observe puts an answer, or the lack of one, into the planner's words. 403 is
// what Kaggle says of a kernel it does not show, so it counts as 404.
func (a *App) observe(st kaggle.SessionStatus, err error) planner.Observation {
	o := planner.Observation{At: a.now()}
	var ke *kaggle.Error
	switch {
	case err == nil:
		o.Status, o.Message = statusWord(st), st.FailureMessage
	case errors.Is(err, kaggle.ErrNotFound), errors.Is(err, kaggle.ErrForbidden):
		o.HTTP = 404
	case errors.As(err, &ke) && ke.Status >= 300:
		o.HTTP = ke.Status
	default:
		o.Network = err.Error()
	}
	return o
}

// isOurs ties an end that came before any sign of life to our version: whether a
// question that names a version is answered for that version is not certain
// enough to call a run over by it. A kernel that last ran before our push shows
// an older run's end.
func (a *App) isOurs(ctx context.Context, c *kaggle.Client, r runlog.Run) bool {
	last := a.lastRun(ctx, c, r)
	if last.IsZero() {
		return a.now().Sub(r.QueuedAt) > 2*skew
	}
	return true
}

// lastRun is when the kernel's newest session began, if that can be this run's:
// after its push, not in the future. Zero when it is not known.
func (a *App) lastRun(ctx context.Context, c *kaggle.Client, r runlog.Run) time.Time {
	k, err := c.GetKernel(ctx, kaggleRef(r.Kernel), r.Version)
	if err != nil {
		return time.Time{}
	}
	t := k.Meta.LastRunTime
	if t.IsZero() || t.Before(r.PushedAt.Add(-skew)) || t.After(a.now().Add(skew)) || k.Meta.CurrentVersion > r.Version && r.Version > 0 {
		return time.Time{}
	}
	if t.Before(r.QueuedAt) {
		return r.QueuedAt
	}
	return t
}

// storeVerdict writes a verdict into the run. Times are those of the change when
// somebody was looking, else the best that can be said.
func (a *App) storeVerdict(ctx context.Context, r runlog.Run, v planner.Verdict, word string, at time.Time, gap bool, lastRun time.Time) (runlog.Run, error) {
	return a.change(ctx, r.ID, func(r *runlog.Run) error {
		if !atKaggle(r.State) {
			return nil // settled by somebody else in between
		}
		if word != "" {
			r.Status = word
		}
		if v.UnreachableSince.IsZero() || r.UnreachableSince.IsZero() { // else the earlier one, which another process saw, stands
			r.UnreachableSince = v.UnreachableSince
		}
		if v.State != planner.StateNotVisible {
			r.State = v.State
		}
		if v.Note != "" && !strings.HasPrefix(r.Note, askedToStop) { // who was asked to stop it is known better here
			r.Note = v.Note
		}
		if v.Message != "" {
			r.Failure = v.Message
		}
		// A kernel that was found when it was over long since has no cap to bound it: from its start to the moment of looking is no
		// running time, and it would be charged as one.
		if long := gap && v.Terminal && r.Cap == 0; v.Started && r.StartedAt.IsZero() && !long {
			r.StartedAt = lastRun
			if r.StartedAt.IsZero() && !(gap && v.Terminal) {
				r.StartedAt = at
			}
		}
		if v.Terminal {
			r.EndedAt, r.EndedFrom = endOf(*r, at, gap)
		}
		return nil
	})
}

// Where the time of an end comes from (RunRow.EndedFrom).
const (
	endObserved = "observed" // when it was seen to be over
	endCap      = "cap"      // its start and its cap
	endSession  = "session"  // the session's own record
)

// endOf is when a run that is seen to be over ended, and where that is from: now
// when somebody was looking, else at its cap at the latest. What the session itself
// recorded replaces it when the outputs are collected.
func endOf(r runlog.Run, at time.Time, gap bool) (time.Time, string) {
	if gap && !r.StartedAt.IsZero() && r.Cap > 0 && r.StartedAt.Add(r.Cap).Before(at) {
		return r.StartedAt.Add(r.Cap), endCap
	}
	return at, endObserved
}

// isUnreachable says whether an error means that Kaggle cannot be reached, rather
// than that it said no.
func isUnreachable(err error) bool {
	return errors.Is(err, kaggle.ErrOffline) || errors.Is(err, kaggle.ErrUnavailable)
}
