package runnerpack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// plainJSON is json.Marshal without the escapes for HTML.
func plainJSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}

// asciiJSON writes every character outside ASCII, every apostrophe and DEL as
// an escape, so that the text can stand in a raw Python literal of an ASCII file.
func asciiJSON(raw []byte) []byte {
	out := make([]byte, 0, len(raw)+len(raw)/8)
	for len(raw) > 0 {
		r, n := utf8.DecodeRune(raw)
		switch {
		case r == '\'' || r == 0x7f || (r > 0x7f && r < 0x10000):
			out = fmt.Appendf(out, `\u%04x`, r)
		case r >= 0x10000:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = append(out, raw[0])
		}
		raw = raw[n:]
	}
	return out
}
