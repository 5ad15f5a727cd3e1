package kaggle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Int is a whole number that may arrive as a JSON number, as text or as null. It is written as a number.
type Int int64

// UnmarshalJSON accepts 4242, "4242", 4242.0, "" and null (both 0).
func (n *Int) UnmarshalJSON(b []byte) error {
	s := scalarText(b)
	if s == "" {
		*n = 0
		return nil
	}
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		*n = Int(v)
		return nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return fmt.Errorf("%s is not a whole number", snippet(b))
	}
	*n = Int(f)
	return nil
}

// Float is a number that may arrive as text or null.
type Float float64

// UnmarshalJSON accepts 0.5, "0.5", "" and null (both 0); not NaN or infinities.
func (x *Float) UnmarshalJSON(b []byte) error {
	s := scalarText(b)
	if s == "" {
		*x = 0
		return nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Errorf("%s is not a number", snippet(b))
	}
	*x = Float(f)
	return nil
}

// Timestamp is a point in time, in UTC. RFC 3339 with 0 to 9 fractional digits is read, with or without a zone (without:
// UTC). What cannot be read becomes the zero time, "unknown": a date is never worth losing the rest of an answer for.
type Timestamp struct{ time.Time }

// At makes a Timestamp for an answer.
func At(t time.Time) Timestamp { return Timestamp{t.UTC()} }

// MarshalJSON writes RFC 3339 in UTC, and null for the zero time.
func (t Timestamp) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(t.UTC().Format(time.RFC3339Nano))
}

// UnmarshalJSON never fails; see [Timestamp].
func (t *Timestamp) UnmarshalJSON(b []byte) error {
	t.Time = time.Time{}
	s := strings.TrimSpace(scalarText(b))
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"} {
		if v, err := time.Parse(layout, s); err == nil {
			t.Time = v.UTC()
			return nil
		}
	}
	return nil
}

// EnumWord is an enum value in its upper-case form. Numbers are kept as their digits.
type EnumWord string

// UnmarshalJSON accepts a word in any spelling, a number, and null.
func (w *EnumWord) UnmarshalJSON(b []byte) error {
	*w = EnumWord(upperSnake(scalarText(b)))
	return nil
}

// errNoDuration is what a missing or null duration gives: unknown is not zero.
var errNoDuration = errors.New("no duration was sent")

// ParseDuration reads a duration as Kaggle writes it: "5400s" with up to nine decimals, or {"seconds":"1800","nanos":5}.
// It is exact to the nanosecond. Missing, null, negative, other units ("1h") and plain numbers are errors.
func ParseDuration(raw json.RawMessage) (time.Duration, error) {
	b := bytes.TrimSpace(raw)
	switch {
	case isNull(b):
		return 0, errNoDuration
	case b[0] == '{':
		return parseDurationObject(b)
	case b[0] == '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return 0, fmt.Errorf("%s is not a duration", snippet(b))
		}
		return parseDurationText(s)
	}
	return 0, fmt.Errorf("%s is not a duration", snippet(b))
}

func parseDurationText(s string) (time.Duration, error) {
	bad := func() (time.Duration, error) {
		return 0, fmt.Errorf("%s is not a duration in seconds such as \"5400s\"", snippet([]byte(strconv.Quote(s))))
	}
	num, ok := strings.CutSuffix(s, "s")
	if !ok {
		return bad()
	}
	whole, frac, hasFrac := strings.Cut(num, ".")
	if !digits(whole) || hasFrac && (!digits(frac) || len(frac) > 9) {
		return bad()
	}
	sec, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return bad()
	}
	nanos := int64(0)
	if hasFrac {
		nanos, _ = strconv.ParseInt(frac+strings.Repeat("0", 9-len(frac)), 10, 64)
	}
	return joinDuration(sec, nanos)
}

func parseDurationObject(b []byte) (time.Duration, error) {
	var o struct {
		Seconds *Int `json:"seconds"`
		Nanos   Int  `json:"nanos"`
	}
	if err := json.Unmarshal(b, &o); err != nil || o.Seconds == nil {
		return 0, fmt.Errorf("%s is not a duration", snippet(b))
	}
	return joinDuration(int64(*o.Seconds), int64(o.Nanos))
}

func joinDuration(sec, nanos int64) (time.Duration, error) {
	if sec < 0 || nanos < 0 {
		return 0, fmt.Errorf("a duration of %d s is negative", sec)
	}
	if nanos >= int64(time.Second) || sec > math.MaxInt64/int64(time.Second)-1 {
		return 0, fmt.Errorf("a duration of %d s is out of range", sec)
	}
	return time.Duration(sec)*time.Second + time.Duration(nanos), nil
}

// FormatDuration writes seconds with an "s": "5400s", "72000.5s". Whole days stay part of the number. Negative is "0s".
func FormatDuration(d time.Duration) string {
	if d <= 0 {
		return "0s"
	}
	s := strconv.FormatInt(int64(d/time.Second), 10)
	if n := d % time.Second; n != 0 {
		s += "." + strings.TrimRight(fmt.Sprintf("%09d", int64(n)), "0")
	}
	return s + "s"
}

// DurationJSON is FormatDuration as a JSON string, for the fields of [QuotaPoolDoc].
func DurationJSON(d time.Duration) json.RawMessage {
	return json.RawMessage(`"` + FormatDuration(d) + `"`)
}

// isNull tells a value that was not sent.
func isNull(b []byte) bool {
	b = bytes.TrimSpace(b)
	return len(b) == 0 || bytes.Equal(b, []byte("null"))
}

// scalarText is the text of a JSON string, or the literal itself; null is "".
func scalarText(b []byte) string {
	b = bytes.TrimSpace(b)
	if isNull(b) {
		return ""
	}
	if b[0] == '"' {
		var s string
		if json.Unmarshal(b, &s) == nil {
			return s
		}
	}
	return string(b)
}

func digits(s string) bool {
	if s == "" {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// upperSnake turns cancelAcknowledged, Cancel-Acknowledged and cancel_acknowledged into CANCEL_ACKNOWLEDGED.
func upperSnake(s string) string {
	var out strings.Builder
	prevLower := false
	for _, r := range strings.TrimSpace(s) {
		switch {
		case unicode.IsUpper(r) && prevLower:
			out.WriteByte('_')
			out.WriteRune(r)
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			out.WriteRune(unicode.ToUpper(r))
		default:
			out.WriteByte('_')
		}
		prevLower = unicode.IsLower(r) || unicode.IsDigit(r)
	}
	return strings.Trim(out.String(), "_")
}

// snippet is the start of a value for an error text.
func snippet(b []byte) string {
	const most = 60
	s := strings.ToValidUTF8(string(b), "\uFFFD")
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
