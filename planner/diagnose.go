package planner

import "time"

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
}

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

// Diagnose lists what a run has to teach, the gravest first.
func Diagnose(f RunFacts) []Finding { panic("not yet") }

// Outcomes of a run.
const (
	OutcomeComplete = "complete"
	OutcomePartial  = "partial"
	OutcomeFailed   = "failed"
	OutcomeKilled   = "killed"
)

// Outcome judges a finished run: complete when every job is complete, killed when the cap or Kaggle ended it, partial
// when something worth keeping came out, failed otherwise.
func Outcome(f RunFacts) string { panic("not yet") }
