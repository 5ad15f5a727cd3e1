package kaggle

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var script = SaveKernelRequest{Slug: testRef.String(), NewTitle: "Leaf fold 0", Text: "print('<&>')\n", Language: "python", KernelType: "script", IsPrivate: true}

// Traps 1, 2, 5, 6, 12, 13: what an answer inside HTTP 200 means.
func TestPushAnswersInside200(t *testing.T) {
	const accepted = `"ref":"/code/Sam-Roe/other-slug","url":"https://www.kaggle.com/code/sam-roe/other-slug","versionNumber":2,"kernelId":7`
	for _, tc := range []struct {
		name, body string
		state      PushState
		retry      bool
		refused    int
	}{
		{"accepted", `{` + accepted + `}`, PushAccepted, false, 0},
		{"numbers as text", `{"ref":"/code/a/b-cde","url":"","versionNumber":"2","kernelId":"7"}`, PushAccepted, false, 0},
		{"older names", `{"ref":null,"refNullable":"/code/a/b-cde","versionNumber":null,"versionNumberNullable":2,"hasError":false,"error":null}`, PushAccepted, false, 0},
		{"older error", `{"hasError":true,"errorNullable":"Kernel not found"}`, PushFailed, false, 0},
		{"CPU slots", `{"error":"Maximum batch CPU session count of 5 reached."}`, PushWaitingForSlot, true, 0},
		{"other number of slots", `{"ref":"","versionNumber":0,"error":"Maximum batch GPU session count of 11 reached"}`, PushWaitingForSlot, true, 0},
		{"week used up", `{"error":"Maximum weekly GPU quota of 30.00 hours reached."}`, PushQuotaExhausted, false, 0},
		{"week of another length", `{"error":"Maximum weekly TPU quota of 42.5 hours reached."}`, PushQuotaExhausted, false, 0},
		{"title taken", `{"error":"The requested title \"x\" is already in use by a notebook."}`, PushFailed, false, 0},
		{"unknown text", `{"error":"Something new."}`, PushFailed, false, 0},
		{"refused and dropped", `{"error":"Maximum batch GPU session count of 2 reached.","invalidDatasetSources":["a/b"]}`, PushWaitingForSlot, true, 1},
		{"model dropped", `{` + accepted + `,"invalidModelSources":["models/google/gemma/pyTorch/2b/1"]}`, PushAcceptedWrong, false, 1},
		{"competition and kernel dropped", `{` + accepted + `,"invalidCompetitionSources":["titanic"],"invalidKernelSources":["https://www.kaggle.com/code/sam-roe/leaf-prep"]}`, PushAcceptedWrong, false, 2},
		{"tag dropped", `{` + accepted + `,"invalidTags":["gpu"]}`, PushAcceptedWrong, false, 1},
		{"no version", `{"ref":"/code/a/b-cde","url":"u"}`, PushUnknown, false, 0},
		{"no address", `{"versionNumber":3}`, PushUnknown, false, 0},
		{"negative version", `{"ref":"/code/a/b-cde","versionNumber":-1}`, PushUnknown, false, 0},
		{"wrong form", `{"versionNumber":{"a":1}}`, PushUnknown, false, 0},
		{"not an object", `["ok"]`, PushUnknown, false, 0},
		{"code inside 200", `{"code":403,"message":"Permission denied"}`, PushFailed, false, 0},
		{"server code inside 200", `{"code":500,"message":"Internal error"}`, PushUnknown, false, 0},
		{"page inside 200", `<html>login</html>`, PushUnknown, false, 0},
		{"nothing inside 200", ``, PushUnknown, false, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v, calls := pushTo(t, func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, tc.body) })
			if v.State != tc.state || v.Retry != tc.retry || len(v.Refused) != tc.refused {
				t.Errorf("%v retry %v refused %v", v.State, v.Retry, v.Refused)
			}
			if calls != 1 {
				t.Errorf("%d requests", calls)
			}
		})
	}
	v, _ := pushTo(t, func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, `{`+accepted+`}`) })
	if v.Ref != (Ref{"sam-roe", "other-slug"}) || v.KernelID != 7 || v.Version != 2 {
		t.Errorf("the server's own address is not kept: %+v", v)
	}
	v, _ = pushTo(t, func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, `{`+accepted+`,"invalidKernelSources":["https://www.kaggle.com/code/sam-roe/leaf-prep"],"invalidDatasetSources":["/datasets/sam-roe/leaf"]}`)
	})
	if v.Refused[0].Suggestion != "sam-roe/leaf" || v.Refused[1].Suggestion != "sam-roe/leaf-prep" {
		t.Errorf("suggestions %+v", v.Refused)
	}
}

// Trap 4: a push makes one request, whatever comes back.
func TestPushIsNeverRepeated(t *testing.T) {
	for _, tc := range []struct {
		name   string
		status int
		body   string
		kind   error
		state  PushState
		retry  bool
	}{
		{"500", 500, `{"code":500,"message":"Internal error"}`, ErrUnclear, PushUnknown, false},
		{"503 page", 503, `<html>`, ErrUnclear, PushUnknown, false},
		{"504", 504, ``, ErrUnclear, PushUnknown, false},
		{"redirect", 307, ``, ErrUnclear, PushUnknown, false},
		{"408", 408, ``, ErrUnclear, PushUnknown, false},
		{"429", 429, `slow down`, ErrRateLimited, PushWaitingForSlot, true},
		{"400", 400, ``, ErrRejected, PushFailed, false},
		{"401", 401, `{}`, ErrUnauthorized, PushFailed, false},
		{"403", 403, `{}`, ErrForbidden, PushFailed, false},
		{"404", 404, `{}`, ErrNotFound, PushFailed, false},
		{"409", 409, `{}`, ErrConflict, PushFailed, false},
		{"412 at capacity", 412, `{"code":412,"message":"Too many assignments"}`, ErrRejected, PushWaitingForSlot, true},
		{"412", 412, `{"code":412,"message":"Precondition"}`, ErrRejected, PushFailed, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var calls atomic.Int32
			c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				calls.Add(1)
				w.Header().Set("Retry-After", "0.5")
				w.Header().Set("Location", "/elsewhere")
				reply(w, tc.status, tc.body)
			})
			resp, err := c.SaveKernel(t.Context(), script)
			asError(t, err, tc.kind)
			if v := ClassifyPush(resp, err); v.State != tc.state || v.Retry != tc.retry {
				t.Errorf("%v, retry %v", v.State, v.Retry)
			}
			if calls.Load() != 1 {
				t.Errorf("%d requests", calls.Load())
			}
		})
	}
}

// Trap 4: a connection that the server closed after reading is not used to send the push again by the HTTP library.
func TestPushOnAStaleConnectionIsSentOnce(t *testing.T) {
	var pushes atomic.Int32
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, PathQuota) {
			reply(w, 200, `{}`)
			return
		}
		pushes.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		panic(http.ErrAbortHandler)
	})
	if _, err := c.Quota(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := c.SaveKernel(t.Context(), script)
	asError(t, err, ErrUnclear)
	if pushes.Load() != 1 {
		t.Errorf("%d pushes", pushes.Load())
	}
}

// Trap 4: an answer that breaks off, a time-out and a cancelling after sending are all unclear.
func TestPushWithoutAnAnswerIsUnclear(t *testing.T) {
	t.Run("cut answer", func(t *testing.T) {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"ref":`)
		})
		_, err := c.SaveKernel(t.Context(), script)
		asError(t, err, ErrUnclear)
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := serve(t, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			cancel()
			<-r.Context().Done()
		})
		_, err := c.SaveKernel(ctx, script)
		asError(t, err, ErrUnclear)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the cancelling is not told: %v", err)
		}
	})
	t.Run("no answer in time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := inBubble(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
			start := time.Now()
			_, err := c.SaveKernel(t.Context(), script)
			asError(t, err, ErrUnclear)
			if took := time.Since(start); took != writeTimeout {
				t.Errorf("took %v", took)
			}
			synctest.Wait()
		})
	})
}

// What provably never left this computer is not unclear.
func TestPushThatWasNotSentIsOffline(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	tlsOnly := httptest.NewTLSServer(http.NotFoundHandler())
	defer tlsOnly.Close()
	for name, cfg := range map[string]Config{
		"refused":     {Endpoint: srv.URL},
		"certificate": {Endpoint: tlsOnly.URL},
		"no such name in another transport": {Endpoint: "http://kaggle.invalid", Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return nil, &net.DNSError{Err: "no such host", Name: "kaggle.invalid"}
		})},
	} {
		t.Run(name, func(t *testing.T) {
			cfg.Limiter = free()
			c, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := c.SaveKernel(t.Context(), script)
			asError(t, err, ErrOffline)
			if v := ClassifyPush(resp, err); v.State != PushFailed || !v.Retry {
				t.Errorf("%+v", v)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a cancelled push was sent") })
	_, err := c.SaveKernel(ctx, script)
	if !errors.Is(err, context.Canceled) || errors.Is(err, ErrUnclear) {
		t.Errorf("cancelled before sending: %v", err)
	}
}

// A transport that cannot tell whether bytes left is not believed.
func TestPushOverAnUnknownTransportIsUnclear(t *testing.T) {
	c, err := New(Config{Endpoint: "http://kaggle.invalid", Limiter: free(), Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return nil, io.ErrUnexpectedEOF
	})})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.SaveKernel(t.Context(), script)
	asError(t, err, ErrUnclear)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Traps 8, 9, 10: the switches are always sent, an empty shape never; and the body is the captured one.
func TestPushRequestOnTheWire(t *testing.T) {
	var raw string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		raw = string(b)
		reply(w, 200, `{"ref":"/code/a/b-cde","versionNumber":1}`)
	})
	req := script
	req.DatasetDataSources = []string{"sam-roe/leaf"}
	req.SessionTimeoutSeconds = 3600
	if _, err := c.SaveKernel(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	want := `{"slug":"sam-roe/leaf-fold-0","newTitle":"Leaf fold 0","text":"print('<&>')\n","language":"python","kernelType":"script",` +
		`"datasetDataSources":["sam-roe/leaf"],"isPrivate":true,"enableGpu":false,"enableInternet":false,"enableTpu":false,"sessionTimeoutSeconds":3600}`
	if raw != want {
		t.Errorf("sent\n%s\nwant\n%s", raw, want)
	}
}

// Trap 3: nothing but what was asked for is sent; a push of nothing, or of bytes that are not text, is refused here.
func TestPushRefusesWhatCannotWork(t *testing.T) {
	c := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("it was sent") })
	for _, req := range []SaveKernelRequest{{Text: "x"}, {Slug: "a/b-cde", Text: "\xff"}} {
		_, err := c.SaveKernel(t.Context(), req)
		asError(t, err, ErrRejected)
	}
}

func TestPushStateNames(t *testing.T) {
	var names []string
	for s := PushUnknown; s <= PushFailed; s++ {
		names = append(names, s.String())
	}
	if !slices.Equal(names, []string{"unknown", "accepted", "accepted-but-wrong", "waiting-for-slot", "quota-exhausted", "failed"}) {
		t.Error(names)
	}
}
