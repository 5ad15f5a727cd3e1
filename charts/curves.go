package charts

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
)

// XAxis says what a learning curve is drawn against.
type XAxis int

// Horizontal axes of LearningCurves.
const (
	ByFraction XAxis = iota // share of the schedule, 0 to 1
	ByEpoch
	ByHours // since the task's start
)

// CurvePoint is one evaluation. A value that is not known is NaN, and then the point is missing from that axis.
type CurvePoint struct {
	Epoch, Frac, Hours float64
	Score              float64
}

// Curve is one fold's learning curve, in the order of training.
type Curve struct {
	Name   string
	Points []CurvePoint
	Done   bool // no more points will come
}

// LearningCurves draws a run's curves against a baseline.
type LearningCurves struct {
	Metric       string // "AUC"
	X            XAxis
	Ink          Ink
	Name         string  // of the run; the label at the line's end
	Curves       []Curve // drawn thin, their mean thick
	BaselineName string  // "" = "baseline"
	Baseline     []Curve // drawn as a grey band: mean and one standard deviation of the folds
	Greater      bool    // higher scores are better
	PruneMargin  float64 // > 0: the pruning line, this far on the bad side of the baseline's mean
	PruneMinFrac float64 // the share of the schedule from which pruning is judged
}

func (c LearningCurves) points(cv Curve) []Point {
	out := make([]Point, len(cv.Points))
	for i, p := range cv.Points {
		x := p.Frac
		switch c.X {
		case ByEpoch:
			x = p.Epoch
		case ByHours:
			x = p.Hours
		}
		out[i] = Point{x, p.Score}
	}
	return out
}

func (c LearningCurves) sets() (own, base [][]Point) {
	for _, cv := range c.Curves {
		own = append(own, c.points(cv))
	}
	for _, cv := range c.Baseline {
		base = append(base, c.points(cv))
	}
	return own, base
}

// Empty implements Chart.
func (c LearningCurves) Empty() bool {
	own, base := c.sets()
	return !boundsOf(own, base).ok
}

// Draw implements Chart.
func (c LearningCurves) Draw(w, h int, st Style) *Picture {
	own, base := c.sets()
	b := boundsOf(own, base)
	p := newPlot(w, h, st)
	if p == nil || !b.ok {
		return emptyPicture(w, h, st)
	}
	st = p.st
	mean := meanOf(own)
	baseMean, baseLo, baseHi := spreadOf(base)
	prune := c.pruneLine(baseMean)
	for _, pts := range [][]Point{prune, baseLo, baseHi} { // the band reaches beyond the curves it is made of
		for _, pt := range pts {
			b.add(pt)
		}
	}
	yTicks, y0, y1 := snug(b.y0, b.y1)
	yText := tickText(yTicks)
	xTicks, xText, xName := c.xTicks(b)

	labels := c.labels(own, mean, baseMean, st)
	gutter := 0.0
	limit := float64(w) * 0.28
	for i := range labels {
		labels[i].name = p.fit(labels[i].name, limit, st.Bold)
		if p.width(labels[i].detail, st.Font) > limit {
			labels[i].detail = p.fit(labels[i].short, limit, st.Font)
		}
		gutter = math.Max(gutter, math.Max(p.width(labels[i].name, st.Bold), p.width(labels[i].detail, st.Font)))
	}
	left := 8*p.u + widest(p, yTicks, yText)
	lh := p.lineHeight()
	right := float64(w) - gutter - 12*p.u
	if gutter == 0 {
		right = float64(w) - 14*p.u
	}
	if !p.area(left, lh/2+2*p.u, right, float64(h)-2*lh-8*p.u, xTicks[0], xTicks[len(xTicks)-1], y0, y1) {
		return emptyPicture(w, h, st)
	}
	p.yAxis(yTicks, yText)
	p.xAxis(xTicks, xText, xName)
	ink := st.ink(c.Ink)
	p.layer("baseline", func() {
		p.band(baseLo, baseHi, mix(st.Baseline, st.Background, 0.22))
		p.line(baseMean, st.Baseline, 1.4)
	})
	p.layer("pruning line", func() { c.drawPrune(p, prune) })
	p.layer("folds", func() { c.drawFolds(p, own, mean, mix(ink, st.Background, 0.55)) })
	p.layer("mean", func() {
		p.line(mean, ink, 2.6)
		for i, pts := range own {
			if last, ok := lastFinite(pts); ok && !c.Curves[i].Done {
				p.dot(last, ink, 3.4)
			}
		}
	})
	p.layer("labels", func() {
		for i := range labels {
			labels[i].y = p.y.at(labels[i].y)
		}
		spread(labels, lh, p.top-lh/2, p.bottom)
		for _, l := range labels {
			y := l.y
			if l.lines() == 2 {
				y -= lh / 2
				p.text(l.detail, p.right+8*p.u, y+lh, 0, l.ink, st.Font)
			}
			p.text(l.name, p.right+8*p.u, y, 0, l.ink, st.Bold)
		}
	})
	pic := p.finish()
	c.hits(pic, own, baseMean, xText)
	return pic
}

func (c LearningCurves) drawFolds(p *plot, own [][]Point, mean []Point, thin colorNRGBA) {
	for _, pts := range own {
		if len(own) == 1 && len(mean) > 0 {
			return // the mean of one curve is the curve
		}
		p.line(pts, thin, 1.2)
	}
}

func (c LearningCurves) drawPrune(p *plot, prune []Point) {
	if len(prune) < 2 {
		return
	}
	p.dashed(prune, p.st.Bad, 1.2, 5, 4)
	at := prune[len(prune)*2/5]
	side := 1.0 // below the line when higher is better: the losing side is free of curves
	if !c.Greater {
		side = -1
	}
	y := p.y.at(at.Y) + side*p.lineHeight()*1.1
	if y > p.top+p.lineHeight()/2 && y < p.bottom-p.lineHeight()/2 {
		p.text("pruning line", p.x.at(at.X), y, 0, p.st.Bad, p.st.Font)
	}
}

func (c LearningCurves) pruneLine(baseMean []Point) []Point {
	if c.PruneMargin <= 0 || len(baseMean) < 2 {
		return nil
	}
	margin := -c.PruneMargin
	if !c.Greater {
		margin = c.PruneMargin
	}
	from := baseMean[0].X + (baseMean[len(baseMean)-1].X-baseMean[0].X)*c.PruneMinFrac
	if c.X == ByFraction {
		from = c.PruneMinFrac
	}
	var out []Point
	for _, pt := range baseMean {
		if pt.X >= from {
			out = append(out, Point{pt.X, pt.Y + margin})
		}
	}
	return out
}

func (c LearningCurves) baselineName() string {
	if c.BaselineName == "" {
		return "baseline"
	}
	return c.BaselineName
}

// labels are what stands at the line ends; y is still in data.
func (c LearningCurves) labels(own [][]Point, mean, baseMean []Point, st Style) []label {
	var out []label
	if n, v, folds := c.finalMean(own); n != "" {
		at := v
		if last, ok := lastFinite(mean); ok && folds == 0 {
			at = last.Y
		}
		out = append(out, label{y: at, name: c.Name, detail: n, short: formatValue(v), ink: st.ink(c.Ink)})
	}
	if last, ok := lastFinite(baseMean); ok {
		detail := formatValue(last.Y)
		if sd := c.baselineSpread(); sd > 0 {
			detail += " ± " + formatSpread(sd)
		}
		out = append(out, label{y: last.Y, name: c.baselineName(), detail: detail, short: formatValue(last.Y), ink: st.Muted})
	}
	return out
}

// finalMean tells where the run stands: the mean of the finished folds, or the mean of where the others are now. folds is the
// number of finished folds.
func (c LearningCurves) finalMean(own [][]Point) (text string, value float64, folds int) {
	var done, all []float64
	for i, pts := range own {
		last, ok := lastFinite(pts)
		if !ok {
			continue
		}
		all = append(all, last.Y)
		if c.Curves[i].Done {
			done = append(done, last.Y)
		}
	}
	switch {
	case len(all) == 0:
		return "", 0, 0
	case len(done) > 1:
		return fmt.Sprintf("%s mean of %d", formatValue(avg(done)), len(done)), avg(done), len(done)
	case len(done) == 1:
		return formatValue(done[0]), done[0], 1
	case len(all) == 1:
		return formatValue(all[0]) + " now", all[0], 0
	default:
		return fmt.Sprintf("%s now, mean of %d", formatValue(avg(all)), len(all)), avg(all), 0
	}
}

func (c LearningCurves) baselineSpread() float64 {
	var last []float64
	for _, cv := range c.Baseline {
		if pt, ok := lastFinite(c.points(cv)); ok {
			last = append(last, pt.Y)
		}
	}
	return deviation(last)
}

func (c LearningCurves) xTicks(b bounds) ([]float64, func(float64) string, string) {
	switch c.X {
	case ByEpoch:
		t := Ticks(math.Min(b.x0, 0), b.x1, MaxTicks)
		return t, tickText(t), "epoch"
	case ByHours:
		t := Ticks(math.Min(b.x0, 0), b.x1, MaxTicks)
		text := tickText(t)
		return t, func(v float64) string { return text(v) + " h" }, "hours since the fold's start"
	default:
		t := []float64{0, 0.25, 0.5, 0.75, 1}
		if b.x1 > 1+1e-9 { // a schedule that was longer than planned
			t = Ticks(0, b.x1, MaxTicks)
		}
		step := (t[1] - t[0]) * 100
		return t, func(v float64) string { return FormatTick(v*100, step) + " %" }, "fraction of the schedule"
	}
}

func (c LearningCurves) hits(pic *Picture, own [][]Point, baseMean []Point, xText func(float64) string) {
	where := func(v float64) string {
		switch c.X {
		case ByEpoch:
			return "epoch " + strconv.FormatFloat(v, 'f', -1, 64)
		case ByHours:
			return fmt.Sprintf("%.2f h", v)
		default:
			return fmt.Sprintf("%.0f %% of the schedule", v*100)
		}
	}
	value := func(v float64) string {
		if c.Metric == "" {
			return formatValue(v)
		}
		return c.Metric + " " + formatValue(v)
	}
	for i, pts := range own {
		pic.series = append(pic.series, hitSeries{c.Curves[i].Name, pts, pic.x, pic.y, where, value})
	}
	if len(baseMean) > 0 {
		pic.series = append(pic.series, hitSeries{c.baselineName() + ", mean", baseMean, pic.x, pic.y, where, value})
	}
}

// Describe implements Chart.
func (c LearningCurves) Describe() string {
	own, base := c.sets()
	text, _, _ := c.finalMean(own)
	if text == "" {
		return "Learning curves: no evaluations yet."
	}
	out := fmt.Sprintf("Learning curves of %s: %s %s over %d folds.", c.Name, c.Metric, text, len(c.Curves))
	if mean, _, _ := spreadOf(base); len(mean) > 0 {
		out += fmt.Sprintf(" %s ended at %s.", c.baselineName(), formatValue(mean[len(mean)-1].Y))
	}
	return out
}

// CSV implements Chart: one line an evaluation.
func (c LearningCurves) CSV(w io.Writer) error {
	cw := csv.NewWriter(w)
	rows := [][]string{{"series", "curve", "epoch", "fraction", "hours", "score"}}
	add := func(series string, curves []Curve) {
		for _, cv := range curves {
			for _, p := range cv.Points {
				rows = append(rows, []string{series, cv.Name, num(p.Epoch), num(p.Frac), num(p.Hours), num(p.Score)})
			}
		}
	}
	add("run", c.Curves)
	add("baseline", c.Baseline)
	if err := cw.WriteAll(rows); err != nil {
		return fmt.Errorf("write learning curves: %w", err)
	}
	return nil
}
