package app

import (
	"context"
	"fmt"
	"math"
	"strings"

	"sandglass/app/runlog"
	"sandglass/kaggle"
	"sandglass/runnerpack"
)

// telemetryMark begins a line of the session's own telemetry.
const telemetryMark = "::sandglass "

// ingest turns log records into what they say about tasks, curves and devices.
// Records are chunks, so each stream's unfinished line is carried along.
type ingest struct {
	a     *App
	run   int64
	carry map[string]string
	tasks []runlog.Task
	curve map[string]*runlog.Curve
	order []string
	util  []runlog.UtilSample
	news  bool // telemetry since the last store
	lines bool // records since the last store
}

func newIngest(a *App, r runlog.Run) *ingest {
	return &ingest{a: a, run: r.ID, carry: map[string]string{}, curve: map[string]*runlog.Curve{}}
}

// add takes a record. With apply false it only keeps the unfinished line: what
// the record says was stored before.
func (in *ingest) add(rec kaggle.LogRecord, apply bool) {
	text := in.carry[rec.Stream] + rec.Data
	for {
		line, rest, ok := strings.Cut(text, "\n")
		if !ok {
			break
		}
		text = rest
		if apply {
			in.line(line)
		}
	}
	in.carry[rec.Stream] = text
	in.lines = in.lines || apply
}

// line reads one whole line. Only stdout's is telemetry, but a notebook's may
// come anywhere, so the mark decides.
func (in *ingest) line(line string) {
	line = strings.TrimRight(line, "\r")
	at := strings.LastIndex(line, telemetryMark)
	if at < 0 {
		return
	}
	t, ok := runnerpack.ParseTelemetry(line[at:])
	if !ok {
		return
	}
	in.news = true
	switch {
	case t.Task != nil:
		in.tasks = append(in.tasks, runlog.Task{Job: t.Task.Job, Fold: t.Task.Fold, State: t.Task.State, Device: t.Task.Device,
			Error: t.Task.Error, Seconds: t.Task.Seconds, Best: t.Task.Best, Epochs: t.Task.Epochs})
	case t.Points != nil:
		in.points(*t.Points)
	}
	in.util = append(in.util, utilSamples(t.Util)...)
}

func (in *ingest) points(c runnerpack.Curve) {
	key := fmt.Sprintf("%s/%d", c.Job, c.Fold)
	have := in.curve[key]
	if have == nil {
		lc := logCurve(c)
		in.curve[key] = &lc
		in.order = append(in.order, key)
		return
	}
	have.Epochs, have.Greater = max(have.Epochs, c.Epochs), c.Greater
	have.Points = append(have.Points, logCurve(c).Points...)
}

func utilSamples(us []runnerpack.UtilSample) []runlog.UtilSample {
	var out []runlog.UtilSample
	for _, u := range us {
		s := runlog.UtilSample{Device: u.Device, T: u.T, Util: u.Util, Mem: u.MemMB, Power: math.NaN()}
		if u.HasPower {
			s.Power = u.PowerW
		}
		out = append(out, s)
	}
	return out
}

func (in *ingest) dirty() bool { return in.news || in.lines }

// store writes what was gathered and how many records it covers. Storing the
// same twice changes nothing, so a crash in the middle costs nothing.
func (in *ingest) store(ctx context.Context, records int) error {
	for _, t := range in.tasks {
		if err := in.a.store.PutTask(ctx, in.run, t); err != nil {
			return err
		}
	}
	for _, key := range in.order {
		if err := in.a.store.AddPoints(ctx, in.run, runlog.SeriesRun, *in.curve[key]); err != nil {
			return err
		}
	}
	if len(in.util) > 0 {
		if err := in.a.store.AddUtil(ctx, in.run, in.util); err != nil {
			return err
		}
	}
	_, err := in.a.store.UpdateRun(ctx, in.run, func(r *runlog.Run) error {
		r.LogRecords = records
		for _, key := range in.order {
			r.Greater = in.curve[key].Greater
		}
		return nil
	})
	if err != nil {
		return err
	}
	if in.news {
		in.a.noteChange(ctx, EventCurve, in.run)
	}
	if in.lines {
		in.a.noteChange(ctx, EventLog, in.run)
	}
	in.tasks, in.util, in.order, in.news, in.lines = nil, nil, nil, false, false
	clear(in.curve)
	return nil
}
