package runlog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// BacklogItem is a run that could be started one day.
type BacklogItem struct {
	ID        int64 // set by AddBacklog
	Name      string
	Project   string // folder, "" = none
	Command   string
	Dir       string   // build folder, "" = not built yet
	Pool      string   // gpu, tpu, cpu
	Hours     float64  // it will probably burn; 0 = not known
	Gain      *float64 // expected, above zero is better; nil = not known
	GainSD    *float64
	Validated bool
	Divisible bool
	State     string // todo, done, dropped
	Note      string
	AddedAt   time.Time
	ChangedAt time.Time
}

var backlogColumns = []string{"name", "project", "command", "dir", "pool", "hours", "gain", "gain_sd", "validated", "divisible",
	"state", "note", "added_at", "changed_at"}

func (b *BacklogItem) fields() []any {
	return []any{&b.Name, &b.Project, &b.Command, &b.Dir, &b.Pool, &b.Hours, &b.Gain, &b.GainSD, &b.Validated, &b.Divisible,
		&b.State, &b.Note, asTime{&b.AddedAt}, asTime{&b.ChangedAt}}
}

var (
	selectBacklog = "SELECT id, " + strings.Join(backlogColumns, ", ") + " FROM backlog"
	insertBacklog = "INSERT INTO backlog (" + strings.Join(backlogColumns, ", ") + ") VALUES (" + marks(len(backlogColumns)) + ")"
	updateBacklog = "UPDATE backlog SET " + strings.Join(backlogColumns, " = ?, ") + " = ? WHERE id = ?"
)

func getBacklog(ctx context.Context, tx *sql.Tx, id int64) (BacklogItem, error) {
	b := BacklogItem{ID: id}
	var got int64
	err := tx.QueryRowContext(ctx, selectBacklog+" WHERE id = ?", id).Scan(append([]any{&got}, b.fields()...)...)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return b, err
}

// AddBacklog adds an item and gives it its ID. check sees every other item in the same transaction and may refuse; its
// error comes back as it is.
func (l *Log) AddBacklog(ctx context.Context, b BacklogItem, check func(others []BacklogItem) error) (BacklogItem, error) {
	b.AddedAt = l.now()
	b.ChangedAt = b.AddedAt
	var refused error
	err := l.write(ctx, "add "+b.Name+" to the backlog", func(tx *sql.Tx) error {
		if check != nil {
			others, err := listBacklog(ctx, tx)
			if err != nil {
				return err
			}
			if refused = check(others); refused != nil {
				return refused
			}
		}
		res, err := tx.ExecContext(ctx, insertBacklog, b.fields()...)
		if err != nil {
			return err
		}
		if b.ID, err = res.LastInsertId(); err != nil {
			return err
		}
		b, err = getBacklog(ctx, tx, b.ID)
		return err
	})
	if refused != nil {
		return BacklogItem{}, refused
	}
	return b, err
}

// UpdateBacklog reads an item, lets change edit it and stores it, all in one transaction. An error of change comes back as
// it is and nothing is stored.
func (l *Log) UpdateBacklog(ctx context.Context, id int64, change func(*BacklogItem) error) (BacklogItem, error) {
	var b BacklogItem
	var refused error
	err := l.write(ctx, fmt.Sprintf("change item %d of the backlog", id), func(tx *sql.Tx) error {
		var err error
		if b, err = getBacklog(ctx, tx, id); err != nil {
			return err
		}
		if refused = change(&b); refused != nil {
			return refused
		}
		b.ChangedAt = l.now()
		if _, err := tx.ExecContext(ctx, updateBacklog, append(b.fields(), id)...); err != nil {
			return err
		}
		b, err = getBacklog(ctx, tx, id)
		return err
	})
	if refused != nil {
		return BacklogItem{}, refused
	}
	return b, err
}

// Backlog lists every item, the oldest first.
func (l *Log) Backlog(ctx context.Context) ([]BacklogItem, error) {
	var out []BacklogItem
	err := l.query(ctx, "list the backlog", selectBacklog+" ORDER BY id", nil, func(rows *sql.Rows) error {
		var b BacklogItem
		if err := rows.Scan(append([]any{&b.ID}, b.fields()...)...); err != nil {
			return err
		}
		out = append(out, b)
		return nil
	})
	return out, err
}

func listBacklog(ctx context.Context, tx *sql.Tx) ([]BacklogItem, error) {
	rows, err := tx.QueryContext(ctx, selectBacklog+" ORDER BY id")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []BacklogItem
	for rows.Next() {
		var b BacklogItem
		if err := rows.Scan(append([]any{&b.ID}, b.fields()...)...); err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, rows.Err()
}
