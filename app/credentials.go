package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"sandglass/kaggle"
)

// Found is a credential that is on this computer already, left by the official
// command line program or set in the environment.
type Found struct {
	Username string // "" = Kaggle has to be asked
	Kind     string // "token", "key", "oauth"
	Where    string // the file, or the environment variables
	Problem  string // why it cannot be used; "" = it can be tried

	cred credential
}

// FindCredentials looks where the official client looks, in its order, and asks
// nobody. What is there but cannot be used is named with its problem. Nothing is
// changed.
func (a *App) FindCredentials(ctx context.Context) []Found {
	var list []Found
	add := func(f Found, ok bool) {
		if ok && ctx.Err() == nil {
			list = append(list, f)
		}
	}
	add(a.foundEnvToken())
	home := a.homeDir()
	if home != "" {
		for _, name := range []string{"access_token", "access_token.txt"} {
			add(foundTokenFile(filepath.Join(home, ".kaggle", name)))
		}
	}
	add(a.foundEnvKey())
	for _, dir := range a.kaggleFolders(home) {
		add(foundJSON(filepath.Join(dir, "kaggle.json")))
	}
	if home != "" {
		add(foundJSON(filepath.Join(home, ".kaggle", "credentials.json")))
	}
	return list
}

// Import signs in with a found credential: verified by Kaggle, copied into the
// store, and left where it was.
func (a *App) Import(ctx context.Context, f Found, store string) (Account, error) {
	if f.Problem != "" {
		return Account{}, &BadCredentialError{Why: f.Where + ": " + f.Problem}
	}
	acc, err := a.admit(ctx, f.cred, store)
	if err != nil {
		return acc, fmt.Errorf("import from %s: %w", f.Where, err)
	}
	return acc, nil
}

// homeDir is the person's folder by the environment that was given to the App.
func (a *App) homeDir() string {
	if runtime.GOOS == "windows" {
		return a.getenv("USERPROFILE")
	}
	return a.getenv("HOME")
}

// kaggleFolders are the folders of kaggle.json: the one the official client reads,
// and on Linux also ~/.config/kaggle, which that client stops reading as soon as a
// browser sign-in has made ~/.kaggle.
func (a *App) kaggleFolders(home string) []string {
	if dir := a.getenv("KAGGLE_CONFIG_DIR"); dir != "" {
		return []string{dir}
	}
	if home == "" {
		return nil
	}
	dirs := []string{filepath.Join(home, ".kaggle")}
	if runtime.GOOS == "linux" {
		config := a.getenv("XDG_CONFIG_HOME")
		if config == "" {
			config = filepath.Join(home, ".config")
		}
		dirs = append(dirs, filepath.Join(config, "kaggle"))
	}
	return dirs
}

func (a *App) foundEnvToken() (Found, bool) {
	e := a.environment()
	if e.token == "" && e.tokenProblem == "" {
		return Found{}, false
	}
	f := Found{Kind: authToken, Where: e.from, Problem: e.tokenProblem}
	if e.token != "" {
		f = withCredential(f, credential{username: e.username, secret: e.token})
		f.Username = "" // KAGGLE_USERNAME may belong to the key; Kaggle is asked
	}
	return f, true
}

func (a *App) foundEnvKey() (Found, bool) {
	e := a.environment()
	if e.key == "" {
		return Found{Kind: authKey, Where: "KAGGLE_KEY", Problem: e.keyProblem}, e.keyProblem != ""
	}
	cred, err := fromParts(e.username, e.key.Reveal())
	return judged(Found{Where: "KAGGLE_USERNAME and KAGGLE_KEY"}, cred, err), true
}

// foundTokenFile reads an access token file. An empty one counts as absent.
func foundTokenFile(path string) (Found, bool) {
	text, ok, problem := readCredentialFile(path)
	f := Found{Kind: authToken, Where: path, Problem: problem}
	if !ok || problem != "" {
		return f, ok
	}
	if strings.TrimSpace(text) == "" {
		return f, false
	}
	cred, err := fromParts("", text)
	return judged(f, cred, err), true
}

// foundJSON reads a kaggle.json or credentials.json.
func foundJSON(path string) (Found, bool) {
	text, ok, problem := readCredentialFile(path)
	f := Found{Kind: authKey, Where: path, Problem: problem}
	if !ok || problem != "" {
		return f, ok
	}
	text = strings.Trim(text, " \t\r\n\ufeff")
	if text == "" {
		return f, false
	}
	cred, err := parseCredentialJSON([]byte(text))
	return judged(f, cred, err), true
}

func judged(f Found, cred credential, err error) Found {
	var bad *BadCredentialError
	if errors.As(err, &bad) {
		f.Problem = bad.Why
		return f
	}
	return withCredential(f, cred)
}

func withCredential(f Found, cred credential) Found {
	f.cred, f.Username, f.Kind = cred, cred.username, cred.authKind()
	return f
}

// readCredentialFile reads a small file. ok is false when there is none.
func readCredentialFile(path string) (text string, ok bool, problem string) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", false, ""
	case err != nil:
		return "", true, fmt.Sprintf("it cannot be read (%v)", plainCause(err))
	case !info.Mode().IsRegular():
		return "", true, "it is no file"
	case info.Size() > tokenFileMax:
		return "", true, "it is too large for a credential"
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", true, fmt.Sprintf("it cannot be read (%v)", plainCause(err))
	}
	return string(raw), true, ""
}

// Identity is who we are, and how sure that is.
type Identity struct {
	Username string `json:"username"`
	Kind     string `json:"kind"`      // "kaggle", "sandbox"
	AuthKind string `json:"auth_kind"` // as Account.AuthKind
	Store    string `json:"store"`     // as Account.Store
	Endpoint string `json:"endpoint"`  // "" = production
	Verified bool   `json:"verified"`  // Kaggle said so just now
	Note     string `json:"note"`      // why not, or what was passed over
}

// Whoami asks Kaggle whether the current sign-in works. The identity is filled in
// as far as it is known also when an error comes back: the credential is dead, or
// Kaggle cannot be reached.
func (a *App) Whoami(ctx context.Context) (Identity, error) {
	acc, note, err := a.resolveAccount(ctx)
	id := Identity{Username: acc.Username, Kind: acc.Kind, AuthKind: acc.AuthKind, Store: acc.Store, Endpoint: acc.Endpoint, Note: note}
	if err != nil {
		return id, err
	}
	c, err := a.clientFor(ctx, acc)
	if err != nil {
		return id, err
	}
	if acc.Store == storeSandbox {
		id.Endpoint, _ = a.SandboxRunning()
	}
	// Quota is the cheapest call that every kind of credential can make.
	_, err = c.Quota(ctx)
	switch {
	case err == nil: // an answer that cannot be read proves nothing: a proxy may have sent it
		id.Verified = true
		return id, nil
	case errors.Is(err, kaggle.ErrUnauthorized), errors.Is(err, kaggle.ErrOffline), ctx.Err() != nil:
		return id, fmt.Errorf("check the sign-in of %s: %w", acc.Username, err)
	}
	id.Note = joinNotes(id.Note, "not verified: "+redact(err.Error()))
	return id, nil
}
