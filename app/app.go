// Package app is the core of Sandglass: what the program does, told without a screen.
//
// Start at App: Open gives one, its methods are everything a screen or a verb
// may ask for. types.go holds the words they share. The rest of the package is
// one file a duty: build.go, push.go, watch.go, follow.go, collect.go, views.go,
// events.go, demo.go, and the accounts in account*.go.
package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"sandglass/app/keychain"
	"sandglass/app/runlog"
	"sandglass/kaggle"
)

// Options says where an App lives and what it may touch. The zero value is a
// normal desktop: the person's config folder, environment, clock and keychain.
type Options struct {
	Home      string              // folder of all state; "" = SANDGLASS_HOME, else <user config>/sandglass
	Getenv    func(string) string // nil = os.Getenv
	Log       *slog.Logger        // nil = discard
	Now       func() time.Time    // nil = time.Now
	Keychain  keychain.Store      // nil = the OS keychain
	Transport http.RoundTripper   // nil = the network
	Version   string              // of the program, for the User-Agent
}

// App is the core. It is safe for concurrent use. Close it.
type App struct {
	home      string
	opt       Options
	log       *slog.Logger
	now       func() time.Time
	getenv    func(string) string
	keychain  keychain.Store
	transport http.RoundTripper
	store     *runlog.Log // the run log
	hub       *hub        // event subscribers
	tag       string      // tells this App's events in the log from those of others

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup // everything started with a.spawn

	accounts  accounts     // account.go
	watch     watchState   // watch.go
	logs      logIndex     // loglines.go
	quotaLost atomic.Bool  // the last question for the quota was not answered
	pushes    atomic.Int64 // intents written by this process: another one makes a plan stale

	sight atomic.Pointer[Sight] // notice_choice.go
	zone  zoneWatch             // zone.go

	limiter *kaggle.Limiter // nil = the process's own, always outside tests

	step func(name string) // nil in production; tests stop the program between two effects with it
}

// runLogFile is the run log's name in the home folder.
const runLogFile = "sandglass.db"

// Open opens the core: the folder, the run log, the account that was used last.
// Nothing is sent anywhere and nothing is watched until StartWatcher.
func Open(ctx context.Context, opt Options) (*App, error) {
	a := &App{opt: opt, log: opt.Log, now: opt.Now, getenv: opt.Getenv, keychain: opt.Keychain, transport: opt.Transport}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if a.now == nil {
		a.now = time.Now
	}
	if a.getenv == nil {
		a.getenv = os.Getenv
	}
	if a.keychain == nil {
		a.keychain = keychain.OS(3 * time.Second)
	}
	home, err := HomeFolder(opt.Home, a.getenv)
	if err != nil {
		return nil, err
	}
	a.home = home
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, fmt.Errorf("the folder %s for Sandglass's own data cannot be made (%w); set SANDGLASS_HOME to a folder that can be written", home, err)
	}
	store, err := runlog.Open(ctx, filepath.Join(home, runLogFile), runlog.Options{Log: a.log, Now: a.now})
	if err != nil {
		return nil, err
	}
	a.store = store
	a.ctx, a.cancel = context.WithCancel(context.Background())
	a.hub, a.tag = newHub(), rand.Text()
	a.watch.wake = make(chan struct{}, 1)
	return a, nil
}

// HomeFolder is where all state lives: asked for, else SANDGLASS_HOME, else the
// OS's config folder + /sandglass.
func HomeFolder(asked string, getenv func(string) string) (string, error) {
	if asked == "" {
		asked = getenv("SANDGLASS_HOME")
	}
	if asked == "" {
		base, err := os.UserConfigDir()
		if err != nil {
			return "", fmt.Errorf("no folder for Sandglass's own data is known (%w); set SANDGLASS_HOME", err)
		}
		asked = filepath.Join(base, "sandglass")
	}
	return filepath.Abs(asked)
}

// Home is the folder that holds the run log, the logs of runs, and the demo.
func (a *App) Home() string { return a.home }

// Close stops the watcher, the embedded sandbox and everything else that runs,
// waits up to five seconds for it, and closes the run log.
func (a *App) Close() error {
	a.cancel()
	err := a.closeAccounts()
	done := make(chan struct{})
	go func() { a.wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		err = errors.Join(err, errors.New("something was still running after five seconds and was left behind"))
	}
	a.hub.close()
	return errors.Join(err, a.store.Close())
}

// spawn runs f until it returns; Close cancels its context and waits for it.
func (a *App) spawn(f func(ctx context.Context)) {
	a.wg.Go(func() { f(a.ctx) })
}

// at marks the gap between two effects. See App.step.
func (a *App) at(name string) {
	if a.step != nil {
		a.step(name)
	}
}

// Setting is a stored choice of the person's, "" when never set.
func (a *App) Setting(ctx context.Context, key string) string {
	v, err := a.store.Get(ctx, key)
	if err != nil {
		a.log.Warn("setting not read", "key", key, "err", err)
	}
	return v
}

// SetSetting stores a choice of the person's.
func (a *App) SetSetting(ctx context.Context, key, value string) error {
	if err := a.store.Set(ctx, key, value); err != nil {
		return fmt.Errorf("save setting %s: %w", key, err)
	}
	return nil
}
