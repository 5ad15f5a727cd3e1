package planner

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestKnapsackOracles(t *testing.T) {
	items := []Item{{6, .0040}, {5, .0030}, {4, .0026}, {2, .0012}, {1, .0004}} // A to E
	for _, c := range []struct {
		capacity float64
		want     []int
		value    float64
	}{
		{8, []int{0, 3}, .0052}, {12, []int{0, 2, 3}, .0078}, {17, []int{0, 1, 2, 3}, .0108}, {10, []int{0, 2}, .0066},
		{0, nil, 0}, {-1, nil, 0}, {100, []int{0, 1, 2, 3, 4}, .0112},
	} {
		got, value := Knapsack(items, c.capacity)
		if !slices.Equal(got, c.want) {
			t.Errorf("capacity %v: took %v, want %v", c.capacity, got, c.want)
		}
		near(t, "value", value, c.value, 1e-9)
	}
}

// The search is exact: it equals trying every subset.
func TestKnapsackEqualsBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 400 {
		items := make([]Item, 1+r.IntN(11))
		for i := range items {
			items[i] = Item{Weight: float64(r.IntN(40)) / 4, Value: float64(r.IntN(60)-5) / 10}
			if r.IntN(2) == 0 {
				items[i] = Item{Weight: 6 * r.Float64(), Value: r.Float64()}
			}
		}
		capacity := 20 * r.Float64()
		took, value := Knapsack(items, capacity)
		var weight, sum float64
		for _, i := range took {
			weight += items[i].Weight
			sum += items[i].Value
		}
		if weight > capacity+1e-6 {
			t.Fatalf("%v weighs %v, capacity %v", took, weight, capacity)
		}
		near(t, "value of what was taken", value, sum, 1e-9)
		near(t, "best of all subsets", value, bruteForce(items, capacity), 1e-9)
	}
}

func bruteForce(items []Item, capacity float64) float64 {
	best := 0.0
	for set := range 1 << len(items) {
		var w, v float64
		for i, it := range items {
			if set>>i&1 == 1 {
				w, v = w+it.Weight, v+it.Value
			}
		}
		if w <= capacity+weightSlack {
			best = max(best, v)
		}
	}
	return best
}

func TestKnapsackOfManyItemsFits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	items := make([]Item, 80)
	for i := range items {
		items[i] = Item{Weight: .1 + 5*r.Float64(), Value: r.Float64()}
	}
	took, value := Knapsack(items, 30)
	weight := 0.0
	for _, i := range took {
		weight += items[i].Weight
	}
	if weight > 30 || value <= 0 {
		t.Fatalf("took %v hours worth %v of 30", weight, value)
	}
}
