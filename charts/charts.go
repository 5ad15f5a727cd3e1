// Package charts draws charts: data in, a finished *image.RGBA out, with the mapping from its pixels back to the data.
//
// It is pure: no clock, no disk, no network, no toolkit, so a chart may be drawn on any goroutine. A caller fills one of the chart
// types (LearningCurves, WeeklyBurn, Pace, Sparkline, Utilisation), calls Draw with a size in device pixels and a Style, shows the
// Picture's image, and asks Picture.Nearest what is under the pointer.
//
// Days that are normal in training are normal here: no data yet (Picture.Empty), one point, NaN and Inf (gaps), a constant
// series, values of any size, and tens of thousands of points (reduced to the extremes of each pixel column before drawing).
package charts

import (
	"image"
	"image/color"
	"io"

	"github.com/golang/freetype/truetype"
)

// Chart is anything that can be drawn, told in words and exported.
type Chart interface {
	// Draw makes a picture of w x h device pixels. It never fails: a chart without data gives Picture.Empty.
	Draw(w, h int, st Style) *Picture
	// Empty says that there is nothing to draw yet, without drawing.
	Empty() bool
	// Describe tells the chart in one or two sentences, for people who do not see it.
	Describe() string
	// CSV writes the data that the chart shows, with a header line.
	CSV(w io.Writer) error
}

// Ink names a colour of the Style, so that a chart's data does not depend on the theme.
type Ink int

// The inks a chart's own series may have.
const (
	InkAccent Ink = iota
	InkGPU
	InkTPU
	InkCPU
)

// Style is how a chart looks. Sizes are in units; a unit is Scale device pixels.
type Style struct {
	Scale    float64        // device pixels a unit; 0 = 1
	FontSize float64        // of labels, in units; 0 = 11
	Font     *truetype.Font // nil = go-chart's Roboto
	Bold     *truetype.Font // nil = Font

	Background color.NRGBA // behind everything; transparent colours are mixed with it
	Text       color.NRGBA
	Muted      color.NRGBA // axis labels
	Grid       color.NRGBA
	Shade      color.NRGBA // lanes and idle stretches
	Baseline   color.NRGBA // what a run is compared with

	Accent, GPU, TPU, CPU color.NRGBA
	Good, Warning, Bad    color.NRGBA

	Say func(string) string // puts words into the window's language; nil = as they are
}

func (s Style) say(words string) string {
	if s.Say == nil {
		return words
	}
	return s.Say(words)
}

func (s Style) ink(i Ink) color.NRGBA {
	switch i {
	case InkGPU:
		return s.GPU
	case InkTPU:
		return s.TPU
	case InkCPU:
		return s.CPU
	default:
		return s.Accent
	}
}

// Point is a value at a place.
type Point struct{ X, Y float64 }

// Picture is a drawn chart. It is not changed after Draw returned it, and may be read from any goroutine.
type Picture struct {
	Image *image.RGBA     // of the size asked for; filled with the background when Empty
	Empty bool            // there was nothing to draw: say what will fill it
	Plot  image.Rectangle // the data area in pixels, without axes and labels

	x, y   scale
	series []hitSeries
	boxes  []hitBox
}

// Hit is a point of the data found near a pixel.
type Hit struct {
	Series string  // "fold 2"
	X, Y   float64 // data
	XText  string  // "50 % of the schedule"
	YText  string  // "0.8123"
	PX, PY float64 // where it is drawn, in device pixels of the picture
}

// ToData gives the data coordinates of a pixel. Outside Plot it extrapolates. An empty picture gives 0, 0.
func (p *Picture) ToData(px, py float64) (x, y float64) {
	if p.Empty {
		return 0, 0
	}
	return p.x.invert(px), p.y.invert(py)
}

// ToPixel is the inverse of ToData.
func (p *Picture) ToPixel(x, y float64) (px, py float64) {
	if p.Empty {
		return 0, 0
	}
	return p.x.at(x), p.y.at(y)
}

// Nearest finds the data drawn nearest to a pixel. ok is false outside the data area and when there is no data.
func (p *Picture) Nearest(px, py float64) (Hit, bool) {
	if p.Empty || !inside(p.Plot, px, py) {
		return Hit{}, false
	}
	for _, b := range p.boxes {
		if inside(b.rect, px, py) {
			return b.hit, true
		}
	}
	best, series, index := -1.0, -1, -1
	for i, s := range p.series {
		for j, pt := range s.points {
			if !finite(pt.X) || !finite(pt.Y) {
				continue
			}
			dx, dy := s.x.at(pt.X)-px, s.y.at(pt.Y)-py
			if d := dx*dx + dy*dy; index < 0 || d < best {
				best, series, index = d, i, j
			}
		}
	}
	if index < 0 {
		return Hit{}, false
	}
	s := p.series[series]
	pt := s.points[index]
	return Hit{
		Series: s.name, X: pt.X, Y: pt.Y, XText: s.xText(pt.X), YText: s.yText(pt.Y),
		PX: s.x.at(pt.X), PY: s.y.at(pt.Y),
	}, true
}

type hitSeries struct {
	name         string
	points       []Point
	x, y         scale
	xText, yText func(float64) string
}

type hitBox struct {
	rect image.Rectangle
	hit  Hit
}

func inside(r image.Rectangle, x, y float64) bool {
	return x >= float64(r.Min.X) && x < float64(r.Max.X) && y >= float64(r.Min.Y) && y < float64(r.Max.Y)
}
