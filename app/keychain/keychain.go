// Package keychain is the one place that holds a secret: the operating system's
// keychain, and the two substitutes a person may choose when there is none.
//
// Start at OS. Every entry holds one small secret, never a bundle. A Store is
// safe for concurrent use, and no error of this package contains a secret.
package keychain

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Service is the name under which entries stand in the operating system's keychain.
const Service = "sandglass"

// Kinds of failure, for errors.Is. All but ErrNotFound come as an *Error that gives the reason.
var (
	ErrNotFound    = errors.New("no such entry")
	ErrUnavailable = errors.New("the keychain is not available")
	ErrTooLarge    = errors.New("the secret is too large for a keychain")
	ErrNoReadBack  = errors.New("the keychain did not give back what was stored")
)

// Store holds secrets by account name.
type Store interface {
	// Set stores a secret; "" deletes the entry. ErrUnavailable, ErrTooLarge, ErrNoReadBack.
	Set(ctx context.Context, account string, secret string) error
	// Get gives a secret. ErrNotFound, ErrUnavailable.
	Get(ctx context.Context, account string) (string, error)
	// Delete removes an entry; one that is not there is no error. ErrUnavailable.
	Delete(ctx context.Context, account string) error
	// Name says where the secrets are: "keychain", "file", "memory".
	Name() string
}

// Error is a failure with its reason in plain words.
type Error struct {
	Kind   error  // ErrUnavailable, ErrTooLarge, ErrNoReadBack
	Reason string // one clause, without a secret
	Err    error  // a context's error when the caller gave up, else nil
}

// Error is the kind and the reason.
func (e *Error) Error() string { return fmt.Sprintf("%v: %s", e.Kind, e.Reason) }

// Unwrap gives the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

func unavailable(format string, args ...any) error {
	return &Error{Kind: ErrUnavailable, Reason: fmt.Sprintf(format, args...)}
}

// MaxSecret is how long a secret may be, in bytes: the smallest limit among the
// systems, that of the Windows Credential Manager. A letter beyond ASCII takes
// two bytes or more. (The macOS command line takes about 3,000 bytes before it
// is encoded, the Linux Secret Service practically anything.) One limit holds
// everywhere, so that what works on one machine works on all.
const MaxSecret = 2560

// checkSize refuses what does not fit, before any system gets to cut it off.
func checkSize(secret string) error {
	if len(secret) <= MaxSecret {
		return nil
	}
	letters := ""
	if n := len([]rune(secret)); n != len(secret) {
		letters = fmt.Sprintf(" (%d characters; those beyond ASCII count double or more)", n)
	}
	return &Error{Kind: ErrTooLarge, Reason: fmt.Sprintf("it has %d bytes%s and the Windows Credential Manager takes at most %d, so Sandglass stores no more on any system; store one token or key, not a whole file", len(secret), letters, MaxSecret)}
}

// hide takes a secret out of a text that came from elsewhere.
func hide(text, secret string) string {
	if secret == "" {
		return text
	}
	return strings.ReplaceAll(text, secret, "[redacted]")
}
