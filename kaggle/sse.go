package kaggle

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxEvent bounds the memory one event can take, in bytes.
const maxEvent = 64 << 20

var (
	errEventTooLong = errors.New("an event of the log is larger than 64 MiB")
	// errHalfEvent is a stream that ended inside an event: that event does not count.
	errHalfEvent = errors.New("the stream ended inside an event")
)

// sseReader reads the payloads of server-sent events. Lines may be of any length and end in LF, CRLF or CR; comments and
// fields other than data are skipped.
type sseReader struct {
	r    *bufio.Reader
	skip bool // the last line ended in CR: an LF that follows belongs to it
	bom  bool // the start was looked at
}

func newSSEReader(r io.Reader) *sseReader { return &sseReader{r: bufio.NewReaderSize(r, 32<<10)} }

// next returns the data lines of the next whole event. io.EOF is an end between events; errHalfEvent, or the network's
// error, one inside. A final END_OF_LOG counts although no blank line follows it.
func (s *sseReader) next() ([][]byte, error) {
	var data [][]byte
	size := 0
	for {
		line, err := s.line()
		if value, ok := dataField(line); ok && (err == nil || err == io.EOF) {
			size += len(value)
			if size > maxEvent {
				return nil, errEventTooLong
			}
			data = append(data, bytes.Clone(value))
		}
		switch {
		case err != nil && isEndOfLog(data) && errors.Is(err, io.EOF):
			return data, nil
		case err == io.EOF && (len(line) > 0 || len(data) > 0):
			return nil, errHalfEvent
		case err != nil:
			return nil, err
		case len(line) == 0 && len(data) > 0:
			return data, nil
		}
	}
}

// line returns the next line without its end. The slice is good until the next call.
func (s *sseReader) line() ([]byte, error) {
	var line []byte
	for {
		c, err := s.r.ReadByte()
		if err != nil {
			return line, err
		}
		if s.skip && c == '\n' {
			s.skip = false
			continue
		}
		s.skip = false
		if c == '\n' || c == '\r' {
			s.skip = c == '\r'
			if !s.bom {
				s.bom = true
				line = bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF"))
			}
			return line, nil
		}
		line = append(line, c)
		if len(line) > maxEvent {
			return nil, errEventTooLong
		}
		line = s.buffered(line)
	}
}

// buffered adds what is in the buffer up to the line's end: most of a long line in one go.
func (s *sseReader) buffered(line []byte) []byte {
	b, _ := s.r.Peek(s.r.Buffered())
	if i := bytes.IndexAny(b, "\r\n"); i >= 0 {
		b = b[:i]
	}
	line = append(line, b...)
	_, _ = s.r.Discard(len(b))
	return line
}

// dataField gives the value of a data line, without the one blank after the colon.
func dataField(line []byte) ([]byte, bool) {
	if bytes.Equal(line, []byte("data")) {
		return nil, true
	}
	v, ok := bytes.CutPrefix(line, []byte("data:"))
	if !ok {
		return nil, false
	}
	return bytes.TrimPrefix(v, []byte(" ")), true
}

func isEndOfLog(data [][]byte) bool {
	return len(data) > 0 && bytes.Equal(bytes.TrimSpace(data[len(data)-1]), []byte(EndOfLog))
}

// eventRecords turns an event's data lines into records. Several lines are one payload, unless each is a record of its own
// (a stream that leaves the blank lines out). A payload that is not JSON is a line of plain text. end is END_OF_LOG.
func eventRecords(data [][]byte) (recs []LogRecord, end bool) {
	for i, line := range data {
		if bytes.Equal(bytes.TrimSpace(line), []byte(EndOfLog)) {
			return eventPayload(data[:i]), true
		}
	}
	return eventPayload(data), false
}

func eventPayload(data [][]byte) []LogRecord {
	if len(data) == 0 {
		return nil
	}
	whole := bytes.Join(data, []byte("\n"))
	if len(data) == 1 || validObject(whole) {
		return []LogRecord{payloadRecord(whole)}
	}
	recs := make([]LogRecord, 0, len(data))
	for _, line := range data {
		recs = append(recs, payloadRecord(line))
	}
	return recs
}

func payloadRecord(b []byte) LogRecord {
	if validObject(b) {
		return decodeRecord(b)
	}
	return LogRecord{Stream: "stdout", Data: cleanText(string(b)) + "\n"}
}
