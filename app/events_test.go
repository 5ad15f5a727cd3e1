package app

import (
	"fmt"
	"strings"
	"testing"

	"sandglass/app/runlog"
	"sandglass/kaggle"
	"sandglass/kaggle/sandbox"
)

// A slow subscriber finds a reload at the end, loses no notice, blocks nobody.
func TestSlowSubscriber(t *testing.T) {
	h := newHub()
	s := h.subscribe()
	for i := range 1000 {
		h.emit(Event{Kind: EventCurve, Run: int64(i)})
		if i == 500 {
			h.emit(Event{Kind: EventNotice, Notice: &Notice{Key: "k"}})
		}
	}
	reloads, told := 0, 0
	last := Event{}
	for len(s.C()) > 0 {
		last = <-s.C()
		if last.Kind == EventReload {
			reloads++
		}
		if last.Notice != nil {
			told++
		}
	}
	// A notice makes room for itself, after which the stream fills up once more.
	if reloads > 2 || told != 1 || last.Kind != EventReload {
		t.Errorf("%d reloads, %d notices, last %q; want at most 2, 1, reload", reloads, told, last.Kind)
	}
	h.emit(Event{Kind: EventRun, Run: 7})
	if e := <-s.C(); e.Run != 7 {
		t.Errorf("after the reload: %+v", e)
	}
	s.Close()
	s.Close()
	if _, ok := <-s.C(); ok {
		t.Error("not closed")
	}
}

// The line index agrees with the client's own lines, however the log arrives.
func TestLogIndex(t *testing.T) {
	w := newWorld(t, sandbox.Options{}, nil)
	a := w.open(t, "")
	defer closeApp(t, a)
	r, err := a.store.CreateRun(t.Context(), runlog.Run{Kernel: "sam-roe/x", Name: "x", State: StateRunning})
	if err != nil {
		t.Fatal(err)
	}
	recs := []kaggle.LogRecord{
		{Stream: "stdout", Data: "half a "}, {Stream: "stderr", Data: "warning\n"}, {Stream: "stdout", Data: "line\n 10%\r 20%\r 30%\n"},
		{Stream: "stdout", Data: "\x1b[31mred\x1b[0m\nnul \x00\n"}, {Stream: "stdout", Data: "open end"},
	}
	f, err := a.openLog(r.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.f.Close()
	for _, rec := range recs {
		if err := f.append([]kaggle.LogRecord{rec}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := a.LogLines(t.Context(), r.ID, 0, -1); err != nil {
			t.Fatal(err)
		}
	}
	lines, n, err := a.LogLines(t.Context(), r.ID, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, l := range lines {
		got = append(got, l.Text)
		if l.N != i {
			t.Errorf("line %d is numbered %d", i, l.N)
		}
	}
	if want := kaggle.LogLines(recs); n != len(want) || strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if lines[0].Stream != "stderr" {
		t.Errorf("the first finished line is stderr's, got %q", lines[0].Stream)
	}
	again, err := a.openLog(r.ID, nil)
	if err != nil || again.count != len(recs) {
		t.Errorf("%d records after reopening, want %d (%v)", again.count, len(recs), err)
	}
	again.f.Close()
}

// A page of a log of 200,000 lines.
func BenchmarkLogPage(b *testing.B) {
	a := &App{home: b.TempDir()}
	f, err := a.openLog(1, nil)
	if err != nil {
		b.Fatal(err)
	}
	recs := make([]kaggle.LogRecord, 200_000)
	for i := range recs {
		recs[i] = kaggle.LogRecord{Stream: "stdout", Data: fmt.Sprintf("epoch %d loss 0.1234 score 0.5678 time 12.3\n", i)}
	}
	if err := f.append(recs); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, n, err := a.logs.page(a, 1, 199_900, 100); err != nil || n != len(recs) {
			b.Fatal(n, err)
		}
	}
}
