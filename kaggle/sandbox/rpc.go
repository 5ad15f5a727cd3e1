package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"

	"sandglass/kaggle"
)

// apiError is a refusal as it goes over the wire.
type apiError struct {
	code    int
	message string
	bare    bool // no body at all
}

func (e *apiError) Error() string { return fmt.Sprintf("%d %s", e.code, e.message) }

func refuse(code int, format string, args ...any) *apiError {
	return &apiError{code: code, message: fmt.Sprintf(format, args...)}
}

// The refusals that Kaggle words itself (reported).
var (
	errUnauthenticated = &apiError{code: http.StatusUnauthorized, message: "Unauthenticated"}
	errDenied          = &apiError{code: http.StatusForbidden, message: "Permission 'kernels.get' was denied"}
	errNoRuns          = &apiError{code: http.StatusNotFound, message: "No runs found for this kernel."}
	errBareRequest     = &apiError{code: http.StatusBadRequest, bare: true}
	errInternal        = &apiError{code: http.StatusInternalServerError, message: "Internal error"}
)

// statusWords are the canonical names of the error envelope's status field.
var statusWords = map[int]string{
	400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 405: "UNIMPLEMENTED", 409: "ALREADY_EXISTS",
	412: "FAILED_PRECONDITION", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE",
}

// writeError answers with envelope (a) of the RPC surface; 500 comes in envelope (b), as it was seen.
func writeError(w http.ResponseWriter, e *apiError) {
	if e.bare {
		w.Header().Set("Content-Length", "0")
		w.WriteHeader(e.code)
		return
	}
	if e.code == http.StatusInternalServerError {
		writeJSON(w, e.code, kaggle.PlainError{Code: kaggle.Int(e.code), Message: e.message})
		return
	}
	writeJSON(w, e.code, kaggle.ErrorEnvelope{Error: kaggle.EnvelopeError{Code: kaggle.Int(e.code), Message: e.message, Status: statusWords[e.code]}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		status, raw = http.StatusInternalServerError, []byte(`{"code":500,"message":"Internal error"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(raw)))
	w.WriteHeader(status)
	w.Write(raw)
}

// call is one RPC in progress.
type call struct {
	r    *http.Request
	w    http.ResponseWriter
	who  string // the account's name; "" when anonymous
	base string // scheme and host the client used, for URLs in answers
}

// redirect is an answer that sends the client to a signed URL.
type redirect string

// method is one RPC: it decodes the body, and gives an answer to write as JSON, a redirect, or nil when it has
// written the answer itself.
type method struct {
	open bool // may be called without a credential
	deaf bool // a wrong credential does not matter: the call is about one in its body
	call func(s *Sandbox, c *call, body []byte) (any, error)
}

// maxBody is the largest request read; a push of the largest source fits several times over after JSON escaping.
const maxBody = 16 << 20

// rpc makes a method of a handler for one request type.
func rpc[Req any](f func(*Sandbox, *call, *Req) (any, error)) method {
	return method{call: func(s *Sandbox, c *call, body []byte) (any, error) {
		req := new(Req)
		if err := decode(body, req, false); err != nil {
			return nil, err
		}
		return f(s, c, req)
	}}
}

// public is rpc for a method that needs no credential.
func public[Req any](f func(*Sandbox, *call, *Req) (any, error)) method {
	m := rpc(f)
	m.open = true
	return m
}

// signIn is public for the methods that check the credential in their body.
func signIn[Req any](f func(*Sandbox, *call, *Req) (any, error)) method {
	m := public(f)
	m.deaf = true
	return m
}

// decode reads a request: an object, right types, nothing after it; strict also means known names only. null is "not
// given". Reading is lenient about names because the official tool sends some that mean nothing here.
func decode(body []byte, req any, strict bool) error {
	dec := json.NewDecoder(bytes.NewReader(body))
	if strict {
		dec.DisallowUnknownFields()
	}
	if b := bytes.TrimSpace(body); len(b) == 0 || b[0] != '{' {
		return refuse(400, "Invalid JSON payload received. The body is not a JSON object.")
	}
	if err := dec.Decode(req); err != nil {
		return refuse(400, "Invalid JSON payload received. %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if dec.Decode(&struct{}{}) != io.EOF {
		return refuse(400, "Invalid JSON payload received. Something follows the object.")
	}
	return nil
}

// methods are the RPCs, by path below the base.
func methods() map[string]method {
	return map[string]method{
		kaggle.PathSaveKernel:        {call: (*Sandbox).saveKernel},
		kaggle.PathStatus:            rpc((*Sandbox).status),
		kaggle.PathOutputs:           rpc((*Sandbox).listOutputs),
		kaggle.PathKernelFiles:       rpc((*Sandbox).listKernelFiles),
		kaggle.PathDownloadOutput:    rpc((*Sandbox).downloadOutput),
		kaggle.PathDownloadOutputZip: rpc((*Sandbox).downloadOutputZip),
		kaggle.PathListKernels:       rpc((*Sandbox).listKernels),
		kaggle.PathGetKernel:         rpc((*Sandbox).getKernel),
		kaggle.PathDeleteKernel:      rpc((*Sandbox).deleteKernel),
		kaggle.PathCancelSession:     rpc((*Sandbox).cancelSession),
		kaggle.PathLogsStream:        rpc((*Sandbox).logsStream),
		kaggle.PathQuota:             rpc((*Sandbox).quota),

		kaggle.PathIntrospect:          signIn((*Sandbox).introspect),
		kaggle.PathExchangeToken:       signIn((*Sandbox).exchangeToken),
		kaggle.PathGenerateAccessToken: signIn((*Sandbox).generateAccessToken),
		kaggle.PathExpireToken:         rpc((*Sandbox).expireToken),

		kaggle.PathListDatasets:         rpc((*Sandbox).listDatasets),
		kaggle.PathGetDataset:           public((*Sandbox).getDataset),
		kaggle.PathDatasetStatus:        rpc((*Sandbox).datasetStatus),
		kaggle.PathDatasetMetadata:      public((*Sandbox).datasetMetadata),
		kaggle.PathListDatasetFiles:     public((*Sandbox).listDatasetFiles),
		kaggle.PathListTreeDatasetFiles: public((*Sandbox).listTreeDatasetFiles),
		kaggle.PathDownloadDataset:      public((*Sandbox).downloadDataset),
		kaggle.PathCreateDataset:        rpc((*Sandbox).createDataset),
		kaggle.PathCreateDatasetVersion: rpc((*Sandbox).createDatasetVersion),
		kaggle.PathDeleteDataset:        rpc((*Sandbox).deleteDataset),
		kaggle.PathStartBlobUpload:      rpc((*Sandbox).startBlobUpload),

		kaggle.PathListCompetitions:  rpc((*Sandbox).listCompetitions),
		kaggle.PathListDataFiles:     rpc((*Sandbox).listDataFiles),
		kaggle.PathDownloadDataFile:  rpc((*Sandbox).downloadDataFile),
		kaggle.PathDownloadDataFiles: rpc((*Sandbox).downloadDataFile),

		kaggle.PathListModels: rpc((*Sandbox).listModels),
	}
}

// routes is the whole surface. The API answers below /api/v1/ (what clients use on another endpoint than production)
// and /v1/ (what api.kaggle.com has).
func (s *Sandbox) routes() http.Handler {
	mux := http.NewServeMux()
	known := methods()
	for _, base := range []string{"/api/v1/", "/v1/"} {
		mux.HandleFunc(base+"{service}/{method}", func(w http.ResponseWriter, r *http.Request) {
			s.serveRPC(w, r, known)
		})
		mux.HandleFunc("GET "+base+kaggle.PathLogStreamGET+"{owner}/{slug}", s.logStreamGET)
		mux.HandleFunc("GET "+base+kaggle.PathAuthorize, s.authorize)
	}
	mux.HandleFunc("GET /kf/{id}/{sig}/{name...}", s.serveOutput)
	mux.HandleFunc("GET /data/{kind}/{sig}/{name...}", s.serveData)
	mux.HandleFunc("GET /zip/{kind}/{sig}/{name}", s.serveZip)
	mux.HandleFunc("PUT /upload/{token}", s.receiveBlob)
	mux.HandleFunc("GET /account/api/oauth/token", s.showCode)
	mux.HandleFunc("GET /sandbox/info", s.info)
	mux.HandleFunc("/sandbox/faults", s.faultsHTTP)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, refuse(404, "The sandbox has nothing at %s", r.URL.Path))
	})
	return s.withFaults(mux)
}

func (s *Sandbox) serveRPC(w http.ResponseWriter, r *http.Request, known map[string]method) {
	m, ok := known[path.Join(r.PathValue("service"), r.PathValue("method"))]
	switch {
	case !ok:
		writeError(w, refuse(404, "The sandbox has no method %s/%s", r.PathValue("service"), r.PathValue("method")))
		return
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", "POST")
		writeError(w, refuse(405, "Every method is a POST, this was a %s", r.Method))
		return
	}
	who, err := s.authenticate(r)
	if (err != nil && !m.deaf) || (who == "" && !m.open) {
		writeError(w, errUnauthenticated)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		writeError(w, errBareRequest)
		return
	}
	ans, err := m.call(s, &call{r: r, w: w, who: who, base: baseURL(r)}, body)
	s.answer(w, r, ans, err)
}

func (s *Sandbox) answer(w http.ResponseWriter, r *http.Request, ans any, err error) {
	var refused *apiError
	switch {
	case errors.As(err, &refused):
		writeError(w, refused)
	case err != nil && r.Context().Err() != nil:
		// the client is gone
	case err != nil:
		s.log.Error("sandbox call failed", "path", r.URL.Path, "err", err)
		writeError(w, refuse(500, "%v", err))
	case ans == nil:
	default:
		if to, ok := ans.(redirect); ok {
			w.Header().Set("Location", string(to))
			w.WriteHeader(http.StatusFound)
			return
		}
		writeJSON(w, http.StatusOK, ans)
	}
}

// baseURL is what the client called the sandbox; answers carry URLs on the same host.
func baseURL(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil || r.URL.Scheme == "https" {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}

// page cuts one page out of a list. Tokens are opaque; a token of ours never runs past the end.
func page[T any](all []T, size, preset, most int, token string) (part []T, next string, err error) {
	if size == 0 {
		size = preset
	}
	if size < 0 || size > most {
		return nil, "", refuse(400, "Page size must be between 1 and %d", most)
	}
	from := 0
	if token != "" {
		n, ok := strings.CutPrefix(token, "page-")
		if from, err = strconv.Atoi(n); err != nil || !ok || from < 0 || from > len(all) {
			return nil, "", refuse(400, "Invalid page token")
		}
	}
	to := min(len(all), from+size)
	if to < len(all) {
		next = "page-" + strconv.Itoa(to)
	}
	return nonNil(all[from:to]), next, nil
}

// numbered is page for the calls that count pages from 1 and may also get a token.
func numbered[T any](all []T, number, size, preset, most int, token string) ([]T, string, error) {
	if token == "" && number > 1 {
		n := size
		if n <= 0 {
			n = preset
		}
		token = "page-" + strconv.Itoa(min(len(all), (number-1)*n))
	}
	return page(all, size, preset, most, token)
}

// nonNil makes a missing list an empty one: lists are always there in answers.
func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// info tells what this is to whoever asks; it needs no credential and holds none.
func (s *Sandbox) info(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	ans := map[string]any{
		"sandglass_sandbox": true, "version": Version, "speed": s.opt.Speed, "username": s.st.Username,
		"layout": s.opt.Layout, "now": s.clockNow().UTC(),
		"start_delay_s": s.opt.StartDelay.Seconds(), "tpu_queue_s": s.opt.TPUQueue.Seconds(),
	}
	s.mu.Unlock()
	writeJSON(w, http.StatusOK, ans)
}
