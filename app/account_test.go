package app

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"sandglass/app/keychain"
	"sandglass/kaggle"
)

const (
	goodToken  = "KGAT_good0123456789abcdef"
	otherToken = "KGAT_other123456789abcdef"
	deadToken  = "KGAT_dead0123456789abcdef"
	goodKey    = "0123456789abcdef0123456789abcdef"
	deadKey    = "ffffffffffffffffffffffffffffffff"
)

// secretsOfTests must never appear in a log, an error, a setting or the database.
var secretsOfTests = []string{goodToken, otherToken, deadToken, goodKey, deadKey, "access-1", "access-2", "refresh-1"}

// fakeKaggle answers what signing in asks, as the reference describes it.
type fakeKaggle struct {
	mu       sync.Mutex
	owner    map[string]string // token -> username
	keys     map[string]bool   // user:key
	refresh  map[string]string // refresh token -> the access token it makes
	status   map[string]int    // path -> status to answer instead
	offline  bool
	sandbox  *sandboxInfo // what /sandbox/info says
	requests []string     // path and kind of authorization
	revoked  []string
}

func newFakeKaggle() *fakeKaggle {
	return &fakeKaggle{
		owner: map[string]string{goodToken: "sam-roe", otherToken: "kim-lee", "access-1": "sam-roe", "access-2": "sam-roe"},
		keys:  map[string]bool{"sam-roe:" + goodKey: true}, refresh: map[string]string{"refresh-1": "access-2"}, status: map[string]int{},
	}
}

func (f *fakeKaggle) RoundTrip(req *http.Request) (*http.Response, error) {
	f.mu.Lock()
	offline := f.offline
	f.mu.Unlock()
	if offline {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, req)
	return w.Result(), nil
}

func (f *fakeKaggle) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	kind, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	path := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/api"), "/v1/")
	f.requests = append(f.requests, path+" "+kind)
	if code := f.status[path]; code != 0 {
		w.WriteHeader(code)
		io.WriteString(w, `{"code":`+"0"+`,"message":"as the test wants it"}`)
		return
	}
	body := map[string]any{}
	if r.Body != nil {
		json.NewDecoder(r.Body).Decode(&body)
	}
	answer := func(v any) { json.NewEncoder(w).Encode(v) }
	switch path {
	case "/sandbox/info":
		if f.sandbox == nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		answer(f.sandbox)
	case kaggle.PathIntrospect:
		user, ok := f.owner[body["token"].(string)]
		answer(map[string]any{"active": ok, "username": user})
	case kaggle.PathQuota:
		if !f.allowed(r.Header.Get("Authorization")) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		answer(map[string]any{"gpuQuota": map[string]any{"totalTimeAllowed": "108000s", "timeUsed": "0s"}})
	case kaggle.PathGenerateAccessToken:
		access, ok := f.refresh[body["refreshToken"].(string)]
		if !ok {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		answer(map[string]any{"token": access, "expiresIn": 43200, "userName": "sam-roe"})
	case kaggle.PathExchangeToken:
		if body["code"] != "the-code" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		answer(map[string]any{"accessToken": "access-1", "refreshToken": "refresh-1", "tokenType": "Bearer", "expiresIn": 43200, "username": "sam-roe"})
	case kaggle.PathExpireToken:
		f.revoked = append(f.revoked, body["token"].(string)+" as "+kind)
		answer(map[string]any{})
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (f *fakeKaggle) allowed(header string) bool {
	kind, value, _ := strings.Cut(header, " ")
	if kind == "Bearer" {
		return f.owner[value] != ""
	}
	plain, err := base64.StdEncoding.DecodeString(value)
	return err == nil && f.keys[string(plain)]
}

func (f *fakeKaggle) asked(path string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var kinds []string
	for _, r := range f.requests {
		if p, kind, _ := strings.Cut(r, " "); p == path {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// bench is an App over a fake Kaggle, a keychain in memory and an environment.
type bench struct {
	*App
	kaggle   *fakeKaggle
	keychain *testKeychain
	env      map[string]string
	home     string
	log      *syncText
}

// testKeychain is a keychain that can be taken away and tells what is in it.
type testKeychain struct {
	keychain.Store
	mu   sync.Mutex
	held map[string]string
	err  error
	uses int
}

func (k *testKeychain) Set(_ context.Context, account, secret string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.uses++
	if k.err == nil {
		k.held[account] = secret
	}
	return k.err
}

func (k *testKeychain) Get(_ context.Context, account string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.uses++
	s, ok := k.held[account]
	if k.err == nil && !ok {
		return "", keychain.ErrNotFound
	}
	return s, k.err
}

func (k *testKeychain) Delete(_ context.Context, account string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.uses++
	if k.err == nil {
		delete(k.held, account)
	}
	return k.err
}

func (k *testKeychain) Name() string { return "keychain" }

func (k *testKeychain) names() []string { return slices.Sorted(maps.Keys(k.held)) }

// noKeychain is what a server without a desktop answers.
func noKeychain() error {
	return &keychain.Error{Kind: keychain.ErrUnavailable, Reason: "no Secret Service runs here"}
}

// syncText is a log that can be read while it is written.
type syncText struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *syncText) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncText) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func newBench(t *testing.T, env map[string]string) *bench {
	t.Helper()
	b := &bench{kaggle: newFakeKaggle(), keychain: &testKeychain{held: map[string]string{}}, env: map[string]string{}, log: &syncText{}}
	b.home = filepath.Join(t.TempDir(), "state")
	maps.Copy(b.env, env)
	b.open(t)
	t.Cleanup(func() { b.noSecretLeft(t) })
	return b
}

// open starts the program (again) on the same home.
func (b *bench) open(t *testing.T) {
	t.Helper()
	env := maps.Clone(b.env)
	a, err := Open(t.Context(), Options{Home: b.home, Getenv: func(k string) string { return env[k] }, Keychain: b.keychain,
		Transport: b.kaggle, Version: "1.2.3", Log: slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err != nil {
		t.Fatal(err)
	}
	b.App = a
	t.Cleanup(func() { a.Close() })
}

func (b *bench) restart(t *testing.T) {
	t.Helper()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b.open(t)
}

// noSecretLeft looks for secrets where none may be: the log and every file but
// the one that the person agreed to.
func (b *bench) noSecretLeft(t *testing.T) {
	b.Close()
	look := func(where, text string) {
		for _, s := range secretsOfTests {
			if strings.Contains(text, s) {
				t.Errorf("%s holds the secret %s", where, s)
			}
		}
	}
	look("the log", b.log.String())
	filepath.WalkDir(b.home, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && d.Name() != "credentials.json" {
			raw, _ := os.ReadFile(path)
			look(path, string(raw))
		}
		return nil
	})
}

func wantAccount(t *testing.T, a *App, want Account) Account {
	t.Helper()
	got, err := a.Account(t.Context())
	if err != nil {
		t.Fatalf("account: %v, want %s", err, want.Username)
	}
	want.ID = got.ID
	if got != want {
		t.Errorf("account\n got %+v\nwant %+v", got, want)
	}
	return got
}

func wantNoAccount(t *testing.T, a *App) {
	t.Helper()
	if acc, err := a.Account(t.Context()); !errors.Is(err, ErrNoAccount) {
		t.Errorf("account: got %+v, %v; want ErrNoAccount", acc, err)
	}
}

// quotaAs makes a call and says how it was signed.
func (b *bench) quotaAs(t *testing.T) string {
	t.Helper()
	c, err := b.client(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before := len(b.kaggle.asked(kaggle.PathQuota))
	if _, err := c.Quota(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b.kaggle.asked(kaggle.PathQuota)[before]
}
