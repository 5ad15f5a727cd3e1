package app

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandglass/kaggle"
)

// openOn opens the core on a home with a keychain that must not be used and the
// real network.
func openOn(t *testing.T, home string) (*App, *testKeychain) {
	t.Helper()
	k := &testKeychain{held: map[string]string{}, err: noKeychain()}
	a, err := Open(t.Context(), Options{Home: home, Getenv: func(string) string { return "" }, Keychain: k})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a, k
}

func TestUseSandbox(t *testing.T) {
	home := filepath.Join(t.TempDir(), "state")
	a, k := openOn(t, home)
	if url, ok := a.SandboxRunning(); ok {
		t.Errorf("runs at %s before anybody asked", url)
	}
	acc, err := a.UseSandbox(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	url, ok := a.SandboxRunning()
	if !ok || acc.Endpoint != url || acc.Kind != "sandbox" || acc.AuthKind != "sandbox" || acc.Store != "sandbox" || acc.Speed != sandboxSpeed || acc.Username == "" {
		t.Errorf("signed in as %+v, running %q %v", acc, url, ok)
	}
	q := sandboxQuota(t, a)
	if q.GPU == nil || q.TPU == nil || q.GPU.Total != 30*time.Hour || q.TPU.Total != 20*time.Hour {
		t.Errorf("quota %+v", q)
	}
	if id, err := a.Whoami(t.Context()); err != nil || !id.Verified || id.Endpoint != url {
		t.Errorf("whoami: %+v, %v", id, err)
	}
	if k.uses != 0 {
		t.Errorf("the keychain was used %d times for the sandbox", k.uses)
	}
	again, err := a.UseSandbox(t.Context())
	if err != nil || again != acc {
		t.Errorf("a second time: %+v, %v; want the same", again, err)
	}
	info, err := os.Stat(filepath.Join(home, "sandbox", "credentials.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its key: %v, %v", info, err)
	}
}

func sandboxQuota(t *testing.T, a *App) kaggle.Quota {
	t.Helper()
	c, err := a.client(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	q, err := c.Quota(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// TestSandboxOfAnotherProcess: a verb beside the desktop talks to the desktop's
// sandbox instead of starting a second one over the same state.
func TestSandboxOfAnotherProcess(t *testing.T) {
	home := filepath.Join(t.TempDir(), "state")
	desktop, _ := openOn(t, home)
	acc, err := desktop.UseSandbox(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	verb, _ := openOn(t, home)
	if got, err := verb.Account(t.Context()); err != nil || got != acc {
		t.Errorf("the verb is %+v, %v; want %+v", got, err, acc)
	}
	sandboxQuota(t, verb)
	if url, ok := verb.SandboxRunning(); !ok || url != acc.Endpoint {
		t.Errorf("the verb says it runs at %q, %v", url, ok)
	}
	if err := verb.Close(); err != nil {
		t.Fatal(err)
	}
	sandboxQuota(t, desktop) // closing the verb did not end the desktop's sandbox
}

func TestSandboxAfterARestart(t *testing.T) {
	home := filepath.Join(t.TempDir(), "state")
	a, _ := openOn(t, home)
	acc, err := a.UseSandbox(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if conn, err := net.DialTimeout("tcp", strings.TrimPrefix(acc.Endpoint, "http://"), time.Second); err == nil {
		conn.Close()
		t.Error("the sandbox answers after Close")
	}
	b, _ := openOn(t, home)
	if got, err := b.Account(t.Context()); err != nil || got.ID != acc.ID || got.Username != acc.Username {
		t.Errorf("after a restart: %+v, %v; want account %d", got, err, acc.ID)
	}
	if _, ok := b.SandboxRunning(); ok {
		t.Error("it runs although nothing was asked of it yet")
	}
	sandboxQuota(t, b) // the first call starts it
	if url, ok := b.SandboxRunning(); !ok || url != acc.Endpoint {
		t.Errorf("runs at %q, %v; want the port it had, %s", url, ok, acc.Endpoint)
	}
	if err := b.SignOut(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, ok := b.SandboxRunning(); ok {
		t.Error("it runs after the sign-out")
	}
	wantNoAccount(t, b)
	again, err := b.UseSandbox(t.Context())
	if err != nil || again.ID != acc.ID {
		t.Errorf("chosen again: %+v, %v; want account %d with its history", again, err, acc.ID)
	}
}

// TestSandboxPortTakenByAnother: what answers at the remembered address is not our
// sandbox, so it gets no key and a new port is taken.
func TestSandboxPortTakenByAnother(t *testing.T) {
	home := filepath.Join(t.TempDir(), "state")
	a, _ := openOn(t, home)
	acc, err := a.UseSandbox(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", strings.TrimPrefix(acc.Endpoint, "http://"))
	if err != nil {
		t.Skipf("the port was taken meanwhile: %v", err)
	}
	stranger := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("a stranger was given the key")
		}
		w.Write([]byte(`{"sandglass_sandbox":true,"username":"somebody-else"}`))
	})}
	go stranger.Serve(ln)
	defer stranger.Close()
	b, _ := openOn(t, home)
	sandboxQuota(t, b)
	if url, ok := b.SandboxRunning(); !ok || url == acc.Endpoint {
		t.Errorf("runs at %q, %v; want another port than the stranger's", url, ok)
	}
}

// TestTheSandboxBeatsTheEnvironment: who chose the sandbox does not spend real quota.
func TestTheSandboxBeatsTheEnvironment(t *testing.T) {
	b := newBench(t, map[string]string{"KAGGLE_API_TOKEN": goodToken})
	acc, err := b.UseSandbox(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sandboxQuota(t, b.App) // in process, although the bench's network leads to the fake Kaggle
	b.restart(t)
	if got, err := b.Account(t.Context()); err != nil || got.ID != acc.ID {
		t.Errorf("after a restart: %+v, %v; want the sandbox", got, err)
	}
	if err := b.SignOut(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantAccount(t, b.App, envAccount("sam-roe"))
	if len(b.kaggle.asked(kaggle.PathQuota)) != 0 {
		t.Error("the fake Kaggle was asked for quota in the sandbox's stead")
	}
}

func TestServeSandbox(t *testing.T) {
	a, k := openOn(t, filepath.Join(t.TempDir(), "state"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	type place struct{ url, username, key string }
	ready := make(chan place, 1)
	done := make(chan error, 1)
	go func() {
		done <- a.ServeSandbox(ctx, SandboxServe{Speed: 60, Username: "sandy", Ready: func(url, username, key string) { ready <- place{url, username, key} }})
	}()
	var p place
	select {
	case p = <-ready:
	case err := <-done:
		t.Fatal(err)
	}
	if p.username != "sandy" || !legacyKey(kaggle.Secret(p.key)) {
		t.Errorf("username %q and a key of %d characters", p.username, len(p.key))
	}

	// Another program, with that address and key in its environment.
	env := map[string]string{"SANDGLASS_ENDPOINT": p.url, "KAGGLE_USERNAME": p.username, "KAGGLE_KEY": p.key}
	b, err := Open(t.Context(), Options{Home: filepath.Join(t.TempDir(), "other"), Getenv: func(s string) string { return env[s] }, Keychain: k})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	wantAccount(t, b, Account{Username: "sandy", Kind: "sandbox", Endpoint: p.url, AuthKind: "environment", Store: "environment", Speed: 60})
	sandboxQuota(t, b)

	taken := a.ServeSandbox(t.Context(), SandboxServe{Addr: strings.TrimPrefix(p.url, "http://")})
	if taken == nil || !strings.Contains(taken.Error(), "port taken") {
		t.Errorf("a taken port: %v", taken)
	}
	if err := a.ServeSandbox(t.Context(), SandboxServe{Addr: "0.0.0.0:0"}); err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("an open address: %v", err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestSandboxFolderThatCannotBeUsed(t *testing.T) {
	home := filepath.Join(t.TempDir(), "state")
	a, _ := openOn(t, home)
	if err := os.WriteFile(filepath.Join(home, "sandbox"), []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := a.UseSandbox(t.Context())
	if err == nil || !strings.Contains(err.Error(), "start the sandbox") {
		t.Errorf("got %v", err)
	}
	if errors.Is(err, ErrNoAccount) {
		t.Error("the reason is lost")
	}
	wantNoAccount(t, a)
}
