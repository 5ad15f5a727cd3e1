package app

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/kaggle"
)

func TestSignInTakesWhatPeoplePaste(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   SignIn
		auth string // how the account is signed in
		sent string // the header's kind
	}{
		{"a token", SignIn{Text: goodToken}, authToken, "Bearer"},
		{"a token with white space and quotes", SignIn{Text: "\n  \"" + goodToken + "\" \r\n"}, authToken, "Bearer"},
		{"a line of a shell file", SignIn{Text: "export KAGGLE_API_TOKEN='" + goodToken + "'"}, authToken, "Bearer"},
		{"a kaggle.json", SignIn{Text: "\ufeff{\"username\": \"sam-roe\",\n\"key\": \"" + goodKey + "\"}"}, authKey, "Basic"},
		{"a kaggle.json with a token in its key field", SignIn{Text: `{"username":"sam-roe","key":"` + goodToken + `"}`}, authToken, "Bearer"},
		{"user:key", SignIn{Text: "sam-roe:" + goodKey}, authKey, "Basic"},
		{"user: token", SignIn{Text: "sam-roe: " + goodToken}, authToken, "Bearer"},
		{"two fields", SignIn{Username: "sam-roe", Secret: goodKey}, authKey, "Basic"},
		{"a username and a pasted key", SignIn{Username: "sam-roe", Text: goodKey}, authKey, "Basic"},
		{"a credentials.json", SignIn{Text: `{"refresh_token":"refresh-1","access_token":"access-1","access_token_expiration":"2999-01-01T00:00:00+00:00","username":"sam-roe","scopes":["resources.admin:*"]}`}, authOAuth, "Bearer"},
		{"one whose access token is old", SignIn{Text: `{"refresh_token":"refresh-1","access_token":"gone","access_token_expiration":""}`}, authOAuth, "Bearer"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, nil)
			acc, err := b.SignIn(t.Context(), tc.in)
			if err != nil {
				t.Fatal(err)
			}
			want := Account{ID: acc.ID, Username: "sam-roe", Kind: "kaggle", AuthKind: tc.auth, Store: "keychain"}
			if acc != want {
				t.Errorf("got %+v, want %+v", acc, want)
			}
			b.restart(t)
			wantAccount(t, b.App, want)
			if sent := b.quotaAs(t); sent != tc.sent {
				t.Errorf("after a restart the call is signed %q, want %q", sent, tc.sent)
			}
			for _, name := range b.keychain.names() {
				if n := len(b.keychain.held[name]); n == 0 || n >= 1000 {
					t.Errorf("entry %s holds %d bytes, want one small secret", name, n)
				}
			}
		})
	}
}

func TestSignInRefusesWhatCannotWork(t *testing.T) {
	b := newBench(t, nil)
	for _, tc := range []struct {
		name, says string
		in         SignIn
	}{
		{"nothing", "no token or key", SignIn{}},
		{"a dead token", "not active", SignIn{Text: deadToken}},
		{"a dead key", "does not accept this key for sam-roe", SignIn{Text: "sam-roe:" + deadKey}},
		{"a key without a username", "needs its username", SignIn{Text: goodKey}},
		{"a kaggle.json without a username", "needs its username", SignIn{Text: `{"key":"` + goodKey + `"}`}},
		{"broken JSON", "not valid JSON", SignIn{Text: `{"username":"sam-roe","key":"` + goodKey}},
		{"JSON without a key", `neither "key" nor "token"`, SignIn{Text: `{"username":"sam-roe"}`}},
		{"prose", "one word", SignIn{Text: "my token is " + goodToken}},
		{"the masked form", "masked", SignIn{Text: "************"}},
		{"no username at all", "characters", SignIn{Username: "sam roe", Secret: goodKey}},
		{"a dead browser sign-in", "does not renew", SignIn{Text: `{"refresh_token":"gone","access_token":"gone"}`}},
	} {
		_, err := b.SignIn(t.Context(), tc.in)
		var bad *BadCredentialError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: got %v, want a BadCredentialError with %q", tc.name, err, tc.says)
		}
		for _, s := range secretsOfTests {
			if strings.Contains(err.Error(), s) || strings.Contains(Explain(err).Details, s) {
				t.Errorf("%s: the error repeats the secret: %v", tc.name, err)
			}
		}
	}
	if names := b.keychain.names(); len(names) != 0 {
		t.Errorf("stored all the same: %v", names)
	}
	wantNoAccount(t, b.App)
}

// TestSignInWhenKaggleProvesNothing: only 401 proves a key bad; a token needs its
// owner's name; without a connection nothing is stored.
func TestSignInWhenKaggleProvesNothing(t *testing.T) {
	for _, tc := range []struct {
		name   string
		path   string
		status int
		in     string
		ok     bool
	}{
		{"key, forbidden", kaggle.PathQuota, 403, "sam-roe:" + deadKey, true},
		{"key, too many requests", kaggle.PathQuota, 429, "sam-roe:" + deadKey, true},
		{"key, server error", kaggle.PathQuota, 500, "sam-roe:" + deadKey, true},
		{"token with its owner, server error", kaggle.PathIntrospect, 503, "sam-roe:" + goodToken, true},
		{"token alone, server error", kaggle.PathIntrospect, 503, goodToken, false},
		{"token, 401 from introspection", kaggle.PathIntrospect, 401, goodToken, false},
		{"token, 404 from introspection", kaggle.PathIntrospect, 404, "sam-roe:" + goodToken, false},
		{"key, offline", "", 0, "sam-roe:" + goodKey, false},
		{"token, offline", "", 0, "sam-roe:" + goodToken, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, nil)
				b.kaggle.offline = tc.path == ""
				b.kaggle.status[tc.path] = tc.status
				acc, err := b.SignIn(t.Context(), SignIn{Text: tc.in})
				if (err == nil) != tc.ok {
					t.Errorf("got %+v, %v; want ok %v", acc, err, tc.ok)
				}
				if stored := len(b.keychain.held) != 0; stored != tc.ok {
					t.Errorf("stored %v, want %v", b.keychain.names(), tc.ok)
				}
			})
		})
	}
}

func TestSignInWithoutAKeychain(t *testing.T) {
	b := newBench(t, nil)
	b.keychain.err = noKeychain()
	_, err := b.SignIn(t.Context(), SignIn{Text: goodToken})
	if !NeedsStore(err) {
		t.Fatalf("got %v, want an error that asks for another place", err)
	}
	if e := Explain(err); e.Title != "No keychain" || !strings.Contains(e.Sentence, "no Secret Service runs here") || e.Exit != ExitFailed {
		t.Errorf("explained as %+v", e)
	}
	wantNoAccount(t, b.App)

	if _, err := b.SignIn(t.Context(), SignIn{Text: goodToken, Store: "memory"}); err != nil {
		t.Fatal(err)
	}
	want := Account{Username: "sam-roe", Kind: "kaggle", AuthKind: "token", Store: "memory"}
	id := wantAccount(t, b.App, want).ID
	b.restart(t)
	wantNoAccount(t, b.App) // it was for that session only

	if _, err := b.SignIn(t.Context(), SignIn{Text: goodToken, Store: "file"}); err != nil {
		t.Fatal(err)
	}
	b.restart(t)
	want.Store = "file"
	if got := wantAccount(t, b.App, want); got.ID != id {
		t.Errorf("the same person has account %d, had %d", got.ID, id)
	}
	if sent := b.quotaAs(t); sent != "Bearer" {
		t.Errorf("signed %q, want Bearer", sent)
	}
	info, err := os.Stat(filepath.Join(b.home, "credentials.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v; want mode 0600", info, err)
	}

	b.keychain.err = nil // the keychain is back: the copy in the file goes
	if _, err := b.SignIn(t.Context(), SignIn{Text: goodToken}); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(b.home, "credentials.json"))
	if err != nil || strings.Contains(string(raw), goodToken) {
		t.Errorf("the file still holds the secret (%v)", err)
	}
	if _, err := b.SignIn(t.Context(), SignIn{Text: goodToken, Store: "pocket"}); err == nil {
		t.Error("an unknown place was taken")
	}
}

func TestSignOutForgetsTheSecretAndKeepsTheRow(t *testing.T) {
	b := newBench(t, nil)
	sub := b.Subscribe()
	defer sub.Close()
	acc, err := b.SignIn(t.Context(), SignIn{Text: goodToken})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.SignOut(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if ev := <-sub.C(); ev.Kind != EventAccount {
			t.Errorf("told %q, want %q", ev.Kind, EventAccount)
		}
	}
	if names := b.keychain.names(); len(names) != 0 {
		t.Errorf("left in the keychain: %v", names)
	}
	wantNoAccount(t, b.App)
	if _, err := b.client(t.Context()); !errors.Is(err, ErrNoAccount) {
		t.Errorf("client: %v, want ErrNoAccount", err)
	}
	row, err := b.store.Account(t.Context(), acc.ID)
	if err != nil || row.SignedOutAt.IsZero() {
		t.Errorf("row %+v, %v; want it kept and signed out", row, err)
	}
	again, err := b.SignIn(t.Context(), SignIn{Text: goodToken})
	if err != nil || again.ID != acc.ID {
		t.Errorf("signed in again as %+v, %v; want account %d with its history", again, err, acc.ID)
	}

	b.keychain.err = noKeychain()
	err = b.SignOut(t.Context())
	if err == nil || !strings.Contains(err.Error(), "could not be removed") {
		t.Errorf("with the keychain gone: got %v, want to be told what is left", err)
	}
	wantNoAccount(t, b.App)
}

func TestASecretThatSomebodyDeleted(t *testing.T) {
	b := newBench(t, nil)
	if _, err := b.SignIn(t.Context(), SignIn{Text: goodToken}); err != nil {
		t.Fatal(err)
	}
	b.keychain.held = map[string]string{}
	b.restart(t)
	_, err := b.client(t.Context())
	var gone *SecretMissingError
	if !errors.As(err, &gone) || Explain(err).Title != "Sign in again" {
		t.Errorf("got %v, want to be told to sign in again", err)
	}
}

func TestTwoAccounts(t *testing.T) {
	b := newBench(t, nil)
	for _, token := range []string{goodToken, otherToken} {
		if _, err := b.SignIn(t.Context(), SignIn{Text: token}); err != nil {
			t.Fatal(err)
		}
	}
	b.restart(t)
	kim := Account{Username: "kim-lee", Kind: "kaggle", AuthKind: "token", Store: "keychain"}
	wantAccount(t, b.App, kim)
	if err := b.SignOut(t.Context()); err != nil {
		t.Fatal(err)
	}
	sam := kim
	sam.Username = "sam-roe"
	wantAccount(t, b.App, sam)
	if names := b.keychain.names(); !reflect.DeepEqual(names, []string{"sam-roe@www.kaggle.com"}) {
		t.Errorf("keychain holds %v", names)
	}
}

func TestBrowserSignIn(t *testing.T) {
	b := newBench(t, nil)
	login, err := b.BrowserSignIn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer login.Close()
	if !strings.HasPrefix(login.PasteURL, "https://www.kaggle.com/api/v1/oauth2/authorize?") {
		t.Errorf("paste URL %s", login.PasteURL)
	}
	come(t, login.URL, "the-code")
	acc, err := login.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if acc.Username != "sam-roe" || acc.AuthKind != authOAuth {
		t.Errorf("signed in as %+v", acc)
	}
	if want := []string{"sam-roe@www.kaggle.com/access", "sam-roe@www.kaggle.com/refresh"}; !reflect.DeepEqual(b.keychain.names(), want) {
		t.Errorf("keychain holds %v, want %v", b.keychain.names(), want)
	}

	// Twelve hours later the token is renewed once, and the new one is stored.
	b.restart(t)
	if err := b.SetSetting(t.Context(), settingOAuthExpires(acc.ID), time.Now().Add(-time.Minute).Format(time.RFC3339)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if sent := b.quotaAs(t); sent != "Bearer" {
			t.Errorf("signed %q", sent)
		}
	}
	if n := len(b.kaggle.asked(kaggle.PathGenerateAccessToken)); n != 1 {
		t.Errorf("renewed %d times, want once", n)
	}
	if got := b.keychain.held["sam-roe@www.kaggle.com/access"]; got != "access-2" {
		t.Errorf("the keychain holds %q, want the new token", got)
	}
	if err := b.SignOut(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"refresh-1 as Bearer"}; !reflect.DeepEqual(b.kaggle.revoked, want) {
		t.Errorf("revoked %v, want %v", b.kaggle.revoked, want)
	}
	if len(b.keychain.held) != 0 {
		t.Errorf("left behind: %v", b.keychain.names())
	}
}

// come plays the browser: it follows the redirect with a code.
func come(t *testing.T, authorize, code string) {
	t.Helper()
	u, err := url.Parse(authorize)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	back := q.Get("redirect_uri") + "/?" + url.Values{"code": {code}, "state": {q.Get("state")}}.Encode()
	resp, err := http.Get(back)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
}

func TestBrowserSignInKeepsItsResultWithoutAKeychain(t *testing.T) {
	b := newBench(t, nil)
	b.keychain.err = noKeychain()
	login, err := b.BrowserSignIn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer login.Close()
	if _, err := login.Keep(t.Context(), "memory"); err == nil {
		t.Error("kept before it had succeeded")
	}
	if _, err := login.Code(t.Context(), " the-code\n"); !NeedsStore(err) {
		t.Fatalf("got %v, want to be asked for another place", err)
	}
	wantNoAccount(t, b.App)
	acc, err := login.Keep(t.Context(), "memory")
	if err != nil || acc.Store != "memory" || acc.AuthKind != authOAuth {
		t.Fatalf("kept as %+v, %v", acc, err)
	}
	if sent := b.quotaAs(t); sent != "Bearer" {
		t.Errorf("signed %q", sent)
	}
}

func TestBrowserSignInStopped(t *testing.T) {
	b := newBench(t, nil)
	login, err := b.BrowserSignIn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := login.Wait(ctx); !errors.Is(err, context.Canceled) || Explain(err).Title != "Stopped" {
		t.Errorf("got %v", err)
	}
	if _, err := login.Code(t.Context(), "wrong"); err == nil {
		t.Error("a wrong code was taken")
	}
	wantNoAccount(t, b.App)
}

func TestImportedBrowserSignInIsNotRevoked(t *testing.T) {
	b := newBench(t, nil)
	if _, err := b.SignIn(t.Context(), SignIn{Text: `{"refresh_token":"refresh-1","access_token":"access-1"}`}); err != nil {
		t.Fatal(err)
	}
	if err := b.SignOut(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(b.kaggle.revoked) != 0 {
		t.Errorf("revoked %v, which belongs to the program that made it", b.kaggle.revoked)
	}
}
