package widgets

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"
)

type fyneColor = color.Color

// VBox stacks objects with a gap of the grid.
func VBox(gap float32, objects ...fyne.CanvasObject) *fyne.Container {
	return container.New(layout.NewCustomPaddedVBoxLayout(gap), objects...)
}

// HBox puts objects side by side with a gap of the grid.
func HBox(gap float32, objects ...fyne.CanvasObject) *fyne.Container {
	return container.New(layout.NewCustomPaddedHBoxLayout(gap), objects...)
}

// Pad surrounds an object with space.
func Pad(top, right, bottom, left float32, o fyne.CanvasObject) *fyne.Container {
	return container.New(layout.NewCustomPaddedLayout(top, bottom, left, right), o)
}

// Spread puts left at the left edge and right at the right edge of a line; left gives way when there is no room for both.
func Spread(left, right fyne.CanvasObject) *fyne.Container {
	return container.New(spread{}, left, right)
}

type spread struct{}

func (spread) MinSize(o []fyne.CanvasObject) fyne.Size {
	a, b := o[0].MinSize(), o[1].MinSize()
	return fyne.NewSize(a.Width+Gap12+b.Width, max(a.Height, b.Height))
}

func (spread) Layout(o []fyne.CanvasObject, s fyne.Size) {
	b := o[1].MinSize()
	o[1].Resize(fyne.NewSize(b.Width, s.Height))
	o[1].Move(fyne.NewPos(s.Width-b.Width, 0))
	o[0].Resize(fyne.NewSize(max(0, s.Width-b.Width-Gap12), s.Height))
	o[0].Move(fyne.NewPos(0, 0))
}

// Columns places objects side by side in the given proportions, and below each other where the width is under stackBelow, which
// is meant for normal text.
// Side by side they are all as tall as the space; stacked each has its own height, the spare height going to the first.
func Columns(gap, stackBelow float32, weights []float32, objects ...fyne.CanvasObject) *fyne.Container {
	return container.New(&columns{gap, stackBelow, weights, false}, objects...)
}

type columns struct {
	gap, stackBelow float32
	weights         []float32
	stacked         bool
}

func (c *columns) MinSize(o []fyne.CanvasObject) fyne.Size {
	var s fyne.Size
	for i, x := range o {
		m := x.MinSize()
		if c.stacked || c.stackBelow > 0 {
			s.Width = max(s.Width, m.Width)
		} else {
			s.Width += m.Width
			if i > 0 {
				s.Width += c.gap
			}
		}
		if c.stacked {
			s.Height += m.Height
			if i > 0 {
				s.Height += c.gap
			}
		} else {
			s.Height = max(s.Height, m.Height)
		}
	}
	return s
}

func (c *columns) Layout(o []fyne.CanvasObject, s fyne.Size) {
	if len(o) == 0 {
		return
	}
	c.stacked = s.Width < Grown(c.stackBelow)
	if c.stacked {
		spare := s.Height - c.MinSize(o).Height
		y := float32(0)
		for i, x := range o {
			h := x.MinSize().Height
			if i == 0 {
				h += max(0, spare)
			}
			x.Move(fyne.NewPos(0, y))
			x.Resize(fyne.NewSize(s.Width, h))
			y += h + c.gap
		}
		return
	}
	total := float32(0)
	for i := range o {
		total += c.weight(i)
	}
	room := s.Width - c.gap*float32(len(o)-1)
	x := float32(0)
	for i, obj := range o {
		w := room * c.weight(i) / total
		obj.Move(fyne.NewPos(x, 0))
		obj.Resize(fyne.NewSize(w, s.Height))
		x += w + c.gap
	}
}

func (c *columns) weight(i int) float32 {
	if i < len(c.weights) {
		return c.weights[i]
	}
	return 1
}

// WrapRow places objects side by side, and on a further line what has no room.
func WrapRow(gap float32, objects ...fyne.CanvasObject) *fyne.Container {
	return container.New(&wrapRow{gap: gap}, objects...)
}

type wrapRow struct {
	gap   float32
	width float32 // of the last layout: the height follows from it
}

func (w *wrapRow) place(objects []fyne.CanvasObject, width float32, at func(o fyne.CanvasObject, x, y, height float32)) float32 {
	var x, y, tall float32
	var line []fyne.CanvasObject
	end := func() {
		for x := float32(0); len(line) > 0; line = line[1:] {
			at(line[0], x, y, tall)
			x += line[0].MinSize().Width + w.gap
		}
	}
	for _, o := range objects {
		if !o.Visible() {
			continue
		}
		m := o.MinSize()
		if x > 0 && x+m.Width > width {
			end()
			x, y, tall = 0, y+tall+w.gap, 0
		}
		line = append(line, o)
		x, tall = x+m.Width+w.gap, max(tall, m.Height)
	}
	end()
	return y + tall
}

func (w *wrapRow) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var wide float32
	for _, o := range objects {
		if o.Visible() {
			wide = max(wide, o.MinSize().Width)
		}
	}
	return fyne.NewSize(wide, w.place(objects, max(w.width, wide), func(fyne.CanvasObject, float32, float32, float32) {}))
}

func (w *wrapRow) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	w.width = size.Width
	w.place(objects, size.Width, func(o fyne.CanvasObject, x, y, height float32) {
		o.Move(fyne.NewPos(x, y))
		o.Resize(fyne.NewSize(o.MinSize().Width, height))
	})
}

// FixedHeight gives an object this height, grown with the text, whatever it asks for; its width stays its own.
func FixedHeight(h float32, o fyne.CanvasObject) *fyne.Container {
	return container.New(&atLeast{height: h, fixed: true}, o)
}

// AtLeast gives an object at least this size.
func AtLeast(w, h float32, o fyne.CanvasObject) *fyne.Container {
	return container.New(&atLeast{width: w, height: h}, o)
}

// AtMostWide keeps an object at a readable width, at the left of wider space.
func AtMostWide(w float32, o fyne.CanvasObject) *fyne.Container {
	return container.New(&atLeast{maxWidth: w}, o)
}

type atLeast struct {
	width, height, maxWidth float32
	fixed                   bool
}

func (a *atLeast) MinSize(o []fyne.CanvasObject) fyne.Size {
	m := o[0].MinSize()
	if a.fixed {
		return fyne.NewSize(m.Width, Grown(a.height))
	}
	return fyne.NewSize(max(m.Width, a.width), max(m.Height, a.height))
}

func (a *atLeast) Layout(o []fyne.CanvasObject, s fyne.Size) {
	if a.maxWidth > 0 {
		s.Width = min(s.Width, Grown(a.maxWidth))
	}
	o[0].Move(fyne.NewPos(0, 0))
	o[0].Resize(s)
}

// Middle centres an object vertically at its own height, at full width.
func Middle(o fyne.CanvasObject) *fyne.Container { return container.New(middle{}, o) }

type middle struct{}

func (middle) MinSize(o []fyne.CanvasObject) fyne.Size { return o[0].MinSize() }
func (middle) Layout(o []fyne.CanvasObject, s fyne.Size) {
	h := min(o[0].MinSize().Height, s.Height)
	o[0].Resize(fyne.NewSize(s.Width, h))
	o[0].Move(fyne.NewPos(0, (s.Height-h)/2))
}

// Hairline is a one-unit rule in the border's colour.
type Hairline struct {
	widget.BaseWidget
}

// NewHairline makes a rule.
func NewHairline() *Hairline {
	h := &Hairline{}
	h.ExtendBaseWidget(h)
	return h
}

// CreateRenderer implements fyne.Widget.
func (h *Hairline) CreateRenderer() fyne.WidgetRenderer {
	r := &boxRenderer{rect: canvas.NewRectangle(nil), min: fyne.NewSize(1, 1)}
	r.paint = func() { r.rect.FillColor = themeColor(h, ColorBorder) }
	r.paint()
	r.objects = []fyne.CanvasObject{r.rect}
	return r
}

// boxRenderer is a rectangle that fills the widget, under other objects that fill it too.
type boxRenderer struct {
	rect    *canvas.Rectangle
	objects []fyne.CanvasObject
	min     fyne.Size
	paint   func() // takes the colours from the theme
}

func (r *boxRenderer) Layout(s fyne.Size) {
	for _, o := range r.objects {
		o.Move(fyne.NewPos(0, 0))
		o.Resize(s)
	}
}

func (r *boxRenderer) MinSize() fyne.Size {
	m := r.min
	for _, o := range r.objects {
		m = m.Max(o.MinSize())
	}
	return m
}

func (r *boxRenderer) Refresh() {
	r.paint()
	for _, o := range r.objects {
		o.Refresh()
	}
}
func (r *boxRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *boxRenderer) Destroy()                     {}
