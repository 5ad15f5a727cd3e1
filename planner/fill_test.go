package planner

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The rows of the table in kgkit-behaviour's runner, which ours keeps from 2/3 h on, and the share below it.
func TestRunnerStops(t *testing.T) {
	for _, c := range []struct{ capH, graceful, hard float64 }{
		{12, 11.04, 11.616}, {7, 6.44, 6.776}, {2, 1 + 50.0/60, 1 + 56.0/60}, {1, 50.0 / 60, 56.0 / 60}, {0.3, 0.225, 0.27}, {0, 0, 0},
	} {
		g, h := RunnerStops(c.capH)
		if math.Abs(g-c.graceful) > 1e-9 || math.Abs(h-c.hard) > 1e-9 {
			t.Errorf("RunnerStops(%v) = %v, %v; want %v, %v", c.capH, g, h, c.graceful, c.hard)
		}
	}
	for need := 0.0; need < 12; need += 0.01 {
		if g, _ := RunnerStops(CapFor(need)); math.Abs(g-need) > 1e-9 {
			t.Fatalf("CapFor(%v) = %v leaves %v", need, CapFor(need), g)
		}
	}
}

func TestJoinedCap(t *testing.T) {
	// Three tasks of 2 h and two of 1 h on two devices: 2+2 and 2+1+1, and 8 % of the cap before its end.
	if got, want := JoinedCap([]float64{1, 2, 2, 1, 2}, 2, 0.25, 0.1), 4.25/0.92; math.Abs(got-want) > 1e-9 {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := JoinedCap(nil, 2, 0.1, 0.1); math.Abs(got-0.2) > 1e-9 {
		t.Errorf("nothing to do: %v", got)
	}
}

func TestFill(t *testing.T) {
	saves := func(group int, capH float64) FillOffer { return FillOffer{Group: group, CapH: capH, LeastH: 0.31} }
	own := func(group int, capH float64) FillOffer { return FillOffer{Group: group, CapH: capH} }
	for _, c := range []struct {
		name string
		ask  FillAsk
		want []FillStart
	}{
		{"all fits: the person's order", FillAsk{Pool: GPU, LeftH: 30, ResetInH: 100, FreeSlots: 2,
			Offers: []FillOffer{saves(1, 5), own(2, 6), saves(3, 4)}}, []FillStart{{0, 5, false}, {1, 6, false}}},
		{"no slot", FillAsk{Pool: GPU, LeftH: 30, ResetInH: 100, Offers: []FillOffer{saves(1, 5)}}, nil},
		{"nothing left", FillAsk{Pool: GPU, ResetInH: 100, FreeSlots: 2, Offers: []FillOffer{saves(1, 5)}}, nil},
		{"what cannot be cut goes first, the rest is cut to what it leaves", FillAsk{Pool: GPU, LeftH: 9, ResetInH: 100, FreeSlots: 2,
			Offers: []FillOffer{saves(1, 8), own(2, 4)}}, []FillStart{{1, 4, false}, {0, 5, true}}},
		{"of those that cannot be cut the set that uses most", FillAsk{Pool: GPU, LeftH: 9, ResetInH: 100, FreeSlots: 2,
			Offers: []FillOffer{own(1, 6), own(2, 5), own(3, 4)}}, []FillStart{{1, 5, false}, {2, 4, false}}},
		{"fewer folds of a run that does not fit, and that run once", FillAsk{Pool: GPU, LeftH: 3, ResetInH: 100, FreeSlots: 2,
			Offers: []FillOffer{own(1, 6), {Group: 1, CapH: 2.5}, {Group: 1, CapH: 1}}}, []FillStart{{1, 2.5, false}}},
		{"cut to the reset", FillAsk{Pool: GPU, LeftH: 9, ResetInH: 3, FreeSlots: 1, Offers: []FillOffer{saves(1, 8)}}, []FillStart{{0, 3, true}}},
		{"what cannot be cut does not cross the reset", FillAsk{Pool: GPU, LeftH: 9, ResetInH: 3, FreeSlots: 1, Offers: []FillOffer{own(1, 8)}}, nil},
		{"too little for a start-up", FillAsk{Pool: GPU, LeftH: 0.3, ResetInH: 100, FreeSlots: 1, Offers: []FillOffer{saves(1, 8)}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Fill(c.ask)
			if len(got) != len(c.want) {
				t.Fatalf("got %+v, want %+v", got, c.want)
			}
			for i := range got {
				if got[i].Offer != c.want[i].Offer || got[i].Cut != c.want[i].Cut || math.Abs(got[i].CapH-c.want[i].CapH) > 0.3*c.want[i].CapH {
					t.Errorf("%d: got %+v, want %+v", i, got[i], c.want[i])
				}
			}
		})
	}
}

// Half a day before the reset a TPU run is cut, so that it has a chance behind the queue; with an hour to go it is offered
// whole and will run in the new week.
func TestFillMindsTheQueue(t *testing.T) {
	ask := FillAsk{Pool: TPU, LeftH: 9, FreeSlots: 1, Offers: []FillOffer{{Group: 1, CapH: 9, LeastH: 0.64}}}
	capAt := func(resetIn float64) float64 {
		ask.ResetInH = resetIn
		s := Fill(ask)
		if len(s) != 1 {
			t.Fatalf("%v h before the reset nothing starts", resetIn)
		}
		return s[0].CapH
	}
	if c := capAt(100); c != 9 {
		t.Errorf("100 h before the reset: %v", c)
	}
	if c := capAt(12); c > 8.9 || c < 7 {
		t.Errorf("12 h before the reset: %v", c)
	}
	if c := capAt(8); c > 7 || c < 4 {
		t.Errorf("8 h before the reset: %v", c)
	}
	if c := capAt(0.5); c != 9 {
		t.Errorf("half an hour before the reset: %v", c)
	}
	ask.QueueMedianH, ask.QueueP90H = 0.1, 0.2 // one's own history: no queue to speak of
	if c := capAt(12); c != 9 {
		t.Errorf("12 h before the reset without a queue: %v", c)
	}
}

// Whatever is asked: caps fit what is left and the reset, no group starts twice, nothing is cut below its least, and more
// hours left never start less.
func TestFillProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		ask := FillAsk{Pool: GPU, LeftH: 30 * r.Float64() * r.Float64(), ResetInH: 168 * r.Float64() * r.Float64(), FreeSlots: r.IntN(3)}
		for range r.IntN(7) {
			o := FillOffer{Group: r.IntN(5), CapH: 12 * r.Float64()}
			if r.IntN(2) == 0 {
				o.LeastH = 0.31
			}
			ask.Offers = append(ask.Offers, o)
		}
		sum := func(starts []FillStart) (h float64) {
			for _, s := range starts {
				h += s.CapH
			}
			return h
		}
		starts := Fill(ask)
		groups := map[int]bool{}
		for _, s := range starts {
			o := ask.Offers[s.Offer]
			switch {
			case s.CapH > ask.ResetInH+slack, s.CapH > o.CapH+slack, groups[o.Group], s.Cut && (o.LeastH == 0 || s.CapH < o.LeastH),
				!s.Cut && s.CapH != o.CapH:
				t.Fatalf("%+v of %+v", s, ask)
			}
			groups[o.Group] = true
		}
		if len(starts) > ask.FreeSlots || sum(starts) > ask.LeftH+slack {
			t.Fatalf("%+v of %+v", starts, ask)
		}
		more := ask
		more.LeftH += 5 * r.Float64()
		if len(Fill(more)) < len(starts) && ask.FreeSlots == 1 {
			t.Fatalf("%v h start %+v, %v h start %+v", ask.LeftH, starts, more.LeftH, Fill(more))
		}
	}
}
