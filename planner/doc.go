// Package planner is Sandglass's arithmetic and judgement: what is left of the weekly quota, what speaks against a push,
// what became of a run while nobody looked, how often to ask, and what a finished run has to teach.
//
// It is pure. A number goes in and a number or a sentence comes out: there is no clock (now is an argument), no disk, no
// network, and nothing here remembers anything except a [Tracker], which is a value its owner keeps.
//
// Durations are time.Duration, times are UTC, shares are 0 to 1, utilisation is percent.
package planner
