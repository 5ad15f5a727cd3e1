package planner

import (
	"cmp"
	"slices"
	"strings"
)

// PoolState is what is known of one pool of quota. nil is unknown.
type PoolState struct {
	LeftH    *float64 // hours a new run can count on this week
	TotalH   *float64 // hours of a week
	ResetInH *float64 // hours to the weekly reset
	Busy     int      // sessions that hold a slot now, queued ones included
	FreeInH  *float64 // when every slot is taken: hours until one is free at the latest
	WaitsH   []float64
	LimitH   float64 // session limit; 0 = SessionLimit
}

// AcceleratorAsk is what a person knows of a job. Everything may be zero: what is not known is not told.
type AcceleratorAsk struct {
	Memory     MemoryAsk // kind, model, batch, precision, method
	Class      WorkClass // "" = by kind, precision, framework and the flags below
	HoursT4    float64   // hours of one task on one T4, as the person says; 0 = unknown
	Tasks      int       // folds or seeds; 0 = 1
	Framework  string    // torch, jax, tensorflow, keras, sklearn, lightgbm, xgboost, catboost, bitsandbytes, flash-attn, triton, …; several with commas
	Dynamic    bool      // shapes change from batch to batch, or gathers, nonzero, custom CUDA
	Tiny       bool      // a small model, bound by launches or by its input
	DICOM      bool      // reads DICOM files in the session
	OneProcess bool      // the command uses one device however many there are
	Own        []SpeedMeasurement
	OwnTasksH  map[string][]float64 // hours that whole tasks of the same job took in own runs, by shape
	OwnPeakGiB map[string]float64   // memory that one device held at most in the newest own run of the same job, by shape
	GPU, TPU   PoolState
	Offered    []string // further shapes Kaggle still offers this account
}

// How well a job fits a device's memory.
const (
	FitYes     = "yes"     // the whole interval is within what is usable
	FitTight   = "tight"   // the likely figure is, the upper end is not
	FitNo      = "no"      // the likely figure is not
	FitUnknown = "unknown" // nothing is known of the model
)

// Range is a low, a likely and a high figure.
type Range struct{ Low, Likely, High float64 }

// AcceleratorOption is one machine, judged.
type AcceleratorOption struct {
	Shape       string // "NvidiaTeslaT4", "TpuV5E8", "none"
	Title       string
	Pool        Pool
	Recommended bool   // the first, when it can be recommended
	Runs        bool   // the libraries and the machine go together
	Suits       bool   // it runs and is no bad idea
	Fits        bool   // it runs, and the likely memory is within what is usable; true when nothing is known of the memory
	Fit         string // FitYes, FitTight, FitNo, FitUnknown
	Memory      MemoryEstimate
	UsableGiB   float64 // of one device; 0 = not known
	Devices     int     // GPUs or chips of a session; 0 on a CPU
	Workers     int     // tasks at a time
	Waves       int     // tasks one after the other on the busiest device
	Speed       SpeedRatio
	HoursBasis  string // "given", "history", BasisUnknown: where TaskH is from
	TaskH       *Range // hours of one task on one device
	QuotaH      *Range // hours burned of the pool; 0 on a CPU
	Sessions    int    // 0 = unknown
	QueueH      Range  // wait before each session
	QueueBasis  string // BasisPrior or BasisHistory
	QueueN      int    // own waits it rests on
	FinishH     *Range // hours from now
	LeftAfterH  *float64
	Affordable  *bool // nil: quota or hours unknown
	Changes     []MemoryChange
	Reasons     []string // for it, and facts; plain sentences
	Doubts      []string // against it, and what is not known
	Asks        []string // what would settle such a doubt: AskTable, AskModel, AskHours

	score float64
	tier  int
}

// MemoryChange is a change that makes a job fit.
type MemoryChange struct {
	Text            string // "batch 4 instead of 16, with gradients accumulated over 4 steps"
	LowGiB, HighGiB float64
	Ask             MemoryAsk
}

// Start-up of a session in hours: a GPU batch run starts in under 30 seconds; a TPU session spends 20 minutes.
const (
	gpuStartH = .05
	tpuStartH = 1. / 3
	// sessionTailH is kept free at a session's end for saving, when work is split over sessions.
	sessionTailH = .1
)

// What a decision weighs, in hours of waiting. Our choices.
const (
	// weekShareH is what burning a whole week's quota is worth; a tenth of it counts a tenth.
	weekShareH = 6
	// portFactor makes a TPU's finish count longer while the script has to be ported first, tightFactor a job's that
	// may run out of memory.
	portFactor  = 1.25
	tightFactor = 1.15
	// slowH is from where a machine 20 times slower than a T4 is no bad luck but a bad idea.
	slowH = 24
)

// RankAccelerators judges every machine for a job, the best first:
//
//   - what runs, fits and suits comes before what fits but does not suit (dynamic shapes on a TPU, a large network on a
//     CPU), and that before what does not fit or does not run;
//   - within that by the expected finish (start-up, mean wait, waves, session splits, the wait for the reset when the
//     quota does not suffice), plus up to six hours for the share of the week's quota burned;
//   - without hours, neither burn nor finish is made up: networks prefer the GPU, then the TPU, boosted trees the CPU, and a
//     pool without quota comes later.
//
// The same ask with more quota never ranks a machine lower.
func RankAccelerators(ask AcceleratorAsk) []AcceleratorOption {
	j := newJob(ask)
	var out []AcceleratorOption
	for _, s := range j.shapes() {
		out = append(out, j.judge(s))
	}
	slices.SortStableFunc(out, func(a, b AcceleratorOption) int {
		return cmp.Or(cmp.Compare(a.tier, b.tier), cmp.Compare(a.score, b.score))
	})
	for i := range out {
		out[i].Recommended = i == 0 && out[i].tier <= tierTight
	}
	j.compare(out)
	return out
}

// Tiers of the ranking.
const (
	tierFits = iota
	tierTight
	tierUnsuited
	tierTooBig
	tierNotRun
)

// job is an ask with its defaults filled in.
type job struct {
	AcceleratorAsk
	tasks int
	libs  []string
}

func newJob(ask AcceleratorAsk) *job {
	j := &job{AcceleratorAsk: ask, tasks: min(max(ask.Tasks, 1), 10000)}
	j.libs = strings.FieldsFunc(strings.ToLower(ask.Framework), func(r rune) bool { return r == ',' || r == ' ' || r == '+' || r == ';' })
	if a, ok := LookupArch(ask.Memory.Model.Arch); ok {
		j.Memory.Kind = a.Kind
	}
	if j.Memory.Kind == "" {
		j.Memory.Kind = KindOther
	}
	if j.Class == "" {
		j.Class = j.classOf()
	}
	if !(j.HoursT4 > 0) || j.HoursT4 > 1e5 {
		j.HoursT4 = 0
	}
	return j
}

// uses says whether one of the libraries is named.
func (j *job) uses(names ...string) bool {
	return slices.ContainsFunc(j.libs, func(l string) bool { return slices.Contains(names, l) })
}

var (
	treeLibs    = []string{"lightgbm", "lgbm", "xgboost", "xgb", "catboost", "sklearn", "scikit-learn"}
	boostLibs   = []string{"lightgbm", "lgbm", "xgboost", "xgb", "catboost"}
	torchLibs   = []string{"torch", "pytorch", "timm", "transformers", "accelerate", "lightning", "fastai", "ultralytics", "monai", "peft", "trl"}
	neuralLibs  = append([]string{"jax", "flax", "tensorflow", "tf", "keras"}, torchLibs...)
	cudaLibs    = []string{"bitsandbytes", "bnb", "flash-attn", "flash_attn", "flashattention", "triton", "unsloth", "xformers", "apex", "cuda", "cupy", "cudf", "cuml", "rapids", "deepspeed", "vllm"}
	flashLibs   = []string{"flash-attn", "flash_attn", "flashattention"}
	tensorflows = []string{"tensorflow", "tf"}
)

// classOf is the class of work of a kind of model.
func (j *job) classOf() WorkClass {
	switch {
	case j.Dynamic:
		return WorkDynamic
	case j.uses(treeLibs...) && !j.uses(neuralLibs...):
		return WorkTrees
	case j.Memory.Kind == KindTabular && !j.uses(neuralLibs...):
		return WorkTrees
	case j.Tiny, j.Memory.Kind == KindTabular:
		return WorkTiny
	case j.Memory.Precision == FP32:
		return WorkFP32
	case j.Memory.Kind == KindTransformer:
		return WorkTransformer
	case j.Memory.Kind == KindCNN:
		return WorkConv
	}
	return WorkOther
}

// shapes are the machines to judge: what everybody gets, and what Kaggle still offers this account.
func (j *job) shapes() []Shape {
	out := Shapes()
	for _, name := range j.Offered {
		s, _ := LookupShape(name)
		if !slices.ContainsFunc(out, func(o Shape) bool { return o.Name == s.Name }) && len(out) < 20 {
			out = append(out, s)
		}
	}
	return out
}

// judge fills in one option.
func (j *job) judge(s Shape) AcceleratorOption {
	o := AcceleratorOption{Shape: s.Name, Title: s.Title, Pool: s.Pool, Devices: s.Devices, Runs: true, Suits: true}
	o.Speed = SpeedOf(j.Class, s.Name, j.ownSpeed())
	if o.Speed.Basis == BasisNone {
		o.Runs = false
	}
	j.libraries(&o)
	j.memory(&o)
	j.workers(&o)
	j.timing(&o)
	j.quota(&o)
	j.suit(&o)
	j.words(&o, s)
	j.rank(&o)
	return o
}

// ownSpeed adds own tasks to the own measurements, so that either gives a ratio.
func (j *job) ownSpeed() []SpeedMeasurement {
	own := slices.Clone(j.Own)
	for shape, hours := range j.OwnTasksH {
		for _, h := range hours {
			own = append(own, SpeedMeasurement{Shape: shape, Seconds: 3600 * h})
		}
	}
	return own
}

// ClassOf is the class of work that the speed figures of an ask go by.
func ClassOf(ask AcceleratorAsk) WorkClass { return newJob(ask).Class }
