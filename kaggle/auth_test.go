package kaggle

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func headerOf(t *testing.T, a Authorizer) string {
	t.Helper()
	h, err := a.Authorization(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return h.Reveal()
}

// The look of a secret decides, not the field it was found in.
func TestKeyOrToken(t *testing.T) {
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(testUser+":"+testKey))
	for _, tc := range []struct{ user, secret, want string }{
		{testUser, testKey, basic}, {testUser, " " + testKey + "\n", basic}, {testUser, "KGAT_abc", "Bearer KGAT_abc"},
		{"", testKey, "Bearer " + testKey}, {testUser, "new-kind-of-token", "Bearer new-kind-of-token"},
	} {
		if got := headerOf(t, KeyOrToken(tc.user, Secret(tc.secret))); got != tc.want {
			t.Errorf("%q %q: %q", tc.user, tc.secret, got)
		}
	}
}

// Traps 32, 33 and 40: a dead token is an inactive identity in whatever way the service says so; only then may another
// credential be tried. Everything else says nothing about the token.
func TestIntrospect(t *testing.T) {
	for _, tc := range []struct {
		status int
		body   string
		active bool
		kind   error
	}{
		{200, `{"active":true,"username":"sam-roe","userId":"7","scope":"a b","exp":1796078710}`, true, nil},
		{200, `{"active":true}`, false, nil}, {200, `{"active":false,"username":"sam-roe"}`, false, nil}, {200, `{}`, false, nil},
		{401, `{"code":401,"message":"Unauthenticated"}`, false, nil}, {400, ``, false, nil},
		{403, `{}`, false, ErrForbidden}, {404, `{}`, false, ErrNotFound}, {501, `{}`, false, ErrUnavailable}, {200, `<html>`, false, ErrUnavailable},
	} {
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer KGAT_one" || bodyOf(t, r)["token"] != "KGAT_one" {
				t.Errorf("headers %v", r.Header)
			}
			reply(w, tc.status, tc.body)
		})
		id, err := c.Introspect(t.Context(), "KGAT_one")
		if id.Active != tc.active || tc.kind == nil && err != nil || tc.kind != nil && !errors.Is(err, tc.kind) {
			t.Errorf("%d %s: %+v %v", tc.status, tc.body, id, err)
		}
		if id.Active && (id.Username != testUser || id.UserID != 7 || id.Expires.Unix() != 1796078710) {
			t.Errorf("%+v", id)
		}
	}
}

// Trap 38: refreshed five minutes before the end, once for all who ask at the same time, and saved.
func TestOAuthRefreshesEarlyAndOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var flights, saves atomic.Int32
		a := OAuth(OAuthToken{Access: "one", Refresh: "refresh", Expires: time.Now().Add(time.Hour), Username: testUser, Scopes: []string{"x"}},
			func(ctx context.Context, r Secret) (OAuthToken, error) {
				flights.Add(1)
				time.Sleep(3 * time.Second)
				return OAuthToken{Access: "two", Expires: time.Now().Add(time.Hour)}, ctx.Err()
			},
			func(tok OAuthToken) error {
				saves.Add(1)
				if tok.Refresh != "refresh" || tok.Username != testUser || len(tok.Scopes) != 1 {
					t.Error("a refresh forgot what it was not told")
				}
				return errors.New("the keychain is locked")
			}, time.Now)
		time.Sleep(55*time.Minute - time.Second)
		if got := headerOf(t, a); got != "Bearer one" || flights.Load() != 0 {
			t.Errorf("%q after %d refreshes", got, flights.Load())
		}
		time.Sleep(2 * time.Second)
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				ctx := t.Context()
				if i == 0 { // the first one goes away: the others still get the token
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, time.Second)
					defer cancel()
				}
				h, err := a.Authorization(ctx)
				if err == nil && h.Reveal() != "Bearer two" || err != nil && i != 0 && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%d: %v", i, err)
				}
			})
		}
		wg.Wait()
		if headerOf(t, a) != "Bearer two" || flights.Load() != 1 || saves.Load() != 1 {
			t.Errorf("%d refreshes, %d saves", flights.Load(), saves.Load())
		}
	})
}

// A refresh that cannot reach Kaggle does not throw a good token away; a dead refresh token is a dead sign-in.
func TestOAuthWhenTheRefreshFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fail, n := error(&Error{Kind: ErrOffline}), 0
		a := OAuth(OAuthToken{Access: "one", Refresh: "refresh", Expires: time.Now().Add(4 * time.Minute)},
			func(context.Context, Secret) (OAuthToken, error) { n++; return OAuthToken{}, fail }, nil, nil)
		for range 5 {
			if headerOf(t, a) != "Bearer one" {
				t.Error("the good token is gone")
			}
		}
		if n != 1 {
			t.Errorf("%d attempts in a row", n)
		}
		time.Sleep(refreshPause)
		if fail = (&Error{Kind: ErrUnauthorized}); n != 1 {
			t.Error(n)
		}
		_, err := a.Authorization(t.Context())
		if !errors.Is(err, ErrUnauthorized) {
			t.Errorf("%v", err)
		}
		fail = &Error{Kind: ErrOffline}
		time.Sleep(4 * time.Minute)
		if _, err = a.Authorization(t.Context()); !errors.Is(err, ErrOffline) {
			t.Errorf("%v", err)
		}
	})
	if _, err := OAuth(OAuthToken{}, nil, nil, nil).Authorization(t.Context()); !errors.Is(err, ErrUnauthorized) {
		t.Errorf("no token at all: %v", err)
	}
	if headerOf(t, OAuth(OAuthToken{Access: "only"}, nil, nil, nil)) != "Bearer only" {
		t.Error("a token without a refresh token is not used")
	}
}

// The refresh and the revocation on the wire, without and with our own credential.
func TestRefreshAndRevoke(t *testing.T) {
	at := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body := bodyOf(t, r)
		switch {
		case strings.HasSuffix(r.URL.Path, PathGenerateAccessToken):
			if r.Header.Get("Authorization") != "" || body["refreshToken"] != "the-refresh" || body["apiVersion"] != "API_VERSION_V1" || body["expirationDuration"] != "43200s" {
				t.Errorf("%v %v", r.Header, body)
			}
			reply(w, 200, `{"token":"new-access","expiresIn":3600,"userName":"sam-roe","userId":7}`)
		case strings.HasSuffix(r.URL.Path, PathExpireToken):
			if r.Header.Get("Authorization") == "" || body["token"] != "the-refresh" || body["reason"] != "signed out" {
				t.Errorf("%v %v", r.Header, body)
			}
			w.WriteHeader(200)
		}
	}, func(c *Config) { c.Now = func() time.Time { return at } })
	tok, err := c.RefreshToken(t.Context(), "the-refresh")
	if err != nil || tok.Access.Reveal() != "new-access" || tok.Refresh.Reveal() != "the-refresh" || !tok.Expires.Equal(at.Add(time.Hour)) || tok.Username != testUser {
		t.Errorf("%v %v", tok, err)
	}
	if err := c.Revoke(t.Context(), "the-refresh", "signed out"); err != nil {
		t.Error(err)
	}
	c = serve(t, func(w http.ResponseWriter, _ *http.Request) { reply(w, 401, `{}`) })
	if _, err := c.RefreshToken(t.Context(), "x"); !errors.Is(err, ErrUnauthorized) {
		t.Error(err)
	}
	c = serve(t, func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, `{"userName":"x"}`) })
	if _, err := c.RefreshToken(t.Context(), "x"); !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
}

// Traps 37, 39 and 41: the browser's round trip. An icon, a wrong state and another path do not end the wait.
func TestLoginThroughTheBrowser(t *testing.T) {
	var verifier string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body := bodyOf(t, r)
		switch {
		case strings.HasSuffix(r.URL.Path, PathExchangeToken):
			verifier, _ = body["codeVerifier"].(string)
			if r.Header.Get("Authorization") != "" || body["code"] != "the code/1" || body["grantType"] != "authorization_code" || len(body) != 3 {
				t.Errorf("%v %v", r.Header, body)
			}
			reply(w, 200, `{"accessToken":"acc","refreshToken":"ref","tokenType":"Bearer","expiresIn":43200,"scope":"resources.admin:*"}`)
		case strings.HasSuffix(r.URL.Path, PathIntrospect):
			if r.Header.Get("Authorization") != "" || body["token"] != "acc" {
				t.Errorf("%v %v", r.Header, body)
			}
			reply(w, 200, `{"active":true,"username":"sam-roe"}`)
		}
	})
	l, err := c.StartLogin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	u, err := url.Parse(l.URL)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	back, _ := url.Parse(q.Get("redirect_uri"))
	if u.Path != "/api/v1/oauth2/authorize" || q.Get("client_id") != "kagglesdk" || q.Get("scope") != "resources.admin:*" || q.Get("response_type") != "code" ||
		q.Get("code_challenge_method") != "S256" || q.Get("response_mode") != "query" || back.Hostname() != "localhost" || back.Port() < "8000" || back.Port() > "9000" || back.Path != "" {
		t.Errorf("authorize address %s", l.URL)
	}
	get := func(host, path string) int {
		resp, err := http.Get("http://" + net.JoinHostPort(host, back.Port()) + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		if strings.Contains(string(b), "the code") {
			t.Error("the page shows the code")
		}
		return resp.StatusCode
	}
	callback := "/?code=the+code%2F1&state=" + url.QueryEscape(q.Get("state"))
	for path, want := range map[string]int{"/favicon.ico": 204, "/?code=evil&state=wrong": 400, "/?code=evil": 400, "/other?code=evil&state=" + q.Get("state"): 404} {
		if got := get("127.0.0.1", path); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	if v6, err := net.Listen("tcp6", "[::1]:0"); err == nil { // the redirect says localhost, which may be ::1
		_ = v6.Close()
		if got := get("::1", "/favicon.ico"); got != 204 {
			t.Errorf("::1 answers %d", got)
		}
	}
	if got := get("127.0.0.1", callback); got != 200 {
		t.Errorf("callback: %d", got)
	}
	tok, err := l.Wait(t.Context())
	if err != nil || tok.Access.Reveal() != "acc" || tok.Refresh.Reveal() != "ref" || tok.Username != testUser || len(tok.Scopes) != 1 {
		t.Fatalf("%v %v", tok, err)
	}
	sum := sha256.Sum256([]byte(verifier))
	want := base64.URLEncoding.EncodeToString(sum[:])
	if len(verifier) != 86 || q.Get("code_challenge") != want || !strings.HasSuffix(want, "=") {
		t.Errorf("verifier of %d characters, challenge %s", len(verifier), q.Get("code_challenge"))
	}
	if _, err := net.DialTimeout("tcp", "127.0.0.1:"+back.Port(), time.Second); err == nil {
		t.Error("it still listens")
	}
}

// The code that a page shows; a refusal; a wait that is given up.
func TestLoginWithoutALocalBrowser(t *testing.T) {
	var code any
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		code = bodyOf(t, r)["code"]
		reply(w, 200, `{"accessToken":"acc","refreshToken":"ref","expiresIn":"60","username":"sam-roe"}`)
	})
	l, err := c.StartLogin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if u, _ := url.Parse(l.PasteURL); u.Query().Get("redirect_uri") != strings.TrimSuffix(c.base, "/api/v1")+"/account/api/oauth/token" {
		t.Errorf("paste address %s", l.PasteURL)
	}
	for in, want := range map[string]string{" ab-1 \n": "ab-1", "https://x.invalid/?code=ab%2F1&state=" + l.state(): "ab/1", "code=ab": "ab"} {
		if tok, err := l.Exchange(t.Context(), in); err != nil || code != want || tok.Username != testUser {
			t.Errorf("%q sends %v: %v", in, code, err)
		}
	}
	for _, in := range []string{" ", "https://x.invalid/?code=a&state=foreign"} {
		_, err := l.Exchange(t.Context(), in)
		asError(t, err, ErrRejected)
	}
	u, _ := url.Parse(l.URL)
	back := u.Query().Get("redirect_uri")
	resp, err := http.Get(strings.Replace(back, "localhost", "127.0.0.1", 1) + "/?error=access_denied&state=" + l.state())
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if _, err := l.Wait(t.Context()); !errors.Is(err, ErrForbidden) || !strings.Contains(err.Error(), "access_denied") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	given, err := c.StartLogin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := given.Wait(context.Background()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	given.Close()
}

// Trap 47: in production people's pages are on another host than the calls.
func TestLoginAddressesInProduction(t *testing.T) {
	c, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := c.StartLogin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if !strings.HasPrefix(l.URL, "https://www.kaggle.com/api/v1/oauth2/authorize?response_type=code&client_id=kagglesdk&redirect_uri=http%3A%2F%2Flocalhost%3A") ||
		!strings.Contains(l.URL, "&scope=resources.admin%3A%2A&") || !strings.Contains(l.URL, "%3D&code_challenge_method") {
		t.Error(l.URL)
	}
}
