// Package keychain is the one place that holds a secret: the operating system's
// keychain, and the two substitutes a person may choose when there is none.
//
// Start at OS. Every entry holds one small secret, never a bundle. A Store is
// safe for concurrent use, and no error of this package contains a secret.
package keychain

import (
	"context"
	"errors"
	"time"
)

// Service is the name under which entries stand in the operating system's keychain.
const Service = "sandglass"

// Kinds of failure. ErrUnavailable, ErrTooLarge and ErrNoReadBack are always
// wrapped in a sentence that gives the reason.
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

// OS is the operating system's keychain. A call that takes longer than timeout
// (0 = 3 s) gives ErrUnavailable.
func OS(timeout time.Duration) Store { return nil }

// Memory keeps secrets until the program ends.
func Memory() Store { return nil }

// File keeps secrets in a file that only the person can read. Use it only with
// their consent: anything that runs under their account can read it too.
func File(path string) Store { return nil }
