package yearsim

import (
	"math"

	"sandglass/planner"
)

// Hours is where the hours of sessions went, in session hours. A session-hour has as many device-hours as the session has
// devices; what half of the devices did in an hour is half an hour here.
type Hours struct {
	Kept     float64 // work that is in a result or a checkpoint the next session goes on from
	Idle     float64 // devices without a task while others worked
	Overhead float64 // start-up and close of sessions
	Killed   float64 // work stopped at a deadline or the cap and lost
	Failed   float64 // lost to crashes and dead machines
}

// Sum is what was charged.
func (h Hours) Sum() float64 { return h.Kept + h.Idle + h.Overhead + h.Killed + h.Failed }

func (h *Hours) add(o Hours, share float64) {
	h.Kept += share * o.Kept
	h.Idle += share * o.Idle
	h.Overhead += share * o.Overhead
	h.Killed += share * o.Killed
	h.Failed += share * o.Failed
}

// runner is what the session does about its deadline.
type runner int

const (
	oursRunner runner = iota // saves every CheckpointH and at the deadline; ends what is left before the cap
	peerRunner               // saves at the end of an epoch when the next will not fit; the rest is killed at the cap
)

// epochs of a fold, for the peer, whose budget decides only at their ends.
const epochs = 15

// outcome is one session, known to the simulation when it is pushed and to the policy when it is collected.
type outcome struct {
	burned   float64
	hours    Hours
	left     []float64 // of each task afterwards
	measured []float64 // h of each task that ran here from its beginning to its end; 0 otherwise
	natural  float64   // h it would have taken without any limit, failures apart; 0 when it failed
	stopped  bool      // some task was stopped or not started for lack of time
}

// play runs tasks under a cap.
func (w *world) play(by runner, resume bool, tasks []*task, capH float64) outcome {
	n := w.noise
	boot, start := w.startUp()
	factor := math.Exp(w.p.SessionSigma * n.NormFloat64())
	crash, crashAt, infra := n.Float64(), n.Float64(), n.ExpFloat64()
	s := &playing{w: w, by: by, resume: resume, capH: capH, first: boot + start, devices: make([]float64, devices(w.pool))}
	s.graceful, s.hard = planner.RunnerStops(capH)
	s.graceful, s.hard = min(boot+s.graceful, capH), min(boot+s.hard, capH)
	if by == peerRunner {
		safety := max(1.0/6, 0.08*capH)
		s.graceful, s.hard = min(boot+capH-safety, capH), capH // its hard stop ends the shell and not what runs in it
	}
	o := outcome{left: make([]float64, len(tasks)), measured: make([]float64, len(tasks))}
	for i := range s.devices {
		s.devices[i] = s.first
	}
	ends := make([]float64, len(s.devices)) // as if nothing limited it
	for i, t := range tasks {
		d := t.workH * t.left * factor
		o.left[i] = s.run(&o, i, t, d)
		ends[least(ends)] += d
	}
	o.natural = s.first + greatest(ends) + w.p.TailH
	o.burned = min(max(s.last, s.first)+w.p.TailH, capH)
	s.account(&o)
	early := crash < w.p.EarlyCrash
	dead := math.Inf(1)
	if w.p.InfraPerH > 0 {
		dead = infra / w.p.InfraPerH
	}
	if early {
		dead = min(dead, s.first+crashAt/6)
	}
	if dead < o.burned {
		o = outcome{burned: dead, hours: Hours{Failed: dead}, left: lefts(tasks), measured: make([]float64, len(tasks))}
	}
	return o
}

func lefts(tasks []*task) []float64 {
	out := make([]float64, len(tasks))
	for i, t := range tasks {
		out[i] = t.left
	}
	return out
}

// playing is a session on its way.
type playing struct {
	w                           *world
	by                          runner
	resume                      bool
	capH, first, graceful, hard float64
	devices                     []float64 // free from
	last                        float64   // when the last task ended
	kept, killed, failed        float64   // device-hours
}

// run gives one task to the device that is free first, and tells what is left of it afterwards.
func (s *playing) run(o *outcome, i int, t *task, d float64) float64 {
	k := least(s.devices)
	at := s.devices[k]
	wait := min(1.0/6, s.capH/12)
	if s.by == peerRunner {
		wait = 1.0 / 6
	}
	if at+wait > s.graceful {
		o.stopped = true
		return t.left
	}
	if n := s.w.noise; n.Float64() < s.w.p.FoldCrash {
		x := d * n.Float64()
		if at+x < s.graceful {
			s.busy(k, x)
			s.failed += x
			return t.left // what it had before is in the earlier session's output
		}
	}
	saves := t.config.saves && s.resume
	limit := s.hard
	if saves {
		limit = s.graceful
	}
	if at+d <= limit {
		s.busy(k, d)
		s.kept += d
		if t.left == 1 {
			o.measured[i] = d
		}
		return 0
	}
	o.stopped = true
	x, kept := limit-at, 0.0
	switch {
	case saves && s.by == oursRunner:
		kept = max(x-1.0/60, 0) // the save at the deadline; the minute up to the stop is lost
	case saves:
		x, kept = s.epochStop(at, d/t.left/epochs)
	}
	s.busy(k, x)
	s.kept += kept
	s.killed += x - kept
	return t.left * (1 - kept/d)
}

// epochStop is where the peer's budget stops a fold: at the first end of an epoch after which another (and its reserve)
// does not fit. An epoch that reaches beyond the cap is killed, and without an earlier save all of it is lost.
func (s *playing) epochStop(at, epoch float64) (ran, kept float64) {
	n := math.Max(1, math.Floor((s.graceful-at-1.0/60-1.15*epoch)/epoch)+1)
	if at+n*epoch > s.capH {
		return s.capH - at, 0
	}
	return n * epoch, n * epoch
}

func (s *playing) busy(k int, h float64) {
	s.devices[k] += h
	s.last = max(s.last, s.devices[k])
}

// account turns device-hours into session hours.
func (s *playing) account(o *outcome) {
	d := float64(len(s.devices))
	o.hours.Kept, o.hours.Killed, o.hours.Failed = s.kept/d, s.killed/d, s.failed/d
	span := max(s.last-s.first, 0)
	o.hours.Idle = max(span-(s.kept+s.killed+s.failed)/d, 0)
	o.hours.Overhead = o.burned - span
}

func least(x []float64) int {
	k := 0
	for i := range x {
		if x[i] < x[k] {
			k = i
		}
	}
	return k
}

func greatest(x []float64) float64 {
	m := 0.0
	for _, v := range x {
		m = max(m, v)
	}
	return m
}
