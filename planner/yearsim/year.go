package yearsim

import (
	"math"

	"sandglass/planner"
)

// Year is what became of every allowance of one pool, summed over the weeks.
type Year struct {
	Allowance float64
	Hours     Hours
	Expired   float64
	Sessions  int
	Stopped   int // sessions that a deadline stopped
	// Sized counts the sessions that ran a whole job under the cap SizeCap gave it, uncut; Held those of them that would
	// have ended before their runner stopped them; Stated sums what SizeCap said of the others.
	Sized, Held int
	Stated      float64
}

// Used is the share of the allowance charged to sessions whose results were kept: work, idle devices, start-up.
func (y Year) Used() float64 { return (y.Hours.Kept + y.Hours.Idle + y.Hours.Overhead) / y.Allowance }

// session is one push.
type session struct {
	tasks      []*task
	capH       float64
	start, end float64
	sized      bool
	stated     float64
	out        outcome
}

// policy decides what to push. look is called when the person looks; tick whenever the laptop is on and something may
// have changed, after look if both.
type policy interface {
	look(y *year)
	tick(y *year)
}

// year is the simulation of one pool.
type year struct {
	w        *world
	now      float64
	active   []*session
	ended    []*session // not collected yet
	charged  []float64  // by week
	out      Year
	nextLook float64
	always   bool // the omniscient one needs no laptop
}

// play simulates one pool for one seed under a policy.
func play(w *world, pol policy, always bool) Year {
	y := &year{w: w, charged: make([]float64, w.p.Weeks), always: always || w.p.AlwaysOn}
	y.out.Allowance = float64(w.p.Weeks) * allowance(w.pool)
	y.nextLook = w.wakes(0)
	end := float64(w.p.Weeks) * weekH
	for y.now < end {
		y.settle()
		looking := y.now >= y.nextLook
		if looking {
			y.nextLook = w.nextLook(y.now)
		}
		if y.mayPush() {
			if looking {
				pol.look(y)
			}
			if y.on() {
				pol.tick(y)
			}
		}
		y.now = y.next()
	}
	for _, c := range y.charged {
		y.out.Expired += allowance(w.pool) - c
	}
	return y.out
}

// next is the next moment at which something can happen.
func (y *year) next() float64 {
	t := y.nextLook
	for _, s := range y.active {
		if s.end > y.now {
			t = min(t, s.end)
		}
	}
	t = min(t, y.reset())
	if y.w.p.LateH > 0 {
		if open := y.reset() - weekH + y.w.p.LateH; open > y.now {
			t = min(t, open)
		}
	}
	if !y.on() {
		t = min(t, y.w.wakes(y.now))
	}
	if t <= y.now {
		t = math.Nextafter(y.now, math.Inf(1))
	}
	return t
}

// reset is the first reset after now.
func (y *year) reset() float64 { return (math.Floor(y.now/weekH) + 1) * weekH }

func (y *year) on() bool { return y.always || y.w.awake(y.now) }

func (y *year) mayPush() bool { return math.Mod(y.now, weekH) >= y.w.p.LateH }

// settle ends the sessions whose time has come.
func (y *year) settle() {
	rest := y.active[:0]
	for _, s := range y.active {
		if s.end > y.now {
			rest = append(rest, s)
			continue
		}
		y.charge(s)
		y.ended = append(y.ended, s)
	}
	y.active = rest
}

// charge books a session to its week or weeks.
func (y *year) charge(s *session) {
	first, last := int(s.start/weekH), int(math.Ceil(s.end/weekH))-1
	switch {
	case first >= last:
		y.book(s, last, 1)
	case y.w.p.Charge == ByEnd:
		y.book(s, last, 1)
	case y.w.p.Charge == ByStart:
		y.book(s, first, 1)
	default:
		before := (float64(last)*weekH - s.start) / (s.end - s.start)
		y.book(s, first, before)
		y.book(s, last, 1-before)
	}
	y.out.Sessions++
	if s.out.stopped {
		y.out.Stopped++
	}
	if s.sized && s.out.natural > 0 {
		y.out.Sized++
		y.out.Stated += s.stated
		if !s.out.stopped {
			y.out.Held++
		}
	}
}

func (y *year) book(s *session, week int, share float64) {
	if week < 0 || week >= len(y.charged) {
		return
	}
	y.charged[week] += share * s.out.burned
	y.out.Hours.add(s.out.hours, share)
}

// left is what nobody holds of the running week: a session holds its cap from the push on, as far as this week pays it.
func (y *year) left() float64 {
	week := int(y.now / weekH)
	begin := float64(week) * weekH
	left := allowance(y.w.pool) - y.charged[week]
	for _, s := range y.active {
		hold := s.capH
		if s.start < begin {
			switch y.w.p.Charge {
			case ByStart:
				hold = 0
			case Split:
				hold = max(s.start+s.capH-begin, 0)
			}
		}
		left -= hold
	}
	return max(left, 0)
}

func (y *year) free() int { return planner.Slots(y.w.pool) - len(y.active) }

// push starts a session; wait is its time in the queue.
func (y *year) push(s *session, wait float64) {
	s.start = y.now + wait
	s.end = s.start + s.out.burned
	y.active = append(y.active, s)
	if len(y.active) > planner.Slots(y.w.pool) || s.capH > planner.SessionLimit(y.w.pool).Hours()+1e-9 || s.out.burned > s.capH+1e-9 {
		panic("yearsim: a session that Kaggle would not have")
	}
}

// collect takes over what ended sessions left: progress, and measured folds for their configuration's history.
func (y *year) collect(each func(*session)) {
	for _, s := range y.ended {
		for i, t := range s.tasks {
			t.left = s.out.left[i]
			if h := s.out.measured[i]; h > 0 {
				t.config.history = append(t.config.history, h)
			}
		}
		each(s)
	}
	y.ended = y.ended[:0]
}

// unfinished are the tasks a session left something of.
func unfinished(tasks []*task) []*task {
	var out []*task
	for _, t := range tasks {
		if t.left > 1e-6 {
			out = append(out, t)
		}
	}
	return out
}
