package runnerpack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
)

// ErrNotOurs says that a script is none that this program packed, or was changed since.
var ErrNotOurs = errors.New("it is not a script as this program packs it")

// The places of the values in a packed script, as bootstrap.py has them: what stands before and after each.
var scriptValues = [][2]string{{`"""`, `"""`}, {`CONFIG = json.loads(r'''`, `'''`}, {`PAYLOAD_SHA256 = "`, `"`}, {`PAYLOAD = "`, `"`}}

// WithHours is a packed script with another cap, in hours: byte for byte what Pack makes of the same spec with that cap, its build ID
// included. The session's own deadline follows from it. Whether the script is one of ours is proven by its build ID, a hash over all
// that travels.
//
// Errors: ErrNotOurs, or a *SpecError for hours that Pack refuses.
func WithHours(script string, hours float64) (string, error) {
	var values []string // doc, config, SHA-256 of the payload, payload
	var around []string // the text before each
	rest := script
	for _, mark := range scriptValues {
		before, after, ok := strings.Cut(rest, mark[0])
		value, end, ok2 := strings.Cut(after, mark[1])
		if !ok || !ok2 {
			return "", ErrNotOurs
		}
		values, around = append(values, value), append(around, before+mark[0])
		rest = mark[1] + end
	}
	t := template{around[0] + templateMarks[0] + around[1] + templateMarks[1] + around[2] + templateMarks[3] + around[3] + templateMarks[2] + rest}
	var c config
	known := json.NewDecoder(strings.NewReader(values[1]))
	known.DisallowUnknownFields() // what is not known here would be lost
	if err := known.Decode(&c); err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotOurs, err)
	}
	slug, was, _ := strings.Cut(c.BuildID, "@")
	idOf := func() (string, error) {
		c.BuildID = ""
		text, err := c.text()
		return t.buildID(slug, text, values[2]), err
	}
	switch id, err := idOf(); {
	case err != nil:
		return "", err
	case id != slug+"@"+was:
		return "", ErrNotOurs
	}
	switch {
	case math.IsNaN(hours) || hours <= 0 || hours > MaxHours:
		return "", &SpecError{"hours", fmt.Sprintf("%g is not above 0 and at most %g", hours, MaxHours)}
	case c.StallSeconds != nil && *c.StallSeconds > 3600*hours:
		return "", &SpecError{"stall", fmt.Sprintf("%g minutes are not within the cap of %g hours", *c.StallSeconds/60, hours)}
	}
	old := c.Hours
	c.Hours = hours
	id, err := idOf()
	if err != nil {
		return "", err
	}
	c.BuildID = id
	text, err := c.text()
	if err != nil {
		return "", err
	}
	doc := strings.Replace(values[0], "build "+slug+"@"+was+"\n", "build "+id+"\n", 1)
	if i := strings.LastIndex(doc, limitLine(c.Accelerator, old)); i >= 0 { // a command before it may hold the same words
		doc = doc[:i] + limitLine(c.Accelerator, hours) + doc[i+len(limitLine(c.Accelerator, old)):]
	}
	return string(t.fill(doc, text, []byte(values[3]), values[2])), nil
}

// limitLine is the sentence about the cap in the head of the script.
func limitLine(accelerator string, hours float64) string {
	return fmt.Sprintf("Runs on %s for at most %g hours\n", accelerator, hours)
}

// buildID is a hash of all that travels; text is the config with an empty ID, in place of the one that is made here.
func (t template) buildID(slug string, text []byte, payloadSHA string) string {
	return slug + "@" + hexSHA256(bytes.Join([][]byte{[]byte(t.text), text, []byte(payloadSHA)}, nil))[:10]
}
