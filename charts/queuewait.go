package charts

import (
	"encoding/csv"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"time"
)

// QueueWait is one run's wait in a queue.
type QueueWait struct {
	Name    string
	At      time.Time // when it was queued
	Hours   float64   // waited, or so far
	Waiting bool      // it has not started yet: drawn as a ring, and no part of the median
}

// QueueWaits draws how long runs have waited before they started: a stem a run at the time it was queued, and the median.
type QueueWaits struct {
	Ink      Ink
	Waits    []QueueWait // any order
	Location *time.Location
}

// usable are the waits that can be drawn, oldest first.
func (c QueueWaits) usable() []QueueWait {
	var out []QueueWait
	for _, w := range c.Waits {
		if finite(w.Hours) && w.Hours >= 0 && !w.At.IsZero() {
			out = append(out, w)
		}
	}
	slices.SortStableFunc(out, func(a, b QueueWait) int { return a.At.Compare(b.At) })
	return out
}

// Median is the middle of the waits that are over, in hours; ok false when none is.
func (c QueueWaits) Median() (hours float64, ok bool) {
	var x []float64
	for _, w := range c.usable() {
		if !w.Waiting {
			x = append(x, w.Hours)
		}
	}
	if len(x) == 0 {
		return 0, false
	}
	slices.Sort(x)
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2, true
}

// Empty implements Chart.
func (c QueueWaits) Empty() bool { return len(c.usable()) == 0 }

func (c QueueWaits) zone() *time.Location {
	if c.Location == nil {
		return time.UTC
	}
	return c.Location
}

// Draw implements Chart.
func (c QueueWaits) Draw(w, h int, st Style) *Picture {
	p := newPlot(w, h, st)
	waits := c.usable()
	if p == nil || len(waits) == 0 {
		return emptyPicture(w, h, st)
	}
	st = p.st
	first, last := waits[0].At, waits[len(waits)-1].At
	days := func(t time.Time) float64 { return t.Sub(first).Hours() / 24 }
	span := math.Max(days(last), 1)
	top := 0.0
	for _, q := range waits {
		top = math.Max(top, q.Hours)
	}
	top = math.Max(top, 1) // minutes are as good as nothing here
	ticks := Ticks(0, top, MaxTicks)
	text := tickText(ticks)
	unit := func(v float64) string { return text(v) + " h" }
	lh := p.lineHeight()
	if !p.area(8*p.u+widest(p, ticks, unit), lh, float64(w)-4*p.u, float64(h)-lh-8*p.u, -span*0.04, span*1.04, ticks[0], ticks[len(ticks)-1]) {
		return emptyPicture(w, h, st)
	}
	p.yAxis(ticks, unit)
	p.layer("days", func() { c.drawDays(p, first, span) })
	ink := st.ink(c.Ink)
	p.layer("waits", func() {
		for _, q := range waits {
			x, y := days(q.At), q.Hours
			stem := mix(ink, st.Background, 0.45)
			if q.Waiting {
				p.dashed([]Point{{x, 0}, {x, y}}, stem, 1.5, 3, 2)
				p.dot(Point{x, y}, ink, 4)
				p.dot(Point{x, y}, st.Background, 2.2)
				continue
			}
			p.line([]Point{{x, 0}, {x, y}}, stem, 1.5)
			p.dot(Point{x, y}, ink, 3.5)
		}
	})
	if m, ok := c.Median(); ok {
		p.layer("median", func() { c.drawMedian(p, m) })
	}
	pic := p.finish()
	for _, q := range waits {
		what := "waited"
		if q.Waiting {
			what = "waiting so far"
		}
		pic.series = append(pic.series, hitSeries{q.Name, []Point{{days(q.At), q.Hours}}, pic.x, pic.y,
			func(float64) string { return q.At.In(c.zone()).Format("queued Mon 2 Jan 15:04") },
			func(v float64) string { return fmt.Sprintf("%s %.1f h", what, v) }})
	}
	return pic
}

// drawMedian is a dashed line with its words on a piece of paper, so that no stem runs through them.
func (c QueueWaits) drawMedian(p *plot, m float64) {
	p.dashed([]Point{{p.x.d0, m}, {p.x.d1, m}}, p.st.Text, 1.2, 3, 3)
	words := fmt.Sprintf("median %.1f h", m)
	lh := p.lineHeight()
	y := p.y.at(m) - lh*0.65
	if y-lh*0.5 < 0 {
		y = p.y.at(m) + lh*0.65
	}
	p.rect(p.right-p.width(words, p.st.Font)-4*p.u, y-lh*0.5, p.right, y+lh*0.5, color.NRGBA{p.st.Background.R, p.st.Background.G, p.st.Background.B, 215})
	p.text(words, p.right-2*p.u, y, 1, p.st.Text, p.st.Font)
}

// drawDays names the days, as many as fit.
func (c QueueWaits) drawDays(p *plot, first time.Time, span float64) {
	y := p.bottom + 6*p.u + p.lineHeight()/2
	edge := math.Inf(-1)
	from := first.In(c.zone())
	for n := 0; float64(n) <= span+1; n++ {
		day := time.Date(from.Year(), from.Month(), from.Day()+n, 0, 0, 0, 0, c.zone())
		x := p.x.at(day.Sub(first).Hours() / 24)
		s := day.Format("2 Jan")
		w := p.width(s, p.st.Font)
		if x-w/2 < math.Max(edge, p.left-8*p.u) || x+w/2 > float64(p.w) {
			continue
		}
		p.text(s, x, y, 0.5, p.st.Muted, p.st.Font)
		edge = x + w/2 + 14*p.u
	}
}

// Describe implements Chart.
func (c QueueWaits) Describe() string {
	m, ok := c.Median()
	waits := c.usable()
	if len(waits) == 0 {
		return "Waits in the queue: none yet."
	}
	waiting := 0
	lo, hi := math.Inf(1), 0.0
	for _, w := range waits {
		if w.Waiting {
			waiting++
			continue
		}
		lo, hi = math.Min(lo, w.Hours), math.Max(hi, w.Hours)
	}
	ended := len(waits) - waiting
	switch {
	case len(waits) == 1 && ended == 1:
		return fmt.Sprintf("Wait in the queue of one run: %.1f h.", m)
	case len(waits) == 1:
		return fmt.Sprintf("Wait in the queue of one run, which is still waiting: %.1f h so far.", waits[0].Hours)
	}
	s := fmt.Sprintf("Waits in the queue of %d runs", len(waits))
	switch {
	case ended == 1:
		s += fmt.Sprintf(": one of %.1f h", m)
	case ok:
		s += fmt.Sprintf(": median %.1f h, from %.1f to %.1f h", m, lo, hi)
	}
	if waiting > 0 {
		s += fmt.Sprintf("; %d still waiting", waiting)
	}
	return s + "."
}

// CSV implements Chart.
func (c QueueWaits) CSV(w io.Writer) error {
	rows := [][]string{{"run", "queued_utc", "waited_h", "waiting"}}
	for _, q := range c.usable() {
		rows = append(rows, []string{q.Name, q.At.UTC().Format(time.RFC3339), num(q.Hours), fmt.Sprint(q.Waiting)})
	}
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("write the queue's waits: %w", err)
	}
	return nil
}
