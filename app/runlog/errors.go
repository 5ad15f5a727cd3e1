package runlog

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/mattn/go-sqlite3"
)

// Kinds of failure, for errors.Is.
var (
	ErrNotFound = errors.New("no such row")
	ErrNewer    = errors.New("the run log was written by a newer Sandglass")
	ErrReadOnly = errors.New("the run log cannot be written")
	ErrFull     = errors.New("the disk is full")
	ErrCorrupt  = errors.New("the run log is damaged or is no run log")
	ErrBusy     = errors.New("the run log is in use by another program")
)

// Error is a failure of the log.
type Error struct {
	Op   string // what was being done
	Path string // the file
	Kind error  // one of the kinds above, nil for anything else
	Err  error  // the cause, may be nil
}

// Error is one sentence: what happened, what was kept, what to do.
func (e *Error) Error() string {
	cause := ""
	if e.Err != nil {
		cause = fmt.Sprintf(" (%v)", e.Err)
	}
	switch e.Kind {
	case ErrNotFound:
		return fmt.Sprintf("%s: no such row in the run log", e.Op)
	case ErrNewer:
		return fmt.Sprintf("the run log %s was written by a newer Sandglass%s; it was left as it is: update Sandglass, or set SANDGLASS_HOME to another folder", e.Path, cause)
	case ErrReadOnly:
		return fmt.Sprintf("%s: the run log %s cannot be written%s; nothing was changed: make its folder writable, or set SANDGLASS_HOME to one that is", e.Op, e.Path, cause)
	case ErrFull:
		return fmt.Sprintf("%s: no space is left for the run log %s%s; what was in it is kept: free some space and try again", e.Op, e.Path, cause)
	case ErrCorrupt:
		return fmt.Sprintf("%s: %s is damaged or is no run log of Sandglass%s; it was left as it is: set it aside to start a new one, or put back one of the copies beside it", e.Op, e.Path, cause)
	case ErrBusy:
		return fmt.Sprintf("%s: another program keeps the run log %s locked%s; nothing was changed: try again, and close the other program if it hangs", e.Op, e.Path, cause)
	}
	return fmt.Sprintf("%s: run log %s%s", e.Op, e.Path, cause)
}

// Unwrap gives the kind and the cause.
func (e *Error) Unwrap() []error {
	var errs []error
	for _, err := range []error{e.Kind, e.Err} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// fail wraps an error of SQLite, of the file system or of database/sql.
func (l *Log) fail(op string, err error) error {
	return failure(op, l.path, err)
}

func failure(op, path string, err error) error {
	var already *Error
	if err == nil || errors.As(err, &already) {
		return err
	}
	kind := kindOf(err)
	if err == kind {
		err = nil
	}
	return &Error{Op: op, Path: path, Kind: kind, Err: err}
}

func kindOf(err error) error {
	for _, kind := range []error{ErrNotFound, ErrNewer, ErrReadOnly, ErrFull, ErrCorrupt, ErrBusy} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	var se sqlite3.Error
	if errors.As(err, &se) {
		return kindOfSQLite(se)
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return ErrFull
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return ErrReadOnly
	}
	return nil
}

// kindOfSQLite sorts SQLite's result codes. A full disk often comes as an I/O
// error with the system's own number beside it, and a read-only folder as "can't
// open" because the WAL cannot be made in it.
func kindOfSQLite(se sqlite3.Error) error {
	if se.SystemErrno == syscall.ENOSPC || se.SystemErrno == syscall.EDQUOT {
		return ErrFull
	}
	switch se.Code {
	case sqlite3.ErrFull:
		return ErrFull
	case sqlite3.ErrReadonly, sqlite3.ErrCantOpen, sqlite3.ErrPerm:
		return ErrReadOnly
	case sqlite3.ErrCorrupt, sqlite3.ErrNotADB:
		return ErrCorrupt
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return ErrBusy
	case sqlite3.ErrConstraint:
		if se.ExtendedCode == sqlite3.ErrConstraintForeignKey {
			return ErrNotFound // what the row belongs to is gone
		}
	}
	return nil
}
