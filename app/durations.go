package app

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"sandglass/app/runlog"
)

// What an earlier run says of the order of the next one's tasks.
const (
	durationRuns   = 5    // of the newest runs of the same command
	durationSpread = 0.10 // shares of the longest; less than this between two tasks is chance
)

// knownDurations are seconds a task took in earlier runs of the same command on
// the same machine, by "job/fold", for the session to start the longest first.
// nil when nothing is known, or nothing that would change the order: then the
// build stays the same, byte for byte.
func (a *App) knownDurations(ctx context.Context, account int64, s BuildSpec, accelerator string) (map[string]float64, error) {
	runs, err := a.store.Runs(ctx, runlog.Filter{Account: account, Project: s.Project, Name: s.Name, Command: s.Command,
		Accelerators: []string{accelerator}, Origins: []string{originPush}, Limit: durationRuns})
	if err != nil {
		return nil, err
	}
	known := map[string]float64{}
	for _, r := range runs {
		tasks, err := a.store.Tasks(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		for _, t := range tasks {
			if t.State != "done" || t.Fold == nil || t.Seconds <= 0 {
				continue // not the time of a whole fold
			}
			key := fmt.Sprintf("%s/%d", t.Job, *t.Fold)
			known[key] = max(known[key], twoDigits(t.Seconds)) // a resumed fold took only its rest
		}
	}
	if !ordered(known) {
		return nil, nil
	}
	return known, nil
}

// ordered: some task is clearly longer than another.
func ordered(seconds map[string]float64) bool {
	low, high := math.Inf(1), 0.0
	for _, s := range seconds {
		low, high = min(low, s), max(high, s)
	}
	return len(seconds) > 1 && high-low > durationSpread*high
}

// twoDigits rounds to two significant digits: the order needs no more.
func twoDigits(s float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(s))-1)
	return math.Round(s/unit) * unit
}

// measurement is what the log knows of the length of a job's tasks.
type measurement struct {
	hours    []float64 // of whole tasks, in hours of the account's clock, brought to the length of the first job's
	sessions []int64   // the run of each
	scale    []float64 // length of each task of the next session relative to them; nil = all alike
	runs     []Hours   // as they were measured
}

// measuredRuns is how many of the newest runs are looked at.
const measuredRuns = 40

// measured finds the whole tasks of earlier runs of the same command on the same machine, and fills what is left open in
// the ask from the run that it names: the accelerator, and the number of tasks.
func (a *App) measured(ctx context.Context, acc Account, ask *HoursAsk) (measurement, error) {
	var m measurement
	if len(ask.Runs) > 0 {
		for _, h := range ask.Runs {
			m.hours, m.runs = append(m.hours, h), append(m.runs, Hours{H: h})
		}
		return m, nil
	}
	f := runlog.Filter{Account: acc.ID, Name: ask.Name, Command: ask.Command, Project: ask.Project, Origins: []string{originPush}, Limit: measuredRuns}
	if ask.Kernel != "" {
		r, err := a.resolve(ctx, acc, ask.Kernel)
		if err != nil {
			return m, err
		}
		f.Name, f.Command, f.Project = r.Name, r.Command, r.Project
		if r.Command == "" { // a folder of one's own: only its own runs are of its kind
			f = runlog.Filter{Account: r.Account, Kernel: r.Kernel, Limit: measuredRuns}
			ask.OwnKernel = true
		}
		if ask.Accelerator == "" {
			ask.Accelerator = r.Accelerator
		}
		if ask.Tasks == 0 {
			ask.Tasks = max(len(r.Folds), 1)
		}
	} else if ask.Job == "" && ask.Name == "" && ask.Command == "" {
		return m, nil // with a job alone: every run that has one of that name
	}
	if ask.Accelerator == "" {
		ask.Accelerator = "NvidiaTeslaT4"
	}
	f.Accelerators = []string{ask.Accelerator}
	runs, err := a.store.Runs(ctx, f)
	if err != nil {
		return m, err
	}
	err = a.wholeTasks(ctx, acc, runs, ask, &m)
	return m, err
}

// wholeTasks collects the tasks that ran from their beginning to their end. In a follow-up a task that an earlier session
// had begun took only its rest. A kernel without tasks counts as one: its session.
func (a *App) wholeTasks(ctx context.Context, acc Account, runs []runlog.Run, ask *HoursAsk, m *measurement) error {
	begun := map[string]bool{}
	byJob := map[string][]float64{}
	var jobs []string
	type found struct {
		job string
		h   float64
		run int64
	}
	var all []found
	for _, r := range slices.Backward(runs) { // the oldest first
		tasks, err := a.store.Tasks(ctx, r.ID)
		if err != nil {
			return err
		}
		base := followUpSlug.ReplaceAllString(r.Kernel, "")
		for _, t := range tasks {
			key := base + " " + t.Job
			if t.Fold != nil {
				key = fmt.Sprintf("%s/%d", key, *t.Fold)
			}
			rest := base != r.Kernel && begun[key]
			begun[key] = begun[key] || t.State != "not-started" && t.State != "skipped"
			if rest || t.State != "done" || t.Seconds <= 0 || ask.Job != "" && t.Job != ask.Job {
				continue
			}
			h := t.Seconds / 3600 * speedOf(acc)
			if byJob[t.Job] == nil {
				jobs = append(jobs, t.Job)
			}
			byJob[t.Job] = append(byJob[t.Job], h)
			all = append(all, found{t.Job, h, r.ID})
		}
		if d := burnedSoFar(r, a.now(), speedOf(acc)); len(tasks) == 0 && ask.OwnKernel && r.Outcome != OutcomeKilled && r.State == StateComplete && d > 0 {
			all = append(all, found{"", d.Hours(), r.ID})
		}
	}
	typical := func(job string) float64 {
		sum := 0.0
		for _, h := range byJob[job] {
			sum += math.Log(h)
		}
		return math.Exp(sum / float64(max(len(byJob[job]), 1)))
	}
	for _, x := range all {
		h := x.h
		if len(jobs) > 1 {
			h *= typical(jobs[0]) / typical(x.job)
		}
		m.hours, m.sessions, m.runs = append(m.hours, h), append(m.sessions, x.run), append(m.runs, Hours{x.h, x.run})
	}
	switch {
	case len(ask.Jobs) > 0 && len(jobs) > 0:
		for _, job := range slices.Sorted(maps.Keys(ask.Jobs)) {
			scale := 1.0 // a job that never ran is taken to be as long as the measured one
			if byJob[job] != nil {
				scale = typical(job) / typical(jobs[0])
			}
			m.scale = append(m.scale, slices.Repeat([]float64{scale}, ask.Jobs[job])...)
		}
	case len(jobs) > 1 && ask.Job == "":
		for _, job := range jobs {
			for range max(ask.Tasks, 1) {
				m.scale = append(m.scale, typical(job)/typical(jobs[0]))
			}
		}
	}
	return nil
}
