package planner

import (
	"cmp"
	"math"
	"slices"
	"time"
)

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

// SizeCap sizes the cap of a session: start-up, the longest-first makespan of tasks that all take their upper bound, and a
// tail for saving; longer where that would not hold with the chance asked for.
//
// TaskUpperH is the bound of one task ([ShrunkUpper]). A chance of 95 % for each task is not one of 95 % for the session:
// the waves of a session add up, which evens out each task's own noise, and the longest of parallel tasks decides, which
// does the opposite. So the session's own distribution is reckoned as well (sessionModel): its quantile is BoundH, and
// PKilled is the chance that the tasks are not through when the session runner asks them to stop ([RunnerStops]), which
// is before the cap. A cap above what is needed costs a reservation and no hours.
//
// Without any measurement nothing is made up: Known is false, and a bench session is the option.
func SizeCap(ask HoursAsk) HoursAdvice {
	ask = ask.filled()
	a := HoursAdvice{Basis: BasisUnknown, Confidence: ask.Confidence, StartUpH: ask.StartUp.Hours(), TailH: ask.Tail.Hours(),
		LimitH: ask.LimitH, Waves: (ask.Tasks + ask.Devices - 1) / ask.Devices, FitsSession: true}
	a.ResumeH = a.StartUpH + a.TailH
	b, ok := ask.belief()
	if !ok {
		a.unknown(ask)
		return a
	}
	a.Known, a.Basis, a.N = true, b.basis, b.n
	m := newSessionModel(ask, b)
	a.model = m
	a.TaskMedianH, a.TaskUpperH = math.Exp(b.mean), b.upper(ask.Confidence)
	a.MakespanH = listMakespan(ask.scales(), ask.Devices, a.TaskUpperH)
	need := m.quantile(ask.Confidence)
	a.BoundH = a.StartUpH + need + a.TailH
	a.WantedH = wholeSeconds(max(a.StartUpH+a.MakespanH+a.TailH, m.capFor(need)))
	a.CapH, a.Sessions = min(a.WantedH, a.LimitH), 1
	a.FitsSession = a.WantedH <= a.LimitH
	a.Clipped = !a.FitsSession
	if a.Clipped {
		a.Sessions = sessionsFor(a, m)
	}
	if ask.CapH > 0 {
		a.CapH = min(ask.CapH, a.LimitH)
	}
	a.ExpectedH = a.StartUpH + m.quantile(0.5) + a.TailH
	if a.Sessions > 1 {
		a.ExpectedH += float64(a.Sessions-1) * a.ResumeH
	}
	a.PKilled = m.killed(a.CapH)
	a.idle(ask)
	a.quota(ask)
	a.advise(ask)
	return a
}

// KilledAt is the chance that a session with this cap is stopped with work undone; 1 when nothing is known.
func (a HoursAdvice) KilledAt(capH float64) float64 {
	if a.model == nil {
		return 1
	}
	return a.model.killed(min(capH, a.LimitH))
}

// Within is the chance that the whole session, start-up and saving included, is over within h hours.
func (a HoursAdvice) Within(h float64) float64 {
	if a.model == nil {
		return 0
	}
	return a.model.below(h - a.StartUpH - a.TailH)
}

// filled gives what was left open its default.
func (ask HoursAsk) filled() HoursAsk {
	if ask.Pool == "" {
		ask.Pool = GPU
	}
	ask.Tasks = max(ask.Tasks, 1)
	if len(ask.TaskScale) > 0 {
		ask.Tasks = len(ask.TaskScale)
	}
	ask.Devices = max(ask.Devices, 1)
	if !(ask.Confidence > 0 && ask.Confidence < 1) {
		ask.Confidence = DefaultConfidence
	}
	if ask.StartUp <= 0 {
		ask.StartUp = hoursLong(StartUpH)
		if ask.Pool == TPU {
			ask.StartUp = hoursLong(TPUStartUpH)
		}
	}
	if ask.Tail <= 0 {
		ask.Tail = hoursLong(TailH)
	}
	if ask.LimitH <= 0 {
		ask.LimitH = SessionLimit(ask.Pool).Hours()
	}
	return ask
}

// scales are the lengths of the tasks relative to the measured one, the longest first: the order they are started in.
func (ask HoursAsk) scales() []float64 {
	out := slices.Repeat([]float64{1}, ask.Tasks)
	for i, s := range ask.TaskScale {
		if s > 0 {
			out[i] = s
		}
	}
	slices.SortFunc(out, func(a, b float64) int { return cmp.Compare(b, a) })
	return out
}

func hoursLong(h float64) time.Duration { return time.Duration(math.Round(h * float64(time.Hour))) }

// wholeSeconds rounds hours up to whole seconds, which is what Kaggle takes as a cap.
func wholeSeconds(h float64) float64 { return math.Ceil(h*3600-1e-6) / 3600 }

func listMakespan(scales []float64, devices int, unit float64) float64 {
	tasks := make([]float64, len(scales))
	for i, s := range scales {
		tasks[i] = s * unit
	}
	return Makespan(tasks, devices)
}
