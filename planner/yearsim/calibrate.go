package yearsim

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"sandglass/planner"
)

// Calibration is how often SizeCap's statements held, for sessions of five folds, by what it knew. Shares 0 to 1.
type Calibration struct {
	Runs    int     // earlier sessions of the same five folds; 0 = one single fold
	N       int     // sessions tried
	Task    float64 // folds within TaskUpperH
	Bound   float64 // sessions whose tasks were through within BoundH less start-up and tail: the statistics alone
	Session float64 // sessions that were over within BoundH, real start-up and closing included
	Cap     float64 // sessions not stopped by their runner under CapH
	Stated  float64 // what SizeCap said of Cap
}

// Knows is what the planner is told besides the hours.
type Knows struct {
	Sessions bool // which session each measured fold belongs to
	StartUp  bool // the mean of the measured start-ups, instead of the default
}

// calibrated are the numbers of earlier sessions at which the bound is tried.
var calibrated = []int{0, 1, 2, 3, 5, 10}

// Calibrate tries SizeCap on n configurations.
func Calibrate(p Params, pool planner.Pool, confidence float64, k Knows, n int) []Calibration {
	parts := make([][]Calibration, n)
	var wg sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), n)
	for i := range workers {
		wg.Go(func() {
			for j := i; j < n; j += workers {
				parts[j] = calibrateOne(p, pool, confidence, k, uint64(j+1))
			}
		})
	}
	wg.Wait()
	out := make([]Calibration, len(calibrated))
	for i := range out {
		c := &out[i]
		c.Runs, c.N = calibrated[i], n
		for _, part := range parts {
			c.Task += part[i].Task / float64(n)
			c.Bound += part[i].Bound / float64(n)
			c.Session += part[i].Session / float64(n)
			c.Cap += part[i].Cap / float64(n)
			c.Stated += part[i].Stated / float64(n)
		}
	}
	return out
}

const calibratedFolds = 5

func calibrateOne(p Params, pool planner.Pool, confidence float64, k Knows, seed uint64) []Calibration {
	w := newWorld(p, pool, seed)
	w.noise = rand.New(rand.NewPCG(seed, 99))
	c := &config{median: p.FoldH[pool] * math.Exp(p.FoldSigma[pool]*w.noise.NormFloat64())}
	ask := planner.HoursAsk{Tasks: calibratedFolds, Devices: devices(pool), Confidence: confidence, Pool: pool, LimitH: 1000}
	starts := 0.0
	var out []Calibration
	next := w.measured(c, 1)
	for runs := 0; len(out) < len(calibrated); runs++ {
		ask.RunHours, ask.RunSession = append(ask.RunHours, next.hours...), append(ask.RunSession, slicesOf(int64(runs), len(next.hours))...)
		starts += next.boot + next.start
		next = w.measured(c, calibratedFolds)
		if runs != calibrated[len(out)] {
			continue
		}
		told := ask
		if !k.Sessions {
			told.RunSession = nil
		}
		if k.StartUp {
			told.StartUp = time.Duration(starts / float64(runs+1) * float64(time.Hour))
		}
		out = append(out, next.against(planner.SizeCap(told), p, devices(pool)))
		if runs == 0 {
			ask.RunHours, ask.RunSession, starts, runs = nil, nil, 0, 0 // the single fold was a screen of its own
		}
	}
	return out
}

// measurement is one session that nothing stopped.
type measurement struct {
	hours       []float64
	boot, start float64
}

func (w *world) measured(c *config, folds int) measurement {
	m := measurement{hours: make([]float64, folds)}
	m.boot, m.start = w.startUp()
	factor := math.Exp(w.p.SessionSigma * w.noise.NormFloat64())
	for i := range m.hours {
		m.hours[i] = c.median * factor * math.Exp(w.p.FoldNoise*w.noise.NormFloat64())
	}
	return m
}

// against compares the session with what was said of it.
func (m measurement) against(a planner.HoursAdvice, p Params, devices int) Calibration {
	free := make([]float64, devices)
	var c Calibration
	for _, h := range m.hours {
		free[least(free)] += h
		c.Task += yes(h <= a.TaskUpperH) / float64(len(m.hours))
	}
	work := greatest(free)
	c.Bound = yes(work <= a.BoundH-a.StartUpH-a.TailH)
	c.Session = yes(m.boot+m.start+work+p.TailH <= a.BoundH)
	graceful, _ := planner.RunnerStops(a.CapH)
	c.Cap = yes(m.start+work <= graceful)
	c.Stated = 1 - a.PKilled
	return c
}

func yes(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func slicesOf(v int64, n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = v
	}
	return out
}
