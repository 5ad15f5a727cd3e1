package charts

import (
	"math"
	"strconv"
	"strings"
)

// MaxTicks is the most labelled values an axis has.
const MaxTicks = 5

// huge bounds what is drawn: beyond it the arithmetic of an axis would overflow, so such a value is a gap.
const huge = 1e300

func finite(v float64) bool { return v > -huge && v < huge } // false for NaN

// Ticks gives at most n (at least 2) evenly spaced round values that cover lo to hi: the first is at or below lo, the last at or
// above hi. Round means 1, 2, 2.5 or 5 times a power of ten apart. A range without width, or one too narrow for its magnitude,
// is widened first.
func Ticks(lo, hi float64, n int) []float64 {
	if !finite(lo) || !finite(hi) {
		lo, hi = 0, 1
	}
	if lo > hi {
		lo, hi = hi, lo
	}
	n = max(n, 2)
	lo, hi = widen(lo, hi)
	exp := math.Floor(math.Log10((hi - lo) / float64(n-1)))
	for ; ; exp++ {
		for _, m := range []float64{1, 2, 2.5, 5} {
			step := m * math.Pow(10, exp)
			first, last := math.Floor(lo/step+1e-9), math.Ceil(hi/step-1e-9)
			if count := int(last-first) + 1; count <= n && count >= 2 {
				out := make([]float64, count)
				for i := range out {
					out[i] = roundTo((first+float64(i))*step, step)
				}
				return out
			}
		}
	}
}

// widen gives a range some width, in proportion to its values.
func widen(lo, hi float64) (float64, float64) {
	size := math.Max(math.Abs(lo), math.Abs(hi))
	if hi-lo > size*1e-9 && hi > lo {
		return lo, hi
	}
	if size < 1e-290 {
		return lo - 0.5, hi + 0.5
	}
	return lo - size*0.05, hi + size*0.05
}

// roundTo removes the noise that a multiplication leaves behind the last meaningful digit of a multiple of step.
func roundTo(v, step float64) float64 {
	digits := int(math.Ceil(-math.Log10(step))) + 2
	if digits < 0 || digits > 15 {
		return v
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', digits, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// FormatTick writes a tick value with as many decimals as its step needs, and in powers of ten where plain digits would be long.
func FormatTick(v, step float64) string {
	step = math.Abs(step)
	if v == 0 || math.Abs(v) < step*1e-9 {
		return "0"
	}
	if math.Abs(v) >= 1e6 || (step > 0 && step < 1e-5) {
		s := strconv.FormatFloat(v, 'e', 2, 64)
		mant, exp, _ := strings.Cut(s, "e")
		if strings.Contains(mant, ".") {
			mant = strings.TrimRight(strings.TrimRight(mant, "0"), ".")
		}
		sign := ""
		if strings.HasPrefix(exp, "-") {
			sign = "-"
		}
		return mant + "e" + sign + strings.TrimLeft(exp, "+-0")
	}
	decimals := 0
	for s := step; decimals < 6 && s > 0 && math.Abs(s-math.Round(s)) > 1e-6*s; decimals++ {
		s *= 10
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// formatValue writes a measured value for a label: four significant digits at most past the point, never noise.
func formatValue(v float64) string {
	a := math.Abs(v)
	switch {
	case !finite(v):
		return "—"
	case a != 0 && (a >= 1e6 || a < 1e-4):
		return FormatTick(v, 1e-6)
	case a >= 1000:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 2, 64)
	default:
		return strconv.FormatFloat(v, 'f', 4, 64)
	}
}
