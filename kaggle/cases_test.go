package kaggle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Case 6: what a log can look like.
func TestCaseLogEncodings(t *testing.T) {
	var want struct {
		Full struct {
			Entries int      `json:"entries"`
			Lines   []string `json:"text_lines"`
		} `json:"full.log"`
	}
	caseJSON(t, &want, "06-log-encodings", "expected.json")
	full := DecodeLog(caseFile(t, "06-log-encodings", "full.log"))
	if full.Condition != LogOK || len(full.Records) != want.Full.Entries {
		t.Errorf("full.log: %v with %d records, want %d", full.Condition, len(full.Records), want.Full.Entries)
	}
	if got := LogLines(full.Records); !reflect.DeepEqual(got, want.Full.Lines) {
		t.Errorf("lines\n%q\nwant\n%q", got, want.Full.Lines)
	}
	for _, tc := range []struct {
		name    string
		raw     []byte
		entries int
		cond    LogCondition
	}{
		{"truncated.log", caseFile(t, "06-log-encodings", "truncated.log"), 4, LogCutOff},
		{"plain.log", caseFile(t, "06-log-encodings", "plain.log"), 2, LogPlain},
		{"empty.log", caseFile(t, "06-log-encodings", "empty.log"), 0, LogEmpty},
		{"missing", nil, 0, LogEmpty},
		{"null", []byte("null"), 0, LogEmpty},
		{"white space", []byte(" \n"), 0, LogEmpty},
		{"empty array", []byte("[]"), 0, LogEmpty},
		{"byte-order mark", []byte("\xEF\xBB\xBF[{\"data\":\"a\\n\"}]"), 1, LogOK},
		{"array still in its string", []byte(`"[{\"stream_name\":\"stdout\",\"time\":1,\"data\":\"a\\n\"}]"`), 1, LogOK},
		{"records without an array", []byte("{\"data\":\"a\"}\n{\"data\":\"b\"}\n"), 2, LogOK},
		{"cut in the first record", []byte(`[{"stream_na`), 0, LogCutOff},
		{"cut after a comma", []byte("[{\"data\":\"a\"}\n,"), 1, LogCutOff},
		{"damaged in the middle", []byte("[{\"data\":\"a\"}\n,{\"data\":\"b\n,{\"data\":\"c\"}\n]"), 2, LogCutOff},
		{"text that starts with a bracket", []byte("[INFO] one\n[INFO] two\n"), 2, LogPlain},
		{"text that starts with a brace", []byte("{not json\n"), 1, LogPlain},
		{"text without a line end", []byte("Killed"), 1, LogPlain},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := DecodeLog(tc.raw)
			if len(got.Records) != tc.entries || got.Condition != tc.cond {
				t.Errorf("%d records, %v; want %d, %v", len(got.Records), got.Condition, tc.entries, tc.cond)
			}
		})
	}
}

// Case 7: every page, each file once, a repeated token stops.
func TestCaseOutputPages(t *testing.T) {
	page := func(name string) string { return string(caseFile(t, "07-output-pages", name)) }
	list := func(pages map[string]string) (OutputListing, error) {
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			token, _ := bodyOf(t, r)["pageToken"].(string)
			reply(w, 200, pages[token])
		})
		return c.Outputs(t.Context(), testRef, 3)
	}
	var want map[string]struct {
		Files []string `json:"files"`
	}
	caseJSON(t, &want, "07-output-pages", "expected.json")
	all, err := list(map[string]string{"": page("page-1.json"), "tok-2": page("page-2.json"), "tok-3": page("page-3.json")})
	if err != nil || all.Incomplete {
		t.Fatalf("all pages: %v, incomplete %v", err, all.Incomplete)
	}
	var names []string
	for _, f := range all.Files {
		names = append(names, f.Name)
	}
	if !reflect.DeepEqual(names, want["pages 1,2,3"].Files) || all.Log != "[]" {
		t.Errorf("files %q log %q", names, all.Log)
	}
	if csv, err := all.Match("*.csv"); err != nil || len(csv) != 3 {
		t.Errorf("*.csv finds %v, %v", csv, err)
	}
	loop, err := list(map[string]string{"": page("page-1.json"), "tok-2": page("page-2.json"), "tok-3": page("page-3-loop.json")})
	if !errors.Is(err, ErrMalformed) || !strings.Contains(fmt.Sprint(err), "tok-2") || !loop.Incomplete || len(loop.Files) != 6 {
		t.Errorf("loop: %v, incomplete %v, %d files", err, loop.Incomplete, len(loop.Files))
	}
	null, err := list(map[string]string{"": page("page-null.json")})
	if err != nil || len(null.Files) != 0 || null.Incomplete {
		t.Errorf("null page: %+v, %v", null, err)
	}
	self, err := list(map[string]string{"": `{"files":[{"fileName":"a"}],"nextPageToken":"x"}`, "x": `{"files":[{"fileName":"b"},{"fileName":null}],"nextPageToken":"x"}`})
	if !errors.Is(err, ErrMalformed) || !self.Incomplete || len(self.Files) != 2 {
		t.Errorf("a page that names itself: %v, %+v", err, self)
	}
}

// Case 9: an answer to a push is a success only when its body says so.
func TestCasePushResponses(t *testing.T) {
	type wantCase struct {
		State   string `json:"state"`
		Version int    `json:"version"`
		Retry   any    `json:"retry"`
	}
	var want map[string]wantCase
	var cases []struct {
		Name   string          `json:"name"`
		Status *int            `json:"status"`
		Body   json.RawMessage `json:"body"`
	}
	caseJSON(t, &want, "09-push-responses", "expected.json")
	caseJSON(t, &cases, "09-push-responses", "responses.json")
	for _, tc := range cases {
		t.Run(tc.Name, func(t *testing.T) {
			v, calls := pushTo(t, func(w http.ResponseWriter, r *http.Request) {
				if tc.Status == nil {
					_, _ = io.Copy(io.Discard, r.Body)
					panic(http.ErrAbortHandler)
				}
				var text string
				if json.Unmarshal(tc.Body, &text) == nil {
					w.Header().Set("Content-Type", "text/html")
					w.WriteHeader(*tc.Status)
					_, _ = io.WriteString(w, text)
					return
				}
				reply(w, *tc.Status, string(tc.Body))
			})
			if v.State.String() != want[tc.Name].State || v.Version != want[tc.Name].Version {
				t.Errorf("%v version %d, want %+v", v.State, v.Version, want[tc.Name])
			}
			if retry, ok := want[tc.Name].Retry.(bool); ok && v.Retry != retry {
				t.Errorf("retry %v, want %v", v.Retry, retry)
			}
			if calls != 1 {
				t.Errorf("%d requests", calls)
			}
			if v.State != PushAccepted && v.Advice == "" {
				t.Error("no advice")
			}
		})
	}
}

// Case 12: exact seconds; unknown is not zero; a bad value is told and its body kept.
func TestCaseQuotaDurations(t *testing.T) {
	var want map[string]map[string]any
	var cases []struct {
		Name string          `json:"name"`
		Body json.RawMessage `json:"body"`
	}
	caseJSON(t, &want, "12-quota-durations", "expected.json")
	caseJSON(t, &cases, "12-quota-durations", "responses.json")
	for _, tc := range cases {
		t.Run(tc.Name, func(t *testing.T) {
			c := serve(t, func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, string(tc.Body)) })
			q, err := c.Quota(t.Context())
			w := want[tc.Name]
			if w["want"] != nil {
				asError(t, err, ErrMalformed)
				if q.Raw == "" {
					t.Error("the raw body is lost")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			seconds := func(key string, p *PoolQuota, d func(PoolQuota) time.Duration) {
				if w[key] == nil {
					return
				}
				if p == nil {
					t.Fatalf("%s: the pool is missing", key)
				}
				exact := time.Duration(math.Round(w[key].(float64) * 1e9))
				if got := d(*p); got != exact {
					t.Errorf("%s is %v, want %v", key, got, exact)
				}
			}
			seconds("gpu_left_s", q.GPU, PoolQuota.Left)
			seconds("tpu_left_s", q.TPU, PoolQuota.Left)
			seconds("gpu_free_to_plan_s", q.GPU, PoolQuota.Free)
			seconds("overdrawn_s", q.GPU, PoolQuota.Overdrawn)
			if w["gpu"] == "not reported" && q.GPU != nil || w["tpu"] == "not reported" && q.TPU != nil {
				t.Errorf("gpu %+v tpu %+v", q.GPU, q.TPU)
			}
		})
	}
}

func TestParseDuration(t *testing.T) {
	for in, want := range map[string]time.Duration{
		`"0s"`: 0, `"5400s"`: 5400 * time.Second, `"72000.500s"`: 72000*time.Second + 500*time.Millisecond,
		`"108000.000000001s"`: 108000*time.Second + 1, `{"seconds":"1800"}`: 1800 * time.Second,
		`{"seconds":1800,"nanos":5}`: 1800*time.Second + 5, ` "1s" `: time.Second,
	} {
		if got, err := ParseDuration(json.RawMessage(in)); err != nil || got != want {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{``, `null`, `""`, `"s"`, `"1h"`, `"-5s"`, `"+5s"`, `"5"`, `5400`, `"1e3s"`, `".5s"`, `"1.s"`, `"1.0000000001s"`,
		`"99999999999999999999s"`, `"9223372036854775807s"`, `{}`, `{"seconds":"-1"}`, `{"seconds":1,"nanos":-1}`, `{"nanos":1}`, `[]`, `true`, `"5 s"`} {
		if got, err := ParseDuration(json.RawMessage(in)); err == nil {
			t.Errorf("%s is read as %v", in, got)
		}
	}
	for d, want := range map[time.Duration]string{0: "0s", 90 * time.Minute: "5400s", 50 * time.Hour: "180000s", 1500 * time.Millisecond: "1.5s", -time.Second: "0s"} {
		if got := FormatDuration(d); got != want {
			t.Errorf("%v is written %s", d, got)
		}
	}
}

// A bad pool does not take the other one along.
func TestQuotaKeepsTheReadablePool(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, `{"gpuQuota":{"timeUsed":"x","totalTimeAllowed":"1s"},"tpuQuota":{"timeUsed":{"seconds":"1800"},"totalTimeAllowed":"72000s"}}`)
	})
	q, err := c.Quota(t.Context())
	if e := asError(t, err, ErrMalformed); !strings.Contains(e.Message, "gpuQuota.timeUsed") {
		t.Errorf("the field is not named: %v", e)
	}
	if q.GPU != nil || q.TPU == nil || q.TPU.Used != 30*time.Minute {
		t.Errorf("gpu %v tpu %v", q.GPU, q.TPU)
	}
}

// Case 18 and traps 21, 23, 24: the stream is cut inside a character, replays, and ends with a word.
func TestCaseSSEReplay(t *testing.T) {
	want := string(caseFile(t, "18-sse-replay", "expected.txt"))
	second := caseFile(t, "18-sse-replay", "connection-2.sse")
	for name, cut := range map[string]bool{"cut": true, "clean end": false} {
		t.Run(name, func(t *testing.T) {
			var conns atomic.Int32
			c := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet || r.URL.Path != "/api/v1/kernels/logs/stream/sam-roe/leaf-fold-0" || r.URL.RawQuery != "versionLabel=v4" {
					t.Errorf("%s %s", r.Method, r.URL)
				}
				w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
				if conns.Add(1) == 1 {
					_, _ = w.Write(caseFile(t, "18-sse-replay", "connection-1.sse"))
					w.(http.Flusher).Flush()
					if cut {
						panic(http.ErrAbortHandler)
					}
					return
				}
				_, _ = w.Write(second)
			})
			got, end, err := follow(t.Context(), c, 4, 0)
			if err != nil || end != LogEnded || got != want || conns.Load() != 2 {
				t.Errorf("%q, %v, %v over %d connections; want %q", got, end, err, conns.Load(), want)
			}
		})
	}
}

// Trap 22: a finished session answers with one array. Same events, same merge.
func TestFollowTakesAnArrayForTheWholeLog(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, `[{"stream_name":"stdout","time":1,"data":"a\n"},{"stream_name":"stdout","time":1,"data":"a\n"},{"stream_name":"stdout","time":"2.5","text":"b\n"}]`)
	})
	got, end, err := follow(t.Context(), c, 0, 1)
	if err != nil || end != LogEnded || got != "a\nb\n" {
		t.Errorf("%q, %v, %v", got, end, err)
	}
}

func follow(ctx context.Context, c *Client, version, skip int) (string, LogEnd, error) {
	var text strings.Builder
	end, err := c.FollowLog(ctx, testRef, version, skip, func(r LogRecord) error {
		text.WriteString(r.Data)
		return nil
	})
	return text.String(), end, err
}

// pushTo pushes once and counts the requests that the server saw.
func pushTo(t *testing.T, h http.HandlerFunc) (PushVerdict, int) {
	t.Helper()
	var calls atomic.Int32
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		h(w, r)
	})
	return ClassifyPush(c.SaveKernel(t.Context(), SaveKernelRequest{Slug: testRef.String(), NewTitle: "Leaf fold 0", Text: "print(1)\n", Language: "python", KernelType: "script"})), int(calls.Load())
}
