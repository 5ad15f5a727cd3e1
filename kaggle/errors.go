package kaggle

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Kinds of failure, for errors.Is.
var (
	ErrUnauthorized = errors.New("not signed in, or the credential is dead") // 401: the only proof of a bad credential
	ErrForbidden    = errors.New("not allowed")                              // 403: also what an unknown private kernel answers
	ErrNotFound     = errors.New("not found")                                // 404
	ErrConflict     = errors.New("conflict")                                 // 409
	ErrRateLimited  = errors.New("too many requests")                        // 429
	ErrUnavailable  = errors.New("the service is not available")             // 5xx, or a web page instead of an answer
	ErrOffline      = errors.New("no connection")                            // network; nothing was changed
	ErrRejected     = errors.New("refused")                                  // 400, 412 and other
	ErrMalformed    = errors.New("the answer cannot be read")
	ErrUnclear      = errors.New("it is not known whether this took effect") // a write whose answer was lost
)

// Error is a failed call.
type Error struct {
	Op         string        // what was being done, such as "push"
	Status     int           // HTTP status, or the code inside the body; 0 when no answer came
	Kind       error         // one of the Err… values, or a context's error
	Message    string        // Kaggle's words, or ours when it said nothing
	RetryAfter time.Duration // what the server asked to wait; 0 when it did not
	Temporary  bool          // the same call may work later
	Body       string        // the first bytes of an answer that could not be understood, without credentials

	cause error // the network's or disk's error, without addresses
}

// Error is one sentence: what was being done, what kind of failure, Kaggle's words.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	b.WriteString(": ")
	if e.Kind != nil {
		b.WriteString(e.Kind.Error())
	} else {
		b.WriteString("failed")
	}
	if e.Status >= 300 {
		fmt.Fprintf(&b, " (HTTP %d)", e.Status)
	}
	if e.Message != "" {
		b.WriteString(": ")
		b.WriteString(e.Message)
	} else if e.cause != nil && e.cause != e.Kind {
		b.WriteString(": ")
		b.WriteString(e.cause.Error())
	}
	return b.String()
}

// Unwrap gives the kind and, where there is one, the cause.
func (e *Error) Unwrap() []error {
	var out []error
	if e.Kind != nil {
		out = append(out, e.Kind)
	}
	if e.cause != nil && e.cause != e.Kind {
		out = append(out, e.cause)
	}
	return out
}

// kindOf maps an HTTP status, or a code found in a body, to a kind and says whether a later try can help.
func kindOf(status int) (kind error, temporary bool) {
	switch {
	case status == http.StatusUnauthorized:
		return ErrUnauthorized, false
	case status == http.StatusForbidden:
		return ErrForbidden, false
	case status == http.StatusNotFound:
		return ErrNotFound, false
	case status == http.StatusConflict:
		return ErrConflict, false
	case status == http.StatusTooManyRequests:
		return ErrRateLimited, true
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly:
		return ErrUnavailable, true
	case status == http.StatusNotImplemented:
		return ErrUnavailable, false
	case status >= 500:
		return ErrUnavailable, true
	case status >= 300 && status < 400:
		return ErrUnavailable, false
	default:
		return ErrRejected, false
	}
}

// contextError tells a caller's own cancelling apart from a broken network.
func contextError(ctx context.Context, op string) *Error {
	if err := ctx.Err(); err != nil {
		return &Error{Op: op, Kind: err, cause: context.Cause(ctx)}
	}
	return nil
}

// malformed is an answer that does not have its documented form.
func malformed(op, message string, body []byte, cause error) *Error {
	return &Error{Op: op, Kind: ErrMalformed, Message: message, Body: bodyStart(body), cause: cause}
}
