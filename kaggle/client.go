package kaggle

import (
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	apiProduction = "https://api.kaggle.com/v1"
	webProduction = "https://www.kaggle.com"

	// UserAgentDefault is sent when Config.UserAgent is empty.
	UserAgentDefault = "Sandglass (Kaggle client)"

	connectTimeout = 10 * time.Second
)

// Config says whom to talk to and as whom. The zero value is anonymous production.
type Config struct {
	Endpoint  string            // "" = production; else <endpoint>/api/v1 (one that ends in /api/v1 or /v1 is taken as it is)
	Auth      Authorizer        // nil = anonymous
	Transport http.RoundTripper // nil = proxy-aware, with a 10 s connect limit
	UserAgent string            // "" = UserAgentDefault
	Limiter   *Limiter          // nil = the process-wide one
	Log       *slog.Logger      // nil = discard
	Now       func() time.Time  // nil = time.Now; decides about expiry, never about waiting
	Rand      func() float64    // nil = math/rand; jitter, in [0,1)
}

// Client talks to one Kaggle as one account. It is safe for concurrent use.
type Client struct {
	base  string // without a slash at the end
	web   string // where people's pages are
	auth  Authorizer
	calls *http.Client // no redirects followed
	files *http.Client // follows redirects, carries no credential
	agent string
	limit *Limiter
	log   *slog.Logger
	now   func() time.Time
	rand  func() float64
}

// New makes a client. It fails only on an endpoint that is not an http or https address, or that carries a password.
func New(cfg Config) (*Client, error) {
	base, web, err := addresses(cfg.Endpoint)
	if err != nil {
		return nil, err
	}
	if cfg.Transport == nil {
		cfg.Transport = defaultTransport()
	}
	c := &Client{base: base, web: web, auth: cfg.Auth, agent: cfg.UserAgent, limit: cfg.Limiter, log: cfg.Log, now: cfg.Now, rand: cfg.Rand}
	if c.auth == nil {
		c.auth = anonymous
	}
	if c.agent == "" {
		c.agent = UserAgentDefault
	}
	if c.limit == nil {
		c.limit = processLimiter
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.rand == nil {
		c.rand = rand.Float64
	}
	// No http.Client.Timeout anywhere: it would cut long streams and downloads. Each call brings its own limit.
	c.calls = &http.Client{Transport: cfg.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	c.files = &http.Client{Transport: cfg.Transport, CheckRedirect: followFile}
	return c, nil
}

// Format shows where the client talks to and nothing else.
func (c *Client) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "kaggle.Client("+c.base+")") }

// addresses gives the API base and the base of people's pages for an endpoint.
func addresses(endpoint string) (base, web string, err error) {
	endpoint = strings.TrimRight(strings.TrimSpace(endpoint), "/")
	if endpoint == "" {
		return apiProduction, webProduction, nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", "", fmt.Errorf("the endpoint %q is not an http or https address", scrub(snippet([]byte(endpoint))))
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", "", fmt.Errorf("the endpoint at %s must not carry a password, a query or a fragment", u.Host)
	}
	if strings.EqualFold(u.Host, "api.kaggle.com") || strings.EqualFold(u.Host, "www.kaggle.com") && u.Path == "" {
		return apiProduction, webProduction, nil
	}
	web = strings.TrimSuffix(strings.TrimSuffix(endpoint, "/v1"), "/api")
	if strings.HasSuffix(endpoint, "/v1") {
		return endpoint, web, nil
	}
	return endpoint + "/api/v1", web, nil
}

// defaultTransport honours HTTPS_PROXY and NO_PROXY, and notices a connection that died while the machine slept.
func defaultTransport() http.RoundTripper {
	d := &net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           d.DialContext,
		TLSHandshakeTimeout:   connectTimeout,
		ExpectContinueTimeout: time.Second,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          64,
		MaxIdleConnsPerHost:   8,
		IdleConnTimeout:       90 * time.Second,
		HTTP2:                 &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
}
