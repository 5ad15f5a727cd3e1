package sandbox

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// Transport is the sandbox as an http.RoundTripper: every request, to whatever host, is answered by it in process.
// Bodies stream through pipes and nothing touches a socket, so it works inside a testing/synctest bubble.
func (s *Sandbox) Transport() http.RoundTripper { return inProcess{s.http} }

type inProcess struct{ h http.Handler }

// errCut is what a client sees of a connection that the sandbox closed without an answer.
var errCut = errors.New("connection closed by the server before it answered")

func (t inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	in := req.Clone(ctx)
	in.RequestURI = req.URL.RequestURI()
	in.RemoteAddr = "127.0.0.1:0"
	if in.Host == "" {
		in.Host = req.URL.Host
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	pr, pw := io.Pipe()
	w := &pipeWriter{header: http.Header{}, pw: pw, ready: make(chan struct{})}
	go func() {
		defer func() {
			r := recover()
			in.Body.Close()
			w.finish(r != nil)
			if r != nil && r != http.ErrAbortHandler {
				panic(r)
			}
		}()
		t.h.ServeHTTP(w, in)
	}()
	select {
	case <-w.ready:
	case <-ctx.Done():
		cancel()
		pr.CloseWithError(ctx.Err())
		return nil, req.Context().Err()
	}
	if w.aborted {
		cancel()
		return nil, errCut
	}
	stopped := context.AfterFunc(ctx, func() { pr.CloseWithError(context.Cause(ctx)) })
	res := &http.Response{
		Status: strconv.Itoa(w.status) + " " + http.StatusText(w.status), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, ContentLength: -1, Request: req,
		Body: &pipeBody{PipeReader: pr, done: func() { stopped(); cancel() }},
	}
	if n, err := strconv.ParseInt(w.sent.Get("Content-Length"), 10, 64); err == nil {
		res.ContentLength = n
	}
	return res, nil
}

// pipeBody ends the request's context when the client is done with the answer, as a closed connection would.
type pipeBody struct {
	*io.PipeReader
	done func()
}

func (b *pipeBody) Close() error {
	err := b.PipeReader.Close()
	b.done()
	return err
}

// pipeWriter is the http.ResponseWriter of the in-process transport.
type pipeWriter struct {
	header http.Header
	pw     *io.PipeWriter
	once   sync.Once
	ready  chan struct{}

	// set before ready is closed, read after
	status  int
	sent    http.Header
	aborted bool
}

func (w *pipeWriter) Header() http.Header { return w.header }

func (w *pipeWriter) WriteHeader(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.ready)
	})
}

func (w *pipeWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.pw.Write(b)
}

// Flush makes the writer an http.Flusher; a pipe holds nothing back.
func (w *pipeWriter) Flush() { w.WriteHeader(http.StatusOK) }

func (w *pipeWriter) finish(aborted bool) {
	w.once.Do(func() {
		w.status, w.sent, w.aborted = http.StatusOK, w.header.Clone(), aborted
		close(w.ready)
	})
	if aborted {
		w.pw.CloseWithError(io.ErrUnexpectedEOF)
		return
	}
	w.pw.Close()
}
