package planner

import (
	"fmt"
	"math"
	"slices"
)

// Kind is what a person calls the model.
type Kind string

// The kinds.
const (
	KindTransformer Kind = "transformer"
	KindCNN         Kind = "cnn"
	KindTabular     Kind = "tabular"
	KindOther       Kind = "other"
)

// WorkClass is what decides how fast a machine is for a job.
type WorkClass string

// The classes.
const (
	WorkFP32        WorkClass = "fp32"        // cannot use 16 bits
	WorkConv        WorkClass = "conv"        // convolutions or ViT, static shapes, AMP
	WorkTransformer WorkClass = "transformer" // fine-tuning, padded to a fixed length
	WorkTiny        WorkClass = "tiny"        // launch- or input-bound
	WorkDynamic     WorkClass = "dynamic"     // dynamic shapes, gathers, custom CUDA
	WorkTrees       WorkClass = "trees"       // gradient-boosted trees, scikit-learn
	WorkOther       WorkClass = "other"       // not known
)

// Bases of a SpeedRatio; BasisUnknown is one as well.
const (
	BasisMeasured = "measured" // own step times
	BasisHistory  = "history"  // own runs of the same job
	BasisPrior    = "prior"    // other people's figures, or arithmetic from data sheets
	BasisNone     = "none"     // it does not run there at all

	BasisReference = "reference" // a T4, which the others are compared with
)

// SpeedMeasurement is how long the same piece of work took on one device of a shape.
type SpeedMeasurement struct {
	Shape   string
	Seconds float64 // of a step (Step) or of a whole task
	Step    bool
}

// SpeedRatio is how much faster one device of a shape is than one T4 that may use AMP. Ratio 0: it does not run there, or
// nothing is known (Basis).
type SpeedRatio struct {
	Ratio, Low, High float64
	Basis            string
	Source           string
}

// Peak is a device's data sheet.
type Peak struct {
	FP32, Half float64 // TFLOPS; 0 = not published
	GBps       float64 // memory bandwidth
}

// Peaks of one device of a shape. They are upper bounds, not speeds: a T4 falls further below its own than a TPU does.
var peaks = map[string]Peak{
	"NvidiaTeslaT4":   {8.1, 65, 320}, // no bf16 tensor cores
	"NvidiaTeslaP100": {9.5, 19, 732}, // no tensor cores at all
	"TpuV5E8":         {0, 197, 819},  // one chip, bf16
	"Tpu1VmV38":       {0, 61.5, 450}, // one core of two a chip
	"NvidiaL4":        {0, 121, 300},  // unverified
}

// PeakOf is the data sheet of one device of a shape.
func PeakOf(shape string) (Peak, bool) {
	s, _ := LookupShape(shape)
	p, ok := peaks[s.Name]
	return p, ok
}

// Sources of the priors.
const (
	srcWRN = "Wide-ResNet on CIFAR-10, batch 128: T4 fp32 57:17, AMP 29:31 to 31:14; P100 47:01 (blog.ceshine.net, 2019)"
	srcV5e = "one v5e chip against one T4: 3.0 by peak, 2.6 by bandwidth, 5 reported for a ConvNeXt in bf16"
	srcCPU = "data sheets: two cores at 0.14 to 0.28 TFLOPS in 32 bits against 8.1, and AMP doubles a T4 (unverified)"
)

// priors are ratios to one T4, with their range: the reference figures of speed by class of work.
var priors = map[WorkClass]map[string]SpeedRatio{
	WorkFP32: {
		"TpuV5E8":         {.7, .5, 1, "", "fp32 matrix product of 2048: T4 2.18, one v5e core 1.50 TFLOP/s (a public repository's notes)"},
		"NvidiaTeslaP100": {1.2, 1.1, 1.3, "", srcWRN},
		"none":            {1. / 40, 1. / 80, 1. / 20, "", srcCPU},
	},
	WorkConv: {
		"TpuV5E8":         {2.5, 2, 5, "", srcV5e},
		"NvidiaTeslaP100": {.65, .6, .7, "", srcWRN},
		"none":            {1. / 60, 1. / 150, 1. / 25, "", srcCPU},
	},
	WorkTransformer: {
		"TpuV5E8":         {2.5, 2, 4, "", srcV5e},
		"NvidiaTeslaP100": {.6, .5, .7, "", srcWRN},
		"none":            {1. / 60, 1. / 150, 1. / 25, "", srcCPU},
	},
	WorkTiny: {
		"TpuV5E8":         {1, .5, 1.5, "", "one fold of a small model with compilation: TPU 29 min, GPU 30 min (one public log)"},
		"NvidiaTeslaP100": {1, .8, 1.2, "", "launch-bound work does not see the card (our choice)"},
		"none":            {.3, .1, 1, "", "launch-bound work is as fast as the processor lets it (our choice)"},
	},
	WorkDynamic: {
		"TpuV5E8":         {.05, .01, .3, "", "gather-heavy code: 73 s a frame on a TPU, 0.66 s on the GPU (one public log); every new shape compiles again"},
		"NvidiaTeslaP100": {.8, .5, 1.2, "", "between its fp32 and AMP figures (our choice)"},
		"none":            {.05, .02, .2, "", srcCPU},
	},
	WorkTrees: {
		"NvidiaTeslaP100": {1, .7, 1.3, "", "our choice"},
		"none":            {1, .2, 2, "", "boosting libraries train on the processor unless told otherwise; a GPU pays off on millions of rows (our choice)"},
	},
	WorkOther: {
		"TpuV5E8":         {1.5, .3, 5, "", "the span of the known classes of work"},
		"NvidiaTeslaP100": {.65, .5, 1.2, "", srcWRN},
		"none":            {1. / 20, 1. / 150, 1, "", "the span of the known classes of work"},
	},
}

// SpeedOf compares one device of a shape (one T4, one TPU chip, a CPU session) with one T4, from a person's own measurements
// of the same work on both as soon as they exist (step times before whole tasks), else from the priors.
func SpeedOf(class WorkClass, shape string, own []SpeedMeasurement) SpeedRatio {
	s, _ := LookupShape(shape)
	if s.Name == "NvidiaTeslaT4" {
		return SpeedRatio{1, 1, 1, BasisReference, "what the others are compared with"}
	}
	byClass, ok := priors[class]
	if !ok {
		byClass = priors[WorkOther]
	}
	for _, step := range []bool{true, false} {
		t4, here := secondsOn(own, "NvidiaTeslaT4", step), secondsOn(own, s.Name, step)
		if len(t4) == 0 || len(here) == 0 {
			continue
		}
		r := SpeedRatio{Ratio: median(t4) / median(here), Basis: BasisHistory}
		what := "tasks"
		if step {
			r.Basis, what = BasisMeasured, "steps"
		}
		r.Low = min(slices.Min(t4)/slices.Max(here), r.Ratio*.9)
		r.High = max(slices.Max(t4)/slices.Min(here), r.Ratio*1.1)
		r.Source = fmt.Sprintf("your own %s: %s on a T4, %s here", what, countOf(len(t4), "measurement"), countOf(len(here), "measurement"))
		return r
	}
	r, ok := byClass[s.Name]
	switch {
	case ok:
		r.Basis = BasisPrior
	case class == WorkTrees && s.Pool == TPU:
		r = SpeedRatio{Basis: BasisNone, Source: "no boosting library is on the TPU image"}
	default:
		r = SpeedRatio{Basis: BasisUnknown, Source: "no figure for this machine"}
	}
	return r
}

// FromHere is how many times faster one device of a shape is than the computer in front of the person, which is taken to be as fast
// as Kaggle's CPU session within a factor of two either way (our choice: nobody has measured it). ok is false when nothing is
// known of the shape for that class of work.
func FromHere(class WorkClass, shape string) (r Ratio, ok bool) {
	cpu, there := SpeedOf(class, "none", nil), SpeedOf(class, shape, nil)
	if s, _ := LookupShape(shape); s.Pool == CPU {
		return Ratio{1, .5, 2}, true
	}
	if !(there.Ratio > 0 && cpu.Ratio > 0) {
		return Ratio{}, false
	}
	return Ratio{there.Ratio / cpu.Ratio, there.Low / cpu.High / 2, there.High / cpu.Low * 2}, true
}

func secondsOn(own []SpeedMeasurement, shape string, step bool) []float64 {
	var out []float64
	for _, m := range own {
		s, _ := LookupShape(m.Shape)
		if s.Name == shape && m.Step == step && m.Seconds > 0 && !math.IsInf(m.Seconds, 0) {
			out = append(out, m.Seconds)
		}
	}
	return out
}

func median(x []float64) float64 {
	s := slices.Clone(x)
	slices.Sort(s)
	n := len(s)
	if n%2 == 1 {
		return s[n/2]
	}
	return (s[n/2-1] + s[n/2]) / 2
}
