package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"sandglass/app/keychain"
	"sandglass/app/runlog"
	"sandglass/kaggle"
	"sandglass/kaggle/sandbox"
	"sandglass/runnerpack"
)

// TestExplain walks every kind of error the core can hand out: a title, a
// sentence, the exit status of product.md, and no secret.
func TestExplain(t *testing.T) {
	call := func(kind error, message string) error {
		return fmt.Errorf("push sam-roe/x: %w", &kaggle.Error{Op: "push", Kind: kind, Message: message})
	}
	log := func(kind error) error {
		return fmt.Errorf("list runs: %w", &runlog.Error{Op: "list runs", Path: "/home/sam/sandglass.db", Kind: kind, Err: errors.New("sqlite says so")})
	}
	guards := func(gs ...Guard) error { return fmt.Errorf("push: %w", &GuardError{Guards: gs}) }
	for _, tc := range []struct {
		name  string
		err   error
		title string
		says  string // in the sentence
		does  string // in the action
		exit  int
	}{
		{"a guard", guards(Guard{Code: "quota", Reason: "it would use 7.0 h and 3.1 h are left", Override: "--force"}), "Not pushed", "3.1 h are left. Nothing was sent.", "--force", ExitRefused},
		{"two guards, one flag", guards(Guard{Reason: "no slot", Override: "--force"}, Guard{Reason: "no hours", Override: "--force"}), "Not pushed", "No slot; no hours.", "same: --force.", ExitRefused},
		{"a guard without a flag", guards(Guard{Reason: "a", Override: "--force"}, Guard{Code: "size", Reason: "the script has 1.2 MB"}), "Not pushed", "1.2 MB", "cannot be overridden", ExitRefused},
		{"a refused push", &PushError{Run: RunRow{Kernel: "sam-roe/x"}, State: StateRefused, Message: "Maximum batch GPU session count of 2 reached", Advice: "Wait for a slot."}, "Kaggle refused the push", "session count", "Wait for a slot.", ExitFailed},
		{"an unclear push", &PushError{State: StateUnclear, Err: call(kaggle.ErrOffline, "")}, "The push may have arrived", "not known whether", "Do not push again", ExitFailed},
		{"a push that did not leave", &PushError{State: StateRefused, Err: call(kaggle.ErrOffline, "")}, "The push did not get through", "", "", ExitUnreachable},
		{"nobody", fmt.Errorf("quota: %w", ErrNoAccount), "Nobody is signed in", "nobody is signed in", "sandbox", ExitFailed},
		{"a bad credential", &BadCredentialError{Why: "Kaggle says that this token is not active"}, "Not signed in", "Nothing was stored", "new token", ExitFailed},
		{"a lost secret", &SecretMissingError{"sam-roe", "keychain"}, "Sign in again", "sam-roe", "Sign in again", ExitFailed},
		{"environment", &EnvironmentError{[]string{"KAGGLE_API_TOKEN"}}, "Still signed in", "KAGGLE_API_TOKEN", "", ExitFailed},
		{"no keychain", fmt.Errorf("store: %w", noKeychain()), "No keychain", "no Secret Service", "KAGGLE_API_TOKEN", ExitFailed},
		{"a cut secret", &keychain.Error{Kind: keychain.ErrNoReadBack, Reason: "cut"}, "The keychain did not keep it", "cut", "file", ExitFailed},
		{"a long secret", &keychain.Error{Kind: keychain.ErrTooLarge, Reason: "2,600 bytes"}, "Too long for the keychain", "2,600", "one token", ExitFailed},
		{"no such run", log(runlog.ErrNotFound), "Not in the run log", "", "sandglass log", ExitFailed},
		{"no such run, bare", runlog.ErrNotFound, "Not in the run log", "", "sandglass log", ExitFailed},
		{"a newer log", log(runlog.ErrNewer), "This Sandglass is too old", "left as it is", "Update", ExitFailed},
		{"a read-only home", log(runlog.ErrReadOnly), "Sandglass's folder cannot be written", "Nothing was changed", "SANDGLASS_HOME", ExitFailed},
		{"a full disk", log(runlog.ErrFull), "The disk is full", "is kept", "Free some space", ExitFailed},
		{"a damaged log", log(runlog.ErrCorrupt), "The run log is damaged", "left as it is", "copies beside it", ExitFailed},
		{"a locked log", log(runlog.ErrBusy), "The run log is locked", "Nothing was changed", "close the other program", ExitFailed},
		{"another trouble with the log", log(nil), "The run log could not be used", "", "", ExitFailed},
		{"a dead sign-in", call(kaggle.ErrUnauthorized, ""), "Kaggle does not accept the sign-in", "revoked", "Sign in again", ExitFailed},
		{"forbidden", call(kaggle.ErrForbidden, "Permission 'kernels.get' was denied"), "Not allowed", "Kaggle says: Permission", "", ExitFailed},
		{"not found", call(kaggle.ErrNotFound, ""), "Kaggle does not know it", "", "", ExitFailed},
		{"conflict", call(kaggle.ErrConflict, "exists"), "It collides with something else", "Kaggle says: exists.", "", ExitFailed},
		{"too many requests", call(kaggle.ErrRateLimited, ""), "Too many requests", "nothing was lost", "in a minute", ExitUnreachable},
		{"too many requests, with a time", &kaggle.Error{Kind: kaggle.ErrRateLimited, RetryAfter: 90 * time.Second}, "Too many requests", "", "Try again in 1m30s.", ExitUnreachable},
		{"offline", call(kaggle.ErrOffline, "dial"), "No connection to Kaggle", "nothing was changed", "network", ExitUnreachable},
		{"server error", call(kaggle.ErrUnavailable, "<html>"), "Kaggle is not available", "", "few minutes", ExitUnreachable},
		{"unreadable", call(kaggle.ErrMalformed, ""), "Kaggle's answer cannot be read", "", "newer Sandglass", ExitFailed},
		{"rejected", call(kaggle.ErrRejected, "title too long"), "Kaggle refused", "title too long", "", ExitFailed},
		{"unclear and offline", errors.Join(call(kaggle.ErrUnclear, ""), kaggle.ErrOffline), "It may have taken effect", "", "Look before", ExitFailed},
		{"stopped", fmt.Errorf("wait: %w", context.Canceled), "Stopped", "", "", ExitFailed},
		{"stopped at the keychain", &keychain.Error{Kind: keychain.ErrUnavailable, Reason: "given up", Err: context.Canceled}, "Stopped", "", "", ExitFailed},
		{"out of time", context.DeadlineExceeded, "It took too long", "", "", ExitFailed},
		{"no Python", fmt.Errorf("%w: install it with apt install python3", sandbox.ErrNoPython), "Python is missing", "apt install python3", "", ExitFailed},
		{"a full disk elsewhere", &fs.PathError{Op: "write", Path: "/data/oof.npy", Err: syscall.ENOSPC}, "The disk is full", "/data/oof.npy", "Free some space", ExitFailed},
		{"no permission", &fs.PathError{Op: "open", Path: "/root/x", Err: fs.ErrPermission}, "Not permitted", "/root/x", "", ExitFailed},
		{"a file that did not come", &CollectError{"sam-roe/x", "/p/out", 3, fmt.Errorf("1 of 4 files did not come (b.txt): %w", call(kaggle.ErrNotFound, "gone"))}, "Not everything came home", "(b.txt)", "", ExitFailed},
		{"a collect that broke off", &CollectError{"sam-roe/x", "/p/out", 1, call(kaggle.ErrOffline, "")}, "Not everything came home", "1 file is here in /p/out", "network", ExitUnreachable},
		{"a collect that was stopped", &CollectError{Err: context.Canceled}, "Stopped", "", "", ExitFailed},
		{"a spec", fmt.Errorf("build x: %w", &runnerpack.SpecError{Field: "hours", Reason: "-1 is not above 0"}), "That cannot be built", "hours: -1", "", ExitUsage},
		{"a title", &runnerpack.IdentityError{Title: "!!", Reason: "the title has no letter or digit"}, "That cannot be built", "no letter", "", ExitUsage},
		{"a machine", &runnerpack.AcceleratorError{Reason: "two machines"}, "That cannot be built", "two machines", "", ExitUsage},
		{"a wrong call", &CallError{Reason: "the pattern is no regular expression", Action: "write another"}, "That cannot be asked for", "no regular", "write another", ExitUsage},
		{"anything else", errors.New("folds.csv: row 7 has no fold"), "That did not work", "folds.csv: row 7 has no fold.", "", ExitFailed},
	} {
		e := Explain(tc.err)
		if e.Title != tc.title || e.Exit != tc.exit {
			t.Errorf("%s: got %q with exit %d, want %q with %d", tc.name, e.Title, e.Exit, tc.title, tc.exit)
		}
		if !strings.Contains(strings.ToLower(e.Sentence), strings.ToLower(tc.says)) || !strings.HasSuffix(e.Sentence, ".") {
			t.Errorf("%s: sentence %q, want it to say %q and to end", tc.name, e.Sentence, tc.says)
		}
		if !strings.Contains(e.Action, tc.does) {
			t.Errorf("%s: action %q, want %q in it", tc.name, e.Action, tc.does)
		}
		if e.Details == "" {
			t.Errorf("%s: no details for a report", tc.name)
		}
	}
	if e := Explain(nil); e != (Explained{}) {
		t.Errorf("no error: %+v", e)
	}
}

func TestExplainHidesSecrets(t *testing.T) {
	for _, text := range []string{
		"sent KGAT_0123456789abcdef_-x to it", "Authorization: Bearer abcdefghijklmnop", "basic c2FtLXJvZTowMTIzNDU2Nzg5",
		"key 0123456789abcdef0123456789abcdef was refused", `{"refresh_token": "abcdefghijklmnopqrstuv"}`,
	} {
		e := Explain(errors.New(text))
		for _, part := range []string{e.Sentence, e.Details} {
			if !strings.Contains(part, "[redacted]") || strings.Contains(part, "abcdef") || strings.Contains(part, "c2FtLXJv") {
				t.Errorf("%q became %q", text, part)
			}
		}
	}
	plain := "the key of sam-roe/cnx384-train version 3 at /home/sam/kaggle.json"
	if got := redact(plain); got != plain {
		t.Errorf("%q became %q", plain, got)
	}
}

func FuzzParseSignIn(f *testing.F) {
	for _, s := range []string{goodToken, "sam-roe:" + goodKey, `{"username":"a","key":"b"}`, "export KAGGLE_KEY=x", "{", "", ":", "a:b:c", "KAGGLE_API_TOKEN"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseSignIn(SignIn{Text: text})
		if err != nil {
			var bad *BadCredentialError
			if !errors.As(err, &bad) || len(text) > 24 && strings.Contains(err.Error(), text) {
				t.Errorf("got %v", err)
			}
			return
		}
		if c.oauth == nil && (c.secret == "" || strings.ContainsAny(c.secret.Reveal(), " \n\t")) {
			t.Errorf("took %q as a secret", text)
		}
	})
}
