package planner

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ending says how the session ended, when that was not by itself.
func ending(f RunFacts) []Finding {
	switch f.State {
	case StateCancelled:
		return []Finding{cancelled(f)}
	case StateError:
		if f.HasRecord {
			break // its tasks say more
		}
		x := Finding{Code: "session-failed", Level: "bad", Text: "The session ended in an error and left no record of its own.",
			Detail: joined(f.Message, f.LogTail), Fix: f.fix(f.Message+"\n"+f.LogTail, "The end of the log says why. Nothing has to be paid twice to find out: try the same folder in the sandbox.")}
		return []Finding{x}
	}
	return nil
}

func cancelled(f RunFacts) Finding {
	x := Finding{Code: "stopped", Level: "warn", Detail: f.Message}
	kept := "What was saved can be collected, and a follow-up can resume from it."
	if f.OwnKernel { // without a record of ours nothing says what is done, so nothing of ours can resume it
		kept = "What it had saved can be collected."
	}
	switch {
	case f.StopAsked:
		x.Text, x.Level, x.Fix = "The session was stopped as asked.", "info", kept
	case nearCap(f.Elapsed, f.Cap):
		x.Code, x.Level = "killed-by-cap", "bad"
		x.Text = fmt.Sprintf("The cap of %s ended the session.", capWords(f.Cap))
		x.Fix = afterCap(f, kept)
	default:
		x.Code = "stopped-by-kaggle"
		x.Text = fmt.Sprintf("Kaggle ended the session after %s, and nobody here had asked for it.", capWords(f.Elapsed))
		x.Fix = "Look at the kernel's page at Kaggle. " + kept
	}
	return x
}

// afterCap says what to do about work that its cap cut off: resume it where that is possible, and a longer cap where one is allowed.
func afterCap(f RunFacts, kept string) string {
	fix := "Resume it with --resume-from: finished folds are skipped."
	if f.OwnKernel {
		fix = kept + " Nothing records what this kernel has finished: let it save checkpoints and read them back, or cut the work into parts."
	}
	longest := SessionLimit(f.Pool)
	low, high := f.Cap*13/10, min(f.Cap*15/10, longest)
	switch {
	case f.Cap >= longest:
		return fix + fmt.Sprintf(" No %s session may last longer than %s.", f.Pool.PoolName(), capWords(longest))
	case low >= high:
		return fix + fmt.Sprintf(" The next cap for the same work from the start should be %s, the longest there is.", capWords(longest))
	}
	return fix + fmt.Sprintf(" The next cap for the same work from the start should be %s to %s.", capWords(low), capWords(high))
}

// capWords writes a cap or a length so that it is never "0.0 h": under a tenth of an hour in minutes or seconds.
func capWords(d time.Duration) string {
	if d < 6*time.Minute {
		return short(d)
	}
	return Hours(d)
}

// nearCap: a kill at the cap shows up a little before or after it, by start-up and by how often we ask.
func nearCap(elapsed, limit time.Duration) bool {
	return limit > 0 && elapsed > 0 && elapsed >= limit-max(limit/50, time.Minute)
}

// failedTasks groups the failed tasks by the last line of their error, because one bug fails many folds.
func failedTasks(f RunFacts) []Finding {
	var order []string
	groups := map[string][]TaskFacts{}
	for _, t := range f.Tasks {
		if t.State != "failed" && t.State != "killed" {
			continue
		}
		key := t.State + "|" + t.Job + "|" + lastLine(t.Error)
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], t)
	}
	var out []Finding
	for _, key := range order {
		g := groups[key]
		x := Finding{Code: "fold-failed", Level: "bad", Detail: g[0].Error}
		verb := "failed"
		if g[0].State == "killed" {
			x.Code, verb = "fold-killed", "was stopped before it could save"
			if len(g) > 1 {
				verb = "were stopped before they could save"
			}
		}
		x.Text = fmt.Sprintf("%s %s", taskNames(g), verb)
		if line := lastLine(g[0].Error); line != "" {
			x.Text += ": " + line
		}
		x.Text = sentence(x.Text)
		x.Fix = "Try the same folder in the sandbox before it costs hours again; then resume: finished folds are skipped."
		if g[0].State == "failed" {
			x.Fix = f.fix(g[0].Error, x.Fix)
		}
		out = append(out, x)
	}
	return out
}

// unfinishedTasks covers the deadline: folds that stopped themselves in time, and those that were never started.
func unfinishedTasks(f RunFacts) []Finding {
	var late, never []TaskFacts
	for _, t := range f.Tasks {
		switch t.State {
		case "timeout":
			late = append(late, t)
		case "not-started":
			never = append(never, t)
		}
	}
	if !f.DeadlineHit && len(late) == 0 && len(never) == 0 {
		return nil
	}
	var parts []string
	if len(late) > 0 {
		parts = append(parts, taskNames(late)+" stopped and saved")
	}
	if len(never) > 0 {
		parts = append(parts, taskNames(never)+" did not start")
	}
	x := Finding{Code: "deadline-hit", Level: "warn", Text: "The session reached its deadline.", Detail: strings.Join(parts, "; "),
		Fix: "Resume it with --resume-from: finished folds are skipped and stopped ones go on from their checkpoint. Otherwise raise --hours, or lower epochs or resolution."}
	if !f.DeadlineHit && len(late) == 0 {
		x.Code, x.Text = "not-started", sentence(parts[0])
		x.Fix = "The findings above say why. A follow-up with --resume-from runs what is missing."
	}
	return []Finding{x}
}

func inputs(f RunFacts) []Finding {
	var out []Finding
	if n := f.Inputs.Missing; len(n) > 0 {
		out = append(out, Finding{Code: "inputs-missing", Level: "bad", Text: "Not mounted in the session: " + listed(n) + ".",
			Fix: "Check the owner and name, that this account may see it, and that a kernel's output existed at the push."})
	}
	if n := f.Inputs.Dropped; len(n) > 0 {
		out = append(out, Finding{Code: "inputs-dropped", Level: "bad", Text: "Kaggle started the run without " + listed(n) + ".",
			Fix: "Accept the competition's rules or ask for access to the data, then push again."})
	}
	if n := f.Inputs.Clashing; len(n) > 0 {
		out = append(out, Finding{Code: "inputs-clash", Level: "warn", Text: "Two inputs bring the same name: " + listed(n) + ".",
			Fix: "Give one of them a folder of its own (owner/slug=folder), or use --input-layout nested."})
	}
	return out
}

// contract looks for what a session of ours must leave behind.
func contract(f RunFacts) []Finding {
	if f.OwnKernel || !Terminal(f.State) {
		return nil
	}
	var out []Finding
	if !f.HasRecord && f.State == StateComplete {
		out = append(out, Finding{Code: "no-record", Level: "warn", Text: "The session ended well and left no run.json, so nothing is known of its folds.",
			Fix: "The command may have emptied its working folder. Keep run.json and artifacts/ there."})
	}
	for _, j := range f.Jobs {
		if len(j.MissingOutputs) == 0 || !ranAny(f.Tasks, j.Name) {
			continue
		}
		out = append(out, Finding{Code: "outputs-missing", Level: "warn", Text: fmt.Sprintf("The job %s left no %s.", j.Name, listed(j.MissingOutputs)),
			Fix: "Write curves with sandglass.budget.TrainBudget and the score in the command's --assemble step; without them a run can be collected but not compared."})
	}
	return out
}

func ranAny(tasks []TaskFacts, job string) bool {
	return slices.ContainsFunc(tasks, func(t TaskFacts) bool { return t.Job == job && t.State == "done" })
}

// devices judges how the accelerators were used. It says nothing of sessions under 20 minutes.
func devices(f RunFacts) []Finding {
	if f.Pool == CPU || len(f.Devices) == 0 {
		return nil
	}
	if f.Elapsed < tooShort {
		return []Finding{{Code: "too-short", Level: "info", Text: fmt.Sprintf("The session took %s: too short to judge how it used its devices.", minutes(f.Elapsed))}}
	}
	var busy, idle []DeviceFacts
	for _, d := range f.Devices {
		switch {
		case d.Samples < fewSamples:
		case d.Median < idleBelow:
			idle = append(idle, d)
		default:
			busy = append(busy, d)
		}
	}
	if f.Pool != GPU {
		return nil // what a TPU reports cannot be read this way
	}
	var out []Finding
	switch {
	case len(idle) > 0 && len(busy) > 0:
		out = append(out, Finding{Code: "gpu-idle", Level: "warn", Text: fmt.Sprintf("%s stood idle while %s worked: hours are charged for the session, not for a card.", names(idle), names(busy)), Detail: medians(f.Devices),
			Fix: "Put two folds or a second job (--extra-job) into the session, or train on both cards at once."})
	case len(idle) > 0:
		out = append(out, Finding{Code: "all-idle", Level: "bad", Text: "No GPU did any work.", Detail: medians(f.Devices),
			Fix: "The code runs on the processor. Move model and batches to the GPU, or use --accelerator none, which costs nothing."})
	}
	if slowest, ok := lowest(busy); ok && slowest.Median < inputBoundBelow {
		out = append(out, Finding{Code: "input-bound", Level: "warn", Text: fmt.Sprintf("%s was busy only %.0f %% of its tasks' time: it waits for data.", slowest.Name, slowest.Median), Detail: medians(f.Devices),
			Fix: "Resize the data once and store it as uint8, augment on the GPU, use fewer transforms on the processor and persistent workers; 4 processor cores feed both cards."})
	}
	return out
}

func lowest(d []DeviceFacts) (DeviceFacts, bool) {
	if len(d) == 0 {
		return DeviceFacts{}, false
	}
	return slices.MinFunc(d, func(a, b DeviceFacts) int {
		switch {
		case a.Median < b.Median:
			return -1
		case a.Median > b.Median:
			return 1
		}
		return 0
	}), true
}

func pruned(f RunFacts) []Finding {
	var g []TaskFacts
	for _, t := range f.Tasks {
		if t.State == "pruned" {
			g = append(g, t)
		}
	}
	if len(g) == 0 {
		return nil
	}
	return []Finding{{Code: "pruned", Level: "info", Text: sentence(taskNames(g) + " fell behind the baseline and was pruned"),
		Fix: "Drop the idea or change it materially; the same settings would be pruned again."}}
}

// cost says what a finished fold takes, which sizes the next cap.
func cost(f RunFacts) []Finding {
	var done []float64
	for _, t := range f.Tasks {
		if t.State == "done" && t.Seconds > 0 {
			done = append(done, t.Seconds)
		}
	}
	if len(done) == 0 {
		return nil
	}
	sum := 0.0
	for _, s := range done {
		sum += s
	}
	mean := time.Duration(sum / float64(len(done)) * float64(time.Second))
	return []Finding{{Code: "cost", Level: "info", Text: fmt.Sprintf("A finished task took %s on average (%d of them, longest %s).", short(mean), len(done), short(seconds(slices.Max(done))))}}
}

// againstBaseline compares the whole run by its score, or what there is of its curves at the same place in the schedule.
func againstBaseline(f RunFacts) []Finding {
	if f.BaselineName == "" {
		return nil
	}
	if x, ok := pairedFinding(f); ok {
		return []Finding{x}
	}
	if f.Score != nil && f.BaselineScore != nil {
		gain := signed(*f.Score-*f.BaselineScore, f.Greater)
		x := verdict(gain, f.BaselineSpread)
		x.Text = fmt.Sprintf("The score %s is %s %s (%s).", number(*f.Score), x.Text, baselineName(f), number(*f.BaselineScore))
		return []Finding{x}
	}
	gain, frac, folds := curveGain(f)
	if folds == 0 {
		return nil
	}
	x := verdict(gain, f.BaselineSpread)
	x.Code = "trending-" + x.Code
	of := "folds"
	if folds == 1 {
		of = "fold"
	}
	x.Text = fmt.Sprintf("At %.0f %% of the schedule the run is %s %s (%s by %s over %d %s).", frac*100, x.Text, baselineName(f), betterWorse(gain), number(math.Abs(gain)), folds, of)
	if x.Level == "warn" {
		x.Fix = "Curves cross; judge it after 30 % of the schedule. --prune-against stops such folds by itself."
	}
	return []Finding{x}
}

// baselineName says "the baseline" once.
func baselineName(f RunFacts) string {
	if strings.EqualFold(f.BaselineName, "baseline") {
		return "the baseline"
	}
	return "the baseline " + f.BaselineName
}

// pairedFinding compares finished runs fold by fold. Folds differ among themselves far more than two ideas do on the same fold, so
// a gain is never held against the spread over folds: that would throw real gains away. The rule is the peer's (kgkit, section
// "Comparing experiments"): t = mean / (sd / sqrt(K)) of the differences, at least 2, and more than half of the folds better. It
// does not see seed noise. ok is false with fewer than two folds in common, or while the run is going.
func pairedFinding(f RunFacts) (Finding, bool) {
	if f.Score == nil {
		return Finding{}, false
	}
	var diffs []float64
	better := 0
	for _, c := range f.Curves {
		i := slices.IndexFunc(f.Baseline, func(b CurveFacts) bool { return b.Fold == c.Fold })
		if i < 0 {
			continue
		}
		own, ok := c.bestBy(1, f.Greater)
		base, ok2 := f.Baseline[i].bestBy(1, f.Greater)
		if !ok || !ok2 {
			continue
		}
		d := signed(own-base, f.Greater)
		diffs = append(diffs, d)
		if d > 0 {
			better++
		}
	}
	k := float64(len(diffs))
	if len(diffs) < 2 {
		return Finding{}, false
	}
	mean, square := 0.0, 0.0
	for _, d := range diffs {
		mean += d / k
	}
	for _, d := range diffs {
		square += (d - mean) * (d - mean)
	}
	t := math.Copysign(math.Inf(1), mean)
	if se := math.Sqrt(square/(k-1)) / math.Sqrt(k); se > 0 {
		t = mean / se
	} else if mean == 0 {
		t = 0
	}
	x := Finding{Code: "level-with-baseline", Level: "info", Fix: "Not clear yet: run it with a second seed before keeping or dropping it."}
	switch {
	case t >= 2 && 2*better > len(diffs):
		x = Finding{Code: "above-baseline", Level: "good", Fix: "Keep it; a second seed says how much of the gain is luck."}
	case t <= -2 && 2*better < len(diffs):
		x = Finding{Code: "below-baseline", Level: "warn", Fix: "Drop it or change it materially."}
	}
	x.Text = fmt.Sprintf("Better than %s on %d of %d folds, by %.3g on average.", baselineName(f), better, len(diffs), mean)
	if mean < 0 {
		x.Text = fmt.Sprintf("Better than %s on %d of %d folds, worse by %.3g on average.", baselineName(f), better, len(diffs), -mean)
	}
	if !math.IsInf(t, 0) {
		x.Detail = fmt.Sprintf("t %.1f over the folds' differences; 2 is called clear", t)
	}
	return x, true
}

// verdict puts a gain (positive is better) beside the baseline's own spread. Its Text is the middle of a sentence.
func verdict(gain, spread float64) Finding {
	switch {
	case gain == 0 || math.Abs(gain) < spread:
		return Finding{Code: "level-with-baseline", Level: "info", Text: "level with", Fix: "A difference inside the folds' own spread: judge it with a second seed."}
	case gain > 0:
		return Finding{Code: "above-baseline", Level: "good", Text: "better than"}
	}
	return Finding{Code: "below-baseline", Level: "warn", Text: "worse than"}
}

// curveGain is the mean gain over the folds that both have, each at the run's own place in the schedule.
func curveGain(f RunFacts) (gain, frac float64, folds int) {
	for _, c := range f.Curves {
		if len(c.Frac) == 0 {
			continue
		}
		at := c.Frac[len(c.Frac)-1]
		own, ok := c.bestBy(at, f.Greater)
		i := slices.IndexFunc(f.Baseline, func(b CurveFacts) bool { return b.Fold == c.Fold })
		if !ok || i < 0 {
			continue
		}
		if base, ok := f.Baseline[i].bestBy(at, f.Greater); ok {
			gain, frac, folds = gain+signed(own-base, f.Greater), frac+at, folds+1
		}
	}
	if folds > 0 {
		gain, frac = gain/float64(folds), frac/float64(folds)
	}
	return gain, frac, folds
}

func signed(d float64, greater bool) float64 {
	if greater {
		return d
	}
	return -d
}

func betterWorse(gain float64) string {
	if gain >= 0 {
		return "better"
	}
	return "worse"
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', 5, 64) }
