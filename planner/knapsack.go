package planner

import (
	"cmp"
	"math"
	"slices"
)

// Item is one thing that can be taken or left.
type Item struct {
	Weight float64 // hours; not below zero
	Value  float64 // what it is expected to bring; without a positive value it is left
}

// weightSlack is what a sum of weights may exceed the capacity by rounding.
const weightSlack = 1e-9

// exactItems is the number of items up to which weights are taken as they are. With more of them weights are rounded up to
// whole minutes, which keeps the work bounded and the answer feasible.
const exactItems = 30

// Knapsack chooses the items with the highest summed value whose weights fit into capacity: the exact 0/1 optimum. It
// returns their indices in rising order and the value. Of several optima it takes the lighter one.
//
// It keeps, item by item, the sums that no other sum beats in both weight and value (Nemhauser and Ullmann 1969).
func Knapsack(items []Item, capacity float64) ([]int, float64) {
	type state struct {
		weight, value float64
		item          int // the last one taken
		before        *state
	}
	usable := func(i int) (float64, bool) {
		w := items[i].Weight
		if len(items) > exactItems {
			w = math.Ceil(w*60-weightSlack) / 60
		}
		return w, items[i].Value > 0 && w >= 0 && w <= capacity+weightSlack
	}
	front := []*state{{item: -1}}
	for i := range items {
		w, ok := usable(i)
		if !ok {
			continue
		}
		taken := make([]*state, 0, len(front))
		for _, s := range front {
			if s.weight+w <= capacity+weightSlack {
				taken = append(taken, &state{s.weight + w, s.value + items[i].Value, i, s})
			}
		}
		all := slices.Concat(front, taken)
		slices.SortStableFunc(all, func(a, b *state) int {
			return cmp.Or(cmp.Compare(a.weight, b.weight), cmp.Compare(b.value, a.value))
		})
		front = front[:0:0]
		for _, s := range all {
			if len(front) == 0 || s.value > front[len(front)-1].value {
				front = append(front, s)
			}
		}
	}
	best := front[len(front)-1]
	var out []int
	for s := best; s.item >= 0; s = s.before {
		out = append(out, s.item)
	}
	slices.Sort(out)
	return out, best.value
}
