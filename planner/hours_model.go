package planner

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"
)

// sharedShare is the part of the variance of run times that all tasks of a session have in common (another machine, a
// slower disk), when the measurements do not say from which session they are. Ours: half and half.
const sharedShare = 0.5

// belief is what measurements say of the logarithm of one task's hours.
type belief struct {
	basis string
	n     int
	mean  float64
	flat  float64 // standard deviation of the next measurement around mean, t-distributed with df
	df    float64
	ratio float64 // further normal uncertainty of mean, from a relative speed

	// The spread of the next session splits into what its tasks share, standard deviation shared with df degrees of
	// freedom, and each task's own, standard deviation own. With ownScales the latter is as uncertain as the former.
	shared, own float64
	ownScales   bool
}

// belief reads the best measurement there is; ok is false when there is none.
func (ask HoursAsk) belief() (b belief, ok bool) {
	n, m, s := logMoments(ask.RunHours)
	b = belief{basis: BasisRuns, n: n, mean: m}
	switch {
	case n > 1:
	case n == 1:
		b.basis = BasisOneFold
	case ask.FoldHours > 0 && !math.IsInf(ask.FoldHours, 1):
		b.basis, b.n, b.mean = BasisOneFold, 1, math.Log(ask.FoldHours)
	case ask.RehearsalHours > 0 && !math.IsInf(ask.RehearsalHours, 1) && ask.Speed.Ratio > 0:
		b.basis, b.n, b.mean = BasisRehearsal, 1, math.Log(ask.RehearsalHours/ask.Speed.Ratio)
		b.ratio = ask.Speed.logSD()
	default:
		return belief{}, false
	}
	sp, df := shrunkSD(b.n, s)
	inv := 1 / float64(b.n)
	b.df, b.flat = df, sp*math.Sqrt(1+inv)
	b.shared, b.own, b.ownScales = sp*math.Sqrt(sharedShare+inv), sp*math.Sqrt(1-sharedShare), true
	if n > 1 && len(ask.RunSession) == len(ask.RunHours) {
		b.bySession(ask)
	}
	return b, true
}

// logSD is the spread of the logarithm that the range of a ratio stands for. Without a range a factor of two either way
// is believed.
func (r Ratio) logSD() float64 {
	low, high := r.Low, r.High
	if !(low > 0 && high > low) {
		low, high = r.Ratio/2, r.Ratio*2
	}
	return math.Log(high/low) / (2 * NormalQuantile(0.95))
}

// upper is the bound of one task.
func (b belief) upper(p float64) float64 {
	t := TQuantile(p, b.df) * b.flat
	if b.ratio > 0 {
		t = math.Copysign(math.Hypot(t, NormalQuantile(p)*b.ratio), t)
	}
	return math.Exp(b.mean + t)
}

// bySession splits the spread into what differs between sessions and what differs between the tasks of one, each shrunk
// towards half of the prior variance. The centre stays that of all tasks.
func (b *belief) bySession(ask HoursAsk) {
	sum, count := map[int64]float64{}, map[int64]int{}
	for i, h := range ask.RunHours {
		if h > 0 && !math.IsInf(h, 1) {
			sum[ask.RunSession[i]] += math.Log(h)
			count[ask.RunSession[i]]++
		}
	}
	sessions := float64(len(sum))
	within, mean := 0.0, 0.0
	for i, h := range ask.RunHours {
		if h > 0 && !math.IsInf(h, 1) {
			k := ask.RunSession[i]
			d := math.Log(h) - sum[k]/float64(count[k])
			within += d * d
		}
	}
	inverse := 0.0 // mean of 1/tasks
	for k := range sum {
		mean += sum[k] / float64(count[k]) / sessions
		inverse += 1 / float64(count[k]) / sessions
	}
	between := 0.0
	for k := range sum {
		d := sum[k]/float64(count[k]) - mean
		between += d * d
	}
	prior := priorDF * priorSD * priorSD / 2
	own := (prior + within) / (priorDF + float64(b.n) - sessions)
	b.df = priorDF + sessions - 1
	tau := (prior + max(0, between-(sessions-1)*own*inverse)) / b.df
	b.mean, b.own, b.ownScales = mean, math.Sqrt(own), false
	b.shared = math.Sqrt(tau*(1+1/sessions) + own*inverse/sessions)
}

// sessionModel is the distribution of the time that the tasks of one session take together, in hours after start-up.
//
// The logarithm of a task's hours is mean + shared x t + own x z: t is common to the session (what the measurements leave
// open of the mean, and what differs between sessions) and Student-distributed, z is the task's own and normal. Tasks are
// started in order on whichever device is free. Given the spread and all z, the chance to be through in time is exact; it
// is averaged over a fixed set of spreads (strata of the chi-square distribution, finer where the spread is wide) and z
// (a Latin hypercube from a fixed seed). So the same question has the same answer, and more time never lowers the chance.
type sessionModel struct {
	start, tail float64
	ownKernel   bool
	mean        float64
	scenarios   []scenario
}

type scenario struct {
	weight  float64
	logMake float64 // logarithm of the makespan when the median task takes 1
	sd      float64 // of what the session shares
}

const (
	strata      = 32
	perStratum  = 16
	manyTasks   = 64 // beyond it a quarter of the scenarios will do: the tasks even out
	modelSeed   = 20260829
	quantileEps = 1e-7
)

func newSessionModel(ask HoursAsk, b belief) *sessionModel {
	m := &sessionModel{start: ask.StartUp.Hours(), tail: ask.Tail.Hours(), ownKernel: ask.OwnKernel, mean: b.mean}
	scales := ask.scales()
	reps := perStratum
	if len(scales) > manyTasks {
		reps /= 4
	}
	r := rand.New(rand.NewPCG(modelSeed, uint64(len(scales))))
	z, load := make([][]float64, reps), make([]float64, min(ask.Devices, len(scales)))
	for i := range z {
		z[i] = make([]float64, len(scales))
	}
	for k := range strata {
		lo, hi := float64(k)/strata, float64(k+1)/strata
		lo, hi = lo*lo, hi*hi
		spread := math.Sqrt(b.df / (2 * mathext.GammaIncRegInv(b.df/2, (lo+hi)/2)))
		own := b.own
		if b.ownScales {
			own *= spread
		}
		sd := math.Hypot(b.shared*spread, b.ratio)
		hypercube(r, z)
		for i := range reps {
			m.scenarios = append(m.scenarios, scenario{(hi - lo) / float64(reps), math.Log(noisyMakespan(scales, z[i], own, load)), sd})
		}
	}
	return m
}

// hypercube fills the columns of z with normal numbers, of each column one from every slice of the distribution
// (Latin hypercube sampling): far fewer rows do than of independent numbers.
func hypercube(r *rand.Rand, z [][]float64) {
	rows := float64(len(z))
	for j := range z[0] {
		for i, slice := range r.Perm(len(z)) {
			z[i][j] = NormalQuantile((float64(slice) + r.Float64()) / rows)
		}
	}
}

// noisyMakespan is the time until the last of the tasks is done when each free device takes the next one.
func noisyMakespan(scales, z []float64, own float64, load []float64) float64 {
	clear(load)
	longest := 0.0
	for j, s := range scales {
		free := 0
		for i := range load {
			if load[i] < load[free] {
				free = i
			}
		}
		load[free] += s * math.Exp(own*z[j])
		longest = max(longest, load[free])
	}
	return longest
}

// below is the chance that the tasks are through within h hours.
func (m *sessionModel) below(h float64) float64 {
	if h <= 0 {
		return 0
	}
	p, _ := m.at(math.Log(h))
	return p
}

// at is the chance, and its derivative, at a logarithm of hours.
func (m *sessionModel) at(logH float64) (p, density float64) {
	x := logH - m.mean
	for _, s := range m.scenarios {
		z := (x - s.logMake) / s.sd
		p += s.weight * NormalCDF(z)
		density += s.weight * normalDensity(z) / s.sd
	}
	return p, density
}

// quantile is the hours that the tasks stay under with chance p.
func (m *sessionModel) quantile(p float64) float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, s := range m.scenarios {
		lo, hi = min(lo, m.mean+s.logMake-8*s.sd), max(hi, m.mean+s.logMake+8*s.sd)
	}
	x := (lo + hi) / 2
	for range 80 {
		got, density := m.at(x)
		if got < p {
			lo = x
		} else {
			hi = x
		}
		next := x - (got-p)/density
		if !(next > lo && next < hi) {
			next = (lo + hi) / 2
		}
		if math.Abs(next-x) < quantileEps {
			break
		}
		x = next
	}
	return math.Exp(x)
}

// room is what a cap leaves for the tasks: until the session runner asks them to stop, or until what is left is needed
// for saving.
func (m *sessionModel) room(capH float64) float64 {
	stop := capH - m.tail
	if !m.ownKernel {
		graceful, _ := RunnerStops(capH)
		stop = min(stop, graceful)
	}
	return stop - m.start
}

// capFor is the cap that leaves this much room.
func (m *sessionModel) capFor(taskH float64) float64 {
	need := m.start + taskH
	if m.ownKernel {
		return need + m.tail
	}
	return max(need+m.tail, CapFor(need))
}

// killed is the chance that a session with this cap is stopped before its tasks are through.
func (m *sessionModel) killed(capH float64) float64 {
	return min(max(1-m.below(m.room(capH)), 0), 1)
}
