package planner

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestFoldTests(t *testing.T) {
	diffs := []float64{.004, .006, .002, .005, .003} // T1
	naive, _ := PairedT(diffs)
	near(t, "naive t", naive.Stat, 5.657, 5e-4)
	near(t, "naive p", naive.P, .0048, 5e-5)
	corrected, _ := CorrectedT(diffs)
	near(t, "corrected t", corrected.Stat, 3.771, 5e-4)
	near(t, "corrected p", corrected.P, .0196, 5e-5)
	near(t, "one-sided", corrected.POne, corrected.P/2, 1e-12)
	if _, ok := CorrectedT([]float64{.1}); ok {
		t.Error("a test of one fold")
	}
	if same, _ := CorrectedT([]float64{.1, .1}); !math.IsInf(same.Stat, 1) || same.P != 0 {
		t.Errorf("equal gains: %+v", same)
	}
	if none, _ := CorrectedT([]float64{0, 0}); none.Stat != 0 || none.P != 1 {
		t.Errorf("no difference: %+v", none)
	}
}

func TestRowTest(t *testing.T) {
	z, _ := PairedZOf(2000, .004, .08) // T2
	near(t, "z", z.Stat, 2.236, 5e-4)
	near(t, "p", z.POne, .01267, 5e-6)
	if Judge(z) != VerdictPromote {
		t.Errorf("T2: %s", Judge(z))
	}
	seed := normalTest(2000, .004, 0, .0018).WithSeedNoise(.0015) // T3
	near(t, "SE", seed.SE, .002782, 5e-7)
	near(t, "z", seed.Stat, 1.438, 5e-4)
	if Judge(seed) != VerdictSecondSeed {
		t.Errorf("T3: %s", Judge(seed))
	}
	worse, _ := PairedZ([]float64{-.1, .05, -.02})
	if Judge(worse) != VerdictDrop {
		t.Errorf("a loss: %s", Judge(worse))
	}
	if _, ok := PairedZ(nil); ok {
		t.Error("a test of nothing")
	}
}

func TestWins(t *testing.T) {
	a := Wins(60, 40) // T4
	near(t, "z", a.Z, 2, 1e-12)
	near(t, "p", a.P, .0569, 5e-5)
	near(t, "mid-p", a.MidP, .0460, 5e-5)
	b := Wins(30, 12)
	near(t, "z", b.Z, 2.777, 5e-4)
	near(t, "p", b.P, .0079, 5e-5)
	if n := Wins(0, 0); n.P != 1 || n.Z != 0 {
		t.Errorf("nothing compared: %+v", n)
	}
	near(t, "the other way round", Wins(12, 30).P, b.P, 1e-12)
}

func TestFoldsAreFew(t *testing.T) { // T5
	for k, want := range map[int]float64{3: .125, 4: .0625, 5: .03125} {
		d := make([]float64, k)
		for i := range d {
			d[i] = .001 * float64(i+1)
		}
		near(t, "sign flip", SignFlip(d), want, 1e-12)
		near(t, "signed rank", SignedRank(d), want, 1e-12)
	}
	near(t, "nothing", SignedRank([]float64{0, 0}), 1, 0)
	near(t, "ties and a loss", SignedRank([]float64{1, 1, -1}), .5, 1e-12)
}

// Beyond twenty differences the normal takes over without a jump.
func TestSignFlipOfMany(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	d := make([]float64, 20)
	for i := range d {
		d[i] = .3 + r.NormFloat64()
	}
	near(t, "exact against normal", SignFlip(d), SignFlip(append(slices.Clone(d), 1e-9)), .02)
}

func TestExpectedImprovement(t *testing.T) { // T6, T7
	perHour := map[int]float64{}
	for i, c := range []struct{ mu, sd, want, hours, perHour float64 }{
		{.002, .003, .002453, 3, .000818}, {0, .003, .001197, 1, .001197}, {.001, .001, .001083, 1, .001083}, {.004, .004, .004333, 6, .000722},
	} {
		got := ExpectedImprovement(c.mu, c.sd)
		near(t, "EI", got, c.want, 6e-7)
		near(t, "EI an hour", got/c.hours, c.perHour, 6e-7)
		perHour[i] = got / c.hours
	}
	if perHour[3] >= min(perHour[0], perHour[1], perHour[2]) {
		t.Error("the long run does not rank last")
	}
	near(t, "certain", ExpectedImprovement(.01, 0), .01, 0)
	near(t, "certainly worse", ExpectedImprovement(-.01, 0), 0, 0)
	near(t, "hopeless", ExpectedImprovement(-1, .001), 0, 1e-12)
	near(t, "T8", ShrinkGain(.003, .002, .005), .003462, 5e-7)
	near(t, "P1", PrunedCost(.5, .35), .675, 1e-12)
}

func TestCurveLimit(t *testing.T) { // T9
	limit, exponent, ok := CurveLimit(.7, .758579, .8)
	if !ok {
		t.Fatal("no limit")
	}
	near(t, "limit", limit, .9, 1e-5)
	near(t, "exponent", exponent, .5, 1e-4)
	falling, exponent, _ := CurveLimit(1, .6, .5)
	near(t, "limit of a loss", falling, .5-.1/3, 1e-12)
	near(t, "its exponent", exponent, 2, 1e-12)
	for _, bad := range [][3]float64{{.7, .7, .8}, {.7, .8, .7}, {.7, .75, .9}} {
		if l, _, ok := CurveLimit(bad[0], bad[1], bad[2]); ok {
			t.Errorf("%v closes in to %v", bad, l)
		}
	}
}

func TestHyperband(t *testing.T) {
	want := [][]Rung{{{8, 1}, {4, 2}, {2, 4}, {1, 8}}, {{6, 2}, {3, 4}, {1, 8}}, {{4, 4}, {2, 8}}, {{4, 8}}} // T10
	got := Hyperband(8, 2)
	if !slices.EqualFunc(got, want, slices.Equal[[]Rung]) {
		t.Errorf("got %v", got)
	}
	near(t, "cost", BracketCost(got[0]), 32, 1e-9)
	first := []Rung{{81, 1}, {34, 3}, {15, 9}, {8, 27}, {5, 81}} // T11
	costs := []float64{405, 363, 351, 378, 405}
	for i, b := range Hyperband(81, 3) {
		if b[0].N != first[i].N || math.Abs(b[0].R-first[i].R) > 1e-9 {
			t.Errorf("bracket %d starts %+v", i, b[0])
		}
		near(t, "cost", BracketCost(b), costs[i], 1e-6)
	}
	for _, bad := range [][2]float64{{0, 3}, {81, 1}, {math.NaN(), 3}, {math.Inf(1), 3}} {
		if h := Hyperband(bad[0], bad[1]); h != nil {
			t.Errorf("%v: %v", bad, h)
		}
	}
}
