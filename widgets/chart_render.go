package widgets

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"sandglass/charts"
)

type fyneNRGBA = color.NRGBA

// chartRenderer lays the crosshair and the value box over the raster. A move of the pointer touches these few objects and never
// the picture.
type chartRenderer struct {
	c       *Chart
	raster  *canvas.Raster
	empty   *Text
	line    *canvas.Rectangle
	dot     *canvas.Circle
	tip     *canvas.Rectangle
	words   [3]*canvas.Text
	cross   *fyne.Container
	focus   *canvas.Rectangle
	objects []fyne.CanvasObject
	shown   rasterKey
}

// rasterKey is what the raster last showed; while it stays the same a refresh is only about the crosshair.
type rasterKey struct {
	pic     *charts.Picture
	version int64
	dark    bool
	text    float32
}

func (r *chartRenderer) sync() {
	c := r.c
	if c.empty() && c.Empty != "" {
		r.empty.Set(c.Empty)
		r.empty.Show()
	} else {
		r.empty.Hide()
	}
	r.focus.FillColor = nil
	r.focus.StrokeColor = color.Transparent
	if c.focused {
		r.focus.StrokeColor = themeColor(c, ColorAccent)
	}
	r.syncCross()
}

func (r *chartRenderer) syncCross() {
	h, pic, ok := r.c.hit()
	if !ok {
		r.cross.Hide()
		return
	}
	c := r.c
	s := float32(c.pixelScale(pic))
	x, y := float32(h.PX)/s, float32(h.PY)/s
	r.line.FillColor = themeColor(c, ColorMuted)
	r.line.Move(fyne.NewPos(x-0.5, float32(pic.Plot.Min.Y)/s))
	r.line.Resize(fyne.NewSize(1, float32(pic.Plot.Dy())/s))
	r.dot.FillColor, r.dot.StrokeColor, r.dot.StrokeWidth = themeColor(c, ColorSurface), themeColor(c, ColorText), 2
	r.dot.Move(fyne.NewPos(x-4, y-4))
	r.dot.Resize(fyne.NewSquareSize(8))
	r.syncTip(h, x, y)
	r.cross.Show()
}

// syncTip writes the values into a box beside the point, on the side where there is room.
func (r *chartRenderer) syncTip(h charts.Hit, x, y float32) {
	c := r.c
	size := c.Theme().Size(SizeCaption)
	ink := []fyne.ThemeColorName{ColorText, ColorText, ColorMuted}
	var w, tall float32
	for i, s := range []string{h.Series, h.YText, h.XText} {
		if ChartWords != nil {
			s = ChartWords(s)
		}
		t := r.words[i]
		t.Text, t.TextSize, t.Color = s, size, themeColor(c, ink[i])
		t.TextStyle = fyne.TextStyle{Bold: i == 0}
		m := t.MinSize()
		w, tall = max(w, m.Width), tall+m.Height
	}
	box := fyne.NewSize(w+16, tall+10)
	at := fyne.NewPos(x+12, y-box.Height-8)
	whole := c.BaseWidget.Size()
	if at.X+box.Width > whole.Width {
		at.X = x - 12 - box.Width
	}
	at.X = max(0, at.X)
	at.Y = min(max(0, at.Y), max(0, whole.Height-box.Height))
	r.tip.FillColor, r.tip.StrokeColor = themeColor(c, ColorSurface), themeColor(c, ColorBorder)
	if c.pinned != nil {
		r.tip.StrokeColor = themeColor(c, ColorAccent)
	}
	r.tip.Move(at)
	r.tip.Resize(box)
	line := at.Y + 5
	for _, t := range r.words {
		m := t.MinSize()
		t.Move(fyne.NewPos(at.X+8, line))
		t.Resize(m)
		line += m.Height
	}
}

func (r *chartRenderer) Layout(s fyne.Size) {
	r.raster.Resize(s)
	r.focus.Resize(s)
	r.cross.Resize(s)
	w := min(s.Width-Gap24, 420)
	r.empty.Resize(fyne.NewSize(max(w, 10), r.empty.MinSize().Height))
	h := r.empty.MinSize().Height
	r.empty.Resize(fyne.NewSize(max(w, 10), h))
	r.empty.Move(fyne.NewPos((s.Width-w)/2, (s.Height-h)/2))
	r.syncCross()
}

func (r *chartRenderer) MinSize() fyne.Size {
	h := r.c.MinHeight
	if h == 0 {
		h = 120
	}
	return fyne.NewSize(40, h)
}

func (r *chartRenderer) Refresh() {
	c := r.c
	th, v := c.Theme(), fyne.CurrentApp().Settings().ThemeVariant()
	key := rasterKey{c.picture(), c.version, isDark(th, v), th.Size(SizeCaption)}
	r.sync()
	if key != r.shown || drawInline.Load() > 0 {
		r.shown = key
		r.raster.Refresh()
		r.empty.Refresh()
		r.Layout(c.BaseWidget.Size())
	}
	r.cross.Refresh()
	r.focus.Refresh()
}

func (r *chartRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *chartRenderer) Destroy()                     {}
