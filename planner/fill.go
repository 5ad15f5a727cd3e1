package planner

import (
	"cmp"
	"math"
	"slices"
)

// RunnerStops tells when a session of this cap stops its own tasks, in hours after the script's start: at graceful every
// task has been asked to save and stop, at hard what still runs is terminated. It is the clock of the session runner
// (runnerpack/session/runner.py): 8 % of the cap and at least 10 minutes before it, never more than a quarter of the cap.
//
// A run that needs more than graceful is therefore stopped although its cap was not reached, and what lies between is not
// charged: the session ends when its tasks have.
func RunnerStops(capH float64) (graceful, hard float64) {
	capH = max(capH, 0)
	safety := min(max(1.0/6, 0.08*capH), 0.25*capH)
	return capH - safety, capH - 0.4*safety
}

// CapFor is the shortest cap whose session has needH hours before it stops its own tasks: the inverse of RunnerStops.
func CapFor(needH float64) float64 {
	needH = max(needH, 0)
	switch { // where the quarter, the ten minutes and the 8 % rule
	case needH <= 0.5:
		return needH / 0.75
	case needH <= 23.0/12:
		return needH + 1.0/6
	}
	return needH / 0.92
}

// firstSaveH is the time after start-up within which a task is believed to have saved something worth a session.
const firstSaveH = 0.15

// closeH is what a session burns beyond its runner's clock: the boot before the script and the closing after the tasks.
const closeH = 0.15

// LeastCap is the shortest cap, in hours, under which a session of work that saves checkpoints still gets somewhere, when
// its start-up takes that long. Below it the hours are better left alone: they would pay for a start-up.
func LeastCap(startUpH float64) float64 { return CapFor(max(startUpH, 0) + firstSaveH) }

// JoinedCap is the cap of a session that runs tasks of several jobs: start-up, the longest-first makespan of the tasks'
// own upper bounds ([HoursAdvice].TaskUpperH), saving, and the room in which the runner stops. For one job SizeCap knows
// more; here the bounds of different jobs add up, which errs on the long side. It may exceed the session limit.
func JoinedCap(upperH []float64, devices int, startUpH, tailH float64) float64 {
	need := max(startUpH, 0) + Makespan(upperH, devices)
	return max(need+max(tailH, 0), CapFor(need))
}

// FillOffer is one run that could be started now: authorised, its inputs ready.
type FillOffer struct {
	Group     int     // offers of the same group are alternatives (all folds, or fewer of them): at most one is started
	CapH      float64 // its cap as SizeCap has it, hours
	ExpectedH float64 // what it will probably burn, hours; 0 = CapH
	LeastH    float64 // saves checkpoints, so may get any cap from here on ([LeastCap]); 0 = it cannot be cut
}

// FillAsk is the rest of a week of one pool.
type FillAsk struct {
	Pool      Pool
	LeftH     float64 // hours nobody holds ([Balance].Left)
	ResetInH  float64 // hours until the next reset; 0 = not known
	FreeSlots int
	Offers    []FillOffer // in the person's order
	// QueueMedianH and QueueP90H describe the wait between push and start; zeros stand for what is known of the pool.
	QueueMedianH, QueueP90H float64
}

// FillStart is one run to start now.
type FillStart struct {
	Offer int     // index into Offers
	CapH  float64 // the cap to start it with; below the offer's own when Cut
	Cut   bool    // shortened, so that hours are used that would expire; the rest is a resume
}

// TPUQueueMedianH and TPUQueueP90H are the prior of the wait for a TPU in hours, as in [EstimateQueue].
const (
	TPUQueueMedianH = queueMedianH
	TPUQueueP90H    = queueHighH
)

// Fill says what to start now so that no hour of the week expires: which runs and with which caps.
//
//   - The caps never sum to more than what is left, and no cap reaches beyond the reset. (Which week pays for a session
//     that crosses it is not documented; a session inside the week is charged to it under every rule.)
//   - While all offers fit they start in the person's order.
//   - When they do not, those that cannot be cut go first, the set that uses most of what is left (an exact knapsack);
//     work that saves checkpoints fills the rest and is cut to it. Fewer folds of a run that cannot be cut may be
//     offered as alternatives of one group.
//   - A queue takes its share of the time to the reset: the cap is then the one with the most hours times the chance to
//     be through the queue in time. If even that loses, the run is offered uncut and starts in the new week.
//
// Every cap is paid back in part when its run ends early, so call it again whenever a slot is free.
func Fill(ask FillAsk) []FillStart {
	var out []FillStart
	used := map[int]bool{}
	room := max(ask.LeftH, 0)
	for range ask.FreeSlots {
		s, ok := fillOne(ask, room, used)
		if !ok {
			break
		}
		out = append(out, s)
		used[ask.Offers[s.Offer].Group] = true
		room -= s.CapH
	}
	return out
}

// slack is what two caps may differ by rounding, hours.
const slack = 1e-9

func fillOne(ask FillAsk, room float64, used map[int]bool) (FillStart, bool) {
	reach := ask.reach(room)
	most := min(room, reach)
	all := 0.0
	var whole, cut []int // offers that fit as they are; offers that can be cut
	seen := map[int]bool{}
	for i, o := range ask.Offers {
		if used[o.Group] || o.CapH <= 0 {
			continue
		}
		if !seen[o.Group] {
			all, seen[o.Group] = all+o.CapH, true
		}
		if o.CapH <= most+slack {
			whole = append(whole, i)
		}
		if o.LeastH > 0 {
			cut = append(cut, i)
		}
	}
	if len(whole) > 0 && all <= room {
		return FillStart{Offer: whole[0], CapH: ask.Offers[whole[0]].CapH}, true
	}
	if i, ok := ask.bestWhole(whole, room); ok {
		return FillStart{Offer: i, CapH: ask.Offers[i].CapH}, true
	}
	for _, i := range cut {
		o := ask.Offers[i]
		if o.CapH <= most+slack {
			return FillStart{Offer: i, CapH: o.CapH}, true
		}
		if most >= o.LeastH {
			return FillStart{Offer: i, CapH: leaveUseful(most, room, o), Cut: true}, true
		}
	}
	return FillStart{}, false
}

// leaveUseful cuts an offer to what is left. A session ends before its cap, and what it does not burn is too little for
// another one if the cap was short; then it is made shorter still, so that one more useful session fits.
func leaveUseful(most, room float64, o FillOffer) float64 {
	if most < room-slack {
		return most // the reset is what cuts it
	}
	graceful, _ := RunnerStops(most)
	if rest := room - graceful - closeH; rest >= o.LeastH {
		return most
	}
	if shorter := CapFor(room - o.LeastH - closeH); shorter < most && shorter >= 2*o.LeastH {
		return shorter
	}
	return most
}

// fillSet is a set of offers while the best one is sought.
type fillSet struct {
	weight, value float64
	first         int // the earliest offer in it; -1 = empty
}

// bestWhole is the first offer, in the person's order, of the set of uncuttable offers that uses most of room: a knapsack
// with one choice a group. As in [Knapsack], it keeps the sets that none beats in both weight and value.
func (ask FillAsk) bestWhole(whole []int, room float64) (int, bool) {
	front := []fillSet{{first: -1}}
	for len(whole) > 0 {
		group := ask.Offers[whole[0]].Group
		all := slices.Clone(front)
		rest := whole[:0:0]
		for _, i := range whole {
			o := ask.Offers[i]
			if o.Group != group {
				rest = append(rest, i)
				continue
			}
			if o.LeastH > 0 {
				continue
			}
			worth := cmp.Or(max(o.ExpectedH, 0), o.CapH)
			for _, s := range front {
				if s.weight+o.CapH > room+slack {
					continue
				}
				if s.first < 0 {
					s.first = i
				}
				all = append(all, fillSet{s.weight + o.CapH, s.value + worth, s.first})
			}
		}
		whole = rest
		slices.SortStableFunc(all, func(a, b fillSet) int {
			return cmp.Or(cmp.Compare(a.weight, b.weight), cmp.Compare(b.value, a.value))
		})
		front = front[:0]
		for _, s := range all {
			if len(front) == 0 || s.value > front[len(front)-1].value {
				front = append(front, s)
			}
		}
	}
	best := front[len(front)-1]
	return best.first, best.first >= 0
}

// reach is the longest cap that is sensible before the reset.
func (ask FillAsk) reach(room float64) float64 {
	limit := SessionLimit(ask.Pool).Hours()
	if ask.ResetInH <= 0 {
		return limit
	}
	median, p90 := ask.QueueMedianH, ask.QueueP90H
	if median <= 0 && ask.Pool == TPU {
		median, p90 = TPUQueueMedianH, TPUQueueP90H
	}
	if median <= 0 {
		return min(limit, ask.ResetInH)
	}
	most := min(limit, room)
	if most <= 0 {
		return limit
	}
	if inTime(ask.ResetInH-most, median, p90) >= 0.95 {
		return limit
	}
	best, bestH := 0.0, 0.0
	for i := range 20 {
		c := float64(i+1) / 20 * most
		if h := c * inTime(ask.ResetInH-c, median, p90); h > best {
			best, bestH = h, c
		}
	}
	if best < 0.1*most {
		return limit // hardly any chance before the reset: it will run in the new week
	}
	return bestH
}

// inTime is the chance that a log-normal wait of this median and 90th percentile is over within h hours.
func inTime(h, median, p90 float64) float64 {
	return InTime(h, median, math.Log(max(p90, median)/median)/NormalQuantile(0.9))
}
