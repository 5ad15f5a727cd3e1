package kaggle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Limits of a download.
const (
	downloadIdle  = 300 * time.Second
	downloadTries = 5 // in a row without a new byte
	refreshLimit  = 3
	copyPiece     = 1 << 20
)

// Download fetches a signed URL to dest. The bytes go to dest+".part" and get their name only when they are complete and
// checked (SHA-256 if given, X-Goog-Hash if sent, the announced size) and are on the disk. A broken or cancelled download
// leaves the part file, and the next call goes on from there, if the server still has the same thing (ETag or
// Last-Modified, kept in dest+".part.json"). No credential is sent. Signed URLs never appear in an error.
func (c *Client) Download(ctx context.Context, from, dest string, opt DownloadOptions) (DownloadResult, error) {
	d := &download{c: c, op: "download " + filepath.Base(dest), dest: dest, part: dest + ".part", opt: opt}
	if err := d.setURL(from); err != nil {
		return DownloadResult{}, err
	}
	if err := os.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
		return DownloadResult{}, d.disk(err)
	}
	for fresh := false; ; fresh = true {
		if err := d.fetch(ctx); err != nil {
			return DownloadResult{}, err
		}
		how, err := d.verify()
		if err == nil {
			return d.finish(how)
		}
		// A part file that does not fit is started over, once: it may have been another version's.
		d.discard()
		if fresh || !d.resumed {
			return DownloadResult{}, err
		}
		d.resumed = false
		c.log.Warn("the continued download does not fit, starting over", "file", filepath.Base(dest), "error", err)
	}
}

// download is one file on its way.
type download struct {
	c          *Client
	op         string
	url        *url.URL
	dest, part string
	opt        DownloadOptions
	have       int64 // bytes in the part file
	total      int64 // -1 = not known
	resumed    bool
	refreshed  int
	header     http.Header // of the last answer
	mark       partMark
}

func (d *download) setURL(s string) error {
	base, err := url.Parse(d.c.base)
	if err != nil {
		return err
	}
	u, err := base.Parse(s)
	if err != nil || s == "" || u.Scheme != "http" && u.Scheme != "https" {
		return &Error{Op: d.op, Kind: ErrMalformed, Message: "the file's address is not a web address"}
	}
	d.url = u
	return nil
}

func (d *download) disk(err error) error {
	return fmt.Errorf("%s: the file cannot be written, what came so far is kept in %s: %w", d.op, filepath.Base(d.part), err)
}

// fetch fills the part file to its end, over as many connections as it takes.
func (d *download) fetch(ctx context.Context) error {
	d.total = -1
	for fails := 0; ; {
		before := d.partSize()
		err := d.connection(ctx)
		var e *Error
		if err == nil || !errors.As(err, &e) {
			return err
		}
		if ctx.Err() != nil {
			return contextError(ctx, d.op)
		}
		if expired(e) && d.opt.Refresh != nil && d.refreshed < refreshLimit {
			if err := d.refresh(ctx); err != nil {
				return err
			}
			continue
		}
		if fails++; d.partSize() > before {
			fails = 1
		}
		wait := max(d.c.backoff(fails+1), e.RetryAfter)
		if !e.Temporary || fails >= downloadTries || wait > retryBudget || !fits(ctx, wait) {
			return err
		}
		d.c.log.Debug("download broke, going on", "file", filepath.Base(d.dest), "have", d.partSize(), "wait", wait, "error", e)
		if sleep(ctx, wait) != nil {
			return contextError(ctx, d.op)
		}
	}
}

// expired tells the answers of a signed URL that is over.
func expired(e *Error) bool {
	return e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden || e.Status == http.StatusNotFound
}

func (d *download) refresh(ctx context.Context) error {
	d.refreshed++
	s, err := d.opt.Refresh(ctx)
	if err != nil {
		return err
	}
	return d.setURL(s)
}

func (d *download) partSize() int64 {
	if fi, err := os.Stat(d.part); err == nil && fi.Mode().IsRegular() {
		return fi.Size()
	}
	return 0
}

// connection makes one request, beginning where the part file ends, and appends what comes.
func (d *download) connection(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := time.AfterFunc(downloadIdle, func() { cancel(errIdle) })
	defer idle.Stop()
	d.have = d.partSize()
	d.mark = readMark(d.part)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url.String(), nil)
	if err != nil {
		return &Error{Op: d.op, Kind: ErrMalformed, Message: "the file's address is not a web address"}
	}
	req.Header.Set("User-Agent", d.c.agent)
	req.Header.Set("Accept-Encoding", "identity") // lengths and ranges are those of the file itself
	if d.have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", d.have))
		if v := d.mark.validator(); v != "" {
			req.Header.Set("If-Range", v)
		}
	}
	resp, err := d.c.files.Do(req)
	if err != nil {
		return d.broken(err)
	}
	defer resp.Body.Close()
	keep, err := d.accept(resp)
	if err != nil || keep && d.total == d.have {
		return err
	}
	return d.append(&idleReader{r: resp.Body, timer: idle, limit: downloadIdle}, keep)
}

// broken is a connection that ended too early; the next one can go on.
func (d *download) broken(err error) error {
	return &Error{Op: d.op, Kind: ErrOffline, Temporary: true, Message: "the connection broke: " + plain(err).Error(), cause: plain(err)}
}

// accept looks at the status before a byte is written, and tells whether the part file is continued (206 that begins where
// it ends) or started over (200).
func (d *download) accept(resp *http.Response) (keep bool, err error) {
	d.header = resp.Header
	switch {
	case resp.StatusCode == http.StatusPartialContent && d.have > 0:
		first, total, ok := contentRange(resp.Header.Get("Content-Range"))
		if !ok || first != d.have || total >= 0 && d.mark.Size > 0 && total != d.mark.Size {
			d.discard()
			return false, d.broken(errors.New("the server sent another part than the one asked for"))
		}
		d.total = total
		if total < 0 && resp.ContentLength >= 0 {
			d.total = d.have + resp.ContentLength
		}
		d.resumed = true
		return true, nil
	case resp.StatusCode == http.StatusOK:
		d.total = resp.ContentLength
		d.have = 0
		return false, nil
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable && d.have > 0:
		if _, total, ok := contentRange(resp.Header.Get("Content-Range")); ok && total == d.have {
			d.total, d.resumed = total, true
			return true, nil
		}
		d.discard()
		return false, d.broken(errors.New("the part file is longer than the file"))
	}
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 16<<10))
	_, err = d.c.judge(rpc{op: d.op, path: "files"}, &answer{status: resp.StatusCode, header: resp.Header, body: b})
	if err == nil {
		err = malformed(d.op, fmt.Sprintf("the file came with the status %d", resp.StatusCode), nil, nil)
	}
	return false, err
}

// contentRange reads "bytes 5-9/10", "bytes 5-9/*" (total -1) and "bytes */10" (first -1).
func contentRange(s string) (first, total int64, ok bool) {
	s, ok = strings.CutPrefix(s, "bytes ")
	span, size, ok2 := strings.Cut(s, "/")
	if !ok || !ok2 {
		return 0, 0, false
	}
	first, total = -1, -1
	var err error
	if size != "*" {
		if total, err = strconv.ParseInt(size, 10, 64); err != nil {
			return 0, 0, false
		}
	}
	if span != "*" {
		a, _, _ := strings.Cut(span, "-")
		if first, err = strconv.ParseInt(a, 10, 64); err != nil {
			return 0, 0, false
		}
	}
	return first, total, true
}

// append writes the body to the part file in pieces.
func (d *download) append(body io.Reader, keep bool) (err error) {
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if !keep {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(d.part, flags, 0o644)
	if err != nil {
		return d.disk(err)
	}
	defer func() {
		if cerr := f.Close(); err == nil && cerr != nil {
			err = d.disk(cerr)
		}
	}()
	if !keep {
		d.mark = markOf(d.header, d.total)
		d.mark.write(d.part)
	}
	buf := make([]byte, copyPiece)
	for {
		n, rerr := body.Read(buf)
		if n > 0 {
			if _, err := f.Write(buf[:n]); err != nil {
				return d.disk(err)
			}
			d.have += int64(n)
			if d.opt.Progress != nil {
				d.opt.Progress(d.have, d.total)
			}
		}
		switch {
		case rerr == io.EOF && (d.total < 0 || d.have >= d.total):
			return nil
		case rerr == io.EOF:
			return d.broken(io.ErrUnexpectedEOF)
		case rerr != nil:
			return d.broken(rerr)
		}
	}
}
