package kaggle

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

const (
	testUser = "sam-roe"
	testKey  = "0123456789abcdef0123456789abcdef"
)

var testRef = Ref{testUser, "leaf-fold-0"}

// free does not slow tests down.
func free() *Limiter { return NewLimiter(1e6, 1e6) }

// serve starts a server and a client of it.
func serve(t testing.TB, h http.HandlerFunc, change ...func(*Config)) *Client {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	// A jitter of -0.5 makes every backoff zero: nothing waits in real time.
	cfg := Config{Endpoint: srv.URL, Auth: Basic(testUser, testKey), Limiter: free(), Rand: func() float64 { return -0.5 }}
	for _, f := range change {
		f(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// inProcess serves a handler without a socket, streaming, so that fake time works.
type inProcess struct{ h http.Handler }

func (p inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	pr, pw := io.Pipe()
	w := &pipeWriter{header: http.Header{}, pw: pw, ready: make(chan struct{})}
	if req.Body == nil {
		req.Body = http.NoBody
	}
	go func() {
		defer func() {
			r := recover()
			w.WriteHeader(http.StatusOK)
			if r != nil {
				_ = pw.CloseWithError(io.ErrUnexpectedEOF)
			}
			_ = pw.Close()
		}()
		p.h.ServeHTTP(w, req)
	}()
	select {
	case <-w.ready:
	case <-req.Context().Done():
		_ = pr.CloseWithError(req.Context().Err())
		return nil, req.Context().Err()
	}
	go func() {
		<-req.Context().Done()
		_ = pr.CloseWithError(req.Context().Err())
	}()
	return &http.Response{StatusCode: w.status, Header: w.header, Body: pr, ContentLength: -1, Request: req, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}, nil
}

type pipeWriter struct {
	header http.Header
	status int
	pw     *io.PipeWriter
	once   sync.Once
	ready  chan struct{}
}

func (w *pipeWriter) Header() http.Header { return w.header }
func (w *pipeWriter) Flush()              {}
func (w *pipeWriter) WriteHeader(s int) {
	w.once.Do(func() {
		w.status, w.header = s, w.header.Clone()
		close(w.ready)
	})
}
func (w *pipeWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.pw.Write(b)
}

// inBubble makes a client of a handler for synctest.
func inBubble(t *testing.T, h http.HandlerFunc, change ...func(*Config)) *Client {
	t.Helper()
	cfg := Config{Endpoint: "http://kaggle.invalid", Transport: inProcess{h}, Limiter: free(), Rand: func() float64 { return 0 }}
	for _, f := range change {
		f(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func reply(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func bodyOf(t testing.TB, r *http.Request) map[string]any {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Errorf("request body %q: %v", b, err)
	}
	return m
}

func caseFile(t testing.TB, elem ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{"testdata", "cases"}, elem...)...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func caseJSON(t testing.TB, v any, elem ...string) {
	t.Helper()
	if err := json.Unmarshal(caseFile(t, elem...), v); err != nil {
		t.Fatal(err)
	}
}

func asError(t testing.TB, err error, kind error) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, kind) {
		t.Fatalf("error is %v, want kind %v", err, kind)
	}
	return e
}
