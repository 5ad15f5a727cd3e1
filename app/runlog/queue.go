package runlog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// QueueEntry is a run's place in the launch queue and what the person agreed to
// when it was put there. It is removed when the run has been pushed.
type QueueEntry struct {
	Run          int64
	Account      int64
	Place        int64     // order within the account; CreateQueued gives it
	Since        time.Time // when it was authorised
	Consent      string    // who authorised it
	Dir          string    // build folder
	Cap          time.Duration
	Accelerator  string
	SourceSHA256 string
	TriedAt      time.Time // last look or try
	NotBefore    time.Time // Kaggle asked for a pause until then
	Code         string    // what it waits for
	Why          string    // the same in a sentence
	StoppedAt    time.Time // not zero: the authorisation ended, Why and Advice say how
	Advice       string
	Least        time.Duration // it may start with a shorter cap, from this one on; 0 = with Cap only
	FollowUp     bool          // it goes on with a run that was stopped
}

// QueuedRun is a run with its place in the queue.
type QueuedRun struct {
	Run   Run
	Entry QueueEntry
}

var queueColumns = []string{"run", "account", "place", "since", "consent", "dir", "cap", "accelerator", "source_sha256",
	"tried_at", "not_before", "code", "why", "stopped_at", "advice", "least", "follow_up"}

func (e *QueueEntry) fields() []any {
	return []any{&e.Run, &e.Account, &e.Place, asTime{&e.Since}, &e.Consent, &e.Dir, asMillis{&e.Cap}, &e.Accelerator, &e.SourceSHA256,
		asTime{&e.TriedAt}, asTime{&e.NotBefore}, &e.Code, &e.Why, asTime{&e.StoppedAt}, &e.Advice, asMillis{&e.Least}, &e.FollowUp}
}

var (
	selectEntry = "SELECT " + strings.Join(queueColumns, ", ") + " FROM queue"
	replaceEnt  = "INSERT OR REPLACE INTO queue (" + strings.Join(queueColumns, ", ") + ") VALUES (" + marks(len(queueColumns)) + ")"
	selectBoth  = "SELECT runs.id, runs." + strings.Join(runColumns, ", runs.") + ", queue." + strings.Join(queueColumns, ", queue.") +
		" FROM queue JOIN runs ON runs.id = queue.run"
)

// placeFor is the place of a new entry of account ?1, which is a follow-up or not (?2).
const placeFor = `SELECT coalesce(
	(SELECT min(place) FROM queue WHERE ?2 AND account = ?1 AND stopped_at = 0 AND NOT follow_up),
	(SELECT max(place) + 1 FROM queue WHERE account = ?1), 1)`

const inPlace = " ORDER BY queue.place, queue.run"

// CreateQueued adds a run together with its place at the end of the queue, in one
// transaction: there is never one without the other. A follow-up comes behind the
// follow-ups at the queue's head instead, before what has not begun.
func (l *Log) CreateQueued(ctx context.Context, r Run, e QueueEntry) (Run, error) {
	if r.CreatedAt.IsZero() {
		r.CreatedAt = l.now()
	}
	var stored Run
	err := l.write(ctx, "queue a run of "+r.Kernel, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, insertRun, r.fields()...)
		if err != nil {
			return err
		}
		if e.Run, err = res.LastInsertId(); err != nil {
			return err
		}
		e.Account = r.Account
		if err := tx.QueryRowContext(ctx, placeFor, e.Account, e.FollowUp).Scan(&e.Place); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE queue SET place = place + 1 WHERE account = ? AND place >= ?", e.Account, e.Place); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, replaceEnt, e.fields()...); err != nil {
			return err
		}
		stored, err = getRun(ctx, tx, "WHERE id = ?", e.Run)
		return err
	})
	return stored, err
}

// Queue lists an account's queue in its order, stopped entries included.
func (l *Log) Queue(ctx context.Context, account int64) ([]QueuedRun, error) {
	var out []QueuedRun
	err := l.query(ctx, "read the queue", selectBoth+" WHERE queue.account = ?"+inPlace, []any{account}, func(rows *sql.Rows) error {
		var q QueuedRun
		if err := rows.Scan(append(append([]any{&q.Run.ID}, q.Run.fields()...), q.Entry.fields()...)...); err != nil {
			return err
		}
		out = append(out, q)
		return nil
	})
	return out, err
}

// Queued gives one run's entry, or ErrNotFound.
func (l *Log) Queued(ctx context.Context, run int64) (QueueEntry, error) {
	var e QueueEntry
	err := l.r.QueryRowContext(ctx, selectEntry+" WHERE run = ?", run).Scan(e.fields()...)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return e, l.fail(fmt.Sprintf("read the place of run %d in the queue", run), err)
}

// UpdateQueued reads a run and its entry, lets change edit both and stores them in
// one transaction. When change says keep = false the entry is removed. An error of
// change stores nothing and comes back as it is; a run without an entry is
// ErrNotFound. change must be quick and must not use the log.
func (l *Log) UpdateQueued(ctx context.Context, run int64, change func(*Run, *QueueEntry) (keep bool, err error)) (Run, error) {
	var stored Run
	var refused error
	err := l.write(ctx, fmt.Sprintf("update run %d in the queue", run), func(tx *sql.Tx) error {
		r, err := getRun(ctx, tx, "WHERE id = ?", run)
		if err != nil {
			return err
		}
		var e QueueEntry
		err = tx.QueryRowContext(ctx, selectEntry+" WHERE run = ?", run).Scan(e.fields()...)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNotFound
		}
		if err != nil {
			return err
		}
		keep, cerr := change(&r, &e)
		if refused = cerr; cerr != nil {
			return cerr
		}
		if _, err := tx.ExecContext(ctx, updateRun, append(r.fields(), run)...); err != nil {
			return err
		}
		if keep {
			_, err = tx.ExecContext(ctx, replaceEnt, e.fields()...)
		} else {
			_, err = tx.ExecContext(ctx, "DELETE FROM queue WHERE run = ?", run)
		}
		if err != nil {
			return err
		}
		stored, err = getRun(ctx, tx, "WHERE id = ?", run)
		return err
	})
	if refused != nil {
		return Run{}, refused
	}
	return stored, err
}

// Dequeue removes an entry and leaves its run as it is. One that is not there is
// no error.
func (l *Log) Dequeue(ctx context.Context, run int64) error {
	_, err := l.w.ExecContext(ctx, "DELETE FROM queue WHERE run = ?", run)
	return l.fail(fmt.Sprintf("take run %d out of the queue", run), err)
}

// MoveQueued moves an entry by delta places among those that still wait (negative:
// towards the front); it stops at either end. A run that is not in it, or whose
// entry was stopped, is ErrNotFound.
func (l *Log) MoveQueued(ctx context.Context, account, run int64, delta int) error {
	return l.write(ctx, fmt.Sprintf("move run %d in the queue", run), func(tx *sql.Tx) error {
		order, err := queueOrder(ctx, tx, account)
		if err != nil {
			return err
		}
		from := slices.Index(order, run)
		if from < 0 {
			return ErrNotFound
		}
		to := min(max(from+min(max(delta, -len(order)), len(order)), 0), len(order)-1)
		order = slices.Insert(slices.Delete(order, from, from+1), to, run)
		for i, id := range order {
			if _, err := tx.ExecContext(ctx, "UPDATE queue SET place = ? WHERE run = ?", i+1, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// queueOrder is the runs that still wait, in order.
func queueOrder(ctx context.Context, tx *sql.Tx, account int64) ([]int64, error) {
	rows, err := tx.QueryContext(ctx, "SELECT run FROM queue WHERE account = ? AND stopped_at = 0 ORDER BY place, run", account)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var order []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		order = append(order, id)
	}
	return order, rows.Err()
}

// Requeue puts a run that left the queue back as r, with its entry e as it was, in one transaction. check sees the run as it
// is now and may refuse; its error comes back as it is and nothing is stored.
func (l *Log) Requeue(ctx context.Context, r Run, e QueueEntry, check func(now Run) error) (Run, error) {
	var stored Run
	var refused error
	err := l.write(ctx, fmt.Sprintf("put run %d back into the queue", r.ID), func(tx *sql.Tx) error {
		now, err := getRun(ctx, tx, "WHERE id = ?", r.ID)
		if err != nil {
			return err
		}
		if refused = check(now); refused != nil {
			return refused
		}
		if _, err := tx.ExecContext(ctx, updateRun, append(r.fields(), r.ID)...); err != nil {
			return err
		}
		e.Run, e.Account = r.ID, r.Account
		if _, err := tx.ExecContext(ctx, replaceEnt, e.fields()...); err != nil {
			return err
		}
		stored, err = getRun(ctx, tx, "WHERE id = ?", r.ID)
		return err
	})
	if refused != nil {
		return Run{}, refused
	}
	return stored, err
}
