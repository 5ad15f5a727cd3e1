package charts

import (
	"encoding/csv"
	"fmt"
	"image"
	"io"
	"math"
	"slices"
	"strconv"
)

// FidelityPoint is one idea that was tried cheaply and run in full.
type FidelityPoint struct {
	Name         string
	Screen, Full float64
	Note         string // "1 fold against 5"; "" = none
}

// Fidelity draws what screens said against what full runs then said: a dot an idea. Gains lie on the broken line when a screen told
// the whole gain, and those whose sign it got wrong are rings in the shaded corners.
type Fidelity struct {
	Ink    Ink
	Metric string // "AUC"; "" = not known
	Gains  bool   // the points are gains, above zero is better; false: scores
	Lower  bool   // of scores: lower is better
	Points []FidelityPoint
	Note   string // the judgement in words, for Describe
}

func (c Fidelity) usable() []FidelityPoint {
	var out []FidelityPoint
	for _, p := range c.Points {
		if finite(p.Screen) && finite(p.Full) {
			out = append(out, p)
		}
	}
	return out
}

// wrong says whether the screen got the sign of a gain wrong.
func (c Fidelity) wrong(p FidelityPoint) bool { return c.Gains && (p.Screen > 0) != (p.Full > 0) }

// Empty implements Chart.
func (c Fidelity) Empty() bool { return len(c.usable()) == 0 }

func (c Fidelity) what() string {
	s := "score"
	if c.Gains {
		s = "gain"
	}
	if c.Metric != "" {
		s += " in " + c.Metric
	}
	return s
}

// Draw implements Chart.
func (c Fidelity) Draw(w, h int, st Style) *Picture {
	p := newPlot(w, h, st)
	points := c.usable()
	if p == nil || len(points) == 0 {
		return emptyPicture(w, h, st)
	}
	st = p.st
	var b bounds
	for _, q := range points {
		b.add(Point{q.Screen, q.Full})
	}
	if c.Gains { // no gain is what both axes are read from
		b.add(Point{0, 0})
	}
	xTicks, x0, x1 := snug(b.x0, b.x1)
	yTicks, y0, y1 := snug(b.y0, b.y1)
	xText, yText := c.tickText(xTicks), c.tickText(yTicks)
	lh := p.lineHeight()
	if !p.area(8*p.u+widest(p, yTicks, yText), 1.5*lh, float64(w)-8*p.u, float64(h)-2*lh-8*p.u, x0, x1, y0, y1) {
		return emptyPicture(w, h, st)
	}
	ink := st.ink(c.Ink)
	if c.Gains {
		p.layer("wrong sign", func() {
			ox, oy, fill, words := p.x.at(0), p.y.at(0), mix(st.Bad, st.Background, 0.06), "wrong sign"
			p.rect(p.left, p.top, ox, oy, fill)
			p.rect(ox, oy, p.right, p.bottom, fill)
			room := p.width(words, st.Font) + 12*p.u
			if ox-p.left > room && oy-p.top > 1.5*lh {
				p.text(words, p.left+6*p.u, p.top+lh*0.8, 0, st.Muted, st.Font)
			}
			if p.right-ox > room && p.bottom-oy > 1.5*lh {
				p.text(words, p.right-6*p.u, p.bottom-lh*0.7, 1, st.Muted, st.Font)
			}
		})
	}
	p.yAxis(yTicks, yText)
	p.xAxis(xTicks, xText, "screen "+c.what())
	p.layer("lines", func() {
		p.text("full "+c.what(), p.left-6*p.u-widest(p, yTicks, yText), lh*0.6, 0, st.Muted, st.Font)
		if !c.Gains {
			return
		}
		p.hairline(p.x.at(0), p.top, p.x.at(0), p.bottom, st.Muted)
		p.hairline(p.left, p.y.at(0), p.right, p.y.at(0), st.Muted)
		if lo, hi := math.Max(x0, y0), math.Min(x1, y1); lo < hi {
			p.dashed([]Point{{lo, lo}, {hi, hi}}, st.Muted, 1.2, 4, 4)
		}
	})
	p.layer("ideas", func() {
		for _, q := range points {
			if c.wrong(q) {
				p.dot(Point{q.Screen, q.Full}, st.Bad, 4.4)
				p.dot(Point{q.Screen, q.Full}, st.Background, 2.6)
				continue
			}
			p.dot(Point{q.Screen, q.Full}, ink, 4)
		}
		c.names(p, points)
	})
	pic := p.finish()
	for _, q := range points {
		name := q.Name
		if q.Note != "" {
			name += ", " + q.Note
		}
		pic.series = append(pic.series, hitSeries{name, []Point{{q.Screen, q.Full}}, pic.x, pic.y,
			func(v float64) string { return "screen " + c.value(v) }, func(v float64) string { return "full " + c.value(v) }})
	}
	return pic
}

// tickText writes a gain's ticks with their sign.
func (c Fidelity) tickText(ticks []float64) func(float64) string {
	text := tickText(ticks)
	return func(v float64) string {
		if c.Gains && v > 0 {
			return "+" + text(v)
		}
		return text(v)
	}
}

func (c Fidelity) value(v float64) string {
	if c.Gains && v > 0 {
		return "+" + formatValue(v)
	}
	return formatValue(v)
}

// names writes the ideas' names beside their dots, where no other name or dot is in the way, and off the lines of no gain where
// that can be had.
func (c Fidelity) names(p *plot, points []FidelityPoint) {
	const pad = 3
	lh := p.lineHeight()
	field := image.Rect(int(p.left), int(p.top-lh/2), int(p.right+4*p.u), int(p.bottom))
	var taken, lines []image.Rectangle
	for _, q := range points {
		x, y, r := p.x.at(q.Screen), p.y.at(q.Full), 5*p.u
		taken = append(taken, image.Rect(int(x-r), int(y-r), int(x+r), int(y+r)))
	}
	if c.Gains {
		lines = []image.Rectangle{image.Rect(int(p.x.at(0)), 0, int(p.x.at(0))+1, p.h), image.Rect(0, int(p.y.at(0)), p.w, int(p.y.at(0))+1)}
	}
	for _, q := range points {
		s := p.fit(q.Name, (p.right-p.left)*0.4, p.st.Font)
		wide := p.width(s, p.st.Font)
		x, y := p.x.at(q.Screen), p.y.at(q.Full)
	place:
		for _, avoid := range [][]image.Rectangle{slices.Concat(lines, taken), taken} {
			for _, at := range []struct{ dx, dy, align float64 }{{8, 0, 0}, {-8, 0, 1}, {0, -11, 0.5}, {0, 11, 0.5}} {
				tx, ty := x+at.dx*p.u, y+at.dy*p.u
				box := image.Rect(int(tx-at.align*wide-pad), int(ty-lh*0.45), int(tx+(1-at.align)*wide+pad), int(ty+lh*0.45))
				if !box.In(field) || overlaps(box, avoid) {
					continue
				}
				p.text(s, tx, ty, at.align, p.st.Text, p.st.Font)
				taken = append(taken, box)
				break place
			}
		}
	}
}

func overlaps(r image.Rectangle, others []image.Rectangle) bool {
	for _, o := range others {
		if r.Overlaps(o) {
			return true
		}
	}
	return false
}

// Describe implements Chart.
func (c Fidelity) Describe() string {
	points := c.usable()
	if len(points) == 0 {
		return "Screens against full runs: no idea has both yet."
	}
	s := fmt.Sprintf("Screens against full runs of %d ideas, %s", len(points), c.what())
	if len(points) == 1 {
		s = "A screen against a full run of one idea, " + c.what()
	}
	if c.Lower && !c.Gains {
		s += ", lower is better"
	}
	if wrong := c.countWrong(points); wrong > 0 {
		s += fmt.Sprintf("; the screen got the sign wrong for %d", wrong)
	}
	s += "."
	if c.Note != "" {
		s += " " + c.Note
	}
	return s
}

func (c Fidelity) countWrong(points []FidelityPoint) int {
	n := 0
	for _, q := range points {
		if c.wrong(q) {
			n++
		}
	}
	return n
}

// CSV implements Chart: one line an idea.
func (c Fidelity) CSV(w io.Writer) error {
	what := "score"
	if c.Gains {
		what = "gain"
	}
	rows := [][]string{{"idea", "screen_" + what, "full_" + what, "note"}}
	for _, q := range c.usable() {
		rows = append(rows, []string{q.Name, strconv.FormatFloat(q.Screen, 'g', -1, 64), strconv.FormatFloat(q.Full, 'g', -1, 64), q.Note})
	}
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("write screens against full runs: %w", err)
	}
	return nil
}
