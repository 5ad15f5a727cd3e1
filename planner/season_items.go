package planner

import (
	"cmp"
	"fmt"
	"slices"
)

// PlanItem is one run that could be started.
type PlanItem struct {
	ID        string // of the caller
	Name      string
	Pool      Pool
	Hours     float64 // it will probably burn
	SD        float64 // of the logarithm of Hours; 0 = certain
	Gain      float64 // expected gain in score, above zero is better
	GainSD    float64 // its standard deviation; with both zero the gain is not known
	Validated bool    // ready to start: the script ran, and the idea is worth its hours
	Resume    bool    // goes on with a run that has work left
	Divisible bool    // saves checkpoints or is made of folds: a part of it is worth its part
	WhyNot    string  // a reason to leave it alone
}

// What to do with an item.
const (
	DoStart  = "start"
	DoResume = "resume"
	DoLeave  = "leave"
)

// Suggestion is one thing to do or to leave.
type Suggestion struct {
	ID      string
	Name    string
	Pool    Pool
	Do      string
	Hours   float64 // to spend on it now
	Partial bool    // Hours is a part of it; the rest is resumed later
	Gain    float64 // expected improvement, times the chance to be done in time; 0 = not known
	PerHour float64
	Why     string
}

func (it PlanItem) leave(why string) Suggestion {
	return Suggestion{ID: it.ID, Name: it.Name, Pool: it.Pool, Do: DoLeave, Hours: it.Hours, Gain: it.improvement(), Why: why}
}

func (it PlanItem) gainKnown() bool { return it.Gain != 0 || it.GainSD != 0 }

// improvement is the expected improvement, 0 when the gain is not known.
func (it PlanItem) improvement() float64 { return ExpectedImprovement(it.Gain, it.GainSD) }

// candidate is an item that may be started now.
type candidate struct {
	PlanItem
	value float64
	known bool
}

// fill chooses what to start now in one pool: the exact optimum of expected improvement over the items that are ready,
// end before the reset and fit what is usable. An item whose gain is not known is worth the median of the others an hour
// (and all the same when none is known, so that the hours are filled). The rest is left, with the reason.
func (p *SeasonPlan) fill(pool Pool, in PlanPool, items []PlanItem, usableH float64) []Suggestion {
	windowH := p.Windows[0].To.Sub(p.Windows[0].From).Hours() - in.QueueH
	var ready []candidate
	for _, it := range items {
		if it.Pool != pool {
			continue
		}
		if why := it.blocked(pool, in, usableH, windowH); why != "" {
			p.Leave = append(p.Leave, it.leave(why))
			continue
		}
		c := candidate{PlanItem: it, value: it.improvement(), known: it.gainKnown()}
		if c.known && !it.Divisible {
			c.value *= InTime(windowH, it.Hours, it.SD)
		}
		ready = append(ready, c)
	}
	worthUnknown(ready)
	taken, part, partH := choose(ready, in, usableH, windowH)
	var out []Suggestion
	for i, c := range ready {
		switch {
		case slices.Contains(taken, i):
			out = append(out, c.start(c.Hours, false))
		case i == part:
			out = append(out, c.start(partH, true))
		default:
			p.Leave = append(p.Leave, c.leave("other work brings more for the hours that are left"))
		}
	}
	slices.SortStableFunc(out, func(a, b Suggestion) int { return cmp.Compare(b.PerHour, a.PerHour) })
	p.Start = append(p.Start, out...)
	return out
}

// blocked is why an item is not to be started now; "" when it may be.
func (it PlanItem) blocked(pool Pool, in PlanPool, usableH, windowH float64) string {
	fits := min(usableH, windowH)
	switch {
	case it.WhyNot != "":
		return it.WhyNot
	case !it.Validated && !it.Resume:
		return "not validated: rehearse it first"
	case it.gainKnown() && it.improvement() <= 0:
		return "no gain is expected of it"
	case it.Hours <= 0:
		return "how long it takes is not known: run a bench session first"
	case it.Divisible && fits >= LeastCap(StartUpH):
		return ""
	case it.Hours > in.LimitH+weightSlack:
		return fmt.Sprintf("it needs %s and a session may run %s", hours1(it.Hours), hours1(in.LimitH))
	case it.Hours > usableH+weightSlack:
		return fmt.Sprintf("it needs %s and %.1f %s can still be used", hours1(it.Hours), usableH, plural(pool))
	case it.Hours > windowH+weightSlack:
		return fmt.Sprintf("it needs %s and would still run at the reset in %s", hours1(it.Hours), hours1(max(windowH+in.QueueH, 0)))
	}
	return ""
}

// start is the suggestion to start h hours of an item.
func (c candidate) start(h float64, partial bool) Suggestion {
	s := Suggestion{ID: c.ID, Name: c.Name, Pool: c.Pool, Do: DoStart, Hours: h, Partial: partial, PerHour: c.value / c.Hours}
	if c.Resume {
		s.Do = DoResume
	}
	if c.known {
		s.Gain = c.value * h / c.Hours
	}
	switch {
	case partial:
		s.Why = fmt.Sprintf("%s of its %s fill what would expire; the rest is resumed after the reset", hours1(h), hours1(c.Hours))
	case c.Resume:
		s.Why = "what it has done is kept, and it ends before the reset"
	default:
		s.Why = "ready, and it ends before the reset"
	}
	return s
}

// worthUnknown gives the items without a known gain the median value an hour of the others.
func worthUnknown(ready []candidate) {
	var rates []float64
	for _, c := range ready {
		if c.known {
			rates = append(rates, c.value/c.Hours)
		}
	}
	rate := 1.0
	if len(rates) > 0 {
		slices.Sort(rates)
		rate = rates[len(rates)/2]
	}
	for i := range ready {
		if !ready[i].known {
			ready[i].value = rate * ready[i].Hours
		}
	}
}

// choose takes the best whole items and at most one part of a divisible one: with two parts, shifting hours to the one
// that brings more an hour is never worse.
func choose(ready []candidate, in PlanPool, usableH, windowH float64) (taken []int, part int, partH float64) {
	part = -1
	f := filler{ready: ready, part: -1, room: usableH, least: LeastCap(StartUpH), limit: in.LimitH}
	for i := range in.Slots {
		h := windowH
		if i < len(in.BusyH) {
			h -= max(in.BusyH[i], 0)
		}
		f.slots = append(f.slots, max(h, 0))
	}
	longest := min(slices.Max(f.slots), in.LimitH)
	for i, c := range ready {
		if c.Hours <= longest+weightSlack {
			f.whole = append(f.whole, i)
		}
	}
	best := f.solve()
	taken = f.best
	for d, c := range ready {
		if !c.Divisible {
			continue
		}
		f.part = d
		if v := f.solve(); v > best+weightSlack {
			best, taken, part, partH = v, f.best, d, f.bestPart
		}
	}
	return taken, part, partH
}

// filler looks for the best set of whole items, each in one session slot, and the part of one more that fits beside them.
type filler struct {
	ready []candidate
	whole []int // indices of the items that fit a slot
	part  int   // index of the item that a part may be taken of; -1 = none
	slots []float64
	room  float64 // hours of quota
	least float64 // shorter parts are not worth a start-up
	limit float64 // longest session

	order    []int
	used     []float64
	taken    []int
	nodes    int
	value    float64
	best     []int
	bestPart float64
}

// fillNodes bounds the search. Lists that people keep are far below it; beyond it the best found so far stands.
const fillNodes = 200_000

func (f *filler) solve() float64 {
	f.order = slices.DeleteFunc(slices.Clone(f.whole), func(i int) bool { return i == f.part })
	slices.SortStableFunc(f.order, func(a, b int) int {
		return cmp.Compare(f.ready[b].value/f.ready[b].Hours, f.ready[a].value/f.ready[a].Hours)
	})
	f.used, f.taken, f.nodes = make([]float64, len(f.slots)), nil, 0
	f.value, f.best, f.bestPart = -1, nil, 0
	if f.part < 0 && f.relaxed() {
		return f.value
	}
	f.search(0, f.room, 0)
	return f.value
}

// relaxed tries the knapsack without slots: if its set can be packed into them it is the best there is.
func (f *filler) relaxed() bool {
	items := make([]Item, len(f.order))
	for i, k := range f.order {
		items[i] = Item{f.ready[k].Hours, f.ready[k].value}
	}
	ids, value := Knapsack(items, f.room)
	used := make([]float64, len(f.slots))
	set := make([]int, 0, len(ids))
	for _, i := range ids {
		set = append(set, f.order[i])
	}
	slices.SortStableFunc(set, func(a, b int) int { return cmp.Compare(f.ready[b].Hours, f.ready[a].Hours) })
	for _, k := range set {
		s := 0
		for i := range used {
			if f.slots[i]-used[i] > f.slots[s]-used[s] {
				s = i
			}
		}
		if used[s] += f.ready[k].Hours; used[s] > f.slots[s]+weightSlack {
			return false
		}
	}
	f.value, f.best = value, set
	return true
}

func (f *filler) search(k int, room, value float64) {
	if f.nodes++; f.nodes > fillNodes {
		return
	}
	f.offer(room, value)
	if k == len(f.order) || value+f.bound(k, room) <= f.value+weightSlack*f.value {
		return
	}
	c := f.ready[f.order[k]]
	if c.Hours <= room+weightSlack {
		for s := range f.slots {
			if f.used[s]+c.Hours > f.slots[s]+weightSlack || f.twin(s) {
				continue
			}
			f.used[s] += c.Hours
			f.taken = append(f.taken, f.order[k])
			f.search(k+1, room-c.Hours, value+c.value)
			f.taken = f.taken[:len(f.taken)-1]
			f.used[s] -= c.Hours
		}
	}
	f.search(k+1, room, value)
}

// twin: an earlier slot has as much used and as much free, so that trying this one is the same again.
func (f *filler) twin(s int) bool {
	for i := range s {
		if f.used[i] == f.used[s] && f.slots[i] == f.slots[s] {
			return true
		}
	}
	return false
}

// offer takes the set of now, with the part that fits beside it, if it is the best so far.
func (f *filler) offer(room, value float64) {
	partH := 0.0
	if f.part >= 0 {
		c := f.ready[f.part]
		for s := range f.slots {
			partH = max(partH, min(f.slots[s]-f.used[s], room, c.Hours, f.limit))
		}
		if partH < f.least {
			return
		}
		value += c.value * partH / c.Hours
	}
	if value > f.value {
		f.value, f.best, f.bestPart = value, slices.Clone(f.taken), partH
	}
}

// bound is what the items from k on and the part can bring at most.
func (f *filler) bound(k int, room float64) float64 {
	sum, partRate := 0.0, 0.0
	if f.part >= 0 {
		partRate = f.ready[f.part].value / f.ready[f.part].Hours
	}
	for _, i := range f.order[k:] {
		c := f.ready[i]
		if c.value/c.Hours < partRate {
			break
		}
		if c.Hours > room {
			return sum + room*c.value/c.Hours
		}
		sum += c.value
		room -= c.Hours
	}
	if partRate > 0 {
		return sum + room*partRate
	}
	return sum
}

func hoursOfAll(list []Suggestion) float64 {
	sum := 0.0
	for _, s := range list {
		sum += s.Hours
	}
	return sum
}
