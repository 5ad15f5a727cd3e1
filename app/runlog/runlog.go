// Package runlog is the memory of Sandglass on this machine: runs and all that
// is known about them, accounts (never their secrets), quota readings, events
// and settings, in one SQLite file.
//
// Start at Open. The package knows rows, not rules: what a state means and what
// follows from it is decided by the caller. Several processes may open the same
// file; every method is safe for concurrent use, within and between processes.
//
// Every failure of the log is an *Error whose kind can be asked with errors.Is:
// ErrNotFound, ErrNewer, ErrReadOnly, ErrFull, ErrCorrupt, ErrBusy.
package runlog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"
)

// Options of a log. The zero value is fine.
type Options struct {
	Log *slog.Logger     // nil = discard
	Now func() time.Time // nil = time.Now
}

// Log is an open run log. Close it.
type Log struct {
	path string
	w    *sql.DB // one connection; every write goes through it
	r    *sql.DB // the readers
	log  *slog.Logger
	now  func() time.Time
}

// readers is how many reads may run at once.
const readers = 4

// Open opens the run log at path, makes it when it does not exist, and brings an
// older one up to date, after putting a copy of it beside it. A log that a newer
// Sandglass wrote, a damaged one and one that is not ours are refused unchanged.
func Open(ctx context.Context, path string, opt Options) (*Log, error) {
	return open(ctx, path, opt, migrations())
}

// open is Open with the migrations to apply, which tests extend.
func open(ctx context.Context, path string, opt Options, steps fs.FS) (*Log, error) {
	const op = "open the run log"
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, failure(op, path, err)
	}
	l := &Log{path: path, log: opt.Log, now: opt.Now}
	if l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	if l.now == nil {
		l.now = time.Now
	}
	if err := prepareFile(path); err != nil {
		return nil, failure(op, path, err)
	}
	if err := l.connect(ctx); err != nil {
		return nil, failure(op, path, err)
	}
	if err := l.migrate(ctx, steps); err != nil {
		l.Close()
		return nil, failure(op, path, err)
	}
	return l, nil
}

// prepareFile makes the file, readable by its owner alone (SQLite gives its
// helper files the same mode), and refuses one that is not SQLite's before
// SQLite gets to touch it.
func prepareFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	const magic = "SQLite format 3\x00"
	head := make([]byte, len(magic))
	switch n, err := io.ReadFull(f, head); {
	case err == io.EOF: // new
		return nil
	case err != nil && err != io.ErrUnexpectedEOF:
		return err
	case string(head[:n]) != magic:
		return &Error{Op: "open the run log", Path: path, Kind: ErrCorrupt, Err: errors.New("it does not begin as a SQLite file does")}
	}
	return nil
}

// connect opens the one writing connection and the readers. Pragmas are per
// connection, so they stand in the name that every new connection is made from.
// FULL: a run's intent row must survive a power cut, or a push could be repeated.
func (l *Log) connect(ctx context.Context) (err error) {
	common := url.Values{"_busy_timeout": {"5000"}, "_foreign_keys": {"on"}, "_journal_mode": {"WAL"}}
	writer := cloned(common, "_txlock", "immediate", "_synchronous", "FULL")
	reader := cloned(common, "_query_only", "on")
	if l.w, err = sql.Open("sqlite3", dataSource(l.path, writer)); err != nil {
		return err
	}
	l.w.SetMaxOpenConns(1)
	if l.r, err = sql.Open("sqlite3", dataSource(l.path, reader)); err != nil {
		l.w.Close()
		return err
	}
	l.r.SetMaxOpenConns(readers)
	l.r.SetMaxIdleConns(readers)
	if err := l.probe(ctx); err != nil {
		l.Close()
		return err
	}
	return nil
}

// probe takes and gives back the write lock: on a read-only file SQLite opens
// without complaint, and only this tells.
func (l *Log) probe(ctx context.Context) error {
	tx, err := l.w.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	return tx.Rollback()
}

func cloned(base url.Values, pairs ...string) url.Values {
	v := url.Values{}
	for k, vs := range base {
		v[k] = vs
	}
	for i := 0; i < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return v
}

// dataSource is the driver's name for a file. It is a URI, so that a path may
// contain a question mark, a hash or a percent sign.
func dataSource(path string, params url.Values) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // C:/Users becomes file:///C:/Users
	}
	u := url.URL{Scheme: "file", Path: p, RawQuery: params.Encode()}
	return u.String()
}

// Close closes the log. Writes that returned are on the disk.
func (l *Log) Close() error {
	return errors.Join(l.r.Close(), l.w.Close())
}

// Path is the file.
func (l *Log) Path() string { return l.path }

// DataVersion changes when another process (never this Log) has changed the file.
// Two values can only be compared for equality, and only within one Log.
func (l *Log) DataVersion(ctx context.Context) (int64, error) {
	// On the writing connection, because the number counts what other connections did.
	var v int64
	err := l.w.QueryRowContext(ctx, "PRAGMA data_version").Scan(&v)
	return v, l.fail("look for changes", err)
}

// CopyTo writes a consistent copy of the whole log to a file that must not exist.
func (l *Log) CopyTo(ctx context.Context, path string) error {
	if _, err := l.w.ExecContext(ctx, "VACUUM INTO ?", path); err != nil {
		return l.fail("copy the run log to "+path, err)
	}
	return l.fail("copy the run log to "+path, os.Chmod(path, 0o600))
}

// SetAside renames a damaged log, and what belongs to it, so that a new one can
// be made in its place, and says where it is now. Nothing is deleted. Call it
// only when the person agreed, and with the log closed.
func SetAside(path string, now time.Time) (string, error) {
	stamp := path + ".damaged-" + now.UTC().Format("20060102-150405")
	aside := stamp
	for n := 2; ; n++ {
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			break
		}
		aside = fmt.Sprintf("%s-%d", stamp, n)
	}
	for _, tail := range []string{"", "-wal", "-shm"} {
		err := os.Rename(path+tail, aside+tail)
		if err != nil && (tail == "" || !errors.Is(err, fs.ErrNotExist)) {
			return "", failure("set the run log aside", path, err)
		}
	}
	return aside, nil
}

// write runs f in one immediate transaction.
func (l *Log) write(ctx context.Context, op string, f func(tx *sql.Tx) error) error {
	tx, err := l.w.BeginTx(ctx, nil)
	if err != nil {
		return l.fail(op, err)
	}
	if err := f(tx); err != nil {
		tx.Rollback() //nolint:errcheck // the first error is the one to tell
		return l.fail(op, err)
	}
	return l.fail(op, tx.Commit())
}

// query calls scan for every row of a read.
func (l *Log) query(ctx context.Context, op, q string, args []any, scan func(*sql.Rows) error) error {
	rows, err := l.r.QueryContext(ctx, q, args...)
	if err != nil {
		return l.fail(op, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return l.fail(op, err)
		}
	}
	return l.fail(op, rows.Err())
}
