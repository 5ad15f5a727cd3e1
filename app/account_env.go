package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"sandglass/app/runlog"
	"sandglass/kaggle"
)

// envCredentials is what the official client's variables hold. They are used as
// they are, for scripts and servers without a keychain, and never stored.
type envCredentials struct {
	token    kaggle.Secret // KAGGLE_API_TOKEN, or a token in KAGGLE_KEY
	from     string        // the variable the token is in
	username string
	key      kaggle.Secret // KAGGLE_KEY

	tokenProblem, keyProblem string // why a variable that is set cannot be used
}

// tokenFileMax bounds what is read as a credential.
const tokenFileMax = 64 << 10

// environment reads the variables. KAGGLE_API_TOKEN is the token itself or, as the
// official client has it, the name of a file that holds it.
func (a *App) environment() envCredentials {
	var e envCredentials
	if v := strings.TrimSpace(a.getenv("KAGGLE_API_TOKEN")); v != "" {
		e.from = "KAGGLE_API_TOKEN"
		text, isFile, err := readIfFile(v)
		switch {
		case err != nil:
			e.tokenProblem = fmt.Sprintf("the file %s that KAGGLE_API_TOKEN names cannot be read (%v)", v, plainCause(err))
		case isFile && strings.TrimSpace(text) == "":
			e.tokenProblem = fmt.Sprintf("the file %s that KAGGLE_API_TOKEN names is empty", v)
		case isFile:
			e.token = kaggle.Secret(strings.TrimSpace(text))
		default:
			e.token = kaggle.Secret(v)
		}
	}
	e.username = strings.TrimSpace(a.getenv("KAGGLE_USERNAME"))
	e.key = kaggle.Secret(strings.TrimSpace(a.getenv("KAGGLE_KEY")))
	if e.key != "" && e.username == "" {
		switch {
		case legacyKey(e.key):
			e.keyProblem = "KAGGLE_KEY is set without KAGGLE_USERNAME"
			e.key = ""
		case e.token == "":
			e.token, e.from, e.key = e.key, "KAGGLE_KEY", ""
		}
	}
	if e.username == "" {
		e.key = ""
	}
	return e
}

// variables names those that hold a credential.
func (e envCredentials) variables() []string {
	var names []string
	if e.token != "" {
		names = append(names, e.from)
	}
	if e.key != "" {
		names = append(names, "KAGGLE_USERNAME", "KAGGLE_KEY")
	}
	return names
}

func (e envCredentials) empty() bool { return e.token == "" && e.key == "" }

// readIfFile reads a file of that name, if there is one.
func readIfFile(name string) (text string, isFile bool, err error) {
	info, err := os.Stat(name)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return "", true, err
		}
		return "", false, nil // a token is no file name, and may be too long for one
	}
	if !info.Mode().IsRegular() {
		return "", true, errors.New("it is no file")
	}
	if info.Size() > tokenFileMax {
		return "", true, errors.New("it is too large for a credential")
	}
	raw, err := os.ReadFile(name)
	return string(raw), true, err
}

// plainCause is an error of the file system without the path, which is said anyway.
func plainCause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// envIdentity remembers, for this process, whose credentials the environment holds.
type envIdentity struct {
	of       envCredentials
	endpoint string
	username string
	dead     bool   // nothing of it works
	note     string // what was passed over, or not verified
	useKey   bool   // the token is dead, the key is used
}

// environmentAccount is the account of the credentials in the environment,
// ErrNoAccount when there are none that work. A dead token does not shadow a good
// key: the note says that it was passed over.
func (a *App) environmentAccount(ctx context.Context) (Account, string, error) {
	id, err := a.environmentIdentity(ctx)
	if err != nil {
		return Account{}, "", err
	}
	if id.dead {
		return Account{}, id.note, ErrNoAccount
	}
	row, err := a.environmentRow(ctx, id)
	if err != nil {
		return Account{}, id.note, err
	}
	acc := fromRow(row)
	acc.AuthKind, acc.Store = authEnvironment, storeEnvironment
	return acc, id.note, nil
}

func (a *App) environmentIdentity(ctx context.Context) (*envIdentity, error) {
	e, endpoint := a.environment(), a.endpoint()
	a.accounts.mu.Lock()
	known := a.accounts.env
	a.accounts.mu.Unlock()
	if known != nil && known.of == e && known.endpoint == endpoint {
		return known, nil
	}
	id, err := a.identifyEnvironment(ctx, e, endpoint)
	if err != nil {
		return nil, err
	}
	a.accounts.mu.Lock()
	a.accounts.env = id
	a.accounts.mu.Unlock()
	return id, nil
}

// identifyEnvironment asks Kaggle whose the token is, or takes the key's username.
func (a *App) identifyEnvironment(ctx context.Context, e envCredentials, endpoint string) (*envIdentity, error) {
	id := &envIdentity{of: e, endpoint: endpoint, note: joinNotes(e.tokenProblem, e.keyProblem), username: e.username}
	if e.empty() {
		id.dead = true
		return id, nil
	}
	if e.token != "" {
		who, dead, err := a.introspect(ctx, endpoint, e.token)
		switch {
		case err == nil && !dead:
			id.username = who.Username
			a.rememberToken(ctx, e.token, who.Username)
			return id, nil
		case !dead:
			return a.unverifiedToken(ctx, id, err)
		}
		id.note = joinNotes(id.note, "Kaggle does not accept the token in "+e.from+" (any more)")
		a.log.Warn("dead token in the environment passed over", "op", "sign in", "variable", e.from)
	}
	if e.key == "" {
		id.dead = true
		return id, nil
	}
	if e.token != "" {
		id.note = joinNotes(id.note, "KAGGLE_USERNAME and KAGGLE_KEY are used instead")
	}
	id.useKey = true
	return id, nil
}

// unverifiedToken uses a token that Kaggle could not be asked about when its owner
// is known from elsewhere: the environment, or an earlier start.
func (a *App) unverifiedToken(ctx context.Context, id *envIdentity, err error) (*envIdentity, error) {
	if id.username == "" {
		id.username = a.rememberedToken(ctx, id.of.token)
	}
	if id.username == "" {
		return nil, fmt.Errorf("ask whose the token in %s is: %w", id.of.from, err)
	}
	id.note = joinNotes(id.note, "the token in "+id.of.from+" could not be verified now")
	return id, nil
}

// introspect asks Kaggle about a token. dead means that Kaggle said no; an error
// without it means that nothing is known.
func (a *App) introspect(ctx context.Context, endpoint string, token kaggle.Secret) (id kaggle.Identity, dead bool, err error) {
	c, err := a.newClient(endpoint, nil)
	if err != nil {
		return id, false, err
	}
	id, err = c.Introspect(ctx, token)
	switch {
	case err == nil && id.Active && id.Username != "":
		return id, false, nil
	case err == nil:
		return id, true, &BadCredentialError{Why: "Kaggle says that this token is not active"}
	case errors.Is(err, kaggle.ErrUnauthorized), errors.Is(err, kaggle.ErrForbidden), errors.Is(err, kaggle.ErrNotFound), errors.Is(err, kaggle.ErrRejected):
		return id, true, &BadCredentialError{Why: "Kaggle does not know this token", Err: err}
	}
	return id, false, err
}

// The owner of a token is remembered under a short digest, so that a script that
// starts without a network still knows its runs. 32 bits lead nobody to a token.
func tokenSetting(token kaggle.Secret) string {
	sum := sha256.Sum256([]byte("sandglass token owner\x00" + token.Reveal()))
	return "owner." + hex.EncodeToString(sum[:4])
}

func (a *App) rememberToken(ctx context.Context, token kaggle.Secret, username string) {
	if name := tokenSetting(token); a.Setting(ctx, name) != username {
		if err := a.SetSetting(ctx, name, username); err != nil {
			a.log.Warn("owner of the token not remembered", "err", err)
		}
	}
}

func (a *App) rememberedToken(ctx context.Context, token kaggle.Secret) string {
	return a.Setting(ctx, tokenSetting(token))
}

// environmentRow is the account's row in the log, for its runs. One that is signed
// in otherwise too is left as it is: without the environment it is still signed in.
func (a *App) environmentRow(ctx context.Context, id *envIdentity) (runlog.Account, error) {
	rows, err := a.store.Accounts(ctx)
	if err != nil {
		return runlog.Account{}, err
	}
	kind, speed := a.kindOf(ctx, id.endpoint)
	for _, r := range rows {
		if r.Endpoint != id.endpoint || !strings.EqualFold(r.Username, id.username) || r.Store == storeSandbox {
			continue
		}
		if r.SignedOutAt.IsZero() {
			return r, nil
		}
		kind, speed = r.Kind, max(speed, r.Speed)
	}
	return a.store.SaveAccount(ctx, runlog.Account{Username: id.username, Kind: kind, Endpoint: id.endpoint,
		AuthKind: authEnvironment, Store: storeEnvironment, Speed: speed, UsedAt: a.now()})
}

func (a *App) environmentAuthorizer(acc Account) (kaggle.Authorizer, error) {
	a.accounts.mu.Lock()
	id := a.accounts.env
	a.accounts.mu.Unlock()
	switch {
	case id == nil || id.dead:
		return nil, ErrNoAccount
	case id.useKey || id.of.token == "":
		return kaggle.KeyOrToken(acc.Username, id.of.key), nil
	}
	return kaggle.Bearer(id.of.token), nil
}

func joinNotes(notes ...string) string {
	var said []string
	for _, n := range notes {
		if n != "" {
			said = append(said, n)
		}
	}
	return strings.Join(said, "; ")
}
