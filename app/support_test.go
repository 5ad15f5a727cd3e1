package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sandglass/app/keychain"
	"sandglass/app/runlog"
	"sandglass/kaggle"
	"sandglass/kaggle/sandbox"
)

// scripted runs sessions without a process: each test says what a session does.
type scripted struct {
	run func(ctx context.Context, job sandbox.Job) sandbox.Result
}

func (s scripted) Run(ctx context.Context, job sandbox.Job) sandbox.Result { return s.run(ctx, job) }

// world is a sandbox with one account and the requests that reached it.
type world struct {
	box   *sandbox.Sandbox
	mu    sync.Mutex
	calls map[string]int
	user  string
	down  bool // the network is gone

	answer func(method string, body []byte) (status int, answer string, err error) // status 0: let it through
}

func newWorld(t *testing.T, opt sandbox.Options, run func(context.Context, sandbox.Job) sandbox.Result) *world {
	t.Helper()
	if run != nil {
		opt.Executor = scripted{run}
	}
	if opt.Home == "" {
		opt.Home = t.TempDir()
	}
	opt.Username = "sam-roe"
	box, err := sandbox.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	return &world{box: box, calls: map[string]int{}, user: "sam-roe"}
}

// RoundTrip counts a call and lets it through to the sandbox.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	w.calls[r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]]++
	down, answer := w.down, w.answer
	w.mu.Unlock()
	if down {
		return nil, fmt.Errorf("dial tcp: lookup api.kaggle.invalid: no such host")
	}
	if answer != nil && r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		status, text, err := answer(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:], body)
		if err != nil {
			return nil, err
		}
		if status != 0 {
			kind := "application/json"
			if strings.HasPrefix(text, "<") {
				kind = "text/html"
			}
			return &http.Response{StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
				Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)), Request: r}, nil
		}
	}
	return w.box.Transport().RoundTrip(r)
}

func (w *world) setDown(down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = down
}

// setAnswer is for who changes the answers while an App asks.
func (w *world) setAnswer(answer func(method string, body []byte) (int, string, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = answer
}

func (w *world) count(method string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls[method]
}

func (w *world) env() func(string) string {
	return envOf(map[string]string{"SANDGLASS_ENDPOINT": "http://sandbox.invalid", "KAGGLE_USERNAME": w.user, "KAGGLE_KEY": w.box.Key(), "HOME": os.TempDir()})
}

func envOf(m map[string]string) func(string) string { return func(k string) string { return m[k] } }

// open opens an App on this world. home "" is a fresh one.
func (w *world) open(t *testing.T, home string, change ...func(*Options)) *App {
	t.Helper()
	if home == "" {
		home = t.TempDir()
	}
	opt := Options{Home: home, Getenv: w.env(), Keychain: keychain.Memory(), Transport: w, Log: testLog(t), Version: "test"}
	for _, c := range change {
		c(&opt)
	}
	a, err := Open(context.Background(), opt)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func testLog(t *testing.T) *slog.Logger {
	if os.Getenv("SANDGLASS_TEST_LOG") == "" {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func closeApp(t *testing.T, a *App) {
	t.Helper()
	if err := a.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

// kernelFolder writes a kernel folder of a person's own.
func kernelFolder(t *testing.T, slug, shape string, more map[string]any) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), slug)
	meta := map[string]any{
		"id": "sam-roe/" + slug, "title": strings.ReplaceAll(slug, "-", " "), "code_file": "main.py", "language": "python", "kernel_type": "script",
		"is_private": true, "enable_gpu": shape == "NvidiaTeslaT4", "enable_tpu": shape == "TpuV5E8", "enable_internet": false,
		"dataset_sources": []string{}, "competition_sources": []string{}, "kernel_sources": []string{}, "model_sources": []string{},
	}
	if shape != "none" {
		meta["machine_shape"] = shape
	}
	for k, v := range more {
		meta[k] = v
	}
	raw, err := json.Marshal(meta)
	if err != nil {
		t.Fatal(err)
	}
	writeAll(t, dir, map[string]string{"kernel-metadata.json": string(raw), "main.py": "print('" + slug + "')\n"})
	return dir
}

func writeAll(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// pushDir plans and pushes with consent, failing the test on a guard.
func pushDir(t *testing.T, a *App, dir string, opt PushOptions) RunRow {
	t.Helper()
	row, err := tryPush(a, dir, opt)
	if err != nil {
		t.Fatalf("push %s: %v", dir, err)
	}
	return row
}

func tryPush(a *App, dir string, opt PushOptions) (RunRow, error) {
	plan, err := a.PlanPush(context.Background(), dir, opt)
	if err != nil {
		return RunRow{}, err
	}
	return a.Push(context.Background(), plan, Consent{By: "test"})
}

// works is a session that takes d, prints a line, and leaves a file.
func works(d time.Duration) func(context.Context, sandbox.Job) sandbox.Result {
	return func(ctx context.Context, job sandbox.Job) sandbox.Result {
		job.Log("stdout", "hello from "+job.Slug+"\n")
		select {
		case <-ctx.Done():
			return sandbox.Result{Status: sandbox.StatusCancelled, ExitCode: -1}
		case <-time.After(d):
		}
		os.WriteFile(filepath.Join(job.Working, "result.txt"), []byte("result of "+job.Slug), 0o644)
		job.Log("stdout", "bye\n")
		return sandbox.Result{Status: sandbox.StatusComplete}
	}
}

func getRun(t *testing.T, a *App, id int64) runlog.Run {
	t.Helper()
	r, err := a.store.Run(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// until waits in small steps of the bubble's time until ok; a long wait in longer ones, since each look costs.
func until(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); ; time.Sleep(max(time.Second, limit/2000)) {
		if ok() {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("after %s still not: %s", limit, what)
		}
	}
}

func mustClient(t *testing.T, a *App) *kaggle.Client {
	t.Helper()
	c, err := a.client(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return c
}
