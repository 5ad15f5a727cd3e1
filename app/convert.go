package app

import (
	"math"
	"strings"
	"time"

	"sandglass/app/runlog"
	"sandglass/planner"
)

// Origins of a run.
const (
	originPush     = "push"     // a build of ours
	originFolder   = "folder"   // a kernel folder of the person's own
	originRecorded = "recorded" // came with a project, never ran from here
)

// inFlight says whether a run still needs something from Kaggle or from us.
func inFlight(state string) bool {
	switch state {
	case StatePushing, StateUnclear, StateWaiting, StateQueued, StateRunning, StateStopping:
		return true
	}
	return false
}

// atKaggle says whether Kaggle has a session of the run that is not over.
func atKaggle(state string) bool {
	switch state {
	case StateQueued, StateRunning, StateStopping:
		return true
	}
	return false
}

// ended says whether a session existed and is over.
func ended(state string) bool {
	switch state {
	case StateComplete, StateError, StateCancel:
		return true
	}
	return false
}

// rowOf is a run as lists show it. now and speed tell what a running one burned so far.
func rowOf(r runlog.Run, now time.Time, speed float64) RunRow {
	return RunRow{
		ID: r.ID, Kernel: r.Kernel, Version: r.Version, Name: r.Name, Project: r.Project,
		State: r.State, Status: r.Status, Outcome: r.Outcome, Accelerator: r.Accelerator,
		Pool: string(planner.PoolOf(r.Accelerator)), CapHours: r.Cap.Hours(), Hours: burnedSoFar(r, now, speed).Hours(),
		Metric: r.Metric, Score: r.Score, Failure: failureOf(r), Note: r.Note, URL: r.URL, EndedFrom: r.EndedFrom,
		CreatedAt: r.CreatedAt, PushedAt: r.PushedAt, StartedAt: r.StartedAt, EndedAt: r.EndedAt,
		CollectedAt: r.CollectedAt, UnreachableAt: r.UnreachableSince, Origin: r.Origin,
		Ended: !inFlight(r.State), Collected: !r.CollectedAt.IsZero(),
	}
}

// failureOf is what to say is wrong with a run: Kaggle's message, else our note.
func failureOf(r runlog.Run) string {
	if r.Failure != "" {
		return r.Failure
	}
	return r.Note
}

// burnedSoFar is the quota a run has taken: what was settled at its end, else the
// time since its start on the account's clock, at most its cap.
func burnedSoFar(r runlog.Run, now time.Time, speed float64) time.Duration {
	if r.Burned > 0 || r.StartedAt.IsZero() {
		return r.Burned
	}
	end := now
	if !r.EndedAt.IsZero() {
		end = r.EndedAt
	}
	return burnedOf(end.Sub(r.StartedAt), r.Cap, speed)
}

// burnedOf is session time in quota time, at most the cap.
func burnedOf(d, limit time.Duration, speed float64) time.Duration {
	if speed > 0 {
		d = time.Duration(float64(d) * speed)
	}
	if limit > 0 {
		d = min(d, limit)
	}
	return max(d, 0)
}

func taskViews(tasks []runlog.Task, curves []runlog.Curve) []TaskView {
	planned := map[string]map[int]int{}
	for _, c := range curves {
		if planned[c.Job] == nil {
			planned[c.Job] = map[int]int{}
		}
		planned[c.Job][c.Fold] = c.Epochs
	}
	out := make([]TaskView, 0, len(tasks))
	for _, t := range tasks {
		v := TaskView{Job: t.Job, Fold: t.Fold, State: t.State, Seconds: t.Seconds, Device: t.Device, Best: t.Best, Epochs: t.Epochs, Error: t.Error}
		if t.Fold != nil {
			v.Of = planned[t.Job][*t.Fold]
		}
		out = append(out, v)
	}
	return out
}

func curveViews(curves []runlog.Curve) []CurveView {
	out := make([]CurveView, 0, len(curves))
	for _, c := range curves {
		v := CurveView{Job: c.Job, Fold: c.Fold}
		since := 0.0 // a curve file has the length of each epoch; a screen wants the time since the task's start
		for _, p := range c.Points {
			since += p.Seconds // one unknown epoch (NaN) leaves the rest unknown
			v.Points = append(v.Points, CurvePoint{Epoch: p.Epoch, Frac: fracOf(p.Epoch, c), Seconds: since, Score: p.Score})
		}
		out = append(out, v)
	}
	return out
}

// fracOf is an epoch's place in the schedule, 0 to 1. Epochs count from 0, as the
// budget's contract has it; a curve that reaches its planned number counts from 1.
// With an unknown plan the last point is the end.
func fracOf(epoch int, c runlog.Curve) float64 {
	if len(c.Points) == 0 {
		return 0
	}
	last := c.Points[len(c.Points)-1].Epoch
	plan, done := c.Epochs, epoch+1
	switch {
	case plan <= 0:
		plan = last + 1
	case last >= plan:
		done = epoch
	}
	return min(1, max(0, float64(done)/float64(max(plan, 1))))
}

func utilViews(samples []runlog.UtilSample) []UtilPoint {
	out := make([]UtilPoint, 0, len(samples))
	for _, s := range samples {
		out = append(out, UtilPoint{Device: s.Device, T: s.T, Util: s.Util, Mem: s.Mem})
	}
	return out
}

func findingViews(fs []runlog.Finding) []FindingView {
	out := make([]FindingView, 0, len(fs))
	for _, f := range fs {
		out = append(out, FindingView(f))
	}
	return out
}

func fileViews(fs []runlog.File) []FileView {
	out := make([]FileView, 0, len(fs))
	for _, f := range fs {
		out = append(out, FileView{Path: f.Path, Size: f.Size, State: f.State, Local: f.Local})
	}
	return out
}

func partViews(ps []runlog.Part) []SizePart {
	out := make([]SizePart, 0, len(ps))
	for _, p := range ps {
		out = append(out, SizePart(p))
	}
	return out
}

// speedOf is the account's clock factor, 1 when unknown.
func speedOf(acc Account) float64 {
	if acc.Speed <= 0 {
		return 1
	}
	return acc.Speed
}

// nanIfZero is a time in seconds that is not known when it is zero.
func nanIfZero(s float64) float64 {
	if s == 0 {
		return math.NaN()
	}
	return s
}

// isWeights says whether an output is model weights, by its suffix: the big files
// that a collect leaves at Kaggle unless it is asked for them.
func isWeights(path string) bool {
	path = strings.ToLower(path)
	for _, s := range []string{".pt", ".pth", ".ckpt", ".safetensors", ".h5", ".hdf5", ".keras", ".onnx", ".pb", ".tflite", ".gguf", ".msgpack", ".pdparams", ".weights", ".bin"} {
		if strings.HasSuffix(path, s) {
			return true
		}
	}
	return false
}
