package planner

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Limits of the judgement.
const (
	// tooShort: what a session under 20 minutes shows of its devices is start-up and first batches.
	tooShort = 20 * time.Minute
	// idleBelow: a device whose median is under this did nothing (percent).
	idleBelow = 10
	// inputBoundBelow: a busy GPU with a median under this waits for its data (percent). A high figure proves nothing,
	// because it counts the time in which any kernel ran at all; a low one proves waiting.
	inputBoundBelow = 60
	// fewSamples: fewer than this say nothing.
	fewSamples = 10
)

// Finding is one thing a run has to teach.
type Finding struct {
	Code   string
	Level  string // good, info, warn, bad
	Text   string // what is the case, one sentence
	Detail string // figures or an error's tail
	Fix    string // what to do about it; "" when there is nothing to do
}

// DeviceFacts is how busy one device was over its tasks' own time: start-up and assembly are not in it.
type DeviceFacts struct {
	Name    string // gpu0, gpu1, tpu0
	Samples int
	Median  float64 // utilisation in percent
}

// TaskFacts is one (job, fold).
type TaskFacts struct {
	Job     string
	Fold    *int
	State   string // running, done, timeout, pruned, failed, killed, skipped, not-started
	Seconds float64
	Best    *float64
	Error   string // the tail of its output
}

// JobFacts is one job of the session.
type JobFacts struct {
	Name           string
	HasFolds       bool
	Complete       bool
	Assembled      bool
	Score          *float64
	Metric         string
	Curves         int      // curve files found
	MissingOutputs []string // what the contract asks of it and is not there
}

// CurveFacts is one learning curve: Frac is the place in the schedule, 0 to 1.
type CurveFacts struct {
	Job    string
	Fold   int
	Frac   []float64
	Scores []float64
}

// InputFacts is what became of the inputs.
type InputFacts struct {
	Missing, Clashing, Dropped []string
	Places                     []InputPlace // what was attached, and where the session puts it
}

// InputPlace is the folder of the project that an input's files are linked into.
type InputPlace struct{ Ref, Folder string }

// RunFacts is everything Diagnose looks at. What is not known is left zero and leads to no finding.
type RunFacts struct {
	Pool           Pool
	State          string // complete, error, cancelled, or running for a verdict on the way
	Message        string // Kaggle's failure message
	StopAsked      bool   // a person asked for the stop
	Elapsed        time.Duration
	Cap            time.Duration
	HasRecord      bool // the session left its own record (run.json)
	OwnKernel      bool // a kernel folder of the person's own: no contract to fulfil
	DeviceCount    int  // devices the session had
	Devices        []DeviceFacts
	Tasks          []TaskFacts
	Jobs           []JobFacts
	DeadlineHit    bool
	Inputs         InputFacts
	Runner         []Finding // what the session itself found
	LogTail        string    // last lines of the session's log
	Greater        bool
	Curves         []CurveFacts
	BaselineName   string
	Baseline       []CurveFacts
	Score          *float64
	BaselineScore  *float64
	BaselineSpread float64 // standard deviation over the baseline's folds, score units; 0 = not known
}

// Diagnose lists what a run has to teach: what went wrong, then what went well, then what is good to know.
func Diagnose(f RunFacts) []Finding {
	var out []Finding
	for _, rule := range []func(RunFacts) []Finding{
		ending, failedTasks, unfinishedTasks, inputs, contract, devices, pruned, cost, againstBaseline,
	} {
		out = append(out, rule(f)...)
	}
	out = withRunner(out, f.Runner)
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Compare(gravity(a.Level), gravity(b.Level)) })
	return out
}

// withRunner adds what the session found itself, unless a rule of ours says the same; and says what to do about it.
func withRunner(out, runner []Finding) []Finding {
	have := map[string]bool{}
	for _, f := range out {
		have[f.Code] = true
	}
	for _, f := range runner {
		if have[sameAs(f.Code)] {
			continue
		}
		if f.Fix == "" {
			f.Fix = runnerFix[f.Code]
		}
		out = append(out, f)
	}
	return out
}

func gravity(level string) int {
	switch level {
	case "bad":
		return 0
	case "warn":
		return 1
	case "good":
		return 2
	}
	return 3
}

// Outcomes of a run.
const (
	OutcomeComplete = "complete"
	OutcomePartial  = "partial"
	OutcomeFailed   = "failed"
	OutcomeKilled   = "killed"
)

// Outcome judges a finished run: complete when every job is complete, killed when the cap or Kaggle ended it, partial
// when something worth keeping came out, failed otherwise. A kernel that left no record of our kind is judged by
// Kaggle's word alone.
func Outcome(f RunFacts) string {
	all, some := len(f.Jobs) > 0, false
	for _, j := range f.Jobs {
		all = all && j.Complete
		some = some || j.Complete || j.Score != nil
	}
	for _, t := range f.Tasks {
		some = some || t.State == "done" || t.State == "timeout" || t.State == "pruned" || t.Best != nil && t.State != "failed"
	}
	switch {
	case f.HasRecord && all:
		return OutcomeComplete
	case f.State == StateCancelled && !f.StopAsked:
		return OutcomeKilled
	case !f.HasRecord && f.State == StateComplete && f.OwnKernel:
		return OutcomeComplete
	case some, f.HasRecord && f.State == StateComplete:
		return OutcomePartial
	}
	return OutcomeFailed
}

// bestBy is the best finite score of a curve up to a place in its schedule.
func (c CurveFacts) bestBy(frac float64, greater bool) (float64, bool) {
	best, ok := 0.0, false
	for i, x := range c.Frac {
		if i >= len(c.Scores) || x > frac+1e-9 || math.IsNaN(c.Scores[i]) || math.IsInf(c.Scores[i], 0) {
			continue
		}
		if y := c.Scores[i]; !ok || (greater && y > best) || (!greater && y < best) {
			best, ok = y, true
		}
	}
	return best, ok
}
