package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"sandglass/app/keychain"
	"sandglass/app/runlog"
	"sandglass/kaggle"
	"sandglass/kaggle/sandbox"
	"sandglass/runnerpack"
)

// Exit statuses of a verb.
const (
	ExitDone        = 0
	ExitFailed      = 1 // the thing asked for failed
	ExitUsage       = 2 // the call was wrong
	ExitRefused     = 3 // a guard refused
	ExitUnreachable = 4 // Kaggle could not be reached
)

// Explained is an error in a person's words, the same in a dialog and on a terminal.
type Explained struct {
	Title    string // what failed, in a few words
	Sentence string // what happened, and what was kept
	Action   string // what to do next; may be ""
	Details  string // the whole error for a report, without secrets
	Exit     int    // exit status of a verb
}

// Explain puts an error into plain words. nil gives the zero value.
func Explain(err error) Explained {
	if err == nil {
		return Explained{}
	}
	e, ok := Explained{}, false
	for _, words := range []func(error) (Explained, bool){explainPush, explainStands, explainSpec, explainCollect, explainAccount, explainKeychain, explainRunlog, explainCall, explainMachine} {
		if e, ok = words(err); ok {
			break
		}
	}
	if !ok {
		e = Explained{Title: "That did not work", Sentence: err.Error(), Exit: ExitFailed}
	}
	e.Title, e.Action = redact(e.Title), redact(e.Action)
	e.Sentence = redact(sentence(e.Sentence))
	e.Details = redact(err.Error())
	return e
}

// explainPush speaks for what stands before and after a push.
func explainPush(err error) (Explained, bool) {
	var guard *GuardError
	if errors.As(err, &guard) {
		e := Explained{Title: "Not pushed", Exit: ExitRefused, Action: guardAction(guard.Guards)}
		var reasons []string
		for _, g := range guard.Guards {
			reasons = append(reasons, strings.TrimRight(g.Reason, "."))
		}
		e.Sentence = strings.Join(reasons, "; ") + ". Nothing was sent."
		return e, true
	}
	var resume *ResumeError
	if errors.As(err, &resume) {
		return Explained{Title: "No follow-up", Sentence: resume.Kernel + ": " + resume.Reason, Action: resume.Action, Exit: ExitFailed}, true
	}
	var push *PushError
	if !errors.As(err, &push) {
		return Explained{}, false
	}
	e := Explained{Title: "Kaggle refused the push", Sentence: push.Error(), Action: push.Advice, Exit: ExitFailed}
	switch {
	case push.State == StateUnclear:
		e.Title = "The push may have arrived"
		if e.Action == "" {
			e.Action = "Do not push again: Sandglass looks which version exists and goes on from there."
		}
	case errors.Is(err, kaggle.ErrRateLimited):
		e.Title, e.Exit = "Kaggle asks for a pause", ExitUnreachable
	case errors.Is(err, kaggle.ErrOffline), errors.Is(err, kaggle.ErrUnavailable):
		e.Title, e.Exit = "The push did not get through", ExitUnreachable
	}
	return e, true
}

// explainSpec speaks for a run that was asked for in a way that cannot be: the call was wrong, whatever Kaggle would say.
func explainSpec(err error) (Explained, bool) {
	var spec *runnerpack.SpecError
	var identity *runnerpack.IdentityError
	var machine *runnerpack.AcceleratorError
	var call *CallError
	switch {
	case errors.As(err, &call):
		return Explained{Title: "That cannot be asked for", Sentence: err.Error(), Action: call.Action, Exit: ExitUsage}, true
	case errors.As(err, &spec), errors.As(err, &identity), errors.As(err, &machine):
		return Explained{Title: "That cannot be built", Sentence: err.Error(), Exit: ExitUsage}, true
	}
	return Explained{}, false
}

// explainCollect speaks for files that did not come: which, why, and what is here. Words about Kaggle as a whole, or about a
// kernel's name, would be wrong for one file.
func explainCollect(err error) (Explained, bool) {
	var c *CollectError
	if !errors.As(err, &c) || errors.Is(err, context.Canceled) {
		return Explained{}, false
	}
	why := Explain(c.Err)
	e := Explained{Title: "Not everything came home", Sentence: c.Error(), Exit: why.Exit}
	if errors.Is(err, kaggle.ErrUnauthorized) || why.Exit == ExitUnreachable || isFull(err) || errors.Is(err, fs.ErrPermission) {
		e.Action = why.Action
	}
	return e, true
}

// guardAction names the flags that override what can be overridden.
func guardAction(guards []Guard) string {
	var flags []string
	for _, g := range guards {
		if g.Override == "" && g.Advice != "" {
			return g.Advice
		}
		if g.Override == "" {
			return "This cannot be overridden: change it and try again."
		}
		if !strings.Contains(strings.Join(flags, " ")+" ", g.Override+" ") {
			flags = append(flags, g.Override)
		}
	}
	if len(flags) == 0 {
		return ""
	}
	action := "To go on all the same: " + strings.Join(flags, " ") + "."
	if !slices.ContainsFunc(guards, func(g Guard) bool { return !g.Waits }) && !slices.Contains(flags, "--queue") {
		action += " To let it wait for that and go out by itself: --queue."
	}
	return action
}

// explainAccount speaks for signing in and out.
func explainAccount(err error) (Explained, bool) {
	var bad *BadCredentialError
	var env *EnvironmentError
	var gone *SecretMissingError
	switch {
	case errors.As(err, &bad):
		return Explained{Title: "Not signed in", Sentence: bad.Why + ". Nothing was stored.", Exit: ExitFailed,
			Action: "Make a new token on kaggle.com under Settings, API, and paste it whole."}, true
	case errors.As(err, &env):
		return Explained{Title: "Still signed in", Sentence: env.Error(), Exit: ExitFailed}, true
	case errors.As(err, &gone):
		return Explained{Title: "Sign in again", Sentence: fmt.Sprintf("The sign-in of %s is no longer in the %s; the runs in the log are kept.", gone.Username, gone.Store),
			Action: "Sign in again.", Exit: ExitFailed}, true
	case errors.Is(err, ErrNoAccount):
		return Explained{Title: "Nobody is signed in", Sentence: err.Error(), Exit: ExitFailed,
			Action: "Sign in, import what the Kaggle program left here (sandglass import), set KAGGLE_API_TOKEN, or try the sandbox."}, true
	}
	return Explained{}, false
}

// explainKeychain speaks for where secrets are kept.
func explainKeychain(err error) (Explained, bool) {
	var ke *keychain.Error
	reason := ""
	if errors.As(err, &ke) {
		reason = ": " + ke.Reason
	}
	switch {
	case errors.Is(err, context.Canceled):
		return Explained{}, false // the person gave up waiting for it
	case errors.Is(err, keychain.ErrTooLarge):
		return Explained{Title: "Too long for the keychain", Sentence: "The secret was not stored" + reason, Action: "Paste one token, not a whole file; or keep it until Sandglass closes.", Exit: ExitFailed}, true
	case errors.Is(err, keychain.ErrNoReadBack):
		return Explained{Title: "The keychain did not keep it", Sentence: "The secret was not stored" + reason, Action: "Keep it until Sandglass closes, or in a file only you can read.", Exit: ExitFailed}, true
	case errors.Is(err, keychain.ErrUnavailable):
		return Explained{Title: "No keychain", Sentence: "The system keychain cannot be used" + reason,
			Action: "Keep the sign-in until Sandglass closes (--store memory) or in a file only you can read (--store file); without a desktop set KAGGLE_API_TOKEN.", Exit: ExitFailed}, true
	}
	return Explained{}, false
}

// explainRunlog speaks for our own file.
func explainRunlog(err error) (Explained, bool) {
	var re *runlog.Error
	if !errors.As(err, &re) {
		if errors.Is(err, runlog.ErrNotFound) {
			return Explained{Title: "Not in the run log", Sentence: err.Error(), Action: "sandglass log lists the runs that are.", Exit: ExitFailed}, true
		}
		return Explained{}, false
	}
	e := Explained{Title: "The run log could not be used", Sentence: re.Error(), Exit: ExitFailed}
	switch re.Kind {
	case runlog.ErrNotFound:
		e.Title, e.Action = "Not in the run log", "sandglass log lists the runs that are."
	case runlog.ErrNewer:
		e.Title, e.Sentence = "This Sandglass is too old", "The run log "+re.Path+" was written by a newer Sandglass. It was left as it is."
		e.Action = "Update Sandglass, or set SANDGLASS_HOME to another folder."
	case runlog.ErrReadOnly:
		e.Title, e.Sentence = "Sandglass's folder cannot be written", "The run log "+re.Path+" cannot be written. Nothing was changed."
		e.Action = "Make its folder writable, or set SANDGLASS_HOME to one that is."
	case runlog.ErrFull:
		e.Title, e.Sentence = "The disk is full", "There is no space left for the run log "+re.Path+". What was in it is kept."
		e.Action = "Free some space and try again."
	case runlog.ErrCorrupt:
		e.Title, e.Sentence = "The run log is damaged", re.Path+" is damaged or is no run log of Sandglass. It was left as it is."
		e.Action = "\"sandglass log --set-aside\" moves it away, deletes nothing and starts a new one; or put back one of the copies beside it. Results in your project folders are not touched by either."
	case runlog.ErrBusy:
		e.Title, e.Sentence = "The run log is locked", "Another program keeps the run log "+re.Path+" locked. Nothing was changed."
		e.Action = "Try again, and close the other program if it hangs."
	}
	return e, true
}

// explainCall speaks for an answer of Kaggle's, or its absence.
func explainCall(err error) (Explained, bool) {
	var ke *kaggle.Error
	said := ""
	if errors.As(err, &ke) && ke.Message != "" {
		said = " Kaggle says: " + strings.TrimRight(ke.Message, ".") + "."
	}
	for _, w := range callWords {
		if !errors.Is(err, w.kind) {
			continue
		}
		e := Explained{Title: w.title, Sentence: w.sentence, Action: w.action, Exit: w.exit}
		if w.quote {
			e.Sentence += said
		}
		if ke != nil && ke.RetryAfter > 0 {
			e.Action = "Try again in " + ke.RetryAfter.Round(time.Second).String() + "."
		}
		return e, true
	}
	return Explained{}, false
}

// callWords are the words for each kind. Unclear comes first: its cause is often
// one of the others, and the doubt is what matters.
var callWords = []struct {
	kind                    error
	title, sentence, action string
	quote                   bool // add Kaggle's own words
	exit                    int
}{
	{context.Canceled, "Stopped", "It was stopped; what was finished is kept.", "", false, ExitFailed},
	{context.DeadlineExceeded, "It took too long", "The time given was over before it was done; what was finished is kept.", "Try again.", false, ExitFailed},
	{kaggle.ErrUnclear, "It may have taken effect", "The connection broke before Kaggle's answer came, so it is not known whether this took effect.", "Look before repeating it.", false, ExitFailed},
	{kaggle.ErrUnauthorized, "Kaggle does not accept the sign-in", "The token or key has been revoked or has expired.", "Sign in again with a new token from kaggle.com, Settings, API.", false, ExitFailed},
	{kaggle.ErrForbidden, "Not allowed", "Kaggle does not let this account do that; an unknown private kernel is answered the same way.", "Check the name, and whose it is.", true, ExitFailed},
	{kaggle.ErrNotFound, "Kaggle does not know it", "There is nothing of that name at Kaggle.", "Check the name; what was pushed a moment ago can take a minute to appear.", true, ExitFailed},
	{kaggle.ErrConflict, "It collides with something else", "Kaggle refused because something of that name or state exists already.", "Wait a moment and look at its state before trying again.", true, ExitFailed},
	{kaggle.ErrRateLimited, "Too many requests", "Kaggle asks for a pause; nothing was lost.", "Try again in a minute.", false, ExitUnreachable},
	{kaggle.ErrOffline, "No connection to Kaggle", "Kaggle could not be reached; nothing was changed.", "Check the network and try again. Runs at Kaggle go on meanwhile.", false, ExitUnreachable},
	{kaggle.ErrUnavailable, "Kaggle is not available", "Kaggle answered with an error of its own; nothing was lost.", "Try again in a few minutes. Runs at Kaggle go on meanwhile.", false, ExitUnreachable},
	{kaggle.ErrMalformed, "Kaggle's answer cannot be read", "The answer does not have the form that is known; what was known before is kept.", "Try again; if it stays, Kaggle has changed something: look for a newer Sandglass.", false, ExitFailed},
	{kaggle.ErrRejected, "Kaggle refused", "Kaggle did not accept the request.", "", true, ExitFailed},
}

// explainMachine speaks for this computer.
func explainMachine(err error) (Explained, bool) {
	switch {
	case errors.Is(err, sandbox.ErrNoPython):
		return Explained{Title: "Python is missing", Sentence: err.Error(), Exit: ExitFailed}, true
	case errors.Is(err, syscall.ENOSPC):
		return Explained{Title: "The disk is full", Sentence: err.Error(), Action: "Free some space and try again; what was finished is kept.", Exit: ExitFailed}, true
	case errors.Is(err, fs.ErrPermission):
		return Explained{Title: "Not permitted", Sentence: err.Error(), Action: "Check who may read and write there.", Exit: ExitFailed}, true
	}
	return Explained{}, false
}

// sentence gives a text a capital and a full stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return s
	}
	first, n := utf8.DecodeRuneInString(s)
	if word, _, _ := strings.Cut(s, " "); !strings.ContainsAny(word, "/\\._") { // no paths, no file names
		s = string(unicode.ToUpper(first)) + s[n:]
	}
	if !strings.ContainsAny(s[len(s)-1:], ".!?") {
		s += "."
	}
	return s
}

// secretShapes are what a credential looks like in a text. The packages below
// never put one there; this is the last door before a screen.
var secretShapes = regexp.MustCompile(`KGAT_[A-Za-z0-9_-]+|(?i:\b(?:bearer|basic)\s+)[A-Za-z0-9+/=._~-]{8,}|\b[0-9a-f]{32}\b|(?i:"?(?:key|token|access_token|refresh_token)"?\s*[:=]\s*"?)[A-Za-z0-9+/=._~-]{16,}`)

func redact(text string) string { return secretShapes.ReplaceAllString(text, "[redacted]") }
