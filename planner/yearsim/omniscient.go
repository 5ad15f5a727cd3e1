package yearsim

import "sandglass/planner"

// omniscient knows all: its sessions are as long as they may be, no device waits, nothing fails, and each ends with its
// cap to the second. It only has to pay the start-ups, and to wait in the queue like anybody.
type omniscient struct{ wait float64 }

func (o *omniscient) look(*year) {}

func (o *omniscient) tick(y *year) {
	for y.free() > 0 {
		if o.wait == 0 {
			o.wait = y.w.queue()
		}
		boot, start := y.w.p.BootH[y.w.pool], y.w.p.StartH[y.w.pool]
		paid := boot + start + y.w.p.TailH
		capH := min(planner.SessionLimit(y.w.pool).Hours(), y.left())
		begins := y.now + o.wait
		if begins < y.reset() {
			capH = min(capH, y.reset()-begins)
		} else {
			capH = planner.SessionLimit(y.w.pool).Hours()
		}
		if capH <= paid {
			return
		}
		s := &session{capH: capH, out: outcome{burned: capH, hours: Hours{Kept: capH - paid, Overhead: paid}}}
		y.push(s, o.wait)
		y.ended, o.wait = nil, 0
	}
}
