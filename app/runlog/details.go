package runlog

import (
	"context"
	"database/sql"
	"fmt"
	"math"
)

// PutTask adds or replaces the task with the same job and fold.
func (l *Log) PutTask(ctx context.Context, run int64, t Task) error {
	const q = `INSERT INTO tasks (run, job, fold, state, device, error, seconds, best, epochs) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (run, job, fold) DO UPDATE SET state = excluded.state, device = excluded.device, error = excluded.error,
		seconds = excluded.seconds, best = excluded.best, epochs = excluded.epochs`
	if t.Best != nil && math.IsNaN(*t.Best) {
		t.Best = nil // a diverged task has no best score
	}
	_, err := l.w.ExecContext(ctx, q, run, t.Job, asFold{&t.Fold}, t.State, t.Device, t.Error, t.Seconds, t.Best, t.Epochs)
	return l.fail(fmt.Sprintf("log a task of run %d", run), err)
}

// Tasks lists a run's tasks in the order in which they were first put.
func (l *Log) Tasks(ctx context.Context, run int64) ([]Task, error) {
	const q = "SELECT job, fold, state, device, error, seconds, best, epochs FROM tasks WHERE run = ? ORDER BY id"
	var list []Task
	err := l.query(ctx, "list tasks", q, []any{run}, func(rows *sql.Rows) error {
		var t Task
		if err := rows.Scan(&t.Job, asFold{&t.Fold}, &t.State, &t.Device, &t.Error, &t.Seconds, &t.Best, &t.Epochs); err != nil {
			return err
		}
		list = append(list, t)
		return nil
	})
	return list, err
}

// AddPoints merges points into a curve: an epoch that is there already takes the
// new values, so that a repeated batch changes nothing. Planned epochs of 0 leave
// a known number as it is.
func (l *Log) AddPoints(ctx context.Context, run int64, series string, c Curve) error {
	const head = `INSERT INTO curves (run, series, job, fold, epochs, greater) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (run, series, job, fold) DO UPDATE SET greater = excluded.greater,
		epochs = CASE WHEN excluded.epochs > 0 THEN excluded.epochs ELSE epochs END RETURNING id`
	const point = `INSERT INTO points (curve, epoch, score, seconds) VALUES (?, ?, ?, ?)
		ON CONFLICT (curve, epoch) DO UPDATE SET score = excluded.score, seconds = excluded.seconds`
	return l.write(ctx, fmt.Sprintf("log curve points of run %d", run), func(tx *sql.Tx) error {
		var id int64
		if err := tx.QueryRowContext(ctx, head, run, series, c.Job, c.Fold, c.Epochs, c.Greater).Scan(&id); err != nil {
			return err
		}
		stmt, err := tx.PrepareContext(ctx, point)
		if err != nil {
			return err
		}
		defer stmt.Close()
		for _, p := range c.Points {
			if _, err := stmt.ExecContext(ctx, id, p.Epoch, asReal{&p.Score}, asReal{&p.Seconds}); err != nil {
				return err
			}
		}
		return nil
	})
}

// Curves lists the curves of a series by job and fold.
func (l *Log) Curves(ctx context.Context, run int64, series string) ([]Curve, error) {
	const q = `SELECT c.id, c.job, c.fold, c.epochs, c.greater, p.epoch, p.score, p.seconds
		FROM curves c LEFT JOIN points p ON p.curve = c.id
		WHERE c.run = ? AND c.series = ? ORDER BY c.job, c.fold, p.epoch`
	var list []Curve
	last := int64(-1)
	err := l.query(ctx, "list curves", q, []any{run, series}, func(rows *sql.Rows) error {
		var id int64
		var c Curve
		var p Point
		var epoch sql.NullInt64 // NULL: a curve without points
		if err := rows.Scan(&id, &c.Job, &c.Fold, &c.Epochs, &c.Greater, &epoch, asReal{&p.Score}, asReal{&p.Seconds}); err != nil {
			return err
		}
		if id != last {
			list, last = append(list, c), id
		}
		if epoch.Valid {
			p.Epoch = int(epoch.Int64)
			list[len(list)-1].Points = append(list[len(list)-1].Points, p)
		}
		return nil
	})
	return list, err
}

// SetFindings replaces a run's findings.
func (l *Log) SetFindings(ctx context.Context, run int64, fs []Finding) error {
	return l.write(ctx, fmt.Sprintf("log findings of run %d", run), func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM findings WHERE run = ?", run); err != nil {
			return err
		}
		const q = "INSERT INTO findings (run, n, code, level, text, detail, fix) VALUES (?, ?, ?, ?, ?, ?, ?)"
		for i, f := range fs {
			if _, err := tx.ExecContext(ctx, q, run, i, f.Code, f.Level, f.Text, f.Detail, f.Fix); err != nil {
				return err
			}
		}
		return nil
	})
}

// Findings lists a run's findings in the order in which they were set.
func (l *Log) Findings(ctx context.Context, run int64) ([]Finding, error) {
	var list []Finding
	const q = "SELECT code, level, text, detail, fix FROM findings WHERE run = ? ORDER BY n"
	err := l.query(ctx, "list findings", q, []any{run}, func(rows *sql.Rows) error {
		var f Finding
		if err := rows.Scan(&f.Code, &f.Level, &f.Text, &f.Detail, &f.Fix); err != nil {
			return err
		}
		list = append(list, f)
		return nil
	})
	return list, err
}

// SetFiles replaces a run's list of files. Of two with one path the last counts.
func (l *Log) SetFiles(ctx context.Context, run int64, fs []File) error {
	return l.write(ctx, fmt.Sprintf("log files of run %d", run), func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM files WHERE run = ?", run); err != nil {
			return err
		}
		const q = "INSERT OR REPLACE INTO files (run, path, size, sha256, state, local) VALUES (?, ?, ?, ?, ?, ?)"
		for _, f := range fs {
			if _, err := tx.ExecContext(ctx, q, run, f.Path, f.Size, f.SHA256, f.State, f.Local); err != nil {
				return err
			}
		}
		return nil
	})
}

// Files lists a run's files by path.
func (l *Log) Files(ctx context.Context, run int64) ([]File, error) {
	var list []File
	const q = "SELECT path, size, sha256, state, local FROM files WHERE run = ? ORDER BY path"
	err := l.query(ctx, "list files", q, []any{run}, func(rows *sql.Rows) error {
		var f File
		if err := rows.Scan(&f.Path, &f.Size, &f.SHA256, &f.State, &f.Local); err != nil {
			return err
		}
		list = append(list, f)
		return nil
	})
	return list, err
}
