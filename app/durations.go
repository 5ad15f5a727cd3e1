package app

import (
	"context"
	"fmt"
	"math"

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
