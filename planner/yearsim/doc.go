// Package yearsim plays a year of one Kaggle account, to see what a way of planning makes of the weekly hours.
//
// It is a discrete-event simulation, pure and deterministic by seed. One account has 30 GPU hours (2 sessions at once, 12 h
// each) and 20 TPU hours (1 session, 9 h, its slot taken while queued) a week, paid out on Saturday 00:00 UTC. The two
// pools share nothing but the person and are played apart. There is always validated work.
//
// Three ways of planning meet the same jobs, the same noise model and the same person:
//
//   - [Peer]: the protocol of the nearest other tool as its text has it. Pushes by hand when the person looks, cap
//     1.3 x (c K / 2 + 15 min), no queue.
//   - [Planner]: package planner with the launch queue: caps by SizeCap, what to start by Fill, stopped work resumed.
//   - [Omniscient]: knows every duration and every wait, never crashes, sleeps never, and its work can be cut anywhere.
//     Nobody reaches it; it shows what start-ups alone cost.
//
// What is assumed, and measured nowhere, is in [Params] and on the page docs/year-simulator.md.
package yearsim
