package app

import (
	"context"
	"errors"
	"fmt"

	"sandglass/app/keychain"
	"sandglass/app/runlog"
	"sandglass/kaggle"
)

// SignIn is what a person gives to sign in. Text is a pasted API token, the text
// of a kaggle.json, or "user:key"; Username and Secret are the same in two parts.
type SignIn struct {
	Text     string
	Username string
	Secret   string
	Store    string // "" = the keychain; "file" or "memory" when there is none and the person agreed
}

// BadCredentialError is a sign-in that cannot work. Nothing was stored.
type BadCredentialError struct {
	Why string // one clause, without a secret
	Err error  // Kaggle's answer, when it was asked
}

func (e *BadCredentialError) Error() string { return "not signed in: " + e.Why }
func (e *BadCredentialError) Unwrap() error { return e.Err }

// NeedsStore says that a sign-in was good but there is no keychain to keep it in:
// ask the person, and try again with SignIn.Store "file" or "memory".
func NeedsStore(err error) bool {
	return errors.Is(err, keychain.ErrUnavailable) || errors.Is(err, keychain.ErrNoReadBack) || errors.Is(err, keychain.ErrTooLarge)
}

// SignIn checks a credential with Kaggle, stores it, and makes its account the
// current one. A bad one is a *BadCredentialError and nothing is stored; when
// there is no keychain NeedsStore says so.
func (a *App) SignIn(ctx context.Context, in SignIn) (Account, error) {
	cred, err := parseSignIn(in)
	if err != nil {
		return Account{}, err
	}
	return a.admit(ctx, cred, in.Store)
}

// credential is one way to sign in, before or after it was checked.
type credential struct {
	username string        // "" = to be learnt
	secret   kaggle.Secret // a key or a token
	oauth    *kaggle.OAuthToken
	ownOAuth bool // made by our own browser sign-in
}

func (c credential) authKind() string {
	switch {
	case c.oauth != nil:
		return authOAuth
	case c.username != "" && legacyKey(c.secret):
		return authKey
	}
	return authToken
}

// admit verifies a credential, stores it and enters its account.
func (a *App) admit(ctx context.Context, cred credential, store string) (Account, error) {
	endpoint := a.endpoint()
	if err := a.verify(ctx, endpoint, &cred); err != nil {
		return Account{}, err
	}
	return a.keep(ctx, endpoint, cred, store)
}

// verify asks Kaggle whether a credential works, and whose it is. A refusal is a
// *BadCredentialError. An answer that proves nothing lets a legacy key pass, and a
// token whose owner is known; without a connection nothing passes.
func (a *App) verify(ctx context.Context, endpoint string, cred *credential) error {
	switch cred.authKind() {
	case authOAuth:
		return a.verifyOAuth(ctx, endpoint, cred)
	case authKey:
		return a.verifyKey(ctx, endpoint, cred)
	}
	id, dead, err := a.introspect(ctx, endpoint, cred.secret)
	switch {
	case err == nil:
		cred.username = id.Username
	case dead:
		return err
	case cred.username == "" || errors.Is(err, kaggle.ErrOffline) || ctx.Err() != nil:
		return fmt.Errorf("ask whose token this is (nothing was stored): %w", err)
	}
	return nil
}

// verifyKey makes the cheapest call: 401 proves a key bad, nothing else does.
func (a *App) verifyKey(ctx context.Context, endpoint string, cred *credential) error {
	c, err := a.newClient(endpoint, kaggle.KeyOrToken(cred.username, cred.secret))
	if err != nil {
		return err
	}
	_, err = c.Quota(ctx)
	switch {
	case errors.Is(err, kaggle.ErrUnauthorized):
		return &BadCredentialError{Why: "Kaggle does not accept this key for " + cred.username, Err: err}
	case errors.Is(err, kaggle.ErrOffline) || ctx.Err() != nil:
		return fmt.Errorf("check the key of %s (nothing was stored): %w", cred.username, err)
	case err != nil:
		a.log.Info("key neither proven good nor bad", "op", "sign in", "err", err)
	}
	return nil
}

// verifyOAuth uses the access token if it still works, else makes a new one.
func (a *App) verifyOAuth(ctx context.Context, endpoint string, cred *credential) error {
	if cred.oauth.Access != "" {
		id, _, err := a.introspect(ctx, endpoint, cred.oauth.Access)
		if err == nil {
			cred.username = id.Username
			return nil
		}
	}
	if cred.oauth.Refresh == "" {
		return &BadCredentialError{Why: "the browser sign-in has expired and cannot be renewed"}
	}
	c, err := a.newClient(endpoint, nil)
	if err != nil {
		return err
	}
	tok, err := c.RefreshToken(ctx, cred.oauth.Refresh)
	switch {
	case errors.Is(err, kaggle.ErrUnauthorized), errors.Is(err, kaggle.ErrForbidden), errors.Is(err, kaggle.ErrRejected), errors.Is(err, kaggle.ErrNotFound):
		return &BadCredentialError{Why: "Kaggle does not renew this browser sign-in any more", Err: err}
	case err != nil:
		return fmt.Errorf("renew the browser sign-in (nothing was stored): %w", err)
	}
	if tok.Refresh == "" {
		tok.Refresh = cred.oauth.Refresh
	}
	cred.oauth = &tok
	if tok.Username != "" {
		cred.username = tok.Username
	}
	if cred.username == "" {
		return &BadCredentialError{Why: "Kaggle did not say whose browser sign-in this is"}
	}
	return nil
}

// keep stores a verified credential and its account, and enters it. The secret
// goes first: an account without one would be of no use.
func (a *App) keep(ctx context.Context, endpoint string, cred credential, store string) (Account, error) {
	st, err := a.secretStore(store)
	if err != nil {
		return Account{}, err
	}
	kind, speed := a.kindOf(ctx, endpoint)
	if store == "" {
		store = storeKeychain
	}
	row := runlog.Account{Username: cred.username, Kind: kind, Endpoint: endpoint, AuthKind: cred.authKind(), Store: store, Speed: speed, UsedAt: a.now()}
	old := a.sameAccount(ctx, row)
	if cred.oauth == nil {
		if err := st.Set(ctx, secretName(cred.username, endpoint, partSecret), cred.secret.Reveal()); err != nil {
			return Account{}, fmt.Errorf("store the sign-in of %s: %w", cred.username, err)
		}
	}
	if row, err = a.saveSignIn(ctx, row, cred); err != nil {
		return Account{}, err
	}
	a.dropOld(ctx, old, row)
	return a.enter(ctx, row)
}

// saveSignIn stores the account and, for a browser sign-in, its two tokens, whose
// expiry is kept by the account's number.
func (a *App) saveSignIn(ctx context.Context, row runlog.Account, cred credential) (runlog.Account, error) {
	if cred.oauth != nil {
		// Before the row: without a keychain nothing at all is stored.
		st, err := a.secretStore(row.Store)
		if err == nil {
			err = st.Set(ctx, secretName(row.Username, row.Endpoint, partRefresh), cred.oauth.Refresh.Reveal())
		}
		if err != nil {
			return row, fmt.Errorf("store the sign-in of %s: %w", row.Username, err)
		}
	}
	row, err := a.store.SaveAccount(ctx, row)
	if err != nil {
		return row, fmt.Errorf("store the account %s: %w", row.Username, err)
	}
	if cred.oauth == nil {
		return row, nil
	}
	own := ""
	if cred.ownOAuth {
		own = "1"
	}
	if err := errors.Join(a.storeOAuth(ctx, row, *cred.oauth), a.SetSetting(ctx, settingOAuthOwn(row.ID), own)); err != nil {
		return row, fmt.Errorf("store the sign-in of %s: %w", row.Username, err)
	}
	return row, nil
}

func knownStore(name string) bool {
	return name == storeKeychain || name == storeFile || name == storeMemory
}

// sameAccount is the row that will be overwritten, zero when there is none.
func (a *App) sameAccount(ctx context.Context, row runlog.Account) runlog.Account {
	rows, err := a.store.Accounts(ctx)
	if err != nil {
		return runlog.Account{}
	}
	for _, r := range rows {
		if r.Kind == row.Kind && r.Endpoint == row.Endpoint && r.Username == row.Username {
			return r
		}
	}
	return runlog.Account{}
}

// dropOld removes what an earlier sign-in of the same account left and the new one
// did not replace: another store's copy, or the halves of a browser sign-in.
func (a *App) dropOld(ctx context.Context, old, row runlog.Account) {
	if old.ID == 0 || !knownStore(old.Store) || old.Store == row.Store && old.AuthKind == row.AuthKind {
		return
	}
	replaced := map[string]bool{}
	if old.Store == row.Store {
		for _, part := range secretParts(row.AuthKind) {
			replaced[part] = true
		}
	}
	st, err := a.secretStore(old.Store)
	if err != nil {
		return
	}
	for _, part := range secretParts(old.AuthKind) {
		if replaced[part] {
			continue
		}
		if err := st.Delete(ctx, secretName(old.Username, old.Endpoint, part)); err != nil {
			a.log.Warn("the earlier sign-in's secret was not removed", "op", "sign in", "store", old.Store, "err", err)
		}
	}
}
