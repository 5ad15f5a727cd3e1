package kaggle

import (
	"context"
	"errors"
	"strings"
	"time"
)

// accessLife is the life asked for an access token, and assumed when an answer does not say.
const accessLife = 12 * time.Hour

// Introspect asks whose token this is: the honest check of a token, and the only way to learn its account name. A token
// that is revoked, expired, unknown (400, 401) or without an account is an Identity with Active false and no error; other
// failures say nothing about the token.
func (c *Client) Introspect(ctx context.Context, token Secret) (Identity, error) {
	return c.introspect(ctx, token, Bearer(token))
}

func (c *Client) introspect(ctx context.Context, token Secret, as Authorizer) (Identity, error) {
	var resp IntrospectResponse
	err := c.call(ctx, rpc{op: "check the token", path: PathIntrospect, in: IntrospectRequest{Token: WireSecret(token.Reveal())},
		out: &resp, retry: true, auth: as, secrets: []string{token.Reveal()}})
	var e *Error
	if errors.As(err, &e) && (e.Kind == ErrUnauthorized || e.Status == 400) {
		return Identity{}, nil
	}
	if err != nil {
		return Identity{}, err
	}
	id := Identity{Active: resp.Active && resp.Username != "", Username: resp.Username, UserID: int64(resp.UserID), ClientID: resp.ClientID, Scope: resp.Scope}
	if resp.Exp > 0 {
		id.Expires = time.Unix(int64(resp.Exp), 0).UTC()
	}
	return id, nil
}

// RefreshToken makes a new access token from a refresh token, for twelve hours. ErrUnauthorized means that the refresh
// token is dead and a new sign-in is needed.
func (c *Client) RefreshToken(ctx context.Context, refresh Secret) (OAuthToken, error) {
	const op = "refresh the sign-in"
	var resp GenerateAccessTokenResponse
	req := GenerateAccessTokenRequest{RefreshToken: WireSecret(refresh.Reveal()), APIVersion: APIVersionV1, ExpirationDuration: FormatDuration(accessLife)}
	err := c.call(ctx, rpc{op: op, path: PathGenerateAccessToken, in: req, out: &resp, retry: true, auth: anonymous, secrets: []string{refresh.Reveal()}})
	if err != nil {
		return OAuthToken{}, err
	}
	if resp.Token == "" {
		return OAuthToken{}, malformed(op, "the answer holds no token", nil, nil)
	}
	return OAuthToken{Access: Secret(resp.Token), Refresh: refresh, Expires: c.expiry(resp.ExpiresIn), Username: resp.UserName}, nil
}

// expiry turns seconds from now into a point in time.
func (c *Client) expiry(seconds Int) time.Time {
	if seconds <= 0 || seconds > 10*365*24*3600 {
		return c.now().Add(accessLife)
	}
	return c.now().Add(time.Duration(seconds) * time.Second)
}

// Revoke ends a refresh token, and with it the sign-in. It is sent as the client's own account. A token that is already
// dead is no error.
func (c *Client) Revoke(ctx context.Context, refresh Secret, reason string) error {
	req := ExpireTokenRequest{Token: WireSecret(refresh.Reveal()), Reason: reason}
	err := c.call(ctx, rpc{op: "revoke the sign-in", path: PathExpireToken, in: req, retry: true, emptyOK: true, secrets: []string{refresh.Reveal()}})
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// exchangeCode turns a login code into tokens, anonymously and once: a code works one time only.
func (c *Client) exchangeCode(ctx context.Context, code, verifier Secret) (OAuthToken, error) {
	const op = "finish the sign-in"
	var resp ExchangeTokenResponse
	req := ExchangeTokenRequest{Code: WireSecret(code.Reveal()), CodeVerifier: WireSecret(verifier.Reveal()), GrantType: GrantAuthorizationCode}
	err := c.call(ctx, rpc{op: op, path: PathExchangeToken, in: req, out: &resp, auth: anonymous, secrets: []string{code.Reveal(), verifier.Reveal()}})
	if err != nil {
		return OAuthToken{}, err
	}
	if resp.AccessToken == "" {
		return OAuthToken{}, malformed(op, "the answer holds no token", nil, nil)
	}
	tok := OAuthToken{Access: Secret(resp.AccessToken), Refresh: Secret(resp.RefreshToken), Expires: c.expiry(resp.ExpiresIn),
		Username: resp.Username, Scopes: strings.Fields(resp.Scope)}
	if tok.Username != "" {
		return tok, nil
	}
	id, err := c.introspect(ctx, tok.Access, anonymous)
	if err == nil && !id.Active {
		err = &Error{Op: op, Kind: ErrUnauthorized, Message: "Kaggle gave a token that belongs to no account"}
	}
	tok.Username = id.Username
	return tok, err
}
