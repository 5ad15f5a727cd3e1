package planner

import (
	"math"
	"slices"
)

// ExpectedImprovement is what a run with an uncertain gain is worth when only an improvement is kept: the mean of the
// positive part of a normal gain, mu Phi(mu/sd) + sd phi(mu/sd).
func ExpectedImprovement(mu, sd float64) float64 {
	if sd <= 0 {
		return max(mu, 0)
	}
	z := mu / sd
	return max(0, mu*NormalCDF(z)+sd*normalDensity(z))
}

// ShrinkGain is the gain to believe in after an observed one with standard error se, when gains of such ideas vary by tau
// around nothing: tau^2 / (tau^2 + se^2) x observed.
func ShrinkGain(tau, se, observed float64) float64 {
	if tau <= 0 {
		return 0
	}
	return tau * tau / (tau*tau + se*se) * observed
}

// PrunedCost is the share of their full cost that runs take when share q of them is pruned after share f of its run.
func PrunedCost(q, f float64) float64 {
	q, f = min(max(q, 0), 1), min(max(f, 0), 1)
	return 1 - q + q*f
}

// PairedTest is a test of paired differences against no difference.
type PairedTest struct {
	N        int
	Mean, SD float64 // of the differences; SD with n-1
	SE       float64
	Stat     float64 // t or z: Mean / SE
	DF       float64 // 0: normal
	P        float64 // two-sided
	POne     float64 // one-sided: the chance of so large a gain when there is none
}

// PairedT is the plain t-test over folds. Folds share most of their training data, so it calls too much an improvement:
// use [CorrectedT].
func PairedT(diffs []float64) (PairedTest, bool) { return foldTest(diffs, 0) }

// CorrectedT is the t-test over K folds with the correction for training sets that overlap (Nadeau and Bengio 1999):
// SE = s sqrt(1/K + 1/(K-1)), K-1 degrees of freedom.
func CorrectedT(diffs []float64) (PairedTest, bool) {
	return foldTest(diffs, 1/float64(max(len(diffs)-1, 1)))
}

func foldTest(diffs []float64, extra float64) (PairedTest, bool) {
	n := len(diffs)
	if n < 2 {
		return PairedTest{N: n}, false
	}
	t := PairedTest{N: n, DF: float64(n - 1)}
	t.Mean, t.SD = meanSD(diffs)
	t.SE = t.SD * math.Sqrt(1/float64(n)+extra)
	t.Stat = ratio(t.Mean, t.SE)
	t.POne = TCDF(-t.Stat, t.DF)
	t.P = 2 * TCDF(-math.Abs(t.Stat), t.DF)
	return t, true
}

// PairedZ is the test over many rows of out-of-fold predictions: the mean of the rows' gains against its standard error,
// normal. Rows of one group (a patient, a user) are not independent; sum them to one difference a group first.
func PairedZ(diffs []float64) (PairedTest, bool) {
	mean, sd := meanSD(diffs)
	return PairedZOf(len(diffs), mean, sd)
}

// PairedZOf is the same from the number, the mean and the standard deviation of the differences.
func PairedZOf(n int, mean, sd float64) (PairedTest, bool) {
	if n < 2 {
		return PairedTest{N: n}, false
	}
	return normalTest(n, mean, sd, sd/math.Sqrt(float64(n))), true
}

// WithSeedNoise widens a test by what two trainings with other seeds differ by: SE = sqrt(SE^2 + 2 sigma^2), because both
// sides were trained once.
func (t PairedTest) WithSeedNoise(sigma float64) PairedTest {
	return normalTest(t.N, t.Mean, t.SD, math.Sqrt(t.SE*t.SE+2*sigma*sigma))
}

func normalTest(n int, mean, sd, se float64) PairedTest {
	t := PairedTest{N: n, Mean: mean, SD: sd, SE: se, Stat: ratio(mean, se)}
	t.POne = NormalCDF(-t.Stat)
	t.P = 2 * NormalCDF(-math.Abs(t.Stat))
	return t
}

// ratio is mean/se, with a certain gain infinite and nothing at all 0.
func ratio(mean, se float64) float64 {
	if se == 0 {
		if mean == 0 {
			return 0
		}
		return math.Inf(int(math.Copysign(1, mean)))
	}
	return mean / se
}

func meanSD(x []float64) (mean, sd float64) {
	if len(x) == 0 {
		return 0, 0
	}
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	for _, v := range x {
		sd += (v - mean) * (v - mean)
	}
	if len(x) > 1 {
		sd = math.Sqrt(sd / float64(len(x)-1))
	}
	return mean, sd
}

// Judgements of a screen.
const (
	VerdictPromote    = "promote"     // z of 2 or more: run all folds
	VerdictSecondSeed = "second seed" // positive and under 2: another fold or seed tells more than dropping it
	VerdictDrop       = "drop"        // no gain
)

// Judge says what follows from a screen's test.
func Judge(t PairedTest) string {
	switch {
	case t.Mean <= 0:
		return VerdictDrop
	case t.Stat >= 2:
		return VerdictPromote
	}
	return VerdictSecondSeed
}

// WinsTest is a sign test.
type WinsTest struct {
	Wins, Losses int
	Z            float64 // (wins - losses) / sqrt(wins + losses)
	P            float64 // exact, two-sided
	MidP         float64 // with half the weight of what was observed: less cautious, closer to its name on average
	POne         float64 // exact, one-sided
}

// Wins compares how often one side was better; ties are left out.
func Wins(wins, losses int) WinsTest {
	w := WinsTest{Wins: wins, Losses: losses}
	n := wins + losses
	if n <= 0 || wins < 0 || losses < 0 {
		w.P, w.MidP, w.POne = 1, 1, 1
		return w
	}
	w.Z = float64(wins-losses) / math.Sqrt(float64(n))
	chance := func(k int) float64 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		return math.Exp(a - b - c - float64(n)*math.Ln2)
	}
	tail := func(k int) float64 { // k or more
		sum := 0.0
		for i := k; i <= n; i++ {
			sum += chance(i)
		}
		return min(sum, 1)
	}
	k := max(wins, losses)
	w.P = min(1, 2*tail(k))
	w.MidP = min(1, 2*(tail(k)-chance(k)/2))
	w.POne = tail(wins)
	return w
}

// exactSigns is the number of differences up to which all sign patterns are counted.
const exactSigns = 20

// SignFlip is the chance that the mean of the differences is at least as large when each sign is as likely as the other:
// exact for up to 20 differences, normal beyond. One-sided. For K folds it is never below 2^-K: three folds prove nothing.
func SignFlip(diffs []float64) float64 {
	return flip(diffs)
}

// SignedRank is Wilcoxon's signed-rank test, one-sided: the same with the ranks of the sizes in place of the sizes, so that
// one large difference does not decide. Zeros are left out, ties share their rank.
func SignedRank(diffs []float64) float64 {
	kept := slices.DeleteFunc(slices.Clone(diffs), func(d float64) bool { return d == 0 })
	ranks := make([]float64, len(kept))
	for i, d := range kept {
		below, same := 0, 0
		for _, e := range kept {
			switch {
			case math.Abs(e) < math.Abs(d):
				below++
			case math.Abs(e) == math.Abs(d):
				same++
			}
		}
		ranks[i] = math.Copysign(float64(below)+float64(same+1)/2, d)
	}
	return flip(ranks)
}

func flip(values []float64) float64 {
	if len(values) == 0 {
		return 1
	}
	observed, squares := 0.0, 0.0
	for _, v := range values {
		observed += v
		squares += v * v
	}
	if len(values) > exactSigns {
		return NormalCDF(-ratio(observed, math.Sqrt(squares)))
	}
	tolerance := 1e-12 * math.Sqrt(squares)
	count := 0
	for set := range 1 << len(values) {
		sum := 0.0
		for i, v := range values {
			if set>>i&1 == 1 {
				sum += math.Abs(v)
			} else {
				sum -= math.Abs(v)
			}
		}
		if sum >= observed-tolerance {
			count++
		}
	}
	return float64(count) / float64(int(1)<<len(values))
}

// CurveLimit extrapolates a learning curve from its scores at t, 2t and 4t, for curves that close in by a power of time,
// y = limit - a t^-exponent: limit = (y1 y4 - y2^2) / (y1 + y4 - 2 y2). ok is false when the three do not close in.
func CurveLimit(y1, y2, y4 float64) (limit, exponent float64, ok bool) {
	first, second := y2-y1, y4-y2
	if first == 0 || second/first <= 0 || second/first >= 1 {
		return 0, 0, false
	}
	limit = (y1*y4 - y2*y2) / (y1 + y4 - 2*y2)
	return limit, math.Log2(first / second), true
}
