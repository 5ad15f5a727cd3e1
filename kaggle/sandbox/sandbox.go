package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// Version is the version of the sandbox's own additions to the protocol (/sandbox/…).
const Version = 1

// Mount layouts of Options.Layout.
const (
	LayoutNew = "new" // /kaggle/input/datasets/<owner>/<slug>, competitions/<slug>, notebooks/<owner>/<slug>, models/…
	LayoutOld = "old" // /kaggle/input/<slug>
)

// Options say what a sandbox is like. The zero value is a sandbox in a temporary folder, at wall speed, without waits.
type Options struct {
	// Home is the folder that holds the sandbox's state. Empty: a temporary folder that Close removes.
	Home string
	// Speed is how many seconds of queue, quota and week pass in a second of the wall. 0 means 1.
	Speed float64
	// Now is the wall clock; nil means time.Now. Waits use the time package's timers, so a test that wants to move
	// time runs in a testing/synctest bubble, where both agree.
	Now func() time.Time
	// Log receives what the sandbox does; nil discards. No credential is ever written to it.
	Log *slog.Logger
	// Username and Key are the account. Empty ones are made up (and kept in Home). Key is 32 lower-case hex digits.
	Username string
	Key      string
	// GPUTotal and TPUTotal are the weekly allowances: 0 means 30 h and 20 h.
	GPUTotal, TPUTotal time.Duration
	// StartDelay is how long every session stays queued, TPUQueue how much longer a TPU session does. Sandbox time.
	StartDelay, TPUQueue time.Duration
	// Layout is LayoutNew (the default) or LayoutOld.
	Layout string
	// Python is the interpreter's path. Empty: what FindPython finds when the first kernel runs.
	Python string
	// Executor runs the sessions; nil means real Python processes.
	Executor Executor
	// FakeGPUs and FakeTPUChips are what a session of the accelerator's pool pretends to have. 0: by its accelerator
	// (NvidiaTeslaT4 two GPUs, TpuV5E8 eight chips). Negative: none.
	FakeGPUs, FakeTPUChips int
	// URLLife is how long a signed URL lives; 0 means one hour. Wall time.
	URLLife time.Duration
}

// Sandbox is one embedded Kaggle with one account. Its methods may be called from several goroutines.
type Sandbox struct {
	opt    Options
	log    *slog.Logger
	now    func() time.Time
	home   string
	temp   bool // home is ours to remove
	exec   Executor
	secret []byte // signs URLs and marks; a copy of the state's
	http   http.Handler
	ctx    context.Context // of everything that runs; cancelled with errStopped
	stop   context.CancelCauseFunc
	wg     sync.WaitGroup
	fault  *Faults

	mu       sync.Mutex
	st       *state
	live     map[int64]*liveSession // sessions with a goroutine, by id
	lock     *flock.Flock
	consents map[string]consent // authorisation codes
	closed   bool
}

// errStopped is the cause with which Close ends what runs.
var errStopped = errors.New("the sandbox was stopped")

// New opens the sandbox in opt.Home, or a fresh one in a temporary folder. Sessions that were still going when the
// sandbox last went away are marked ERROR and what is left of their processes is ended.
func New(opt Options) (*Sandbox, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Sandbox{opt: opt, log: opt.Log, now: opt.Now, home: opt.Home, live: map[int64]*liveSession{}, consents: map[string]consent{}}
	if s.home == "" {
		if s.home, err = os.MkdirTemp("", "sandglass-sandbox-"); err != nil {
			return nil, fmt.Errorf("make a temporary folder for the sandbox: %w", err)
		}
		s.temp = true
	}
	if s.home, err = filepath.Abs(s.home); err != nil {
		return nil, fmt.Errorf("find the sandbox's folder: %w", err)
	}
	if err := s.open(); err != nil {
		if s.temp {
			os.RemoveAll(s.home)
		}
		return nil, err
	}
	s.exec = opt.Executor
	if s.exec == nil {
		s.exec = &pythonExecutor{path: opt.Python, log: opt.Log}
	}
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	s.fault = newFaults()
	s.http = s.routes()
	return s, nil
}

func (opt Options) withDefaults() (Options, error) {
	if opt.Speed == 0 {
		opt.Speed = 1
	}
	if opt.Speed < 0 || opt.Speed > 1e6 {
		return opt, fmt.Errorf("the sandbox's speed is %g, it must be above 0 and at most 1000000", opt.Speed)
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.GPUTotal == 0 {
		opt.GPUTotal = 30 * time.Hour
	}
	if opt.TPUTotal == 0 {
		opt.TPUTotal = 20 * time.Hour
	}
	if opt.StartDelay < 0 || opt.TPUQueue < 0 {
		return opt, errors.New("the sandbox's start delay and TPU queue cannot be negative")
	}
	if opt.URLLife == 0 {
		opt.URLLife = time.Hour
	}
	switch opt.Layout {
	case "":
		opt.Layout = LayoutNew
	case LayoutNew, LayoutOld:
	default:
		return opt, fmt.Errorf("the sandbox's layout is %q, it must be %q or %q", opt.Layout, LayoutNew, LayoutOld)
	}
	if opt.Username != "" && !validOwner(opt.Username) {
		return opt, fmt.Errorf("the sandbox's username %q may hold lower-case letters, digits and single hyphens only", opt.Username)
	}
	return opt, nil
}

// Handler is the whole sandbox as an http.Handler.
func (s *Sandbox) Handler() http.Handler { return s.http }

// Username is the account's name, in lower case.
func (s *Sandbox) Username() string { s.mu.Lock(); defer s.mu.Unlock(); return s.st.Username }

// Key is the account's legacy key: 32 hex digits, used with Username in HTTP Basic.
func (s *Sandbox) Key() string { s.mu.Lock(); defer s.mu.Unlock(); return s.st.Key }

// Token is the account's API token (KGAT_…), used as a Bearer token.
func (s *Sandbox) Token() string { s.mu.Lock(); defer s.mu.Unlock(); return s.st.Token }

// Faults is the list of failures the sandbox has been asked to produce.
func (s *Sandbox) Faults() *Faults { return s.fault }

// Close ends every running session (marked ERROR, "the sandbox was stopped", files kept), waits for the processes to
// be gone, saves the state, and removes the folder if it was a temporary one. Closing twice is harmless.
func (s *Sandbox) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	s.stop(errStopped)
	s.wg.Wait()
	s.mu.Lock()
	err := s.saveLocked()
	s.mu.Unlock()
	s.unlock()
	if s.temp {
		return errors.Join(err, os.RemoveAll(s.home))
	}
	return err
}
