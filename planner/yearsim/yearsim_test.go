package yearsim

import (
	"math"
	"testing"

	"sandglass/planner"
)

var pools = []planner.Pool{planner.GPU, planner.TPU}

// watched plays a policy and looks at every push and at the books.
type watched struct {
	policy
	t *testing.T
}

func (w watched) look(y *year) { w.policy.look(y); w.check(y) }
func (w watched) tick(y *year) { w.policy.tick(y); w.check(y) }

func (w watched) check(y *year) {
	w.t.Helper()
	held := 0.0
	for _, s := range y.active {
		held += s.capH
		if s.capH > planner.SessionLimit(y.w.pool).Hours()+1e-9 || s.out.burned > s.capH+1e-9 {
			w.t.Fatalf("a session with cap %v burns %v", s.capH, s.out.burned)
		}
		if d := s.out.hours.Sum() - s.out.burned; math.Abs(d) > 1e-6 {
			w.t.Fatalf("%v h of a session are unaccounted for", d)
		}
		if s.out.hours.Kept < -1e-9 || s.out.hours.Idle < -1e-9 || s.out.hours.Overhead < -1e-9 || s.out.hours.Killed < -1e-9 {
			w.t.Fatalf("negative hours: %+v", s.out.hours)
		}
	}
	if len(y.active) > planner.Slots(y.w.pool) {
		w.t.Fatalf("%d sessions at once", len(y.active))
	}
	if held > allowance(y.w.pool)+1e-6 {
		w.t.Fatalf("%v h are held of a week's %v", held, allowance(y.w.pool))
	}
}

func policies(p Params, pool planner.Pool) map[string]policy {
	sizes := sizerOf(p, pool, 0.95)
	return map[string]policy{
		"peer": &peer{boost: map[*task]float64{}}, "planner": &ours{sizes: sizes}, "omniscient": &omniscient{},
		"no resume": &ours{sizes: sizes, without: Without{Resume: true}},
		"no fill":   &ours{sizes: sizes, without: Without{Fill: true}},
		"no queue":  &ours{sizes: sizes, without: Without{Queue: true}},
		"one job":   &ours{sizes: sizes, without: Without{Joining: true}},
	}
}

// Used, lost and expired hours are the allowance, week by week; no slot, cap or week is overdrawn.
func TestConservation(t *testing.T) {
	for _, charge := range []Charge{ByEnd, ByStart, Split} {
		for _, pool := range pools {
			p := Default()
			p.Charge = charge
			for name, pol := range policies(p, pool) {
				w := newWorld(p, pool, 7)
				y := play(w, watched{pol, t}, name == "omniscient")
				if d := y.Hours.Sum() + y.Expired - y.Allowance; math.Abs(d) > 1e-6 {
					t.Errorf("%s %s charge %d: %v h too many", pool, name, charge, d)
				}
				if y.Expired < -1e-6 || y.Hours.Kept <= 0 || y.Sessions < 52 {
					t.Errorf("%s %s charge %d: %+v", pool, name, charge, y)
				}
			}
		}
	}
}

// No week is charged more than it has.
func TestNoWeekIsOverdrawn(t *testing.T) {
	for _, pool := range pools {
		for name, pol := range policies(Default(), pool) {
			w := newWorld(Default(), pool, 11)
			play(w, lastLook{pol, func(y *year) {
				for i, c := range y.charged {
					if c > allowance(pool)+1e-6 {
						t.Fatalf("%s %s: week %d is charged %v h", pool, name, i, c)
					}
				}
			}}, false)
		}
	}
}

type lastLook struct {
	policy
	see func(*year)
}

func (l lastLook) look(y *year) { l.policy.look(y); l.see(y) }

func TestSameSeedSameYear(t *testing.T) {
	for _, pool := range pools {
		for _, pol := range []Policy{Peer(), Planner("planner", 0.95, Without{}), Omniscient()} {
			a, b := pol.Year(Default(), pool, 3), pol.Year(Default(), pool, 3)
			if a != b {
				t.Errorf("%s %s: %+v and %+v", pool, pol.Name, a, b)
			}
			if pol.Name != Omniscient().Name && a == pol.Year(Default(), pool, 4) { // nothing happens to one who knows all
				t.Errorf("%s %s: another seed is the same year", pool, pol.Name)
			}
		}
	}
}

// The bound is one, and the planner is between it and the peer; what is switched off is missed.
func TestOrder(t *testing.T) {
	const n = 8
	p := Default()
	for _, pool := range pools {
		full := Planner("planner", 0.95, Without{})
		peer, ours, bound := Peer().Play(p, pool, n), full.Play(p, pool, n), Omniscient().Play(p, pool, n)
		for _, pair := range []struct {
			what          string
			lower, higher Spread
		}{
			{"used: peer, planner", peer.Used, ours.Used}, {"used: planner, bound", ours.Used, bound.Used},
			{"kept: peer, planner", peer.Kept, ours.Kept}, {"kept: planner, bound", ours.Kept, bound.Kept},
			{"used: no resume, planner", Planner("", 0.95, Without{Resume: true}).Play(p, pool, n).Used, ours.Used},
			{"used: no fill, planner", Planner("", 0.95, Without{Fill: true}).Play(p, pool, n).Used, ours.Used},
			{"kept: one job, planner", Planner("", 0.95, Without{Joining: true}).Play(p, pool, n).Kept, ours.Kept},
			{"used: planner, nothing fails", ours.Used, full.Under("", func(p *Params) { p.EarlyCrash, p.FoldCrash, p.InfraPerH = 0, 0, 0 }).Play(p, pool, n).Used},
			{"used: last 48 h, all week", full.Under("", late).Play(p, pool, n).Used, Spread{Mean: ours.Used.Mean + 0.01}},
			{"used: last day by hand, with the queue", Planner("", 0.95, Without{Queue: true}).Under("", rushed).Play(p, pool, n).Used, full.Under("", rushed).Play(p, pool, n).Used},
		} {
			if pair.lower.Mean > pair.higher.Mean {
				t.Errorf("%s %s: %.4f and %.4f", pool, pair.what, pair.lower.Mean, pair.higher.Mean)
			}
		}
	}
}

// The goal: 97 % of the hours used and under 2 % lost to kills.
func TestGoal(t *testing.T) {
	for _, pool := range pools {
		f := Planner("planner", 0.95, Without{}).Play(Default(), pool, 24)
		if f.Used.Mean < 0.965 || f.Killed.Mean >= 0.02 {
			t.Errorf("%s: used %.4f, killed %.4f", pool, f.Used.Mean, f.Killed.Mean)
		}
	}
}

// The scaled answers of the table are SizeCap's own.
func TestSizerIsSizeCap(t *testing.T) {
	for _, pool := range pools {
		z := newSizer(Default(), pool, 0.95)
		c := &config{history: spreadOut(7, 0.12)}
		for i := range c.history {
			c.history[i] *= 1.7
		}
		tasks := make([]*task, 5)
		for i := range tasks {
			tasks[i] = &task{config: c, left: 1}
		}
		got := z.size(tasks)
		want := planner.SizeCap(planner.HoursAsk{RunHours: c.history, Tasks: 5, Devices: devices(pool), Confidence: 0.95, Pool: pool, LimitH: 1000})
		if math.Abs(got.CapH-want.CapH) > 0.002 || math.Abs(got.ExpectedH-want.ExpectedH) > 0.002 || math.Abs(got.killed(got.CapH)-want.PKilled) > 0.002 {
			t.Errorf("%s: cap %v, expected %v, killed %v; SizeCap %v, %v, %v", pool, got.CapH, got.ExpectedH, got.killed(got.CapH), want.CapH, want.ExpectedH, want.PKilled)
		}
	}
}

// With a few measured sessions the statistics hold as often as they say, start-up and saving apart.
func TestCalibration(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of caps")
	}
	for _, pool := range pools {
		for _, c := range Calibrate(Default(), pool, 0.95, Knows{}, 150) {
			if c.Runs == 0 {
				continue // a prior
			}
			if c.Bound < 0.90 || c.Cap < c.Stated-0.03 {
				t.Errorf("%s after %d sessions: bound %.3f, cap %.3f, stated %.3f", pool, c.Runs, c.Bound, c.Cap, c.Stated)
			}
		}
	}
}

// What a stop costs, by runner and by script: ours keeps all but a minute, the peer what its last epoch saved, and of a
// fold that saves nothing all is lost.
func TestStops(t *testing.T) {
	p := Default()
	p.SessionSigma, p.FoldNoise, p.StartSigma, p.EarlyCrash, p.FoldCrash, p.InfraPerH = 0, 0, 0, 0, 0, 0
	for _, c := range []struct {
		name       string
		by         runner
		saves      bool
		kept, lost float64 // device-hours of the fold that is stopped
	}{
		{"ours, saves", oursRunner, true, 4.6 - 0.06 - 1.0/60, 1.0 / 60},
		{"ours, saves nothing", oursRunner, false, 0, 5 - 0.4*0.4 + 0.02 - 0.08},
		{"peer, saves", peerRunner, true, 4, 0},
		{"peer, saves nothing", peerRunner, false, 0, 5 - 0.08},
	} {
		w := newWorld(p, planner.GPU, 1)
		f := &task{config: &config{saves: c.saves, median: 6}, workH: 6, left: 1}
		o := w.play(c.by, true, []*task{f}, 5)
		if kept, lost := 2*o.hours.Kept, 2*o.hours.Killed; math.Abs(kept-c.kept) > 0.41*yes(c.by == peerRunner && c.saves)+1e-6 || math.Abs(lost-c.lost) > 1e-6 || !o.stopped {
			t.Errorf("%s: kept %v, lost %v; want %v, %v", c.name, kept, lost, c.kept, c.lost)
		}
		if want := 1 - 2*o.hours.Kept/6; math.Abs(o.left[0]-want) > 1e-9 {
			t.Errorf("%s: %v of the fold are left, want %v", c.name, o.left[0], want)
		}
	}
}
