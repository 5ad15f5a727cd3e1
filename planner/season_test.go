package planner

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func at(t *testing.T, text string) time.Time {
	t.Helper()
	x, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func gpu(left float64) PlanPool { return PlanPool{Known: true, LeftH: left, WeekH: 30} }

func TestPlanOracles(t *testing.T) {
	refresh := at(t, "2026-10-03T00:00:00Z")
	for _, c := range []struct {
		name, now, deadline            string
		resets                         int
		total, usable, expiring, lastH float64
	}{
		{"W1", "2026-09-30T12:00:00Z", "2026-10-22T23:59:00Z", 3, 107.5, 107.5, 0, 143.98},
		{"W3", "2026-09-30T12:00:00Z", "2026-10-03T00:30:00Z", 1, 47.5, 18.5, 0, .5},
		{"W3 at the reset", "2026-09-30T12:00:00Z", "2026-10-03T00:00:00Z", 0, 17.5, 17.5, 0, 60},
		{"W4", "2026-10-02T19:00:00Z", "2026-10-10T00:00:00Z", 1, 47.5, 40, 7.5, 168},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := PlanUntil(PlanAsk{Now: at(t, c.now), Deadline: at(t, c.deadline), RefreshAt: refresh, GPU: gpu(17.5)})
			if len(p.Resets) != c.resets || len(p.Windows) != c.resets+1 {
				t.Fatalf("resets %v, windows %d", p.Resets, len(p.Windows))
			}
			near(t, "now", p.GPU.NowH, 17.5, 0)
			near(t, "total", p.GPU.TotalH, c.total, 1e-9)
			near(t, "usable", p.GPU.UsableH, c.usable, 1e-9)
			near(t, "expiring", p.GPU.ExpiringH, c.expiring, 1e-9)
			last := p.Windows[len(p.Windows)-1]
			near(t, "last window", last.To.Sub(last.From).Hours(), c.lastH, .005)
			near(t, "reserve", p.GPU.ReserveH, min(c.usable, 30), 1e-9)
			near(t, "explore", p.GPU.ExploreH, c.usable-min(c.usable, 30), 1e-9)
			if p.TPU.Known {
				t.Error("a TPU out of nothing")
			}
		})
	}
	p := PlanUntil(PlanAsk{Now: at(t, "2026-09-30T12:00:00Z"), Deadline: at(t, "2026-10-22T23:59:00Z"), RefreshAt: refresh,
		TPU: PlanPool{Known: true, LeftH: 20, WeekH: 20, QueueH: 2}}) // W2
	near(t, "W2 total", p.TPU.TotalH, 80, 1e-9)
	near(t, "W2 usable", p.TPU.UsableH, 80, 1e-9)
}

func TestShareSums(t *testing.T) {
	in := gpu(17.5)
	in.Costs = RunCosts{FoldH: 2, ScreenH: 2.2, Folds: 5, Runs: 14}
	p := PlanUntil(PlanAsk{Now: at(t, "2026-09-30T12:00:00Z"), Deadline: at(t, "2026-10-22T23:59:00Z"), RefreshAt: at(t, "2026-10-03T00:00:00Z"), GPU: in,
		Items: []PlanItem{{ID: "a", Name: "seed2", Pool: GPU, Hours: 5.7, Gain: .003, GainSD: .002, Validated: true}}})
	for _, w := range p.Windows {
		s, sum := w.GPU, 0.0
		for _, b := range s.Blocks {
			sum += b.Hours
		}
		near(t, "blocks", sum, s.UsableH, 1e-9)
		near(t, "reserve and explore", s.ReserveH+s.ExploreH, s.UsableH, 1e-9)
		near(t, "usable and lost", s.UsableH+s.LostH, s.QuotaH, 1e-9)
	}
	last := p.Windows[3].GPU
	near(t, "the last window is kept", last.ReserveH, 30, 1e-9)
	near(t, "slack of one session", last.SlackH, 6, 1e-9)
	b := p.GPU.Budget
	near(t, "screen", b.ScreenH, 1.1, 1e-9)
	near(t, "promotion in whole waves", b.PromotionH, 6, 1e-9) // 3 waves of 2 h; 5 x 2 / 2 would be 5
	if b.Promotions != 6 || b.Screens != 36 || b.Waves != 3 || b.Runs != 14 {
		t.Errorf("budget %+v of %v h", *b, p.GPU.ExploreH)
	}
	if spent := float64(b.Promotions)*b.PromotionH + float64(b.Screens)*b.ScreenH; spent > p.GPU.ExploreH {
		t.Errorf("the budget spends %v of %v", spent, p.GPU.ExploreH)
	}
	if first := p.Windows[0].GPU.Blocks; first[0].Label != "seed2" || first[1].Kind != "free" {
		t.Errorf("first window %+v", first)
	}
	near(t, "free now", p.GPU.FreeH, 17.5-5.7, 1e-9)
}

func TestSlack(t *testing.T) {
	for _, c := range [][3]float64{{30, 6, 6}, {30, 2, 4}, {30, 10, 10}, {30, 0, 6}, {4, 10, 4}, {0, 6, 0}} {
		near(t, "slack", slackOf(c[0], c[1]), c[2], 1e-9)
	}
}

func item(id string, hours, gain float64) PlanItem {
	return PlanItem{ID: id, Name: id, Pool: GPU, Hours: hours, Gain: gain, Validated: true}
}

func ids(list []Suggestion) []string {
	var out []string
	for _, s := range list {
		out = append(out, s.ID)
	}
	slices.Sort(out)
	return out
}

func TestStartNow(t *testing.T) {
	k1 := []PlanItem{item("A", 6, .0040), item("B", 5, .0030), item("C", 4, .0026), item("D", 2, .0012), item("E", 1, .0004)}
	for _, c := range []struct {
		left float64
		want string
	}{{8, "A D"}, {12, "A C D"}, {17, "A B C D"}, {10, "A C"}} {
		p := PlanUntil(PlanAsk{Now: at(t, "2026-09-30T12:00:00Z"), Deadline: at(t, "2026-10-22T23:59:00Z"), RefreshAt: at(t, "2026-10-03T00:00:00Z"), GPU: gpu(c.left), Items: k1})
		if got := strings.Join(ids(p.Start), " "); got != c.want {
			t.Errorf("%v h left: start %s, want %s", c.left, got, c.want)
		}
		if len(p.Start)+len(p.Leave) != len(k1) {
			t.Errorf("%v h left: %d items are missing", c.left, len(k1)-len(p.Start)-len(p.Leave))
		}
		for _, s := range p.Leave {
			if s.Do != DoLeave || s.Why == "" {
				t.Errorf("left without a reason: %+v", s)
			}
		}
	}
}

// Five hours before the reset the hours would do for three runs of four hours, and two sessions only for two.
func TestStartFitsTheSessions(t *testing.T) {
	ask := PlanAsk{Now: at(t, "2026-10-02T19:00:00Z"), Deadline: at(t, "2026-10-22T23:59:00Z"), RefreshAt: at(t, "2026-10-03T00:00:00Z"), GPU: gpu(17.5),
		Items: []PlanItem{item("a", 3.2, .3), item("b", 3.2, .3), item("c", 3.2, .3), item("d", 1.5, .1), item("long", 6, 9)}}
	p := PlanUntil(ask)
	if got := strings.Join(ids(p.Start), " "); got != "a b d" {
		t.Errorf("start %s", got)
	}
	for _, s := range p.Leave {
		if s.ID == "long" && !strings.Contains(s.Why, "still run at the reset") {
			t.Errorf("the long one is left because %s", s.Why)
		}
	}
	ask.GPU.BusyH = []float64{5, 1}
	if got := strings.Join(ids(PlanUntil(ask).Start), " "); got != "a" {
		t.Errorf("with sessions in flight: start %s", got)
	}
	ask.GPU.BusyH = nil
	ask.Items = append(ask.Items, PlanItem{ID: "resume", Name: "r", Pool: GPU, Hours: 20, Resume: true, Divisible: true})
	p = PlanUntil(ask)
	sum, partial := 0.0, 0
	for _, s := range p.Start {
		sum += s.Hours
		if s.Partial {
			partial++
			if s.Do != DoResume || s.Hours >= 20 {
				t.Errorf("part %+v", s)
			}
		}
	}
	if partial > 1 || sum > 10+1e-9 || sum < 9 {
		t.Errorf("%v h started in %d parts: %+v", sum, partial, p.Start)
	}
}

func TestWhatIsLeftAlone(t *testing.T) {
	raw := item("raw", 2, .1)
	raw.Validated = false
	failed := item("failed", 2, .1)
	failed.WhyNot = "it failed and was not rehearsed since"
	unknown := item("unknown", 0, .1)
	tpu := item("tpu", 2, .1)
	tpu.Pool = TPU
	p := PlanUntil(PlanAsk{Now: at(t, "2026-09-30T12:00:00Z"), Deadline: at(t, "2026-10-22T00:00:00Z"), GPU: gpu(17.5),
		Items: []PlanItem{raw, failed, unknown, tpu, item("big", 18, 1), item("far", 13, 1), item("worse", 2, -1)}})
	want := map[string]string{"raw": "not validated", "failed": "not rehearsed", "unknown": "bench", "tpu": "quota is not known", "big": "a session may run",
		"far": "a session may run", "worse": "no gain"}
	if len(p.Leave) != len(want) || len(p.Start) != 0 {
		t.Fatalf("start %v, leave %v", ids(p.Start), ids(p.Leave))
	}
	for _, s := range p.Leave {
		if !strings.Contains(s.Why, want[s.ID]) {
			t.Errorf("%s is left because %s", s.ID, s.Why)
		}
	}
}

// The choice of what to start equals trying every set and every packing into the two sessions.
func TestFillEqualsBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	for range 150 {
		windowH, left := 1+9*r.Float64(), 1+16*r.Float64()
		in := gpu(left).filled(GPU)
		var ready []candidate
		for range 1 + r.IntN(7) {
			h := .3 + 6*r.Float64()
			ready = append(ready, candidate{PlanItem: PlanItem{Hours: h}, value: h * (.5 + r.Float64())})
		}
		usable := min(left, 2*windowH)
		taken, part, _ := choose(ready, in, usable, windowH)
		got := 0.0
		for _, i := range taken {
			got += ready[i].value
		}
		if part >= 0 {
			t.Fatal("a part of what cannot be divided")
		}
		near(t, "value", got, bestPacked(ready, usable, windowH), 1e-9)
	}
}

func bestPacked(ready []candidate, usable, windowH float64) float64 {
	best := 0.0
	var try func(i int, a, b, v float64)
	try = func(i int, a, b, v float64) {
		if a > windowH || b > windowH || a+b > usable {
			return
		}
		best = max(best, v)
		if i == len(ready) {
			return
		}
		c := ready[i]
		try(i+1, a, b, v)
		try(i+1, a+c.Hours, b, v+c.value)
		try(i+1, a, b+c.Hours, v+c.value)
	}
	try(0, 0, 0, 0)
	return best
}

func TestQueueTakesItsShare(t *testing.T) {
	in := PlanPool{Known: true, LeftH: 20, WeekH: 20, QueueH: 2}.filled(TPU)
	for _, c := range [][2]float64{{0, 0}, {2, 0}, {5, 3}, {11, 9}, {13, 9}, {14, 10}, {22, 18}} {
		near(t, "burnable", in.burnable(c[0], nil), c[1], 1e-9)
	}
}

func randomAsk(r *rand.Rand) PlanAsk {
	now := time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(r.IntN(90*24*60)) * time.Minute)
	ask := PlanAsk{Now: now, Deadline: now.Add(time.Duration(1+r.IntN(60*24*60)) * time.Minute), GPU: gpu(30 * r.Float64()),
		TPU: PlanPool{Known: true, LeftH: 20 * r.Float64(), WeekH: 20, QueueH: 4 * r.Float64()}}
	ask.GPU.Costs = RunCosts{FoldH: 3 * r.Float64(), Folds: 1 + r.IntN(10)}
	for i := range r.IntN(6) {
		ask.Items = append(ask.Items, PlanItem{ID: string(rune('a' + i)), Pool: GPU, Hours: .2 + 8*r.Float64(), Gain: r.Float64(), Validated: r.IntN(3) > 0, Divisible: r.IntN(3) == 0})
	}
	return ask
}

func startValue(p SeasonPlan) float64 {
	sum := 0.0
	for _, s := range p.Start {
		sum += s.PerHour * s.Hours
	}
	return sum
}

// More quota never plans less, and a longer deadline never plans less.
func TestPlanIsMonotone(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 13))
	check := func(what string, small, large SeasonPlan) {
		t.Helper()
		for _, p := range [][2]PoolPlan{{small.GPU, large.GPU}, {small.TPU, large.TPU}} {
			if p[1].TotalH < p[0].TotalH-1e-9 || p[1].UsableH < p[0].UsableH-1e-9 || p[1].ReserveH < p[0].ReserveH-1e-9 || p[1].ExploreH < p[0].ExploreH-1e-9 {
				t.Fatalf("%s plans less: %+v before, %+v now", what, p[0], p[1])
			}
		}
		if len(large.Resets) < len(small.Resets) {
			t.Fatalf("%s has fewer resets", what)
		}
		if startValue(large) < startValue(small)-1e-6 {
			t.Fatalf("%s starts less: %v before, %v now", what, startValue(small), startValue(large))
		}
	}
	for range 300 {
		ask := randomAsk(r)
		small := PlanUntil(ask)
		more := ask
		more.GPU.LeftH += 10 * r.Float64()
		more.TPU.LeftH += 10 * r.Float64()
		check("more quota", small, PlanUntil(more))
		longer := ask
		longer.Deadline = ask.Deadline.Add(time.Duration(r.IntN(20*24*60)) * time.Minute)
		check("a longer deadline", small, PlanUntil(longer))
		for _, p := range []PoolPlan{small.GPU, small.TPU} {
			if p.NowH < 0 || p.UsableH < 0 || p.ReserveH < 0 || p.ExploreH < -1e-9 || p.ExpiringH < -1e-9 || p.FreeH < 0 || p.UsableH > p.TotalH+1e-9 {
				t.Fatalf("below zero: %+v", p)
			}
		}
	}
}

// The person's zone and its clock changes never move a reset.
func TestZonesDoNotMoveResets(t *testing.T) {
	zones := []*time.Location{time.FixedZone("east", 13*3600), time.FixedZone("west", -9*3600-1800)}
	if berlin, err := time.LoadLocation("Europe/Berlin"); err == nil {
		zones = append(zones, berlin) // its clocks change on 25 October 2026
	}
	r := rand.New(rand.NewPCG(17, 17))
	for range 100 {
		ask := randomAsk(r)
		ask.RefreshAt = knownReset
		want := PlanUntil(ask)
		for _, z := range zones {
			moved := ask
			moved.Now, moved.Deadline, moved.RefreshAt = ask.Now.In(z), ask.Deadline.In(z), ask.RefreshAt.In(z)
			got := PlanUntil(moved)
			if !slices.Equal(got.Resets, want.Resets) || math.Abs(got.GPU.UsableH-want.GPU.UsableH) > 1e-9 {
				t.Fatalf("in %s: %v, want %v", z, got.Resets, want.Resets)
			}
			for _, x := range got.Resets {
				if x.Weekday() != time.Saturday || x.Hour() != 0 || x.Location() != time.UTC {
					t.Fatalf("a reset at %v", x)
				}
			}
		}
	}
}

func TestPastDeadlinePlansNothing(t *testing.T) {
	now := at(t, "2026-09-30T12:00:00Z")
	p := PlanUntil(PlanAsk{Now: now, Deadline: now, GPU: gpu(17.5)})
	if len(p.Windows) != 0 || p.GPU.TotalH != 0 || len(p.Start) != 0 {
		t.Errorf("got %+v", p)
	}
}

func TestAboutToExpire(t *testing.T) {
	now := at(t, "2026-10-02T19:00:00Z")
	reset := at(t, "2026-10-03T00:00:00Z")
	e, ok := AboutToExpire(GPU, gpu(17.5), reset, now) // W4
	if !ok {
		t.Fatal("17.5 h expire in 5 h and nothing is said")
	}
	near(t, "burnable", e.BurnableH, 10, 1e-9)
	near(t, "lost", e.LostH, 7.5, 1e-9)
	for name, quiet := range map[string]bool{
		"far":       second(AboutToExpire(GPU, gpu(17.5), now.Add(49*time.Hour), now)),
		"over":      second(AboutToExpire(GPU, gpu(17.5), now, now)),
		"little":    second(AboutToExpire(GPU, gpu(.9), reset, now)),
		"no reset":  second(AboutToExpire(GPU, gpu(17.5), time.Time{}, now)),
		"not known": second(AboutToExpire(GPU, PlanPool{LeftH: 5}, reset, now)),
	} {
		if quiet {
			t.Errorf("%s: something is said", name)
		}
	}
}

func second(_ Expiring, ok bool) bool { return ok }

// A project whose folds take seconds could promote thousands of times a week: that is one piece, not thousands.
func TestTinyPromotionsAreOnePiece(t *testing.T) {
	s := PlanShare{UsableH: 20, ExploreH: 20}
	s.blocks(PlanPool{Devices: 2, Costs: RunCosts{FoldH: .001, Folds: 5, Runs: 1}}, nil)
	sum := 0.0
	for _, b := range s.Blocks {
		sum += b.Hours
	}
	if len(s.Blocks) > 4 || math.Abs(sum-20) > 1e-6 {
		t.Errorf("%d pieces of %v h: %+v", len(s.Blocks), sum, s.Blocks[:min(4, len(s.Blocks))])
	}
}
