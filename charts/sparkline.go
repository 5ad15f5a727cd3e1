package charts

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
)

// Sparkline is a small line without axes, for a table row.
type Sparkline struct {
	Ink    Ink
	Name   string // what it shows, for Describe
	Values []float64
	Lo, Hi float64 // the range; both 0 = that of the values
}

func (c Sparkline) points() []Point {
	out := make([]Point, len(c.Values))
	for i, v := range c.Values {
		out[i] = Point{float64(i), v}
	}
	return out
}

// Empty implements Chart.
func (c Sparkline) Empty() bool { return !boundsOf([][]Point{c.points()}).ok }

// Draw implements Chart.
func (c Sparkline) Draw(w, h int, st Style) *Picture {
	pts := c.points()
	b := boundsOf([][]Point{pts})
	p := newPlot(w, h, st)
	if p == nil || !b.ok {
		return emptyPicture(w, h, st)
	}
	lo, hi := c.Lo, c.Hi
	if lo >= hi {
		lo, hi = widen(b.y0, b.y1)
	}
	pad := 3 * p.u
	if !p.area(pad, pad, float64(w)-pad, float64(h)-pad, 0, float64(max(len(pts)-1, 1)), lo, hi) {
		return emptyPicture(w, h, st)
	}
	ink := p.st.ink(c.Ink)
	p.layer("line", func() {
		p.line(pts, ink, 1.4)
		if last, ok := lastFinite(pts); ok {
			p.dot(last, ink, 2)
		}
	})
	pic := p.finish()
	pic.series = []hitSeries{{c.Name, pts, pic.x, pic.y, func(x float64) string { return strconv.Itoa(int(x)) }, formatValue}}
	return pic
}

// Describe implements Chart.
func (c Sparkline) Describe() string {
	pts := c.points()
	last, ok := lastFinite(pts)
	if !ok {
		return c.Name + ": no values yet."
	}
	b := boundsOf([][]Point{pts})
	return fmt.Sprintf("%s: %s now, between %s and %s.", c.Name, formatValue(last.Y), formatValue(b.y0), formatValue(b.y1))
}

// CSV implements Chart.
func (c Sparkline) CSV(w io.Writer) error {
	rows := [][]string{{"index", "value"}}
	for i, v := range c.Values {
		rows = append(rows, []string{strconv.Itoa(i), num(v)})
	}
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("write values: %w", err)
	}
	return nil
}
