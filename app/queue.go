package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"sandglass/app/runlog"
)

// ErrNotQueued is the answer when a run is not in the launch queue.
var ErrNotQueued = errors.New("it is not in the launch queue")

// QueueRow is one run of the launch queue: authorised once, pushed by itself when
// a session, the quota and its inputs allow.
type QueueRow struct {
	RunRow
	Position int       `json:"position"`   // from 1, over all pools; 0 = stopped
	Code     string    `json:"code"`       // slots, quota, inputs, behind, pause, paused, pushing, due, …; what it waits for
	Why      string    `json:"why"`        // the same in a sentence
	Since    time.Time `json:"since"`      // when it was authorised
	LastTry  time.Time `json:"last_try"`   // when it was last looked at; zero = not yet
	NextTry  time.Time `json:"next_try"`   // Kaggle asked for a pause until then; zero = as soon as it can
	Stopped  bool      `json:"stopped"`    // the authorisation ended: it is not pushed any more
	Advice   string    `json:"advice"`     // what the person can do; "" = nothing has to be done
	Dir      string    `json:"dir"`        // the build folder that was authorised
	Consent  string    `json:"consent"`    // by what: a button, the terminal, --yes
	Source   string    `json:"source_sha"` // SHA-256 of the source that was authorised
	LeastH   float64   `json:"least_h"`    // it may start with a shorter cap, from these hours on; 0 = with its own only
	FollowUp bool      `json:"follow_up"`  // it goes on with a run that was stopped
}

// queuePausedKey is the setting that holds one account's pause.
func queuePausedKey(acc Account) string { return fmt.Sprintf("queue.paused/%d", acc.ID) }

// Queue lists the launch queue of the signed-in account in its order; what was
// stopped comes last. It reads this computer only.
func (a *App) Queue(ctx context.Context) ([]QueueRow, error) {
	acc, err := a.Account(ctx)
	if err != nil {
		return nil, err
	}
	return a.queueRows(ctx, acc)
}

// QueuePaused says whether the queue of the signed-in account is paused.
func (a *App) QueuePaused(ctx context.Context) (bool, error) {
	acc, err := a.Account(ctx)
	if err != nil {
		return false, err
	}
	v, err := a.store.Get(ctx, queuePausedKey(acc))
	return v == "on", err
}

// QueuePause pauses the queue, or lets it go on. While it is paused nothing is
// pushed by itself; every authorisation stands. A push that is out already is not
// taken back.
func (a *App) QueuePause(ctx context.Context, on bool) error {
	acc, err := a.Account(ctx)
	if err != nil {
		return err
	}
	value := ""
	if on {
		value = "on"
	}
	if err := a.store.Set(ctx, queuePausedKey(acc), value); err != nil {
		return err
	}
	a.queueChanged(ctx, 0)
	return nil
}

// QueueServed says whether a program on this computer looks after the queue now:
// the window, or a "sandglass wait". Without one nothing goes out by itself.
func (a *App) QueueServed() bool {
	a.watch.mu.Lock()
	owner := a.watch.owner
	a.watch.mu.Unlock()
	if owner {
		return true
	}
	l := flock.New(filepath.Join(a.home, watchLockFile))
	ok, err := l.TryLock()
	if ok {
		l.Unlock() //nolint:errcheck // it goes with the file's handle
	}
	return err == nil && !ok
}

// QueueMove moves a run by delta places, towards the front when it is negative; it
// stops at either end. ErrNotQueued when it does not wait there.
func (a *App) QueueMove(ctx context.Context, runID int64, delta int) error {
	acc, err := a.Account(ctx)
	if err != nil {
		return err
	}
	err = a.store.MoveQueued(ctx, acc.ID, runID, delta)
	if errors.Is(err, runlog.ErrNotFound) {
		return fmt.Errorf("run %d cannot be moved: %w", runID, ErrNotQueued)
	}
	if err == nil {
		a.queueChanged(ctx, runID)
	}
	return err
}

// queueChanged tells everybody that the queue is another one; the owner looks at
// it at once.
func (a *App) queueChanged(ctx context.Context, run int64) {
	a.noteChange(ctx, EventRun, run)
	a.kick()
}

// QueueRemove takes a run out of the queue. One that waits is dropped and nothing
// at Kaggle is touched; of a stopped one only the entry goes. A run whose push is
// out already cannot be taken back here.
func (a *App) QueueRemove(ctx context.Context, runID int64) error {
	r, err := a.store.UpdateQueued(ctx, runID, func(r *runlog.Run, e *runlog.QueueEntry) (bool, error) {
		switch {
		case !e.StoppedAt.IsZero():
			return false, nil
		case r.State == StateWaiting:
			dropped(r, askedToStop+" before it was pushed", a.now())
			return false, nil
		}
		return true, fmt.Errorf("%s cannot be taken out of the queue: it is %s by now", r.Kernel, r.State)
	})
	if errors.Is(err, runlog.ErrNotFound) {
		return fmt.Errorf("run %d cannot be removed: %w", runID, ErrNotQueued)
	}
	if err != nil {
		return err
	}
	if r.State == StateCancel {
		a.dropPush(r)
	}
	a.queueChanged(ctx, runID)
	return nil
}

// queueRows is the queue of an account as screens and verbs show it.
func (a *App) queueRows(ctx context.Context, acc Account) ([]QueueRow, error) {
	all, err := a.store.Queue(ctx, acc.ID)
	if err != nil {
		return nil, err
	}
	paused, err := a.store.Get(ctx, queuePausedKey(acc))
	if err != nil {
		return nil, err
	}
	rows, stopped := []QueueRow{}, []QueueRow{}
	for _, q := range all {
		e := q.Entry
		row := QueueRow{RunRow: rowOf(q.Run, a.now(), speedOf(acc)), Code: e.Code, Why: e.Why, Since: e.Since, LastTry: e.TriedAt,
			NextTry: e.NotBefore, Stopped: !e.StoppedAt.IsZero(), Advice: e.Advice, Dir: e.Dir, Consent: e.Consent, Source: e.SourceSHA256,
			LeastH: e.Least.Hours(), FollowUp: e.FollowUp}
		switch {
		case row.Stopped:
			stopped = append(stopped, row)
			continue
		case q.Run.State == StatePushing:
			row.Code, row.Why = "pushing", "it is being pushed now"
		case q.Run.State == StateUnclear:
			row.Code, row.Why = "unclear", "whether its push arrived is being looked up"
		case q.Run.State != StateWaiting:
			continue // it left the queue; the entry was about to go
		case paused == "on":
			row.Code, row.Why = "paused", "the queue is paused"
		case row.Why == "":
			row.Code, row.Why = "due", "it is looked at next"
		}
		row.Position = len(rows) + 1
		rows = append(rows, row)
	}
	return append(rows, stopped...), nil
}
