package kaggle

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// Whatever a log holds: it is read, its text is UTF-8, its lines have no line ends and no escapes, and reading it in
// pieces gives the same lines.
func FuzzDecodeLog(f *testing.F) {
	for _, name := range []string{"full.log", "truncated.log", "plain.log", "empty.log"} {
		f.Add(caseFile(f, "06-log-encodings", name))
	}
	for _, s := range []string{`[{"data":"a\r\u001b[2Kb"}]`, `"[]"`, "[INFO]", `[1,"a",null,{}]`, "[{\"data\":\"\x1b]0;", `{"data":"\u001b[9999999999C\u0007x"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		log := DecodeLog(raw)
		if log.Condition == LogOK && len(log.Records) == 0 {
			t.Error("an empty log is called whole")
		}
		var b LineBuilder
		var pieces []string
		for _, r := range log.Records {
			if !utf8.ValidString(r.Data) || !utf8.ValidString(r.Stream) {
				t.Errorf("record %q %q is not UTF-8", r.Stream, r.Data)
			}
			for _, c := range r.Data {
				pieces = append(pieces, b.Add(LogRecord{Stream: r.Stream, Data: string(c)})...)
			}
		}
		pieces = append(pieces, b.Flush()...)
		lines := LogLines(log.Records)
		if strings.Join(lines, "\n") != strings.Join(pieces, "\n") {
			t.Errorf("in pieces %q, at once %q", pieces, lines)
		}
		for _, l := range lines {
			if !utf8.ValidString(l) || strings.ContainsAny(l, "\n\r\x1b\x00\a") {
				t.Errorf("line %q", l)
			}
		}
	})
}

// A stream of any bytes ends, and cutting it into reads of any size changes nothing.
func FuzzSSE(f *testing.F) {
	f.Add(caseFile(f, "18-sse-replay", "connection-1.sse"), 3)
	f.Add(caseFile(f, "18-sse-replay", "connection-2.sse"), 1)
	f.Add([]byte("data: a\r\n\r\ndata\rdata:b\n\n: c\n"), 2)
	f.Add([]byte("\xEF\xBB\xBFdata: END_OF_LOG"), 5)
	f.Fuzz(func(t *testing.T, raw []byte, size int) {
		read := func(r io.Reader) (out []LogRecord, last error) {
			s := newSSEReader(r)
			for {
				data, err := s.next()
				if err != nil {
					if err != io.EOF && !errors.Is(err, errHalfEvent) {
						t.Fatalf("error %v", err)
					}
					return out, err
				}
				recs, end := eventRecords(data)
				out = append(out, recs...)
				if end {
					return out, nil
				}
			}
		}
		a, errA := read(bytes.NewReader(raw))
		b, errB := read(&smallReads{r: bytes.NewReader(raw), size: 1 + (size&0x7fffffff)%7})
		if errA != errB || len(a) != len(b) {
			t.Fatalf("%d records %v, in small reads %d %v", len(a), errA, len(b), errB)
		}
		for i := range a {
			if a[i] != b[i] || !utf8.ValidString(a[i].Data) {
				t.Errorf("record %d: %+v, %+v", i, a[i], b[i])
			}
		}
	})
}

type smallReads struct {
	r    io.Reader
	size int
}

func (s *smallReads) Read(p []byte) (int, error) { return s.r.Read(p[:min(len(p), s.size)]) }

// A duration that is read is not negative and survives being written.
func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{`"0s"`, `"5400s"`, `"72000.500s"`, `"108000.000000001s"`, `{"seconds":"1800"}`, `{"seconds":1,"nanos":5}`, `"1h"`, `"-5s"`, `null`, `5`, `"9223372035.9s"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := ParseDuration(raw)
		if err != nil {
			return
		}
		again, err := ParseDuration(DurationJSON(d))
		if d < 0 || err != nil || again != d {
			t.Errorf("%q: %v, again %v, %v", raw, d, again, err)
		}
	})
}

// A cleaned path stays inside every folder and cleans to itself.
func FuzzCleanOutputPath(f *testing.F) {
	for _, s := range []string{"a/b", "../x", "a/../../b", "/x", `C:\x`, "CON", "a//./b", "x\x00", "\xff", "nul.txt", "..", "a/b:c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		for _, goos := range []string{"linux", "windows"} {
			p, err := cleanOutputPath(name, goos)
			if err != nil {
				continue
			}
			if !filepath.IsLocal(p) || strings.Contains(p, `\`) || strings.HasPrefix(p, "/") {
				t.Errorf("%q becomes %q", name, p)
			}
			if again, err := cleanOutputPath(p, goos); err != nil || again != p {
				t.Errorf("%q becomes %q and then %q, %v", name, p, again, err)
			}
		}
	})
}

// An address that is read is clean, and reads as itself.
func FuzzParseRef(f *testing.F) {
	for _, s := range []string{"a/b", "/code/a/b", "https://www.kaggle.com/code/a/b?x=1", "A/B", "a/b/c", "https://x/code/a/b", "code/a/b", "www.kaggle.com/a/b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRef(s)
		if err != nil {
			if !r.IsZero() {
				t.Errorf("%q: %v with an error", s, r)
			}
			return
		}
		if again, err := ParseRef(r.String()); err != nil || again != r || r.String() != strings.ToLower(r.String()) {
			t.Errorf("%q: %v, again %v, %v", s, r, again, err)
		}
		if web, err := ParseRef(r.WebURL()); err != nil || web != r {
			t.Errorf("%q: %v, from its page %v, %v", s, r, web, err)
		}
	})
}

// A status in any form is a state, never a failure.
func FuzzParseSessionState(f *testing.F) {
	for _, s := range []string{`"RUNNING"`, `"cancelAcknowledged"`, `1`, `null`, ``, `{}`, `"x"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		state, word := ParseSessionState(json.RawMessage(raw))
		if state < StateUnknown || state > StateError || !utf8.ValidString(word) {
			t.Errorf("%q: %d %q", raw, state, word)
		}
	})
}
