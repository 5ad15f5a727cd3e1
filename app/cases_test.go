package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/app/runlog"
	"sandglass/kaggle/sandbox"
)

func readCase(t *testing.T, path string, v any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", path))
	if err == nil {
		err = json.Unmarshal(raw, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Twelve answers to a push, and what the run log says after each.
func TestCasePushResponses(t *testing.T) {
	var cases []struct {
		Name   string
		Status *int
		Body   json.RawMessage
	}
	readCase(t, "09-push-responses/responses.json", &cases)
	state := map[string]string{"accepted": StateQueued, "error-in-200": StateRefused, "notebook-not-found": StateRefused, "session-cap": StateRefused,
		"dataset-refused": StateQueued, "kernel-source-refused": StateQueued, "opaque-500": StateUnclear, "html-502": StateUnclear, "empty-200": StateUnclear,
		"403": StateRefused, "401": StateRefused, "timeout-after-send": StateUnclear}
	version := map[string]int{"accepted": 8, "dataset-refused": 9, "kernel-source-refused": 10}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, sandbox.Options{}, works(time.Hour))
				w.answer = func(method string, _ []byte) (int, string, error) {
					if method != "SaveKernel" {
						return 0, "", nil
					}
					if c.Status == nil {
						return 0, "", errors.New("read: connection reset by peer")
					}
					text := string(c.Body)
					var s string
					if json.Unmarshal(c.Body, &s) == nil {
						text = s
					}
					return *c.Status, text, nil
				}
				a := w.open(t, "")
				defer closeApp(t, a)
				dir := kernelFolder(t, "leaf-fold-0", "NvidiaTeslaT4", map[string]any{"title": "leaf fold 0"})
				_, err := tryPush(a, dir, PushOptions{Hours: 1})
				runs, lerr := a.store.Runs(t.Context(), runlog.Filter{})
				if lerr != nil || len(runs) != 1 {
					t.Fatalf("%d runs, %v, %v", len(runs), lerr, err)
				}
				r := runs[0]
				if r.State != state[c.Name] || r.Version != version[c.Name] {
					t.Errorf("state %q version %d, want %q %d (%v)", r.State, r.Version, state[c.Name], version[c.Name], err)
				}
				if ok := version[c.Name] > 0; ok != (err == nil) {
					t.Errorf("error %v", err)
				}
				if r.State == StateUnclear { // never pushed again before it was looked up
					_, err := tryPush(a, dir, PushOptions{Hours: 1, Force: true})
					var guard *GuardError
					if !errors.As(err, &guard) || w.count("SaveKernel") != 1 {
						t.Errorf("second push: %v, %d requests", err, w.count("SaveKernel"))
					}
				}
				if c.Name == "dataset-refused" {
					fs, err := a.store.Findings(t.Context(), r.ID)
					if err != nil || len(fs) != 1 || fs[0].Level != "bad" {
						t.Errorf("findings %+v %v", fs, err)
					}
				}
			})
		})
	}
}

// Sequences of status answers, through the watcher.
func TestCaseStatusSequences(t *testing.T) {
	type answer struct {
		Status, Network, FailureMessage string
		HTTP                            int
	}
	var cases map[string]struct {
		PushedVersion *int `json:"pushed_version"`
		Answers       []answer
	}
	var want map[string]struct {
		Final        string
		MessageShown string `json:"message_shown"`
	}
	readCase(t, "10-status-sequences/sequences.json", &cases)
	readCase(t, "10-status-sequences/expected.json", &want)
	for name, c := range cases {
		if c.PushedVersion == nil {
			continue // a draft is not watched: TestPushNoRun
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, sandbox.Options{}, works(time.Hour))
				n := 0
				begun := time.Now()
				w.answer = func(method string, _ []byte) (int, string, error) {
					switch method {
					case "GetKernel":
						return 200, fmt.Sprintf(`{"metadata":{"ref":"sam-roe/leaf","currentVersionNumber":%d,"lastRunTime":%q},"blob":{"source":"x"}}`,
							*c.PushedVersion, begun.Add(-24*time.Hour).UTC().Format(time.RFC3339)), nil
					case "GetKernelSessionStatus":
					default:
						return 0, "", nil
					}
					x := c.Answers[min(n, len(c.Answers)-1)]
					n++
					switch {
					case x.Network != "":
						return 0, "", errors.New(x.Network)
					case x.HTTP != 0:
						return x.HTTP, `{"error":{"code":404,"message":"No runs found for this kernel."}}`, nil
					}
					raw, _ := json.Marshal(map[string]string{"status": x.Status, "failureMessage": x.FailureMessage})
					return 200, string(raw), nil
				}
				a := w.open(t, "")
				defer closeApp(t, a)
				if err := a.SetSetting(t.Context(), "collect.auto", "off"); err != nil {
					t.Fatal(err)
				}
				acc, err := a.Account(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				r, err := a.store.CreateRun(t.Context(), runlog.Run{Account: acc.ID, Kernel: "sam-roe/leaf", Name: "leaf", Version: *c.PushedVersion,
					State: StateQueued, Accelerator: "NvidiaTeslaT4", Origin: originFolder, Cap: time.Hour, PushedAt: begun, QueuedAt: begun})
				if err != nil {
					t.Fatal(err)
				}
				watch := newWatched(r, a.now())
				for range c.Answers {
					r = getRun(t, a, r.ID)
					if !atKaggle(r.State) {
						break
					}
					if r, err = a.ask(t.Context(), acc, r, watch); err != nil {
						t.Logf("not answered: %v", err)
					}
					time.Sleep(time.Minute)
				}
				if r.State != want[name].Final {
					t.Errorf("ends as %q, want %q", r.State, want[name].Final)
				}
				if m := want[name].MessageShown; m != "" && r.Failure != m {
					t.Errorf("shows %q, want %q", r.Failure, m)
				}
				if !r.UnreachableSince.IsZero() {
					t.Errorf("still marked unreachable since %v", r.UnreachableSince)
				}
				if w.count("SaveKernel") != 0 {
					t.Error("something was pushed")
				}
			})
		})
	}
}
