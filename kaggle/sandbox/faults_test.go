package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/kaggle"
)

// Every kind of fault as a client sees it, in process and over a socket, and what it does to the state.
func TestFaultKinds(t *testing.T) {
	for _, c := range []struct {
		rule   Fault
		code   int    // 0: no answer at all
		ctype  string // of the answer
		body   string // what it holds
		after  string // its Retry-After
		effect bool   // the push took place
	}{
		{rule: Fault{Kind: Fault401}, code: 401, ctype: "application/json", body: "Unauthenticated"},
		{rule: Fault{Kind: Fault403}, code: 403, ctype: "application/json", body: "Permission 'kernels.get' was denied"},
		{rule: Fault{Kind: Fault403, Message: "Own words"}, code: 403, ctype: "application/json", body: "Own words"},
		{rule: Fault{Kind: Fault404}, code: 404, ctype: "application/json", body: "No runs found for this kernel."},
		{rule: Fault{Kind: Fault409}, code: 409, ctype: "application/json", body: "different kernels"},
		{rule: Fault{Kind: Fault429}, code: 429, ctype: "application/json", body: "RESOURCE_EXHAUSTED"},
		{rule: Fault{Kind: Fault429, RetryAfter: "2"}, code: 429, ctype: "application/json", after: "2"},
		{rule: Fault{Kind: Fault429, RetryAfter: "0.5"}, code: 429, ctype: "application/json", after: "0.5"},
		{rule: Fault{Kind: Fault429, RetryAfter: "Tue, 01 Dec 2026 12:00:00 GMT"}, code: 429, ctype: "application/json", after: "Tue, 01 Dec 2026 12:00:00 GMT"},
		{rule: Fault{Kind: Fault500}, code: 500, ctype: "application/json", body: `{"code":500,"message":"Internal error"}`},
		{rule: Fault{Kind: Fault502HTML}, code: 502, ctype: "text/html; charset=UTF-8", body: "<html>"},
		{rule: Fault{Kind: Fault503, RetryAfter: "7"}, code: 503, ctype: "application/json", after: "7"},
		{rule: Fault{Kind: FaultEmpty}, code: 200},
		{rule: Fault{Kind: FaultHTML200}, code: 200, ctype: "text/html; charset=UTF-8", body: "<html>"},
		{rule: Fault{Kind: FaultCutBefore}},
		{rule: Fault{Kind: FaultCutAfter}, effect: true},
		{rule: Fault{Kind: FaultCutStream}, code: -1, effect: true},
		{rule: Fault{Kind: FaultSlow, Wait: Wait(10 * time.Millisecond)}, code: 200, ctype: "application/json", body: "/code/sam-roe/leaf-fold-0", effect: true},
	} {
		for _, socket := range []bool{false, true} {
			name := c.rule.Kind + c.rule.RetryAfter + map[bool]string{false: "/in process", true: "/socket"}[socket]
			t.Run(name, func(t *testing.T) {
				s := open(t, Options{Executor: scripted(done)})
				w := use(t, s)
				var rt http.RoundTripper = s.Transport()
				base := "http://sandbox"
				if socket {
					srv := httptest.NewServer(s.Handler())
					defer srv.Close()
					base, rt = srv.URL, srv.Client().Transport
				}
				if _, err := s.Faults().Add(c.rule); err != nil {
					t.Fatal(err)
				}
				body, _ := json.Marshal(pushBody("leaf-fold-0", nil))
				r, _ := http.NewRequestWithContext(t.Context(), "POST", base+"/api/v1/"+kaggle.PathSaveKernel, bytes.NewReader(body))
				w.auth(r)
				res, err := rt.RoundTrip(r)
				var raw []byte
				if err == nil {
					raw, err = io.ReadAll(res.Body)
					res.Body.Close()
				}
				switch {
				case c.code == 0:
					if err == nil {
						t.Fatalf("got %d %s, want a closed connection", res.StatusCode, raw)
					}
				case c.code == -1:
					if !errors.Is(err, io.ErrUnexpectedEOF) || len(raw) == 0 {
						t.Fatalf("got %q, %v, want half an answer", raw, err)
					}
				case err != nil:
					t.Fatal(err)
				default:
					want(t, "status", res.StatusCode, c.code)
					want(t, "type", res.Header.Get("Content-Type"), c.ctype)
					want(t, "Retry-After", res.Header.Get("Retry-After"), c.after)
					wantText(t, "body", string(raw), c.body)
				}
				list := into[kaggle.ListKernelsResponse](w, kaggle.PathListKernels, kaggle.ListKernelsRequest{Group: kaggle.GroupProfile})
				want(t, "the push took place", len(list.Kernels) == 1, c.effect)
			})
		}
	}
}

func TestFaultRules(t *testing.T) {
	s := open(t, Options{Executor: scripted(done)})
	w := use(t, s)
	codes := func(n int, path string) string {
		var out []string
		for range n {
			code, _ := w.call(path, kaggle.StatusRequest{UserName: "sam-roe", KernelSlug: "no-kernel"})
			out = append(out, http.StatusText(code))
		}
		return strings.Join(out, ",")
	}
	add := func(f Fault) Fault {
		f, err := s.Faults().Add(f)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	add(Fault{Kind: Fault503, Match: "GetKernelSessionStatus", After: 1, Times: 2})
	want(t, "after one, twice", codes(4, kaggle.PathStatus), "Forbidden,Service Unavailable,Service Unavailable,Forbidden")
	rule := add(Fault{Kind: Fault409, Match: "/api/*/GetKernelSession*", Times: -1})
	want(t, "until cleared, by path", codes(3, kaggle.PathStatus), "Conflict,Conflict,Conflict")
	want(t, "another method", codes(1, kaggle.PathQuota), "OK")
	want(t, "removed", s.Faults().Remove(rule.ID), true)
	want(t, "after that", codes(1, kaggle.PathStatus), "Forbidden")
	add(Fault{Kind: FaultStaleStatus})
	want(t, "a stale status hits status calls only", codes(1, kaggle.PathQuota), "OK")
	want(t, "hits", s.Faults().List()[1].Hits, 0)
	s.Faults().Clear()
	want(t, "cleared", len(s.Faults().List()), 0)
	for _, bad := range []Fault{{Kind: "teapot"}, {Kind: FaultSlow}, {Kind: Fault404, After: -1}, {Kind: Fault429, RetryAfter: "1\r\nX: y"}} {
		if _, err := s.Faults().Add(bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

func TestFaultsOverHTTP(t *testing.T) {
	s := open(t, Options{Executor: scripted(done), Speed: 60})
	w := use(t, s)
	post := func(w web, method, body string) (int, string) {
		res, raw, err := w.do(method, "/sandbox/faults", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(raw)
	}
	code, _ := post(w.as(anonymous), "POST", `{"kind":"404"}`)
	want(t, "without a credential", code, 401)
	code, raw := post(w, "POST", `{"match":"SaveKernel","kind":"slow","wait":"1.5s","times":3}`)
	want(t, "added", code, 200)
	wantText(t, "added", raw, `"id":1`, `"wait":"1.5s"`)
	for _, bad := range []string{`{"kind":"x"}`, `{"kind":"404","oops":1}`, `{"kind":"slow","wait":"soon"}`, `[]`} {
		code, _ = post(w, "POST", bad)
		want(t, bad, code, 400)
	}
	_, raw = post(w, "GET", "")
	wantText(t, "listed", raw, `"match":"SaveKernel"`, `"times":3`)
	code, raw = post(w, "DELETE", "")
	want(t, "cleared", raw, `{"faults":[]}`)
	want(t, "cleared", code, 200)
	res, info, _ := w.as(anonymous).do("GET", "/sandbox/info", nil)
	want(t, "info needs no credential", res.StatusCode, 200)
	wantText(t, "info", string(info), `"sandglass_sandbox":true`, `"speed":60`, `"username":"sam-roe"`, `"version":1`)
	if strings.Contains(string(info), testKey) || strings.Contains(string(info), s.Token()) {
		t.Error("info shows a credential")
	}
}

func TestSlowIsOnTheClock(t *testing.T) {
	home := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, Options{Home: home, Executor: scripted(done)})
		w := use(t, s)
		s.Faults().Add(Fault{Kind: FaultSlow, Wait: Wait(time.Hour), Times: -1})
		began := time.Now()
		w.call(kaggle.PathQuota, "{}")
		want(t, "waited", time.Since(began), time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r, _ := http.NewRequestWithContext(ctx, "POST", "http://sandbox/api/v1/"+kaggle.PathQuota, strings.NewReader("{}"))
		if _, err := s.Transport().RoundTrip(r); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the client's deadline", err)
		}
	})
}

// Just after a push the answer may still be the run before.
func TestStaleStatus(t *testing.T) {
	home := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, Options{Home: home, Executor: lasts(time.Hour)})
		w := use(t, s)
		w.pushed("leaf-fold-0", nil)
		synctest.Wait()
		time.Sleep(2 * time.Hour)
		w.pushed("leaf-fold-0", nil)
		synctest.Wait()
		s.Faults().Add(Fault{Kind: FaultStaleStatus, Times: 2})
		want(t, "stale", w.status("leaf-fold-0", "v2"), StatusComplete)
		want(t, "stale", w.status("leaf-fold-0", ""), StatusComplete)
		want(t, "true", w.status("leaf-fold-0", ""), StatusRunning)
		time.Sleep(2 * time.Hour)
		s.Faults().Add(Fault{Kind: FaultStaleStatus, Status: "BRAND_NEW_STATE"})
		want(t, "the rule's own word", w.status("leaf-fold-0", ""), "BRAND_NEW_STATE")
	})
}

// A file that breaks off half-way can be had by range afterwards.
func TestCutDownload(t *testing.T) {
	s := open(t, Options{Executor: scripted(func(ctx context.Context, job Job) Result {
		os.WriteFile(filepath.Join(job.Working, "b.bin"), bytes.Repeat([]byte("0123456789"), 100_000), 0o600)
		return Result{Status: StatusComplete}
	})})
	w := use(t, s)
	w.pushed("leaf-fold-0", nil)
	w.ended("leaf-fold-0")
	list, _ := w.output("leaf-fold-0")
	s.Faults().Add(Fault{Kind: FaultCutStream, Match: methodFiles})
	_, half, err := w.as(anonymous).do("GET", list.Files[0].URL, nil)
	if !errors.Is(err, io.ErrUnexpectedEOF) || len(half) != 500_000 {
		t.Fatalf("got %d bytes, %v, want half of them and a broken connection", len(half), err)
	}
	res, rest, err := w.as(anonymous).do("GET", list.Files[0].URL, nil, "Range", "bytes=500000-")
	if err != nil || res.StatusCode != 206 || len(rest) != 500_000 {
		t.Errorf("the rest: %d, %d bytes, %v", res.StatusCode, len(rest), err)
	}
}
