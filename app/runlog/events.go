package runlog

import (
	"context"
	"database/sql"
	"errors"
)

// KeepEvents is how many events stay in the log. A reader that is further behind
// finds a gap in the numbers and should read everything anew.
const KeepEvents = 5000

// AppendEvent stores an event and gives its sequence number. The newest KeepEvents are kept.
func (l *Log) AppendEvent(ctx context.Context, e Event) (int64, error) {
	if e.At.IsZero() {
		e.At = l.now()
	}
	var seq int64
	err := l.write(ctx, "log an event", func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, "INSERT INTO events (kind, run, at, data) VALUES (?, ?, ?, ?)", e.Kind, e.Run, asTime{&e.At}, e.Data)
		if err != nil {
			return err
		}
		if seq, err = res.LastInsertId(); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM events WHERE seq <= ?", seq-KeepEvents)
		return err
	})
	return seq, err
}

// EventsAfter lists the events with a higher sequence number, oldest first.
func (l *Log) EventsAfter(ctx context.Context, seq int64) ([]Event, error) {
	var list []Event
	const q = "SELECT seq, kind, run, at, data FROM events WHERE seq > ? ORDER BY seq"
	err := l.query(ctx, "list events", q, []any{seq}, func(rows *sql.Rows) error {
		var e Event
		if err := rows.Scan(&e.Seq, &e.Kind, &e.Run, asTime{&e.At}, &e.Data); err != nil {
			return err
		}
		list = append(list, e)
		return nil
	})
	return list, err
}

// LastEvent is the highest sequence number so far, 0 when nothing ever happened.
func (l *Log) LastEvent(ctx context.Context) (int64, error) {
	var seq int64
	err := l.r.QueryRowContext(ctx, "SELECT coalesce(max(seq), 0) FROM events").Scan(&seq)
	return seq, l.fail("read the last event", err)
}

// Once is true the first time ever that it is asked for key, in any process.
func (l *Log) Once(ctx context.Context, key string) (bool, error) {
	now := l.now()
	res, err := l.w.ExecContext(ctx, "INSERT OR IGNORE INTO once (key, at) VALUES (?, ?)", key, asTime{&now})
	if err != nil {
		return false, l.fail("remember "+key, err)
	}
	n, err := res.RowsAffected()
	return n == 1, l.fail("remember "+key, err)
}

// Get gives a setting, "" when it was never set.
func (l *Log) Get(ctx context.Context, key string) (string, error) {
	var value string
	err := l.r.QueryRowContext(ctx, "SELECT value FROM settings WHERE key = ?", key).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return value, l.fail("read the setting "+key, err)
}

// Set stores a setting.
func (l *Log) Set(ctx context.Context, key, value string) error {
	const q = "INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
	_, err := l.w.ExecContext(ctx, q, key, value)
	return l.fail("store the setting "+key, err)
}
