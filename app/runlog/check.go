package runlog

import (
	"context"
	"errors"
)

// Check reads the whole file and says whether it holds together; damage is an
// error of kind ErrCorrupt. It takes a second or so a hundred megabytes.
func (l *Log) Check(ctx context.Context) error {
	const op = "check the run log"
	var word string
	if err := l.r.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&word); err != nil {
		return l.fail(op, err)
	}
	if word != "ok" {
		return &Error{Op: op, Path: l.path, Kind: ErrCorrupt, Err: errors.New(word)}
	}
	return nil
}
