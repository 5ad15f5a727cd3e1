package planner

import "time"

// What the advice on a cap is based on.
const (
	BasisRuns      = "runs"      // several measured tasks of the same job
	BasisOneFold   = "one fold"  // one measured task
	BasisRehearsal = "rehearsal" // a rehearsal, scaled by a relative speed
	BasisUnknown   = "unknown"   // nothing: no number is given
)

// Defaults of a cap.
const (
	// DefaultConfidence is the chance with which a cap shall hold.
	DefaultConfidence = 0.95
	// StartUpH is taken off before the first task starts: image, inputs, installs, first compile. Hours.
	StartUpH = 0.25
	// TPUStartUpH is that of a TPU session.
	TPUStartUpH = 1.0 / 3
	// TailH is kept after the last task for joining the folds and saving. Hours.
	TailH = 0.1
)

// HoursAsk asks how long a session may run. Everything but one of RunHours, FoldHours and RehearsalHours may be zero.
type HoursAsk struct {
	// RunHours are measured hours of one whole task (a fold) on one device in the same configuration, one a task.
	// RunSession, when it has the same length, says which session each belongs to: what tasks of one session share
	// (the machine) is then told apart from their own noise.
	RunHours   []float64
	RunSession []int64

	FoldHours float64 // one task, measured by hand; used when RunHours is empty

	RehearsalHours float64 // one task on the machine of the rehearsal, extrapolated; used when there is nothing better
	Speed          Ratio   // how many times faster a device of the session is than that machine

	Tasks      int       // tasks of the session; 0 = 1
	TaskScale  []float64 // length of each task relative to the measured ones; nil = all alike
	Devices    int       // tasks at a time; 0 = 1
	Confidence float64   // 0 = DefaultConfidence
	Pool       Pool      // "" = GPU
	StartUp    time.Duration
	Tail       time.Duration
	LimitH     float64 // session limit in hours; 0 = SessionLimit(Pool)
	CapH       float64 // a cap that the person chose: PKilled is the chance at this one; 0 = advise
	OwnKernel  bool    // not our session runner: it is stopped by Kaggle at the cap, and by nothing before

	LeftH   *float64      // hours of the pool that nobody holds; nil = unknown
	ResetIn time.Duration // until the weekly reset; 0 = unknown
	QueueH  float64       // expected wait before the session starts, hours
}

// Ratio is a factor with a range that holds it in nine of ten cases.
type Ratio struct{ Ratio, Low, High float64 }

// HoursAdvice is the cap of a session and what speaks for it. With Known false no number means anything.
type HoursAdvice struct {
	Known      bool
	Basis      string
	N          int // measured tasks it rests on
	Confidence float64

	TaskMedianH float64 // likely hours of one task
	TaskUpperH  float64 // bound of one task at Confidence
	MakespanH   float64 // of tasks that all take their bound
	StartUpH    float64
	TailH       float64
	BoundH      float64 // the session is over within this many hours with chance Confidence
	ExpectedH   float64 // what it will probably burn
	WantedH     float64 // cap before it is clipped to the session limit
	CapH        float64
	PKilled     float64 // chance that the session is stopped with work undone
	LimitH      float64 // session limit
	Clipped     bool    // the session limit is below WantedH: a resume is likely
	Sessions    int     // sessions that the work takes
	Waves       int     // tasks one after the other on the busiest device
	IdleDevices int     // devices without work in the last wave
	IdleH       float64 // device-hours that they idle
	ResumeH     float64 // what going on in another session costs beyond the work itself

	FitsSession bool
	FitsQuota   *bool    // nil: quota unknown
	LeftAfterH  *float64 // quota left when it burns ExpectedH
	Crosses     *bool    // may run across the reset; nil: unknown

	Options  []HoursOption // other ways to run it, the best first
	Warnings []string

	model *sessionModel
}

// HoursOption is another way to run the same work.
type HoursOption struct {
	Code  string  // "split", "fewer", "fill", "bench"
	Tasks []int   // tasks of each session
	CapH  float64 // of the longest session; 0 = not known
	Text  string
}

// SizeCap sizes the cap of a session.
func SizeCap(ask HoursAsk) HoursAdvice { return HoursAdvice{Basis: BasisUnknown} }

// KilledAt is the chance that a session with this cap is stopped with work undone.
func (a HoursAdvice) KilledAt(capH float64) float64 { return 1 }

type sessionModel struct{}
