package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"sync"
	"time"
)

// maxLog is where a session's log stops growing; the session itself goes on.
const maxLog = 64 << 20

// logRecord is one chunk of output as it travels.
type logRecord struct {
	Stream string  `json:"stream_name"`
	Time   float64 `json:"time"` // seconds since the session started
	Data   string  `json:"data"`
}

// sessionLog is the growing log of a running session: one JSON record a line in a file, so that a crash loses nothing
// that was shown, and followers that read the same file.
type sessionLog struct {
	now   func() time.Time
	start time.Time

	mu    sync.Mutex
	f     *os.File
	size  int64
	full  bool
	err   error
	ended bool
	grown chan struct{} // closed and replaced when something was added
}

func newSessionLog(path string, now func() time.Time) (*sessionLog, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make the session's log: %w", err)
	}
	return &sessionLog{now: now, start: now(), f: f, grown: make(chan struct{})}, nil
}

// add appends one chunk. What cannot be written is lost, and the first reason is kept for the failure message.
func (l *sessionLog) add(stream, data string) {
	if data == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended || l.full {
		return
	}
	if l.size > maxLog {
		l.full = true
		stream, data = "stderr", fmt.Sprintf("\nThe sandbox keeps the first %d MB of a log; the rest is not kept.\n", maxLog>>20)
	}
	t := math.Round(l.now().Sub(l.start).Seconds()*1e6) / 1e6
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if enc.Encode(logRecord{Stream: stream, Time: t, Data: strings.ToValidUTF8(data, "\uFFFD")}) != nil {
		return
	}
	n, err := l.f.WriteAt(line.Bytes(), l.size)
	if err != nil {
		if l.err == nil {
			l.err = err
		}
		return // a half-written record is overwritten by the next one
	}
	l.size += int64(n)
	close(l.grown)
	l.grown = make(chan struct{})
}

// end closes the log: followers read what is left and stop. It returns the first write error.
func (l *sessionLog) end() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return l.err
	}
	l.ended = true
	l.f.Truncate(l.size)
	l.err = errors.Join(l.err, l.f.Close())
	close(l.grown)
	return l.err
}

// at tells how long the log is, whether it will grow, and gives a channel that is closed when either changes.
func (l *sessionLog) at() (size int64, ended bool, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size, l.ended, l.grown
}

// readLog reads the records of a log file in [from, to); to < 0 means to the end. A last line that a crash cut short
// is left out.
func readLog(path string, from, to int64) ([][]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if to < 0 {
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		to = info.Size()
	}
	raw, err := io.ReadAll(io.NewSectionReader(f, from, to-from))
	if err != nil {
		return nil, err
	}
	var recs [][]byte
	for len(raw) > 0 {
		i := bytes.IndexByte(raw, '\n')
		if i < 0 {
			break
		}
		if json.Valid(raw[:i]) {
			recs = append(recs, raw[:i])
		}
		raw = raw[i+1:]
	}
	return recs, nil
}

// logArray is a finished log as Kaggle gives it: one JSON array, a record a line, commas at the line starts.
func logArray(recs [][]byte) []byte {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, r := range recs {
		if i > 0 {
			b.WriteString("\n,")
		}
		b.Write(r)
	}
	b.WriteString("\n]")
	return b.Bytes()
}
