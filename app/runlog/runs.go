package runlog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// runColumns and Run.fields are in the same order.
var runColumns = []string{
	"account", "kernel", "name", "project", "build_dir", "artifacts_dir", "command", "accelerator",
	"build_id", "source_sha256", "url", "version", "kernel_id", "cap", "folds", "jobs", "inputs",
	"state", "status", "failure", "outcome", "metric", "greater", "score", "baseline_name", "baseline_score",
	"prune_margin", "prune_min_frac", "created_at", "pushed_at", "queued_at", "started_at", "ended_at",
	"collected_at", "seen_at", "unreachable_since", "burned", "log_records", "consent", "note", "origin",
	"internet", "script_bytes", "parts", "ended_from",
}

func (r *Run) fields() []any {
	return []any{
		asID{&r.Account}, &r.Kernel, &r.Name, &r.Project, &r.BuildDir, &r.ArtifactsDir, &r.Command, &r.Accelerator,
		&r.BuildID, &r.SourceSHA256, &r.URL, &r.Version, &r.KernelID, asMillis{&r.Cap}, asJSON[int]{&r.Folds}, asJSON[string]{&r.Jobs}, asJSON[string]{&r.Inputs},
		&r.State, &r.Status, &r.Failure, &r.Outcome, &r.Metric, &r.Greater, &r.Score, &r.BaselineName, &r.BaselineScore,
		&r.PruneMargin, &r.PruneMinFrac, asTime{&r.CreatedAt}, asTime{&r.PushedAt}, asTime{&r.QueuedAt}, asTime{&r.StartedAt}, asTime{&r.EndedAt},
		asTime{&r.CollectedAt}, asTime{&r.SeenAt}, asTime{&r.UnreachableSince}, asMillis{&r.Burned}, &r.LogRecords, &r.Consent, &r.Note, &r.Origin,
		&r.Internet, &r.ScriptBytes, asJSON[Part]{&r.Parts}, &r.EndedFrom,
	}
}

var (
	selectRun = "SELECT id, " + strings.Join(runColumns, ", ") + " FROM runs"
	insertRun = "INSERT INTO runs (" + strings.Join(runColumns, ", ") + ") VALUES (" + marks(len(runColumns)) + ")"
	updateRun = "UPDATE runs SET " + strings.Join(runColumns, " = ?, ") + " = ? WHERE id = ?"
)

// marks is n question marks for a list of values.
func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

func (r *Run) scan(row interface{ Scan(...any) error }) error {
	return row.Scan(append([]any{&r.ID}, r.fields()...)...)
}

// getRun reads one run by a condition.
func getRun(ctx context.Context, db interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}, where string, args ...any) (Run, error) {
	var r Run
	err := r.scan(db.QueryRowContext(ctx, selectRun+" "+where, args...))
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return r, err
}

// CreateRun adds a run and gives it its ID.
func (l *Log) CreateRun(ctx context.Context, r Run) (Run, error) {
	if r.CreatedAt.IsZero() {
		r.CreatedAt = l.now()
	}
	var stored Run
	err := l.write(ctx, "log a run of "+r.Kernel, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, insertRun, r.fields()...)
		if err != nil {
			return err
		}
		id, err := res.LastInsertId()
		if err != nil {
			return err
		}
		stored, err = getRun(ctx, tx, "WHERE id = ?", id)
		return err
	})
	return stored, err
}

// UpdateRun reads a run, lets change edit it and stores it, all in one
// transaction: nothing that others wrote in between is lost. When change returns
// an error nothing is stored and that error comes back as it is. change must be
// quick and must not use the log.
func (l *Log) UpdateRun(ctx context.Context, id int64, change func(*Run) error) (Run, error) {
	var stored Run
	var refused error
	err := l.write(ctx, fmt.Sprintf("update run %d", id), func(tx *sql.Tx) error {
		r, err := getRun(ctx, tx, "WHERE id = ?", id)
		if err != nil {
			return err
		}
		if refused = change(&r); refused != nil {
			return refused
		}
		if _, err := tx.ExecContext(ctx, updateRun, append(r.fields(), id)...); err != nil {
			return err
		}
		stored, err = getRun(ctx, tx, "WHERE id = ?", id)
		return err
	})
	if refused != nil {
		return Run{}, refused
	}
	return stored, err
}

// Run gives one run, or ErrNotFound.
func (l *Log) Run(ctx context.Context, id int64) (Run, error) {
	op := fmt.Sprintf("read run %d", id)
	r, err := getRun(ctx, l.r, "WHERE id = ?", id)
	return r, l.fail(op, err)
}

// FindRun gives the run of a kernel's version; version 0 means the newest. Of
// several the one that was created last counts. account 0 means any.
// ErrNotFound when there is none.
func (l *Log) FindRun(ctx context.Context, account int64, kernel string, version int) (Run, error) {
	where, args := Filter{Account: account, Kernel: kernel, Version: version}.where()
	r, err := getRun(ctx, l.r, where+newestFirst+" LIMIT 1", args...)
	return r, l.fail("find a run of "+kernel, err)
}

const newestFirst = " ORDER BY created_at DESC, id DESC"

// Runs lists runs, newest first.
func (l *Log) Runs(ctx context.Context, f Filter) ([]Run, error) {
	where, args := f.where()
	q := selectRun + " " + where + newestFirst
	if f.Limit > 0 || f.Offset > 0 {
		limit := f.Limit
		if limit <= 0 {
			limit = -1 // SQLite: no limit
		}
		q += " LIMIT ? OFFSET ?"
		args = append(args, limit, f.Offset)
	}
	var runs []Run
	err := l.query(ctx, "list runs", q, args, func(rows *sql.Rows) error {
		var r Run
		if err := r.scan(rows); err != nil {
			return err
		}
		runs = append(runs, r)
		return nil
	})
	return runs, err
}

// where is the filter as SQL, "" when it lets everything through.
func (f Filter) where() (string, []any) {
	var terms []string
	var args []any
	add := func(active bool, term string, values ...any) {
		if active {
			terms, args = append(terms, term), append(args, values...)
		}
	}
	anyOf := func(column string, list []string) {
		add(list != nil, column+" IN ("+marks(len(list))+")", asAny(list)...)
	}
	add(f.Account != 0, "account = ?", f.Account)
	add(f.Kernel != "", "kernel = ?", f.Kernel)
	add(f.Version != 0, "version = ?", f.Version)
	add(f.Name != "", "name = ?", f.Name)
	add(f.Project != "", "project = ?", f.Project)
	add(f.Command != "", "command = ?", f.Command)
	add(f.Uncollected, "collected_at = 0")
	add(f.Unseen, "seen_at = 0")
	add(!f.Since.IsZero(), "created_at >= ?", toMillis(f.Since))
	anyOf("state", f.States)
	anyOf("accelerator", f.Accelerators)
	anyOf("origin", f.Origins)
	like := "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(f.Text) + "%"
	add(f.Text != "", `(name LIKE ? ESCAPE '\' OR kernel LIKE ? ESCAPE '\' OR command LIKE ? ESCAPE '\' OR project LIKE ? ESCAPE '\')`, like, like, like, like)
	if terms == nil {
		return "", nil
	}
	return "WHERE " + strings.Join(terms, " AND "), args
}

func asAny(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// DeleteRun removes a run and everything that belongs to it. Removing one that
// is not there is no error.
func (l *Log) DeleteRun(ctx context.Context, id int64) error {
	_, err := l.w.ExecContext(ctx, "DELETE FROM runs WHERE id = ?", id)
	return l.fail(fmt.Sprintf("remove run %d from the log", id), err)
}
