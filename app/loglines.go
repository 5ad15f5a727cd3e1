package app

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"

	"sandglass/kaggle"
)

// logsKept is how many runs' lines stay in memory: the one on screen and the one before.
const logsKept = 2

// LogLines gives n lines of a run's log from line number from, and how many there
// are. Lines are as a terminal would show them: carriage returns overwrite,
// colours are gone. Reading on in a log that grows costs what was added.
func (a *App) LogLines(ctx context.Context, id int64, from, n int) ([]LogLine, int, error) {
	if _, err := a.store.Run(ctx, id); err != nil {
		return nil, 0, err
	}
	return a.logs.page(a, id, from, n)
}

// logIndex holds the lines of the logs that were looked at last.
type logIndex struct {
	mu   sync.Mutex
	logs []*indexedLog // last used first
}

// indexedLog is one log, read as far as offset.
type indexedLog struct {
	id     int64
	offset int64
	info   os.FileInfo
	lines  []LogLine
	carry  map[string]string // unfinished line of each stream
	order  []string          // streams with an unfinished line, the oldest first
}

// page reads what was added to the log and gives a part of it.
func (x *logIndex) page(a *App, id int64, from, n int) ([]LogLine, int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	l, err := x.read(a, id)
	if err != nil {
		return nil, 0, err
	}
	open := l.open()
	total := len(l.lines) + len(open)
	from = min(max(from, 0), total)
	to := total
	if n >= 0 && n < total-from {
		to = from + n
	}
	out := make([]LogLine, 0, to-from)
	if from < len(l.lines) {
		out = append(out, l.lines[from:min(to, len(l.lines))]...)
	}
	for i := max(from, len(l.lines)); i < to; i++ {
		out = append(out, open[i-len(l.lines)])
	}
	return out, total, nil
}

// total is the number of lines, 0 when the log cannot be read.
func (x *logIndex) total(a *App, id int64) int {
	_, n, err := x.page(a, id, 0, 0)
	if err != nil {
		a.log.Warn("log not read", "run", id, "err", err)
	}
	return n
}

// forget drops a log whose file was replaced.
func (x *logIndex) forget(id int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, l := range x.logs {
		if l.id == id {
			x.logs = append(x.logs[:i], x.logs[i+1:]...)
			return
		}
	}
}

// read brings a log up to date. A file that was replaced or became shorter is
// read from its start.
func (x *logIndex) read(a *App, id int64) (*indexedLog, error) {
	l := x.use(id)
	f, err := os.Open(a.logPath(id))
	if errors.Is(err, fs.ErrNotExist) {
		*l = indexedLog{id: id, carry: map[string]string{}}
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if l.info != nil && (!os.SameFile(l.info, st) || st.Size() < l.offset) {
		*l = indexedLog{id: id, carry: map[string]string{}}
	}
	l.info = st
	if st.Size() == l.offset {
		return l, nil
	}
	if _, err := f.Seek(l.offset, io.SeekStart); err != nil {
		return nil, err
	}
	_, good, err := readRecords(bufio.NewReaderSize(f, 1<<18), l.add)
	l.offset += good
	return l, err
}

// use finds the log in memory or makes room for it.
func (x *logIndex) use(id int64) *indexedLog {
	for i, l := range x.logs {
		if l.id == id {
			copy(x.logs[1:i+1], x.logs[:i])
			x.logs[0] = l
			return l
		}
	}
	l := &indexedLog{id: id, carry: map[string]string{}}
	x.logs = append([]*indexedLog{l}, x.logs...)
	if len(x.logs) > logsKept {
		x.logs = x.logs[:logsKept]
	}
	return l
}

// add takes a record: its whole lines are shown in the order in which they ended.
func (l *indexedLog) add(rec kaggle.LogRecord) {
	text := rec.Data
	if carry := l.carry[rec.Stream]; carry != "" {
		text = carry + text
	}
	for {
		line, rest, ok := strings.Cut(text, "\n")
		if !ok {
			break
		}
		l.lines = append(l.lines, LogLine{N: len(l.lines), Text: shown(line), Stream: rec.Stream})
		text = rest
	}
	l.setCarry(rec.Stream, text)
}

func (l *indexedLog) setCarry(stream, text string) {
	had := l.carry[stream] != ""
	switch {
	case text != "" && !had:
		l.order = append(l.order, stream)
	case text == "" && had:
		for i, s := range l.order {
			if s == stream {
				l.order = append(l.order[:i], l.order[i+1:]...)
				break
			}
		}
	}
	l.carry[stream] = text
}

// open is what has no line end yet, shown as lines at the end.
func (l *indexedLog) open() []LogLine {
	var out []LogLine
	for _, s := range l.order {
		out = append(out, LogLine{N: len(l.lines) + len(out), Text: shown(l.carry[s]), Stream: s})
	}
	return out
}

// shown is one raw line as a terminal would show it.
func shown(line string) string {
	plain := true
	for i := 0; i < len(line); i++ {
		if c := line[i]; c < ' ' && c != '\t' || c == 0x7f || c == 0xc2 {
			plain = false
			break
		}
	}
	if plain {
		return line
	}
	return strings.Join(kaggle.LogLines([]kaggle.LogRecord{{Data: line}}), "\n")
}
