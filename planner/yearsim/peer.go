package yearsim

import (
	"math"

	"sandglass/planner"
)

// peer is the other tool's protocol, done by a person who follows it to the letter: nothing happens but when they look.
type peer struct {
	backlog [][]*task
	boost   map[*task]float64 // after a stop at the cap the advice is to push again with 1.3 to 1.5 times it
}

const peerSees = 6 // items of the backlog a person has in mind

func (p *peer) tick(*year) {}

func (p *peer) look(y *year) {
	y.collect(func(s *session) {
		if rest := unfinished(s.tasks); len(rest) > 0 { // rebuilt and pushed by hand, before anything new
			p.backlog = append([][]*task{rest}, p.backlog...)
			if s.out.stopped {
				p.boost[rest[0]] = 1.4 * p.raised(rest)
			}
		}
	})
	for y.free() > 0 {
		for len(p.backlog) < peerSees {
			p.backlog = append(p.backlog, y.w.job())
		}
		k, n, capH := p.choose(y)
		if k < 0 {
			return
		}
		tasks := p.backlog[k][:n:n]
		if rest := p.backlog[k][n:]; len(rest) > 0 {
			p.backlog[k] = rest
		} else {
			p.backlog = append(p.backlog[:k:k], p.backlog[k+1:]...)
		}
		y.push(&session{tasks: tasks, capH: capH, out: y.w.play(peerRunner, true, tasks, capH)}, y.w.queue())
	}
}

// choose is the item to push, how many of its folds, and the cap: the first that fits what is left; else, in the last 36
// hours and with an hour left (when the tool says "use it or lose it"), the most folds of the first item that fit.
func (p *peer) choose(y *year) (item, folds int, capH float64) {
	left := y.left()
	for k, tasks := range p.backlog {
		if c := p.cap(y.w.pool, tasks); c <= left {
			return k, len(tasks), c
		}
	}
	if y.reset()-y.now > 36 || left < 1 {
		return -1, 0, 0
	}
	for k, tasks := range p.backlog {
		for n := len(tasks) - 1; n > 0; n-- {
			if c := p.cap(y.w.pool, tasks[:n]); c <= left {
				return k, n, c
			}
		}
	}
	return -1, 0, 0
}

// raised is by how much earlier stops raise the next cap.
func (p *peer) raised(tasks []*task) float64 {
	most := 1.0
	if len(p.boost) == 0 {
		return most
	}
	for _, t := range tasks {
		most = max(most, p.boost[t])
	}
	return most
}

// cap is 1.3 x (hours per fold x folds / 2 + 15 minutes), as the protocol says, up to the session limit. For the TPU
// it has no formula; eight chips take eight folds at once there, and the start-up is its own 20 minutes.
func (p *peer) cap(pool planner.Pool, tasks []*task) float64 {
	c, folds := peerCost(tasks[0].config), 0.0
	for _, t := range tasks {
		folds += t.left
	}
	need := c*folds/2 + 0.25
	if pool == planner.TPU {
		longest := 0.0
		for _, t := range tasks {
			longest = max(longest, t.left)
		}
		need = c*longest*math.Ceil(float64(len(tasks))/8) + 1.0/3
	}
	return min(1.3*need*p.raised(tasks), planner.SessionLimit(pool).Hours())
}

// peerCost is the mean of the measured folds, or the estimate before the first run.
func peerCost(c *config) float64 {
	if len(c.history) == 0 {
		return c.guess
	}
	sum := 0.0
	for _, h := range c.history {
		sum += h
	}
	return sum / float64(len(c.history))
}
