package runlog

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"
	"github.com/pressly/goose/v3"
)

// The schema, as numbered steps that only go forward. A released step is never
// edited: a change is a new file.
//
//go:embed migrations/*.sql
var embedded embed.FS

func migrations() fs.FS {
	sub, err := fs.Sub(embedded, "migrations")
	if err != nil {
		panic(err) // the folder is compiled in
	}
	return sub
}

// applicationID marks the file as ours in its header ("SGLG").
const applicationID = 0x53474c47

// migrate brings the file up to the newest step. A lock file keeps two processes
// that start together from taking the same step.
func (l *Log) migrate(ctx context.Context, steps fs.FS) error {
	p, err := goose.NewProvider(goose.DialectSQLite3, l.w, steps,
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return err
	}
	sources := p.ListSources()
	target := sources[len(sources)-1].Version
	if done, err := l.checkVersion(ctx, target); done || err != nil {
		return err
	}
	lock := flock.New(l.path + ".lock")
	locked, err := lock.TryLockContext(ctx, 50*time.Millisecond)
	if err != nil || !locked {
		return fmt.Errorf("wait for another program that brings it up to date: %w", err)
	}
	defer lock.Unlock() //nolint:errcheck // nothing depends on it any more
	if done, err := l.checkVersion(ctx, target); done || err != nil {
		return err
	}
	return l.stepUp(ctx, p, target)
}

// stepUp takes the steps one by one, each in its own transaction, the first after
// a copy of what was there; a new file has nothing to copy.
func (l *Log) stepUp(ctx context.Context, p *goose.Provider, target int64) error {
	for copied := false; ; {
		from, _, err := l.schema(ctx)
		if err != nil {
			return err
		}
		if from >= target {
			return nil
		}
		if from > 0 && !copied {
			if err := l.copyBefore(ctx, from); err != nil {
				return err
			}
		}
		copied = true
		res, err := p.UpByOne(ctx)
		if errors.Is(err, goose.ErrNoNextVersion) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("bring it up to date from version %d: %w", from, err)
		}
		l.log.Info("run log brought up to date", "from", from, "to", res.Source.Version, "dur", res.Duration)
	}
}

// copyBefore checks the file and copies it to <path>.v<version>, or to a name
// with the time when an earlier attempt left one.
func (l *Log) copyBefore(ctx context.Context, version int64) error {
	var verdict string
	if err := l.w.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return &Error{Op: "bring the run log up to date", Path: l.path, Kind: ErrCorrupt, Err: errors.New(verdict)}
	}
	dest := fmt.Sprintf("%s.v%d", l.path, version)
	if _, err := os.Lstat(dest); err == nil {
		dest += "-" + l.now().UTC().Format("20060102-150405.000")
	}
	return l.CopyTo(ctx, dest)
}

// checkVersion is true when nothing is to be done. A newer schema and a SQLite
// file of another program are errors.
func (l *Log) checkVersion(ctx context.Context, target int64) (bool, error) {
	version, ours, err := l.schema(ctx)
	switch {
	case err != nil:
		return false, err
	case !ours:
		return false, &Error{Op: "open the run log", Path: l.path, Kind: ErrCorrupt, Err: errors.New("it is the SQLite file of another program")}
	case version > target:
		return false, &Error{Op: "open the run log", Path: l.path, Kind: ErrNewer, Err: fmt.Errorf("its version is %d, this program knows %d", version, target)}
	}
	return version == target, nil
}

// schema reads the version of the file (0 = empty) and whether it is ours. It
// changes nothing.
func (l *Log) schema(ctx context.Context) (version int64, ours bool, err error) {
	var id, tables int64
	if err := l.w.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return 0, false, err
	}
	const count = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
	if err := l.w.QueryRowContext(ctx, count).Scan(&tables); err != nil {
		return 0, false, err
	}
	if id != applicationID {
		// A first start that was killed between making goose's own table and our first step is still ours.
		var goosed int64
		err := l.w.QueryRowContext(ctx, count+" AND name = 'goose_db_version'").Scan(&goosed)
		return 0, id == 0 && tables == goosed, err
	}
	var v sql.NullInt64
	err = l.w.QueryRowContext(ctx, "SELECT max(version_id) FROM goose_db_version WHERE is_applied").Scan(&v)
	return v.Int64, true, err
}
