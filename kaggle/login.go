package kaggle

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Ports the loopback listener is chosen from.
const (
	firstLoginPort = 8000
	lastLoginPort  = 9000
)

// Login is a browser sign-in under way: open URL and Wait, or open PasteURL and Exchange the code that page shows. Close it
// when done. Whether Kaggle accepts a loopback port that its own tool did not choose is as unverified as the rest of its
// answers; the requests are the tool's.
type Login struct {
	URL      string // ends at the loopback listener
	PasteURL string // ends at a page that shows a code

	c        *Client
	state    func() string // functions, so that printing shows neither
	verifier func() Secret
	server   *http.Server
	result   chan loginResult // the first valid callback
	cancel   context.CancelFunc
	once     sync.Once
}

type loginResult struct {
	code Secret
	err  error
}

// StartLogin prepares a sign-in with PKCE and listens on 127.0.0.1 and, where there is one, ::1, because the redirect says
// localhost. It ends when ctx does.
func (c *Client) StartLogin(ctx context.Context) (*Login, error) {
	lists, port, err := loopback(c.rand)
	if err != nil {
		return nil, err
	}
	state, verifier := randomText(24), randomText(64)
	l := &Login{c: c, state: state.Reveal, verifier: func() Secret { return verifier }, result: make(chan loginResult, 1)}
	l.URL = c.authorizeURL(l, "http://localhost:"+strconv.Itoa(port))
	l.PasteURL = c.authorizeURL(l, c.web+"/account/api/oauth/token")
	ctx, l.cancel = context.WithCancel(ctx)
	l.server = &http.Server{Handler: l, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 30 * time.Second}
	for _, ln := range lists {
		go func() { _ = l.server.Serve(ln) }() // ends with Close
	}
	context.AfterFunc(ctx, l.stop)
	return l, nil
}

// randomText is n random bytes as base64url without padding; crypto/rand does not fail.
func randomText(n int) Secret {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return Secret(base64.RawURLEncoding.EncodeToString(b))
}

// challenge is base64url(SHA-256(verifier)) with its padding, as Kaggle's own tool sends it.
func challenge(verifier Secret) string {
	sum := sha256.Sum256([]byte(verifier.Reveal()))
	return base64.URLEncoding.EncodeToString(sum[:])
}

func (c *Client) authorizeURL(l *Login, redirect string) string {
	at := c.base
	if at == apiProduction {
		at = webProduction + "/api/v1"
	}
	q := [][2]string{
		{"response_type", "code"}, {"client_id", OAuthClientID}, {"redirect_uri", redirect}, {"scope", OAuthScope},
		{"state", l.state()}, {"code_challenge", challenge(l.verifier())}, {"code_challenge_method", "S256"}, {"response_mode", "query"},
	}
	var parts []string
	for _, kv := range q {
		parts = append(parts, kv[0]+"="+url.QueryEscape(kv[1]))
	}
	return at + "/" + PathAuthorize + "?" + strings.Join(parts, "&")
}

// loopback finds a port that is free on both loopback addresses, beginning at a random one.
func loopback(random func() float64) ([]net.Listener, int, error) {
	const n = lastLoginPort - firstLoginPort + 1
	start := int(max(0, random()) * n)
	for i := range n {
		port := firstLoginPort + (start+i)%n
		v4, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		v6, err := net.Listen("tcp6", net.JoinHostPort("::1", strconv.Itoa(port)))
		if err == nil {
			return []net.Listener{v4, v6}, port, nil
		}
		if !addressInUse(err) { // there is no IPv6 here
			return []net.Listener{v4}, port, nil
		}
		_ = v4.Close()
	}
	return nil, 0, &Error{Op: "sign in", Kind: ErrOffline, Message: fmt.Sprintf("no port from %d to %d is free on this computer; use the code that the other page shows", firstLoginPort, lastLoginPort)}
}

// addressInUse goes by the words, which Go takes from the system, because the numbers differ between systems.
func addressInUse(err error) bool {
	s := strings.ToLower(err.Error())
	return strings.Contains(s, "in use") || strings.Contains(s, "only one usage") || strings.Contains(s, "permission") || strings.Contains(s, "forbidden")
}

// ServeHTTP takes the callback. A request that is not it (an icon, a wrong state, another path) changes nothing.
func (l *Login) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	q := r.URL.Query()
	switch {
	case r.URL.Path == "/favicon.ico":
		w.WriteHeader(http.StatusNoContent)
	case r.URL.Path != "/" || r.Method != http.MethodGet:
		http.NotFound(w, r)
	case subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(l.state())) != 1:
		page(w, http.StatusBadRequest, "This page does not belong to the sign-in that is waiting. Go back to the program and start again.")
	case q.Get("error") != "":
		page(w, http.StatusOK, "Kaggle did not sign you in. You can close this page.")
		l.finish(loginResult{err: &Error{Op: "sign in", Kind: ErrForbidden, Message: "Kaggle answered: " + scrub(snippet([]byte(q.Get("error")+" "+q.Get("error_description"))))}})
	case q.Get("code") == "":
		page(w, http.StatusBadRequest, "Kaggle sent no code. Go back to the program and start again.")
	default:
		page(w, http.StatusOK, "You are signed in. You can close this page and go back to the program.")
		l.finish(loginResult{code: Secret(q.Get("code"))})
	}
}

// finish keeps the first result.
func (l *Login) finish(r loginResult) {
	select {
	case l.result <- r:
	default:
	}
}

func page(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "<!doctype html><meta charset=utf-8><title>Sandglass</title><body style=\"font:16px sans-serif;margin:4em\"><p>"+text+"</p>")
}

var errLoginClosed = errors.New("the sign-in was closed")

// Wait waits for the browser to come back and finishes the sign-in. It closes the listener.
func (l *Login) Wait(ctx context.Context) (OAuthToken, error) {
	defer l.Close()
	select {
	case r := <-l.result:
		if r.err != nil {
			return OAuthToken{}, r.err
		}
		return l.c.exchangeCode(ctx, r.code, l.verifier())
	case <-ctx.Done():
		return OAuthToken{}, contextError(ctx, "sign in")
	}
}

// Exchange finishes the sign-in with a pasted code. White space and a whole address that carries the code are understood.
func (l *Login) Exchange(ctx context.Context, code string) (OAuthToken, error) {
	code = strings.Join(strings.Fields(code), "")
	if strings.Contains(code, "code=") {
		_, query, found := strings.Cut(code, "?")
		if !found {
			query = code
		}
		q, err := url.ParseQuery(query)
		if s := q.Get("state"); err == nil && s != "" && s != l.state() {
			return OAuthToken{}, &Error{Op: "sign in", Kind: ErrRejected, Message: "this code belongs to another sign-in; open the page again"}
		}
		if v := q.Get("code"); err == nil && v != "" {
			code = v
		}
	}
	if code == "" {
		return OAuthToken{}, &Error{Op: "sign in", Kind: ErrRejected, Message: "no code was given"}
	}
	return l.c.exchangeCode(ctx, Secret(code), l.verifier())
}

// Close stops listening, after a page that is being written. A Wait that is under way ends with an error. It may be called
// more than once.
func (l *Login) Close() {
	l.cancel()
	l.stop()
}

func (l *Login) stop() {
	l.once.Do(func() {
		l.finish(loginResult{err: &Error{Op: "sign in", Kind: context.Canceled, cause: errLoginClosed}})
		ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
		defer cancel()
		if l.server.Shutdown(ctx) != nil {
			_ = l.server.Close()
		}
	})
}

// Format hides the state and the verifier.
func (l *Login) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "kaggle.Login("+redacted+")") }
