package kaggle

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

// Limits of a followed log. Load balancers cut idle streams after about three minutes, so the idle limit is above that.
const (
	streamIdle     = 4 * time.Minute
	reconnectDelay = time.Second
	dropLimit      = 5 // connections in a row that were cut at once, without a new record
	steadyAfter    = time.Minute
)

var errIdle = errors.New("nothing came for too long")

// FollowLog streams the log of a version (0 = the newest) to onRecord, leaving out the first skip records, which the
// caller already has. The server replays from the start on every connection, so a broken one is simply opened again and
// records are counted, not compared. It returns
//
//   - LogEnded, nil after END_OF_LOG or after the whole log of a finished session;
//   - LogDropped, nil when the stream ended without that: ask for the status, and if it is not terminal follow again with
//     skip plus the number of records that came;
//   - LogDropped and an error when the log cannot be opened, when five connections in a row were cut within a minute and brought nothing new, when ctx
//     ended, or when onRecord failed (that error is passed on).
//
// What the server answers while a session stays queued for long is unverified; an empty answer counts as LogDropped.
func (c *Client) FollowLog(ctx context.Context, ref Ref, version, skip int, onRecord func(LogRecord) error) (LogEnd, error) {
	const op = "follow the log"
	if err := ref.check(op); err != nil {
		return LogDropped, err
	}
	f := &follower{c: c, op: op, path: PathLogStreamGET + url.PathEscape(ref.Owner) + "/" + url.PathEscape(ref.Slug), have: max(0, skip), onRecord: onRecord}
	if v := versionLabel(version); v != "" {
		f.path += "?versionLabel=" + v
	}
	for drops := 0; ; {
		before, began := f.have, c.now()
		end, err := f.connection(ctx)
		var broken *brokenStream
		if !errors.As(err, &broken) {
			return end, err
		}
		if drops++; f.have > before || c.now().Sub(began) >= steadyAfter {
			drops = 0 // it brought something, or it was merely cut for being quiet: both are normal
		}
		if drops >= dropLimit {
			return LogDropped, &Error{Op: op, Kind: ErrOffline, Temporary: true, Message: "the stream broke five times without anything new", cause: broken.err}
		}
		c.log.Debug("log stream broke, connecting again", "kernel", ref.String(), "records", f.have, "error", broken.err)
		if sleep(ctx, reconnectDelay) != nil {
			return LogDropped, contextError(ctx, op)
		}
	}
}

// brokenStream is a drop that a new connection can mend.
type brokenStream struct{ err error }

func (b *brokenStream) Error() string { return b.err.Error() }

// follower is one logical follow over several connections.
type follower struct {
	c        *Client
	op, path string
	have     int // records the caller has
	onRecord func(LogRecord) error
	hide     []string // credentials that were sent
}

// connection opens the stream and reads it to its end.
func (f *follower) connection(ctx context.Context) (LogEnd, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := time.AfterFunc(streamIdle, func() { cancel(errIdle) })
	defer idle.Stop()
	resp, err := f.open(ctx)
	if err != nil {
		if errors.Is(context.Cause(ctx), errIdle) {
			return LogDropped, &brokenStream{errIdle}
		}
		return LogDropped, err
	}
	defer resp.Body.Close()
	body := bufio.NewReaderSize(&idleReader{r: resp.Body, timer: idle, limit: streamIdle}, 32<<10)
	var end LogEnd
	if isEventStream(resp.Header, body) {
		end, err = f.events(body)
	} else {
		end, err = f.whole(resp, body)
	}
	var broken *brokenStream
	if ctx.Err() == nil || end == LogEnded || err != nil && !errors.As(err, &broken) {
		return end, err
	}
	// The stream ended because we ended it.
	if errors.Is(context.Cause(ctx), errIdle) {
		return LogDropped, &brokenStream{errIdle}
	}
	return LogDropped, contextError(ctx, f.op)
}

// open connects under the one retry policy; the answer's body stays open.
func (f *follower) open(ctx context.Context) (resp *http.Response, err error) {
	err = f.c.repeat(ctx, func(int) error {
		resp, err = f.dial(ctx)
		return err
	})
	return resp, err
}

// dial makes one connection. An answer without an error and without a log, such as 204, has an empty body.
func (f *follower) dial(ctx context.Context) (*http.Response, error) {
	r := rpc{op: f.op, path: f.path, emptyOK: true}
	var sent atomic.Bool
	req, hide, err := f.c.request(ctx, http.MethodGet, r, nil, &sent)
	if err != nil {
		return nil, f.c.beforeSending(ctx, f.op, err)
	}
	f.hide = hide
	resp, err := f.c.calls.Do(req)
	if err != nil {
		return nil, f.c.lost(ctx, r, err, f.c.surelyNotSent(&sent, err))
	}
	if to, err := resp.Location(); err == nil && resp.StatusCode >= 300 && resp.StatusCode < 400 {
		_ = resp.Body.Close()
		if resp, err = f.redirected(ctx, to); err != nil {
			return nil, f.c.lost(ctx, r, err, false)
		}
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if _, err = f.c.judge(r, &answer{status: resp.StatusCode, header: resp.Header, body: b, hide: hide}); err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(nil))
	return resp, nil
}

// redirected follows to a place that is not given the credential.
func (f *follower) redirected(ctx context.Context, to *url.URL) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, to.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream, */*")
	req.Header.Set("User-Agent", f.c.agent)
	return f.c.files.Do(req)
}

// isEventStream goes by the content type, and by the first line when the type is missing or wrong.
func isEventStream(h http.Header, body *bufio.Reader) bool {
	if t, _, _ := mime.ParseMediaType(h.Get("Content-Type")); t == "text/event-stream" {
		return true
	}
	b, _ := body.Peek(5)
	return bytes.HasPrefix(b, []byte("data:")) || bytes.HasPrefix(b, []byte(": "))
}

// events reads a live stream.
func (f *follower) events(body io.Reader) (LogEnd, error) {
	sse := newSSEReader(body)
	for seen := 0; ; {
		data, err := sse.next()
		switch {
		case err == io.EOF:
			return LogDropped, nil
		case err == errEventTooLong:
			return LogDropped, malformed(f.op, err.Error(), nil, nil)
		case err != nil:
			return LogDropped, &brokenStream{plain(err)}
		}
		recs, end := eventRecords(data)
		if err := f.deliver(recs, &seen); err != nil {
			return LogDropped, err
		}
		if end {
			return LogEnded, nil
		}
	}
}

// whole reads the answer of a finished session: one JSON array.
func (f *follower) whole(resp *http.Response, body io.Reader) (LogEnd, error) {
	b, err := io.ReadAll(io.LimitReader(body, maxAnswer+1))
	if err != nil {
		return LogDropped, &brokenStream{plain(err)}
	}
	if len(b) > maxAnswer {
		return LogDropped, malformed(f.op, "the log is larger than 128 MiB", b[:bodyLimit], nil)
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return LogDropped, nil
	}
	if _, err := f.c.judge(rpc{op: f.op, path: f.path}, &answer{status: resp.StatusCode, header: resp.Header, body: b, hide: f.hide}); err != nil {
		return LogDropped, err
	}
	log, seen := DecodeLog(b), 0
	if err := f.deliver(log.Records, &seen); err != nil {
		return LogDropped, err
	}
	if log.Condition == LogCutOff {
		return LogDropped, &brokenStream{errHalfEvent}
	}
	return LogEnded, nil
}

// deliver hands out the records beyond those the caller has. seen counts this connection's.
func (f *follower) deliver(recs []LogRecord, seen *int) error {
	for _, r := range recs {
		if *seen++; *seen <= f.have {
			continue
		}
		if err := f.onRecord(r); err != nil {
			return err
		}
		f.have = *seen
	}
	return nil
}

// idleReader pushes the idle limit back whenever something arrives.
type idleReader struct {
	r     io.Reader
	timer *time.Timer
	limit time.Duration
}

func (r *idleReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if n > 0 {
		r.timer.Reset(r.limit)
	}
	return n, err
}

// validObject tells a whole JSON object.
func validObject(b []byte) bool {
	b = bytes.TrimSpace(b)
	return len(b) > 0 && b[0] == '{' && json.Valid(b)
}
