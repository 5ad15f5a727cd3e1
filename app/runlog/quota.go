package runlog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

const quotaColumns = "gpu_used, gpu_reserved, gpu_total, tpu_used, tpu_reserved, tpu_total, refresh_at"

// poolColumns are the three columns of a pool; all NULL when it was not reported.
func poolColumns(p *PoolReading) []any {
	if p == nil {
		return []any{nil, nil, nil}
	}
	return []any{asMillis{&p.Used}, asMillis{&p.Reserved}, asMillis{&p.Total}}
}

// AddQuota appends a reading. Of several equal ones in a row the first and the
// last are kept: the value held from the one to the other.
func (l *Log) AddQuota(ctx context.Context, account int64, q QuotaReading) error {
	if q.At.IsZero() {
		q.At = l.now()
	}
	values := append(append(poolColumns(q.GPU), poolColumns(q.TPU)...), asTime{&q.RefreshAt})
	return l.write(ctx, fmt.Sprintf("log the quota of account %d", account), func(tx *sql.Tx) error {
		middle, err := heldValue(ctx, tx, account, values)
		if err != nil {
			return err
		}
		if middle != 0 {
			_, err := tx.ExecContext(ctx, "UPDATE quota SET at = ? WHERE id = ?", asTime{&q.At}, middle)
			return err
		}
		args := append([]any{account, asTime{&q.At}}, values...)
		_, err = tx.ExecContext(ctx, "INSERT INTO quota (account, at, "+quotaColumns+") VALUES ("+marks(len(args))+")", args...)
		return err
	})
}

// heldValue gives the row of the newest reading when it and the one before both
// equal values, else 0.
func heldValue(ctx context.Context, tx *sql.Tx, account int64, values []any) (int64, error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, (`+quotaColumns+`) IS (?, ?, ?, ?, ?, ?, ?)
		FROM quota WHERE account = ? ORDER BY id DESC LIMIT 2`, append(values, account)...)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var newest int64
	equal := 0
	for rows.Next() {
		var id int64
		var same bool
		if err := rows.Scan(&id, &same); err != nil {
			return 0, err
		}
		if newest == 0 {
			newest = id
		}
		if same {
			equal++
		}
	}
	if equal < 2 {
		newest = 0
	}
	return newest, rows.Err()
}

// LastQuota gives the reading of an account that came last, or ErrNotFound. Which
// one that is no clock decides: it may have been set back since.
func (l *Log) LastQuota(ctx context.Context, account int64) (QuotaReading, error) {
	op := fmt.Sprintf("read the quota of account %d", account)
	row := l.r.QueryRowContext(ctx, "SELECT at, "+quotaColumns+" FROM quota WHERE account = ? ORDER BY id DESC LIMIT 1", account)
	q, err := scanQuota(row)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return q, l.fail(op, err)
}

// QuotaHistory lists an account's readings since a time (zero = all), oldest first.
func (l *Log) QuotaHistory(ctx context.Context, account int64, since time.Time) ([]QuotaReading, error) {
	const q = "SELECT at, " + quotaColumns + " FROM quota WHERE account = ? AND at >= ? ORDER BY at, id"
	var list []QuotaReading
	err := l.query(ctx, fmt.Sprintf("list the quota of account %d", account), q, []any{account, toMillis(since)}, func(rows *sql.Rows) error {
		q, err := scanQuota(rows)
		list = append(list, q)
		return err
	})
	return list, err
}

func scanQuota(row interface{ Scan(...any) error }) (QuotaReading, error) {
	var q QuotaReading
	var v [6]sql.NullInt64
	if err := row.Scan(asTime{&q.At}, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], asTime{&q.RefreshAt}); err != nil {
		return q, err
	}
	q.GPU, q.TPU = poolOf(v[:3]), poolOf(v[3:])
	return q, nil
}

func poolOf(v []sql.NullInt64) *PoolReading {
	if !v[2].Valid {
		return nil
	}
	ms := func(n sql.NullInt64) time.Duration { return time.Duration(n.Int64) * time.Millisecond }
	return &PoolReading{Used: ms(v[0]), Reserved: ms(v[1]), Total: ms(v[2])}
}
