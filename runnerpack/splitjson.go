package runnerpack

import (
	"bytes"
	"encoding/json"
)

// splitFields are the fields of each kind, in the order in which they are
// written. All of them are written, whatever their value.
var splitFields = map[string][]string{
	"const":  {"value"},
	"range":  {"prefix", "suffix", "start", "step", "width"},
	"ints":   {"prefix", "suffix", "width", "blob", "xz"},
	"radix":  {"labels", "digits", "bytes", "blob", "xz"},
	"bytes":  {"labels", "blob", "xz"},
	"runs":   {"labels", "blob", "xz"},
	"repeat": {"period", "blob", "xz"},
	"chars":  {"mask", "slots", "alphabet", "digits", "bytes", "blob", "xz"},
	"text":   {"blob", "xz"},
	"front":  {"blob", "xz"},
}

// splitColumnJSON is SplitColumn for reading, and a source of values for writing.
type splitColumnJSON struct {
	Name     string   `json:"name"`
	Kind     string   `json:"kind"`
	Value    string   `json:"value"`
	Prefix   string   `json:"prefix"`
	Suffix   string   `json:"suffix"`
	Start    int64    `json:"start"`
	Step     int64    `json:"step"`
	Width    int      `json:"width"`
	Labels   []string `json:"labels"`
	Digits   int      `json:"digits"`
	Bytes    int      `json:"bytes"`
	Period   int      `json:"period"`
	Mask     string   `json:"mask"`
	Slots    []int    `json:"slots"`
	Alphabet string   `json:"alphabet"`
	Blob     string   `json:"blob"`
	XZ       bool     `json:"xz"`
}

// MarshalJSON writes the fields of the column's kind and no others.
func (c SplitColumn) MarshalJSON() ([]byte, error) {
	all, err := plainJSON(splitColumnJSON(c))
	if err != nil {
		return nil, err
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(all, &values); err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	buf.WriteByte('{')
	for i, f := range append([]string{"name", "kind"}, splitFields[c.Kind]...) {
		if i > 0 {
			buf.WriteByte(',')
		}
		buf.WriteString(`"` + f + `":`)
		buf.Write(values[f])
	}
	buf.WriteByte('}')
	return buf.Bytes(), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (c *SplitColumn) UnmarshalJSON(raw []byte) error {
	return json.Unmarshal(raw, (*splitColumnJSON)(c))
}
