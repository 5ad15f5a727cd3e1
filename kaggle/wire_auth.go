package kaggle

import (
	"fmt"
	"io"
	"log/slog"
)

// Paths of the sign-in methods, relative to the API base.
const (
	PathIntrospect          = "security.OAuthService/IntrospectToken"
	PathExchangeToken       = "security.OAuthService/ExchangeOAuthToken"
	PathRegisterClient      = "security.OAuthService/RegisterOAuthClient"
	PathGenerateAccessToken = "users.AccountService/GenerateAccessToken"
	PathExpireToken         = "users.AccountService/ExpireApiToken"

	// PathAuthorize is where a person's browser goes; relative to the base, a GET, on www.kaggle.com in production.
	PathAuthorize = "oauth2/authorize"
)

// Fixed words of the sign-in methods.
const (
	APIVersionV1           = "API_VERSION_V1"
	GrantAuthorizationCode = "authorization_code"
	GrantRefreshToken      = "refresh_token"
	OAuthClientID          = "kagglesdk"
	OAuthScope             = "resources.admin:*"
)

// WireSecret is a credential inside a request or response body: readable in that JSON and nowhere else. Printed or logged
// it is "[redacted]".
type WireSecret string

// String hides the value.
func (WireSecret) String() string { return redacted }

// GoString hides the value.
func (WireSecret) GoString() string { return redacted }

// Format hides the value under every verb.
func (WireSecret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue hides the value.
func (WireSecret) LogValue() slog.Value { return slog.StringValue(redacted) }

// IntrospectRequest asks whose token this is.
type IntrospectRequest struct {
	Token WireSecret `json:"token"`
}

// IntrospectResponse: Active false or missing means revoked or expired.
type IntrospectResponse struct {
	Active   bool   `json:"active,omitempty"`
	Username string `json:"username,omitempty"`
	ClientID string `json:"clientId,omitempty"`
	UserID   Int    `json:"userId,omitempty"`
	Scope    string `json:"scope,omitempty"` // space separated
	Exp      Int    `json:"exp,omitempty"`   // unix seconds
}

// ExchangeTokenRequest turns a login code into tokens. The official tool sends neither clientId nor redirectUri.
type ExchangeTokenRequest struct {
	Code         WireSecret `json:"code,omitempty"`
	CodeVerifier WireSecret `json:"codeVerifier,omitempty"`
	GrantType    string     `json:"grantType,omitempty"`
	ClientID     string     `json:"clientId,omitempty"`
	RedirectURI  string     `json:"redirectUri,omitempty"`
	Resource     string     `json:"resource,omitempty"`
	RefreshToken WireSecret `json:"refreshToken,omitempty"`
}

// ExchangeTokenResponse holds both tokens; ExpiresIn counts seconds.
type ExchangeTokenResponse struct {
	AccessToken  WireSecret `json:"accessToken,omitempty"`
	RefreshToken WireSecret `json:"refreshToken,omitempty"`
	TokenType    string     `json:"tokenType,omitempty"`
	ExpiresIn    Int        `json:"expiresIn,omitempty"`
	Username     string     `json:"username,omitempty"`
	UserID       Int        `json:"userId,omitempty"`
	Scope        string     `json:"scope,omitempty"`
}

// GenerateAccessTokenRequest makes a short-lived access token from a refresh token.
type GenerateAccessTokenRequest struct {
	RefreshToken        WireSecret `json:"refreshToken,omitempty"`
	APIVersion          string     `json:"apiVersion,omitempty"`
	ExpirationDuration  string     `json:"expirationDuration,omitempty"` // "43200s"
	AuthorizationScopes []string   `json:"authorizationScopes,omitempty"`
}

// GenerateAccessTokenResponse: mind userName here, username elsewhere.
type GenerateAccessTokenResponse struct {
	Token     WireSecret `json:"token,omitempty"`
	ExpiresIn Int        `json:"expiresIn,omitempty"`
	UserName  string     `json:"userName,omitempty"`
	UserID    Int        `json:"userId,omitempty"`
}

// ExpireTokenRequest revokes a token, by itself or by its id.
type ExpireTokenRequest struct {
	Token   WireSecret `json:"token,omitempty"`
	TokenID int64      `json:"tokenId,omitempty"`
	Reason  string     `json:"reason,omitempty"`
}

// LogValue keeps a body that holds a credential out of a log that would marshal it.
func (IntrospectRequest) LogValue() slog.Value {
	return slog.StringValue("IntrospectRequest " + redacted)
}

// LogValue keeps a body that holds a credential out of a log that would marshal it.
func (ExchangeTokenRequest) LogValue() slog.Value {
	return slog.StringValue("ExchangeTokenRequest " + redacted)
}

// LogValue keeps a body that holds a credential out of a log that would marshal it.
func (r ExchangeTokenResponse) LogValue() slog.Value {
	return slog.StringValue("ExchangeTokenResponse " + redacted)
}

// LogValue keeps a body that holds a credential out of a log that would marshal it.
func (GenerateAccessTokenRequest) LogValue() slog.Value {
	return slog.StringValue("GenerateAccessTokenRequest " + redacted)
}

// LogValue keeps a body that holds a credential out of a log that would marshal it.
func (GenerateAccessTokenResponse) LogValue() slog.Value {
	return slog.StringValue("GenerateAccessTokenResponse " + redacted)
}

// LogValue keeps a body that holds a credential out of a log that would marshal it.
func (ExpireTokenRequest) LogValue() slog.Value {
	return slog.StringValue("ExpireTokenRequest " + redacted)
}
