package planner

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func byFold(scores ...float64) FoldScores {
	f := FoldScores{ByFold: map[int]float64{}}
	for k, s := range scores {
		f.ByFold[k] = s
	}
	return f
}

func TestCompareFolds(t *testing.T) {
	base := byFold(.80, .81, .82, .83, .84)
	none := math.NaN()
	for name, x := range map[string]struct {
		own             FoldScores
		noise           SeedNoise
		lower           bool
		folds, better   int
		mean, low, high float64
		bar             bool
		source          string
		verdict, advice string
	}{
		// The reference's differences: t corrected for shared training data is 3.771 with 4 degrees of freedom, whose 95 % bound is 2.776.
		"all five better":          {own: byFold(.804, .816, .822, .835, .843), folds: 5, better: 5, mean: .004, low: .004 - 2.7764451*.004/3.7712362, high: .004 + 2.7764451*.004/3.7712362, bar: true, source: "folds", verdict: BeyondNoise, advice: AdviceKeep},
		"all five worse":           {own: byFold(.796, .804, .818, .825, .837), folds: 5, better: 0, mean: -.004, low: -.004 - 2.7764451*.004/3.7712362, high: -.004 + 2.7764451*.004/3.7712362, bar: true, source: "folds", verdict: BeyondNoise, advice: AdviceDrop},
		"lower is better":          {own: byFold(.796, .804, .818, .825, .837), lower: true, folds: 5, better: 5, mean: .004, low: .004 - 2.7764451*.004/3.7712362, high: .004 + 2.7764451*.004/3.7712362, bar: true, source: "folds", verdict: BeyondNoise, advice: AdviceKeep},
		"the seeds differ by more": {own: byFold(.804, .816, .822, .835, .843), noise: SeedNoise{.01, 8}, folds: 5, better: 5, mean: .004, low: .004 - 2.3060041*.01*math.Sqrt(.4), high: .004 + 2.3060041*.01*math.Sqrt(.4), bar: true, source: "seeds", verdict: WithinNoise, advice: AdviceSecondSeed},
		"mixed":                    {own: byFold(.81, .80, .83, .82, .841), folds: 5, better: 3, mean: .0002, low: .0002 - 2.7764451*math.Sqrt(.45*1.002e-4), high: .0002 + 2.7764451*math.Sqrt(.45*1.002e-4), bar: true, source: "folds", verdict: WithinNoise, advice: AdviceSecondSeed},
		"level":                    {own: base, folds: 5, bar: true, source: "folds", verdict: WithinNoise, advice: AdviceNoGain},
		"two folds":                {own: byFold(.81, .82), folds: 2, better: 2, mean: .01, verdict: TooFewFolds, advice: AdviceMoreFolds},
		"one fold, worse":          {own: byFold(.79), folds: 1, mean: -.01, verdict: TooFewFolds, advice: AdviceNoGain},
		"one fold, seeds known":    {own: byFold(.81), noise: SeedNoise{.001, 4}, folds: 1, better: 1, mean: .01, low: .01 - 2.7764451*.001*math.Sqrt2, high: .01 + 2.7764451*.001*math.Sqrt2, bar: true, source: "seeds", verdict: BeyondNoise, advice: AdviceKeep},
		"one fold, as much noise":  {own: byFold(.81), noise: SeedNoise{.01, 4}, folds: 1, better: 1, mean: .01, low: .01 - 2.7764451*.01*math.Sqrt2, high: .01 + 2.7764451*.01*math.Sqrt2, bar: true, source: "seeds", verdict: WithinNoise, advice: AdviceSecondSeed},
		"nothing in common":        {own: FoldScores{ByFold: map[int]float64{7: .9}}, verdict: TooFewFolds, advice: AdviceMoreFolds},
		"diverged":                 {own: byFold(none, math.Inf(1), .83), folds: 1, better: 1, mean: .01, verdict: TooFewFolds, advice: AdviceMoreFolds},
	} {
		c := CompareFolds(x.own, base, !x.lower, x.noise)
		if len(c.Folds) != x.folds || c.Better != x.better || c.HasBar != x.bar || c.Source != x.source || c.Verdict != x.verdict || c.Advice != x.advice {
			t.Errorf("%s: %+v", name, c)
		}
		near(t, name+": mean", c.Mean, x.mean, 1e-9)
		near(t, name+": low", c.Low, x.low, 1e-7)
		near(t, name+": high", c.High, x.high, 1e-7)
	}
	c := CompareFolds(FoldScores{ByFold: map[int]float64{0: 1, 2: 1, 9: 1}}, FoldScores{ByFold: map[int]float64{0: 1, 3: 1, 1: 1}}, true, SeedNoise{})
	if !slices.Equal(c.OnlyOwn, []int{2, 9}) || !slices.Equal(c.OnlyBase, []int{1, 3}) {
		t.Errorf("left out %v and %v", c.OnlyOwn, c.OnlyBase)
	}
	near(t, "the reference's p", CompareFolds(byFold(.004, .006, .002, .005, .003), byFold(0, 0, 0, 0, 0), true, SeedNoise{}).P, .0196, 5e-5)
}

// What has to hold whatever is compared.
func TestCompareFoldsProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	for range 2000 {
		own, base := FoldScores{ByFold: map[int]float64{}, Seeds: r.IntN(4)}, FoldScores{ByFold: map[int]float64{}, Seeds: r.IntN(4)}
		for k := range r.IntN(9) {
			if r.IntN(4) > 0 {
				own.ByFold[k] = .8 + .02*r.NormFloat64()
			}
			if r.IntN(4) > 0 {
				base.ByFold[k] = .8 + .02*r.NormFloat64()
			}
		}
		noise := SeedNoise{SD: r.Float64() * .01, DF: r.IntN(6)}
		c := CompareFolds(own, base, true, noise)
		back, lower := CompareFolds(base, own, true, noise), CompareFolds(own, base, false, noise)
		if len(c.Folds)+len(c.OnlyOwn) != len(own.ByFold) || len(c.Folds)+len(c.OnlyBase) != len(base.ByFold) {
			t.Fatalf("%v against %v: folds got lost: %+v", own, base, c)
		}
		for name, other := range map[string]Comparison{"the other way round": back, "lower is better": lower} {
			if math.Abs(c.Mean+other.Mean) > 1e-12 || math.Abs(c.Low+other.High) > 1e-12 || c.Verdict != other.Verdict || math.Abs(c.P-other.P) > 1e-12 {
				t.Fatalf("%s: %+v and %+v", name, c, other)
			}
		}
		if c.HasBar && (c.Low > c.Mean || c.High < c.Mean) || !c.HasBar && (c.Low != 0 || c.High != 0 || c.P != 1) || c.P < 0 || c.P > 1 {
			t.Fatalf("bar %+v", c)
		}
		if c.Verdict == BeyondNoise && c.Low <= 0 && c.High >= 0 {
			t.Fatalf("beyond a noise that reaches over zero: %+v", c)
		}
		if quiet := CompareFolds(own, base, true, SeedNoise{}); quiet.Verdict == WithinNoise && c.Verdict == BeyondNoise {
			t.Fatalf("noise made a gain clear: %+v, then %+v", quiet, c)
		}
		shifted := FoldScores{ByFold: map[int]float64{}, Seeds: own.Seeds}
		for k, v := range own.ByFold {
			shifted.ByFold[k] = v + .5
		}
		if up := CompareFolds(shifted, base, true, noise); len(up.Folds) > 0 && math.Abs(up.Mean-c.Mean-.5) > 1e-12 {
			t.Fatalf("a better side gained %v after %v", up.Mean, c.Mean)
		}
	}
}

func TestSeedNoiseOf(t *testing.T) {
	for name, x := range map[string]struct {
		groups [][]float64
		want   SeedNoise
	}{
		"nothing":                {nil, SeedNoise{}},
		"one fold, two seeds":    {[][]float64{{.8, .82}}, SeedNoise{}},
		"one fold, three seeds":  {[][]float64{{.78, .80, .82}}, SeedNoise{.02, 2}},
		"two folds, two seeds":   {[][]float64{{.80, .82}, {.90, .94}, {.5}}, SeedNoise{math.Sqrt((.0002 + .0008) / 2), 2}},
		"single scores are none": {[][]float64{{.80}, {.90}, {.5}}, SeedNoise{}},
	} {
		got := SeedNoiseOf(x.groups)
		if got.DF != x.want.DF {
			t.Errorf("%s: %+v, want %+v", name, got, x.want)
		}
		near(t, name, got.SD, x.want.SD, 1e-12)
	}
}

func TestSpearman(t *testing.T) {
	for name, x := range map[string]struct {
		x, y   []float64
		rho, p float64
	}{
		"the same order":   {[]float64{1, 2, 3}, []float64{10, 20, 90}, 1, 1. / 6},
		"the other way":    {[]float64{1, 2, 3}, []float64{3, 2, 1}, -1, 1},
		"one pair swapped": {[]float64{1, 2, 3, 4}, []float64{1, 2, 4, 3}, .8, 4. / 24},
		"ties":             {[]float64{1, 1, 2}, []float64{1, 2, 3}, math.Sqrt(3) / 2, 2. / 6},
		// A common textbook's ten pairs (IQ and hours of television): rho = -29/165.
		"ten pairs":    {[]float64{106, 100, 86, 101, 99, 103, 97, 113, 112, 110}, []float64{7, 27, 2, 50, 28, 29, 20, 12, 6, 17}, -29. / 165, .6864},
		"all the same": {[]float64{1, 1, 1}, []float64{1, 2, 3}, math.NaN(), 1},
		"one pair":     {[]float64{1}, []float64{1}, math.NaN(), 1},
	} {
		rho, p := Spearman(x.x, x.y)
		if math.IsNaN(rho) != math.IsNaN(x.rho) || !math.IsNaN(rho) && math.Abs(rho-x.rho) > 1e-9 || math.Abs(p-x.p) > 1e-3 {
			t.Errorf("%s: %v, %v; want %v, %v", name, rho, p, x.rho, x.p)
		}
	}
	// The chance is that of the exact count where both can be had, roughly, and ranks do not care for the scale.
	r := rand.New(rand.NewPCG(1, 7))
	for range 300 {
		n := 2 + r.IntN(8)
		x, y, z := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range n {
			x[i], y[i] = float64(r.IntN(6)), r.NormFloat64()
			z[i] = math.Exp(y[i])
		}
		rho, p := Spearman(x, y)
		rho2, p2 := Spearman(x, z)
		turned, _ := Spearman(y, x)
		if math.IsNaN(rho) {
			continue
		}
		if math.Abs(rho-rho2) > 1e-12 || math.Abs(p-p2) > 1e-12 || math.Abs(rho-turned) > 1e-12 || rho < -1 || rho > 1 || p < 0 || p > 1 {
			t.Fatalf("%v %v: %v %v, %v %v, %v", x, y, rho, p, rho2, p2, turned)
		}
	}
}

func TestFidelity(t *testing.T) {
	line := func(n int, f func(i int) float64) []ScreenPair {
		var out []ScreenPair
		for i := range n {
			out = append(out, ScreenPair{float64(i) - 1.5, f(i)})
		}
		return out
	}
	for name, x := range map[string]struct {
		pairs   []ScreenPair
		scores  bool
		agree   int
		verdict string
		says    string
	}{
		"none":                 {verdict: FidelityFew, says: "no idea has both a screen and a full run"},
		"one":                  {pairs: line(1, func(int) float64 { return 1 }), verdict: FidelityFew, says: "1 idea has"},
		"two":                  {pairs: line(2, func(i int) float64 { return float64(i) }), agree: 1, verdict: FidelityFew, says: "2 ideas have"},
		"three in order":       {pairs: line(3, func(i int) float64 { return float64(i) - 1.5 }), agree: 3, verdict: FidelityUnsure, says: "signs agree in 3 of 3, rank correlation 1.00. As good an order comes about by chance in 17 of 100."},
		"six in order":         {pairs: line(6, func(i int) float64 { return float64(i) - 1.5 }), agree: 6, verdict: FidelityYes, says: "Yes: signs agree in 6 of 6, rank correlation 1.00, over 6 ideas."},
		"upside down":          {pairs: line(6, func(i int) float64 { return 1.5 - float64(i) }), agree: 0, verdict: FidelityNo, says: "poor proxy"},
		"in order, wrong sign": {pairs: line(6, func(i int) float64 { return float64(i) - 9 }), agree: 2, verdict: FidelityNo, says: "signs agree in 2 of 6"},
		"as scores":            {pairs: line(6, func(i int) float64 { return float64(i) - 9 }), scores: true, agree: 2, verdict: FidelityYes, says: "Yes: rank correlation 1.00, over 6 ideas."},
		"all the same":         {pairs: line(4, func(int) float64 { return 1 }), agree: 2, verdict: FidelityUnsure, says: "nothing to rank"},
	} {
		got := Fidelity(x.pairs, !x.scores)
		if got.N != len(x.pairs) || got.Agree != x.agree || got.Verdict != x.verdict || !strings.Contains(got.Text, x.says) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A difference that is none is called beyond the noise at most once in twenty times, whichever noise the bar is made of, and one
// that is large is found.
func TestNoiseIsSeldomCalledAGain(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 4))
	const trials = 4000
	for name, x := range map[string]struct {
		folds int
		noise func() SeedNoise
	}{
		"three folds": {3, func() SeedNoise { return SeedNoise{} }},
		"five folds":  {5, func() SeedNoise { return SeedNoise{} }},
		"one fold, the noise from three seeds": {1, func() SeedNoise {
			return SeedNoiseOf([][]float64{{.01 * r.NormFloat64(), .01 * r.NormFloat64(), .01 * r.NormFloat64()}})
		}},
		"five folds and seeds": {5, func() SeedNoise {
			return SeedNoiseOf([][]float64{{.01 * r.NormFloat64(), .01 * r.NormFloat64()}, {.01 * r.NormFloat64(), .01 * r.NormFloat64()}})
		}},
	} {
		count := func(gain float64) int {
			beyond := 0
			for range trials {
				own, base := FoldScores{ByFold: map[int]float64{}}, FoldScores{ByFold: map[int]float64{}}
				for k := range x.folds {
					fold := .8 + .03*r.NormFloat64() // folds differ by more than ideas do
					own.ByFold[k], base.ByFold[k] = fold+gain+.01*r.NormFloat64(), fold+.01*r.NormFloat64()
				}
				if CompareFolds(own, base, true, x.noise()).Verdict == BeyondNoise {
					beyond++
				}
			}
			return beyond
		}
		if n := count(0); n > trials*6/100 {
			t.Errorf("%s: %d of %d differences that are none are beyond the noise", name, n, trials)
		}
		if n := count(.3); n < trials*9/10 {
			t.Errorf("%s: only %d of %d large gains are found", name, n, trials)
		}
	}
}
