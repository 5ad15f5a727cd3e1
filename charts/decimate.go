package charts

import "math"

// Decimate reduces a line to at most four points a pixel column: the first, the lowest, the highest and the last of the column,
// in their order. Drawn with px pixels between from and to it looks the same as the whole. Points must be sorted by X. A
// non-finite point is kept, once in a row, as a gap; points outside the range are kept too.
func Decimate(points []Point, from, to float64, px int) []Point {
	if px < 1 || len(points) <= 2*px || !(to > from) {
		return points
	}
	out := make([]Point, 0, 4*px)
	perX := float64(px) / (to - from)
	start := 0
	flush := func(end int) {
		if end > start {
			out = appendExtremes(out, points[start:end])
		}
		start = end
	}
	column := math.NaN()
	for i, p := range points {
		if !finite(p.X) || !finite(p.Y) {
			flush(i)
			if n := len(out); n > 0 && finite(out[n-1].Y) && finite(out[n-1].X) {
				out = append(out, Point{p.X, math.NaN()})
			}
			start, column = i+1, math.NaN()
			continue
		}
		if c := math.Floor((p.X - from) * perX); c != column {
			flush(i)
			column = c
		}
	}
	flush(len(points))
	return out
}

func appendExtremes(out, col []Point) []Point {
	lo, hi := 0, 0
	for i, p := range col {
		if p.Y < col[lo].Y {
			lo = i
		}
		if p.Y > col[hi].Y {
			hi = i
		}
	}
	last := -1
	for _, i := range []int{0, min(lo, hi), max(lo, hi), len(col) - 1} {
		if i > last {
			out = append(out, col[i])
			last = i
		}
	}
	return out
}
