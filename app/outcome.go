package app

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sandglass/app/runlog"
	"sandglass/planner"
	"sandglass/runnerpack"
)

// notCollected begins the note of a run whose collect failed.
const notCollected = "not collected yet: "

// settle reads what the session saved and writes what the run came to. The last
// write is the one that calls the run collected; before it everything may be
// repeated.
func (j *collectJob) settle(ctx context.Context, complete bool) error {
	out, err := runnerpack.ReadOutputs(j.dir)
	if err != nil {
		return fmt.Errorf("read the outputs: %w", err)
	}
	own := j.r.Origin != originPush && out.Run == nil
	if !own {
		j.problem = append(j.problem, out.Problems...)
	}
	if err := j.storeOutputs(ctx, out); err != nil {
		return err
	}
	j.a.at("collect: before the file list is settled")
	if err := j.storeFilesChecked(ctx); err != nil {
		return err
	}
	r := j.r
	applyRecord(&r, out, speedOf(j.acc))
	facts, err := j.facts(ctx, r, out, own)
	if err != nil {
		return err
	}
	var found []runlog.Finding
	for _, f := range planner.Diagnose(facts) {
		found = append(found, runlog.Finding(f))
	}
	if err := j.a.store.SetFindings(ctx, r.ID, found); err != nil {
		return err
	}
	j.a.at("collect: before the run is called collected")
	now := j.a.now()
	j.r, err = j.a.change(ctx, r.ID, func(row *runlog.Run) error {
		applyRecord(row, out, speedOf(j.acc))
		row.Outcome = planner.Outcome(facts)
		if j.place != "" {
			row.ArtifactsDir = filepath.Join(j.place, "artifacts")
		} else {
			row.ArtifactsDir = j.dir
		}
		if complete && j.pattern == nil {
			row.CollectedAt = now
			if strings.HasPrefix(row.Note, notCollected) {
				row.Note = ""
			}
		}
		return nil
	})
	return err
}

// storeOutputs writes tasks, curves and utilisation.
func (j *collectJob) storeOutputs(ctx context.Context, out *runnerpack.Outputs) error {
	id, s := j.r.ID, j.a.store
	if out.Run != nil {
		for _, t := range out.Run.Tasks {
			if err := s.PutTask(ctx, id, runlog.Task{Job: t.Job, Fold: t.Fold, State: t.State, Device: t.Device, Error: t.Error, Seconds: t.Seconds, Best: t.Best, Epochs: t.Epochs}); err != nil {
				return err
			}
		}
	}
	for _, c := range out.Curves {
		if err := s.AddPoints(ctx, id, runlog.SeriesRun, logCurve(c)); err != nil {
			return err
		}
	}
	if len(out.Util) == 0 {
		return nil
	}
	return s.AddUtil(ctx, id, utilSamples(out.Util))
}

// storeFilesChecked settles the list of files: what is here, what stays at
// Kaggle, what the session's own manifest calls damaged or misses.
func (j *collectJob) storeFilesChecked(ctx context.Context) error {
	problems, err := runnerpack.CheckManifest(j.dir)
	if err != nil {
		problems = nil // no manifest: said among the problems of reading
	}
	bad := map[string]string{}
	for _, p := range problems {
		bad[p.Path] = p.Problem
	}
	var rows []runlog.File
	listed := map[string]bool{}
	for _, it := range j.items {
		listed[it.name] = true
		f := runlog.File{Path: it.path, Size: max(it.size, 0), SHA256: it.sha, State: "remote"}
		if it.have {
			f.State, f.Local = "here", it.dest
			if f.SHA256 == "" {
				if sum, err := fileSHA256(it.dest); err == nil {
					f.SHA256 = sum
				}
			}
			if why := bad[it.name]; why != "" && it.name != "manifest.json" && it.name == it.path { // under another name it was checked as it came
				f.State = "damaged"
				j.problem = append(j.problem, it.path+": "+why+" (by the session's manifest)")
			}
		}
		rows = append(rows, f)
	}
	for p := range bad {
		if !listed[p] {
			rows = append(rows, runlog.File{Path: p, State: "missing"})
			j.problem = append(j.problem, p+" is in the session's manifest and not at Kaggle")
		}
	}
	return j.a.store.SetFiles(ctx, j.r.ID, rows)
}

// applyRecord takes score, times and hours from what the session recorded.
func applyRecord(r *runlog.Run, out *runnerpack.Outputs, speed float64) {
	applyScore(r, out)
	rec := out.Run
	var started time.Time
	var elapsed time.Duration
	if rec != nil {
		if t, err := time.Parse(time.RFC3339Nano, rec.StartedUTC); err == nil {
			started = t
		}
		elapsed = time.Duration(rec.ElapsedS * float64(time.Second))
	}
	finished := rec != nil && rec.Outcome != ""
	if !started.IsZero() {
		// The script starts after its session: our own sight of the start stands when it is earlier.
		if r.StartedAt.IsZero() || r.StartedAt.After(started) {
			r.StartedAt = started
		}
		// It knows its own end, which is before anybody saw it; a clock that says otherwise is not believed.
		if end := started.Add(elapsed); finished && !end.Before(r.StartedAt) && (r.EndedAt.IsZero() || r.EndedAt.After(end)) {
			r.EndedAt, r.EndedFrom = end, endSession
		}
	}
	seen := time.Duration(0)
	if !r.StartedAt.IsZero() && !r.EndedAt.IsZero() {
		seen = r.EndedAt.Sub(r.StartedAt)
	}
	if !finished { // rewritten after each task only, so a killed session's record is short
		elapsed = max(elapsed, seen)
	}
	r.Burned = burnedOf(elapsed, r.Cap, speed)
}

// applyScore takes the score of the run's own job, else of the first job that has one.
func applyScore(r *runlog.Run, out *runnerpack.Outputs) {
	var names []string
	if out.Run != nil {
		for _, job := range out.Run.Jobs {
			names = append(names, job.Name)
			if job.Score != nil && (job.Name == r.Name || r.Score == nil) {
				score := *job.Score
				r.Score, r.Metric, r.Greater = &score, job.Metric, job.Greater
			}
		}
	}
	for name := range out.Scores {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { // the run's own job first
		return boolInt(b == r.Name) - boolInt(a == r.Name)
	})
	for _, name := range names {
		if s, ok := out.Scores[name]; ok {
			score := s.Score
			r.Score, r.Greater = &score, s.Greater
			if s.Metric != "" {
				r.Metric = s.Metric
			}
			break
		}
	}
	if len(out.Curves) > 0 && r.Score == nil {
		r.Greater = out.Curves[0].Greater
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// facts is everything the diagnosis looks at.
func (j *collectJob) facts(ctx context.Context, r runlog.Run, out *runnerpack.Outputs, own bool) (planner.RunFacts, error) {
	f := planner.RunFacts{
		Pool: poolOf(r), State: r.State, Message: r.Failure, StopAsked: strings.HasPrefix(r.Note, askedToStop),
		Elapsed: r.EndedAt.Sub(r.StartedAt), Cap: r.Cap, HasRecord: out.Run != nil, OwnKernel: own,
		Greater: r.Greater, BaselineName: r.BaselineName, Score: r.Score, BaselineScore: r.BaselineScore,
	}
	if r.StartedAt.IsZero() || r.EndedAt.IsZero() {
		f.Elapsed = 0
	}
	if rec := out.Run; rec != nil {
		f.DeadlineHit = rec.DeadlineHit
		f.DeviceCount = max(len(rec.Hardware.GPUs), rec.Hardware.TPUChips)
		if rec.Outcome != "" {
			f.Elapsed = time.Duration(rec.ElapsedS * float64(time.Second))
		}
		recordFacts(&f, rec, out)
	}
	earlier, err := j.a.store.Findings(ctx, r.ID)
	if err != nil {
		return f, err
	}
	for _, e := range earlier {
		if e.Code == "inputs-dropped" { // told by Kaggle at the push, and still true
			f.Runner = append(f.Runner, planner.Finding(e))
		}
	}
	base, err := j.a.store.Curves(ctx, r.ID, runlog.SeriesBaseline)
	if err != nil {
		return f, err
	}
	mine, err := j.a.store.Curves(ctx, r.ID, runlog.SeriesRun)
	if err != nil {
		return f, err
	}
	f.Curves, f.Baseline = curveFacts(mine), curveFacts(base)
	f.BaselineSpread = spreadOf(base)
	f.Inputs.Places = inputPlaces(r)
	f.LogTail = j.a.logTail(r.ID, 15)
	return f, nil
}

// recordFacts copies what the session recorded about its tasks, jobs and devices.
func recordFacts(f *planner.RunFacts, rec *runnerpack.RunRecord, out *runnerpack.Outputs) {
	for _, u := range rec.Util {
		f.Devices = append(f.Devices, planner.DeviceFacts{Name: u.Device, Samples: u.N, Median: u.Median})
	}
	for _, t := range rec.Tasks {
		f.Tasks = append(f.Tasks, planner.TaskFacts{Job: t.Job, Fold: t.Fold, State: t.State, Seconds: t.Seconds, Best: t.Best, Error: t.Error})
	}
	for _, x := range rec.Findings {
		f.Runner = append(f.Runner, planner.Finding{Code: x.Code, Level: x.Level, Text: x.Text})
	}
	curves := map[string]int{}
	for _, c := range out.Curves {
		curves[c.Job]++
	}
	for _, job := range rec.Jobs {
		x := planner.JobFacts{Name: job.Name, HasFolds: len(job.Folds) > 0, Complete: job.Complete,
			Assembled: job.Assembled != nil && *job.Assembled, Score: job.Score, Metric: job.Metric, Curves: curves[job.Name]}
		if _, ok := out.Scores[job.Name]; ok && x.Score == nil {
			score := out.Scores[job.Name].Score
			x.Score = &score
		}
		if x.HasFolds && x.Curves == 0 {
			x.MissingOutputs = append(x.MissingOutputs, "learning curves (curve_fold<k>.json)")
		}
		if x.Complete && x.Score == nil && (x.HasFolds || x.Curves > 0) { // what neither has folds nor draws curves trains nothing: it prepares data, say
			x.MissingOutputs = append(x.MissingOutputs, "score (score.json)")
		}
		f.Jobs = append(f.Jobs, x)
	}
}

func curveFacts(curves []runlog.Curve) []planner.CurveFacts {
	var out []planner.CurveFacts
	for _, c := range curves {
		x := planner.CurveFacts{Job: c.Job, Fold: c.Fold}
		for _, p := range c.Points {
			x.Frac, x.Scores = append(x.Frac, fracOf(p.Epoch, c)), append(x.Scores, p.Score)
		}
		out = append(out, x)
	}
	return out
}

// spreadOf is the standard deviation of the folds' best scores, 0 when unknown.
func spreadOf(curves []runlog.Curve) float64 {
	var rc []runnerpack.Curve
	for _, c := range curves {
		x := runnerpack.Curve{Greater: c.Greater}
		for _, p := range c.Points {
			if !math.IsNaN(p.Score) {
				x.Points = append(x.Points, runnerpack.Point{Epoch: p.Epoch, Score: p.Score})
			}
		}
		rc = append(rc, x)
	}
	return curveSpread(rc)
}

// collectDue starts a collect for every ended run that is not home yet. A failed
// one is tried again with growing pauses, up to an hour.
func (w *watcher) collectDue(ctx context.Context) {
	if !w.a.collectOn(ctx) || !w.offlineSince().IsZero() {
		return
	}
	runs, err := w.a.store.Runs(ctx, runlog.Filter{Account: w.acc.ID, States: []string{StateComplete, StateError, StateCancel},
		Origins: []string{originPush, originFolder}, Uncollected: true})
	if err != nil {
		w.a.log.Error("runs not read", "err", err)
		return
	}
	for _, r := range runs {
		w.mu.Lock()
		busy := w.collecting[r.ID] || w.a.now().Before(w.collectAt[r.ID])
		if !busy {
			w.collecting[r.ID] = true
		}
		w.mu.Unlock()
		if !busy {
			w.wg.Go(func() { w.collectOne(ctx, r) })
		}
	}
}

func (w *watcher) offlineSince() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.offline
}

// collectOne collects one run and tells how it ended.
func (w *watcher) collectOne(ctx context.Context, r runlog.Run) {
	_, err := w.a.collect(ctx, w.acc, r, CollectOptions{}, nil)
	if ctx.Err() == nil {
		if cur, gerr := w.a.store.Run(ctx, r.ID); gerr == nil {
			w.notice(w.endNotice(ctx, cur))
		}
	}
	w.mu.Lock()
	delete(w.collecting, r.ID)
	if err != nil {
		w.collectTry[r.ID]++
		wait := min(time.Hour, time.Minute<<min(w.collectTry[r.ID]-1, 6))
		w.collectAt[r.ID] = w.a.now().Add(wait)
	}
	w.mu.Unlock()
	if err != nil && ctx.Err() == nil {
		w.reached(err)
		w.a.log.Warn("not collected", "run", r.ID, "err", err)
		if _, nerr := w.a.change(ctx, r.ID, func(r *runlog.Run) error { r.Note = notCollected + err.Error(); return nil }); nerr != nil {
			w.a.log.Warn("note not stored", "run", r.ID, "err", nerr)
		}
	}
	w.a.kick()
}
