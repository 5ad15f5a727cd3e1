package app

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"
	"unicode"

	"sandglass/kaggle"
)

var legacyKeyShape = regexp.MustCompile(`^[0-9a-f]{32}$`)

// legacyKey tells a key of a kaggle.json from an API token: 32 hex digits.
func legacyKey(s kaggle.Secret) bool { return legacyKeyShape.MatchString(s.Reveal()) }

var usernameShape = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// pastedName is what stands before the value in a line copied from a shell file.
var pastedName = regexp.MustCompile(`^(?:export\s+|set\s+|setx\s+)?(KAGGLE_[A-Z_0-9]+)\s*[= ]\s*`)

// parseSignIn understands what people paste: a token, the text of a kaggle.json or
// of a credentials.json, "user:key", or a line that sets KAGGLE_API_TOKEN. No
// error repeats what was pasted.
func parseSignIn(in SignIn) (credential, error) {
	text := strings.Trim(in.Text, " \t\r\n\ufeff")
	if text == "" {
		return fromParts(in.Username, in.Secret)
	}
	if strings.HasPrefix(text, "{") {
		return parseCredentialJSON([]byte(text))
	}
	text = pastedName.ReplaceAllString(text, "")
	text = strings.TrimSpace(strings.Trim(text, `"'`+"`"))
	if user, key, ok := strings.Cut(text, ":"); ok && usernameShape.MatchString(strings.TrimSpace(user)) {
		return fromParts(user, key)
	}
	return fromParts(in.Username, text)
}

// fromParts checks a username and a secret as far as one can without Kaggle.
func fromParts(username, secret string) (credential, error) {
	username, secret = strings.TrimSpace(username), strings.TrimSpace(secret)
	c := credential{username: username, secret: kaggle.Secret(secret)}
	switch {
	case secret == "":
		return c, &BadCredentialError{Why: "there is no token or key in it"}
	case strings.ContainsFunc(secret, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }):
		return c, &BadCredentialError{Why: "a token or key is one word; this is a longer text"}
	case strings.Trim(secret, "*•.xX") == "":
		return c, &BadCredentialError{Why: "this is the masked form of a token; copy it when it is made, Kaggle shows it once"}
	case username != "" && !usernameShape.MatchString(username):
		return c, &BadCredentialError{Why: "the username has characters that Kaggle's usernames do not have"}
	case username == "" && legacyKey(c.secret):
		return c, &BadCredentialError{Why: "a key of 32 digits needs its username: paste the whole kaggle.json, or user:key"}
	}
	return c, nil
}

// credentialDoc is a kaggle.json or a credentials.json of the official client.
type credentialDoc struct {
	Username string   `json:"username"`
	Key      string   `json:"key"`
	Token    string   `json:"token"`
	Access   string   `json:"access_token"`
	Refresh  string   `json:"refresh_token"`
	Expires  string   `json:"access_token_expiration"`
	Scopes   []string `json:"scopes"`
}

// parseCredentialJSON reads either file. A token in the key field is a token.
func parseCredentialJSON(raw []byte) (credential, error) {
	var d credentialDoc
	if json.Unmarshal(raw, &d) != nil {
		return credential{}, &BadCredentialError{Why: "it begins like a kaggle.json but is not valid JSON"}
	}
	if d.Refresh != "" || d.Access != "" {
		tok := kaggle.OAuthToken{Access: kaggle.Secret(d.Access), Refresh: kaggle.Secret(d.Refresh), Username: d.Username, Scopes: d.Scopes}
		if t, err := time.Parse(time.RFC3339, d.Expires); err == nil {
			tok.Expires = t
		}
		if tok.Refresh == "" {
			return fromParts(d.Username, d.Access)
		}
		return credential{username: d.Username, oauth: &tok}, nil
	}
	if d.Key == "" {
		d.Key = d.Token
	}
	if d.Key == "" {
		return credential{}, &BadCredentialError{Why: `it has neither "key" nor "token"`}
	}
	return fromParts(d.Username, d.Key)
}
