package kaggle

import (
	"fmt"
	"io"
	"log/slog"
)

const redacted = "[redacted]"

// Secret is a credential. Every way of printing, logging or marshalling it gives "[redacted]"; only Reveal gives the value,
// and it belongs in a header, a request body or the keychain.
//
// One limit is Go's: fmt does not ask the methods of what stands in a private field. A struct that keeps a Secret privately
// needs a Format method of its own, or has to hold it inside a function, as the Authorizers of this package do.
type Secret string

// Reveal returns the credential itself.
func (s Secret) Reveal() string { return string(s) }

// String hides the value.
func (Secret) String() string { return redacted }

// GoString hides the value.
func (Secret) GoString() string { return redacted }

// Format hides the value under every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue hides the value.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON hides the value.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// MarshalText hides the value.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
