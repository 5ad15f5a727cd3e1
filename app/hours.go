package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"sandglass/app/runlog"
	"sandglass/planner"
)

// HoursAsk asks how long a session may run. Measured hours of a task come from Runs, else from the log (Kernel, or Name,
// Command and Project), else from Fold, else from Rehearsal and Speed, else from the project's last rehearsal of that command.
type HoursAsk struct {
	Runs []float64 // hours of one task on one device, measured elsewhere

	Kernel                 string // a run in the log: its tasks, and those of the other runs of the same command
	Name, Command, Project string // the same for a run that is not pushed yet
	Job                    string // only the tasks of this job; "" = all

	// Jobs is how many tasks each job of the session has, by its name ([BuildSpec.TasksByJob]); nil: Tasks of every job that
	// was measured. With it Tasks says nothing.
	Jobs map[string]int

	Fold      float64    // hours of one task, measured by hand
	Rehearsal float64    // hours of one task on the machine of the rehearsal, extrapolated
	Speed     SpeedGuess // how many times faster a device of the session is than that machine
	Kind      string     // as AcceleratorAsk.Kind: what a rehearsal on this computer is scaled by; "" = not known, so a wider range

	Tasks       int     // 0 = as many as the run of Kernel has, else 1
	Devices     int     // tasks at a time; 0 = what the accelerator has
	Confidence  float64 // 0 = 0.95
	Accelerator string  // "" = that of the run, else NvidiaTeslaT4
	CapHours    float64 // a cap that the person chose; 0 = advise
	OwnKernel   bool    // not built by Sandglass: nothing stops its tasks before the cap
	LeftHours   *float64
	Curve       bool // fill HoursAdvice.Curve
}

// SpeedGuess is a factor and the range that holds it in nine of ten cases; without a range a factor of two is believed.
type SpeedGuess struct{ Ratio, Low, High float64 }

// HoursAdvice is the cap of a session. What is not known is nil.
type HoursAdvice struct {
	Accelerator string   `json:"accelerator"`
	Pool        string   `json:"pool"`
	Tasks       int      `json:"tasks"`
	Devices     int      `json:"devices"`
	Confidence  float64  `json:"confidence"`
	Basis       string   `json:"basis"` // "runs", "one fold", "rehearsal", "unknown"
	Runs        []Hours  `json:"runs"`  // the measured tasks, in the order they were found
	TaskMedianH *float64 `json:"task_median_h"`
	TaskUpperH  *float64 `json:"task_upper_h"` // one task stays under it with chance Confidence
	MakespanH   *float64 `json:"makespan_h"`   // all tasks, if each takes task_upper_h
	StartUpH    float64  `json:"start_up_h"`
	TailH       float64  `json:"tail_h"`
	BoundH      *float64 `json:"bound_h"` // the session is over within it with chance Confidence
	CapH        *float64 `json:"cap_h"`
	WantedH     *float64 `json:"wanted_h"` // the cap before it was clipped to the session limit
	LimitH      float64  `json:"limit_h"`
	ExpectedH   *float64 `json:"expected_h"` // what it will probably burn
	PKilled     *float64 `json:"p_killed"`   // chance that the session is stopped with work undone
	Clipped     bool     `json:"clipped"`
	Sessions    *int     `json:"sessions"`
	Waves       int      `json:"waves"`
	IdleDevices int      `json:"idle_devices"` // without work in the last wave
	IdleH       *float64 `json:"idle_h"`
	ResumeH     float64  `json:"resume_h"` // what going on in another session costs beyond the work

	LeftH        *float64   `json:"left_h"`       // quota that nobody holds
	LeftAfterH   *float64   `json:"left_after_h"` // after expected_h
	FitsSession  bool       `json:"fits_session"`
	FitsQuota    *bool      `json:"fits_quota"`
	ResetAt      *time.Time `json:"reset_at"`
	CrossesReset *bool      `json:"crosses_reset"`

	Options  []HoursOption `json:"options"` // other ways to run the same work, the best first
	Warnings []string      `json:"warnings"`
	Curve    []HoursPoint  `json:"curve,omitempty"`

	advice planner.HoursAdvice
}

// Hours is one measured task.
type Hours struct {
	H   float64 `json:"hours"`
	Run int64   `json:"run"` // 0 = given by the person
}

// HoursOption is another way: "split" over sessions, "fewer" tasks, "fill" idle devices, "bench" first.
type HoursOption struct {
	Code  string   `json:"code"`
	Tasks []int    `json:"tasks"` // of each session
	CapH  *float64 `json:"cap_h"`
	Text  string   `json:"text"`
}

// HoursPoint is a point of the session's distribution: the chance that it is over within H hours.
type HoursPoint struct {
	H      float64 `json:"hours"`
	Within float64 `json:"within"`
}

// KilledAt is the chance that a session with this cap is stopped with work undone; 1 when nothing is known.
func (v HoursAdvice) KilledAt(capH float64) float64 { return v.advice.KilledAt(capH) }

// Hours sizes the cap of a session (planner.SizeCap) from what is asked and what the log knows. It asks nobody: the quota
// is the last one read. Nobody has to be signed in.
func (a *App) Hours(ctx context.Context, ask HoursAsk) (HoursAdvice, error) {
	if err := ask.check(); err != nil {
		return HoursAdvice{}, err
	}
	acc, err := a.Account(ctx)
	if err != nil && !errors.Is(err, ErrNoAccount) {
		return HoursAdvice{}, err
	}
	m, err := a.measured(ctx, acc, &ask)
	if err != nil {
		return HoursAdvice{}, err
	}
	if ask.Accelerator == "" {
		ask.Accelerator = "NvidiaTeslaT4"
	}
	if len(ask.Jobs) > 0 {
		ask.Tasks = 0
		for _, n := range ask.Jobs {
			ask.Tasks += n
		}
	}
	if len(m.hours) == 0 && ask.Fold == 0 && ask.Rehearsal == 0 {
		a.fromRehearsal(ctx, &ask)
	}
	shape, _ := planner.LookupShape(ask.Accelerator)
	if ask.Devices == 0 {
		ask.Devices = max(shape.Devices, 1)
	}
	p := planner.HoursAsk{RunHours: m.hours, RunSession: m.sessions, FoldHours: ask.Fold, RehearsalHours: ask.Rehearsal,
		Speed: planner.Ratio(ask.Speed), Tasks: max(ask.Tasks, 1), TaskScale: m.scale, Devices: ask.Devices, Confidence: ask.Confidence,
		Pool: shape.Pool, CapH: ask.CapHours, OwnKernel: ask.OwnKernel, LeftH: ask.LeftHours}
	v := HoursAdvice{Accelerator: shape.Name, Pool: string(shape.Pool), Tasks: p.Tasks, Devices: p.Devices, Runs: m.runs}
	if len(p.TaskScale) > 0 {
		v.Tasks = len(p.TaskScale)
	}
	if err := a.hoursQuota(ctx, acc, &p, &v); err != nil {
		return v, err
	}
	v.fill(planner.SizeCap(p), ask.Curve)
	return v, nil
}

// fromRehearsal takes the length of a task from the project's last rehearsal of the same command on this computer, when that ran
// whole epochs. A rehearsal that cannot be read says nothing: the answer is then that nothing is known.
func (a *App) fromRehearsal(ctx context.Context, ask *HoursAsk) {
	if ask.Project == "" || ask.Command == "" {
		return
	}
	project, err := filepath.Abs(ask.Project)
	if err != nil {
		return
	}
	r, ok, err := a.findRehearsal(project, func(k keptRehearsal) bool {
		return k.Spec.Command == ask.Command && k.PredictedTaskHours != nil && *k.PredictedTaskHours > 0
	})
	if err != nil || !ok {
		return
	}
	speed, ok := planner.FromHere(planner.ClassOf(planner.AcceleratorAsk{Memory: planner.MemoryAsk{Kind: kindWords[ask.Kind]}}), ask.Accelerator)
	if ok {
		ask.Rehearsal, ask.Speed = min(*r.PredictedTaskHours, maxHours), SpeedGuess(speed)
	}
}

// maxHours is a year: no task is longer, and sums of more would not be numbers.
const maxHours = 8766

// check refuses what cannot be meant.
func (ask HoursAsk) check() error {
	for _, h := range slices.Concat(ask.Runs, []float64{ask.Fold, ask.Rehearsal, ask.CapHours}) {
		if !(h >= 0 && h <= maxHours) {
			return &CallError{Reason: fmt.Sprintf("%v is no number of hours that a task or a session takes", h), Action: "Give measured hours of one task, such as 1.8,2.0,2.1."}
		}
	}
	if slices.Contains(ask.Runs, 0) {
		return &CallError{Reason: "a task that took 0 hours says nothing", Action: "Leave it out."}
	}
	for job, n := range ask.Jobs {
		if n < 0 || n > 1000 {
			return &CallError{Reason: fmt.Sprintf("%d tasks of %s cannot be meant", n, job), Action: "Give 0 to 1000."}
		}
	}
	_, known := planner.LookupShape(ask.Accelerator)
	if _, err := word("kind", ask.Kind, kindWords, "transformer, cnn, tabular, other"); err != nil {
		return err
	}
	switch {
	case !known:
		return &CallError{Reason: fmt.Sprintf("%q is no accelerator that is known here", ask.Accelerator), Action: "Give NvidiaTeslaT4, TpuV5E8 or none."}
	case ask.Confidence != 0 && !(ask.Confidence >= 0.5 && ask.Confidence < 1):
		return &CallError{Reason: fmt.Sprintf("a confidence of %v cannot be asked for", ask.Confidence), Action: "Give a chance from 0.5 to 0.999."}
	case ask.Tasks < 0 || ask.Tasks > 1000 || ask.Devices < 0 || ask.Devices > 64:
		return &CallError{Reason: "there are 1 to 1000 tasks, and 1 to 64 devices", Action: "Give the number of folds of the run, and the GPUs or TPU chips of the session."}
	case ask.LeftHours != nil && !(*ask.LeftHours >= 0 && *ask.LeftHours < 1e4):
		return &CallError{Reason: "the hours left are no number of hours"}
	case ask.Rehearsal > 0 && !(ask.Speed.Ratio > 0):
		return &CallError{Reason: "a rehearsal's hours say nothing without how much faster the session's device is", Action: "Give the factor."}
	}
	return nil
}

// hoursQuota adds what is left of the pool, and the reset.
func (a *App) hoursQuota(ctx context.Context, acc Account, p *planner.HoursAsk, v *HoursAdvice) error {
	if acc.ID != 0 && p.Pool != planner.CPU {
		q, err := a.cachedQuota(ctx, acc)
		if err != nil {
			return err
		}
		pool := q.GPU
		if p.Pool == planner.TPU {
			pool = q.TPU
		}
		if pool.Known && p.LeftH == nil {
			p.LeftH = &pool.Left
		}
		if !q.RefreshAt.IsZero() {
			v.ResetAt = &q.RefreshAt
			p.ResetIn = q.RefreshAt.Sub(a.now())
		}
		waits, err := a.queueWaits(ctx, acc, p.Pool)
		if err != nil {
			return err
		}
		p.QueueH = planner.EstimateQueue(p.Pool, waits).Median
	}
	v.LeftH = p.LeftH
	return nil
}

// queueWaits are the account's own waits between push and start in one pool, in hours, newest first.
func (a *App) queueWaits(ctx context.Context, acc Account, pool planner.Pool) ([]float64, error) {
	runs, err := a.store.Runs(ctx, runlog.Filter{Account: acc.ID})
	if err != nil {
		return nil, err
	}
	var out []float64
	for _, r := range runs {
		if from := queuedFrom(r); poolOf(r) == pool && !from.IsZero() && r.StartedAt.After(from) {
			out = append(out, r.StartedAt.Sub(from).Hours()*speedOf(acc))
		}
	}
	return out, nil
}

// fill takes over the planner's advice.
func (v *HoursAdvice) fill(a planner.HoursAdvice, curve bool) {
	v.advice = a
	v.Basis, v.Confidence, v.Warnings, v.Waves = a.Basis, a.Confidence, a.Warnings, a.Waves
	v.StartUpH, v.TailH, v.ResumeH, v.LimitH = a.StartUpH, a.TailH, a.ResumeH, a.LimitH
	v.IdleDevices, v.FitsSession, v.Clipped = a.IdleDevices, a.FitsSession, a.Clipped
	for _, o := range a.Options {
		x := HoursOption{Code: o.Code, Tasks: o.Tasks, Text: o.Text}
		if o.CapH > 0 {
			x.CapH = &o.CapH
		}
		v.Options = append(v.Options, x)
	}
	if !a.Known {
		return
	}
	v.TaskMedianH, v.TaskUpperH, v.MakespanH, v.BoundH = &a.TaskMedianH, &a.TaskUpperH, &a.MakespanH, &a.BoundH
	v.CapH, v.WantedH, v.ExpectedH, v.PKilled = &a.CapH, &a.WantedH, &a.ExpectedH, &a.PKilled
	v.Sessions, v.IdleH = &a.Sessions, &a.IdleH
	v.LeftAfterH, v.FitsQuota, v.CrossesReset = a.LeftAfterH, a.FitsQuota, a.Crosses
	if !curve {
		return
	}
	for i := range curvePoints + 1 {
		h := 2 * a.ExpectedH * float64(i) / curvePoints
		v.Curve = append(v.Curve, HoursPoint{h, a.Within(h)})
	}
}

// curvePoints are the steps of HoursAdvice.Curve, from nothing to twice what is expected.
const curvePoints = 120
