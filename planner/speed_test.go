package planner

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A device is as many times faster than the computer here as both ranges together allow, and never exactly known.
func TestFromHere(t *testing.T) {
	for class := range priors {
		for _, shape := range []string{"NvidiaTeslaT4", "TpuV5E8", "none", "NvidiaTeslaP100"} {
			r, ok := FromHere(class, shape)
			if class == WorkTrees && shape == "TpuV5E8" {
				if ok {
					t.Errorf("trees on a TPU: %+v", r)
				}
				continue
			}
			if !ok || !(0 < r.Low && r.Low <= r.Ratio/2 && r.Ratio*2 <= r.High) {
				t.Errorf("%s on %s: %+v, %v", class, shape, r, ok)
			}
		}
	}
	if r, _ := FromHere(WorkConv, "NvidiaTeslaT4"); r.Ratio < 59.9 || r.Ratio > 60.1 {
		t.Errorf("a T4: %+v", r)
	}
	if r, ok := FromHere(WorkConv, "Abacus"); ok {
		t.Errorf("an unknown machine: %+v", r)
	}
}

// S1: the published training times, and what of the priors rests on them.
func TestSpeedPriors(t *testing.T) {
	t4, o1, o2 := 57*60+17., 31*60+14., 29*60+31.
	p100, p100o1 := 47*60+1., 47*60+34.
	for _, x := range []struct {
		name      string
		got, want float64
	}{
		{"P100/T4 fp32", t4 / p100, 1.22}, {"T4 O2/P100 fp32", p100 / o2, 1.59}, {"T4 O1/P100 fp32", p100 / o1, 1.51}, {"T4 O2/T4 fp32", t4 / o2, 1.94},
		{"P100 O1 gains nothing", p100 / p100o1, .99},
	} {
		closeTo(t, x.name, x.got, x.want, .005)
	}
	v5e, _ := PeakOf("tpuv5e8")
	card, _ := PeakOf("NvidiaTeslaT4")
	closeTo(t, "v5e/T4 by peak", v5e.Half/card.Half, 3.03, .002)
	closeTo(t, "v5e/T4 by bandwidth", v5e.GBps/card.GBps, 2.56, .002)
	closeTo(t, "P100, fp32", SpeedOf(WorkFP32, "NvidiaTeslaP100", nil).Ratio, t4/p100, .02)
	closeTo(t, "P100 against AMP", SpeedOf(WorkConv, "NvidiaTeslaP100", nil).Ratio, (o1+o2)/2/p100, .02)

	for class, byShape := range priors {
		for shape := range byShape {
			r := SpeedOf(class, shape, nil)
			if !(0 < r.Low && r.Low <= r.Ratio && r.Ratio <= r.High) || r.Basis != BasisPrior || r.Source == "" {
				t.Errorf("%s on %s: %+v", class, shape, r)
			}
		}
		if r := SpeedOf(class, "NvidiaTeslaT4", nil); r.Ratio != 1 {
			t.Errorf("%s on a T4: %+v", class, r)
		}
	}
	for _, x := range []struct {
		class         WorkClass
		ratio, lo, hi float64
	}{{WorkFP32, .7, .5, 1}, {WorkConv, 2.5, 2, 5}, {WorkTransformer, 2.5, 2, 4}, {WorkTiny, 1, .5, 1.5}, {WorkDynamic, .05, .01, .3}} {
		if r := SpeedOf(x.class, "TpuV5E8", nil); r.Ratio != x.ratio || r.Low != x.lo || r.High != x.hi {
			t.Errorf("%s on a TPU chip: %+v", x.class, r)
		}
	}
	if r := SpeedOf(WorkTrees, "TpuV5E8", nil); r.Ratio != 0 || r.Basis != BasisNone {
		t.Errorf("trees on a TPU: %+v", r)
	}
	if r := SpeedOf(WorkConv, "NvidiaB300", nil); r.Ratio != 0 || r.Basis != BasisUnknown {
		t.Errorf("an unknown machine: %+v", r)
	}
}

func TestOwnSpeed(t *testing.T) {
	own := []SpeedMeasurement{{Shape: "NvidiaTeslaT4", Seconds: 3600}, {Shape: "TpuV5E8", Seconds: 1200}, {Shape: "NvidiaTeslaT4", Seconds: 4000}}
	r := SpeedOf(WorkConv, "TpuV5E8", own)
	closeTo(t, "from tasks", r.Ratio, 3800./1200, 1e-9)
	if r.Basis != BasisHistory || r.Low >= r.Ratio || r.High <= r.Ratio {
		t.Errorf("%+v", r)
	}
	own = append(own, SpeedMeasurement{"NvidiaTeslaT4", .4, true}, SpeedMeasurement{"TpuV5E8", .1, true})
	if r := SpeedOf(WorkConv, "TpuV5E8", own); r.Basis != BasisMeasured || math.Abs(r.Ratio-4) > 1e-9 {
		t.Errorf("step times: %+v", r)
	}
	if r := SpeedOf(WorkConv, "none", own); r.Basis != BasisPrior {
		t.Errorf("a machine without measurements: %+v", r)
	}
}

// K3 and the prior's own figures; own waits replace it.
func TestQueue(t *testing.T) {
	q := EstimateQueue(TPU, nil)
	closeTo(t, "median", q.Median, 2, 1e-9)
	closeTo(t, "90 %", q.High, 13, 1e-6)
	closeTo(t, "sigma", q.sigma, 1.460, .0005)
	closeTo(t, "K3", q.Within(5), .7348, .0002)
	if q.Basis != BasisPrior || q.N != 0 {
		t.Errorf("%+v", q)
	}
	r := rand.New(rand.NewPCG(3, 4))
	var own []float64
	for range 400 {
		own = append(own, math.Exp(math.Log(.5)+.4*r.NormFloat64()))
	}
	q = EstimateQueue(TPU, own)
	closeTo(t, "own median", q.Median, .5, .05)
	closeTo(t, "own 90 %", q.High, .5*math.Exp(.4*1.2816), .08)
	if few := EstimateQueue(TPU, own[:2]); few.Median <= q.Median || few.Median >= 2 || few.Basis != BasisHistory || few.N != 2 {
		t.Errorf("two waits: %+v", few)
	}
	if g := EstimateQueue(GPU, nil); g.High != 0 || g.Within(0) != 1 {
		t.Errorf("GPU: %+v", g)
	}
	if g := EstimateQueue(GPU, []float64{.01, 2, 3, 3}); math.Abs(g.Median-2.5) > 1e-9 || math.Abs(g.High-3) > 1e-9 || g.Low > g.Median {
		t.Errorf("GPU with waits: %+v", g)
	}
	for _, h := range [][]float64{{math.NaN()}, {math.Inf(1)}, {-1}} {
		if g := EstimateQueue(TPU, h); g.N != 0 || math.IsNaN(g.Median) {
			t.Errorf("%v: %+v", h, g)
		}
	}
}

// B1 and B2.
func TestBreakEven(t *testing.T) {
	for _, x := range []struct{ q, want float64 }{{13, 16.67}, {2, 2.92}, {.4, .92}} {
		if got := BreakEvenHours(x.q, 1./3, 5); math.Abs(got-x.want) > .005 {
			t.Errorf("queue %g h: %g, want %g", x.q, got, x.want)
		}
	}
	if !math.IsInf(BreakEvenHours(1, 0, .5), 1) {
		t.Error("a slower machine breaks even")
	}
	for _, x := range []struct{ q, want float64 }{{13, 13.73}, {2, 2.73}} {
		if got := x.q + WaitFree(1./3, 5, 8, 2, 5); math.Abs(got-x.want) > .005 {
			t.Errorf("B2 TPU, queue %g h: %g, want %g", x.q, got, x.want)
		}
	}
	closeTo(t, "B2 GPU", WaitFree(.05, 5, 2, 2, 1), 6.05, 1e-9)
	closeTo(t, "B2 TPU hours", WaitFree(1./3, 5, 8, 2, 5), .7333, .001)
}
