package kaggle

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// SessionState is the state of one version's session.
type SessionState int

// States of a session. StateUnknown is a word this program does not know; it is not an end.
const (
	StateUnknown SessionState = iota
	StateQueued
	StateNewScript // starting (unverified)
	StateRunning
	StateCancelRequested
	StateCancelled
	StateComplete
	StateError
)

var stateWords = map[string]SessionState{
	StatusQueued: StateQueued, StatusRunning: StateRunning, StatusComplete: StateComplete, StatusError: StateError,
	StatusCancelRequested: StateCancelRequested, StatusCancelAcknowledged: StateCancelled, StatusNewScript: StateNewScript,
}

// stateNumbers are the enum's numbers on the wire.
var stateNumbers = []SessionState{StateQueued, StateRunning, StateComplete, StateError, StateCancelRequested, StateCancelled, StateNewScript}

// String is a word for people and for planner: queued, starting, running, stopping, cancelled, complete, error, unknown.
func (s SessionState) String() string {
	words := [...]string{"unknown", "queued", "starting", "running", "stopping", "cancelled", "complete", "error"}
	if s < 0 || int(s) >= len(words) {
		return words[0]
	}
	return words[s]
}

// Terminal tells a state that will not change any more.
func (s SessionState) Terminal() bool {
	return s == StateCancelled || s == StateComplete || s == StateError
}

// SessionStatus is what the service says about a session. Raw is its word, kept for a state that is unknown.
type SessionStatus struct {
	State          SessionState
	Raw            string
	FailureMessage string // why a run failed; often absent
}

// ParseSessionState reads a status in any spelling that was seen: upper or lower case, camelCase, with a type prefix, as
// the enum's number; missing and null are value 0, QUEUED. An unknown word is StateUnknown and never an error.
func ParseSessionState(raw json.RawMessage) (SessionState, string) {
	word := strings.TrimSpace(scalarText(raw))
	if word == "" {
		return StateQueued, ""
	}
	if n, err := strconv.Atoi(word); err == nil {
		if n >= 0 && n < len(stateNumbers) {
			return stateNumbers[n], word
		}
		return StateUnknown, word
	}
	name := upperSnake(word)
	if i := strings.LastIndex(name, "STATUS_"); i >= 0 {
		name = name[i+len("STATUS_"):]
	}
	return stateWords[name], snippet([]byte(word))
}

// Status asks for the state of a version's session; version 0 is whatever is newest, which may be a run that somebody else
// pushed. Just after a push the answer can be 404 (no session yet), 403, or the previous run's end: judging that needs to
// know when the push was, and is the caller's work. The spelling of a version on the wire ("v3") is unverified.
func (c *Client) Status(ctx context.Context, ref Ref, version int) (SessionStatus, error) {
	const op = "ask for the status"
	if err := ref.check(op); err != nil {
		return SessionStatus{}, err
	}
	var resp struct {
		StatusResponse
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
	}
	req := StatusRequest{UserName: ref.Owner, KernelSlug: ref.Slug, VersionLabel: versionLabel(version)}
	if err := c.call(ctx, rpc{op: op, path: PathStatus, in: req, out: &resp, retry: true}); err != nil {
		return SessionStatus{}, err
	}
	state, raw := ParseSessionState(resp.Status)
	if says := inlineError(resp.Error, resp.Message); raw == "" && says != "" {
		return SessionStatus{}, &Error{Op: op, Status: http.StatusOK, Kind: ErrUnavailable, Temporary: true,
			Message: "an error came instead of a status: " + scrub(snippet([]byte(says)))}
	}
	return SessionStatus{State: state, Raw: raw, FailureMessage: resp.FailureMessage}, nil
}

// inlineError is what a good answer says of an error inside it, in either of the two forms that an error has; "" when it says nothing.
// Without a status such an answer must not be read as one that leaves QUEUED out.
func inlineError(raw, message json.RawMessage) string {
	if isNull(raw) {
		return textOf(message)
	}
	text := scalarText(raw)
	if text == "{}" {
		return ""
	}
	var inner struct {
		Message json.RawMessage `json:"message"`
	}
	if json.Unmarshal(raw, &inner) == nil && textOf(inner.Message) != "" {
		return textOf(inner.Message)
	}
	if said := textOf(message); said != "" {
		return said
	}
	return strings.TrimSpace(text)
}

// versionLabel is how a version is named in most calls; "" is the newest.
func versionLabel(version int) string {
	if version <= 0 {
		return ""
	}
	return "v" + strconv.Itoa(version)
}
