package charts

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
)

// Distribution shows how long something may take: a hump over hours, what was measured as dots, and a cap as a line with what it
// cuts off.
type Distribution struct {
	Ink      Ink
	Points   []Point   // hours, and how likely each is; the height has no unit
	Expected float64   // hours; 0 = not marked
	Cap      float64   // hours; 0 = none
	CapNote  string    // second line beside the cap: what it does
	Runs     []float64 // measured hours
	Limit    float64   // the longest there can be, drawn where it is in sight; 0 = none
}

// Empty implements Chart.
func (c Distribution) Empty() bool { return !boundsOf([][]Point{c.Points}).ok }

// Draw implements Chart.
func (c Distribution) Draw(w, h int, st Style) *Picture {
	p := newPlot(w, h, st)
	b := boundsOf([][]Point{c.Points})
	if p == nil || !b.ok || b.x1 <= b.x0 {
		return emptyPicture(w, h, st)
	}
	st = p.st
	lh := p.lineHeight()
	top := b.y1
	if top <= 0 {
		top = 1
	}
	if !p.area(8*p.u, lh*3.5, float64(w)-8*p.u, float64(h)-lh-8*p.u, b.x0, b.x1, 0, top) {
		return emptyPicture(w, h, st)
	}
	ticks, shown := insideTicks(b.x0, b.x1)
	text := tickText(ticks)
	ink := st.ink(c.Ink)
	p.xAxis(shown, func(v float64) string { return text(v) + " h" }, "")
	floor := make([]Point, len(c.Points))
	for i, q := range c.Points {
		floor[i] = Point{q.X, 0}
	}
	p.layer("hump", func() {
		p.band(floor, c.Points, mix(ink, st.Background, 0.22))
		p.hairline(p.left, p.bottom, p.right, p.bottom, st.Grid)
		p.line(c.Points, ink, 1.8)
	})
	p.layer("runs", func() {
		for _, r := range c.Runs {
			if r >= b.x0 && r <= b.x1 {
				p.dot(Point{r, top * 0.035}, ink, 3)
			}
		}
	})
	p.layer("marks", func() { c.drawMarks(p, b, ink) })
	pic := p.finish()
	hour := func(v float64) string { return fmt.Sprintf("%.1f h", v) }
	pic.series = []hitSeries{{"how likely", c.Points, pic.x, pic.y, hour, func(v float64) string { return fmt.Sprintf("%.0f %% of the highest", 100*v/top) }}}
	return pic
}

// drawMarks writes the expected hours above the hump and the cap beside its line.
func (c Distribution) drawMarks(p *plot, b bounds, ink colorNRGBA) {
	lh := p.lineHeight()
	capX := math.Inf(1)
	if c.Cap >= b.x0 && c.Cap <= b.x1 {
		capX = p.x.at(c.Cap)
	}
	if c.Limit > 0 && c.Limit >= b.x0 && c.Limit <= b.x1 && math.Abs(c.Limit-c.Cap) > 0.02*(b.x1-b.x0) {
		x := p.x.at(c.Limit)
		p.dashed([]Point{{c.Limit, 0}, {c.Limit, b.y1}}, p.st.Muted, 1, 3, 3)
		p.text("session limit", x-4*p.u, p.bottom-lh*1.4, 1, p.st.Muted, p.st.Font)
	}
	if !math.IsInf(capX, 1) {
		const above = 2.8 // lines of text over the hump
		for dx := -0.5; dx <= 0.5; dx++ {
			p.hairline(capX+dx*p.u, p.top-lh*above, capX+dx*p.u, p.bottom, p.st.Accent)
		}
		words := fmt.Sprintf("cap %.1f h", c.Cap)
		x, align := capX+6*p.u, 0.0
		if x+math.Max(p.width(words, p.st.Bold), p.width(c.CapNote, p.st.Font)) > float64(p.w) {
			x, align = capX-6*p.u, 1
		}
		p.text(words, x, p.top-lh*2.5, align, p.st.Accent, p.st.Bold)
		p.text(c.CapNote, x, p.top-lh*1.5, align, p.st.Muted, p.st.Font)
	}
	if c.Expected >= b.x0 && c.Expected <= b.x1 {
		words := fmt.Sprintf("expected %.1f h", c.Expected)
		wide := p.width(words, p.st.Bold)
		x := math.Max(p.left+wide/2, math.Min(p.x.at(c.Expected), p.right-wide/2))
		if math.Abs(x-capX) < wide/2+4*p.u { // the cap's line would run through the words
			x = capX - wide/2 - 6*p.u
			if p.x.at(c.Expected) > capX {
				x = capX + wide/2 + 6*p.u
			}
		}
		y := p.top - lh*0.5
		p.text(words, x, y, 0.5, ink, p.st.Bold)
	}
}

// insideTicks are at most six ticks between x0 and x1, and all of their scale for the labels' digits.
func insideTicks(x0, x1 float64) (all, inside []float64) {
	for n := MaxTicks + 3; n > 1; n-- {
		all, inside = Ticks(x0, x1, n), nil
		for _, t := range all {
			if t >= x0 && t <= x1 {
				inside = append(inside, t)
			}
		}
		if len(inside) <= MaxTicks+1 {
			break
		}
	}
	return all, inside
}

// Describe implements Chart.
func (c Distribution) Describe() string {
	if c.Empty() {
		return "It is not known how long this takes."
	}
	s := fmt.Sprintf("Expected %.1f h", c.Expected)
	if c.Cap > 0 {
		s += fmt.Sprintf(", cap %.1f h: %s", c.Cap, c.CapNote)
	}
	if n := len(c.Runs); n > 0 {
		s += fmt.Sprintf("; %d measured", n)
	}
	return s + "."
}

// CSV implements Chart.
func (c Distribution) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	rows := [][]string{{"hours", "likelihood"}}
	for _, p := range c.Points {
		rows = append(rows, []string{strconv.FormatFloat(p.X, 'g', 6, 64), strconv.FormatFloat(p.Y, 'g', 6, 64)})
	}
	return out.WriteAll(rows)
}
