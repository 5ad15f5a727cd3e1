package yearsim

import (
	"math"
	"sync"
	"time"

	"sandglass/planner"
)

// sizing is what the planner said of a run.
type sizing struct {
	CapH, ExpectedH float64
	sized           bool                  // by SizeCap, from measured runs
	clipped         bool                  // the session limit is shorter
	killed          func(float64) float64 // chance to be stopped under a cap; nil unless sized
}

const (
	historyUsed = 12   // newest folds that a cap is sized from
	sdStep      = 0.01 // to which their spread is rounded, see advised
)

// typical are the tasks' likely lengths.
func typical(tasks []*task) []float64 {
	out := make([]float64, len(tasks))
	for i, t := range tasks {
		out[i] = t.left * t.config.typical()
	}
	return out
}

// typical is the geometric mean of the newest measured folds, or the estimate before the first run.
func (c *config) typical() float64 {
	if len(c.history) == 0 {
		return c.guess
	}
	if c.sizedAt != len(c.history) {
		c.moments()
	}
	return math.Exp(c.mean)
}

// moments brings mean and sd up to the history.
func (c *config) moments() {
	h := c.history[max(0, len(c.history)-historyUsed):]
	n := float64(len(h))
	c.mean, c.sd = 0, 0
	for _, x := range h {
		c.mean += math.Log(x) / n
	}
	for _, x := range h {
		d := math.Log(x) - c.mean
		c.sd += d * d
	}
	if n > 1 {
		c.sd = math.Sqrt(c.sd / (n - 1))
	}
	c.sizedAt, c.upper = len(c.history), 0
}

// sizer asks SizeCap. What it says depends on the mean of the measured hours only as a factor on the tasks' part, and
// reckoning it takes half a millisecond; so it is asked once for each number of folds and each spread (to one percent),
// and the answer is scaled. The table is the same whatever the order of the questions.
type sizer struct {
	pool       planner.Pool
	confidence float64
	guess      planner.Ratio
	mu         sync.RWMutex
	known      map[question]answer
}

type question struct{ n, sd, tasks int } // n = 0: a rehearsal

// answer is for tasks of one hour, without start-up and tail.
type answer struct {
	planner.HoursAdvice
}

func newSizer(p Params, pool planner.Pool, confidence float64) *sizer {
	r := math.Exp(1.6449 * p.GuessSigma)
	return &sizer{pool: pool, confidence: confidence, guess: planner.Ratio{Ratio: 1, Low: 1 / r, High: r}, known: map[question]answer{}}
}

func (z *sizer) ask(q question) planner.HoursAsk {
	ask := planner.HoursAsk{Tasks: q.tasks, Devices: devices(z.pool), Confidence: z.confidence, Pool: z.pool, LimitH: 1000}
	if q.n == 0 {
		ask.RehearsalHours, ask.Speed = 1, z.guess
		return ask
	}
	ask.RunHours = spreadOut(q.n, float64(q.sd)*sdStep)
	return ask
}

// spreadOut are n hours with geometric mean 1 and this standard deviation of the logarithm.
func spreadOut(n int, sd float64) []float64 {
	out := make([]float64, n)
	d := sd
	if n%2 == 0 {
		d *= math.Sqrt(float64(n-1) / float64(n))
	}
	for i := range out {
		switch {
		case i == n-1 && n%2 == 1:
			out[i] = 1
		case i%2 == 0:
			out[i] = math.Exp(d)
		default:
			out[i] = math.Exp(-d)
		}
	}
	return out
}

func (z *sizer) answer(q question) answer {
	z.mu.RLock()
	a, ok := z.known[q]
	z.mu.RUnlock()
	if ok {
		return a
	}
	ask := z.ask(q)
	ask.StartUp, ask.Tail = time.Nanosecond, time.Nanosecond
	a = answer{planner.SizeCap(ask)}
	z.mu.Lock()
	z.known[q] = a
	z.mu.Unlock()
	return a
}

func (c *config) question(tasks int) question {
	if len(c.history) == 0 {
		return question{tasks: tasks}
	}
	if c.sizedAt != len(c.history) {
		c.moments()
	}
	return question{min(len(c.history), historyUsed), int(math.Round(c.sd / sdStep)), tasks}
}

// upperOf is the bound of one whole task.
func (z *sizer) upperOf(c *config) float64 {
	if c.sizedAt != len(c.history) {
		c.moments()
	}
	if c.upper == 0 {
		c.upper = z.answer(c.question(1)).TaskUpperH * c.typical()
	}
	return c.upper
}

// size sizes a session.
func (z *sizer) size(tasks []*task) sizing {
	start, tail := planner.StartUpH, planner.TailH
	if z.pool == planner.TPU {
		start = planner.TPUStartUpH
	}
	limit := planner.SessionLimit(z.pool).Hours()
	c, plain := tasks[0].config, true
	for _, t := range tasks {
		plain = plain && t.config == c && t.left == 1
	}
	var s sizing
	if plain {
		a, unit := z.answer(c.question(len(tasks))), c.typical()
		need := max(start+a.MakespanH*unit+tail, planner.CapFor(start+a.BoundH*unit), start+a.BoundH*unit+tail)
		s = sizing{CapH: need, ExpectedH: start + a.ExpectedH*unit + tail, sized: len(c.history) > 0}
		s.killed = func(capH float64) float64 {
			graceful, _ := planner.RunnerStops(capH)
			return 1 - a.Within((min(graceful, capH-tail)-start)/unit)
		}
	} else {
		up := make([]float64, len(tasks))
		for i, t := range tasks {
			up[i] = t.left * z.upperOf(t.config)
		}
		s = sizing{CapH: planner.JoinedCap(up, devices(z.pool), start, tail),
			ExpectedH: start + planner.Makespan(typical(tasks), devices(z.pool)) + tail}
	}
	s.clipped = s.CapH > limit
	return s
}
