package planner

// Makespan is the time n workers need for tasks of these lengths, in the lengths' unit, when each free worker takes the
// longest task left. That is how a session starts them.
func Makespan(seconds []float64, workers int) float64 { panic("not yet") }
