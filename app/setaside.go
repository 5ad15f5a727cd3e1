package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"sandglass/app/runlog"
)

// SetAside is what became of a damaged run log.
type SetAside struct {
	Log    string   // where the run log is looked for; a new one is made there by the next start
	Aside  string   // where the damaged one is now, with what belongs to it
	Copies []string // copies from before updates that lie beside it, the newest first
}

// SetAsideRunLog moves a damaged run log out of the way, so that Sandglass starts
// with a new one. Nothing is deleted. A log that is in order is left where it is
// (*CallError). It works without an open App, because none can be opened then.
// Call it only when the person agreed.
func SetAsideRunLog(ctx context.Context, opt Options) (SetAside, error) {
	getenv, now := opt.Getenv, opt.Now
	if getenv == nil {
		getenv = os.Getenv
	}
	if now == nil {
		now = time.Now
	}
	home, err := HomeFolder(opt.Home, getenv)
	if err != nil {
		return SetAside{}, err
	}
	path := filepath.Join(home, runLogFile)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return SetAside{}, &CallError{Reason: "there is no run log at " + path + ", so there is nothing to set aside"}
	}
	watch := flock.New(filepath.Join(home, watchLockFile))
	switch ok, err := watch.TryLock(); {
	case err != nil:
		return SetAside{}, fmt.Errorf("set the run log aside: %w", err)
	case !ok:
		return SetAside{}, errors.New("another Sandglass has the run log open; close its window, or end the wait, and try again; nothing was changed")
	}
	defer watch.Unlock() //nolint:errcheck // its file is closed with the program
	switch err := checkRunLog(ctx, path, opt); {
	case err == nil:
		return SetAside{}, &CallError{Reason: "the run log " + path + " is in order, so it was left where it is"}
	case !errors.Is(err, runlog.ErrCorrupt):
		return SetAside{}, err
	}
	aside, err := runlog.SetAside(path, now())
	if err != nil {
		return SetAside{}, err
	}
	copies, _ := filepath.Glob(path + ".v*") // the pattern is sound unless the home's name is no pattern; the copies are only named
	slices.Sort(copies)
	slices.Reverse(copies)
	return SetAside{Log: path, Aside: aside, Copies: copies}, nil
}

func checkRunLog(ctx context.Context, path string, opt Options) error {
	l, err := runlog.Open(ctx, path, runlog.Options{Log: opt.Log, Now: opt.Now})
	if err != nil {
		return err
	}
	return errors.Join(l.Check(ctx), l.Close())
}
