package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"sandglass/kaggle"
)

const testKey = "0123456789abcdef0123456789abcdef"

// scripted is an executor made of a function.
type scripted func(ctx context.Context, job Job) Result

func (f scripted) Run(ctx context.Context, job Job) Result { return f(ctx, job) }

// lasts is a session that prints once and takes d.
func lasts(d time.Duration) scripted {
	return func(ctx context.Context, job Job) Result {
		job.Log("stdout", "started\n")
		select {
		case <-time.After(d):
			job.Log("stdout", "done\n")
			return Result{Status: StatusComplete}
		case <-ctx.Done():
			return Result{Status: StatusError, Message: "ended early", ExitCode: -1}
		}
	}
}

func open(t *testing.T, opt Options) *Sandbox {
	t.Helper()
	if opt.Username == "" {
		opt.Username = "sam-roe"
	}
	if opt.Key == "" {
		opt.Key = testKey
	}
	if opt.Home == "" {
		opt.Home = t.TempDir()
	}
	s, err := New(opt)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// web calls a sandbox in process with the account's key, unless auth says otherwise.
type web struct {
	t    *testing.T
	s    *Sandbox
	auth func(*http.Request)
}

func use(t *testing.T, s *Sandbox) web {
	return web{t: t, s: s, auth: func(r *http.Request) { r.SetBasicAuth(s.Username(), s.Key()) }}
}

func (w web) as(auth func(*http.Request)) web { w.auth = auth; return w }

func anonymous(*http.Request) {}

func bearer(token string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
}

// do sends a request and reads the whole answer.
func (w web) do(method, url string, body io.Reader, head ...string) (*http.Response, []byte, error) {
	w.t.Helper()
	if strings.HasPrefix(url, "/") {
		url = "http://sandbox" + url
	}
	r, err := http.NewRequestWithContext(w.t.Context(), method, url, body)
	if err != nil {
		w.t.Fatal(err)
	}
	w.auth(r)
	for i := 0; i+1 < len(head); i += 2 {
		r.Header.Set(head[i], head[i+1])
	}
	res, err := w.s.Transport().RoundTrip(r)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	return res, raw, err
}

// call posts an RPC; body is JSON text or a value.
func (w web) call(path string, body any) (int, string) {
	w.t.Helper()
	text, ok := body.(string)
	if !ok {
		raw, err := json.Marshal(body)
		if err != nil {
			w.t.Fatal(err)
		}
		text = string(raw)
	}
	res, raw, err := w.do("POST", "/api/v1/"+path, strings.NewReader(text), "Content-Type", "application/json")
	if err != nil {
		w.t.Fatalf("%s: %v", path, err)
	}
	return res.StatusCode, string(raw)
}

// into calls an RPC that must succeed and decodes its answer.
func into[T any](w web, path string, body any) T {
	w.t.Helper()
	code, raw := w.call(path, body)
	var v T
	if code != 200 {
		w.t.Fatalf("%s: got %d %s", path, code, raw)
	}
	if err := json.Unmarshal([]byte(raw), &v); err != nil {
		w.t.Fatalf("%s: %v in %s", path, err, raw)
	}
	return v
}

// pushBody is a valid push with fields replaced; a nil value takes a field out.
func pushBody(slug string, change map[string]any) map[string]any {
	m := map[string]any{
		"slug": "sam-roe/" + slug, "newTitle": strings.ReplaceAll(slug, "-", " "), "text": "print(1)", "language": "python", "kernelType": "script",
		"isPrivate": true, "enableGpu": false, "enableTpu": false, "enableInternet": false,
	}
	maps.Copy(m, change)
	maps.DeleteFunc(m, func(_ string, v any) bool { return v == nil })
	return m
}

func (w web) push(slug string, change map[string]any) kaggle.SaveKernelResponse {
	w.t.Helper()
	return into[kaggle.SaveKernelResponse](w, kaggle.PathSaveKernel, pushBody(slug, change))
}

func (w web) pushed(slug string, change map[string]any) kaggle.SaveKernelResponse {
	w.t.Helper()
	ans := w.push(slug, change)
	if ans.Error != "" || ans.VersionNumber < 1 {
		w.t.Fatalf("push %s: refused with %q", slug, ans.Error)
	}
	return ans
}

func (w web) status(slug, label string) string {
	w.t.Helper()
	ans := into[kaggle.StatusResponse](w, kaggle.PathStatus, kaggle.StatusRequest{UserName: "sam-roe", KernelSlug: slug, VersionLabel: label})
	if ans.Status == nil {
		return StatusQueued
	}
	return strings.Trim(string(ans.Status), `"`)
}

// ended waits for a real process to be over.
func (w web) ended(slug string) string {
	w.t.Helper()
	w.s.mu.Lock()
	var l *liveSession
	for id, x := range w.s.st.Sessions {
		if k := w.s.st.Kernels[x.Kernel]; k != nil && k.Slug == slug && w.s.live[id] != nil {
			l = w.s.live[id]
		}
	}
	w.s.mu.Unlock()
	if l != nil {
		select {
		case <-l.done:
		case <-time.After(60 * time.Second):
			w.t.Fatalf("%s did not end within a minute", slug)
		}
	}
	return w.status(slug, "")
}

func (w web) output(slug string) (kaggle.OutputsResponse, string) {
	w.t.Helper()
	ans := into[kaggle.OutputsResponse](w, kaggle.PathOutputs, kaggle.OutputsRequest{UserName: "sam-roe", KernelSlug: slug, PageSize: 500})
	if ans.Log == "" {
		return ans, ""
	}
	var recs []kaggle.LogEntry
	if err := json.Unmarshal([]byte(ans.Log), &recs); err != nil {
		w.t.Fatalf("log of %s: %v in %s", slug, err, ans.Log)
	}
	var text bytes.Buffer
	for _, r := range recs {
		text.WriteString(r.Data)
	}
	return ans, text.String()
}

func (w web) file(slug, name string) string {
	w.t.Helper()
	ans, _ := w.output(slug)
	for _, f := range ans.Files {
		if f.FileName == name {
			res, raw, err := w.as(anonymous).do("GET", f.URL, nil)
			if err != nil || res.StatusCode != 200 {
				w.t.Fatalf("%s: %v %v", f.URL, res, err)
			}
			return string(raw)
		}
	}
	w.t.Fatalf("%s has no output %s, only %v", slug, name, ans.Files)
	return ""
}

func message(raw string) string {
	var e kaggle.ErrorEnvelope
	if json.Unmarshal([]byte(raw), &e) == nil && e.Error.Message != "" {
		return e.Error.Message
	}
	var p kaggle.PlainError
	json.Unmarshal([]byte(raw), &p)
	return p.Message
}

func want[T comparable](t *testing.T, what string, got, expected T) {
	t.Helper()
	if got != expected {
		t.Errorf("%s: got %v, want %v", what, got, expected)
	}
}

func wantText(t *testing.T, what, got string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(got, p) {
			t.Errorf("%s: got %s, want it to hold %q", what, fmt.Sprintf("%.2000s", got), p)
		}
	}
}

func mustJSON(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// row writes values with spaces between.
func row(v ...any) string { return strings.TrimSpace(fmt.Sprintln(v...)) }
