package kaggle

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// DecodeLog reads the log of a finished run: a JSON array of records, one a line in real data. What is not that is still
// shown: an array that is cut off or damaged gives the records that can be read (LogCutOff), text that is no JSON gives a
// record a line (LogPlain), nothing at all is LogEmpty. It never fails, and its text is always valid UTF-8.
func DecodeLog(raw []byte) DecodedLog {
	b := bytes.TrimSpace(bytes.TrimPrefix(raw, []byte("\xEF\xBB\xBF")))
	if len(b) > 0 && b[0] == '"' { // the array still inside its JSON string
		var s string
		if json.Unmarshal(b, &s) == nil {
			b = []byte(strings.TrimSpace(s))
		}
	}
	if isNull(b) {
		return DecodedLog{Condition: LogEmpty}
	}
	if b[0] != '[' && b[0] != '{' {
		return plainLog(raw)
	}
	recs, whole := scanRecords(b)
	switch {
	case whole && len(recs) == 0:
		return DecodedLog{Condition: LogEmpty}
	case whole:
		return DecodedLog{Records: recs}
	case len(recs) == 0 && !looksLikeRecord(b):
		return plainLog(raw)
	}
	return DecodedLog{Records: recs, Condition: LogCutOff}
}

// scanRecords reads the elements of an array, or objects that stand one after another. From an element that cannot be read
// on it goes line by line, and reports that the log is not whole.
func scanRecords(b []byte) (recs []LogRecord, whole bool) {
	array := b[0] == '['
	if array {
		b = b[1:]
	}
	for {
		b = bytes.TrimLeft(b, " \t\r\n,")
		if len(b) == 0 {
			return recs, !array // an array has to be closed
		}
		if array && b[0] == ']' {
			return recs, true
		}
		el, rest, ok := firstValue(b)
		if !ok {
			return salvage(b, recs), false
		}
		recs = append(recs, decodeRecord(el))
		b = rest
	}
}

// firstValue splits a JSON value off.
func firstValue(b []byte) (el json.RawMessage, rest []byte, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(b))
	if dec.Decode(&el) != nil {
		return nil, b, false
	}
	return el, b[dec.InputOffset():], true
}

// salvage picks the records out of the lines behind a damage, which begins with the first. Looking at each line by itself
// keeps the work in proportion to the size of the log, whatever is in it.
func salvage(b []byte, recs []LogRecord) []LogRecord {
	first := true
	for line := range bytes.Lines(b) {
		if first {
			first = false
			continue
		}
		for {
			line = bytes.TrimLeft(line, " \t\r\n,")
			if len(line) == 0 || line[0] != '{' {
				break
			}
			el, rest, ok := firstValue(line)
			if !ok {
				break
			}
			recs, line = append(recs, decodeRecord(el)), rest
		}
	}
	return recs
}

// looksLikeRecord tells a log whose very first record is cut off from text that happens to start with a bracket.
func looksLikeRecord(b []byte) bool {
	rest := bytes.TrimLeft(b, "[ \t\r\n")
	return len(rest) == 0 || rest[0] == '{' && (len(bytes.TrimLeft(rest[1:], " \t\r\n")) == 0 || bytes.TrimLeft(rest[1:], " \t\r\n")[0] == '"')
}

// plainLog is text as it is, a record a line.
func plainLog(raw []byte) DecodedLog {
	text := strings.ToValidUTF8(string(raw), "\uFFFD")
	text = strings.TrimPrefix(text, "\uFEFF")
	var recs []LogRecord
	for line := range strings.Lines(text) {
		recs = append(recs, LogRecord{Stream: "stdout", Data: line})
	}
	return DecodedLog{Records: recs, Condition: LogPlain}
}

// decodeRecord reads one record as leniently as they were seen: time as text, text instead of data. A value that is no
// object is its own text. A lone half of a surrogate pair becomes U+FFFD.
func decodeRecord(el []byte) LogRecord {
	var doc struct {
		StreamName json.RawMessage `json:"stream_name"`
		Stream     json.RawMessage `json:"stream"`
		Time       json.RawMessage `json:"time"`
		Data       json.RawMessage `json:"data"`
		Text       json.RawMessage `json:"text"`
	}
	if json.Unmarshal(el, &doc) != nil {
		return LogRecord{Stream: "stdout", Data: cleanText(scalarText(el))}
	}
	rec := LogRecord{Stream: cleanText(scalarText(doc.StreamName)), Data: cleanText(scalarText(doc.Data))}
	if rec.Stream == "" {
		rec.Stream = cleanText(scalarText(doc.Stream))
	}
	if rec.Stream == "" {
		rec.Stream = "stdout"
	}
	if isNull(doc.Data) {
		rec.Data = cleanText(scalarText(doc.Text))
	}
	t := strings.TrimSuffix(strings.TrimSpace(scalarText(doc.Time)), "s")
	if f, err := strconv.ParseFloat(t, 64); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
		rec.Time = f
	}
	return rec
}

func cleanText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
