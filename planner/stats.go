package planner

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// The prior of the spread of run times: before anything is known, two runs of the same job on the same kind of machine
// differ by some 15 % (standard deviation of the logarithm), and that belief weighs as much as four degrees of freedom.
// Ours, chosen so that the bound of a single run lies at 1.4 (90 %) to 1.6 (95 %) times its time.
const (
	priorSD = 0.15
	priorDF = 4.0
)

// NormalCDF is the standard normal distribution function.
func NormalCDF(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

// NormalQuantile is its inverse; p from 0 to 1.
func NormalQuantile(p float64) float64 {
	switch {
	case math.IsNaN(p) || p < 0 || p > 1:
		return math.NaN()
	case p == 0:
		return math.Inf(-1)
	case p == 1:
		return math.Inf(1)
	}
	return mathext.NormalQuantile(p)
}

func normalDensity(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }

// TCDF is the distribution function of Student's t with df degrees of freedom.
func TCDF(t, df float64) float64 {
	if math.IsNaN(t) || math.IsNaN(df) || df <= 0 {
		return math.NaN()
	}
	if math.IsInf(t, 0) {
		return NormalCDF(t)
	}
	tail := 0.5 * mathext.RegIncBeta(df/2, 0.5, df/(df+t*t))
	if t > 0 {
		return 1 - tail
	}
	return tail
}

// TQuantile is the p-quantile of Student's t with df degrees of freedom, p from 0 to 1.
func TQuantile(p, df float64) float64 {
	switch {
	case math.IsNaN(p) || p < 0 || p > 1 || math.IsNaN(df) || df <= 0:
		return math.NaN()
	case p == 0.5:
		return 0
	case p == 0:
		return math.Inf(-1)
	case p == 1:
		return math.Inf(1)
	case p < 0.5:
		return -TQuantile(1-p, df)
	}
	x := mathext.InvRegIncBeta(df/2, 0.5, 2*(1-p))
	return math.Sqrt(df * (1 - x) / x)
}

// logMoments are the number, the mean and the standard deviation (n-1) of the logarithms of the positive values in hours.
// sd is 0 for fewer than two.
func logMoments(hours []float64) (n int, mean, sd float64) {
	var sum, squares float64
	for _, h := range hours {
		if h > 0 && !math.IsInf(h, 1) {
			n++
			sum += math.Log(h)
		}
	}
	if n == 0 {
		return 0, 0, 0
	}
	mean = sum / float64(n)
	for _, h := range hours {
		if h > 0 && !math.IsInf(h, 1) {
			d := math.Log(h) - mean
			squares += d * d
		}
	}
	if n > 1 {
		sd = math.Sqrt(squares / float64(n-1))
	}
	return n, mean, sd
}

// UpperBound is the time that the next run stays under with chance p, from the times of at least two runs alone: the
// prediction bound of a log-normal, exp(m + t(p, n-1) s sqrt(1 + 1/n)) (as in the manual of EnvStats' predIntLnorm). Of
// fewer than two positive times nothing follows, and ok is false.
func UpperBound(hours []float64, p float64) (bound float64, ok bool) {
	n, m, s := logMoments(hours)
	if n < 2 || !(p > 0 && p < 1) {
		return 0, false
	}
	return math.Exp(m + TQuantile(p, float64(n-1))*s*math.Sqrt(1+1/float64(n))), true
}

// ShrunkUpper is the same bound with the spread shrunk towards the prior of 15 %, which makes it usable from one run on:
// s_p^2 = (4 x 0.15^2 + (n-1) s^2) / (4 + n-1) with 4 + n-1 degrees of freedom.
func ShrunkUpper(hours []float64, p float64) (bound float64, ok bool) {
	n, m, s := logMoments(hours)
	if n < 1 || !(p > 0 && p < 1) {
		return 0, false
	}
	sp, df := shrunkSD(n, s)
	return math.Exp(m + TQuantile(p, df)*sp*math.Sqrt(1+1/float64(n))), true
}

func shrunkSD(n int, s float64) (sd, df float64) {
	df = priorDF + float64(n-1)
	return math.Sqrt((priorDF*priorSD*priorSD + float64(n-1)*s*s) / df), df
}

// MaxCoverage is the chance that the next run takes no longer than the longest of n earlier ones, whatever the
// distribution: n/(n+1).
func MaxCoverage(n int) float64 {
	if n < 1 {
		return 0
	}
	return float64(n) / float64(n+1)
}

// InTime is the chance that something whose time is log-normal with this median and standard deviation of the logarithm
// is over within h hours. A spread of 0 is certainty.
func InTime(h, median, sd float64) float64 {
	switch {
	case h <= 0 || median <= 0:
		return 0
	case sd <= 0:
		if median <= h {
			return 1
		}
		return 0
	}
	return NormalCDF((math.Log(h) - math.Log(median)) / sd)
}
