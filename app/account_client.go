package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"runtime"
	"time"

	"sandglass/app/keychain"
	"sandglass/app/runlog"
	"sandglass/kaggle"
)

const (
	revokeLimit = 5 * time.Second  // for telling Kaggle about a sign-out
	saveLimit   = 10 * time.Second // for storing a refreshed token
)

// Parts of a sign-in, each in a keychain entry of its own: an entry holds one
// small secret, never a bundle.
const (
	partSecret  = ""        // a key or a token
	partAccess  = "access"  // OAuth
	partRefresh = "refresh" // OAuth
)

func secretParts(authKind string) []string {
	if authKind == authOAuth {
		return []string{partAccess, partRefresh}
	}
	return []string{partSecret}
}

// secretMain is the part without which there is no sign-in.
func secretMain(authKind string) string {
	if authKind == authOAuth {
		return partRefresh
	}
	return partSecret
}

// secretName is the name of a keychain entry: sam-roe@www.kaggle.com, with
// /access or /refresh behind it for the two halves of a browser sign-in.
func secretName(username, endpoint, part string) string {
	host := "www.kaggle.com"
	if u, err := url.Parse(endpoint); err == nil && u.Host != "" {
		host = u.Host
	}
	name := username + "@" + host
	if part != partSecret {
		name += "/" + part
	}
	return name
}

func settingOAuthExpires(id int64) string { return fmt.Sprintf("oauth.%d.expires", id) }
func settingOAuthOwn(id int64) string     { return fmt.Sprintf("oauth.%d.own", id) }

// secretStore gives the place a secret is in by its name.
func (a *App) secretStore(name string) (keychain.Store, error) {
	switch name {
	case "", storeKeychain:
		return a.keychain, nil
	case storeFile:
		return keychain.File(filepath.Join(a.home, "credentials.json")), nil
	case storeMemory:
		return a.memoryStore(), nil
	}
	return nil, fmt.Errorf("there is no place for secrets called %q; use file or memory", name)
}

func (a *App) memoryStore() keychain.Store {
	a.accounts.mu.Lock()
	defer a.accounts.mu.Unlock()
	if a.accounts.memory == nil {
		a.accounts.memory = keychain.Memory()
	}
	return a.accounts.memory
}

// clientKey is what makes a client another one.
type clientKey struct {
	account  int64
	authKind string
	endpoint string
}

// client gives the client of the account that Account names. Clients are kept, so
// that an OAuth token is refreshed once for all callers; all share the process's
// limiter.
func (a *App) client(ctx context.Context) (*kaggle.Client, error) {
	acc, err := a.Account(ctx)
	if err != nil {
		return nil, err
	}
	return a.clientFor(ctx, acc)
}

// clientFor gives the client of an account.
func (a *App) clientFor(ctx context.Context, acc Account) (*kaggle.Client, error) {
	if acc.Store == storeSandbox {
		url, err := a.ensureSandbox(ctx)
		if err != nil {
			return nil, err
		}
		acc.Endpoint = url
	}
	key := clientKey{acc.ID, acc.AuthKind, acc.Endpoint}
	a.accounts.mu.Lock()
	c := a.accounts.clients[key]
	a.accounts.mu.Unlock()
	if c != nil {
		return c, nil
	}
	auth, err := a.authorizer(ctx, acc)
	if err != nil {
		return nil, err
	}
	if c, err = a.newClient(acc.Endpoint, auth); err != nil {
		return nil, err
	}
	a.accounts.mu.Lock()
	defer a.accounts.mu.Unlock()
	if first := a.accounts.clients[key]; first != nil {
		return first, nil // another caller was faster; one token, one refresher
	}
	if a.accounts.clients == nil {
		a.accounts.clients = map[clientKey]*kaggle.Client{}
	}
	a.accounts.clients[key] = c
	return c, nil
}

// newClient makes a client for an endpoint; nil auth is anonymous.
func (a *App) newClient(endpoint string, auth kaggle.Authorizer) (*kaggle.Client, error) {
	c, err := kaggle.New(kaggle.Config{Endpoint: endpoint, Auth: auth, Transport: a.transportTo(endpoint), UserAgent: a.userAgent(), Limiter: a.limiter, Log: a.log, Now: a.now})
	if err != nil {
		return nil, fmt.Errorf("SANDGLASS_ENDPOINT: %w", err)
	}
	return c, nil
}

// transportTo is the network, or the short way to the embedded sandbox.
func (a *App) transportTo(endpoint string) http.RoundTripper {
	a.accounts.mu.Lock()
	defer a.accounts.mu.Unlock()
	if box := a.accounts.box; box != nil && box.url == endpoint {
		return box.sandbox.Transport()
	}
	return a.transport
}

func (a *App) userAgent() string {
	version := a.opt.Version
	if version == "" {
		version = "dev"
	}
	return fmt.Sprintf("Sandglass/%s (%s; %s)", version, runtime.GOOS, runtime.GOARCH)
}

// SecretMissingError is an account whose secret is no longer where it was put.
type SecretMissingError struct {
	Username, Store string
}

func (e *SecretMissingError) Error() string {
	return fmt.Sprintf("the sign-in of %s is no longer in the %s; sign in again", e.Username, e.Store)
}

// authorizer fetches an account's secret.
func (a *App) authorizer(ctx context.Context, acc Account) (kaggle.Authorizer, error) {
	switch acc.Store {
	case storeEnvironment:
		return a.environmentAuthorizer(acc)
	case storeSandbox:
		return a.sandboxAuthorizer(ctx, acc)
	}
	st, err := a.secretStore(acc.Store)
	if err != nil {
		return nil, err
	}
	get := func(part string) (kaggle.Secret, error) {
		s, err := st.Get(ctx, secretName(acc.Username, acc.Endpoint, part))
		if errors.Is(err, keychain.ErrNotFound) {
			return "", &SecretMissingError{acc.Username, acc.Store}
		}
		if err != nil {
			return "", fmt.Errorf("fetch the sign-in of %s: %w", acc.Username, err)
		}
		return kaggle.Secret(s), nil
	}
	secret, err := get(secretMain(acc.AuthKind))
	if err != nil {
		return nil, err
	}
	if acc.AuthKind != authOAuth {
		return kaggle.KeyOrToken(acc.Username, secret), nil
	}
	access, err := get(partAccess)
	var missing *SecretMissingError
	if err != nil && !errors.As(err, &missing) {
		return nil, err
	}
	return a.oauthAuthorizer(acc, kaggle.OAuthToken{Access: access, Refresh: secret, Expires: a.oauthExpires(ctx, acc.ID), Username: acc.Username})
}

func (a *App) oauthExpires(ctx context.Context, id int64) time.Time {
	t, err := time.Parse(time.RFC3339, a.Setting(ctx, settingOAuthExpires(id)))
	if err != nil {
		return time.Time{} // not known: it is refreshed at the first call
	}
	return t
}

// oauthAuthorizer refreshes through a client without credentials and puts every
// new token where the old one was.
func (a *App) oauthAuthorizer(acc Account, tok kaggle.OAuthToken) (kaggle.Authorizer, error) {
	anonymous, err := a.newClient(acc.Endpoint, nil)
	if err != nil {
		return nil, err
	}
	save := func(tok kaggle.OAuthToken) error {
		ctx, cancel := context.WithTimeout(a.ctx, saveLimit)
		defer cancel()
		// The person may have signed out while the refresh was under way.
		row, err := a.store.Account(ctx, acc.ID)
		if err != nil || !row.SignedOutAt.IsZero() {
			return err
		}
		err = a.storeOAuth(ctx, row, tok)
		if err != nil {
			a.log.Warn("refreshed token not stored", "op", "refresh sign-in", "err", err)
		}
		return err
	}
	return kaggle.OAuth(tok, anonymous.RefreshToken, save, a.now), nil
}

// storeOAuth puts both halves away, each in its own entry. An access token that
// is too long for a keychain is left out: the refresh token makes a new one.
func (a *App) storeOAuth(ctx context.Context, row runlog.Account, tok kaggle.OAuthToken) error {
	st, err := a.secretStore(row.Store)
	if err != nil {
		return err
	}
	if err := st.Set(ctx, secretName(row.Username, row.Endpoint, partRefresh), tok.Refresh.Reveal()); err != nil {
		return err
	}
	err = st.Set(ctx, secretName(row.Username, row.Endpoint, partAccess), tok.Access.Reveal())
	if errors.Is(err, keychain.ErrTooLarge) {
		return st.Delete(ctx, secretName(row.Username, row.Endpoint, partAccess))
	}
	if err != nil {
		return err
	}
	expires := ""
	if !tok.Expires.IsZero() {
		expires = tok.Expires.UTC().Format(time.RFC3339)
	}
	return a.SetSetting(ctx, settingOAuthExpires(row.ID), expires)
}
