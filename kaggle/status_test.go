package kaggle

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// Traps 14 and 18: every spelling, missing is QUEUED, unknown is no error and no end.
func TestStatusIsReadLeniently(t *testing.T) {
	for body, want := range map[string]SessionState{
		`{}`: StateQueued, `{"status":null}`: StateQueued, `{"status":""}`: StateQueued, `{"status":0}`: StateQueued,
		`{"status":"QUEUED"}`: StateQueued, `{"status":"queued"}`: StateQueued,
		`{"status":"RUNNING"}`: StateRunning, `{"status":"running"}`: StateRunning, `{"status":1}`: StateRunning, `{"status":"1"}`: StateRunning,
		`{"status":"Running"}`: StateRunning, `{"status":"KERNEL_WORKER_STATUS_RUNNING"}`: StateRunning, `{"status":"KernelWorkerStatus.RUNNING"}`: StateRunning,
		`{"status":"complete"}`: StateComplete, `{"status":"COMPLETE"}`: StateComplete, `{"status":2}`: StateComplete,
		`{"status":"ERROR","failureMessage":"it broke"}`: StateError, `{"status":"error"}`: StateError,
		`{"status":"CANCEL_REQUESTED"}`: StateCancelRequested, `{"status":"cancelRequested"}`: StateCancelRequested,
		`{"status":"CANCEL_ACKNOWLEDGED"}`: StateCancelled, `{"status":"cancelAcknowledged"}`: StateCancelled, `{"status":5}`: StateCancelled,
		`{"status":"NEW_SCRIPT"}`: StateNewScript, `{"status":"newScript"}`: StateNewScript,
		`{"status":"BRAND_NEW_STATE"}`: StateUnknown, `{"status":99}`: StateUnknown, `{"status":-1}`: StateUnknown, `{"status":"NOT_RUNNING"}`: StateUnknown,
		`{"status":true}`: StateUnknown, `{"status":{"a":1}}`: StateUnknown,
		`{"statusNullable":"RUNNING","status":null}`: StateRunning,
	} {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, body) })
		s, err := c.Status(t.Context(), testRef, 0)
		if err != nil || s.State != want {
			t.Errorf("%s: %v (%q), %v; want %v", body, s.State, s.Raw, err, want)
		}
		if s.State == StateUnknown && (s.Raw == "" || s.State.Terminal()) {
			t.Errorf("%s: raw %q terminal %v", body, s.Raw, s.State.Terminal())
		}
		if s.State == StateError && body[10] == 'E' && s.FailureMessage != "it broke" {
			t.Errorf("failure message %q", s.FailureMessage)
		}
	}
}

// Traps 19 and 30: a pinned version goes as versionLabel; the newest sends none.
func TestStatusPinsTheVersion(t *testing.T) {
	var got map[string]any
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = bodyOf(t, r)
		reply(w, 200, `{}`)
	})
	for version, label := range map[int]any{0: nil, 3: "v3", 12: "v12"} {
		if _, err := c.Status(t.Context(), testRef, version); err != nil {
			t.Fatal(err)
		}
		if got["versionLabel"] != label || got["userName"] != testUser || got["kernelSlug"] != "leaf-fold-0" {
			t.Errorf("version %d sends %v", version, got)
		}
	}
}

// Traps 15, 16 and 17: what the service says of a session is passed on as it is; a 404, a 403 and a 5xx are errors of
// different kinds and never a state.
func TestStatusFailuresAreNotStates(t *testing.T) {
	for status, kind := range map[int]error{401: ErrUnauthorized, 403: ErrForbidden, 404: ErrNotFound, 501: ErrUnavailable} {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) { reply(w, status, `{"status":"COMPLETE"}`) })
		s, err := c.Status(t.Context(), testRef, 1)
		asError(t, err, kind)
		if s != (SessionStatus{}) || s.State.Terminal() {
			t.Errorf("%d gives the state %v", status, s.State)
		}
	}
}

// An error inside a 200 says nothing about the session: read as "no status" it would be QUEUED, and a run that is over would wait for
// ever. A status beside it stands.
func TestStatusErrorInAGoodAnswerIsNoState(t *testing.T) {
	for body, says := range map[string]string{
		`{"error":"Something went wrong."}`:                              "Something went wrong.",
		`{"error":{"message":"Something went wrong."}}`:                  "Something went wrong.",
		`{"error":{"status":"INTERNAL"}}`:                                `{"status":"INTERNAL"}`,
		`{"status":null,"error":"Something went wrong."}`:                "Something went wrong.",
		`{"status":"","message":"Something went wrong.","error":"none"}`: "Something went wrong.",
	} {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, body) })
		s, err := c.Status(t.Context(), testRef, 1)
		e := asError(t, err, ErrUnavailable)
		if s != (SessionStatus{}) || !e.Temporary || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, %v", body, s, err)
		}
	}
	for _, body := range []string{`{"status":"RUNNING","error":"x"}`, `{"status":"RUNNING","error":null}`, `{"status":1,"error":""}`, `{"status":1,"error":{}}`} {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, body) })
		if s, err := c.Status(t.Context(), testRef, 1); err != nil || s.State != StateRunning {
			t.Errorf("%s: %v, %v", body, s, err)
		}
	}
	for _, body := range []string{`{"error":""}`, `{"error":null}`, `{"error":{}}`} {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, body) })
		if s, err := c.Status(t.Context(), testRef, 1); err != nil || s.State != StateQueued {
			t.Errorf("%s: %v, %v", body, s, err)
		}
	}
}

func TestSessionStateWordsAndEnds(t *testing.T) {
	for s, want := range map[SessionState]struct {
		word string
		end  bool
	}{StateUnknown: {"unknown", false}, StateQueued: {"queued", false}, StateNewScript: {"starting", false}, StateRunning: {"running", false},
		StateCancelRequested: {"stopping", false}, StateCancelled: {"cancelled", true}, StateComplete: {"complete", true}, StateError: {"error", true}, 42: {"unknown", false}} {
		if s.String() != want.word || s.Terminal() != want.end {
			t.Errorf("%d: %s %v", s, s, s.Terminal())
		}
	}
}

// Trap 6: the three forms of an address.
func TestParseRef(t *testing.T) {
	want := Ref{"sam-roe", "leaf_fold-0"}
	for _, s := range []string{"sam-roe/leaf_fold-0", "/code/sam-roe/leaf_fold-0", "code/sam-roe/leaf_fold-0", " Sam-Roe/LEAF_fold-0 ", "sam-roe/leaf_fold-0/",
		"https://www.kaggle.com/code/sam-roe/leaf_fold-0", "https://www.kaggle.com/code/sam-roe/leaf_fold-0/output?scriptVersionId=12#x",
		"https://kaggle.com/sam-roe/leaf_fold-0", "www.kaggle.com/code/sam-roe/leaf_fold-0/edit", "http://127.0.0.1:8080/code/sam-roe/leaf_fold-0",
		"https://www.kaggle.com/datasets/sam-roe/leaf_fold-0", "/code/sam-roe/leaf_fold-0?scriptVersionId=3"} {
		if got, err := ParseRef(s); err != nil || got != want {
			t.Errorf("%q: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "/", "leaf", "a/b/c", "a//b", "../b", "a/..", "a/b c", "ä/b", "https://example.invalid/a/b", "ftp://www.kaggle.com/code/a/b",
		"https://www.kaggle.com/code/a", "code/a", "/competitions/titanic/data", "https://", "a/b%2fc"} {
		if got, err := ParseRef(s); err == nil {
			t.Errorf("%q is read as %v", s, got)
		}
	}
	if want.String() != "sam-roe/leaf_fold-0" || want.WebURL() != "https://www.kaggle.com/code/sam-roe/leaf_fold-0" || (Ref{}).String() != "" || !(Ref{}).IsZero() {
		t.Error(want, want.WebURL())
	}
}

// A call with half an address is refused before it is sent.
func TestCallsRefuseHalfAnAddress(t *testing.T) {
	c := serve(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s was sent", r.URL) })
	ctx, bad := t.Context(), Ref{"sam-roe", "../x"}
	_, err1 := c.Status(ctx, bad, 0)
	_, err2 := c.Outputs(ctx, bad, 0)
	_, err3 := c.KernelFiles(ctx, bad, 0)
	_, err4 := c.GetKernel(ctx, bad, 0)
	_, err5 := c.FollowLog(ctx, bad, 0, 0, nil)
	_, err6 := c.OutputURL(ctx, bad, 0, "x")
	_, err7 := c.CompetitionFiles(ctx, "")
	_, err8 := c.DatasetFiles(ctx, "", "x")
	for i, err := range []error{err1, err2, err3, err4, err5, err6, err7, err8, c.DeleteKernel(ctx, Ref{})} {
		if err == nil {
			t.Errorf("call %d", i)
			continue
		}
		asError(t, err, ErrRejected)
	}
}

func TestLenientScalars(t *testing.T) {
	var v struct {
		N Int       `json:"n"`
		F Float     `json:"f"`
		T Timestamp `json:"t"`
		W EnumWord  `json:"w"`
	}
	for in, want := range map[string]int64{`5`: 5, `"5"`: 5, `5.0`: 5, `null`: 0, `""`: 0, `"9007199254740993"`: 9007199254740993} {
		if err := json.Unmarshal([]byte(`{"n":`+in+`}`), &v); err != nil || int64(v.N) != want {
			t.Errorf("%s: %d, %v", in, v.N, err)
		}
	}
	for _, in := range []string{`{"n":"x"}`, `{"n":1.5}`, `{"n":{}}`, `{"f":"x"}`, `{"f":"NaN"}`} {
		if json.Unmarshal([]byte(in), &v) == nil {
			t.Errorf("%s is accepted", in)
		}
	}
	for in, want := range map[string]string{
		`"2026-08-08T00:00:00Z"`: "2026-08-08T00:00:00Z", `"2026-08-08T00:00:00.123456789Z"`: "2026-08-08T00:00:00.123456789Z",
		`"2026-08-08T02:00:00+02:00"`: "2026-08-08T00:00:00Z", `"2026-08-08T00:00:00.5"`: "2026-08-08T00:00:00.5Z",
		`"3:38 pm, Saturday 6 June 2026 UTC"`: "", `null`: "", `12`: "",
	} {
		if err := json.Unmarshal([]byte(`{"t":`+in+`}`), &v); err != nil {
			t.Errorf("%s: %v", in, err)
		}
		if want == "" != v.T.IsZero() || want != "" && v.T.Format("2006-01-02T15:04:05.999999999Z07:00") != want {
			t.Errorf("%s: %v", in, v.T)
		}
	}
	if b, err := json.Marshal(KernelMetadata{ID: 4}); err != nil || string(b) != `{"id":4}` {
		t.Errorf("%s %v", b, err)
	}
}
