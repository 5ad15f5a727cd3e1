package sandbox

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// state is all that outlives the process, apart from sources, logs and files, which have folders of their own. It is
// plain data: whatever is alive about a session is in liveSession.
type state struct {
	Schema   int
	Username string
	Key      string
	Token    string
	Grants   []*grant // OAuth sign-ins
	Secret   []byte   // signs file URLs

	// The sandbox's clock stood at ClockAt when the wall's stood at WallAt.
	WallAt, ClockAt time.Time

	NextID       int64
	Kernels      map[int64]*kernel
	Sessions     map[int64]*session
	Charges      []*charge
	Datasets     map[string]*dataset     // by owner/slug
	Competitions map[string]*competition // by slug
	Models       map[string]*model       // by owner/model/framework/variation/version
	Deleted      map[string]bool         // owner/slug of kernels that were there once
	Blobs        map[string]*blob        // by token
}

type kernel struct {
	ID         int64
	Owner      string
	Slug       string
	Title      string
	Language   string
	KernelType string
	Private    bool
	Created    time.Time
	LastRun    time.Time
	Versions   []*version
}

func (k *kernel) ref() string { return k.Owner + "/" + k.Slug }

func (k *kernel) current() int { return len(k.Versions) }

// version n, or the newest for 0; nil when there is none.
func (k *kernel) version(n int) *version {
	if n == 0 {
		n = len(k.Versions)
	}
	if n < 1 || n > len(k.Versions) {
		return nil
	}
	return k.Versions[n-1]
}

type version struct {
	Number       int
	Session      int64 // 0: saved without a run
	Shape        string
	EnableGPU    bool
	EnableTPU    bool
	Internet     bool
	DockerImage  string
	Tags         []string
	Datasets     []string
	Competitions []string
	Kernels      []string
	Models       []string
}

type session struct {
	ID       int64
	Kernel   int64
	Version  int
	Pool     string
	Shape    string
	Limit    time.Duration // wall time for the process, sandbox time for the charge
	Status   string
	Failure  string
	Pushed   time.Time // wall
	Started  time.Time // wall; zero while queued
	Ended    time.Time // wall; zero until terminal
	Internet bool
}

func (x *session) terminal() bool {
	return x.Status == StatusComplete || x.Status == StatusError || x.Status == StatusCancelled
}

// charge is quota used, or being used while End is zero. Times are the sandbox clock's.
type charge struct {
	Session    int64
	Pool       string
	Start, End time.Time
	Cap        time.Duration
}

const stateSchema = 1

func (s *Sandbox) statePath() string { return filepath.Join(s.home, "state.json") }

// open reads or makes the state in s.home, and settles what a crash left behind.
func (s *Sandbox) open() error {
	for _, dir := range []string{"", "sources", "sessions", "datasets", "blobs", "cache"} {
		if err := os.MkdirAll(filepath.Join(s.home, dir), 0o700); err != nil {
			return fmt.Errorf("the sandbox cannot use its folder %s: %w", s.home, err)
		}
	}
	s.lock = flock.New(filepath.Join(s.home, "lock"))
	if ok, err := s.lock.TryLock(); err != nil {
		return fmt.Errorf("lock the sandbox's folder %s: %w", s.home, err)
	} else if !ok {
		return fmt.Errorf("another sandbox is using the folder %s: stop that one, or choose another folder", s.home)
	}
	if err := s.load(); err != nil {
		s.unlock()
		return err
	}
	return nil
}

func (s *Sandbox) unlock() {
	if s.lock != nil {
		s.lock.Unlock()
	}
}

func (s *Sandbox) load() error {
	raw, err := os.ReadFile(s.statePath())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.st = &state{Schema: stateSchema, WallAt: s.now(), ClockAt: s.now(), NextID: 1000}
	case err != nil:
		return fmt.Errorf("read the sandbox's state: %w", err)
	default:
		s.st = &state{}
		if err := json.Unmarshal(raw, s.st); err != nil {
			return fmt.Errorf("the sandbox's state %s is damaged, nothing was changed: move it away to start with an empty sandbox: %w", s.statePath(), err)
		}
		if s.st.Schema > stateSchema {
			return fmt.Errorf("the sandbox's state %s was written by a newer version: use that one, or another folder", s.statePath())
		}
	}
	s.st.fill()
	if err := s.st.account(s.opt); err != nil {
		return err
	}
	s.secret = s.st.Secret
	s.recover()
	return s.saveLocked()
}

// fill makes the maps, which JSON leaves nil when empty.
func (st *state) fill() {
	if st.Kernels == nil {
		st.Kernels = map[int64]*kernel{}
	}
	if st.Sessions == nil {
		st.Sessions = map[int64]*session{}
	}
	if st.Datasets == nil {
		st.Datasets = map[string]*dataset{}
	}
	if st.Competitions == nil {
		st.Competitions = map[string]*competition{}
	}
	if st.Models == nil {
		st.Models = map[string]*model{}
	}
	if st.Deleted == nil {
		st.Deleted = map[string]bool{}
	}
	if st.Blobs == nil {
		st.Blobs = map[string]*blob{}
	}
}

// account settles who the account is: the options win over what was kept, what neither has is made up.
func (st *state) account(opt Options) error {
	if opt.Username != "" {
		st.Username = opt.Username
	}
	if st.Username == "" {
		st.Username = "sandbox-user"
	}
	if opt.Key != "" {
		st.Key = opt.Key
	}
	if st.Key == "" {
		st.Key = randomHex(16)
	}
	if st.Token == "" {
		st.Token = "KGAT_" + randomHex(16)
	}
	if len(st.Secret) == 0 {
		st.Secret = make([]byte, 32)
		rand.Read(st.Secret)
	}
	if len(st.Key) < 8 {
		return errors.New("the sandbox's key is shorter than 8 characters; leave it out to have one made")
	}
	return nil
}

// recover marks what was going when the last process ended, and ends processes that outlived it.
func (s *Sandbox) recover() {
	resumed := s.now()
	// While the sandbox was away its clock went at the wall's pace. It never goes back and never trails the wall.
	at := s.st.ClockAt.Add(max(0, resumed.Sub(s.st.WallAt)))
	if resumed.After(at) {
		at = resumed
	}
	s.st.WallAt, s.st.ClockAt = resumed, at
	for _, x := range s.st.Sessions {
		if x.terminal() {
			continue
		}
		killMarked(s.mark(x.ID))
		x.Status, x.Failure, x.Ended = StatusError, errStopped.Error(), resumed
		s.endCharge(x.ID)
		s.dropScratch(x.ID)
	}
}

func (s *Sandbox) saveLocked() error {
	s.st.Schema = stateSchema
	if n := s.now(); n.After(s.st.WallAt) {
		s.st.ClockAt, s.st.WallAt = s.clockNow(), n
	}
	raw, err := json.MarshalIndent(s.st, "", " ")
	if err != nil {
		return fmt.Errorf("write the sandbox's state: %w", err)
	}
	if err := writeFileAtomic(s.statePath(), raw); err != nil {
		return fmt.Errorf("the sandbox cannot save its state (is the disk of %s full?), nothing was changed: %w", s.home, err)
	}
	return nil
}

// update changes the state and saves it; when either fails the state is as before.
func (s *Sandbox) update(change func(st *state) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.updateLocked(change)
}

func (s *Sandbox) updateLocked(change func(st *state) error) error {
	before, err := json.Marshal(s.st)
	if err != nil {
		return fmt.Errorf("copy the sandbox's state: %w", err)
	}
	if err = change(s.st); err == nil {
		err = s.saveLocked()
	}
	if err != nil {
		old := &state{}
		if e := json.Unmarshal(before, old); e != nil {
			return errors.Join(err, e)
		}
		old.fill()
		s.st = old
	}
	return err
}

func (st *state) newID() int64 { st.NextID++; return st.NextID }

// writeFileAtomic leaves either the old content or the whole new one.
func writeFileAtomic(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return hex.EncodeToString(b)
}
