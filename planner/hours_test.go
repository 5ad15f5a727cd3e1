package planner

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func sizes(hours ...float64) HoursAsk { return HoursAsk{RunHours: hours, Tasks: 5, Devices: 2} }

func TestSizeCap(t *testing.T) {
	a := SizeCap(sizes(1.8, 2.0, 2.1))
	if !a.Known || a.Basis != BasisRuns || a.N != 3 || a.Waves != 3 || a.Clipped || len(a.Warnings) != 0 {
		t.Fatalf("got %+v", a)
	}
	near(t, "task", a.TaskUpperH, 2.631, 6e-4)
	near(t, "makespan", a.MakespanH, 3*2.631, 2e-3)
	if least := .25 + 3*2.631 + .1; a.CapH < least || a.CapH > least+.1 {
		t.Errorf("cap %v, want %v and a little for the runner's own stop", a.CapH, least)
	}
	if graceful, _ := RunnerStops(a.CapH); graceful < a.BoundH-a.TailH {
		t.Errorf("the runner stops at %v, and the bound is %v", graceful, a.BoundH)
	}
	foreign := sizes(1.8, 2.0, 2.1)
	foreign.OwnKernel = true
	near(t, "cap of a kernel that nothing stops before", SizeCap(foreign).CapH, .25+3*2.631+.1, 3e-3)
	near(t, "expected", a.ExpectedH, .25+3*1.963+.1, .2)
	if a.PKilled <= 0 || a.PKilled > .05 {
		t.Errorf("chance to be stopped: %v", a.PKilled)
	}
	near(t, "idle", a.IdleH, 1.963, 1e-3)

	one := SizeCap(HoursAsk{RunHours: []float64{2}, Tasks: 1, Devices: 2, Confidence: .9})
	near(t, "single run 90 %", one.TaskUpperH, 2.769, 6e-4)
	if one.Basis != BasisOneFold {
		t.Errorf("basis %q", one.Basis)
	}
	near(t, "single run 95 %", SizeCap(HoursAsk{FoldHours: 2}).TaskUpperH, 3.144, 6e-4)
}

// M3: for an odd number of folds c K / 2 is not the makespan, and a cap from it kills the run.
func TestCapOfOddFolds(t *testing.T) {
	near(t, "K=3, c=2", .25+Makespan([]float64{2, 2, 2}, 2), 4.25, 0)
	if naive := 1.3 * (3*2/2.0 + .25); naive >= 4.25 {
		t.Errorf("the naive cap %v would do", naive)
	}
	if a := SizeCap(HoursAsk{RunHours: []float64{2, 2, 2, 2}, Tasks: 3, Devices: 2}); a.CapH < 4.35 {
		t.Errorf("cap %v", a.CapH)
	}
}

func TestMakespanOracles(t *testing.T) {
	for _, c := range []struct{ k, workers, want int }{{1, 2, 2}, {3, 2, 4}, {5, 2, 6}, {5, 8, 2}, {10, 8, 4}} {
		near(t, "M1", Makespan(slices.Repeat([]float64{2}, c.k), c.workers), float64(c.want), 0)
	}
	near(t, "M2", Makespan([]float64{5, 4, 3, 3, 3}, 2), 10, 0)
	near(t, "M2", Makespan([]float64{7, 6, 5, 4, 3}, 2), 14, 0)
}

// One task alone: the model's bound is the task's own.
func TestModelOfOneTaskIsTheBound(t *testing.T) {
	for _, x := range [][]float64{{2}, {1.9, 2.1}, {1.8, 2.0, 2.1}} {
		for _, p := range []float64{.5, .9, .95, .99} {
			a := SizeCap(HoursAsk{RunHours: x, Confidence: p, OwnKernel: true})
			near(t, "bound", (a.BoundH-.35)/a.TaskUpperH, 1, .006)
			near(t, "chance", a.PKilled, 1-p, .004)
		}
	}
}

// With as many tasks as devices the longest decides, and the sum of the tasks' own bounds would not hold.
func TestManyParallelTasksNeedMoreThanTheirBound(t *testing.T) {
	a := SizeCap(HoursAsk{RunHours: []float64{1.8, 1.9, 2.0, 2.1, 2.4}, Tasks: 8, Devices: 8, Pool: TPU})
	if a.CapH <= a.StartUpH+a.MakespanH+a.TailH {
		t.Errorf("cap %v is not above %v", a.CapH, a.StartUpH+a.MakespanH+a.TailH)
	}
	if a.PKilled > .05+1e-3 {
		t.Errorf("chance to be stopped: %v", a.PKilled)
	}
	near(t, "start-up", a.StartUpH, 1.0/3, 1e-9)
}

func TestClippedCap(t *testing.T) {
	a := SizeCap(HoursAsk{RunHours: []float64{5, 5.2, 5.1}, Tasks: 5, Devices: 2})
	if !a.Clipped || a.FitsSession || a.CapH != 12 || a.Sessions != 2 || a.PKilled < .9 {
		t.Fatalf("got %+v", a)
	}
	if len(a.Warnings) == 0 || !strings.Contains(a.Warnings[0], "resumed in 1 further session") {
		t.Errorf("warnings %q", a.Warnings)
	}
	if a.Options[0].Code != "split" || !slices.Equal(a.Options[0].Tasks, []int{2, 2, 1}) || a.Options[0].CapH > 12 {
		t.Errorf("options %+v", a.Options)
	}
	tpu := SizeCap(HoursAsk{RunHours: []float64{20}, Pool: TPU})
	if tpu.CapH != 9 || tpu.Options[0].Code != "split" || tpu.Options[0].Tasks != nil {
		t.Errorf("got %+v", tpu)
	}
}

func TestCapAgainstQuotaAndReset(t *testing.T) {
	ask := sizes(1.8, 2.0, 2.1)
	left := 6.5
	ask.LeftH, ask.ResetIn = &left, 7*time.Hour
	a := SizeCap(ask)
	if a.FitsQuota == nil || *a.FitsQuota || a.Crosses == nil || !*a.Crosses {
		t.Fatalf("got %+v", a)
	}
	near(t, "left", *a.LeftAfterH, left-a.ExpectedH, 1e-9)
	if len(a.Warnings) != 2 || !strings.Contains(a.Warnings[1], "is not documented") {
		t.Errorf("warnings %q", a.Warnings)
	}
	if a.Options[0].Code != "fewer" || a.Options[0].Tasks[0] != 4 || a.Options[0].CapH > left {
		t.Errorf("options %+v", a.Options)
	}
	ask.Pool = CPU
	if cpu := SizeCap(ask); cpu.FitsQuota != nil || cpu.Crosses != nil {
		t.Errorf("CPU hours are metered: %+v", cpu)
	}
}

func TestNothingKnown(t *testing.T) {
	for _, ask := range []HoursAsk{{}, {RunHours: []float64{0, -1, math.NaN()}}, {RehearsalHours: 3}} {
		a := SizeCap(ask)
		if a.Known || a.CapH != 0 || a.Basis != BasisUnknown || len(a.Options) != 1 || a.Options[0].Code != "bench" || len(a.Warnings) == 0 {
			t.Errorf("%+v: got %+v", ask, a)
		}
		if a.KilledAt(5) != 1 || a.Within(5) != 0 {
			t.Errorf("%+v: a chance out of nothing", ask)
		}
	}
}

func TestRehearsalIsWide(t *testing.T) {
	ask := HoursAsk{RehearsalHours: 20, Speed: Ratio{10, 5, 20}, Tasks: 5, Devices: 2}
	a := SizeCap(ask)
	near(t, "median", a.TaskMedianH, 2, 1e-9)
	if a.Basis != BasisRehearsal || a.TaskUpperH < 3.5 || !strings.Contains(strings.Join(a.Warnings, " "), "rehearsal") {
		t.Errorf("got %+v", a)
	}
	ask.Speed = Ratio{10, 9.9, 10.1}
	if b := SizeCap(ask); b.TaskUpperH >= a.TaskUpperH {
		t.Errorf("a narrow ratio gives %v, a wide one %v", b.TaskUpperH, a.TaskUpperH)
	}
}

func TestChosenCap(t *testing.T) {
	ask := sizes(1.8, 2.0, 2.1)
	advised := SizeCap(ask)
	last := 1.0
	for c := 1.0; c <= 12; c += .5 {
		ask.CapH = c
		a := SizeCap(ask)
		if a.CapH != c || a.PKilled > last || a.PKilled < 0 {
			t.Fatalf("cap %v: chance %v after %v", c, a.PKilled, last)
		}
		near(t, "slider", advised.KilledAt(c), a.PKilled, 1e-12)
		last = a.PKilled
	}
	near(t, "bound", advised.Within(advised.BoundH), .95, 1e-6)
}

// A world that draws a factor for the session and one for each task: the bound holds as often as it says. (With a run or
// two it holds more often than that: until then the prior decides, and it is wider than this world.)
func TestBoundHoldsInSessions(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	const trials = 1000
	for _, c := range []struct {
		tasks, devices, history, per int
		known                        bool // from which session each measurement is
	}{{1, 2, 10, 1, false}, {5, 2, 2, 5, false}, {5, 2, 10, 5, false}, {5, 2, 10, 5, true}, {8, 8, 10, 8, true}} {
		session := func(n int) []float64 {
			shared, out := .08*r.NormFloat64(), make([]float64, n)
			for i := range out {
				out[i] = 2 * math.Exp(shared+.1*r.NormFloat64())
			}
			return out
		}
		held := 0
		for range trials {
			ask := HoursAsk{Tasks: c.tasks, Devices: c.devices}
			for s := range c.history {
				ask.RunHours = append(ask.RunHours, session(c.per)...)
				for range c.per {
					if c.known {
						ask.RunSession = append(ask.RunSession, int64(s))
					}
				}
			}
			if a := SizeCap(ask); a.StartUpH+inOrder(session(c.tasks), c.devices)+a.TailH <= a.BoundH {
				held++
			}
		}
		if share := float64(held) / trials; share < .93 || share > .98 {
			t.Errorf("%+v: the bound of 95 %% held in %.1f %%", c, 100*share)
		}
	}
}

func inOrder(hours []float64, devices int) float64 {
	load := make([]float64, devices)
	for _, h := range hours {
		i := slices.Index(load, slices.Min(load))
		load[i] += h
	}
	return slices.Max(load)
}

func TestSizeCapIsTheSameTwice(t *testing.T) {
	a, b := SizeCap(sizes(1.8, 2.0, 2.1)), SizeCap(sizes(1.8, 2.0, 2.1))
	if a.CapH != b.CapH || a.PKilled != b.PKilled {
		t.Error("the same question has two answers")
	}
}

// More tasks never need less, more devices never more, and more confidence never less.
func TestCapIsMonotone(t *testing.T) {
	cap := func(k, d int, p float64) float64 {
		return SizeCap(HoursAsk{RunHours: []float64{.5, .6, .55}, Tasks: k, Devices: d, Confidence: p}).WantedH
	}
	for k := 1; k < 12; k++ {
		if cap(k+1, 2, .95) < cap(k, 2, .95)-.01 {
			t.Errorf("%d tasks need less than %d", k+1, k)
		}
		if cap(k, 4, .95) > cap(k, 2, .95)+1e-9 {
			t.Errorf("%d tasks need more on 4 devices than on 2", k)
		}
		if cap(k, 2, .99) < cap(k, 2, .9) {
			t.Errorf("%d tasks: 99 %% needs less than 90 %%", k)
		}
	}
}

func BenchmarkSizeCap(b *testing.B) {
	for b.Loop() {
		SizeCap(sizes(1.8, 2.0, 2.1))
	}
}
