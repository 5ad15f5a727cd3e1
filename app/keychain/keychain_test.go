package keychain

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zalando/go-keyring"
)

// stores are all implementations over nothing real.
func stores(t *testing.T) map[string]Store {
	keyring.MockInit()
	return map[string]Store{
		"keychain": OS(0),
		"memory":   Memory(),
		"file":     File(filepath.Join(t.TempDir(), "new folder", "secrets.json")),
	}
}

func TestEveryStoreKeepsTheContract(t *testing.T) {
	ctx := t.Context()
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			if s.Name() != name {
				t.Errorf("name %q, want %q", s.Name(), name)
			}
			want := func(account, secret string, kind error) {
				t.Helper()
				got, err := s.Get(ctx, account)
				if got != secret || !errors.Is(err, kind) {
					t.Errorf("%s: got %q, %v; want %q, %v", account, got, err, secret, kind)
				}
			}
			do := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			want("a", "", ErrNotFound)
			do(s.Delete(ctx, "a"))
			do(s.Set(ctx, "a", ""))
			do(s.Set(ctx, "a", "KGAT_one"))
			do(s.Set(ctx, "b", "ein Geheimnis mit ü und\nZeile"))
			want("a", "KGAT_one", nil)
			want("b", "ein Geheimnis mit ü und\nZeile", nil)
			do(s.Set(ctx, "a", "KGAT_two"))
			want("a", "KGAT_two", nil)
			do(s.Set(ctx, "a", ""))
			want("a", "", ErrNotFound)
			do(s.Delete(ctx, "b"))
			want("b", "", ErrNotFound)
		})
	}
}

// TestSizes takes the secrets of real complaints: single secrets are stored and
// come back whole, what a system would cut is refused with that system's name.
func TestSizes(t *testing.T) {
	keyring.MockInit()
	raw, err := os.ReadFile("testdata/sizes.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name       string
		Characters int
		Alphabet   string
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	letters := map[string]string{"hex": "c", "ascii": "K", "non-ascii": "é", "": ""}
	stored := map[string]bool{"legacy-key": true, "token": true, "oauth-pair": true, "empty": false,
		"oauth-pair-with-scopes": false, "two-byte-letters": false, "over-3k": false}
	s := OS(0)
	for _, c := range cases {
		want, known := stored[c.Name]
		if !known {
			t.Errorf("%s: no expectation", c.Name)
		}
		if err := s.Set(t.Context(), c.Name, "before"); err != nil {
			t.Fatal(err)
		}
		secret := strings.Repeat(letters[c.Alphabet], c.Characters)
		err := s.Set(t.Context(), c.Name, secret)
		got, gotErr := s.Get(t.Context(), c.Name)
		switch {
		case c.Name == "empty":
			if err != nil || !errors.Is(gotErr, ErrNotFound) {
				t.Errorf("empty: got %v and then %q, %v; want the entry gone", err, got, gotErr)
			}
		case want:
			if err != nil || got != secret {
				t.Errorf("%s: got %v and %d bytes back, want %d", c.Name, err, len(got), len(secret))
			}
		default:
			if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "Windows Credential Manager takes at most 2560") || strings.Contains(err.Error(), secret) {
				t.Errorf("%s: got %.120v, want a refusal that names the system and its limit", c.Name, err)
			}
			if got != "before" {
				t.Errorf("%s: the refused secret changed what was stored to %.20q", c.Name, got)
			}
		}
	}
	at, over := strings.Repeat("k", MaxSecret), strings.Repeat("k", MaxSecret+1)
	if s.Set(t.Context(), "edge", at) != nil || !errors.Is(s.Set(t.Context(), "edge", over), ErrTooLarge) {
		t.Error("the limit is not where it is said to be")
	}
}

func TestErrorsInPlainWords(t *testing.T) {
	for _, tc := range []struct {
		name string
		err  error
		kind error
		says string
	}{
		{"no session bus", &exec.Error{Name: "dbus-launch", Err: exec.ErrNotFound}, ErrUnavailable, "no session bus"},
		{"a bus that is gone", errors.New("dial unix /run/user/1000/bus: connect: connection refused"), ErrUnavailable, "no session bus"},
		{"no Secret Service", errors.New("The name org.freedesktop.secrets was not provided by any .service files"), ErrUnavailable, "no Secret Service"},
		{"locked", errors.New("failed to unlock correct collection '/org/freedesktop/secrets/aliases/default'"), ErrUnavailable, "locked"},
		{"unknown", errors.New("exit status 36 for KGAT_hidden"), ErrUnavailable, "exit status 36 for [redacted]"},
		{"unsupported", keyring.ErrUnsupportedPlatform, ErrUnavailable, runtime.GOOS},
		{"too big after all", keyring.ErrSetDataTooBig, ErrTooLarge, "length"},
	} {
		keyring.MockInitWithError(tc.err)
		err := OS(0).Set(t.Context(), "a", "KGAT_hidden")
		if !errors.Is(err, tc.kind) || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "KGAT_hidden") {
			t.Errorf("%s: got %v, want %v with %q and no secret", tc.name, err, tc.kind, tc.says)
		}
	}
}

// fakeRing can cut what it stores and keep a caller waiting.
type fakeRing struct {
	mu    sync.Mutex
	held  map[string]string
	cutTo int           // 0 = whole
	block chan struct{} // closed = answer
}

func (f *fakeRing) Set(_, user, secret string) error {
	if f.block != nil {
		<-f.block
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cutTo > 0 && len(secret) > f.cutTo {
		secret = secret[:f.cutTo]
	}
	f.held[user] = secret
	return nil
}

func (f *fakeRing) Get(_, user string) (string, error) {
	if f.block != nil {
		<-f.block
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s, ok := f.held[user]
	if !ok {
		return "", keyring.ErrNotFound
	}
	return s, nil
}

func (f *fakeRing) Delete(_, user string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.held, user)
	return nil
}

func over(f *fakeRing, opts ...Option) *osStore {
	s := OS(3*time.Second, opts...).(*osStore)
	f.held = map[string]string{}
	s.ring = f
	return s
}

func TestACutSecretIsNoticedAndRemoved(t *testing.T) {
	s := over(&fakeRing{cutTo: 10})
	err := s.Set(t.Context(), "a", "KGAT_0123456789")
	if !errors.Is(err, ErrNoReadBack) || strings.Contains(err.Error(), "KGAT") {
		t.Errorf("got %v, want ErrNoReadBack without the secret", err)
	}
	if got, err := s.Get(t.Context(), "a"); !errors.Is(err, ErrNotFound) {
		t.Errorf("the cut secret %q was left there (%v)", got, err)
	}
}

func TestAHangingKeychainIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeRing{block: make(chan struct{})}
		s := over(f)
		start := time.Now()
		if _, err := s.Get(t.Context(), "a"); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "within 3s") {
			t.Errorf("got %v, want ErrUnavailable with the time waited", err)
		}
		if d := time.Since(start); d != 3*time.Second {
			t.Errorf("waited %v, want 3s", d)
		}
		if err := s.Set(t.Context(), "a", "x"); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "earlier question") {
			t.Errorf("a second call met %v, want to be refused because the first is still out", err)
		}
		close(f.block)
		synctest.Wait()
		if err := s.Set(t.Context(), "a", "x"); err != nil {
			t.Errorf("after it answered: %v", err)
		}
	})
}

func TestAPromptMayTakeLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeRing{block: make(chan struct{})}
		told := 0
		s := over(f, OSPrompt(time.Minute, func() { told++ }))
		time.AfterFunc(40*time.Second, func() { close(f.block) })
		if err := s.Set(t.Context(), "a", "x"); err != nil {
			t.Errorf("unlocked after 40 s: %v", err)
		}
		if told != 1 {
			t.Errorf("told %d times that it waits, want once", told)
		}
		f.block = make(chan struct{})
		start := time.Now()
		if _, err := s.Get(t.Context(), "a"); !errors.Is(err, ErrUnavailable) || time.Since(start) != time.Minute {
			t.Errorf("got %v after %v, want ErrUnavailable after a minute", err, time.Since(start))
		}
		close(f.block)
		synctest.Wait()
		f.block = make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Second, cancel)
		if _, err := s.Get(ctx, "a"); !errors.Is(err, context.Canceled) || !errors.Is(err, ErrUnavailable) {
			t.Errorf("a person who gave up: got %v", err)
		}
		close(f.block)
		synctest.Wait()
	})
}

func TestFileIsPrivateAndWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secrets.json")
	s := File(path)
	if err := s.Set(t.Context(), "a", "KGAT_one"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode())
	}
	names, err := filepath.Glob(path + ".tmp*")
	if err != nil || len(names) != 0 {
		t.Errorf("left behind: %v, %v", names, err)
	}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if err := File(path).Set(t.Context(), string(rune('A'+i)), "x"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i := range 20 {
		if _, err := s.Get(t.Context(), string(rune('A'+i))); err != nil {
			t.Errorf("entry %d was lost: %v", i, err)
		}
	}
}

func TestFileRefusals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes and links are not these on Windows")
	}
	for _, tc := range []struct {
		name string
		make func(path string) error
		says string
	}{
		{"readable by the group", func(p string) error { return writeMode(p, `{"schema":1,"secrets":{"a":"KGAT_x"}}`, 0o640) }, "chmod 600"},
		{"readable by all", func(p string) error { return writeMode(p, `{"schema":1}`, 0o604) }, "chmod 600"},
		{"damaged", func(p string) error { return writeMode(p, `{"secrets":{"a":"KGAT_x`, 0o600) }, "damaged"},
		{"newer", func(p string) error { return writeMode(p, `{"schema":2}`, 0o600) }, "newer"},
		{"a link", func(p string) error { return os.Symlink("/dev/null", p) }, "no plain file"},
		{"a folder", func(p string) error { return os.Mkdir(p, 0o700) }, "no plain file"},
	} {
		path := filepath.Join(t.TempDir(), "secrets.json")
		if err := tc.make(path); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(path)
		_, getErr := File(path).Get(t.Context(), "a")
		for verb, err := range map[string]error{"get": getErr, "set": File(path).Set(t.Context(), "a", "new"), "delete": File(path).Delete(t.Context(), "a")} {
			if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "KGAT") {
				t.Errorf("%s, %s: got %v, want ErrUnavailable with %q", tc.name, verb, err, tc.says)
			}
		}
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Errorf("%s: the refused file was changed", tc.name)
		}
	}
}

func writeMode(path, text string, mode os.FileMode) error {
	return errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode))
}
