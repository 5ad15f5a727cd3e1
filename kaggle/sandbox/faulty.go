package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

type faultKey struct{}

// faultIn is the rule that struck this call, for the kinds that the handler itself plays.
func faultIn(ctx context.Context, kind string) (Fault, bool) {
	f, ok := ctx.Value(faultKey{}).(Fault)
	return f, ok && f.Kind == kind
}

// withFaults puts the rules in front of the whole surface.
func (s *Sandbox) withFaults(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method := faultMethod(r.URL.Path)
		if method == "" {
			next.ServeHTTP(w, r)
			return
		}
		f, ok := s.fault.strike(method, r.URL.Path)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		s.log.Info("sandbox plays a fault", "kind", f.Kind, "path", r.URL.Path, "rule", f.ID)
		f.play(w, r.WithContext(context.WithValue(r.Context(), faultKey{}, f)), next)
	})
}

const gatewayPage = "<!doctype html><html><head><title>502 Server Error</title></head><body><h1>Error: Server Error</h1><p>The server encountered a temporary error.</p></body></html>"

// words are what the kinds with an error envelope say by themselves.
var words = map[string]string{
	Fault401: "Unauthenticated", Fault403: "Permission 'kernels.get' was denied", Fault404: "No runs found for this kernel.",
	Fault409: "The title and the slug belong to different kernels", Fault429: "Too many requests", Fault500: "Internal error",
	Fault503: "The service is currently unavailable.",
}

// play answers a call in the way of the rule. Closing the connection is done the way net/http has for it.
func (f Fault) play(w http.ResponseWriter, r *http.Request, next http.Handler) {
	switch f.Kind {
	case Fault502HTML, FaultHTML200:
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		w.Header().Set("Content-Length", strconv.Itoa(len(gatewayPage)))
		if f.Kind == Fault502HTML {
			w.WriteHeader(http.StatusBadGateway)
		}
		io.WriteString(w, gatewayPage)
	case FaultEmpty:
		w.Header().Set("Content-Length", "0")
		w.WriteHeader(http.StatusOK)
	case FaultCutBefore:
		panic(http.ErrAbortHandler)
	case FaultCutAfter:
		next.ServeHTTP(&voidWriter{header: http.Header{}}, r)
		panic(http.ErrAbortHandler)
	case FaultSlow:
		timer := time.NewTimer(time.Duration(f.Wait))
		defer timer.Stop()
		select {
		case <-timer.C:
			next.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	case FaultStaleStatus, FaultReplayLog:
		next.ServeHTTP(w, r)
	case FaultCutStream:
		f.cutStream(w, r, next)
	default:
		message := f.Message
		if message == "" {
			message = words[f.Kind]
		}
		if f.RetryAfter != "" {
			w.Header().Set("Retry-After", f.RetryAfter)
		}
		writeError(w, refuse(f.code(), "%s", message))
	}
}

// cutStream lets an event stream through up to the middle of the record after the chosen number, and half of any
// other answer, then closes the connection.
func (f Fault) cutStream(w http.ResponseWriter, r *http.Request, next http.Handler) {
	cut := &cutWriter{ResponseWriter: w, records: f.Records}
	next.ServeHTTP(cut, r)
	if !cut.stream {
		cut.sendHalf()
	}
	panic(http.ErrAbortHandler)
}

// cutWriter passes a stream through until it breaks off; other answers it keeps until their length is known. When
// that is announced (a file) it is not kept but counted.
type cutWriter struct {
	http.ResponseWriter
	records int

	status int
	stream bool
	left   int64 // bytes still to let through, of an announced length
	counts bool
	kept   bytes.Buffer
}

func (c *cutWriter) WriteHeader(status int) {
	if c.status != 0 {
		return
	}
	c.status = status
	h := c.Header()
	c.stream = strings.HasPrefix(h.Get("Content-Type"), "text/event-stream")
	if n, err := strconv.ParseInt(h.Get("Content-Length"), 10, 64); err == nil && !c.stream {
		c.counts, c.left = true, n/2
	}
	if c.stream || c.counts {
		c.ResponseWriter.WriteHeader(status)
	}
}

func (c *cutWriter) Write(b []byte) (int, error) {
	c.WriteHeader(http.StatusOK)
	switch {
	case c.stream:
		if c.records <= 0 {
			c.ResponseWriter.Write(b[:len(b)/2])
			c.Flush()
			panic(http.ErrAbortHandler)
		}
		c.records -= bytes.Count(b, []byte("\n\n"))
		return c.ResponseWriter.Write(b)
	case c.counts:
		if int64(len(b)) > c.left {
			c.ResponseWriter.Write(b[:c.left])
			c.Flush()
			panic(http.ErrAbortHandler)
		}
		c.left -= int64(len(b))
		return c.ResponseWriter.Write(b)
	}
	return c.kept.Write(b)
}

func (c *cutWriter) Flush() {
	if f, ok := c.ResponseWriter.(http.Flusher); ok && (c.stream || c.counts) {
		f.Flush()
	}
}

// sendHalf sends half of an answer that came without a length.
func (c *cutWriter) sendHalf() {
	if c.counts || c.kept.Len() == 0 {
		return
	}
	c.Header().Set("Content-Length", strconv.Itoa(c.kept.Len()))
	c.ResponseWriter.WriteHeader(c.status)
	c.ResponseWriter.Write(c.kept.Bytes()[:c.kept.Len()/2])
	if f, ok := c.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// voidWriter takes an answer that nobody will see.
type voidWriter struct{ header http.Header }

func (v *voidWriter) Header() http.Header         { return v.header }
func (v *voidWriter) Write(b []byte) (int, error) { return len(b), nil }
func (v *voidWriter) WriteHeader(int)             {}

// faultsHTTP lists (GET), adds (POST, one rule) and clears (DELETE, all or ?id=) rules. It needs the account's
// credential.
func (s *Sandbox) faultsHTTP(w http.ResponseWriter, r *http.Request) {
	if who, err := s.authenticate(r); err != nil || who == "" {
		writeError(w, errUnauthenticated)
		return
	}
	switch r.Method {
	case http.MethodGet:
	case http.MethodPost:
		var rule Fault
		dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10))
		dec.DisallowUnknownFields()
		err := dec.Decode(&rule)
		if err == nil {
			rule, err = s.fault.Add(rule)
		}
		if err != nil {
			writeError(w, refuse(400, "%v", err))
			return
		}
		writeJSON(w, http.StatusOK, rule)
		return
	case http.MethodDelete:
		if id := r.URL.Query().Get("id"); id == "" {
			s.fault.Clear()
		} else if n, err := strconv.Atoi(id); errors.Is(err, nil) && !s.fault.Remove(n) || err != nil {
			writeError(w, refuse(404, "There is no rule %s", id))
			return
		}
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		writeError(w, refuse(405, "Rules are listed with GET, added with POST and cleared with DELETE"))
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"faults": s.fault.List()})
}
