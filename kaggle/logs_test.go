package kaggle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Trap 20: records are chunks, not lines; a terminal's view of them.
func TestLogLines(t *testing.T) {
	rec := func(chunks ...string) []LogRecord {
		var out []LogRecord
		for _, c := range chunks {
			stream, data, ok := strings.Cut(c, "|")
			if !ok {
				stream, data = "stdout", c
			}
			out = append(out, LogRecord{Stream: stream, Data: data})
		}
		return out
	}
	for _, tc := range []struct {
		name string
		in   []LogRecord
		want []string
	}{
		{"nothing", nil, nil},
		{"chunks", rec("a", "b\nc", "\n"), []string{"ab", "c"}},
		{"empty lines", rec("\n\na\n"), []string{"", "", "a"}},
		{"no end", rec("a\nb"), []string{"a", "b"}},
		{"CRLF", rec("a\r\nb\r", "\nc"), []string{"a", "b", "c"}},
		{"overwriting", rec("10%\r", "100%\n"), []string{"100%"}},
		{"a shorter overwriting leaves the tail", rec("abcdef\rxy\n"), []string{"xycdef"}},
		{"erased by blanks", rec("progress\r        \rdone\n"), []string{"done"}},
		{"erased to the end", rec("progress\r\x1b[Kdone\n"), []string{"done"}},
		{"whole line erased", rec("progress\x1b[2K\rdone\n"), []string{"done"}},
		{"erased to the start", rec("abcdef\x1b[3D\x1b[1K\n"), []string{"    ef"}},
		{"blanks at the end stay", rec("a  \n"), []string{"a  "}},
		{"colours", rec("\x1b[1;32mok\x1b[0m\x1b[38;2;1;2;3m!\x1b[m\n"), []string{"ok!"}},
		{"a colour over two chunks", rec("\x1b[3", "2mok\x1b", "[0m\n"), []string{"ok"}},
		{"title", rec("\x1b]0;window title\x07a\x1b]8;;https://example.invalid\x1b\\link\x1b]8;;\x1b\\\n"), []string{"alink"}},
		{"title that never ends", rec("\x1b]0;oops\nb\n"), []string{"", "b"}},
		{"device string", rec("\x1bPq#0;2\x1b\\a\n"), []string{"a"}},
		{"cursor junk", rec("\x1b[?25la\x1b[2A\x1b[1B\x1b[?25h\x1b(Bb\x1b7\x1b8\x1b=c\n"), []string{"abc"}},
		{"C1 forms", rec("\u009b31ma\u009d0;t\u009cb\u0085\n"), []string{"ab"}},
		{"back and forward", rec("abc\b\bX\n", "a\x1b[3Cb\n", "abc\x1b[1GZ\n"), []string{"aXc", "a   b", "Zbc"}},
		{"deleted characters", rec("abcdef\x1b[5D\x1b[2P\n"), []string{"adef"}},
		{"far cursor", rec("\x1b[99999999Cx\n"), []string{strings.Repeat(" ", maxColumn) + "x"}},
		{"control characters", rec("nul:\x00 \x01\x7f bell\a tab\there\n"), []string{"nul:␀ ␁␡ bell tab\there"}},
		{"streams keep apart", rec("out|one ", "err|warn\n", "out|two\n", "err|half"), []string{"warn", "one two", "half"}},
		{"escape at the end", rec("a\x1b"), []string{"a"}},
		{"wide letters", rec("葉\r木\n🍃\n"), []string{"木", "🍃"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := LogLines(tc.in); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
	var b LineBuilder
	b.Add(LogRecord{Data: "50%"})
	if p := b.Pending(); len(p) != 1 || p[0] != "50%" {
		t.Errorf("pending %q", p)
	}
	if l := b.Add(LogRecord{Data: "\r51%\n"}); len(l) != 1 || l[0] != "51%" || b.Pending() != nil {
		t.Errorf("line %q", l)
	}
}

func TestDecodeRecordIsLenient(t *testing.T) {
	for in, want := range map[string]LogRecord{
		`{"stream_name":"stderr","time":"3.5","data":"x"}`: {"stderr", 3.5, "x"},
		`{"stream":"stderr","time":"2s","text":"x"}`:       {"stderr", 2, "x"},
		`{"data":null,"text":"x","time":null}`:             {"stdout", 0, "x"},
		`{"data":5,"time":"NaN"}`:                          {"stdout", 0, "5"},
		`"just text"`:                                      {"stdout", 0, "just text"},
		`{"stream_name":"stdout","data":"lone \udf43 x"}`:  {"stdout", 0, "lone \uFFFD x"},
	} {
		if got := decodeRecord([]byte(in)); got != want {
			t.Errorf("%s: %+v", in, got)
		}
	}
}

// Traps 23 and 24: lines longer than 64 KiB, every line end, comments, other fields, text that is no JSON.
func TestSSEReader(t *testing.T) {
	long := strings.Repeat("x", 300<<10)
	for _, tc := range []struct {
		name, in string
		want     []string
		end      bool
		err      error
	}{
		{"plain text", "data: hello\n\n", []string{"hello\n"}, false, io.EOF},
		{"no blank after the colon", "data:{\"data\":\"a\"}\n\n", []string{"a"}, false, io.EOF},
		{"long line", "data: {\"data\":\"" + long + "\"}\n\n", []string{long}, false, io.EOF},
		{"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"a\n", "b\n"}, false, io.EOF},
		{"CR", "data: a\r\rdata: b\r\r", []string{"a\n", "b\n"}, false, io.EOF},
		{"byte-order mark", "\xEF\xBB\xBFdata: a\n\n", []string{"a\n"}, false, io.EOF},
		{"other fields", ": c\nevent: log\nid: 4\nretry: 9\ndata: a\n\nid: 5\n\n", []string{"a\n"}, false, io.EOF},
		{"several data lines", "data: {\"data\":\ndata: \"a\"}\n\n", []string{"a"}, false, io.EOF},
		{"no blank lines between records", "data: {\"data\":\"a\"}\ndata: {\"data\":\"b\"}\ndata: END_OF_LOG\n\n", []string{"a", "b"}, true, nil},
		{"text over two lines", "data: a\ndata: b\n\n", []string{"a\n", "b\n"}, false, io.EOF},
		{"end without a blank line", "data: END_OF_LOG", nil, true, nil},
		{"after the end", "data: END_OF_LOG\n\ndata: x\n\n", nil, true, nil},
		{"half an event", "data: a\n\ndata: b\n", []string{"a\n"}, false, errHalfEvent},
		{"half a line", "data: a\n\nda", []string{"a\n"}, false, errHalfEvent},
		{"empty data", "data\n\n", []string{"\n"}, false, io.EOF},
		{"nothing", "", nil, false, io.EOF},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newSSEReader(strings.NewReader(tc.in))
			var got []string
			for {
				data, err := s.next()
				if err != nil {
					if err != tc.err || tc.end {
						t.Errorf("error %v, want %v", err, tc.err)
					}
					break
				}
				recs, end := eventRecords(data)
				for _, r := range recs {
					got = append(got, r.Data)
				}
				if end {
					if !tc.end {
						t.Error("it ended")
					}
					break
				}
			}
			if !reflect.DeepEqual(got, tc.want) {
				t.Errorf("%.200q, want %.200q", got, tc.want)
			}
		})
	}
}

func event(i int) string { return fmt.Sprintf("data: {\"data\":\"%d\\n\"}\n\n", i) }

func stream(w http.ResponseWriter) { w.Header().Set("Content-Type", "text/event-stream") }

// Trap 23: a stream may just end; the caller asks for the status and follows again with a count.
func TestFollowLogThatJustEnds(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		stream(w)
		_, _ = io.WriteString(w, event(1)+event(2))
	})
	for skip, want := range map[int]string{0: "1\n2\n", 1: "2\n", 2: "", 7: ""} {
		got, end, err := follow(t.Context(), c, 0, skip)
		if err != nil || end != LogDropped || got != want {
			t.Errorf("skip %d: %q %v %v", skip, got, end, err)
		}
	}
}

// Trap 21 and the idle limit: a silent stream is opened again after four minutes, keep-alives count as life, and a follow
// outlives any number of cuts as long as something new comes.
func TestFollowLogOverHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const cuts = 40
		var conns atomic.Int32
		c := inBubble(t, func(w http.ResponseWriter, r *http.Request) {
			stream(w)
			n := int(conns.Add(1))
			for i := range n { // replayed from the start, one more each time
				_, _ = io.WriteString(w, event(i))
			}
			if n == cuts {
				_, _ = io.WriteString(w, "data: END_OF_LOG\n\n")
				return
			}
			for range 3 { // kept alive for six minutes, then silent
				time.Sleep(2 * time.Minute)
				_, _ = io.WriteString(w, ": keep-alive\n\n")
			}
			<-r.Context().Done()
		})
		start, got := time.Now(), 0
		end, err := c.FollowLog(t.Context(), testRef, 0, 0, func(r LogRecord) error {
			if r.Data != fmt.Sprintf("%d\n", got) {
				t.Errorf("record %d is %q", got, r.Data)
			}
			got++
			return nil
		})
		if err != nil || end != LogEnded || got != cuts {
			t.Errorf("%v %v after %d records", end, err, got)
		}
		if want := (cuts - 1) * (6*time.Minute + streamIdle + reconnectDelay); time.Since(start) != want {
			t.Errorf("took %v, want %v", time.Since(start), want)
		}
		synctest.Wait()
	})
}

// A training run may print nothing for an hour: streams that were merely cut for being quiet are opened again without end.
func TestFollowLogOutlastsAQuietRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const quiet = 20 // connections, well over an hour
		var conns atomic.Int32
		c := inBubble(t, func(w http.ResponseWriter, r *http.Request) {
			stream(w)
			_, _ = io.WriteString(w, event(0))
			if conns.Add(1) > quiet {
				_, _ = io.WriteString(w, event(1)+"data: END_OF_LOG\n\n")
				return
			}
			if conns.Load()%2 == 0 { // a balancer cuts it
				time.Sleep(3 * time.Minute)
				panic(http.ErrAbortHandler)
			}
			<-r.Context().Done() // or our own idle limit ends it
		})
		got := 0
		end, err := c.FollowLog(t.Context(), testRef, 0, 0, func(LogRecord) error { got++; return nil })
		if err != nil || end != LogEnded || got != 2 {
			t.Errorf("%v %v after %d records", end, err, got)
		}
		synctest.Wait()
	})
}

// Five connections without anything new are enough.
func TestFollowLogGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var conns atomic.Int32
		c := inBubble(t, func(w http.ResponseWriter, _ *http.Request) {
			conns.Add(1)
			stream(w)
			_, _ = io.WriteString(w, event(1)+"data: {\"da")
			panic(http.ErrAbortHandler)
		})
		got, end, err := follow(t.Context(), c, 0, 0)
		asError(t, err, ErrOffline)
		if got != "1\n" || end != LogDropped || conns.Load() != dropLimit+1 {
			t.Errorf("%q %v after %d connections", got, end, conns.Load())
		}
		synctest.Wait()
	})
}

// A cancelled follow ends at once with the context's error, also while nothing comes and while it waits.
func TestFollowLogIsCancelled(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"silent": func(w http.ResponseWriter, r *http.Request) {
			stream(w)
			_, _ = io.WriteString(w, event(1))
			<-r.Context().Done()
		},
		"no headers": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Minute, cancel)
				start := time.Now()
				_, end, err := follow(ctx, inBubble(t, h), 0, 0)
				if !errors.Is(err, context.Canceled) || errors.Is(err, ErrOffline) || end != LogDropped || time.Since(start) != time.Minute {
					t.Errorf("%v %v after %v", end, err, time.Since(start))
				}
				synctest.Wait()
			})
		})
	}
}

// What the stream address can answer besides a stream.
func TestFollowLogAnswers(t *testing.T) {
	for _, tc := range []struct {
		name   string
		status int
		ctype  string
		body   string
		end    LogEnd
		kind   error
		text   string
	}{
		{"403", 403, "application/json", `{"error":{"message":"denied"}}`, LogDropped, ErrForbidden, ""},
		{"404", 404, "application/json", `{}`, LogDropped, ErrNotFound, ""},
		{"401", 401, "", ``, LogDropped, ErrUnauthorized, ""},
		{"501", 501, "text/html", `<html>`, LogDropped, ErrUnavailable, ""},
		{"page inside 200", 200, "text/html", `<html>`, LogDropped, ErrUnavailable, ""},
		{"code inside 200", 200, "application/json", `{"code":404,"message":"No runs found"}`, LogDropped, ErrNotFound, ""},
		{"empty", 200, "application/json", ``, LogDropped, nil, ""},
		{"204", 204, "", ``, LogDropped, nil, ""},
		{"empty array", 200, "application/json", `[]`, LogEnded, nil, ""},
		{"array as octets", 200, "application/octet-stream", `[{"data":"a"}]`, LogEnded, nil, "a"},
		{"plain text", 200, "text/plain", "one\ntwo", LogEnded, nil, "one\ntwo"},
		{"events with another type", 200, "application/octet-stream", "data: a\n\ndata: END_OF_LOG\n\n", LogEnded, nil, "a\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tc.ctype)
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.body)
			})
			got, end, err := follow(t.Context(), c, 0, 0)
			if end != tc.end || got != tc.text || (tc.kind == nil) != (err == nil) {
				t.Errorf("%q %v %v", got, end, err)
			}
			if tc.kind != nil {
				asError(t, err, tc.kind)
			}
		})
	}
}

// The consumer's error ends the follow and comes back as it is; the stream carries the credential, a redirect does not.
func TestFollowLogStopsForItsConsumerAndRedirects(t *testing.T) {
	elsewhere := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("the credential went to another place")
		}
		stream(w)
		_, _ = io.WriteString(w, event(1)+event(2))
	})
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" || r.Header.Get("Accept") != "text/event-stream, */*" {
			t.Errorf("headers %v", r.Header)
		}
		http.Redirect(w, r, elsewhere.base, http.StatusFound)
	})
	full := errors.New("the disk is full")
	n := 0
	_, err := c.FollowLog(t.Context(), testRef, 0, 0, func(LogRecord) error { n++; return full })
	if err != full || n != 1 {
		t.Errorf("%v after %d", err, n)
	}
}

// A damaged log of some megabytes is read in proportion to its size: an element that never ends must not be looked for again
// at every line.
func TestDecodeLogIsLinear(t *testing.T) {
	line := ",{\"stream_name\":\"stdout\",\"time\":1,\"data\":\"x\\n\"}\n"
	for name, raw := range map[string]string{
		"never ending element": "[{\"data\":[" + strings.Repeat("\n,{\"data\":[[", 300_000),
		"damage at the start":  "[{\"data\":\"\n" + strings.Repeat(line, 60_000),
		"far cursors":          strings.Repeat("\x1b[9999Cx\n", 30_000),
	} {
		start := time.Now()
		lines := LogLines(DecodeLog([]byte(raw)).Records)
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: %d lines took %v", name, len(lines), took)
		}
	}
}
