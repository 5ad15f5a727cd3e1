package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sandglass/app/runlog"
	"sandglass/planner"
)

// AcceleratorAsk is what a person knows of a job. Everything may be zero: what is not known widens the answer or is not told.
type AcceleratorAsk struct {
	Kind    string  // transformer, cnn, tabular, other; "" = by Arch
	Arch    string  // a known architecture: see Architectures
	Params  float64 // parameters
	Layers  int
	Hidden  int
	Heads   int
	KVHeads int // with grouped-query attention
	FFN     int // inner width; 0 = 4 x Hidden
	Vocab   int
	Seq     int // tokens
	Batch   int
	Image   int // side in pixels

	Precision     string // fp32, amp, amp-bf16, fp16, bf16, pure-fp16, pure-bf16; "" = the usual one
	Optimizer     string // sgd, momentum, adam, adam8bit, adafactor
	Method        string // full, lora, qlora, inference
	Attention     string // eager, fused
	Checkpointing bool
	LoRARank      int
	LoRATargets   string // qv, all
	Bench         []MemoryPoint
	Rows, Columns float64 // of a table

	HoursT4    float64 // hours of one task on one T4
	Tasks      int     // folds or seeds; 0 = 1
	Framework  string  // libraries, with commas
	Dynamic    bool    // shapes change from batch to batch, or gathers and custom CUDA
	Tiny       bool    // a small model, bound by launches or input
	DICOM      bool
	OneProcess bool

	Steps []StepTime // own step times of the same work, at least one of them on a T4

	Kernel                 string // a run in the log: its own tasks and those of the other runs of the same command
	Name, Command, Project string // the same for a run that is not pushed yet

	LimitH map[string]float64 // session limits that differ from 12 h and 9 h, by pool
	Also   []string           // further machine shapes to judge
	Live   bool               // ask Kaggle for the quota; else the last reading
}

// MemoryPoint is a measured peak of device memory.
type MemoryPoint struct {
	Batch int
	MiB   float64
}

// StepTime is how long one step took on one device of a machine.
type StepTime struct {
	Shape   string
	Seconds float64
}

// AcceleratorAdvice is every machine judged, the best first.
type AcceleratorAdvice struct {
	Options   []AcceleratorOption `json:"options"`
	Verdict   string              `json:"verdict"` // one sentence
	Class     string              `json:"class"`   // of work: what the speed figures go by
	Tasks     int                 `json:"tasks"`
	QuotaLive bool                `json:"quota_live"` // read from Kaggle just now
	QuotaWhy  string              `json:"quota_why"`  // when it is not: why
	ResetAt   *time.Time          `json:"reset_at"`
	Now       time.Time           `json:"now"`
}

// AcceleratorOption is one machine. Hours are numbers in hours, and what is not known is null.
type AcceleratorOption struct {
	Accelerator string       `json:"accelerator"` // NvidiaTeslaT4, TpuV5E8, none
	Title       string       `json:"title"`
	Pool        string       `json:"pool"`
	Recommended bool         `json:"recommended"`
	Fits        bool         `json:"fits"` // it runs, and nothing that is known says that it does not fit
	Fit         string       `json:"fit"`  // yes, tight (it may run out of memory), no, unknown
	Runs        bool         `json:"runs"` // libraries and machine go together
	Suits       bool         `json:"suits"`
	Memory      MemoryView   `json:"memory_gib"`  // of one device
	QuotaHours  *float64     `json:"quota_hours"` // likely burn of the pool's week
	Quota       SpanView     `json:"quota_range"`
	Finish      SpanView     `json:"finish"`    // hours from now
	FinishAt    MomentsView  `json:"finish_at"` // the same as times
	LeftAfterH  *float64     `json:"left_after_h"`
	Affordable  *bool        `json:"affordable"` // the week's quota holds it; null = unknown
	Queue       SpanView     `json:"queue"`      // wait before a session, hours
	QueueBasis  string       `json:"queue_basis"`
	QueueN      int          `json:"queue_n"` // own waits it rests on
	Devices     int          `json:"devices"`
	Workers     int          `json:"workers"`
	Waves       int          `json:"waves"`
	Sessions    *int         `json:"sessions"`
	TaskH       SpanView     `json:"task_h"`
	HoursBasis  string       `json:"hours_basis"` // given, history, unknown
	Speed       SpeedView    `json:"speed"`       // one device against one T4
	Changes     []ChangeView `json:"changes"`     // what would make it fit, the gentlest first
	Reasons     []string     `json:"reasons"`
	Doubts      []string     `json:"doubts"`
	Asks        []string     `json:"asks"`         // what would settle some of the doubts: "table" (rows and columns), "model", "hours" of a task on one T4
	OwnPeakGiB  *float64     `json:"own_peak_gib"` // memory of one device in the newest own run of the job there; null = not measured
}

// SpanView is a low, a likely and a high figure, or nulls.
type SpanView struct {
	Low    *float64 `json:"low"`
	Likely *float64 `json:"likely"`
	High   *float64 `json:"high"`
}

// MomentsView is a span of time, or nulls.
type MomentsView struct {
	Low  *time.Time `json:"low"`
	High *time.Time `json:"high"`
}

// MemoryView is a memory estimate in GiB; its terms add up to low and high.
type MemoryView struct {
	SpanView
	Usable *float64   `json:"usable"` // of one device
	Basis  string     `json:"basis"`  // bench, formula, architecture, parameters, table, unknown
	Terms  []TermView `json:"terms"`
}

// TermView is one part of a memory estimate, in GiB.
type TermView struct {
	Name   string  `json:"name"` // weights, grads, optimiser, activations, context, buffers, …
	Low    float64 `json:"low"`
	Likely float64 `json:"likely"`
	High   float64 `json:"high"`
	Source string  `json:"source"`
}

// SpeedView is a relative speed and where it is from.
type SpeedView struct {
	Ratio  *float64 `json:"ratio"`
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"`
	Basis  string   `json:"basis"` // reference (a T4), measured, history, prior, none (does not run), unknown
	Source string   `json:"source"`
}

// ChangeView is a change after which the job fits.
type ChangeView struct {
	Text string  `json:"text"`
	Low  float64 `json:"low"` // GiB
	High float64 `json:"high"`
}

// Accelerators judges every machine for a job (planner.RankAccelerators) with this week's quota, the person's own waits in
// the queue and the times their own runs of the same command took. Nobody has to be signed in: the quota is then unknown.
func (a *App) Accelerators(ctx context.Context, ask AcceleratorAsk) (AcceleratorAdvice, error) {
	p, err := ask.planner()
	if err != nil {
		return AcceleratorAdvice{}, err
	}
	if ask.Project != "" { // the log knows projects by their full paths
		if ask.Project, err = filepath.Abs(ask.Project); err != nil {
			return AcceleratorAdvice{}, err
		}
		if st, err := os.Stat(ask.Project); err != nil || !st.IsDir() {
			return AcceleratorAdvice{}, &CallError{Reason: "there is no folder " + ask.Project, Action: "Name the project's folder, or leave it out."}
		}
	}
	acc, err := a.Account(ctx)
	if err != nil && !errors.Is(err, ErrNoAccount) {
		return AcceleratorAdvice{}, err
	}
	v := AcceleratorAdvice{Now: a.now().UTC(), QuotaWhy: "nobody is signed in"}
	if acc.ID != 0 {
		if err := a.acceleratorQuota(ctx, acc, ask.Live, &p, &v); err != nil {
			return v, err
		}
		if err := a.acceleratorHistory(ctx, acc, ask, &p); err != nil {
			return v, err
		}
	}
	for pool, h := range ask.LimitH {
		switch planner.Pool(strings.ToLower(pool)) {
		case planner.GPU:
			p.GPU.LimitH = h
		case planner.TPU:
			p.TPU.LimitH = h
		}
	}
	v.Tasks, v.Class = max(p.Tasks, 1), string(planner.ClassOf(p))
	ranked := planner.RankAccelerators(p)
	v.Verdict = planner.RankingVerdict(ranked)
	for _, o := range ranked {
		x := optionView(o, v.Now, speedOf(acc))
		if peak := p.OwnPeakGiB[o.Shape]; peak > 0 {
			x.OwnPeakGiB = &peak
		}
		v.Options = append(v.Options, x)
	}
	return v, nil
}

// acceleratorQuota adds quota, slots and own waits.
func (a *App) acceleratorQuota(ctx context.Context, acc Account, live bool, p *planner.AcceleratorAsk, v *AcceleratorAdvice) error {
	q, err := a.Quota(ctx, live)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		q = QuotaView{Why: err.Error()}
	}
	v.QuotaLive, v.QuotaWhy = q.Live, q.Why
	var reset *float64
	if !q.RefreshAt.IsZero() {
		v.ResetAt = timeOrNil(q.RefreshAt)
		h := max(q.RefreshAt.Sub(v.Now).Hours(), 0)
		reset = &h
	}
	for _, x := range []struct {
		pool planner.Pool
		from PoolView
		to   *planner.PoolState
	}{{planner.GPU, q.GPU, &p.GPU}, {planner.TPU, q.TPU, &p.TPU}} {
		if x.from.Known {
			x.to.LeftH, x.to.TotalH = &x.from.Left, &x.from.Total
		}
		x.to.ResetInH = reset
		if x.to.WaitsH, err = a.queueWaits(ctx, acc, x.pool); err != nil {
			return err
		}
		if x.to.Busy, x.to.FreeInH, err = a.slotsBusy(ctx, acc, x.pool); err != nil {
			return err
		}
	}
	return nil
}

// slotsBusy counts our own sessions at Kaggle in a pool, and says in how many hours one of them ends at the latest; nil when
// that is not known.
func (a *App) slotsBusy(ctx context.Context, acc Account, pool planner.Pool) (n int, free *float64, err error) {
	runs, err := a.store.Runs(ctx, runlog.Filter{Account: acc.ID, States: []string{StatePushing, StateUnclear, StateQueued, StateRunning, StateStopping}})
	if err != nil {
		return 0, nil, err
	}
	for _, r := range runs {
		if poolOf(r) != pool {
			continue
		}
		n++
		if r.StartedAt.IsZero() || r.Cap <= 0 {
			continue
		}
		rest := max(r.Cap.Hours()-a.now().Sub(r.StartedAt).Hours()*speedOf(acc), 0)
		if free == nil || rest < *free {
			free = &rest
		}
	}
	return n, free, nil
}

// otherShapes is how far back a machine counts that is not offered to everybody.
const otherShapes = 60 * 24 * time.Hour

// acceleratorHistory adds how long the same job's tasks took on each machine, and the machines that Kaggle gave this account
// lately beyond those that everybody gets.
func (a *App) acceleratorHistory(ctx context.Context, acc Account, ask AcceleratorAsk, p *planner.AcceleratorAsk) error {
	started, err := a.store.Runs(ctx, runlog.Filter{Account: acc.ID, Since: a.now().Add(-otherShapes)})
	if err != nil {
		return err
	}
	shapes := []string{"NvidiaTeslaT4", "TpuV5E8", "none"}
	for _, r := range started {
		s, ok := planner.LookupShape(r.Accelerator)
		if ok && s.Status == planner.ShapeRestricted && r.State == StateComplete && !slices.Contains(shapes, s.Name) {
			shapes = append(shapes, s.Name)
			p.Offered = append(p.Offered, s.Name)
		}
	}
	p.OwnTasksH, p.OwnPeakGiB = map[string][]float64{}, map[string]float64{}
	for _, shape := range shapes {
		if peak, err := a.ownPeak(ctx, acc, ask, shape); err != nil {
			return err
		} else if peak > 0 {
			p.OwnPeakGiB[shape] = peak
		}
		h := HoursAsk{Kernel: ask.Kernel, Name: ask.Name, Command: ask.Command, Project: ask.Project, Accelerator: shape, Tasks: ask.Tasks}
		m, err := a.measured(ctx, acc, &h)
		if err != nil {
			return err
		}
		if len(m.hours) > 0 {
			p.OwnTasksH[shape] = m.hours
		}
		if p.Tasks == 0 && ask.Kernel != "" {
			p.Tasks = h.Tasks
		}
	}
	return nil
}

// ownPeak is how much memory one device held at most, in GiB, in the newest run of the same job on a machine that measured it;
// 0 when none did. The sampler reads what the driver says is taken, so a framework's cache is in it.
func (a *App) ownPeak(ctx context.Context, acc Account, ask AcceleratorAsk, shape string) (float64, error) {
	if planner.PoolOf(shape) == planner.CPU {
		return 0, nil
	}
	f := runlog.Filter{Account: acc.ID, Name: ask.Name, Command: ask.Command, Project: ask.Project, Origins: []string{originPush}, Accelerators: []string{shape}, Limit: measuredRuns}
	if ask.Kernel != "" {
		r, err := a.resolve(ctx, acc, ask.Kernel)
		if err != nil {
			return 0, err
		}
		f.Name, f.Command, f.Project = r.Name, r.Command, r.Project
		if r.Command == "" {
			f.Kernel = r.Kernel
		}
	} else if ask.Name == "" && ask.Command == "" {
		return 0, nil
	}
	runs, err := a.store.Runs(ctx, f)
	if err != nil {
		return 0, err
	}
	for _, r := range runs {
		samples, err := a.store.Util(ctx, r.ID)
		if err != nil {
			return 0, err
		}
		peak := 0.0
		for _, s := range samples {
			if s.Mem > peak { // NaN is not
				peak = s.Mem
			}
		}
		if peak > 0 {
			return peak / 1024, nil
		}
	}
	return 0, nil
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func optionView(o planner.AcceleratorOption, now time.Time, speed float64) AcceleratorOption {
	v := AcceleratorOption{Accelerator: o.Shape, Title: o.Title, Pool: string(o.Pool), Recommended: o.Recommended, Fits: o.Fits, Fit: o.Fit, Runs: o.Runs,
		Suits: o.Suits, Quota: spanView(o.QuotaH), Finish: spanView(o.FinishH), LeftAfterH: o.LeftAfterH, Affordable: o.Affordable, Queue: spanView(&o.QueueH),
		QueueBasis: o.QueueBasis, QueueN: o.QueueN, Devices: o.Devices, Workers: o.Workers, Waves: o.Waves, TaskH: spanView(o.TaskH), HoursBasis: o.HoursBasis,
		Speed:   SpeedView{Basis: o.Speed.Basis, Source: o.Speed.Source},
		Changes: []ChangeView{}, Reasons: orEmpty(o.Reasons), Doubts: orEmpty(o.Doubts), Asks: orEmpty(o.Asks)}
	v.QuotaHours = v.Quota.Likely
	if o.Speed.Ratio > 0 {
		v.Speed.Ratio, v.Speed.Low, v.Speed.High = &o.Speed.Ratio, &o.Speed.Low, &o.Speed.High
	}
	if o.Sessions > 0 {
		v.Sessions = &o.Sessions
	}
	if f := o.FinishH; f != nil {
		at := func(h float64) *time.Time {
			t := now.Add(time.Duration(min(h/speed, 1e6) * float64(time.Hour))).Truncate(time.Second)
			return &t
		}
		v.FinishAt = MomentsView{at(f.Low), at(f.High)}
	}
	v.Memory = MemoryView{Basis: o.Memory.Basis, Terms: []TermView{}}
	if o.UsableGiB > 0 {
		v.Memory.Usable = &o.UsableGiB
	}
	if o.Memory.Known {
		v.Memory.SpanView = spanView(&planner.Range{Low: o.Memory.LowGiB, Likely: o.Memory.LikelyGiB, High: o.Memory.HighGiB})
		for _, t := range o.Memory.Terms {
			v.Memory.Terms = append(v.Memory.Terms, TermView{t.Name, t.Low / planner.GiB, t.Likely / planner.GiB, t.High / planner.GiB, t.Source})
		}
	}
	for _, c := range o.Changes {
		v.Changes = append(v.Changes, ChangeView{c.Text, c.LowGiB, c.HighGiB})
	}
	return v
}

func spanView(r *planner.Range) SpanView {
	if r == nil {
		return SpanView{}
	}
	return SpanView{&r.Low, &r.Likely, &r.High}
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// Architecture is a model whose facts are known.
type Architecture struct {
	Name   string  `json:"name"`
	Title  string  `json:"title"`
	Kind   string  `json:"kind"`
	Params float64 `json:"params"`
	Source string  `json:"source"`
}

// Architectures lists the models that AcceleratorAsk.Arch may name.
func Architectures() []Architecture {
	var out []Architecture
	for _, a := range planner.Architectures() {
		out = append(out, Architecture{a.Name, a.Title, string(a.Kind), a.Facts.Params, a.Source})
	}
	return out
}
