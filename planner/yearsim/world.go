package yearsim

import (
	"math"
	"math/rand/v2"

	"sandglass/planner"
)

const weekH = 168.0

// config is one script on one machine and data set.
type config struct {
	median  float64   // h a fold on one device
	guess   float64   // what a rehearsal said of it before the first run
	saves   bool      // checkpoints
	history []float64 // h of whole folds, as this policy's runs measured them

	sizedAt         int     // folds that the following rest on
	mean, sd, upper float64 // of the logarithms; SizeCap\'s bound, 0 = not asked yet
}

// task is one fold of a job.
type task struct {
	config *config
	workH  float64 // at session factor 1
	left   float64 // share still to do
}

// world draws everything that chance decides. Jobs, the person and the noise have streams of their own, so that two
// policies with one seed meet the same jobs and the same person.
type world struct {
	p                   Params
	pool                planner.Pool
	jobs, person, noise *rand.Rand
	recent              []*config
	zone                float64
}

func newWorld(p Params, pool planner.Pool, seed uint64) *world {
	stream := func(n uint64) *rand.Rand {
		if pool == planner.TPU {
			n += 16
		}
		return rand.New(rand.NewPCG(seed, n))
	}
	w := &world{p: p, pool: pool, jobs: stream(1), noise: stream(2), person: rand.New(rand.NewPCG(seed, 3))}
	w.zone = float64(w.person.IntN(24))
	return w
}

// job is the next one of the backlog: all folds of one configuration.
func (w *world) job() []*task {
	r := w.jobs
	isNew, which := r.Float64(), r.Float64()
	z1, z2, saves, folds := r.NormFloat64(), r.NormFloat64(), r.Float64(), r.Float64()
	var c *config
	if isNew < w.p.NewShare || len(w.recent) == 0 {
		m := w.p.FoldH[w.pool]
		c = &config{median: min(max(m*math.Exp(w.p.FoldSigma[w.pool]*z1), 0.2*m), 3.5*m), saves: saves >= w.p.OwnShare}
		c.guess = c.median * math.Exp(w.p.GuessSigma*z2)
		if w.recent = append(w.recent, c); len(w.recent) > w.p.Recent {
			w.recent = w.recent[1:]
		}
	} else {
		c = w.recent[int(which*float64(len(w.recent)))]
	}
	out := make([]*task, foldCount(folds))
	for i := range out {
		out[i] = &task{config: c, workH: c.median * math.Exp(w.p.FoldNoise*r.NormFloat64()), left: 1}
	}
	return out
}

// foldCount: mostly five, some screens of one or two folds, a few of ten.
func foldCount(u float64) int {
	switch {
	case u < 0.10:
		return 1
	case u < 0.25:
		return 2
	case u < 0.40:
		return 3
	case u < 0.90:
		return 5
	}
	return 10
}

// nextLook is the first look after now: at an exponential interval, and never asleep.
func (w *world) nextLook(now float64) float64 {
	t := now + max(w.person.ExpFloat64()*w.p.LookEveryH, 0.1)
	if !w.awake(t) {
		t = w.wakes(t) + w.person.Float64()
	}
	return t
}

// awake from 7 to 23 h of the person's own clock.
func (w *world) awake(t float64) bool {
	h := math.Mod(t+w.zone, 24)
	return h >= 7 && h < 23
}

// wakes is the first 7 o'clock after t.
func (w *world) wakes(t float64) float64 {
	h := math.Mod(t+w.zone, 24)
	return t + math.Mod(7-h+24, 24)
}

// queue is the wait of one push, in hours.
func (w *world) queue() float64 {
	if w.pool == planner.GPU {
		return w.p.GPUStartH
	}
	sigma := math.Log(w.p.QueueP90H/w.p.QueueMedianH) / 1.2815515655446004
	return w.p.QueueMedianH * math.Exp(sigma*w.noise.NormFloat64())
}

func (w *world) startUp() (boot, start float64) {
	f := math.Exp(w.p.StartSigma * w.noise.NormFloat64())
	return w.p.BootH[w.pool] * f, w.p.StartH[w.pool] * f
}
