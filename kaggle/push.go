package kaggle

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// SaveKernel pushes: it creates a kernel or a version and, unless told otherwise, starts a run. It makes exactly one
// request, ever: there is no idempotency key, and a push that timed out or got a 5xx may have started a run. An error of
// kind ErrUnclear means just that. A refusal comes as a response with Error set and a nil error; [ClassifyPush] reads both.
func (c *Client) SaveKernel(ctx context.Context, req SaveKernelRequest) (SaveKernelResponse, error) {
	const op = "push"
	if req.ID == 0 && req.Slug == "" {
		return SaveKernelResponse{}, &Error{Op: op, Kind: ErrRejected, Message: "neither an id nor a slug was given; nothing was sent"}
	}
	if !utf8.ValidString(req.Text) {
		return SaveKernelResponse{}, &Error{Op: op, Kind: ErrRejected, Message: "the source is not UTF-8; nothing was sent"}
	}
	var resp SaveKernelResponse
	err := c.call(ctx, rpc{op: op, path: PathSaveKernel, in: req, out: &resp, unclear: true, timeout: writeTimeout})
	if err != nil {
		return SaveKernelResponse{}, err
	}
	if resp.Error == "" && (resp.VersionNumber < 1 || resp.Ref == "" && resp.URL == "") {
		return resp, &Error{Op: op, Kind: ErrUnclear, Message: "the answer names no version; look whether one appeared before pushing again"}
	}
	return resp, nil
}

// PushState is what a push came to.
type PushState int

// States of a push.
const (
	PushUnknown        PushState = iota // it may have taken effect: look before doing anything else
	PushAccepted                        // a version exists and its run was started or queued
	PushAcceptedWrong                   // started, but something asked for was dropped
	PushWaitingForSlot                  // nothing started: all slots are taken, or calls come too fast. Try again later
	PushQuotaExhausted                  // nothing started: the week's hours are used up
	PushFailed                          // nothing started
)

// String names the state.
func (s PushState) String() string {
	switch s {
	case PushAccepted:
		return "accepted"
	case PushAcceptedWrong:
		return "accepted-but-wrong"
	case PushWaitingForSlot:
		return "waiting-for-slot"
	case PushQuotaExhausted:
		return "quota-exhausted"
	case PushFailed:
		return "failed"
	default:
		return "unknown"
	}
}

// RefusedInput is something the push asked for and the service dropped.
type RefusedInput struct {
	Kind       string // dataset, competition, kernel, model, tag
	Ref        string // as it came back
	Suggestion string // a spelling that would do; "" when none is obvious
}

// PushVerdict is a push in one value. Message is Kaggle's words, Advice what to do.
type PushVerdict struct {
	State      PushState
	Version    int // 0 = none known
	Ref        Ref // as the server chose it: keep this, not what was asked for
	URL        string
	KernelID   int64
	Refused    []RefusedInput
	Retry      bool          // pushing again later is right without looking first
	RetryAfter time.Duration // not before; 0 = not said
	Message    string
	Advice     string
}

// ClassifyPush reads the outcome of SaveKernel. HTTP 200 is not yet a success: the answer has to name a version and carry
// no error.
func ClassifyPush(resp SaveKernelResponse, err error) PushVerdict {
	if err != nil {
		return pushError(err)
	}
	v := PushVerdict{Version: int(resp.VersionNumber), URL: resp.URL, KernelID: int64(resp.KernelID), Refused: refused(resp), Message: strings.TrimSpace(resp.Error)}
	for _, s := range []string{resp.Ref, resp.URL} {
		if r, err := ParseRef(s); err == nil {
			v.Ref = r
			break
		}
	}
	switch {
	case v.Message != "":
		v.State, v.Advice = refusal(v.Message)
		v.Retry = v.State == PushWaitingForSlot
	case v.Version < 1:
		v.Advice = "The answer names no version: look the kernel up before doing anything else."
	case v.Ref.IsZero():
		v.Advice = "The answer does not say where the kernel is: look it up before doing anything else."
	case len(v.Refused) > 0:
		v.State = PushAcceptedWrong
		v.Advice = refusedAdvice(v.Refused)
	default:
		v.State = PushAccepted
	}
	return v
}

// Texts of a refusal inside HTTP 200, as users report them; numbers and wording vary.
var (
	quotaText    = regexp.MustCompile(`(?i)quota|weekly.*(?:limit|hours)`)
	sessionText  = regexp.MustCompile(`(?i)session.*(?:count|limit|maximum|reached|capacity)|(?:maximum|too many|limit|capacity).*session|too many assignments`)
	notFoundText = regexp.MustCompile(`(?i)(?:kernel|notebook|script).*(?:not found|does not exist)`)
	titleText    = regexp.MustCompile(`(?i)title.*(?:in use|taken|exists)`)
)

func refusal(text string) (PushState, string) {
	switch {
	case sessionText.MatchString(text) && !quotaText.MatchString(text):
		return PushWaitingForSlot, "All slots are taken, queued runs included. Push again when a run ends, or drop the accelerator."
	case quotaText.MatchString(text):
		return PushQuotaExhausted, "The week's hours are used up. Wait for the reset, or run on the CPU."
	case notFoundText.MatchString(text):
		return PushFailed, "The id does not exist, belongs to someone else, or is a draft that was never saved. Push under another slug, as a new kernel."
	case titleText.MatchString(text):
		return PushFailed, "The title belongs to another kernel. Choose another title, or push to that kernel's slug."
	}
	return PushFailed, "Nothing was started. Change what Kaggle names and push again."
}

// pushError is the verdict on a push without a usable answer.
func pushError(err error) PushVerdict {
	v := PushVerdict{State: PushFailed, Message: err.Error()}
	var e *Error
	if errors.As(err, &e) {
		v.RetryAfter = e.RetryAfter
		if e.Message != "" {
			v.Message = e.Message
		}
	}
	switch {
	case errors.Is(err, ErrUnclear), errors.Is(err, ErrUnavailable), errors.Is(err, ErrMalformed):
		v.State = PushUnknown
		v.Advice = "It may have started. Look whether a new version appeared before pushing again; if none did, check the title's length, the source and the inputs."
	case errors.Is(err, ErrUnauthorized):
		v.Advice = "The credential is dead. Sign in again; what waits to be pushed is kept."
	case errors.Is(err, ErrForbidden):
		v.Advice = "The account may not do this, or the kernel or an input does not exist or is not the account's. Check the account, the slug, the inputs and the accelerator."
	case errors.Is(err, ErrNotFound):
		v.Advice = "Kaggle does not know this kernel or one of its inputs. Check the slug and the inputs."
	case errors.Is(err, ErrConflict):
		v.Advice = "Title and slug do not belong together. Make the title from the slug, or push to the slug the title has."
	case errors.Is(err, ErrRateLimited):
		v.State, v.Retry = PushWaitingForSlot, true
		v.Advice = "Calls come too fast. Nothing was started; push again after a pause."
	case errors.Is(err, ErrOffline):
		v.Retry = true
		v.Advice = "Nothing was sent. Push again when the connection is back."
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		v.Retry = true
		v.Advice = "Nothing was sent."
	case e != nil && e.Status >= 400 && sessionText.MatchString(e.Message):
		v.State, v.Retry = PushWaitingForSlot, true
		v.Advice = "All slots are taken, queued runs included. Push again when a run ends."
	case e != nil && e.Kind == ErrRejected:
		v.Advice = "Kaggle refused the request. Check the title's length, the source and the inputs."
	default:
		v.State = PushUnknown
		v.Advice = "It may have started. Look whether a new version appeared before pushing again."
	}
	return v
}

// refused collects the five lists of dropped things.
func refused(resp SaveKernelResponse) []RefusedInput {
	var out []RefusedInput
	for _, l := range []struct {
		kind, prefix string
		refs         []string
	}{
		{"dataset", "datasets/", resp.InvalidDatasetSources},
		{"competition", "competitions/", resp.InvalidCompetitionSources},
		{"kernel", "code/", resp.InvalidKernelSources},
		{"model", "models/", resp.InvalidModelSources},
		{"tag", "", resp.InvalidTags},
	} {
		for _, ref := range l.refs {
			out = append(out, RefusedInput{Kind: l.kind, Ref: ref, Suggestion: withoutPrefix(ref, l.prefix)})
		}
	}
	return out
}

// withoutPrefix undoes the commonest mistake: a web path where owner/slug belongs.
func withoutPrefix(ref, prefix string) string {
	if prefix == "" {
		return ""
	}
	if i := strings.Index(ref, "kaggle.com/"); i >= 0 {
		ref = ref[i+len("kaggle.com/"):]
		if !strings.HasPrefix(strings.TrimLeft(ref, "/"), prefix) {
			return strings.Trim(ref, "/")
		}
	}
	if s, ok := strings.CutPrefix(strings.TrimLeft(ref, "/"), prefix); ok {
		return strings.Trim(s, "/")
	}
	return ""
}

func refusedAdvice(list []RefusedInput) string {
	var parts []string
	onlyTags := true
	for _, r := range list {
		s := r.Kind + " " + r.Ref
		if r.Suggestion != "" {
			s += fmt.Sprintf(" (write %s)", r.Suggestion)
		}
		parts = append(parts, s)
		onlyTags = onlyTags && r.Kind == "tag"
	}
	if onlyTags {
		return "The run has started; Kaggle dropped " + strings.Join(parts, ", ") + ". The run itself is not affected."
	}
	return "The run has started without " + strings.Join(parts, ", ") + ". Stop it or let it go on knowingly; correct the inputs before the next push."
}
