package planner

import (
	"math"
	"slices"
)

// usable is the memory of one device that a job can have, in GiB: 14.6 of a T4's 15.0, 15.75 of a v5e chip's 16 (unverified),
// 28 of the 30 GB of a CPU session.
func usable(s string) float64 {
	switch s {
	case "NvidiaTeslaT4":
		return 14.6
	case "TpuV5E8":
		return 15.75
	case "NvidiaTeslaP100":
		return 15.5
	case "none":
		return 28
	}
	if shape, ok := LookupShape(s); ok && shape.MemMiB > 0 {
		return .97 * float64(shape.MemMiB) / 1024
	}
	return 0
}

// gpuHostGiB is what a job can have of the 31.4 GiB of main memory of a T4 session.
const gpuHostGiB = 29

// memoryOn is the memory ask as it is on a pool: a TPU's 16 bits are bf16, a CPU trains in 32.
func (j *job) memoryOn(p Pool) MemoryAsk {
	a := j.Memory
	a.Pool = p
	switch {
	case p == TPU && (a.Precision == AMP || a.Precision == "" && (a.Method == "" || a.Method == FullTraining)):
		a.Precision = AMPBF16
	case p == TPU && a.Precision == FP16:
		a.Precision = BF16
	case p == TPU && a.Precision == PureFP16:
		a.Precision = PureBF16
	case p == CPU && (a.Precision.auto() || a.Precision.half() && (a.Method == "" || a.Method == FullTraining)):
		a.Precision = FP32
	}
	if p != GPU {
		a.Bench = nil // measured on a card
		if len(j.Memory.Bench) > 0 && a.Model.Params == 0 && a.Model.Arch == "" && a.Kind != KindTabular {
			a.Bench = j.Memory.Bench // all there is; the words say so
		}
	}
	return a
}

// memory estimates and judges the fit.
func (j *job) memory(o *AcceleratorOption) {
	ask := j.memoryOn(o.Pool)
	o.Memory, o.UsableGiB = EstimateMemory(ask), usable(o.Shape)
	if j.Class == WorkTrees && o.Pool == GPU {
		o.UsableGiB = gpuHostGiB // the table lies in the session's main memory
	}
	switch {
	case !o.Memory.Known || o.UsableGiB == 0:
		o.Fit = FitUnknown
	case o.Memory.HighGiB <= o.UsableGiB:
		o.Fit = FitYes
	case o.Memory.LikelyGiB <= o.UsableGiB:
		o.Fit = FitTight
	default:
		o.Fit = FitNo
		if o.Pool != CPU || j.Class == WorkTrees || j.Class == WorkTiny {
			o.Changes = changesToFit(ask, o.UsableGiB, o.Devices)
		}
	}
	o.Fits = o.Runs && o.Fit != FitNo
}

// workers is how many tasks run at a time.
func (j *job) workers(o *AcceleratorOption) {
	o.Workers = max(o.Devices, 1)
	if j.OneProcess {
		o.Workers = 1
	}
	o.Waves = waves(j.tasks, o.Workers)
}

// startOf is a session's start-up in hours.
func startOf(p Pool) float64 {
	if p == TPU {
		return tpuStartH
	}
	return gpuStartH
}

// pool is the state of an option's quota; CPU sessions have none.
func (j *job) pool(p Pool) PoolState {
	switch p {
	case GPU:
		return j.GPU
	case TPU:
		return j.TPU
	}
	return PoolState{}
}

// taskHours is what one task takes on one device: as the person says for a T4, else as own runs on the machine took, else
// from another machine's through the relative speed.
func (j *job) taskHours(o *AcceleratorOption) (r Range, basis string, ok bool) {
	if o.Shape == "NvidiaTeslaT4" && j.HoursT4 > 0 {
		return Range{j.HoursT4, j.HoursT4, j.HoursT4}, "given", true
	}
	if r, ok := spreadOf(j.OwnTasksH[o.Shape]); ok {
		return r, BasisHistory, true
	}
	t4, basis := Range{j.HoursT4, j.HoursT4, j.HoursT4}, "given"
	if j.HoursT4 == 0 {
		if t4, ok = spreadOf(j.OwnTasksH["NvidiaTeslaT4"]); !ok {
			// A T4's time from another machine's.
			for _, shape := range []string{"TpuV5E8", "NvidiaTeslaP100", "none"} {
				if h, known := spreadOf(j.OwnTasksH[shape]); known {
					v := SpeedOf(j.Class, shape, j.Own)
					t4, ok = Range{h.Low * v.Low, h.Likely * v.Ratio, h.High * v.High}, v.Ratio > 0
					break
				}
			}
		}
		if basis = BasisHistory; !ok {
			return Range{}, BasisUnknown, false
		}
	}
	v := o.Speed
	if v.Ratio <= 0 {
		return Range{}, BasisUnknown, false
	}
	return Range{t4.Low / v.High, t4.Likely / v.Ratio, t4.High / v.Low}, basis, true
}

// spreadOf is a task's time from measured ones: the shortest, the median, the longest, at least 10 % to either side.
func spreadOf(hours []float64) (Range, bool) {
	hours = slices.DeleteFunc(slices.Clone(hours), func(h float64) bool { return !(h > 0) || h > 1e5 })
	if len(hours) == 0 {
		return Range{}, false
	}
	m := median(hours)
	return Range{min(slices.Min(hours), .9*m), m, max(slices.Max(hours), 1.1*m)}, true
}

// timing reckons burn and finish. A session ends at its limit; work beyond it goes on in the next, which starts and, on a
// TPU, queues again.
func (j *job) timing(o *AcceleratorOption) {
	p := j.pool(o.Pool)
	q := EstimateQueue(o.Pool, p.WaitsH)
	o.QueueH, o.QueueBasis, o.QueueN = Range{q.Low, q.Median, q.High}, q.Basis, q.N
	if o.Pool == CPU {
		o.QuotaH = &Range{}
	}
	task, basis, ok := j.taskHours(o)
	o.HoursBasis = basis
	if !ok || !o.Runs {
		o.HoursBasis = BasisUnknown
		return
	}
	o.TaskH = &task
	limit := p.LimitH
	if !(limit > 0) {
		limit = SessionLimit(o.Pool).Hours()
	}
	start := startOf(o.Pool)
	room := max(limit-start-sessionTailH, limit/4)
	run := func(taskH float64) (n int, burn float64) {
		work := float64(o.Waves) * taskH
		n = 1
		if work+start > limit {
			n = int(min(math.Ceil(work/room), 1e6))
		}
		return n, work + float64(n)*start
	}
	lowN, low := run(task.Low)
	n, mid := run(task.Likely)
	highN, high := run(task.High)
	o.Sessions = n
	burn := Range{low, mid, high}
	if o.Pool != CPU {
		o.QuotaH = &burn
	}
	free := 0.0
	if p.Busy >= Slots(o.Pool) && p.FreeInH != nil {
		free = max(*p.FreeInH, 0)
	}
	o.FinishH = &Range{float64(lowN)*q.Low + low, free + float64(n)*q.Median + mid, free + float64(highN)*q.High + high}
	o.score = free + float64(n)*q.Mean + mid // the mean wait: a long tail counts
}

// quota compares the burn with what is left, and lets the finish wait for the reset when it does not suffice.
func (j *job) quota(o *AcceleratorOption) {
	p := j.pool(o.Pool)
	if o.Pool == CPU || o.QuotaH == nil || o.TaskH == nil || p.LeftH == nil {
		return
	}
	left := max(*p.LeftH, 0)
	after := left - o.QuotaH.Likely
	ok := after >= 0
	o.LeftAfterH, o.Affordable = &after, &ok
	reset, total := 168.0, 30.0
	if o.Pool == TPU {
		total = 20
	}
	if p.ResetInH != nil {
		reset = min(max(*p.ResetInH, 0), 168)
	}
	if p.TotalH != nil && *p.TotalH > 0 {
		total = *p.TotalH
	}
	// What the weeks after this one have to bring, and when the last of it is done: at the reset of its week, the wait
	// of a session and the rest of the work later.
	later := func(need, wait float64) float64 {
		short := need - left
		if short <= 0 {
			return 0
		}
		weeks := math.Ceil(short / total)
		return reset + 168*(weeks-1) + wait + short - total*(weeks-1)
	}
	o.FinishH.Low = max(o.FinishH.Low, later(o.QuotaH.Low, 0))
	o.FinishH.Likely = max(o.FinishH.Likely, later(o.QuotaH.Likely, o.QueueH.Likely))
	o.FinishH.High = max(o.FinishH.High, later(o.QuotaH.High, o.QueueH.High))
	o.score = max(o.score, later(o.QuotaH.Likely, o.QueueH.Likely))
}

// suit marks what runs but is a bad idea.
func (j *job) suit(o *AcceleratorOption) {
	s, known := LookupShape(o.Shape)
	switch {
	case !o.Runs:
		o.Suits = false
	case o.Pool == TPU && j.Class == WorkDynamic:
		o.Suits = false
	case o.Pool == GPU && j.uses("sklearn", "scikit-learn") && !j.uses(boostLibs...) && !j.uses(neuralLibs...):
		o.Suits = false
	case known && s.Status == ShapeRetired, known && s.Status == ShapeSubstituted:
		o.Suits = false
	case o.Pool == CPU && o.Speed.Ratio > 0 && o.Speed.Ratio <= 1./20 && (o.FinishH == nil || o.FinishH.Likely > slowH):
		o.Suits = false
	}
}

// rank gives the option its place.
func (j *job) rank(o *AcceleratorOption) {
	switch {
	case !o.Runs:
		o.tier = tierNotRun
	case !o.Fits:
		o.tier = tierTooBig
	case !o.Suits:
		o.tier = tierUnsuited
	case o.Fit == FitTight:
		o.tier = tierTight
	}
	p := j.pool(o.Pool)
	if o.FinishH == nil {
		o.score = j.usualPlace(o.Pool)
		if p.LeftH != nil && *p.LeftH < .5 {
			o.score += 2 // the quota is gone
		}
		if p.Busy >= Slots(o.Pool) {
			o.score += .5
		}
		if _, ok := LookupShape(o.Shape); !ok {
			o.score += 5
		}
		return
	}
	if o.Pool == CPU {
		return
	}
	week := 30.0
	if o.Pool == TPU {
		week = 20
	}
	if p.TotalH != nil && *p.TotalH > 0 {
		week = *p.TotalH
	}
	if o.Pool == TPU && j.portNeeded() {
		o.score *= portFactor
	}
	if o.Fit == FitTight {
		o.score *= tightFactor
	}
	o.score += weekShareH * o.QuotaH.Likely / week
	if j.Class == WorkTrees { // a CPU does this as well: each hour of quota burned counts as an hour of waiting
		o.score += o.QuotaH.Likely
	}
}

// usualPlace orders the pools when no hours are known.
func (j *job) usualPlace(p Pool) float64 {
	if j.Class == WorkTrees {
		return map[Pool]float64{CPU: 1, GPU: 2, TPU: 3}[p]
	}
	return map[Pool]float64{GPU: 1, TPU: 2, CPU: 3}[p]
}

// portNeeded: a script that is not JAX has to be changed before a TPU runs it.
func (j *job) portNeeded() bool { return !j.uses("jax", "flax", "torch_xla", "torch-xla", "xla") }
