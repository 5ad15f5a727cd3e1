package charts

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"time"
)

// PacePoint is how many hours had been burned at a time.
type PacePoint struct {
	At    time.Time
	Hours float64
}

// Pace draws one week's cumulative burn against the even pace that would use the allowance up at its end.
type Pace struct {
	Ink           Ink
	From, To, Now time.Time   // the week, and the line marked "now"
	Points        []PacePoint // in order of time
	Allowance     float64     // hours
	Reserved      float64     // hours held by what is in flight: drawn lighter on top of what is burned
	Location      *time.Location
}

func (c Pace) x(t time.Time) float64 { return t.Sub(c.From).Hours() }

func (c Pace) points() []Point {
	var out []Point
	for _, p := range c.Points {
		if !p.At.Before(c.From) && !p.At.After(c.To) {
			out = append(out, Point{c.x(p.At), p.Hours})
		}
	}
	return out
}

// Empty implements Chart.
func (c Pace) Empty() bool { return !c.To.After(c.From) || c.Allowance <= 0 }

// Draw implements Chart.
func (c Pace) Draw(w, h int, st Style) *Picture {
	p := newPlot(w, h, st)
	span := c.To.Sub(c.From).Hours()
	if p == nil || c.Empty() {
		return emptyPicture(w, h, st)
	}
	st = p.st
	pts := c.points()
	b := boundsOf([][]Point{pts})
	held := clean(c.Reserved)
	ticks := Ticks(0, math.Max(c.Allowance, math.Max(b.y1, 0)+held), MaxTicks)
	text := tickText(ticks)
	unit := func(v float64) string { return text(v) + " h" }
	lh := p.lineHeight()
	if !p.area(8*p.u+widest(p, ticks, unit), lh*1.5, float64(w)-4*p.u, float64(h)-lh-8*p.u, 0, span, ticks[0], ticks[len(ticks)-1]) {
		return emptyPicture(w, h, st)
	}
	p.yAxis(ticks, unit)
	p.layer("days", func() { c.drawDays(p) })
	p.layer("even pace", func() {
		p.dashed([]Point{{0, 0}, {span, c.Allowance}}, st.Muted, 1, 3, 3)
	})
	ink := st.ink(c.Ink)
	last, any := lastFinite(pts)
	now := math.Min(math.Max(c.x(c.Now), 0), span)
	p.layer("now", func() {
		x := p.x.at(now)
		p.hairline(x, p.top-lh*0.6, x, p.bottom, st.Accent)
		align, dx := 0.0, 5*p.u
		if now > span*0.85 {
			align, dx = 1, -5*p.u
		}
		p.text("now", x+dx, p.top-lh*0.7, align, st.Accent, st.Font)
	})
	p.layer("burned", func() {
		p.line(steps(pts, now), ink, 2.4)
		if any {
			c.drawEnd(p, now, last.Y, held)
		}
		c.drawPaceWord(p, span, now, last.Y+held)
	})
	pic := p.finish()
	when := func(v float64) string {
		return c.From.Add(time.Duration(v * float64(time.Hour))).In(c.zone()).Format("Mon 15:04")
	}
	hours := func(v float64) string { return fmt.Sprintf("%.1f h", v) }
	pic.series = []hitSeries{{"burned", pts, pic.x, pic.y, when, hours}}
	return pic
}

// steps holds each value until the next one: hours are booked when they are read, nothing is known between two readings.
func steps(pts []Point, now float64) []Point {
	var out []Point
	for i, p := range pts {
		if i > 0 {
			out = append(out, Point{p.X, pts[i-1].Y})
		}
		out = append(out, p)
	}
	if n := len(pts); n > 0 && pts[n-1].X < now {
		out = append(out, Point{now, pts[n-1].Y})
	}
	return out
}

// drawEnd marks where the burn stands and where it would stand with all that is held.
func (c Pace) drawEnd(p *plot, now, burned, held float64) {
	ink := p.st.ink(c.Ink)
	p.dot(Point{now, burned}, ink, 3)
	detail := "burned"
	if held > 0 {
		light := mix(ink, p.st.Background, 0.35)
		x := p.x.at(now)
		p.rect(x-2*p.u, p.y.at(burned+held), x+2*p.u, p.y.at(burned)-3*p.u, light)
		detail = "with what is held"
	}
	words := fmt.Sprintf("%.1f h", burned+held)
	lh := p.lineHeight()
	x, align := p.x.at(now)+8*p.u, 0.0
	if held > 0 && x+p.width(detail, p.st.Font) > float64(p.w) {
		detail = "with held"
	}
	if x+math.Max(p.width(words, p.st.Bold), p.width(detail, p.st.Font)) > float64(p.w) {
		x, align = p.x.at(now)-8*p.u, 1
	}
	y := math.Min(p.y.at(burned+held), p.bottom-2*lh)
	p.text(words, x, y, align, ink, p.st.Bold)
	p.text(detail, x, y+lh, align, ink, p.st.Font)
}

// drawPaceWord puts the words "even pace" above the line, away from what is written at now.
func (c Pace) drawPaceWord(p *plot, span, now, end float64) {
	at := span * 0.3
	if now < span*0.5 {
		at = span * 0.72
	}
	x, y := p.x.at(at), p.y.at(c.Allowance*at/span)
	p.text("even pace", x-6*p.u, y-p.lineHeight()*0.7, 1, p.st.Muted, p.st.Font)
}

func (c Pace) zone() *time.Location {
	if c.Location == nil {
		return time.UTC
	}
	return c.Location
}

// drawDays names each day in the middle of its stretch of the axis.
func (c Pace) drawDays(p *plot) {
	y := p.bottom + 6*p.u + p.lineHeight()/2
	edge := math.Inf(-1)
	for day := 0; ; day++ {
		mid := c.From.Add(time.Duration(day)*24*time.Hour + 12*time.Hour)
		if !mid.Before(c.To) {
			return
		}
		s := mid.In(c.zone()).Format("Mon")
		w, x := p.width(s, p.st.Font), p.x.at(c.x(mid))
		if x-w/2 < edge {
			continue
		}
		p.text(s, x, y, 0.5, p.st.Muted, p.st.Font)
		edge = x + w/2 + 6*p.u
	}
}

// Describe implements Chart.
func (c Pace) Describe() string {
	last, ok := lastFinite(c.points())
	span := c.To.Sub(c.From).Hours()
	if !ok || span <= 0 {
		return "This week: no reading yet."
	}
	even := c.Allowance * math.Min(math.Max(c.x(c.Now)/span, 0), 1)
	return fmt.Sprintf("This week: %.1f h burned, %.1f h held, against %.1f h at an even pace to %.0f h.", last.Y, clean(c.Reserved), even, c.Allowance)
}

// CSV implements Chart.
func (c Pace) CSV(w io.Writer) error {
	rows := [][]string{{"time_utc", "burned_h"}}
	for _, p := range c.Points {
		rows = append(rows, []string{p.At.UTC().Format(time.RFC3339), num(p.Hours)})
	}
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("write the week's burn: %w", err)
	}
	return nil
}
