package yearsim

import (
	"cmp"
	"slices"

	"sandglass/planner"
)

// Without switches parts of the planner off, to see what each is worth.
type Without struct {
	Queue   bool // pushes only when the person looks
	Resume  bool // nothing stopped is gone on with: a stopped fold is lost
	Fill    bool // no run is cut or split to fit what is left of the week
	Joining bool // one job a session, also when it leaves devices idle
}

// ours is package planner with the launch queue. The person authorises runs when they look; the app pushes them when a
// slot and hours are free and the laptop is on, and may shorten what saves checkpoints.
type ours struct {
	without  Without
	sizes    *sizer
	queue    []*entry
	rests    []*entry  // what stopped sessions left, to be authorised at the next look
	backlog  [][]*task // jobs that were looked at and not authorised yet
	measured bool      // something was collected since the last look
	ask      planner.FillAsk
	which    []offer
	from     []*entry
	idle     float64 // with fewer hours left than this nothing can start; 0 = not known
}

// entry is one authorised run.
type entry struct {
	tasks  []*task
	saves  bool
	resume bool // has the rest of an earlier one in it
	known  int  // measured folds that its offers rest on
	offers []offer
}

// offer is the entry with its first n tasks.
type offer struct {
	n int
	sizing
}

const (
	authorised = 6  // runs in the queue after a look
	inMind     = 12 // jobs of the backlog that may be joined
)

// joinedH is how long a session of joined jobs is meant to be. On a TPU each session pays a queue and a long start-up, so
// what saves checkpoints gets as much as a session holds; on GPUs a dead machine costs more the longer the session.
func joinedH(pool planner.Pool, saves bool) float64 {
	switch {
	case pool == planner.TPU && saves:
		return 8
	case pool == planner.TPU:
		return 5.5
	case saves:
		return 6
	}
	return 5
}

func (o *ours) look(y *year) {
	o.collect(y)
	if len(o.rests) > 0 {
		for _, e := range o.rests {
			o.join(y.w, e)
		}
		o.queue, o.rests, o.idle = append(o.rests, o.queue...), nil, 0
	}
	for len(o.queue) < authorised {
		if len(o.backlog) == 0 {
			o.backlog = append(o.backlog, y.w.job())
		}
		tasks := o.backlog[0]
		o.backlog = o.backlog[1:]
		e := &entry{tasks: tasks, saves: o.saves(tasks)}
		o.join(y.w, e)
		o.queue, o.idle = append(o.queue, e), 0
	}
	if o.measured {
		for _, e := range o.queue {
			if e.known != known(e.tasks) {
				e.offers = nil // sized anew with what was measured since
			}
		}
		o.measured, o.idle = false, 0
	}
	o.start(y)
}

func (o *ours) tick(y *year) {
	o.collect(y)
	if !o.without.Queue {
		o.start(y)
	}
}

// collect keeps what stopped sessions left for the next look.
func (o *ours) collect(y *year) {
	y.collect(func(s *session) {
		o.measured = true
		if rest := unfinished(s.tasks); len(rest) > 0 {
			o.rests = append(o.rests, &entry{tasks: rest, saves: o.saves(rest), resume: true})
		}
	})
}

func (o *ours) saves(tasks []*task) bool {
	if o.without.Resume {
		return false
	}
	for _, t := range tasks {
		if !t.config.saves {
			return false
		}
	}
	return true
}

func known(tasks []*task) int {
	n := 0
	for _, t := range tasks {
		n += len(t.config.history)
	}
	return n
}

// join adds jobs of the same kind to an entry until it is long enough.
func (o *ours) join(w *world, e *entry) {
	if o.without.Joining {
		return
	}
	target := joinedH(w.pool, e.saves)
	for k := 0; k < inMind; {
		if planner.Makespan(typical(e.tasks), devices(w.pool)) >= target {
			return
		}
		if k == len(o.backlog) {
			o.backlog = append(o.backlog, w.job())
		}
		if o.saves(o.backlog[k]) != e.saves {
			k++
			continue
		}
		e.tasks = append(slices.Clone(e.tasks), o.backlog[k]...)
		e.offers = nil
		o.backlog = slices.Delete(o.backlog, k, k+1)
	}
}

// start pushes what Fill says.
func (o *ours) start(y *year) {
	for y.free() > 0 && y.left() > o.idle {
		smallest := o.offerAll(y)
		starts := planner.Fill(o.ask)
		if len(starts) == 0 {
			if y.reset()-y.now >= planner.SessionLimit(y.w.pool).Hours() { // else it may be the reset that is too near
				o.idle = smallest - 1e-9
			}
			return
		}
		o.push(y, o.from[starts[0].Offer], o.which[starts[0].Offer], starts[0])
	}
}

// offerAll fills o.ask, and returns the shortest cap that anything could start with.
func (o *ours) offerAll(y *year) (smallest float64) {
	left := y.left()
	o.ask = planner.FillAsk{Pool: y.w.pool, LeftH: left, ResetInH: y.reset() - y.now, FreeSlots: 1, Offers: o.ask.Offers[:0]}
	o.which, o.from = o.which[:0], o.from[:0]
	least := planner.LeastCap(y.w.p.BootH[y.w.pool] + y.w.p.StartH[y.w.pool])
	smallest = left
	for k, e := range o.queue {
		for _, of := range o.offersOf(e, left) {
			f := planner.FillOffer{Group: k + 1, CapH: of.CapH, ExpectedH: of.ExpectedH}
			if e.saves && !o.without.Fill {
				f.LeastH = least
			}
			smallest = min(smallest, f.CapH, cmp.Or(f.LeastH, f.CapH))
			o.ask.Offers = append(o.ask.Offers, f)
			o.which, o.from = append(o.which, of), append(o.from, e)
		}
	}
	return smallest
}

func (o *ours) push(y *year, e *entry, of offer, s planner.FillStart) {
	tasks := e.tasks[:of.n:of.n]
	whole := len(tasks) == len(e.tasks)
	if whole {
		o.queue = slices.DeleteFunc(o.queue, func(x *entry) bool { return x == e })
	} else {
		e.tasks, e.offers = e.tasks[of.n:], nil
	}
	ses := &session{tasks: tasks, capH: s.CapH, out: y.w.play(oursRunner, !o.without.Resume, tasks, s.CapH)}
	if ses.sized = !s.Cut && !e.resume && !of.clipped && of.sized; ses.sized {
		ses.stated = of.killed(s.CapH)
	}
	y.push(ses, y.w.queue())
}

// offersOf are the entry as a whole, or the most of its tasks that a session can hold; and, if it cannot be cut and does
// not fit what is left of the week, fewer tasks.
func (o *ours) offersOf(e *entry, left float64) []offer {
	limit := planner.SessionLimit(o.sizes.pool).Hours()
	if e.offers == nil {
		e.known = known(e.tasks)
		for n := len(e.tasks); n > 0; n-- {
			s := o.sizes.size(e.tasks[:n])
			if s.clipped && !e.saves && n > 1 {
				continue
			}
			s.CapH = min(s.CapH, limit)
			e.offers = append(e.offers, offer{n, s})
			break
		}
	}
	if e.saves || o.without.Fill || e.offers[0].CapH <= left {
		return e.offers[:1]
	}
	for n := e.offers[len(e.offers)-1].n - 1; n > 0; n-- {
		e.offers = append(e.offers, offer{n, o.sizes.size(e.tasks[:n])})
	}
	return e.offers
}
