package planner

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// What a gain is beside the noise it was measured with.
const (
	BeyondNoise = "beyond the noise"
	WithinNoise = "within the noise"
	TooFewFolds = "too few folds"
)

// What follows from a comparison.
const (
	AdviceKeep       = "keep"        // a gain beyond the noise
	AdviceSecondSeed = "second seed" // a gain within it
	AdviceMoreFolds  = "more folds"  // a gain, and nothing to hold it against
	AdviceNoGain     = "no gain"     // none was seen, and it may be chance
	AdviceDrop       = "drop"        // worse beyond the noise
)

// leastFolds is from how many folds on their differences tell noise from gain. Two differences have a spread with one degree of
// freedom, whose 95 % bound is thirteen of it.
const leastFolds = 3

// noiseLevel is the two-sided confidence of a noise bar.
const noiseLevel = 0.95

// SeedNoise is what one training's score differs by when nothing but the seed does.
type SeedNoise struct {
	SD float64 // standard deviation of one training on one fold, score units
	DF int     // degrees of freedom that it was measured with; 0 = not known
}

// SeedNoiseOf pools it from groups of scores: one idea on one fold, each score under another seed. Fewer than two degrees of
// freedom (one fold under three seeds, two folds under two) say next to nothing, and then it is not known.
func SeedNoiseOf(groups [][]float64) SeedNoise {
	var squares float64
	df := 0
	for _, g := range groups {
		if len(g) < 2 {
			continue
		}
		_, sd := meanSD(g)
		squares += sd * sd * float64(len(g)-1)
		df += len(g) - 1
	}
	if df < 2 {
		return SeedNoise{}
	}
	return SeedNoise{SD: math.Sqrt(squares / float64(df)), DF: df}
}

// FoldScores are scores by fold. Seeds is how many trainings each is the mean of; 0 counts as 1.
type FoldScores struct {
	ByFold map[int]float64
	Seeds  int
}

// FoldGain is one fold that both sides measured. Gain is above zero when the own side is better, whatever the metric's direction.
type FoldGain struct {
	Fold            int
	Own, Base, Gain float64
}

// Comparison is one side against another over the folds that both measured.
type Comparison struct {
	Folds             []FoldGain // common to both, by fold
	OnlyOwn, OnlyBase []int      // measured by one side only, and left out
	Better            int        // folds with a gain above zero
	Mean              float64    // gain; 0 without a common fold
	HasBar            bool       // false: nothing tells how far off the mean may be
	Low, High         float64    // 95 % interval of the gain
	Source            string     // what the bar is made of: "folds", "seeds"; "" without one
	Stat              float64    // Mean in standard errors
	P                 float64    // two-sided chance of so large a difference when there is none; 1 without a bar
	Verdict           string
	Advice            string
}

// CompareFolds pairs two sides fold by fold. Folds differ among themselves far more than two ideas do on one fold, so only the
// differences count; and since folds share most of their training data their standard error is the corrected one ([CorrectedT]).
// Where the seeds' noise is known the bar is at least that wide, and it alone judges fewer than three folds: both sides were
// trained with some seed, so SE = SD sqrt((1/seeds + 1/seeds') / folds). A gain is beyond the noise when its 95 % interval leaves
// out zero and more than half of the folds go its way.
func CompareFolds(own, base FoldScores, greater bool, noise SeedNoise) Comparison {
	c := Comparison{P: 1, Verdict: TooFewFolds}
	var diffs []float64
	for k, x := range own.ByFold {
		y, ok := base.ByFold[k]
		switch {
		case !isNumber(x):
		case !ok || !isNumber(y):
			c.OnlyOwn = append(c.OnlyOwn, k)
		default:
			c.Folds = append(c.Folds, FoldGain{k, x, y, signed(x-y, greater)})
		}
	}
	for k, y := range base.ByFold {
		if x, ok := own.ByFold[k]; isNumber(y) && (!ok || !isNumber(x)) {
			c.OnlyBase = append(c.OnlyBase, k)
		}
	}
	slices.Sort(c.OnlyOwn)
	slices.Sort(c.OnlyBase)
	slices.SortFunc(c.Folds, func(a, b FoldGain) int { return cmp.Compare(a.Fold, b.Fold) })
	worse := 0
	for _, f := range c.Folds {
		diffs = append(diffs, f.Gain)
		if f.Gain > 0 {
			c.Better++
		} else if f.Gain < 0 {
			worse++
		}
	}
	c.Mean, _ = meanSD(diffs)
	c.bar(diffs, own.Seeds, base.Seeds, noise)
	if c.HasBar {
		c.Verdict = WithinNoise
		most := c.Better
		if c.Mean < 0 {
			most = worse
		}
		if (c.Low > 0 || c.High < 0) && 2*most > len(diffs) {
			c.Verdict = BeyondNoise
		}
	}
	c.Advice = c.advice()
	return c
}

// isNumber says whether a score is one: a diverged training leaves NaN or an infinity.
func isNumber(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// bar takes the wider of the intervals there are.
func (c *Comparison) bar(diffs []float64, ownSeeds, baseSeeds int, noise SeedNoise) {
	half := -1.0
	take := func(source string, se, df float64) {
		q := TQuantile(0.5+noiseLevel/2, df)
		if h := q * se; h > half {
			half = h
			c.HasBar, c.Source, c.Low, c.High = true, source, c.Mean-h, c.Mean+h
			c.Stat = ratio(c.Mean, se)
			c.P = 2 * TCDF(-math.Abs(c.Stat), df)
		}
	}
	if t, ok := CorrectedT(diffs); ok && t.N >= leastFolds {
		take("folds", t.SE, t.DF)
	}
	if noise.DF > 0 && len(diffs) > 0 {
		var1 := 1/float64(max(ownSeeds, 1)) + 1/float64(max(baseSeeds, 1))
		take("seeds", noise.SD*math.Sqrt(var1/float64(len(diffs))), float64(noise.DF))
	}
}

func (c Comparison) advice() string {
	switch {
	case len(c.Folds) == 0:
		return AdviceMoreFolds
	case c.Mean <= 0 && c.Verdict == BeyondNoise:
		return AdviceDrop
	case c.Mean <= 0:
		return AdviceNoGain
	case c.Verdict == BeyondNoise:
		return AdviceKeep
	case c.Verdict == TooFewFolds:
		return AdviceMoreFolds
	}
	return AdviceSecondSeed
}

// Judgements of how truly screens rank ideas.
const (
	FidelityYes    = "yes"
	FidelityNo     = "no"
	FidelityUnsure = "not clear yet"
	FidelityFew    = "too few"
)

// Bounds of a screen that is worth believing, as in the protocol: the sign of the gain agrees in seven of ten, the ranks correlate
// by one half.
const (
	leastIdeas     = 3
	leastAgreement = 0.70
	leastRank      = 0.50
	mostChance     = 0.05 // of ranks that agree as well by luck
)

// ScreenPair is one idea that was screened and run in full. Higher is better on both.
type ScreenPair struct{ Screen, Full float64 }

// ScreenFidelity says how far short runs can be trusted to rank ideas as full ones do.
type ScreenFidelity struct {
	N       int
	Agree   int     // ideas whose gain has the same sign on both; meaningless for scores
	Rank    float64 // Spearman's correlation; NaN when one side is constant or N < 2
	P       float64 // one-sided chance of ranks that agree as well by luck; 1 when Rank is NaN
	Verdict string
	Text    string // in one or two sentences
}

// Fidelity compares screens with full runs. gains says that the pairs are gains against a control and a baseline, whose signs mean
// something; scores are ranked only.
func Fidelity(pairs []ScreenPair, gains bool) ScreenFidelity {
	f := ScreenFidelity{N: len(pairs), P: 1, Rank: math.NaN(), Verdict: FidelityFew}
	var x, y []float64
	for _, p := range pairs {
		x, y = append(x, p.Screen), append(y, p.Full)
		if (p.Screen > 0) == (p.Full > 0) {
			f.Agree++
		}
	}
	f.Rank, f.P = Spearman(x, y)
	if f.N < leastIdeas {
		f.Text = fmt.Sprintf("Too few to tell: %s both a screen and a full run, and %d are needed.", haveIdeas(f.N), leastIdeas)
		return f
	}
	signs := ""
	if gains {
		signs = fmt.Sprintf("signs agree in %d of %d, ", f.Agree, f.N)
	}
	if math.IsNaN(f.Rank) {
		f.Verdict = FidelityUnsure
		f.Text = "Not clear: " + signs + "and one side is the same for all of them, so there is nothing to rank."
		return f
	}
	figures := fmt.Sprintf("%srank correlation %.2f", signs, f.Rank)
	switch {
	case f.Rank < leastRank || gains && float64(f.Agree) < leastAgreement*float64(f.N):
		f.Verdict = FidelityNo
		f.Text = "No, they are a poor proxy: " + figures + ". Screen on two folds, with closer settings, or under two seeds."
	case f.P > mostChance:
		f.Verdict = FidelityUnsure
		f.Text = fmt.Sprintf("It looks so, over %d ideas: %s. As good an order comes about by chance in %.0f of 100.", f.N, figures, math.Max(100*f.P, 1))
	default:
		f.Verdict = FidelityYes
		f.Text = "Yes: " + figures + fmt.Sprintf(", over %d ideas.", f.N)
	}
	return f
}

func haveIdeas(n int) string {
	switch n {
	case 0:
		return "no idea has"
	case 1:
		return "1 idea has"
	}
	return fmt.Sprintf("%d ideas have", n)
}

// exactRanks is the number of pairs up to which all orders are counted: 7! = 5040.
const exactRanks = 7

// Spearman is the correlation of ranks, ties sharing theirs, and the one-sided chance that independent orders correlate as well:
// exact for up to seven pairs, by Student's t beyond. rho is NaN when one side is constant or there are fewer than two pairs.
func Spearman(x, y []float64) (rho, p float64) {
	n := min(len(x), len(y))
	rx, ry := ranks(x[:n]), ranks(y[:n])
	rho = pearson(rx, ry)
	if math.IsNaN(rho) {
		return rho, 1
	}
	if n > exactRanks {
		if rho >= 1 {
			return rho, 0
		}
		return rho, 1 - TCDF(rho*math.Sqrt(float64(n-2)/(1-rho*rho)), float64(n-2))
	}
	all, good := 0, 0
	permute(ry, 0, func() {
		all++
		if pearson(rx, ry) >= rho-1e-12 {
			good++
		}
	})
	return rho, float64(good) / float64(all)
}

// ranks are 1 for the smallest; equal values share the mean of their ranks.
func ranks(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, a := range v {
		below, same := 0, 0
		for _, b := range v {
			if b < a {
				below++
			} else if b == a {
				same++
			}
		}
		out[i] = float64(below) + float64(same+1)/2
	}
	return out
}

func pearson(x, y []float64) float64 {
	mx, sx := meanSD(x)
	my, sy := meanSD(y)
	if len(x) < 2 || sx == 0 || sy == 0 {
		return math.NaN()
	}
	sum := 0.0
	for i := range x {
		sum += (x[i] - mx) / sx * (y[i] - my) / sy
	}
	return math.Max(-1, math.Min(1, sum/float64(len(x)-1)))
}

// permute calls f with each order of v from place i on, and leaves v as it was.
func permute(v []float64, i int, f func()) {
	if i >= len(v)-1 {
		f()
		return
	}
	for j := i; j < len(v); j++ {
		v[i], v[j] = v[j], v[i]
		permute(v, i+1, f)
		v[i], v[j] = v[j], v[i]
	}
}
