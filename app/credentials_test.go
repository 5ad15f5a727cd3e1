package app

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"sandglass/kaggle"
)

// write makes a file with its folders.
func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// foundList is what was found, without the credentials: kind, user, place.
func foundList(list []Found, home string) []string {
	var out []string
	for _, f := range list {
		s := f.Kind + " " + f.Username + " " + strings.ReplaceAll(f.Where, home, "~")
		if f.Problem != "" {
			s += ": " + f.Problem
		}
		out = append(out, s)
	}
	return out
}

func TestFindCredentialsLooksWhereTheOfficialClientLooks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the folders are Linux's")
	}
	home := t.TempDir()
	write(t, filepath.Join(home, ".kaggle", "access_token"), goodToken+"\n")
	write(t, filepath.Join(home, ".kaggle", "access_token.txt"), " \n")
	write(t, filepath.Join(home, ".kaggle", "kaggle.json"), `{"username":"sam-roe","key":"`+goodKey+`","path":"/data"}`)
	write(t, filepath.Join(home, ".config", "kaggle", "kaggle.json"), `{"username":"kim-lee","key":"`+otherToken+`"}`)
	write(t, filepath.Join(home, ".kaggle", "credentials.json"), `{"refresh_token":"refresh-1","access_token":"access-1","access_token_expiration":"2026-01-01T00:00:00+00:00","username":"sam-roe","scopes":[]}`)
	moved := write(t, filepath.Join(t.TempDir(), "kaggle.json"), `{"username":"sam-roe","key":"`+goodKey+`"}`)
	for _, tc := range []struct {
		name string
		env  map[string]string
		want []string
	}{
		{"files", nil, []string{
			"token  ~/.kaggle/access_token", "key sam-roe ~/.kaggle/kaggle.json", "token kim-lee ~/.config/kaggle/kaggle.json", "oauth sam-roe ~/.kaggle/credentials.json"}},
		{"environment first", map[string]string{"KAGGLE_API_TOKEN": otherToken, "KAGGLE_USERNAME": "sam-roe", "KAGGLE_KEY": goodKey}, []string{
			"token  KAGGLE_API_TOKEN", "token  ~/.kaggle/access_token", "key sam-roe KAGGLE_USERNAME and KAGGLE_KEY",
			"key sam-roe ~/.kaggle/kaggle.json", "token kim-lee ~/.config/kaggle/kaggle.json", "oauth sam-roe ~/.kaggle/credentials.json"}},
		{"a moved folder moves kaggle.json alone", map[string]string{"KAGGLE_CONFIG_DIR": filepath.Dir(moved)}, []string{
			"token  ~/.kaggle/access_token", "key sam-roe " + moved, "oauth sam-roe ~/.kaggle/credentials.json"}},
		{"another config home", map[string]string{"XDG_CONFIG_HOME": filepath.Join(home, "nothing")}, []string{
			"token  ~/.kaggle/access_token", "key sam-roe ~/.kaggle/kaggle.json", "oauth sam-roe ~/.kaggle/credentials.json"}},
		{"no home", map[string]string{"HOME": ""}, nil},
	} {
		env := map[string]string{"HOME": home}
		for k, v := range tc.env {
			env[k] = v
		}
		b := newBench(t, env)
		if got := foundList(b.FindCredentials(t.Context()), home); !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s:\n got %q\nwant %q", tc.name, got, tc.want)
		}
		if len(b.kaggle.requests) != 0 {
			t.Errorf("%s: Kaggle was asked: %v", tc.name, b.kaggle.requests)
		}
	}
}

func TestFindCredentialsNamesWhatCannotBeUsed(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the folders are Linux's")
	}
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".kaggle", "access_token"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(home, ".kaggle", "access_token.txt"), "see my notes for the token")
	write(t, filepath.Join(home, ".kaggle", "kaggle.json"), `{"username":"sam-roe","key":"`+goodKey)
	write(t, filepath.Join(home, ".config", "kaggle", "kaggle.json"), strings.Repeat(" ", tokenFileMax+1))
	write(t, filepath.Join(home, ".kaggle", "credentials.json"), `{"username":"sam-roe"}`)
	b := newBench(t, map[string]string{"HOME": home, "KAGGLE_API_TOKEN": home, "KAGGLE_KEY": goodKey})
	list := b.FindCredentials(t.Context())
	says := []string{"it is no file", "it is no file", "one word", "without KAGGLE_USERNAME", "not valid JSON", "too large", `neither "key" nor "token"`}
	if len(list) != len(says) {
		t.Fatalf("found %q, want %d", foundList(list, home), len(says))
	}
	for i, f := range list {
		if !strings.Contains(f.Problem, says[i]) || strings.Contains(f.Problem, goodKey) {
			t.Errorf("%s: problem %q, want %q and no secret", f.Where, f.Problem, says[i])
		}
		var bad *BadCredentialError
		if _, err := b.Import(t.Context(), f, ""); !errors.As(err, &bad) || !strings.Contains(err.Error(), f.Where) {
			t.Errorf("importing %s: %v, want a refusal that names it", f.Where, err)
		}
	}
}

func TestImportCopiesAndLeavesTheFile(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the folders are Linux's")
	}
	home := t.TempDir()
	files := []string{
		write(t, filepath.Join(home, ".kaggle", "access_token"), otherToken),
		write(t, filepath.Join(home, ".kaggle", "kaggle.json"), `{"username":"sam-roe","key":"`+goodKey+`"}`),
		write(t, filepath.Join(home, ".kaggle", "credentials.json"), `{"refresh_token":"refresh-1","access_token":"gone","username":"sam-roe"}`),
	}
	before := make([]string, len(files))
	for i, f := range files {
		raw, _ := os.ReadFile(f)
		before[i] = string(raw)
	}
	b := newBench(t, map[string]string{"HOME": home})
	list := b.FindCredentials(t.Context())
	for i, want := range []Account{
		{Username: "kim-lee", AuthKind: "token"}, {Username: "sam-roe", AuthKind: "key"}, {Username: "sam-roe", AuthKind: "oauth"},
	} {
		acc, err := b.Import(t.Context(), list[i], "")
		if err != nil {
			t.Fatal(err)
		}
		want.Kind, want.Store = "kaggle", "keychain"
		if wantAccount(t, b.App, want).ID != acc.ID {
			t.Errorf("%s: the imported account is not the current one", list[i].Where)
		}
		b.quotaAs(t)
	}
	for i, f := range files {
		if raw, err := os.ReadFile(f); err != nil || string(raw) != before[i] {
			t.Errorf("%s was changed (%v)", f, err)
		}
	}
	if want := []string{"kim-lee@www.kaggle.com", "sam-roe@www.kaggle.com/access", "sam-roe@www.kaggle.com/refresh"}; !reflect.DeepEqual(b.keychain.names(), want) {
		t.Errorf("keychain holds %v, want %v: the key made way for the browser sign-in", b.keychain.names(), want)
	}
}

func TestImportOfADeadCredentialStoresNothing(t *testing.T) {
	b := newBench(t, map[string]string{"KAGGLE_API_TOKEN": deadToken})
	list := b.FindCredentials(t.Context())
	if len(list) != 1 {
		t.Fatalf("found %v", list)
	}
	_, err := b.Import(t.Context(), list[0], "")
	if err == nil || !strings.Contains(err.Error(), "KAGGLE_API_TOKEN") || len(b.keychain.held) != 0 {
		t.Errorf("got %v and stored %v", err, b.keychain.names())
	}
}

func TestWhoami(t *testing.T) {
	b := newBench(t, nil)
	if _, err := b.Whoami(t.Context()); !errors.Is(err, ErrNoAccount) {
		t.Errorf("nobody: %v", err)
	}
	if _, err := b.SignIn(t.Context(), SignIn{Text: goodToken}); err != nil {
		t.Fatal(err)
	}
	want := Identity{Username: "sam-roe", Kind: "kaggle", AuthKind: "token", Store: "keychain", Verified: true}
	if id, err := b.Whoami(t.Context()); err != nil || id != want {
		t.Errorf("got %+v, %v; want %+v", id, err, want)
	}
	b.kaggle.status[kaggle.PathQuota] = 403
	if id, err := b.Whoami(t.Context()); err != nil || id.Verified || !strings.Contains(id.Note, "not verified") {
		t.Errorf("forbidden: %+v, %v; want unverified and no error", id, err)
	}
	b.kaggle.status[kaggle.PathQuota] = 401
	id, err := b.Whoami(t.Context())
	if !errors.Is(err, kaggle.ErrUnauthorized) || id.Username != "sam-roe" || id.Verified {
		t.Errorf("revoked: %+v, %v; want the name and ErrUnauthorized", id, err)
	}
}
