package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"sandglass/app/runlog"
	"sandglass/kaggle"
)

// flushEvery is how long records of a live log are gathered before they are
// written, parsed and told: what a person can follow with the eye.
const flushEvery = 500 * time.Millisecond

// logFile is the log of one run on disk: one JSON record a line, in the order
// Kaggle has them. Its line count is the number of records we have; a half line
// that a crash left is cut off when it is opened.
type logFile struct {
	f     *os.File
	count int
}

func (a *App) logPath(id int64) string {
	return filepath.Join(a.home, "logs", fmt.Sprintf("%d.jsonl", id))
}

// openLog opens a run's log for appending; each gives what is in it already.
func (a *App) openLog(id int64, each func(kaggle.LogRecord)) (*logFile, error) {
	path := a.logPath(id)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	count, good, err := readRecords(f, each)
	if err == nil {
		err = f.Truncate(good)
	}
	if err == nil {
		_, err = f.Seek(good, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("read the kept log %s: %w", path, err)
	}
	return &logFile{f: f, count: count}, nil
}

// readRecords reads whole lines and says how many there are and where the last
// one ends. The first line that is no record ends it: what follows a damaged
// place is fetched again.
func readRecords(r io.Reader, each func(kaggle.LogRecord)) (count int, good int64, err error) {
	br := bufio.NewReaderSize(r, 1<<16)
	for {
		line, err := br.ReadBytes('\n')
		if err == io.EOF {
			return count, good, nil
		}
		if err != nil {
			return count, good, err
		}
		rec, ok := decodeRecord(line)
		if !ok {
			return count, good, nil
		}
		count++
		good += int64(len(line))
		if each != nil {
			each(rec)
		}
	}
}

func decodeRecord(line []byte) (kaggle.LogRecord, bool) {
	var e kaggle.LogEntry
	if json.Unmarshal(line, &e) != nil {
		return kaggle.LogRecord{}, false
	}
	return kaggle.LogRecord{Stream: e.StreamName, Time: e.Time, Data: e.Data}, true
}

func encodeRecords(recs []kaggle.LogRecord) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, r := range recs {
		enc.Encode(kaggle.LogEntry{StreamName: r.Stream, Time: r.Time, Data: r.Data}) // to memory: cannot fail
	}
	return b.Bytes()
}

// append writes whole records. A failed write is cut off again.
func (l *logFile) append(recs []kaggle.LogRecord) error {
	at, err := l.f.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if _, err := l.f.Write(encodeRecords(recs)); err != nil {
		return errors.Join(err, l.f.Truncate(at))
	}
	l.count += len(recs)
	return nil
}

// follower streams the log of one running version into its file and the run log.
type follower struct {
	a   *App
	run runlog.Run

	mu      sync.Mutex
	pending []kaggle.LogRecord
	timer   *time.Timer
	failed  error
	file    *logFile
	in      *ingest
}

// startStream follows a running run's log until it ends or ctx does.
func (w *watcher) startStream(ctx context.Context, r runlog.Run) {
	ctx, cancel := context.WithCancel(ctx)
	w.streams[r.ID] = cancel
	w.wg.Go(func() {
		defer cancel()
		if err := w.a.followLog(ctx, r); err != nil && ctx.Err() == nil {
			w.a.log.Warn("live log stopped", "run", r.ID, "err", err)
		}
		w.a.kick() // what the log's end means is asked at once
	})
}

// followLog streams until the log's end. A dropped stream is taken up again, with
// growing pauses while nothing comes.
func (a *App) followLog(ctx context.Context, r runlog.Run) error {
	f := &follower{a: a, run: r, in: newIngest(a, r)}
	seen := 0
	file, err := a.openLog(r.ID, func(rec kaggle.LogRecord) { f.in.add(rec, seen >= r.LogRecords); seen++ })
	if err != nil {
		return err
	}
	f.file = file
	defer file.f.Close()
	defer f.flush()
	pause := time.Second
	for {
		c, err := a.client(ctx)
		if err != nil {
			return err
		}
		have := file.count
		end, err := c.FollowLog(ctx, kaggleRef(r.Kernel), r.Version, have, f.record)
		f.flush()
		if ctx.Err() != nil || f.failure() != nil {
			return f.failure()
		}
		if err == nil && end == kaggle.LogEnded {
			return nil
		}
		if err != nil {
			a.log.Debug("live log dropped", "run", r.ID, "err", err)
		}
		if cur, err := a.store.Run(ctx, r.ID); err == nil && !atKaggle(cur.State) {
			return nil
		}
		if file.count > have {
			pause = time.Second
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		pause = min(pause*2, time.Minute)
	}
}

// record takes one record of the stream.
func (f *follower) record(rec kaggle.LogRecord) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed != nil {
		return f.failed
	}
	f.pending = append(f.pending, rec)
	if f.timer == nil {
		f.timer = time.AfterFunc(flushEvery, f.flush)
	}
	return nil
}

func (f *follower) failure() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}

// flush writes what was gathered: first the file, then what it means. A crash
// between the two is made good when the file is read again.
func (f *follower) flush() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.timer != nil {
		f.timer.Stop()
		f.timer = nil
	}
	recs := f.pending
	f.pending = nil
	if len(recs) == 0 && !f.in.dirty() || f.failed != nil {
		return
	}
	ctx := context.WithoutCancel(f.a.ctx)
	if err := f.file.append(recs); err != nil {
		f.failed = fmt.Errorf("keep the log: %w", err)
		return
	}
	for _, rec := range recs {
		f.in.add(rec, true)
	}
	if err := f.in.store(ctx, f.file.count); err != nil {
		f.failed = err
	}
}
