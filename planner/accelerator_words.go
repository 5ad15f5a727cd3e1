package planner

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

func (o *AcceleratorOption) because(format string, args ...any) {
	o.Reasons = append(o.Reasons, fmt.Sprintf(format, args...))
}

func (o *AcceleratorOption) doubt(format string, args ...any) {
	o.Doubts = append(o.Doubts, fmt.Sprintf(format, args...))
}

// What a doubt would be settled by, if the person said it. The words of a doubt name no flag and no field: a verb and a window
// each have their own.
const (
	AskTable = "table" // rows and columns of the table
	AskModel = "model" // the model: its architecture or parameters, or measured peaks
	AskHours = "hours" // hours of a task on one T4
)

// asks is a doubt that an answer would settle.
func (o *AcceleratorOption) asks(what, doubt string) {
	o.doubt("%s", doubt)
	o.Asks = append(o.Asks, what)
}

// libraries says what the libraries need, and marks what does not run at all.
func (j *job) libraries(o *AcceleratorOption) {
	m := j.Memory
	no := func(format string, args ...any) {
		o.Runs = false
		o.doubt(format, args...)
	}
	switch o.Pool {
	case TPU:
		if j.uses(cudaLibs...) {
			no("%s is CUDA code and does not run on a TPU.", j.named(cudaLibs))
		}
		if m.Method == QLoRA {
			no("QLoRA needs bitsandbytes, which is CUDA code: it does not run on a TPU. LoRA on a 16-bit base does.")
		} else if m.Optimizer == Adam8bit {
			no("8-bit Adam needs bitsandbytes, which is CUDA code: it does not run on a TPU. Adafactor does.")
		}
		switch {
		case j.uses(boostLibs...):
			no("The TPU image has no LightGBM, XGBoost or CatBoost, and they have no TPU code.")
		case j.Class == WorkTrees:
			no("Boosted trees and scikit-learn do not compute on a TPU, and its image has no LightGBM, XGBoost or CatBoost.")
		case j.uses(tensorflows...) && !j.uses("jax", "flax"):
			no("TensorFlow is on the TPU image for the CPU only (no build fits its libtpu). Keras 3 on its JAX backend does use the TPU.")
		}
		if j.DICOM {
			o.doubt("The TPU image cannot decode DICOM: convert the files in a CPU session and attach its output.")
		}
	case CPU:
		if m.Method == QLoRA || m.Optimizer == Adam8bit || j.uses(cudaLibs...) {
			no("bitsandbytes, flash-attn, Triton and other CUDA code need a GPU.")
		}
	case GPU:
		if j.uses(flashLibs...) && o.Shape == "NvidiaTeslaT4" {
			o.doubt("flash-attn 2 needs an Ampere card; a T4 is older. torch's scaled_dot_product_attention does the same there.")
		}
		if j.uses("sklearn", "scikit-learn") && !j.uses(boostLibs...) && !j.uses(neuralLibs...) {
			o.doubt("scikit-learn computes on the CPU: a GPU session burns quota for nothing.")
		}
	}
}

// named is the library as the person wrote it.
func (j *job) named(of []string) string {
	for _, l := range j.libs {
		if slices.Contains(of, l) {
			return l
		}
	}
	return ""
}

// words says the rest, in the order a person asks: does it fit, what does it do, what does it burn, when is it done.
func (j *job) words(o *AcceleratorOption, s Shape) {
	if o.Runs {
		j.fitWords(o)
	}
	switch o.Pool {
	case GPU:
		j.gpuWords(o, s)
	case TPU:
		j.tpuWords(o)
	default:
		j.cpuWords(o)
	}
	if !o.Runs { // nothing of the rest matters
		return
	}
	j.hoursWords(o)
	j.quotaWords(o)
	for _, a := range o.Memory.Assumed {
		o.doubt("%s", a)
	}
}

func (o *AcceleratorOption) device() string {
	switch {
	case o.Pool == TPU:
		return "chip"
	case o.Pool == CPU, o.UsableGiB == gpuHostGiB:
		return "session"
	}
	return "card"
}

// unit is one device of a session.
func (o *AcceleratorOption) unit() string {
	if o.Pool == TPU {
		return "chip"
	}
	return "card"
}

func (j *job) fitWords(o *AcceleratorOption) {
	e := o.Memory
	j.peakWords(o)
	switch o.Fit {
	case FitUnknown:
		if j.Class == WorkTrees {
			o.asks(AskTable, "Whether the table fits is not checked: that takes its rows and columns.")
		} else if e.Known {
			o.doubt("What memory this machine has is not known.")
		} else {
			o.asks(AskModel, "Whether it fits is not checked: nothing is known of the model. Its architecture or its number of parameters tells, or two measured batches.")
		}
	case FitYes:
		o.because("Fits: %s of %.4g GiB a %s.", gibRange(e.LowGiB, e.HighGiB), o.UsableGiB, o.device())
	case FitTight:
		o.because("Likely fits: %.1f GiB of %.4g a %s.", e.LikelyGiB, o.UsableGiB, o.device())
		o.doubt("It may run out of memory: the upper end of %s is %.1f GiB over.", gibRange(e.LowGiB, e.HighGiB), e.HighGiB-o.UsableGiB)
	case FitNo:
		short := gibRange(e.LowGiB-o.UsableGiB, e.HighGiB-o.UsableGiB)
		if e.LowGiB <= o.UsableGiB {
			short = fmt.Sprintf("up to %.1f GiB", e.HighGiB-o.UsableGiB)
		}
		o.doubt("Does not fit: it needs %s and a %s has %.4g, so %s too much.", gibRange(e.LowGiB, e.HighGiB), o.device(), o.UsableGiB, short)
		for i, c := range o.Changes {
			lead := "It fits with"
			if i > 0 {
				lead = "Or with"
			}
			o.doubt("%s %s: %s.", lead, c.Text, gibRange(c.LowGiB, c.HighGiB))
		}
		if len(o.Changes) == 0 && o.Pool != CPU {
			o.doubt("No change that was tried makes it fit.")
		}
	}
}

// peakWords sets a measured peak beside the estimate. It decides nothing: that run may have had another batch or model.
func (j *job) peakWords(o *AcceleratorOption) {
	peak := j.OwnPeakGiB[o.Shape]
	if !(peak > 0) {
		return
	}
	o.because("Your last run of this job peaked at %.1f GiB on one %s.", peak, o.device())
	if e := o.Memory; e.Known && (peak > 1.1*e.HighGiB || peak < .9*e.LowGiB) {
		o.doubt("That is outside the estimate of %s, so the model or its settings differ from what is said here.", gibRange(e.LowGiB, e.HighGiB))
	}
}

func gibRange(lo, hi float64) string {
	if hi-lo < .05 {
		return fmt.Sprintf("%.1f GiB", hi)
	}
	return fmt.Sprintf("%.1f to %.1f GiB", lo, hi)
}

func (j *job) tasksWord() string { return countOf(j.tasks, "task") }

func (j *job) busyWords(o *AcceleratorOption) {
	switch {
	case o.Devices < 2:
	case j.OneProcess || j.tasks == 1:
		if o.Pool == TPU {
			o.because("One process uses one chip: the other %d stay idle. Run up to %d folds or seeds in the same hours.", o.Devices-1, o.Devices)
		} else {
			o.because("One process uses one card: the second T4 stays idle and is paid for. Run two folds or seeds, or start it with torchrun.")
		}
	case j.tasks <= o.Workers:
		o.because("All %s at once, one %s each.", j.tasksWord(), o.unit())
	case j.tasks%o.Workers != 0 && o.Workers == 2:
		o.because("Both cards stay busy: %s in %d waves, the last with one card idle. Another seed in that gap is free.", j.tasksWord(), o.Waves)
	case j.tasks%o.Workers != 0:
		o.because("%s in %d waves; the last leaves %d of %d %ss idle.", capital(j.tasksWord()), o.Waves, o.Workers-j.tasks%o.Workers, o.Workers, o.unit())
	default:
		o.because("Every %s stays busy: %s in %d waves.", o.unit(), j.tasksWord(), o.Waves)
	}
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func (j *job) gpuWords(o *AcceleratorOption, s Shape) {
	switch s.Status {
	case ShapeRetired, ShapeSubstituted:
		o.doubt("Kaggle no longer hands it out: such a run starts on %s without saying so.", Describe(s.Instead))
		if s.Name == "NvidiaTeslaP100" {
			o.doubt("Today's PyTorch wheels have no code for a P100 (sm_60): is_available() says True, then the first kernel fails.")
		}
	case ShapeRestricted:
		o.doubt("Only entrants of some competitions get it; anybody else silently gets another machine.")
	case ShapeUnknown:
		o.doubt("Kaggle offers it, but nothing is known of it here.")
	}
	if j.Class != WorkTrees {
		j.busyWords(o)
	}
	if o.Shape != "NvidiaTeslaT4" {
		return
	}
	switch {
	case j.Memory.Precision.isBF16():
		o.doubt("A T4 has no bf16 units: bf16 measured 4.3 times slower than fp16 there, although is_bf16_supported() says True. Use fp16.")
	case j.Class == WorkTrees:
		o.because("Boosting libraries use a GPU only when told to (device=\"cuda\"), and then one of the two.")
	case j.Class == WorkFP32:
		o.doubt("In 32 bits a T4 does about half of what it does with fp16 autocast.")
	default:
		o.because("Use fp16, not bf16: a T4 only emulates bf16.")
	}
}

func (j *job) tpuWords(o *AcceleratorOption) {
	if !o.Runs {
		return
	}
	if j.Class == WorkDynamic {
		o.doubt("Shapes that change, nonzero and gathers do not suit a TPU: each new shape compiles for minutes, gathers ran a hundred times slower.")
	}
	j.busyWords(o)
	switch {
	case j.uses("jax", "flax"):
		o.because("JAX runs on a TPU as it is.")
	case j.uses("torch_xla", "torch-xla", "xla"):
	case j.uses("keras"):
		o.doubt("Keras 3 uses the TPU on its JAX backend only (KERAS_BACKEND=jax).")
	case j.uses(torchLibs...) || len(j.libs) == 0:
		o.doubt("The script must be ported to torch_xla: fixed shapes, drop_last, no .item() in the loop, one sync a step.")
	}
	if p := j.Memory.Precision; p == FP16 || p == AMP || p == PureFP16 {
		o.doubt("A TPU computes in bf16, not fp16: use torch.autocast('xla', dtype=torch.bfloat16) without a GradScaler.")
	}
	if len(j.Memory.Bench) > 0 {
		o.doubt("The memory was measured on a GPU; a TPU may differ.")
	}
	o.because("Queue it half a day before you need it.")
}

func (j *job) cpuWords(o *AcceleratorOption) {
	if !o.Runs {
		return
	}
	switch {
	case j.Class == WorkTrees:
		o.because("Boosted trees belong on the CPU, or on one GPU when there are millions of rows. It is free of quota.")
	case o.Speed.Ratio > 0 && o.Speed.Ratio < .9:
		o.because("Free of quota, but about %.0f times slower than a T4 for this work.", 1/o.Speed.Ratio)
		if !o.Suits {
			o.doubt("Right for boosting on tables and for preprocessing, not for this.")
		}
	default:
		o.because("Free of quota.")
	}
	if j.tasks > 1 {
		o.because("Its 4 cores take one task at a time; 5 CPU sessions may run at once.")
	}
}

// hoursWords says what the figures rest on.
func (j *job) hoursWords(o *AcceleratorOption) {
	if o.TaskH == nil {
		o.asks(AskHours, "How long a task takes is not known, so neither the hours nor the end are told: run one fold or a bench session, or say what one takes on a T4.")
		return
	}
	n := len(j.OwnTasksH[o.Shape])
	switch o.Speed.Basis {
	case BasisReference:
		if o.HoursBasis == BasisHistory && n > 0 {
			o.because("From %s of yours on this machine: %s each.", countOf(n, "task"), hoursRange(*o.TaskH))
		}
	case BasisMeasured, BasisHistory:
		o.because("One %s is %s T4s by %s.", o.device(), ratioRange(o.Speed), o.Speed.Source)
	case BasisPrior:
		switch {
		case o.HoursBasis == BasisHistory && n > 0:
			o.because("From %s of yours on this machine: %s each.", countOf(n, "task"), hoursRange(*o.TaskH))
		case o.Speed.High < 1:
			o.doubt("Speed is a prior (%s to %s times slower than a T4) until a run of yours is measured there.", twoPlaces(1/o.Speed.High), twoPlaces(1/o.Speed.Low))
		default:
			o.doubt("Speed is a prior (%s T4s a %s) until a run of yours is measured there.", ratioRange(o.Speed), o.device())
		}
	}
	if o.Sessions > 1 {
		o.because("Longer than one session: it takes %d, and each goes on where the last one stopped.", o.Sessions)
		if limit := SessionLimit(o.Pool).Hours(); o.TaskH.Likely > limit {
			o.doubt("One task alone is longer than a session, so it must save checkpoints and resume.")
		}
	}
}

// twoPlaces writes a factor with two digits at least: 1.5, 25, 150.
func twoPlaces(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}

func ratioRange(r SpeedRatio) string {
	if r.High < 1 {
		return fmt.Sprintf("%.2g to %.2g", r.Low, r.High)
	}
	return fmt.Sprintf("%.1f to %.1f", r.Low, r.High)
}

func hoursRange(r Range) string {
	if r.High-r.Low < .05 {
		return fmt.Sprintf("%.2g h", r.Likely)
	}
	return fmt.Sprintf("%.2g to %.2g h", r.Low, r.High)
}

// quotaWords says what it does to the week, and what the wait is.
func (j *job) quotaWords(o *AcceleratorOption) {
	if o.Pool == CPU {
		return
	}
	p := j.pool(o.Pool)
	name := o.Pool.PoolName()
	if p.LeftH == nil {
		o.doubt("What is left of the %s quota is not known.", name)
	} else {
		switch left := *p.LeftH; {
		case left < .5:
			o.doubt("The %s quota of this week is used up%s.", name, j.resetWords(p))
		case o.Affordable != nil && !*o.Affordable:
			o.doubt("Burns %.1f %s-hours and %.1f are left: %.1f too few%s. What is missing has to wait for the reset.", o.QuotaH.Likely, name, left, -*o.LeftAfterH, j.resetWords(p))
		case o.QuotaH != nil && o.TaskH != nil && o.QuotaH.High > left:
			o.doubt("At the upper end it burns %.1f %s-hours, more than the %.1f that are left.", o.QuotaH.High, name, left)
		}
		if p.ResetInH != nil && *p.ResetInH > 0 && *p.ResetInH < 24 && *p.LeftH >= .5 {
			if o.Pool == TPU && o.QueueH.High > *p.ResetInH {
				o.doubt("The quota resets in %.1f h: a run that queues now may start after it and burn next week's hours.", *p.ResetInH)
			} else if o.Pool != TPU {
				o.because("The quota resets in %.1f h: %.1f hours expire then, so use them now.", *p.ResetInH, *p.LeftH)
			}
		}
	}
	if p.Busy >= Slots(o.Pool) {
		when := "until one is free"
		if p.FreeInH != nil {
			when = fmt.Sprintf("for up to %.1f h", max(*p.FreeInH, 0))
		}
		o.doubt("Every %s slot is taken (%d): it waits %s first.", name, p.Busy, when)
	}
	if o.Pool == TPU {
		from := "others waited"
		if o.QueueBasis == BasisHistory {
			from = fmt.Sprintf("from %s of yours", countOf(o.QueueN, "wait"))
		}
		o.doubt("It waits in a queue: %.1f to %.1f h (%s).", o.QueueH.Low, o.QueueH.High, from)
	}
}

func (j *job) resetWords(p PoolState) string {
	if p.ResetInH == nil || !(*p.ResetInH > 0) {
		return ""
	}
	return fmt.Sprintf("; it resets in %.0f h", math.Ceil(*p.ResetInH))
}

// compare adds the sentences that need two options.
func (j *job) compare(out []AcceleratorOption) {
	find := func(shape string) *AcceleratorOption {
		for i := range out {
			if out[i].Shape == shape {
				return &out[i]
			}
		}
		return nil
	}
	gpu, tpu := find("NvidiaTeslaT4"), find("TpuV5E8")
	if gpu == nil || tpu == nil || !tpu.Fits || gpu.TaskH == nil || tpu.TaskH == nil {
		return
	}
	switch {
	case j.GPU.LeftH != nil && *j.GPU.LeftH < .5 && tpu.Suits:
		tpu.because("The GPU quota is gone, this one is its own.")
	case gpu.Sessions > 1 && tpu.Sessions == 1 && tpu.Suits:
		tpu.because("Longer than a GPU session, but one TPU session holds it.")
	}
	switch saved := gpu.QuotaH.Likely; {
	case tpu.FinishH.High <= gpu.FinishH.Low:
		tpu.because("Saves %.1f GPU-hours, and is done first even after a long wait.", saved)
	case tpu.FinishH.Low < gpu.FinishH.High:
		tpu.because("Saves %.1f GPU-hours. After a short wait it is done first, after a long one last.", saved)
	default:
		tpu.because("Saves %.1f GPU-hours and costs the wait.", saved)
	}
	if b := BreakEvenHours(tpu.QueueH.Likely, tpuStartH, tpu.Speed.Ratio); j.tasks == 1 && !math.IsInf(b, 0) {
		tpu.because("One task alone would be first on a TPU from %.1f h on a T4.", b)
	}
}

// RankingVerdict is a ranking in one sentence.
func RankingVerdict(out []AcceleratorOption) string {
	if len(out) == 0 {
		return ""
	}
	if out[0].Recommended && out[0].Fit == FitUnknown && out[0].TaskH == nil {
		return out[0].Title + " is the first to try, by rule of thumb: neither its memory nor its hours are known yet."
	}
	if out[0].Recommended {
		return out[0].Title + " suits it best."
	}
	for _, o := range out {
		if o.Runs && o.Fit == FitNo && len(o.Changes) > 0 {
			return fmt.Sprintf("As it is no machine can be recommended. %s fits with %s.", o.Title, o.Changes[0].Text)
		}
	}
	return "As it is no machine can be recommended."
}
