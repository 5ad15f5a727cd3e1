package kaggle

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Trap 42 and the headers: reads are POSTs of {} with a type, a real agent, and the credential.
func TestCallOnTheWire(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		user, key, _ := r.BasicAuth()
		if r.Method != http.MethodPost || r.URL.Path != "/api/v1/"+PathQuota || string(b) != "{}" || r.Header.Get("Content-Type") != "application/json" ||
			r.Header.Get("User-Agent") != UserAgentDefault || user != testUser || key != testKey {
			t.Errorf("%s %s %q %v", r.Method, r.URL, b, r.Header)
		}
		reply(w, 200, `{}`)
	})
	if _, err := c.Quota(t.Context()); err != nil {
		t.Error(err)
	}
}

// Trap 47 and 48: calls and people's pages have different hosts; only "" is production.
func TestAddresses(t *testing.T) {
	for in, want := range map[string][2]string{
		"":                             {"https://api.kaggle.com/v1", "https://www.kaggle.com"},
		"https://api.kaggle.com":       {"https://api.kaggle.com/v1", "https://www.kaggle.com"},
		"http://localhost:7777":        {"http://localhost:7777/api/v1", "http://localhost:7777"},
		"http://localhost:7777/":       {"http://localhost:7777/api/v1", "http://localhost:7777"},
		"http://localhost:7777/api/v1": {"http://localhost:7777/api/v1", "http://localhost:7777"},
		"http://localhost:7777/v1/":    {"http://localhost:7777/v1", "http://localhost:7777"},
	} {
		base, web, err := addresses(in)
		if err != nil || base != want[0] || web != want[1] {
			t.Errorf("%q: %s %s %v", in, base, web, err)
		}
	}
	for _, bad := range []string{"localhost:7777", "ftp://x", "http://", "http://me:hunter2hunter2@host", "http://host?token=abcdefgh", "://"} {
		_, err := New(Config{Endpoint: bad})
		if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "abcdefgh") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// Traps 15, 43, 44, 45: every envelope, Kaggle's own words first.
func TestErrorEnvelopes(t *testing.T) {
	for _, tc := range []struct {
		name   string
		status int
		ctype  string
		body   string
		kind   error
		code   int
		words  string
	}{
		{"rpc", 404, "application/json", `{"error":{"code":404,"message":"No runs found for this kernel.","status":"NOT_FOUND"}}`, ErrNotFound, 404, "No runs found for this kernel."},
		{"plain", 500, "application/json", `{"code":500,"message":"Internal error"}`, ErrUnavailable, 500, "Internal error"},
		{"both", 403, "application/json", `{"message":"outer","error":{"message":"inner"}}`, ErrForbidden, 403, "inner"},
		{"error as text", 400, "application/json", `{"error":"bad size"}`, ErrRejected, 400, "bad size"},
		{"code inside 200", 200, "application/json", `{"code":403,"message":"Permission 'kernels.get' was denied"}`, ErrForbidden, 403, "Permission 'kernels.get' was denied"},
		{"rpc inside 200", 200, "application/json", `{"error":{"code":429,"message":"slow"}}`, ErrRateLimited, 429, "slow"},
		{"html 429", 429, "text/html", `<html><body>Too many</body></html>`, ErrRateLimited, 429, "Too Many Requests"},
		{"html 502", 502, "text/html", `<html>`, ErrUnavailable, 502, "Bad Gateway"},
		{"html inside 200", 200, "text/html", `<!doctype html><title>Sign in to the hotel</title>`, ErrUnavailable, 200, "web page"},
		{"html inside 200 that says json", 200, "application/json", ` <html></html>`, ErrUnavailable, 200, "web page"},
		{"empty 400", 400, "", ``, ErrRejected, 400, "Bad Request"},
		{"text 500", 500, "text/plain", `An internal server error occurred.`, ErrUnavailable, 500, "An internal server error occurred."},
		{"empty 200", 200, "application/json", ``, ErrMalformed, 200, "empty"},
		{"array", 200, "application/json", `[]`, ErrMalformed, 200, "expected form"},
		{"cut json", 200, "application/json", `{"status":"RUNN`, ErrMalformed, 200, "expected form"},
		{"412", 412, "application/json", `{"code":412,"message":"too many assignments"}`, ErrRejected, 412, "too many assignments"},
		{"401", 401, "application/json", `{"code":401,"message":"Unauthenticated"}`, ErrUnauthorized, 401, "Unauthenticated"},
		{"409", 409, "application/json", `{}`, ErrConflict, 409, "Conflict"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := inBubble(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", tc.ctype)
					w.WriteHeader(tc.status)
					_, _ = io.WriteString(w, tc.body)
				})
				_, err := c.Status(t.Context(), testRef, 0)
				e := asError(t, err, tc.kind)
				if e.Status != tc.code || !strings.Contains(e.Message, tc.words) || !strings.Contains(err.Error(), "ask for the status") {
					t.Errorf("%d %q: %v", e.Status, e.Message, err)
				}
				synctest.Wait()
			})
		})
	}
}

// A JSON answer with the wrong content type is still an answer.
func TestAnswerWithAWrongContentType(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "\xEF\xBB\xBF{\"status\":\"RUNNING\"}")
	})
	if s, err := c.Status(t.Context(), testRef, 0); err != nil || s.State != StateRunning {
		t.Errorf("%+v %v", s, err)
	}
}

// Reads are tried four times on 429, 5xx and network errors; what will not change is asked once.
func TestReadsAreRetried(t *testing.T) {
	for _, tc := range []struct {
		status int
		tries  int32
	}{{500, 4}, {502, 4}, {503, 4}, {504, 4}, {429, 4}, {408, 4}, {0, 4}, {400, 1}, {401, 1}, {403, 1}, {404, 1}, {409, 1}, {412, 1}, {501, 1}} {
		synctest.Test(t, func(t *testing.T) {
			var tries atomic.Int32
			c := inBubble(t, func(w http.ResponseWriter, _ *http.Request) {
				tries.Add(1)
				if tc.status == 0 {
					w.Header().Set("Content-Type", "application/json")
					_, _ = io.WriteString(w, `{"sta`)
					panic(http.ErrAbortHandler)
				}
				w.WriteHeader(tc.status)
			})
			start := time.Now()
			_, err := c.Status(t.Context(), testRef, 0)
			if err == nil || tries.Load() != tc.tries {
				t.Errorf("%d: %d tries, %v", tc.status, tries.Load(), err)
			}
			if tc.tries == 4 && time.Since(start) != 1750*time.Millisecond { // 0.25 + 0.5 + 1 s at the lowest jitter
				t.Errorf("%d: waited %v", tc.status, time.Since(start))
			}
			synctest.Wait()
		})
	}
}

func TestReadSucceedsAfterATransientFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int32
		c := inBubble(t, func(w http.ResponseWriter, _ *http.Request) {
			if n.Add(1) < 3 {
				reply(w, 503, `<html>`)
				return
			}
			reply(w, 200, `{"status":"COMPLETE"}`)
		})
		s, err := c.Status(t.Context(), testRef, 0)
		if err != nil || s.State != StateComplete {
			t.Errorf("%+v %v", s, err)
		}
		synctest.Wait()
	})
}

// Trap 46: every shape of Retry-After; it is a lower bound.
func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	for in, want := range map[string]time.Duration{
		"": 0, "2": 2 * time.Second, "0.5": 500 * time.Millisecond, " 7 ": 7 * time.Second, "-3": 0, "NaN": 0, "soon": 0, "0": 0,
		"Tue, 01 Dec 2026 12:00:30 GMT": 30 * time.Second, "Tue, 01 Dec 2026 11:00:00 GMT": 0, "1e99": 365 * 24 * time.Hour, "+Inf": 365 * 24 * time.Hour,
	} {
		if got := parseRetryAfter(http.Header{"Retry-After": {in}}, now); got != want {
			t.Errorf("%q: %v, want %v", in, got, want)
		}
	}
	for _, tc := range []struct {
		header string
		wait   time.Duration
	}{{"10", 10 * time.Second}, {"0.001", 250 * time.Millisecond}, {"", 250 * time.Millisecond}, {"Sat, 01 Jan 2000 00:00:20 GMT", 20 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			var n atomic.Int32
			c := inBubble(t, func(w http.ResponseWriter, _ *http.Request) {
				if n.Add(1) == 1 {
					w.Header().Set("Retry-After", tc.header)
					reply(w, 429, `{}`)
					return
				}
				reply(w, 200, `{}`)
			})
			start := time.Now()
			if _, err := c.Status(t.Context(), testRef, 0); err != nil || time.Since(start) != tc.wait {
				t.Errorf("%q: waited %v, %v", tc.header, time.Since(start), err)
			}
			synctest.Wait()
		})
	}
}

// A long Retry-After is handed to the caller, and until it is over nobody in the process calls that method again.
func TestLongRetryAfterIsNotUndercut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int32
		limit := free()
		handler := func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, PathStatus) && n.Add(1) == 1 {
				w.Header().Set("Retry-After", "600")
				reply(w, 429, `{}`)
				return
			}
			reply(w, 200, `{}`)
		}
		one := inBubble(t, handler, func(c *Config) { c.Limiter = limit })
		two := inBubble(t, handler, func(c *Config) { c.Limiter = limit })
		_, err := one.Status(t.Context(), testRef, 0)
		if e := asError(t, err, ErrRateLimited); e.RetryAfter != 10*time.Minute {
			t.Errorf("RetryAfter %v", e.RetryAfter)
		}
		time.Sleep(time.Minute)
		_, err = two.Status(t.Context(), testRef, 0)
		if e := asError(t, err, ErrRateLimited); e.RetryAfter != 9*time.Minute || n.Load() != 1 {
			t.Errorf("RetryAfter %v after %d requests", e.RetryAfter, n.Load())
		}
		if _, err := two.Quota(t.Context()); err != nil {
			t.Errorf("another method is held up: %v", err)
		}
		time.Sleep(8 * time.Minute) // what is left fits: it is waited for
		if _, err := two.Status(t.Context(), testRef, 0); err != nil || n.Load() != 2 {
			t.Errorf("%v after %d requests", err, n.Load())
		}
		synctest.Wait()
	})
}

// The caller's deadline and cancelling are respected while waiting.
func TestRetryRespectsTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := inBubble(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "30")
			reply(w, 503, `{}`)
		})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		start := time.Now()
		_, err := c.Status(ctx, testRef, 0)
		if e := asError(t, err, ErrUnavailable); e.RetryAfter != 30*time.Second || time.Since(start) != 0 {
			t.Errorf("a wait that cannot fit was begun: %v after %v", err, time.Since(start))
		}
		ctx, cancel2 := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Second, cancel2)
		start = time.Now()
		_, err = c.Status(ctx, testRef, 0)
		if !errors.Is(err, context.Canceled) || errors.Is(err, ErrOffline) || time.Since(start) != 5*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		synctest.Wait()
	})
}

// A server that never answers costs 90 s a try and is offline, not a state.
func TestReadTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := inBubble(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		start := time.Now()
		_, err := c.Status(t.Context(), testRef, 0)
		asError(t, err, ErrOffline)
		if took := time.Since(start); took < readTimeout || took > readTimeout+retryBudget {
			t.Errorf("gave up after %v", took)
		}
		synctest.Wait()
	})
}

// One limiter for all clients that share it.
func TestLimiterSpacesCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := NewLimiter(2, 1)
		h := func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, `{}`) }
		one := inBubble(t, h, func(c *Config) { c.Limiter = limit })
		two := inBubble(t, h, func(c *Config) { c.Limiter = limit })
		start := time.Now()
		for range 4 {
			_, _ = one.Status(t.Context(), testRef, 0)
			_, _ = two.Status(t.Context(), testRef, 0)
		}
		if took := time.Since(start); took != 3500*time.Millisecond {
			t.Errorf("eight calls took %v", took)
		}
		synctest.Wait()
	})
	a, _ := New(Config{})
	b, _ := New(Config{Endpoint: "http://localhost:1"})
	if a.limit != b.limit {
		t.Error("two clients have two limiters")
	}
}
