package charts

import (
	"encoding/csv"
	"fmt"
	"image/color"
	"io"
	"math"
	"time"
)

// Kinds of a CalendarBlock.
const (
	BlockStart     = "start"     // a run to start now
	BlockScreens   = "screens"   // cheap looks at many ideas
	BlockPromotion = "promotion" // an idea at full settings
	BlockFinal     = "final"     // kept for final training and inference
	BlockSlack     = "slack"     // kept for what goes wrong
	BlockFree      = "free"      // burnable, nothing planned
)

// CalendarBlock is a piece of a week's hours.
type CalendarBlock struct {
	Kind, Label string
	Hours       float64
}

// CalendarWeek is one band of PlanCalendar: the time between two resets, or to the deadline.
type CalendarWeek struct {
	From, To time.Time
	Quota    float64         // hours the week brings
	Lost     float64         // of them, burnable by nothing: drawn hatched above the blocks
	Blocks   []CalendarBlock // from the bottom
}

// PlanCalendar draws the weeks to a deadline as bands over the days, each stacked with the hours planned in it. A reset is where
// two bands meet, the deadline the line at the right.
type PlanCalendar struct {
	Ink      Ink
	Weeks    []CalendarWeek // in order, without gaps
	Location *time.Location
}

// Legend names the kinds that occur, in their order from the bottom, in the colours Draw uses.
func (c PlanCalendar) Legend(st Style) []BurnPart {
	var out []BurnPart
	for _, k := range []string{BlockStart, BlockScreens, BlockPromotion, BlockFinal, BlockSlack} {
		if c.has(k) {
			out = append(out, BurnPart{k, c.fill(k, st)})
		}
	}
	return out
}

func (c PlanCalendar) has(kind string) bool {
	for _, w := range c.Weeks {
		for _, b := range w.Blocks {
			if b.Kind == kind && clean(b.Hours) > 0 {
				return true
			}
		}
	}
	return false
}

// fill is a block's colour; what is only slack or free is nearly the paper.
func (c PlanCalendar) fill(kind string, st Style) color.NRGBA {
	switch kind {
	case BlockStart:
		return st.ink(c.Ink)
	case BlockScreens:
		return mix(st.Accent, st.Background, 0.8)
	case BlockPromotion:
		return mix(st.ink(c.Ink), st.Background, 0.55)
	case BlockFinal:
		return mix(st.Good, st.Background, 0.75)
	case BlockSlack:
		return mix(st.Good, st.Background, 0.18)
	}
	return st.Background
}

// Empty implements Chart.
func (c PlanCalendar) Empty() bool {
	for _, w := range c.Weeks {
		if clean(w.Quota) > 0 && w.To.After(w.From) {
			return false
		}
	}
	return true
}

func (c PlanCalendar) zone() *time.Location {
	if c.Location == nil {
		return time.UTC
	}
	return c.Location
}

// day is the axis: days after the first band's beginning.
func (c PlanCalendar) day(t time.Time) float64 { return t.Sub(c.Weeks[0].From).Hours() / 24 }

// Draw implements Chart.
func (c PlanCalendar) Draw(w, h int, st Style) *Picture {
	p := newPlot(w, h, st)
	if p == nil || c.Empty() {
		return emptyPicture(w, h, st)
	}
	st = p.st
	top := 0.0
	for _, wk := range c.Weeks {
		top = math.Max(top, clean(wk.Quota))
	}
	ticks := Ticks(0, top, MaxTicks)
	text := tickText(ticks)
	unit := func(v float64) string { return text(v) + " h" }
	lh := p.lineHeight()
	last := c.Weeks[len(c.Weeks)-1]
	if !p.area(8*p.u+widest(p, ticks, unit), lh*2.9+6*p.u, float64(w)-4*p.u, float64(h)-lh-8*p.u, 0, c.day(last.To), ticks[0], ticks[len(ticks)-1]) {
		return emptyPicture(w, h, st)
	}
	p.yAxis(ticks, unit)
	var boxes []hitBox
	p.layer("days", func() { c.drawDays(p) })
	p.layer("weeks", func() {
		for i, wk := range c.Weeks {
			boxes = append(boxes, c.drawWeek(p, i, wk)...)
		}
	})
	p.layer("marks", func() { c.drawMarks(p) })
	pic := p.finish()
	pic.boxes = boxes
	return pic
}

// band is where a week stands, in pixels.
func (c PlanCalendar) band(p *plot, wk CalendarWeek) (x0, x1 float64) {
	gap := 1.5 * p.u
	x0, x1 = p.x.at(c.day(wk.From))+gap, p.x.at(c.day(wk.To))-gap
	if x1-x0 < 2 {
		x1 = x0 + 2
	}
	return x0, x1
}

func (c PlanCalendar) drawWeek(p *plot, i int, wk CalendarWeek) []hitBox {
	x0, x1 := c.band(p, wk)
	var boxes []hitBox
	base := 0.0
	name := c.weekName(i, wk)
	hit := func(y0, y1 float64, what string, hours float64) {
		r := p.rect(x0, y1, x1, y0, color.NRGBA{})
		boxes = append(boxes, hitBox{r, Hit{Series: name, X: c.day(wk.From) + (c.day(wk.To)-c.day(wk.From))/2, Y: base, PX: (x0 + x1) / 2, PY: (y0 + y1) / 2,
			XText: what, YText: fmt.Sprintf("%.1f h", hours)}})
	}
	for _, b := range wk.Blocks {
		v := clean(b.Hours)
		if v == 0 {
			continue
		}
		y0, y1 := p.y.at(base), p.y.at(base+v)
		if y0-y1 > 3*p.u {
			y1 += p.u // a seam between two blocks
		}
		c.drawBlock(p, b, x0, y1, x1, y0)
		base += v
		hit(y0, y1, b.Label, v)
	}
	if lost := clean(wk.Lost); lost > 0 {
		y0, y1 := p.y.at(base), p.y.at(base+lost)
		c.hatch(p, x0, y1, x1, y0)
		if words := fmt.Sprintf("%.1f h cannot be burned", lost); y0-y1 > p.lineHeight()*1.2 && x1-x0 > 60*p.u {
			c.plate(p, p.fit(words, x1-x0-12*p.u, p.st.Font), x0+6*p.u, y1+p.lineHeight()*0.6+2*p.u)
		}
		base += lost
		hit(y0, y1, "cannot be burned", lost)
	}
	if quota := clean(wk.Quota); quota > 0 {
		y := p.y.at(quota)
		p.hairline(x0, y, x1, y, p.st.Muted)
		if rest := p.y.at(quota); p.y.at(base)-rest > 1 { // hours that no block names
			hit(p.y.at(base), rest, "not planned", quota-base)
		}
	}
	return boxes
}

// drawBlock fills one block and writes its words where they fit.
func (c PlanCalendar) drawBlock(p *plot, b CalendarBlock, x0, y0, x1, y1 float64) {
	fill := c.fill(b.Kind, p.st)
	p.rect(x0, y0, x1, y1, fill)
	if b.Kind == BlockSlack || b.Kind == BlockFree {
		c.outline(p, x0, y0, x1, y1)
	}
	lh := p.lineHeight()
	if y1-y0 < lh*1.05 || x1-x0 < 34*p.u {
		return
	}
	ink := readable(fill, p.st.Text, p.st.Background)
	font := p.st.Bold
	switch b.Kind {
	case BlockSlack:
		font = p.st.Font
	case BlockFree:
		ink, font = p.st.Muted, p.st.Font
	}
	hours := fmt.Sprintf("%.1f h", b.Hours)
	room := x1 - x0 - 12*p.u
	words := b.Label + " · " + hours
	if p.width(words, font) > room {
		words = p.fit(b.Label, room, font)
		if y1-y0 >= lh*2.1 && p.width(hours, font) <= room {
			p.text(hours, x0+6*p.u, y0+lh*1.6+2*p.u, 0, ink, font)
		}
	}
	p.text(words, x0+6*p.u, math.Min(y0+lh*0.6+2*p.u, (y0+y1)/2+lh), 0, ink, font)
}

// outline is a dashed frame: hours that are there, with nothing on them.
func (c PlanCalendar) outline(p *plot, x0, y0, x1, y1 float64) {
	x0, y0, x1, y1 = x0+0.5*p.u, y0+0.5*p.u, x1-0.5*p.u, y1-0.5*p.u
	var frame []Point
	for _, q := range [][2]float64{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}, {x0, y0}} {
		frame = append(frame, Point{p.x.invert(q[0]), p.y.invert(q[1])})
	}
	for i := range frame[1:] {
		p.dashed(frame[i:i+2], mix(p.st.Muted, p.st.Background, 0.6), 1, 4, 3)
	}
}

// hatch shades with slanted lines.
func (c PlanCalendar) hatch(p *plot, x0, y0, x1, y1 float64) {
	ink := mix(p.st.Muted, p.st.Background, 0.35)
	p.gc.SetStrokeColor(ink)
	p.gc.SetLineWidth(p.u)
	step, tall := 7*p.u, y1-y0
	for x := x0 - tall; x < x1; x += step {
		ax, ay, bx, by := x, y1, x+tall, y0
		if ax < x0 {
			ax, ay = x0, y1-(x0-x)
		}
		if bx > x1 {
			bx, by = x1, y0+(x+tall-x1)
		}
		if bx > ax {
			p.gc.MoveTo(ax, ay)
			p.gc.LineTo(bx, by)
			p.gc.Stroke()
		}
	}
}

// plate writes words on a piece of paper, so that a hatching does not run through them.
func (c PlanCalendar) plate(p *plot, words string, x, y float64) {
	lh := p.lineHeight()
	p.rect(x-3*p.u, y-lh*0.5, x+p.width(words, p.st.Font)+3*p.u, y+lh*0.5, p.st.Background)
	p.text(words, x, y, 0, p.st.Muted, p.st.Font)
}

// readable is the one of two inks that stands out more on a fill.
func readable(on, a, b color.NRGBA) color.NRGBA {
	if contrast(a, on) >= contrast(b, on) {
		return a
	}
	return b
}

// contrast is the ratio of two colours as the web's accessibility rules define it (WCAG 2, relative luminance).
func contrast(a, b color.NRGBA) float64 {
	x, y := luminance(a), luminance(b)
	return (math.Max(x, y) + 0.05) / (math.Min(x, y) + 0.05)
}

func luminance(c color.NRGBA) float64 {
	lin := func(v uint8) float64 {
		if s := float64(v) / 255; s > 0.04045 {
			return math.Pow((s+0.055)/1.055, 2.4)
		} else {
			return s / 12.92
		}
	}
	return 0.2126*lin(c.R) + 0.7152*lin(c.G) + 0.0722*lin(c.B)
}

// weekName is what a band is called: "this week", "5 – 12 Dec".
func (c PlanCalendar) weekName(i int, wk CalendarWeek) string {
	if i == 0 {
		return "This week"
	}
	from, to := wk.From.In(c.zone()), wk.To.In(c.zone())
	if from.Month() == to.Month() {
		return from.Format("2") + " – " + to.Format("2 Jan")
	}
	return from.Format("2 Jan") + " – " + to.Format("2 Jan")
}

// purpose says in a word or two what a week is for.
func (wk CalendarWeek) purpose() string {
	var final, explore bool
	for _, b := range wk.Blocks {
		switch b.Kind {
		case BlockFinal, BlockSlack:
			final = true
		case BlockScreens, BlockPromotion, BlockFree, BlockStart:
			explore = true
		}
	}
	switch {
	case final && explore:
		return "explore, then final"
	case final:
		return "final, reserved"
	case explore:
		return "explore"
	}
	return "nothing to burn"
}

// drawMarks names the bands, and the lines of the resets and of the deadline.
func (c PlanCalendar) drawMarks(p *plot) {
	lh := p.lineHeight()
	last := c.Weeks[len(c.Weeks)-1]
	line := func(x, from float64, ink color.NRGBA) { p.hairline(x-p.u/2, from, x+p.u/2, p.bottom, ink) }
	end := p.right - p.u
	line(end, lh*0.9, p.st.Accent)
	words := "deadline " + last.To.In(c.zone()).Format("Mon 2 Jan 15:04")
	deadlineAt := end - p.width(words, p.st.Bold)
	p.text(words, end, lh*0.5, 1, p.st.Accent, p.st.Bold)
	edge := math.Inf(-1)
	for i, wk := range c.Weeks {
		x0, x1 := p.x.at(c.day(wk.From)), p.x.at(c.day(wk.To))
		if i > 0 {
			line(x0, lh*0.9, p.st.Muted)
			mark := "reset"
			if i == 1 {
				mark = wk.From.In(c.zone()).Format("reset Mon 15:04")
			}
			if w := p.width(mark, p.st.Font); x0 > edge && x0+w+8*p.u < deadlineAt && (i == 1 || x1-x0 > w) {
				p.text(mark, x0, lh*0.5, 0, p.st.Muted, p.st.Font)
				edge = x0 + w + 8*p.u
			}
		}
		room := x1 - x0 - 8*p.u
		name, note := c.weekName(i, wk), fmt.Sprintf("%.1f h, %s", clean(wk.Quota), wk.purpose())
		if p.width(name, p.st.Bold) > room { // a word cut short says less than the picture
			if name = wk.From.In(c.zone()).Format("2 Jan"); i == 0 || p.width(name, p.st.Bold) > room {
				continue
			}
		}
		if p.width(note, p.st.Font) > room {
			if note = fmt.Sprintf("%.1f h", clean(wk.Quota)); p.width(note, p.st.Font) > room {
				note = ""
			}
		}
		p.text(name, x0+4*p.u, lh*1.6, 0, p.st.Text, p.st.Bold)
		p.text(note, x0+4*p.u, lh*2.5, 0, p.st.Muted, p.st.Font)
	}
}

// drawDays names days below the axis, as many as fit, and sets a faint line at each midnight where there is room.
func (c PlanCalendar) drawDays(p *plot) {
	from, to := c.Weeks[0].From.In(c.zone()), c.Weeks[len(c.Weeks)-1].To
	perDay := (p.right - p.left) / c.day(to)
	y := p.bottom + 6*p.u + p.lineHeight()/2
	step := 1
	for _, s := range []int{1, 2, 7, 14, 28, 91, 364} {
		step = s
		if float64(s)*perDay > p.width("28 Mon", p.st.Font)+8*p.u {
			break
		}
	}
	layout := "Mon 2"
	if step > 1 {
		layout = "2 Jan"
	}
	edge := math.Inf(-1)
	for n := 1; ; n++ {
		day := time.Date(from.Year(), from.Month(), from.Day()+n, 0, 0, 0, 0, c.zone())
		if !day.Before(to) {
			return
		}
		x := p.x.at(c.day(day))
		if perDay > 14*p.u {
			p.hairline(x, p.top, x, p.bottom, mix(p.st.Grid, p.st.Background, 0.6))
		}
		if (n-1)%step != 0 {
			continue
		}
		s := day.Format(layout)
		w := p.width(s, p.st.Font)
		mid := x
		if step == 1 {
			mid = x + perDay/2
		}
		mid = math.Max(mid, p.left+w/2)
		if mid-w/2 < edge || mid+w/2 > p.right {
			continue
		}
		p.text(s, mid, y, 0.5, p.st.Muted, p.st.Font)
		edge = mid + w/2 + 6*p.u
	}
}

// Describe implements Chart.
func (c PlanCalendar) Describe() string {
	if c.Empty() {
		return "Plan: no hours to plan yet."
	}
	total, lost := 0.0, 0.0
	kinds := map[string]float64{}
	for _, w := range c.Weeks {
		total, lost = total+clean(w.Quota), lost+clean(w.Lost)
		for _, b := range w.Blocks {
			kinds[b.Kind] += clean(b.Hours)
		}
	}
	s := fmt.Sprintf("Plan to %s over %d resets: %.1f h", c.Weeks[len(c.Weeks)-1].To.In(c.zone()).Format("Mon 2 Jan 15:04"), len(c.Weeks)-1, total)
	for _, k := range []struct{ kind, word string }{{BlockStart, "to start now"}, {BlockScreens, "in screens"}, {BlockPromotion, "in promotions"},
		{BlockFinal, "for final models and inference"}, {BlockSlack, "slack"}, {BlockFree, "free"}} {
		if kinds[k.kind] > 0 {
			s += fmt.Sprintf(", %.1f h %s", kinds[k.kind], k.word)
		}
	}
	if lost > 0.05 {
		s += fmt.Sprintf(", %.1f h that nothing can burn", lost)
	}
	return s + "."
}

// CSV implements Chart.
func (c PlanCalendar) CSV(w io.Writer) error {
	rows := [][]string{{"from_utc", "to_utc", "kind", "label", "hours"}}
	for _, wk := range c.Weeks {
		head := []string{wk.From.UTC().Format(time.RFC3339), wk.To.UTC().Format(time.RFC3339)}
		for _, b := range wk.Blocks {
			rows = append(rows, append(head[:2:2], b.Kind, b.Label, num(b.Hours)))
		}
		if clean(wk.Lost) > 0 {
			rows = append(rows, append(head[:2:2], "lost", "cannot be burned", num(wk.Lost)))
		}
	}
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	return nil
}
