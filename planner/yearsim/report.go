package yearsim

import (
	"math"
	"runtime"
	"slices"
	"sync"

	"sandglass/planner"
)

// Spread is a figure over the seeds: mean, 5th and 95th percentile.
type Spread struct{ Mean, P5, P95 float64 }

func spreadOf(x []float64) Spread {
	s := slices.Sorted(slices.Values(x))
	sum := 0.0
	for _, v := range s {
		sum += v
	}
	at := func(q float64) float64 { return s[int(math.Round(q*float64(len(s)-1)))] }
	return Spread{sum / float64(len(s)), at(0.05), at(0.95)}
}

// Figures are the shares of the allowance over all seeds, 0 to 1.
type Figures struct {
	Used, Kept, Idle, Overhead, Killed, Failed, Expired Spread
	SessionsAWeek                                       float64
	Sized, Held                                         int     // see Year
	Stated                                              float64 // mean chance, as stated, that a sized run is stopped
}

// Holding is the share of the runs sized by measured ones that ended under their cap.
func (f Figures) Holding() float64 { return float64(f.Held) / float64(f.Sized) }

// Policy is one way of planning.
type Policy struct {
	Name  string
	World func(*Params) // changes to the world; nil = none
	play  func(Params, planner.Pool, uint64) Year
}

// Peer follows the other tool's protocol.
func Peer() Policy {
	return Policy{Name: "peer's protocol", play: func(p Params, pool planner.Pool, seed uint64) Year {
		return play(newWorld(p, pool, seed), &peer{boost: map[*task]float64{}}, false)
	}}
}

// Planner is package planner with the launch queue, less what is switched off.
func Planner(name string, confidence float64, w Without) Policy {
	return Policy{Name: name, play: func(p Params, pool planner.Pool, seed uint64) Year {
		return play(newWorld(p, pool, seed), &ours{without: w, sizes: sizerOf(p, pool, confidence)}, false)
	}}
}

// sizers are shared by all years: what SizeCap says depends on nothing else.
var sizers sync.Map

type sizerKey struct {
	pool              planner.Pool
	confidence, guess float64
}

func sizerOf(p Params, pool planner.Pool, confidence float64) *sizer {
	z, _ := sizers.LoadOrStore(sizerKey{pool, confidence, p.GuessSigma}, newSizer(p, pool, confidence))
	return z.(*sizer)
}

// Omniscient is the bound.
func Omniscient() Policy {
	return Policy{Name: "omniscient bound", play: func(p Params, pool planner.Pool, seed uint64) Year {
		return play(newWorld(p, pool, seed), &omniscient{}, true)
	}}
}

// Under is the same policy in another world.
func (pol Policy) Under(name string, change func(*Params)) Policy {
	return Policy{Name: name, World: change, play: pol.play}
}

// Year plays one seed.
func (pol Policy) Year(p Params, pool planner.Pool, seed uint64) Year {
	if pol.World != nil {
		pol.World(&p)
	}
	return pol.play(p, pool, seed)
}

// Play plays seeds 1 to n on all cores. The result does not depend on how many there are.
func (pol Policy) Play(p Params, pool planner.Pool, n int) Figures {
	years := make([]Year, n)
	var wg sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), n)
	for k := range workers {
		wg.Go(func() {
			for i := k; i < n; i += workers {
				years[i] = pol.Year(p, pool, uint64(i+1))
			}
		})
	}
	wg.Wait()
	return figures(years, p.Weeks)
}

func figures(years []Year, weeks int) Figures {
	var f Figures
	over := func(part func(Year) float64) Spread {
		x := make([]float64, len(years))
		for i, y := range years {
			x[i] = part(y) / y.Allowance
		}
		return spreadOf(x)
	}
	f.Used = over(func(y Year) float64 { return y.Used() * y.Allowance })
	f.Kept = over(func(y Year) float64 { return y.Hours.Kept })
	f.Idle = over(func(y Year) float64 { return y.Hours.Idle })
	f.Overhead = over(func(y Year) float64 { return y.Hours.Overhead })
	f.Killed = over(func(y Year) float64 { return y.Hours.Killed })
	f.Failed = over(func(y Year) float64 { return y.Hours.Failed })
	f.Expired = over(func(y Year) float64 { return y.Expired })
	for _, y := range years {
		f.SessionsAWeek += float64(y.Sessions) / float64(weeks*len(years))
		f.Sized, f.Held, f.Stated = f.Sized+y.Sized, f.Held+y.Held, f.Stated+y.Stated
	}
	f.Stated /= float64(max(f.Sized, 1))
	return f
}

// Headline is how many of Published are the three ways of planning; the rest are variants.
const Headline = 3

// Published are the policies of the published table, in its order.
func Published() []Policy {
	full := Planner("planner", 0.95, Without{})
	return []Policy{
		Peer(),
		full,
		Omniscient(),
		full.Under("planner, laptop always on", func(p *Params) { p.AlwaysOn = true }),
		Planner("planner without the queue", 0.95, Without{Queue: true}),
		Planner("planner without resume", 0.95, Without{Resume: true}),
		Planner("planner without the fill before the reset", 0.95, Without{Fill: true}),
		Planner("planner, one job a session", 0.95, Without{Joining: true}),
		Planner("planner, one job, caps of 90 %", 0.90, Without{Joining: true}),
		full.Under("planner, nothing ever fails", func(p *Params) { p.EarlyCrash, p.FoldCrash, p.InfraPerH = 0, 0, 0 }),
		full.Under("planner, every script saves", func(p *Params) { p.OwnShare = 0 }),
		full.Under("planner, charged by start", func(p *Params) { p.Charge = ByStart }),
		full.Under("planner, charge split at the reset", func(p *Params) { p.Charge = Split }),
		Peer().Under("last 48 h of the week: peer", late),
		full.Under("last 48 h of the week: planner", late),
		Planner("", 0.95, Without{Queue: true}).Under("last 48 h of the week: without the queue", late),
		Omniscient().Under("last 48 h of the week: omniscient", late),
		Peer().Under("last 24 h, one look in 6 h: peer", rushed),
		full.Under("last 24 h, one look in 6 h: planner", rushed),
		Planner("", 0.95, Without{Queue: true}).Under("last 24 h, one look in 6 h: without the queue", rushed),
		Omniscient().Under("last 24 h: omniscient", rushed),
	}
}

func rushed(p *Params) { p.LateH, p.LookEveryH = weekH-24, 6 }

func late(p *Params) { p.LateH = weekH - 48 }
