package kaggle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// Limits of one call.
const (
	readTimeout  = 90 * time.Second
	writeTimeout = 120 * time.Second
	maxAnswer    = 128 << 20 // bytes; a log travels inside an answer
)

// rpc is one call: what goes out, where the answer goes, and what may be done when it fails.
type rpc struct {
	op, path string
	in       any
	out      any // *json.RawMessage takes the body as it is
	retry    bool
	unclear  bool          // a write that must not be repeated: a lost answer is ErrUnclear
	emptyOK  bool          // an answer without a body is fine
	location *string       // the call is answered with a redirect, and this is where its target goes
	auth     Authorizer    // nil = the client's
	secrets  []string      // credentials in the request body
	timeout  time.Duration // 0 = readTimeout
}

// call makes the call under the one retry policy.
func (c *Client) call(ctx context.Context, r rpc) error {
	body, err := encodeBody(r.in)
	if err != nil {
		return &Error{Op: r.op, Kind: ErrRejected, Message: "the request cannot be written as JSON", cause: err}
	}
	if !r.retry {
		return c.once(ctx, r, body)
	}
	return c.repeat(ctx, func(int) error { return c.once(ctx, r, body) })
}

// encodeBody writes JSON without turning <, > and & into six characters each: sources are full of them.
func encodeBody(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// once makes one try and sorts what comes back.
func (c *Client) once(ctx context.Context, r rpc, body []byte) error {
	start := time.Now()
	answer, err := c.exchange(ctx, r, body)
	if err == nil {
		err = decodeAnswer(r, answer)
	}
	var e *Error
	if errors.As(err, &e) {
		c.log.Debug("kaggle call", "op", r.op, "path", r.path, "took", time.Since(start), "status", e.Status, "error", e)
		return err
	}
	c.log.Debug("kaggle call", "op", r.op, "path", r.path, "took", time.Since(start), "status", http.StatusOK)
	return err
}

// answer is a whole HTTP answer.
type answer struct {
	status int
	header http.Header
	body   []byte
	hide   []string // credentials that were sent
}

// exchange sends one POST and reads the whole answer. Every error is an *Error.
func (c *Client) exchange(ctx context.Context, r rpc, body []byte) (*answer, error) {
	limit := r.timeout
	if limit == 0 {
		limit = readTimeout
	}
	tctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var sent atomic.Bool
	req, hide, err := c.request(tctx, http.MethodPost, r, body, &sent)
	if err != nil {
		return nil, c.beforeSending(ctx, r.op, err)
	}
	resp, err := c.calls.Do(req)
	if err != nil {
		return nil, c.lost(ctx, r, err, c.surelyNotSent(&sent, err))
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, c.lost(ctx, r, err, false)
	}
	if len(b) > maxAnswer {
		e := malformed(r.op, "the answer is larger than 128 MiB", b[:bodyLimit], nil)
		if r.unclear {
			e.Kind = ErrUnclear
		}
		return nil, e
	}
	return c.judge(r, &answer{status: resp.StatusCode, header: resp.Header, body: b, hide: hide})
}

// request builds a request with its headers, after waiting for the limiter and the credential. sent turns true when a
// connection was there, from which moment bytes may have left.
func (c *Client) request(ctx context.Context, verb string, r rpc, body []byte, sent *atomic.Bool) (*http.Request, []string, error) {
	auth := r.auth
	if auth == nil {
		auth = c.auth
	}
	h, err := auth.Authorization(ctx)
	if err != nil {
		return nil, nil, err
	}
	if d, err := c.limit.wait(ctx, c.base+" "+methodKey(r.path), retryBudget); err != nil {
		if errors.Is(err, errTooLong) {
			return nil, nil, &Error{Op: r.op, Status: http.StatusTooManyRequests, Kind: ErrRateLimited, RetryAfter: d,
				Message: "Kaggle asked to wait; nothing was sent"}
		}
		return nil, nil, err
	}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }})
	req, err := http.NewRequestWithContext(ctx, verb, c.base+"/"+r.path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	if verb == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, */*")
	} else {
		req.Body, req.GetBody, req.ContentLength = nil, nil, 0
		req.Header.Set("Accept", "text/event-stream, */*")
	}
	req.Header.Set("User-Agent", c.agent)
	hide := r.secrets
	if h != "" {
		req.Header.Set("Authorization", h.Reveal())
		hide = append([]string{h.Reveal()}, hide...)
		if _, value, ok := strings.Cut(h.Reveal(), " "); ok {
			hide = append(hide, value)
		}
	}
	return req, hide, nil
}

// methodKey is what a pause applies to: the method, not one kernel's stream.
func methodKey(path string) string {
	if strings.HasPrefix(path, PathLogStreamGET) {
		return PathLogStreamGET
	}
	return path
}

// beforeSending is a failure that happened before anything could be sent.
func (c *Client) beforeSending(ctx context.Context, op string, err error) error {
	if e := contextError(ctx, op); e != nil {
		return e
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Op: op, Kind: ErrOffline, Temporary: true, Message: "nothing was sent", cause: plain(err)}
}

// lost is a call whose answer did not arrive.
func (c *Client) lost(ctx context.Context, r rpc, err error, notSent bool) error {
	cause := plain(err)
	switch {
	case r.unclear && !notSent:
		e := &Error{Op: r.op, Kind: ErrUnclear, cause: cause,
			Message: "the connection broke after the request was sent; look before doing it again"}
		if ctx.Err() != nil {
			e.cause = ctx.Err()
		}
		return e
	case ctx.Err() != nil:
		return contextError(ctx, r.op)
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Op: r.op, Kind: ErrOffline, Temporary: true, Message: "no answer in time", cause: cause}
	case notSent:
		return &Error{Op: r.op, Kind: ErrOffline, Temporary: true, Message: "Kaggle cannot be reached: " + cause.Error(), cause: cause}
	default:
		return &Error{Op: r.op, Kind: ErrOffline, Temporary: true, Message: "the connection broke: " + cause.Error(), cause: cause}
	}
}

// surelyNotSent tells a failure that provably happened before the first byte left: no name, no connection, no handshake.
// A transport of another make reports no connections, so there only the error's own kind counts.
func (c *Client) surelyNotSent(sent *atomic.Bool, err error) bool {
	if sent.Load() {
		return false
	}
	if _, ok := c.calls.Transport.(*http.Transport); ok {
		return true
	}
	var op *net.OpError
	var dns *net.DNSError
	return errors.As(err, &dns) || errors.As(err, &op) && op.Op == "dial"
}

// plain takes the address, which may carry a signature, out of a network error.
func plain(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
