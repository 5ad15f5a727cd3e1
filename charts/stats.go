package charts

import (
	"image/color"
	"math"
	"sort"
	"strconv"
)

type colorNRGBA = color.NRGBA

// grid is how many places a mean over curves is computed at.
const grid = 160

type bounds struct {
	x0, x1, y0, y1 float64
	ok             bool
}

func boundsOf(sets ...[][]Point) bounds {
	var b bounds
	for _, set := range sets {
		for _, pts := range set {
			for _, pt := range pts {
				b.add(pt)
			}
		}
	}
	return b
}

func (b *bounds) add(pt Point) {
	if !finite(pt.X) || !finite(pt.Y) {
		return
	}
	if !b.ok {
		*b = bounds{pt.X, pt.X, pt.Y, pt.Y, true}
		return
	}
	b.x0, b.x1 = math.Min(b.x0, pt.X), math.Max(b.x1, pt.X)
	b.y0, b.y1 = math.Min(b.y0, pt.Y), math.Max(b.y1, pt.Y)
}

// spreadOf gives the mean of several curves and one standard deviation either side of it, over the stretch that all of them cover,
// so that a curve which ends early never makes the mean jump.
func spreadOf(curves [][]Point) (mean, lo, hi []Point) {
	from, to := math.Inf(-1), math.Inf(1)
	var use [][]Point
	for _, c := range curves {
		c = cleanSorted(c)
		if len(c) == 0 {
			continue
		}
		use = append(use, c)
		from, to = math.Max(from, c[0].X), math.Min(to, c[len(c)-1].X)
	}
	if len(use) == 0 || from > to {
		return nil, nil, nil
	}
	n := grid
	if from == to {
		n = 1
	}
	values := make([]float64, len(use))
	for i := range n {
		x := from
		if n > 1 {
			x = from + (to-from)*float64(i)/float64(n-1)
		}
		for j, c := range use {
			values[j] = interpolate(c, x)
		}
		m, sd := avg(values), deviation(values)
		mean = append(mean, Point{x, m})
		lo, hi = append(lo, Point{x, m - sd}), append(hi, Point{x, m + sd})
	}
	return mean, lo, hi
}

// meanOf is the mean of several curves; of a single one it is the curve itself, gaps and all.
func meanOf(curves [][]Point) []Point {
	if len(curves) == 1 {
		return curves[0]
	}
	mean, _, _ := spreadOf(curves)
	return mean
}

// snug gives the round values inside a range and the range itself, which reaches a twentieth of the data's height beyond the data:
// an axis that need not start at a round value leaves no empty room.
func snug(lo, hi float64) (ticks []float64, y0, y1 float64) {
	lo, hi = widen(lo, hi)
	y0, y1 = lo-(hi-lo)/20, hi+(hi-lo)/20
	exp := math.Floor(math.Log10((y1 - y0) / MaxTicks))
	for ; ; exp++ {
		for _, m := range []float64{1, 2, 2.5, 5} {
			step := m * math.Pow(10, exp)
			first, last := math.Ceil(y0/step), math.Floor(y1/step)
			if n := int(last-first) + 1; n > MaxTicks {
				continue
			} else if n < 2 { // no step fits inside: let the outer ticks be the range
				t := Ticks(lo, hi, MaxTicks)
				return t, t[0], t[len(t)-1]
			}
			for i := first; i <= last; i++ {
				ticks = append(ticks, roundTo(i*step, step))
			}
			return ticks, y0, y1
		}
	}
}

// cleanSorted drops gaps and sorts by X.
func cleanSorted(c []Point) []Point {
	out := make([]Point, 0, len(c))
	for _, p := range c {
		if finite(p.X) && finite(p.Y) {
			out = append(out, p)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].X < out[j].X })
	return out
}

// interpolate reads a sorted line at x, which must be within it.
func interpolate(c []Point, x float64) float64 {
	i := sort.Search(len(c), func(i int) bool { return c[i].X >= x })
	switch {
	case i == len(c):
		return c[len(c)-1].Y
	case i == 0 || c[i].X == x:
		return c[i].Y
	}
	a, b := c[i-1], c[i]
	return a.Y + (b.Y-a.Y)*(x-a.X)/(b.X-a.X)
}

func lastFinite(pts []Point) (Point, bool) {
	for i := len(pts) - 1; i >= 0; i-- {
		if finite(pts[i].X) && finite(pts[i].Y) {
			return pts[i], true
		}
	}
	return Point{}, false
}

func avg(v []float64) float64 {
	var s float64
	for _, x := range v {
		s += x / float64(len(v))
	}
	return s
}

// deviation is the sample standard deviation; 0 for fewer than two values.
func deviation(v []float64) float64 {
	if len(v) < 2 {
		return 0
	}
	m, s := avg(v), 0.0
	for _, x := range v {
		s += (x - m) / float64(len(v)-1) * (x - m)
	}
	if sd := math.Sqrt(s); finite(sd) {
		return sd
	}
	return 0
}

// formatSpread writes a deviation with two significant digits.
func formatSpread(v float64) string {
	if v >= 1e4 || v < 1e-4 {
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', max(0, 1-int(math.Floor(math.Log10(v)))), 64)
}

func tickText(ticks []float64) func(float64) string {
	step := 1.0
	if len(ticks) > 1 {
		step = ticks[1] - ticks[0]
	}
	return func(v float64) string { return FormatTick(v, step) }
}

func widest(p *plot, ticks []float64, text func(float64) string) float64 {
	w := 0.0
	for _, t := range ticks {
		w = math.Max(w, p.width(text(t), p.st.Font))
	}
	return w
}

// num writes a number for CSV; a gap is an empty field.
func num(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
