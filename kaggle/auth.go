package kaggle

import (
	"context"
	"encoding/base64"
	"errors"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Authorizer gives the Authorization header of a call. "" means anonymous.
type Authorizer interface {
	Authorization(ctx context.Context) (Secret, error)
}

// authFunc is an Authorizer that keeps its credential inside a function: fmt prints what stands in private fields without
// asking its methods, and of a function only the address.
type authFunc func(ctx context.Context) (Secret, error)

func (f authFunc) Authorization(ctx context.Context) (Secret, error) { return f(ctx) }

func fixedAuth(header Secret) Authorizer {
	return authFunc(func(context.Context) (Secret, error) { return header, nil })
}

var anonymous = fixedAuth("")

// Basic signs in with a username and a legacy key.
func Basic(username string, key Secret) Authorizer {
	return fixedAuth(Secret("Basic " + base64.StdEncoding.EncodeToString([]byte(username+":"+key.Reveal()))))
}

// Bearer signs in with an API token or an OAuth access token.
func Bearer(token Secret) Authorizer { return fixedAuth(Secret("Bearer " + token.Reveal())) }

var legacyKey = regexp.MustCompile(`^[0-9a-fA-F]{32}$`)

// KeyOrToken decides by the look of the secret: 32 hex digits next to a username are a legacy key, everything else is a
// token, also when it stands in the key field of a kaggle.json (unverified against the service). White space around is cut.
func KeyOrToken(username string, s Secret) Authorizer {
	v := strings.TrimSpace(s.Reveal())
	if username != "" && legacyKey.MatchString(v) {
		return Basic(username, Secret(v))
	}
	return Bearer(Secret(v))
}

// OAuthToken is what a browser sign-in leaves: a short-lived access token and the refresh token that makes new ones.
type OAuthToken struct {
	Access, Refresh Secret
	Expires         time.Time // zero: not known
	Username        string
	Scopes          []string
}

// refreshEarly is how long before its end an access token is replaced; refreshTimeout bounds one refresh; after a failed
// one the old token, while it is good, is used for refreshPause before the next attempt.
const (
	refreshEarly   = 5 * time.Minute
	refreshPause   = 30 * time.Second
	refreshTimeout = 60 * time.Second
)

// OAuth signs in with tok and replaces it five minutes before it expires; callers that meet during a refresh share it. A
// refresh that fails while the old token is still good is not an error. save, if not nil, gets each new token; when it
// fails nothing is lost, because the refresh token did not change and the next start refreshes again.
func OAuth(tok OAuthToken, refresh func(context.Context, Secret) (OAuthToken, error), save func(OAuthToken) error, now func() time.Time) Authorizer {
	if now == nil {
		now = time.Now
	}
	a := &oauthAuth{refresh: refresh, save: save, now: now, tok: tok}
	return authFunc(a.Authorization)
}

type oauthAuth struct {
	refresh func(context.Context, Secret) (OAuthToken, error)
	save    func(OAuthToken) error
	now     func() time.Time

	mu     sync.Mutex
	tok    OAuthToken
	flight *refreshFlight
	failed time.Time // when the last refresh failed for want of a connection
}

type refreshFlight struct {
	done chan struct{}
	tok  OAuthToken
	err  error
}

// Authorization returns the header, refreshing first when the token is about to end.
func (a *oauthAuth) Authorization(ctx context.Context) (Secret, error) {
	a.mu.Lock()
	tok, now := a.tok, a.now()
	usable := tok.Access != "" && now.Before(tok.Expires)
	if a.fresh(tok, now) || usable && now.Sub(a.failed) < refreshPause {
		a.mu.Unlock()
		return header(tok), nil
	}
	f := a.flight
	if f == nil {
		f = &refreshFlight{done: make(chan struct{})}
		a.flight = f
		// The refresh outlives the caller that started it: others wait for the same one.
		go a.fly(context.WithoutCancel(ctx), f, tok)
	}
	a.mu.Unlock()
	select {
	case <-f.done:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if f.err == nil {
		return header(f.tok), nil
	}
	if usable && !errors.Is(f.err, ErrUnauthorized) {
		return header(tok), nil
	}
	return "", f.err
}

func (a *oauthAuth) fresh(tok OAuthToken, now time.Time) bool {
	if tok.Refresh == "" || a.refresh == nil {
		return tok.Access != "" // nothing to refresh with: the server decides
	}
	return tok.Access != "" && now.Before(tok.Expires.Add(-refreshEarly))
}

func (a *oauthAuth) fly(ctx context.Context, f *refreshFlight, old OAuthToken) {
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	if a.refresh == nil || old.Refresh == "" {
		f.err = &Error{Op: "sign in", Kind: ErrUnauthorized, Message: "there is no token; sign in again"}
	} else if f.tok, f.err = a.refresh(ctx, old.Refresh); f.err == nil {
		f.tok = merged(f.tok, old)
	}
	a.mu.Lock()
	a.flight = nil
	if f.err == nil {
		a.tok, a.failed = f.tok, time.Time{}
	} else {
		a.failed = a.now()
	}
	a.mu.Unlock()
	if f.err == nil && a.save != nil {
		_ = a.save(f.tok) // see OAuth: a token that could not be saved is still good
	}
	close(f.done)
}

// merged keeps what a refresh does not say.
func merged(tok, old OAuthToken) OAuthToken {
	if tok.Refresh == "" {
		tok.Refresh = old.Refresh
	}
	if tok.Username == "" {
		tok.Username = old.Username
	}
	if len(tok.Scopes) == 0 {
		tok.Scopes = old.Scopes
	}
	return tok
}

func header(tok OAuthToken) Secret { return Secret("Bearer " + tok.Access.Reveal()) }
