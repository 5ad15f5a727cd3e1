package charts

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Lane is one device's utilisation: X in seconds since the session's start, Y in percent.
type Lane struct {
	Name   string
	Points []Point
}

// IdleBelow is the utilisation, in percent, under which a device counts as idle.
const IdleBelow = 10

// Median is the lane's median utilisation; ok is false without samples.
func (l Lane) Median() (v float64, ok bool) {
	var y []float64
	for _, p := range l.Points {
		if finite(p.Y) {
			y = append(y, p.Y)
		}
	}
	if len(y) == 0 {
		return 0, false
	}
	slices.Sort(y)
	return (y[(len(y)-1)/2] + y[len(y)/2]) / 2, true
}

// Utilisation draws a lane a device, 0 to 100 %, the median written beside it, idle stretches shaded.
type Utilisation struct {
	Ink   Ink
	Lanes []Lane
}

// Empty implements Chart.
func (c Utilisation) Empty() bool {
	for _, l := range c.Lanes {
		if boundsOf([][]Point{l.Points}).ok {
			return false
		}
	}
	return true
}

// Draw implements Chart.
func (c Utilisation) Draw(w, h int, st Style) *Picture {
	var sets [][]Point
	for _, l := range c.Lanes {
		sets = append(sets, l.Points)
	}
	b := boundsOf(sets)
	p := newPlot(w, h, st)
	if p == nil || !b.ok {
		return emptyPicture(w, h, st)
	}
	st = p.st
	left, right := 0.0, p.width("100 %", st.Bold)
	for _, l := range c.Lanes {
		left = math.Max(left, p.width(l.Name, st.Font))
	}
	xTicks, xText := timeTicks(math.Min(b.x0, 0), b.x1)
	lh := p.lineHeight()
	if !p.area(left+10*p.u, 2*p.u, float64(w)-right-10*p.u, float64(h)-lh-8*p.u, math.Min(b.x0, 0), math.Max(b.x1, 1e-9), 0, 100) {
		return emptyPicture(w, h, st)
	}
	p.xAxis(xTicks, xText, "")
	whole := p.y
	gap := 8 * p.u
	each := (p.bottom - p.top - gap*float64(len(c.Lanes)-1)) / float64(len(c.Lanes))
	if each < 4 {
		return emptyPicture(w, h, st)
	}
	var series []hitSeries
	for i, l := range c.Lanes {
		top := p.top + float64(i)*(each+gap)
		y := scale{0, 100, top + each - p.u, top + p.u}
		series = append(series, hitSeries{l.Name, l.Points, p.x, y, clock, func(v float64) string { return fmt.Sprintf("%.0f %%", v) }})
		p.layer(l.Name, func() {
			p.y = y
			c.drawLane(p, l, top, each)
			p.y = whole
		})
	}
	pic := p.finish()
	pic.series = series
	return pic
}

func (c Utilisation) drawLane(p *plot, l Lane, top, tall float64) {
	p.rect(p.left, top, p.right, top+tall, p.st.Shade)
	for _, s := range Idle(l.Points) {
		p.rect(p.x.at(s[0]), top, math.Max(p.x.at(s[1]), p.x.at(s[0])+1), top+tall, mix(p.st.Warning, p.st.Shade, 0.25))
	}
	p.line(clampPercent(l.Points), p.st.ink(c.Ink), 1.4)
	mid := top + tall/2
	p.text(l.Name, p.left-8*p.u, mid, 1, p.st.Muted, p.st.Font)
	if m, ok := l.Median(); ok {
		p.text(fmt.Sprintf("%.0f %%", m), p.right+8*p.u, mid, 0, p.st.Text, p.st.Bold)
	}
}

func clampPercent(pts []Point) []Point {
	out := make([]Point, len(pts))
	for i, p := range pts {
		out[i] = p
		if finite(p.Y) {
			out[i].Y = math.Min(math.Max(p.Y, 0), 100)
		}
	}
	return out
}

// Idle gives the stretches, as [from, to] in X, in which at least two samples in a row were under IdleBelow.
func Idle(pts []Point) [][2]float64 {
	var out [][2]float64
	start, n := 0.0, 0
	end := 0.0
	flush := func() {
		if n >= 2 {
			out = append(out, [2]float64{start, end})
		}
		n = 0
	}
	for _, p := range pts {
		if !finite(p.X) || !finite(p.Y) || p.Y >= IdleBelow {
			flush()
			continue
		}
		if n == 0 {
			start = p.X
		}
		n++
		end = p.X
	}
	flush()
	return out
}

// timeTicks gives round clock steps for a span in seconds.
func timeTicks(x0, x1 float64) ([]float64, func(float64) string) {
	for _, step := range []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 14400, 21600} {
		if first := math.Ceil(x0 / step); (x1-x0)/step <= MaxTicks-1 {
			var out []float64
			for v := first * step; v <= x1+1e-9; v += step {
				out = append(out, v)
			}
			return out, clock
		}
	}
	t := Ticks(x0/3600, x1/3600, MaxTicks)
	var out []float64
	for _, v := range t {
		if v*3600 <= x1 {
			out = append(out, v*3600)
		}
	}
	return out, clock
}

// clock writes seconds since a start: "45 s", "12 min", "2 h 05".
func clock(sec float64) string {
	s := int(math.Round(sec))
	switch {
	case s == 0:
		return "0"
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600 && s%60 == 0:
		return fmt.Sprintf("%d min", s/60)
	case s < 3600:
		return fmt.Sprintf("%d min %02d", s/60, s%60)
	case s%3600 < 60:
		return fmt.Sprintf("%d h", s/3600)
	default:
		return fmt.Sprintf("%d h %02d", s/3600, s%3600/60)
	}
}

// Describe implements Chart.
func (c Utilisation) Describe() string {
	var parts []string
	for _, l := range c.Lanes {
		if m, ok := l.Median(); ok {
			parts = append(parts, fmt.Sprintf("%s median %.0f %%, idle in %d stretches", l.Name, m, len(Idle(l.Points))))
		}
	}
	if len(parts) == 0 {
		return "Utilisation: no samples yet."
	}
	return "Utilisation: " + strings.Join(parts, "; ") + "."
}

// CSV implements Chart.
func (c Utilisation) CSV(w io.Writer) error {
	rows := [][]string{{"device", "seconds", "percent"}}
	for _, l := range c.Lanes {
		for _, p := range l.Points {
			rows = append(rows, []string{l.Name, num(p.X), num(p.Y)})
		}
	}
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("write utilisation: %w", err)
	}
	return nil
}
