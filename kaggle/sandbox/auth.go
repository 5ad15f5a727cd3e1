package sandbox

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sandglass/kaggle"
)

// grant is one OAuth sign-in: a long-lived refresh token and the access tokens made from it.
type grant struct {
	Refresh string
	Scope   string
	Access  map[string]time.Time // token to expiry, wall time
}

// consent is an authorisation code waiting to be exchanged. It lives in memory for ten minutes.
type consent struct {
	challenge string
	scope     string
	expires   time.Time
}

// The account's numeric id, and how long tokens and codes live (wall time).
const (
	accountID   = 7
	accessLife  = 12 * time.Hour
	consentLife = 10 * time.Minute
)

var errWrongCredential = errors.New("wrong credential")

// authenticate says whose request this is: "" without an Authorization header, an error for a wrong one.
func (s *Sandbox) authenticate(r *http.Request) (string, error) {
	header := r.Header.Get("Authorization")
	if header == "" {
		return "", nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if user, key, ok := r.BasicAuth(); ok {
		if strings.EqualFold(user, s.st.Username) && same(key, s.st.Key) {
			return s.st.Username, nil
		}
		return "", errWrongCredential
	}
	if token, ok := strings.CutPrefix(header, "Bearer "); ok && s.tokenActive(strings.TrimSpace(token), false) {
		return s.st.Username, nil
	}
	return "", errWrongCredential
}

// tokenActive knows API tokens and unexpired access tokens, and refresh tokens where refresh says so. The caller
// holds s.mu.
func (s *Sandbox) tokenActive(token string, refresh bool) bool {
	if token == "" {
		return false
	}
	if same(token, s.st.Token) {
		return true
	}
	for _, g := range s.st.Grants {
		if refresh && same(token, g.Refresh) {
			return true
		}
		if until, ok := g.Access[token]; ok && s.now().Before(until) {
			return true
		}
	}
	return false
}

func same(a, b string) bool {
	return b != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

func (s *Sandbox) introspect(c *call, req *kaggle.IntrospectRequest) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	token := string(req.Token)
	if token == "" {
		return nil, refuse(400, "token is required")
	}
	if !s.tokenActive(token, true) {
		return kaggle.IntrospectResponse{}, nil
	}
	ans := kaggle.IntrospectResponse{Active: true, Username: s.st.Username, UserID: accountID, Scope: kaggle.OAuthScope}
	for _, g := range s.st.Grants {
		if until, ok := g.Access[token]; ok || same(token, g.Refresh) {
			ans.ClientID, ans.Scope = kaggle.OAuthClientID, g.Scope
			if ok {
				ans.Exp = kaggle.Int(until.Unix())
			}
		}
	}
	return ans, nil
}

// authorize is the page a browser is sent to. The sandbox has one account and consents by itself; the code goes to
// loopback addresses only, or onto a page to copy it from.
func (s *Sandbox) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	to, err := url.Parse(q.Get("redirect_uri"))
	switch {
	case err != nil || to.Host == "":
		writeError(w, refuse(400, "redirect_uri is missing or not a URL"))
		return
	case q.Get("response_type") != "code" || q.Get("client_id") == "":
		writeError(w, refuse(400, "response_type must be code, and client_id must be given"))
		return
	case q.Get("code_challenge") == "" || q.Get("code_challenge_method") != "S256":
		writeError(w, refuse(400, "code_challenge is required, with code_challenge_method S256"))
		return
	}
	paste := strings.HasSuffix(to.Path, "/account/api/oauth/token")
	if host := to.Hostname(); !paste && host != "localhost" && !net.ParseIP(host).IsLoopback() {
		writeError(w, refuse(400, "redirect_uri must be on this computer"))
		return
	}
	code := randomHex(24)
	s.mu.Lock()
	for k, c := range s.consents {
		if s.now().After(c.expires) {
			delete(s.consents, k)
		}
	}
	s.consents[code] = consent{challenge: q.Get("code_challenge"), scope: q.Get("scope"), expires: s.now().Add(consentLife)}
	s.mu.Unlock()
	answer := url.Values{"code": {code}, "state": {q.Get("state")}}
	if paste {
		http.Redirect(w, r, "/account/api/oauth/token?"+answer.Encode(), http.StatusFound)
		return
	}
	back := to.Query()
	for k, v := range answer {
		back[k] = v
	}
	to.RawQuery = back.Encode()
	http.Redirect(w, r, to.String(), http.StatusFound)
}

var codePage = template.Must(template.New("code").Parse(`<!doctype html><meta charset="utf-8"><title>Sandbox sign-in</title>
<p>Signed in to the Sandglass sandbox as {{.User}}. Paste this code into the program that asked for it:</p>
<pre>{{.Code}}</pre>
`))

// showCode is the page to copy a code from when the program cannot listen for it.
func (s *Sandbox) showCode(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	codePage.Execute(w, map[string]string{"User": s.Username(), "Code": r.URL.Query().Get("code")})
}

func (s *Sandbox) exchangeToken(c *call, req *kaggle.ExchangeTokenRequest) (any, error) {
	switch req.GrantType {
	case kaggle.GrantAuthorizationCode:
	case kaggle.GrantRefreshToken:
		g, token, err := s.mintAccess(string(req.RefreshToken), accessLife)
		if err != nil {
			return nil, err
		}
		return kaggle.ExchangeTokenResponse{AccessToken: kaggle.WireSecret(token), RefreshToken: kaggle.WireSecret(g.Refresh), TokenType: "Bearer",
			ExpiresIn: kaggle.Int(accessLife / time.Second), Username: s.Username(), UserID: accountID, Scope: g.Scope}, nil
	default:
		return nil, refuse(400, "grantType must be authorization_code or refresh_token")
	}
	s.mu.Lock()
	given, ok := s.consents[string(req.Code)]
	delete(s.consents, string(req.Code)) // a code works once, also when it is misused
	s.mu.Unlock()
	if !ok || s.now().After(given.expires) {
		return nil, refuse(400, "The authorization code is unknown, used or expired")
	}
	sum := sha256.Sum256([]byte(req.CodeVerifier))
	padded := base64.URLEncoding.EncodeToString(sum[:])
	if !same(padded, given.challenge) && !same(strings.TrimRight(padded, "="), given.challenge) {
		return nil, refuse(400, "The code verifier does not fit the code challenge")
	}
	g := &grant{Refresh: "kgr_" + randomHex(24), Scope: given.scope, Access: map[string]time.Time{}}
	if err := s.update(func(st *state) error { st.Grants = append(st.Grants, g); return nil }); err != nil {
		return nil, err
	}
	_, token, err := s.mintAccess(g.Refresh, accessLife)
	if err != nil {
		return nil, err
	}
	return kaggle.ExchangeTokenResponse{AccessToken: kaggle.WireSecret(token), RefreshToken: kaggle.WireSecret(g.Refresh), TokenType: "Bearer",
		ExpiresIn: kaggle.Int(accessLife / time.Second), Username: s.Username(), UserID: accountID, Scope: g.Scope}, nil
}

// mintAccess makes an access token from a refresh token; an unknown one is 401.
func (s *Sandbox) mintAccess(refresh string, life time.Duration) (grant, string, error) {
	token := "kga_" + randomHex(24)
	var found grant
	err := s.update(func(st *state) error {
		for _, g := range st.Grants {
			if !same(refresh, g.Refresh) {
				continue
			}
			for t, until := range g.Access {
				if s.now().After(until) {
					delete(g.Access, t)
				}
			}
			if g.Access == nil {
				g.Access = map[string]time.Time{}
			}
			g.Access[token] = s.now().Add(life)
			found = *g
			return nil
		}
		return errUnauthenticated
	})
	return found, token, err
}

func (s *Sandbox) generateAccessToken(c *call, req *kaggle.GenerateAccessTokenRequest) (any, error) {
	life := accessLife
	if req.ExpirationDuration != "" {
		raw, _ := json.Marshal(req.ExpirationDuration)
		d, err := kaggle.ParseDuration(raw)
		if err != nil || d <= 0 {
			return nil, refuse(400, "expirationDuration must be seconds and s, e.g. 43200s")
		}
		life = min(d, 30*24*time.Hour)
	}
	refresh := string(req.RefreshToken)
	if refresh == "" {
		// Without one the caller's own credential is used: it gets a sign-in of its own.
		if c.who == "" {
			return nil, errUnauthenticated
		}
		refresh = "kgr_" + randomHex(24)
		err := s.update(func(st *state) error {
			st.Grants = append(st.Grants, &grant{Refresh: refresh, Scope: kaggle.OAuthScope})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	_, token, err := s.mintAccess(refresh, life)
	if err != nil {
		return nil, err
	}
	return kaggle.GenerateAccessTokenResponse{Token: kaggle.WireSecret(token), ExpiresIn: kaggle.Int(life / time.Second), UserName: s.Username(), UserID: accountID}, nil
}

// expireToken revokes a refresh token with all it made, or one access token. The sandbox's own API token stays: a
// person who loses it has no page to make another on.
func (s *Sandbox) expireToken(c *call, req *kaggle.ExpireTokenRequest) (any, error) {
	token := string(req.Token)
	if token == "" {
		return nil, refuse(400, "token is required")
	}
	err := s.update(func(st *state) error {
		for i, g := range st.Grants {
			if same(token, g.Refresh) {
				st.Grants = append(st.Grants[:i], st.Grants[i+1:]...)
				return nil
			}
			if _, ok := g.Access[token]; ok {
				delete(g.Access, token)
				return nil
			}
		}
		return refuse(404, "The token is unknown, or is the sandbox's own")
	})
	if err != nil {
		return nil, err
	}
	return struct{}{}, nil
}

// validOwner says whether a name can be an account's: letters, digits, single hyphens; lower case.
func validOwner(name string) bool { return name != "" && len(name) <= 60 && name == slugify(name) }

// slugify is how a title becomes a slug: ASCII letters and digits lower-cased, every run of anything else one hyphen.
func slugify(title string) string {
	var b strings.Builder
	for _, r := range fold(title) {
		switch {
		case r >= 'A' && r <= 'Z':
			b.WriteRune(r + 'a' - 'A')
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		default:
			if s := b.String(); s != "" && !strings.HasSuffix(s, "-") {
				b.WriteByte('-')
			}
		}
	}
	return strings.TrimSuffix(b.String(), "-")
}
