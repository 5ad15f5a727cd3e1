package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"sandglass/app/keychain"
	"sandglass/app/runlog"
	"sandglass/kaggle"
	"sandglass/kaggle/sandbox"
)

// The embedded sandbox's clock. Five minutes of it pass in a second: a TPU queue of
// some hours is half a minute, so that a newcomer sees the wait and its
// notification within a minute, and a demo run burns a few hours of the week.
const (
	sandboxSpeed      = 300
	sandboxTPUQueue   = 150 * time.Minute // 30 s of the wall
	sandboxStartDelay = 5 * time.Minute   // 1 s of the wall
)

// sandboxBox is the embedded sandbox while it runs in this process.
type sandboxBox struct {
	sandbox *sandbox.Sandbox
	url     string
	stop    context.CancelFunc
	done    chan struct{} // closed when it no longer serves
}

// UseSandbox starts the embedded sandbox on a loopback port, unless another
// process of this home already runs it, and makes its account the current one.
// Its state is in <home>/sandbox, its key too and nowhere else.
func (a *App) UseSandbox(ctx context.Context) (Account, error) {
	if _, err := a.ensureSandbox(ctx); err != nil {
		return Account{}, err
	}
	row, err := a.sandboxRow(ctx)
	if err != nil {
		return Account{}, err
	}
	row.SignedOutAt, row.UsedAt = time.Time{}, a.now()
	if row, err = a.store.SaveAccount(ctx, row); err != nil {
		return Account{}, fmt.Errorf("remember the sandbox's account: %w", err)
	}
	return a.enter(ctx, row)
}

// SandboxRunning gives the embedded sandbox's URL while it runs, in this process
// or in another one that this one uses.
func (a *App) SandboxRunning() (url string, ok bool) {
	a.accounts.mu.Lock()
	defer a.accounts.mu.Unlock()
	if a.accounts.box != nil {
		return a.accounts.box.url, true
	}
	return a.accounts.attached, a.accounts.attached != ""
}

func (a *App) sandboxHome() string { return filepath.Join(a.home, "sandbox") }

// sandboxSecret is where the sandbox's key is for other processes of this home.
func (a *App) sandboxSecret() keychain.Store {
	return keychain.File(filepath.Join(a.sandboxHome(), "credentials.json"))
}

// sandboxRow is the row of the embedded sandbox's account, ErrNotFound before the first start.
func (a *App) sandboxRow(ctx context.Context) (runlog.Account, error) {
	rows, err := a.store.Accounts(ctx)
	if err != nil {
		return runlog.Account{}, err
	}
	for _, r := range rows {
		if r.Store == storeSandbox {
			return r, nil
		}
	}
	return runlog.Account{}, runlog.ErrNotFound
}

// ensureSandbox gives the URL of the running embedded sandbox, starting it here
// when nobody runs it.
func (a *App) ensureSandbox(ctx context.Context) (string, error) {
	a.accounts.boxMu.Lock()
	defer a.accounts.boxMu.Unlock()
	a.accounts.mu.Lock()
	box := a.accounts.box
	a.accounts.mu.Unlock()
	if box != nil {
		return box.url, nil
	}
	row, err := a.sandboxRow(ctx)
	if err != nil && !errors.Is(err, runlog.ErrNotFound) {
		return "", err
	}
	if row.Endpoint != "" {
		// Only a sandbox of that name: by now the port may be someone else's.
		if info, err := a.askInfo(ctx, row.Endpoint); err == nil && info.Sandbox && info.Username == row.Username {
			a.accounts.mu.Lock()
			a.accounts.attached = row.Endpoint
			a.accounts.mu.Unlock()
			return row.Endpoint, nil
		}
	}
	return a.startSandbox(ctx, row)
}

// startSandbox opens the sandbox of this home and serves it, on the port it had
// before when that is free.
func (a *App) startSandbox(ctx context.Context, row runlog.Account) (string, error) {
	if err := a.ctx.Err(); err != nil {
		return "", fmt.Errorf("start the sandbox: Sandglass is closing: %w", err)
	}
	s, err := sandbox.New(sandbox.Options{Home: a.sandboxHome(), Speed: sandboxSpeed, TPUQueue: sandboxTPUQueue, StartDelay: sandboxStartDelay, Now: a.now, Log: a.log})
	if err != nil {
		return "", fmt.Errorf("start the sandbox: %w", err)
	}
	ln, err := listenAgain(s, row.Endpoint)
	if err == nil {
		err = a.saveSandbox(ctx, s, row, ln.URL())
		if err != nil {
			ln.Close()
		}
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("start the sandbox: %w", err), s.Close())
	}
	serving, stop := context.WithCancel(context.Background())
	box := &sandboxBox{sandbox: s, url: ln.URL(), stop: stop, done: make(chan struct{})}
	go func() {
		defer close(box.done)
		if err := ln.Serve(serving); err != nil {
			a.log.Error("the sandbox stopped answering", "err", err)
		}
	}()
	a.accounts.mu.Lock()
	a.accounts.box, a.accounts.attached, a.accounts.clients = box, "", nil
	a.accounts.mu.Unlock()
	a.log.Info("sandbox started", "url", box.url, "speed", sandboxSpeed)
	return box.url, nil
}

// listenAgain takes the port of the last time, so that what others remember still
// leads here, else any free one.
func listenAgain(s *sandbox.Sandbox, before string) (*sandbox.Listener, error) {
	if u, err := url.Parse(before); err == nil && u.Port() != "" {
		if ln, err := s.Listen(net.JoinHostPort("127.0.0.1", u.Port())); err == nil {
			return ln, nil
		}
	}
	return s.Listen("127.0.0.1:0")
}

// saveSandbox puts the key into the sandbox's own folder and the address into the
// log, for other processes of this home. Whether it is signed in does not change.
func (a *App) saveSandbox(ctx context.Context, s *sandbox.Sandbox, row runlog.Account, url string) error {
	if err := a.sandboxSecret().Set(ctx, s.Username(), s.Key()); err != nil {
		return err
	}
	if row.ID == 0 {
		row.SignedOutAt = a.now() // until somebody chooses it
	}
	row.Username, row.Kind, row.Endpoint = s.Username(), kindSandbox, url
	row.AuthKind, row.Store, row.Speed = authSandbox, storeSandbox, sandboxSpeed
	_, err := a.store.SaveAccount(ctx, row)
	return err
}

func (a *App) sandboxAuthorizer(ctx context.Context, acc Account) (kaggle.Authorizer, error) {
	key, err := a.sandboxSecret().Get(ctx, acc.Username)
	if errors.Is(err, keychain.ErrNotFound) {
		return nil, &SecretMissingError{acc.Username, "sandbox's folder"}
	}
	if err != nil {
		return nil, fmt.Errorf("fetch the sandbox's key: %w", err)
	}
	return kaggle.KeyOrToken(acc.Username, kaggle.Secret(key)), nil
}

// stopSandbox ends the embedded sandbox if it runs in this process, and with it
// every session it executes.
func (a *App) stopSandbox() error {
	a.accounts.boxMu.Lock()
	defer a.accounts.boxMu.Unlock()
	a.accounts.mu.Lock()
	box := a.accounts.box
	a.accounts.box, a.accounts.attached = nil, ""
	a.accounts.mu.Unlock()
	if box == nil {
		return nil
	}
	box.stop()
	err := box.sandbox.Close()
	<-box.done
	if err != nil {
		return fmt.Errorf("stop the sandbox: %w", err)
	}
	return nil
}

// SandboxServe says how to serve a sandbox of its own.
type SandboxServe struct {
	Addr       string        // host:port on loopback; "" = 127.0.0.1 and a free port
	Home       string        // folder of its state; "" = a temporary one that ends with it
	Speed      float64       // seconds of queue and quota in a second of the wall; 0 = 1
	TPUQueue   time.Duration // sandbox time
	StartDelay time.Duration // sandbox time
	Layout     string        // "new" or "old"; "" = new
	Username   string        // "" = made up
	// Inputs that runs may ask for: "owner/slug=FOLDER" for a dataset, "slug=FOLDER" for a competition whose rules are accepted.
	Datasets, Competitions []string
	Ready                  func(url, username, key string)
}

// ServeSandbox serves a sandbox until ctx ends. Ready is told where and as whom
// before the first request is answered.
func (a *App) ServeSandbox(ctx context.Context, in SandboxServe) error {
	if in.Addr == "" {
		in.Addr = "127.0.0.1:0"
	}
	s, err := sandbox.New(sandbox.Options{Home: in.Home, Speed: in.Speed, TPUQueue: in.TPUQueue, StartDelay: in.StartDelay,
		Layout: in.Layout, Username: in.Username, Now: a.now, Log: a.log})
	if err != nil {
		return fmt.Errorf("serve the sandbox: %w", err)
	}
	if err := addInputs(s, in); err != nil {
		return errors.Join(fmt.Errorf("serve the sandbox: %w", err), s.Close())
	}
	ln, err := s.Listen(in.Addr)
	if err != nil {
		return errors.Join(fmt.Errorf("serve the sandbox: %w", err), s.Close())
	}
	if in.Ready != nil {
		in.Ready(ln.URL(), s.Username(), s.Key())
	}
	return errors.Join(ln.Serve(ctx), s.Close())
}

// addInputs makes datasets and competitions of local folders.
func addInputs(s *sandbox.Sandbox, in SandboxServe) error {
	for _, d := range in.Datasets {
		ref, dir, ok := strings.Cut(d, "=")
		owner, slug, named := strings.Cut(ref, "/")
		if !ok || !named || dir == "" {
			return fmt.Errorf("dataset %q is not owner/slug=FOLDER", d)
		}
		if err := s.AddDataset(owner, slug, dir); err != nil {
			return err
		}
	}
	for _, c := range in.Competitions {
		slug, dir, ok := strings.Cut(c, "=")
		if !ok || dir == "" {
			return fmt.Errorf("competition %q is not slug=FOLDER", c)
		}
		if err := s.AddCompetition(slug, dir, true); err != nil {
			return err
		}
	}
	return nil
}
