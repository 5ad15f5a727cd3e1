// Package runlog is the memory of Sandglass on this machine: runs and all that
// is known about them, accounts (never their secrets), quota readings, events
// and settings, in one SQLite file.
//
// Start at Open. The package knows rows, not rules: what a state means and what
// follows from it is decided by the caller. Several processes may open the same
// file; every method is safe for concurrent use, within and between processes.
//
// Every failure is an *Error whose kind can be asked with errors.Is: ErrNotFound,
// ErrNewer, ErrReadOnly, ErrFull, ErrCorrupt, ErrBusy.
package runlog

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"time"
)

// Kinds of failure.
var (
	ErrNotFound = errors.New("no such row")
	ErrNewer    = errors.New("the run log was written by a newer Sandglass")
	ErrReadOnly = errors.New("the run log cannot be written")
	ErrFull     = errors.New("the disk is full")
	ErrCorrupt  = errors.New("the run log is damaged or is no run log")
	ErrBusy     = errors.New("the run log is in use by another program")
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

// Open opens the run log at path, makes it when it does not exist, and brings an
// older one up to date, after putting a copy of it beside it. A log that a newer
// Sandglass wrote, a damaged one and one that is not ours are refused unchanged.
func Open(ctx context.Context, path string, opt Options) (*Log, error) { return nil, nil }

// Close closes the log. Writes that returned are on the disk.
func (l *Log) Close() error { return nil }

// Path is the file.
func (l *Log) Path() string { return l.path }

// CopyTo writes a consistent copy of the whole log to a file that must not exist.
func (l *Log) CopyTo(ctx context.Context, path string) error { return nil }

// SetAside renames a damaged log, and what belongs to it, so that a new one can
// be made in its place, and says where it is now. Nothing is deleted. Call it
// only when the person agreed.
func SetAside(path string, now time.Time) (string, error) { return "", nil }

// DataVersion changes when another process (never this Log) has changed the file.
// Two values can only be compared for equality, and only within one Log.
func (l *Log) DataVersion(ctx context.Context) (int64, error) { return 0, nil }

// CreateRun adds a run and gives it its ID.
func (l *Log) CreateRun(ctx context.Context, r Run) (Run, error) { return r, nil }

// UpdateRun reads a run, lets change edit it and stores it, all in one
// transaction: nothing that others wrote in between is lost. When change returns
// an error nothing is stored and that error comes back as it is. change must be
// quick and must not use the log.
func (l *Log) UpdateRun(ctx context.Context, id int64, change func(*Run) error) (Run, error) {
	return Run{}, nil
}

// Run gives one run, or ErrNotFound.
func (l *Log) Run(ctx context.Context, id int64) (Run, error) { return Run{}, nil }

// FindRun gives the run of a kernel's version; version 0 means the newest.
// account 0 means any. ErrNotFound when there is none.
func (l *Log) FindRun(ctx context.Context, account int64, kernel string, version int) (Run, error) {
	return Run{}, nil
}

// Runs lists runs, newest first.
func (l *Log) Runs(ctx context.Context, f Filter) ([]Run, error) { return nil, nil }

// DeleteRun removes a run and everything that belongs to it. Removing one that
// is not there is no error.
func (l *Log) DeleteRun(ctx context.Context, id int64) error { return nil }

// SaveAccount stores an account. With ID 0 an existing account of the same kind,
// endpoint and username is updated, else one is added. The stored row comes back.
func (l *Log) SaveAccount(ctx context.Context, a Account) (Account, error) { return a, nil }

// Accounts lists all accounts, the last used first, signed-out ones included.
func (l *Log) Accounts(ctx context.Context) ([]Account, error) { return nil, nil }

// Account gives one account, or ErrNotFound.
func (l *Log) Account(ctx context.Context, id int64) (Account, error) { return Account{}, nil }

// DeleteAccount removes an account without runs, with its quota readings. One
// that has runs is refused: sign it out instead.
func (l *Log) DeleteAccount(ctx context.Context, id int64) error { return nil }

// PutTask adds or replaces the task with the same job and fold.
func (l *Log) PutTask(ctx context.Context, run int64, t Task) error { return nil }

// Tasks lists a run's tasks in the order in which they were first put.
func (l *Log) Tasks(ctx context.Context, run int64) ([]Task, error) { return nil, nil }

// AddPoints merges points into a curve: an epoch that is there already takes the
// new values, so that a repeated batch changes nothing.
func (l *Log) AddPoints(ctx context.Context, run int64, series string, c Curve) error { return nil }

// Curves lists the curves of a series by job and fold.
func (l *Log) Curves(ctx context.Context, run int64, series string) ([]Curve, error) { return nil, nil }

// AddUtil appends samples. A sample that is not later than the device's last one
// is a repeat and is left out. Beyond MaxUtil samples of a device neighbours are
// merged (mean utilisation and power, largest memory).
func (l *Log) AddUtil(ctx context.Context, run int64, samples []UtilSample) error { return nil }

// Util lists a run's samples by device and time.
func (l *Log) Util(ctx context.Context, run int64) ([]UtilSample, error) { return nil, nil }

// SetFindings replaces a run's findings.
func (l *Log) SetFindings(ctx context.Context, run int64, fs []Finding) error { return nil }

// Findings lists a run's findings in the order in which they were set.
func (l *Log) Findings(ctx context.Context, run int64) ([]Finding, error) { return nil, nil }

// SetFiles replaces a run's list of files.
func (l *Log) SetFiles(ctx context.Context, run int64, fs []File) error { return nil }

// Files lists a run's files by path.
func (l *Log) Files(ctx context.Context, run int64) ([]File, error) { return nil, nil }

// AddQuota appends a reading. Of several equal ones in a row the first and the
// last are kept.
func (l *Log) AddQuota(ctx context.Context, account int64, q QuotaReading) error { return nil }

// LastQuota gives the newest reading of an account, or ErrNotFound.
func (l *Log) LastQuota(ctx context.Context, account int64) (QuotaReading, error) {
	return QuotaReading{}, nil
}

// QuotaHistory lists an account's readings since a time (zero = all), oldest first.
func (l *Log) QuotaHistory(ctx context.Context, account int64, since time.Time) ([]QuotaReading, error) {
	return nil, nil
}

// AppendEvent stores an event and gives its sequence number. The newest KeepEvents are kept.
func (l *Log) AppendEvent(ctx context.Context, e Event) (int64, error) { return 0, nil }

// EventsAfter lists the events with a higher sequence number, oldest first.
func (l *Log) EventsAfter(ctx context.Context, seq int64) ([]Event, error) { return nil, nil }

// LastEvent is the highest sequence number so far, 0 when nothing ever happened.
func (l *Log) LastEvent(ctx context.Context) (int64, error) { return 0, nil }

// Once is true the first time ever that it is asked for key, in any process.
func (l *Log) Once(ctx context.Context, key string) (bool, error) { return false, nil }

// Get gives a setting, "" when it was never set.
func (l *Log) Get(ctx context.Context, key string) (string, error) { return "", nil }

// Set stores a setting.
func (l *Log) Set(ctx context.Context, key, value string) error { return nil }
