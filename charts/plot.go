package charts

import (
	"image"
	"image/color"
	"image/draw"
	"math"
	"sort"

	"github.com/golang/freetype/truetype"
	chart "github.com/wcharczuk/go-chart/v2"
	"github.com/wcharczuk/go-chart/v2/drawing"
)

// piece is how many points of a line are stroked at once. go-chart's rasteriser is quadratic in the cells that one path puts on a
// scan line, so a noisy line of thousands of points is far cheaper in pieces.
const piece = 32

// scale maps data to pixels along one axis.
type scale struct{ d0, d1, p0, p1 float64 }

func (s scale) at(v float64) float64 { return s.p0 + (v-s.d0)/(s.d1-s.d0)*(s.p1-s.p0) }

func (s scale) invert(p float64) float64 {
	if s.p1 == s.p0 {
		return s.d0
	}
	return s.d0 + (p-s.p0)/(s.p1-s.p0)*(s.d1-s.d0)
}

// plot is a picture in the making. The composition is go-chart's: a chart.Chart whose series are our layers. Its renderer takes
// whole pixels only, which makes a flat curve look like a staircase, so the layers draw into the same image through go-chart's
// own raster context, which takes fractions.
type plot struct {
	w, h                     int
	u                        float64 // device pixels a unit
	st                       Style
	renderer                 chart.Renderer
	img                      *image.RGBA
	gc                       *drawing.RasterGraphicContext
	left, top, right, bottom float64 // the data area
	x, y                     scale
	layers                   []chart.Series
}

// newPlot prepares an image for measuring and drawing. It returns nil when there is nothing to draw on.
func newPlot(w, h int, st Style) *plot {
	if st.Scale <= 0 {
		st.Scale = 1
	}
	if st.FontSize <= 0 {
		st.FontSize = 11
	}
	if st.Font == nil {
		f, err := chart.GetDefaultFont()
		if err != nil {
			return nil
		}
		st.Font = f
	}
	if st.Bold == nil {
		st.Bold = st.Font
	}
	r, err := chart.PNG(w, h)
	if err != nil {
		return nil
	}
	var iw chart.ImageWriter
	if err := r.Save(&iw); err != nil {
		return nil
	}
	img, err := iw.Image()
	if err != nil {
		return nil
	}
	rgba, ok := img.(*image.RGBA)
	if !ok {
		return nil
	}
	gc, err := drawing.NewRasterGraphicContext(rgba)
	if err != nil {
		return nil
	}
	gc.SetDPI(72 * st.Scale) // so that a font size in units is the size in points
	return &plot{w: w, h: h, u: st.Scale, st: st, renderer: r, img: rgba, gc: gc, right: float64(w), bottom: float64(h)}
}

// emptyPicture is what a chart without data gives.
func emptyPicture(w, h int, st Style) *Picture {
	img := image.NewRGBA(image.Rect(0, 0, max(w, 1), max(h, 1)))
	draw.Draw(img, img.Rect, image.NewUniform(st.Background), image.Point{}, draw.Src)
	return &Picture{Image: img, Empty: true}
}

// area fixes the data area, in pixels, and what it spans.
func (p *plot) area(left, top, right, bottom, x0, x1, y0, y1 float64) bool {
	p.left, p.top, p.right, p.bottom = math.Round(left), math.Round(top), math.Round(right), math.Round(bottom)
	if p.right-p.left < 4 || p.bottom-p.top < 4 {
		return false
	}
	p.x = scale{x0, x1, p.left, p.right}
	p.y = scale{y0, y1, p.bottom, p.top}
	return true
}

// layer adds something to draw; later layers are on top.
func (p *plot) layer(name string, draw func()) {
	p.layers = append(p.layers, layer{name, draw})
}

type layer struct {
	name string
	draw func()
}

func (l layer) GetName() string                                                         { return l.name }
func (l layer) GetYAxis() chart.YAxisType                                               { return chart.YAxisPrimary }
func (l layer) GetStyle() chart.Style                                                   { return chart.Style{} }
func (l layer) Validate() error                                                         { return nil }
func (l layer) Render(chart.Renderer, chart.Box, chart.Range, chart.Range, chart.Style) { l.draw() }

// finish draws the layers and gives the picture.
func (p *plot) finish() *Picture {
	bg := goColor(p.st.Background)
	fill := chart.Style{FillColor: bg, StrokeColor: bg, StrokeWidth: 1,
		Padding: chart.Box{Top: int(p.top), Left: int(p.left), Right: p.w - int(p.right), Bottom: p.h - int(p.bottom), IsSet: true}}
	c := chart.Chart{
		Width: p.w, Height: p.h, DPI: 72 * p.u, Font: p.st.Font, Background: fill,
		Canvas:         chart.Style{FillColor: bg, StrokeColor: bg, StrokeWidth: 1},
		XAxis:          chart.XAxis{Style: chart.Hidden(), Range: &chart.ContinuousRange{Min: p.x.d0, Max: p.x.d1}},
		YAxis:          chart.YAxis{Style: chart.Hidden(), Range: &chart.ContinuousRange{Min: p.y.d0, Max: p.y.d1}},
		YAxisSecondary: chart.YAxis{Style: chart.Hidden()},
		Series:         p.layers,
	}
	var iw chart.ImageWriter
	provider := func(int, int) (chart.Renderer, error) { return p.renderer, nil }
	if err := c.Render(provider, &iw); err != nil {
		return emptyPicture(p.w, p.h, p.st) // go-chart refuses no series and ranges without width; callers give neither
	}
	return &Picture{Image: p.img, Plot: image.Rect(int(p.left), int(p.top), int(p.right), int(p.bottom)), x: p.x, y: p.y}
}

func goColor(c color.NRGBA) drawing.Color { return drawing.Color{R: c.R, G: c.G, B: c.B, A: c.A} }

// mix gives an opaque colour: share of a on b. Lines drawn in pieces overlap, so they must not be translucent.
func mix(a, b color.NRGBA, share float64) color.NRGBA {
	m := func(x, y uint8) uint8 { return uint8(math.Round(float64(x)*share + float64(y)*(1-share))) }
	return color.NRGBA{R: m(a.R, b.R), G: m(a.G, b.G), B: m(a.B, b.B), A: 255}
}

// hairline is one crisp device line, wider on dense displays.
func (p *plot) hairline(x0, y0, x1, y1 float64, c color.NRGBA) {
	wide := max(1, math.Round(p.u))
	r := image.Rect(int(math.Round(x0)), int(math.Round(y0)), int(math.Round(x1)), int(math.Round(y1)))
	if r.Dx() == 0 {
		r.Max.X = r.Min.X + int(wide)
	}
	if r.Dy() == 0 {
		r.Max.Y = r.Min.Y + int(wide)
	}
	draw.Draw(p.img, r, image.NewUniform(c), image.Point{}, draw.Over)
}

// rect fills a pixel-aligned box.
func (p *plot) rect(x0, y0, x1, y1 float64, c color.NRGBA) image.Rectangle {
	r := image.Rect(int(math.Round(x0)), int(math.Round(y0)), int(math.Round(x1)), int(math.Round(y1)))
	draw.Draw(p.img, r, image.NewUniform(c), image.Point{}, draw.Over)
	return r
}

// line strokes data points. width is in units; gaps stay open. A lone point between gaps becomes a dot.
func (p *plot) line(points []Point, c color.NRGBA, width float64) {
	p.gc.SetStrokeColor(c)
	p.gc.SetLineWidth(width * p.u)
	points = Decimate(points, p.x.d0, p.x.d1, int(p.right-p.left))
	eachRun(points, func(run []Point) {
		if len(run) == 1 {
			p.dot(run[0], c, width)
			return
		}
		for from := 0; from < len(run)-1; from += piece {
			p.gc.MoveTo(p.x.at(run[from].X), p.y.at(run[from].Y))
			for _, pt := range run[from+1 : min(from+piece+2, len(run))] { // one segment twice: no notch at the joint
				p.gc.LineTo(p.x.at(pt.X), p.y.at(pt.Y))
			}
			p.gc.Stroke()
		}
	})
}

// dashed strokes data points with dashes and gaps of these lengths in units. go-chart's own dashes close up where the points lie
// nearer together than a dash is long, so the pattern is walked here.
func (p *plot) dashed(points []Point, c color.NRGBA, width, dash, gap float64) {
	p.gc.SetStrokeColor(c)
	p.gc.SetLineWidth(width * p.u)
	points = Decimate(points, p.x.d0, p.x.d1, int(p.right-p.left))
	left, on := dash*p.u, true
	eachRun(points, func(run []Point) {
		x, y := p.x.at(run[0].X), p.y.at(run[0].Y)
		p.gc.MoveTo(x, y)
		for _, pt := range run[1:] {
			tx, ty := p.x.at(pt.X), p.y.at(pt.Y)
			for d := math.Hypot(tx-x, ty-y); d > left; d = math.Hypot(tx-x, ty-y) {
				x, y = x+(tx-x)*left/d, y+(ty-y)*left/d
				if on {
					p.gc.LineTo(x, y)
					p.gc.Stroke()
				}
				p.gc.MoveTo(x, y)
				on = !on
				if left = gap * p.u; on {
					left = dash * p.u
				}
			}
			left -= math.Hypot(tx-x, ty-y)
			x, y = tx, ty
			if on {
				p.gc.LineTo(x, y)
			} else {
				p.gc.BeginPath()
				p.gc.MoveTo(x, y)
			}
		}
		if on {
			p.gc.Stroke()
		}
		p.gc.BeginPath()
	})
}

// eachRun calls f with each stretch of finite points.
func eachRun(points []Point, f func([]Point)) {
	start := 0
	for i := 0; i <= len(points); i++ {
		if i < len(points) && finite(points[i].X) && finite(points[i].Y) {
			continue
		}
		if i > start {
			f(points[start:i])
		}
		start = i + 1
	}
}

// dot is a filled circle at a data point; radius in units.
func (p *plot) dot(pt Point, c color.NRGBA, radius float64) {
	x, y, r := p.x.at(pt.X), p.y.at(pt.Y), radius*p.u
	p.gc.SetFillColor(c)
	p.gc.MoveTo(x+r, y)
	p.gc.ArcTo(x, y, r, r, 0, 2*math.Pi)
	p.gc.Close()
	p.gc.Fill()
}

// band fills between two lines of the same X values.
func (p *plot) band(lo, hi []Point, c color.NRGBA) {
	if len(lo) < 2 || len(lo) != len(hi) {
		return
	}
	p.gc.SetFillColor(c)
	p.gc.MoveTo(p.x.at(lo[0].X), p.y.at(lo[0].Y))
	for _, pt := range lo[1:] {
		p.gc.LineTo(p.x.at(pt.X), p.y.at(pt.Y))
	}
	for i := len(hi) - 1; i >= 0; i-- {
		p.gc.LineTo(p.x.at(hi[i].X), p.y.at(hi[i].Y))
	}
	p.gc.Close()
	p.gc.Fill()
}

// width measures text, in pixels.
func (p *plot) width(s string, f *truetype.Font) float64 {
	s = p.st.say(s)
	p.gc.SetFont(f)
	p.gc.SetFontSize(p.st.FontSize)
	_, _, r, _, err := p.gc.GetStringBounds(s)
	if err != nil || s == "" {
		return 0
	}
	return r
}

// text writes s with its vertical middle at y. align 0 starts at x, 0.5 is centred on it, 1 ends there.
func (p *plot) text(s string, x, y, align float64, c color.NRGBA, f *truetype.Font) {
	if s == "" {
		return
	}
	s = p.st.say(s)
	w := p.width(s, f)
	p.gc.SetFillColor(c)
	// The middle of a digit is about 0.357 of the font size above the baseline.
	base := math.Round(y + 0.357*p.st.FontSize*p.u)
	if _, err := p.gc.CreateStringPath(s, math.Round(x-w*align), base); err == nil {
		p.gc.Fill()
	}
}

// fit shortens s with an ellipsis until it is at most wide pixels.
func (p *plot) fit(s string, wide float64, f *truetype.Font) string {
	s = p.st.say(s)
	if p.width(s, f) <= wide {
		return s
	}
	r := []rune(s)
	for len(r) > 1 {
		r = r[:len(r)-1]
		if t := string(r) + "…"; p.width(t, f) <= wide {
			return t
		}
	}
	return ""
}

func (p *plot) lineHeight() float64 { return math.Ceil(p.st.FontSize * p.u * 1.35) }

// yAxis draws grid lines and labels left of the data area.
func (p *plot) yAxis(ticks []float64, text func(float64) string) {
	p.layer("grid", func() {
		for _, t := range ticks {
			y := p.y.at(t)
			p.hairline(p.left, y, p.right, y, p.st.Grid)
			p.text(text(t), p.left-6*p.u, y, 1, p.st.Muted, p.st.Font)
		}
	})
}

// xAxis writes labels below the data area, leaving out those that would touch the one before.
func (p *plot) xAxis(ticks []float64, text func(float64) string, name string) {
	p.layer("x axis", func() {
		y := p.bottom + 6*p.u + p.lineHeight()/2
		edge := math.Inf(-1)
		for _, t := range ticks {
			s := text(t)
			w, x := p.width(s, p.st.Font), p.x.at(t)
			x = math.Min(math.Max(x, w/2), float64(p.w)-w/2)
			if x-w/2 < edge {
				continue
			}
			p.text(s, x, y, 0.5, p.st.Muted, p.st.Font)
			edge = x + w/2 + 8*p.u
		}
		p.text(name, (p.left+p.right)/2, y+p.lineHeight(), 0.5, p.st.Muted, p.st.Font)
	})
}

// label is a direct label at the end of a line: a bold name and a plain second line.
type label struct {
	y            float64 // wanted middle, in pixels
	name, detail string
	short        string // instead of detail where that does not fit
	ink          color.NRGBA
}

func (l label) lines() float64 {
	if l.detail == "" {
		return 1
	}
	return 2
}

// spread moves labels apart until none overlap, as little as it can, within top and bottom.
func spread(labels []label, lineHeight, top, bottom float64) {
	sort.SliceStable(labels, func(i, j int) bool { return labels[i].y < labels[j].y })
	edge := top
	for i := range labels {
		half := labels[i].lines() * lineHeight / 2
		labels[i].y = math.Max(labels[i].y, edge+half)
		edge = labels[i].y + half + lineHeight*0.3
	}
	edge = bottom
	for i := len(labels) - 1; i >= 0; i-- {
		half := labels[i].lines() * lineHeight / 2
		labels[i].y = math.Min(labels[i].y, edge-half)
		edge = labels[i].y - half - lineHeight*0.3
	}
}
