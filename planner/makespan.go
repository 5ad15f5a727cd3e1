package planner

import "slices"

// Makespan is the time n workers need for tasks of these lengths, in the lengths' unit, when each free worker takes the
// longest task left. That is how a session starts them; the optimum may be shorter (by at most a third). Negative
// lengths count as nothing, and fewer than one worker as one.
func Makespan(seconds []float64, workers int) float64 {
	tasks := slices.Clone(seconds)
	slices.SortFunc(tasks, func(a, b float64) int {
		switch {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	load := make([]float64, min(max(workers, 1), max(len(tasks), 1)))
	for _, s := range tasks {
		free := 0
		for i := range load {
			if load[i] < load[free] {
				free = i
			}
		}
		load[free] += max(s, 0)
	}
	return slices.Max(load)
}
