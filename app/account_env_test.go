package app

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"sandglass/kaggle"
)

func envAccount(username string) Account {
	return Account{Username: username, Kind: "kaggle", AuthKind: "environment", Store: "environment"}
}

func TestEnvironmentCredentialsNeedNoKeychain(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "token file")
	if err := os.WriteFile(file, []byte("  "+goodToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		env  map[string]string
		sent string
	}{
		{"a token", map[string]string{"KAGGLE_API_TOKEN": goodToken}, "Bearer"},
		{"a token in a file", map[string]string{"KAGGLE_API_TOKEN": file}, "Bearer"},
		{"a key", map[string]string{"KAGGLE_USERNAME": "sam-roe", "KAGGLE_KEY": goodKey}, "Basic"},
		{"a token in the key's variable", map[string]string{"KAGGLE_USERNAME": "sam-roe", "KAGGLE_KEY": goodToken}, "Bearer"},
		{"a token in the key's variable, alone", map[string]string{"KAGGLE_KEY": goodToken}, "Bearer"},
		{"a token, and the key of somebody else", map[string]string{"KAGGLE_API_TOKEN": goodToken, "KAGGLE_USERNAME": "kim-lee", "KAGGLE_KEY": deadKey}, "Bearer"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, tc.env)
			b.keychain.err = noKeychain()
			wantAccount(t, b.App, envAccount("sam-roe"))
			if sent := b.quotaAs(t); sent != tc.sent {
				t.Errorf("signed %q, want %q", sent, tc.sent)
			}
			if b.keychain.uses != 0 {
				t.Errorf("the keychain was asked %d times", b.keychain.uses)
			}
			id, err := b.Whoami(t.Context())
			if err != nil || !id.Verified || id.Username != "sam-roe" || id.Note != "" {
				t.Errorf("whoami: %+v, %v", id, err)
			}
			if n := len(b.kaggle.asked(kaggle.PathIntrospect)); n > 1 {
				t.Errorf("asked %d times whose the token is, want once a process", n)
			}
			var env *EnvironmentError
			if err := b.SignOut(t.Context()); !errors.As(err, &env) || !strings.Contains(err.Error(), "KAGGLE_") {
				t.Errorf("signing out: %v, want to be told which variable", err)
			}
			b.env = nil
			b.restart(t)
			wantNoAccount(t, b.App) // nothing was stored
		})
	}
}

func TestADeadTokenDoesNotShadowAGoodKey(t *testing.T) {
	b := newBench(t, map[string]string{"KAGGLE_API_TOKEN": deadToken, "KAGGLE_USERNAME": "sam-roe", "KAGGLE_KEY": goodKey})
	wantAccount(t, b.App, envAccount("sam-roe"))
	if sent := b.quotaAs(t); sent != "Basic" {
		t.Errorf("signed %q, want Basic", sent)
	}
	id, err := b.Whoami(t.Context())
	if err != nil || !id.Verified || !strings.Contains(id.Note, "does not accept the token in KAGGLE_API_TOKEN") || !strings.Contains(id.Note, "KAGGLE_KEY") {
		t.Errorf("whoami: %+v, %v; want to be told what was passed over", id, err)
	}
	for _, kind := range b.kaggle.asked(kaggle.PathQuota) {
		if kind != "Basic" {
			t.Errorf("the dead token was sent again")
		}
	}
}

func TestADeadTokenDoesNotShadowTheKeychain(t *testing.T) {
	for _, status := range []int{0, 400, 401, 403, 404} { // 0: answered, not active
		b := newBench(t, nil)
		if _, err := b.SignIn(t.Context(), SignIn{Text: otherToken}); err != nil {
			t.Fatal(err)
		}
		b.env["KAGGLE_API_TOKEN"] = deadToken
		b.kaggle.status[kaggle.PathIntrospect] = status
		b.restart(t)
		wantAccount(t, b.App, Account{Username: "kim-lee", Kind: "kaggle", AuthKind: "token", Store: "keychain"})
		if id, err := b.Whoami(t.Context()); err != nil || !strings.Contains(id.Note, "KAGGLE_API_TOKEN") {
			t.Errorf("status %d: whoami %+v, %v", status, id, err)
		}
	}
	b := newBench(t, map[string]string{"KAGGLE_API_TOKEN": deadToken})
	_, err := b.Account(t.Context())
	if !errors.Is(err, ErrNoAccount) || !strings.Contains(err.Error(), "KAGGLE_API_TOKEN") {
		t.Errorf("with nothing else: %v, want ErrNoAccount that names the variable", err)
	}
}

func TestUnusableVariables(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, says string
		env        map[string]string
	}{
		{"a folder", "cannot be read (it is no file)", map[string]string{"KAGGLE_API_TOKEN": dir}},
		{"an empty file", "is empty", map[string]string{"KAGGLE_API_TOKEN": empty}},
		{"a key without its username", "KAGGLE_KEY is set without KAGGLE_USERNAME", map[string]string{"KAGGLE_KEY": goodKey}},
	} {
		b := newBench(t, tc.env)
		if _, err := b.Account(t.Context()); !errors.Is(err, ErrNoAccount) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: got %v, want ErrNoAccount with %q", tc.name, err, tc.says)
		}
	}
	b := newBench(t, map[string]string{"KAGGLE_USERNAME": "sam-roe"})
	if _, err := b.Account(t.Context()); !errors.Is(err, ErrNoAccount) {
		t.Errorf("a username alone: %v", err)
	}
}

func TestEnvironmentOffline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, map[string]string{"KAGGLE_API_TOKEN": goodToken})
		b.kaggle.offline = true
		_, err := b.Account(t.Context())
		if !errors.Is(err, kaggle.ErrOffline) || Explain(err).Exit != ExitUnreachable {
			t.Errorf("a token never seen before: got %v, want ErrOffline", err)
		}
		b.kaggle.offline = false
		wantAccount(t, b.App, envAccount("sam-roe"))
		b.kaggle.offline = true
		b.restart(t)
		wantAccount(t, b.App, envAccount("sam-roe")) // remembered
		id, err := b.Whoami(t.Context())
		if !errors.Is(err, kaggle.ErrOffline) || id.Username != "sam-roe" || id.Verified {
			t.Errorf("whoami offline: %+v, %v", id, err)
		}
	})
}

// TestWhoBeatsWhom: a sign-in of this process, then the environment, then what is
// stored; the rows keep apart what belongs apart.
func TestWhoBeatsWhom(t *testing.T) {
	b := newBench(t, map[string]string{"KAGGLE_API_TOKEN": otherToken})
	if _, err := b.SignIn(t.Context(), SignIn{Text: goodToken}); err != nil {
		t.Fatal(err)
	}
	sam := Account{Username: "sam-roe", Kind: "kaggle", AuthKind: "token", Store: "keychain"}
	wantAccount(t, b.App, sam)
	b.restart(t)
	wantAccount(t, b.App, envAccount("kim-lee"))
	b.env["KAGGLE_API_TOKEN"] = goodToken // the same person, stored and in the environment
	b.restart(t)
	wantAccount(t, b.App, envAccount("sam-roe"))
	b.env = nil
	b.restart(t)
	wantAccount(t, b.App, sam)
	rows, err := b.store.Accounts(t.Context())
	if err != nil || len(rows) != 2 {
		t.Errorf("%d accounts, %v; want sam-roe and kim-lee", len(rows), err)
	}
}

func TestEndpointConfinesTheChoice(t *testing.T) {
	const endpoint = "http://127.0.0.1:9/"
	b := newBench(t, nil)
	if _, err := b.SignIn(t.Context(), SignIn{Text: goodToken}); err != nil {
		t.Fatal(err)
	}
	b.env["SANDGLASS_ENDPOINT"] = endpoint
	b.kaggle.sandbox = &sandboxInfo{Sandbox: true, Speed: 60, Username: "sandy"}
	b.restart(t)
	wantNoAccount(t, b.App)
	b.kaggle.owner["KGAT_sandbox"] = "sandy"
	acc, err := b.SignIn(t.Context(), SignIn{Text: "KGAT_sandbox"})
	if err != nil {
		t.Fatal(err)
	}
	want := Account{Username: "sandy", Kind: "sandbox", Endpoint: "http://127.0.0.1:9", AuthKind: "token", Store: "keychain", Speed: 60}
	want.ID = acc.ID
	if acc != want {
		t.Errorf("got %+v, want %+v", acc, want)
	}
	if want := []string{"sam-roe@www.kaggle.com", "sandy@127.0.0.1:9"}; !reflect.DeepEqual(b.keychain.names(), want) {
		t.Errorf("keychain holds %v, want %v", b.keychain.names(), want)
	}
	b.restart(t)
	wantAccount(t, b.App, want)
	delete(b.env, "SANDGLASS_ENDPOINT")
	b.restart(t)
	wantAccount(t, b.App, Account{Username: "sam-roe", Kind: "kaggle", AuthKind: "token", Store: "keychain"})

	b.env["SANDGLASS_ENDPOINT"] = "ftp://nowhere"
	b.env["KAGGLE_USERNAME"], b.env["KAGGLE_KEY"] = "sam-roe", goodKey
	b.restart(t)
	if _, err := b.client(t.Context()); err == nil || !strings.Contains(err.Error(), "SANDGLASS_ENDPOINT") {
		t.Errorf("a wrong address: %v, want the variable named", err)
	}
}
