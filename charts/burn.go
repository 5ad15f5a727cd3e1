package charts

import (
	"encoding/csv"
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"
	"time"
)

// BurnWeek is one bar of WeeklyBurn, in hours.
type BurnWeek struct {
	Start                           time.Time
	Kept, Failed, Killed, Elsewhere float64
	Reserved                        float64 // held by what is in flight; this week only
	Current                         bool
}

// Used is what the week has burned, whatever came of it.
func (b BurnWeek) Used() float64 {
	return clean(b.Kept) + clean(b.Failed) + clean(b.Killed) + clean(b.Elsewhere)
}

// WeeklyBurn draws a stacked bar a week: kept, failed, killed by a cap, burned elsewhere, and what is held this week in a lighter
// tone; the weekly allowance as a dashed line.
type WeeklyBurn struct {
	Ink       Ink
	Weeks     []BurnWeek // oldest first
	Allowance float64    // hours; 0 = not known
	Location  *time.Location
}

// BurnPart is one part of a bar: its word for the legend and its colour.
type BurnPart struct {
	Name  string
	Color color.NRGBA
}

// Legend gives the parts of the bars in their order from the bottom, in the colours Draw uses.
func (c WeeklyBurn) Legend(st Style) []BurnPart {
	return []BurnPart{
		{"kept", st.ink(c.Ink)},
		{"failed", mix(st.Bad, st.Background, 0.8)},
		{"killed", mix(st.Warning, st.Background, 0.8)},
		{"elsewhere", mix(st.Muted, st.Background, 0.6)},
	}
}

// clean makes an hour count drawable.
func clean(v float64) float64 {
	if !finite(v) || v < 0 {
		return 0
	}
	return v
}

func (c WeeklyBurn) total() float64 {
	t := 0.0
	for _, w := range c.Weeks {
		t += w.Used() + clean(w.Reserved)
	}
	return t
}

// Empty implements Chart.
func (c WeeklyBurn) Empty() bool { return len(c.Weeks) == 0 || c.total() == 0 }

// Draw implements Chart.
func (c WeeklyBurn) Draw(w, h int, st Style) *Picture {
	p := newPlot(w, h, st)
	if p == nil || c.Empty() {
		return emptyPicture(w, h, st)
	}
	st = p.st
	top := clean(c.Allowance)
	for _, wk := range c.Weeks {
		top = math.Max(top, wk.Used()+clean(wk.Reserved))
	}
	ticks := Ticks(0, top, MaxTicks)
	text := tickText(ticks)
	unit := func(v float64) string { return text(v) + " h" }
	lh := p.lineHeight()
	n := float64(len(c.Weeks))
	if !p.area(8*p.u+widest(p, ticks, unit), lh*1.5, float64(w)-2*p.u, float64(h)-lh-8*p.u, 0, n, ticks[0], ticks[len(ticks)-1]) {
		return emptyPicture(w, h, st)
	}
	p.yAxis(ticks, unit)
	var boxes []hitBox
	p.layer("weeks", func() {
		parts := c.Legend(st)
		for i, wk := range c.Weeks {
			boxes = append(boxes, c.drawWeek(p, i, wk, parts))
		}
	})
	p.layer("week labels", func() { c.drawLabels(p) })
	if c.Allowance > 0 {
		p.layer("allowance", func() {
			p.dashed([]Point{{0, c.Allowance}, {n, c.Allowance}}, st.Text, 1.2, 3, 3)
			p.text(strconv.FormatFloat(math.Round(c.Allowance*10)/10, 'f', -1, 64)+" h allowance", p.right, p.y.at(c.Allowance)-lh*0.65, 1, st.Muted, st.Font)
		})
	}
	pic := p.finish()
	pic.boxes = boxes
	return pic
}

func (c WeeklyBurn) drawWeek(p *plot, i int, wk BurnWeek, parts []BurnPart) hitBox {
	slot := (p.right - p.left) / float64(len(c.Weeks))
	bar := math.Min(slot*0.6, 56*p.u)
	mid := p.left + (float64(i)+0.5)*slot
	base := 0.0
	put := func(v float64, col color.NRGBA) {
		if v = clean(v); v > 0 {
			p.rect(mid-bar/2, p.y.at(base+v), mid+bar/2, p.y.at(base), col)
			base += v
		}
	}
	for j, v := range []float64{wk.Kept, wk.Failed, wk.Killed, wk.Elsewhere} {
		put(v, parts[j].Color)
	}
	put(wk.Reserved, mix(p.st.ink(c.Ink), p.st.Background, 0.35))
	rect := p.rect(mid-slot/2, p.top, mid+slot/2, p.bottom, color.NRGBA{})
	return hitBox{rect, Hit{
		Series: "week of " + wk.Start.In(c.zone()).Format("2 Jan"), X: float64(i) + 0.5, Y: base, PX: mid, PY: p.y.at(base),
		XText: c.weekText(wk), YText: fmt.Sprintf("%.1f h", base),
	}}
}

func (c WeeklyBurn) weekText(wk BurnWeek) string {
	out := ""
	for _, part := range []struct {
		name string
		v    float64
	}{{"kept", wk.Kept}, {"failed", wk.Failed}, {"killed", wk.Killed}, {"elsewhere", wk.Elsewhere}, {"held", wk.Reserved}} {
		if clean(part.v) > 0 {
			if out != "" {
				out += ", "
			}
			out += fmt.Sprintf("%s %.1f h", part.name, part.v)
		}
	}
	if out == "" {
		return "nothing burned"
	}
	return out
}

func (c WeeklyBurn) zone() *time.Location {
	if c.Location == nil {
		return time.UTC
	}
	return c.Location
}

// drawLabels writes the day a week began; the month is named when it changes, and labels thin out where there is no room.
func (c WeeklyBurn) drawLabels(p *plot) {
	y := p.bottom + 6*p.u + p.lineHeight()/2
	month := time.Month(0)
	edge := math.Inf(-1)
	for i, wk := range c.Weeks {
		day := wk.Start.In(c.zone())
		s := day.Format("2")
		if day.Month() != month {
			s = day.Format("2 Jan")
		}
		f, col := p.st.Font, p.st.Muted
		if wk.Current {
			f, col = p.st.Bold, p.st.Text
		}
		w, x := p.width(s, f), p.x.at(float64(i)+0.5)
		if x-w/2 < edge {
			continue
		}
		month = day.Month()
		p.text(s, x, y, 0.5, col, f)
		edge = x + w/2 + 6*p.u
	}
}

// Describe implements Chart.
func (c WeeklyBurn) Describe() string {
	if len(c.Weeks) == 0 || c.total() == 0 {
		return "Weekly burn: no hours burned yet."
	}
	last := c.Weeks[len(c.Weeks)-1]
	return fmt.Sprintf("Weekly burn over %d weeks. The latest week: %.1f h used (%s) of %.0f h.",
		len(c.Weeks), last.Used(), c.weekText(last), c.Allowance)
}

// CSV implements Chart.
func (c WeeklyBurn) CSV(w io.Writer) error {
	rows := [][]string{{"week_start_utc", "kept_h", "failed_h", "killed_h", "elsewhere_h", "held_h"}}
	for _, wk := range c.Weeks {
		rows = append(rows, []string{wk.Start.UTC().Format(time.RFC3339), num(wk.Kept), num(wk.Failed), num(wk.Killed), num(wk.Elsewhere), num(wk.Reserved)})
	}
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("write weekly burn: %w", err)
	}
	return nil
}
