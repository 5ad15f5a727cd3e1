package widgets

import (
	"bytes"
	"image"
	"image/draw"
	"image/png"
	"io"
	"reflect"
	"sync"
	"sync/atomic"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"github.com/golang/freetype/truetype"

	"sandglass/charts"
)

var (
	_                         fyne.Widget            = (*Chart)(nil)
	_                         desktop.Hoverable      = (*Chart)(nil)
	_                         fyne.Tappable          = (*Chart)(nil)
	_                         fyne.SecondaryTappable = (*Chart)(nil)
	_                         fyne.Focusable         = (*Chart)(nil)
	drawInline, chartsVersion atomic.Int64
)

// DrawInline makes every Chart draw on the calling goroutine, so that a picture of a page can be taken without an event loop. It
// returns the function that puts the usual way back.
func DrawInline() (undo func()) {
	drawInline.Add(1)
	return func() { drawInline.Add(-1) }
}

// Chart shows what package charts draws. The picture is made off the UI thread for exactly the device pixels it will have, once
// for each size, theme and data; until it is ready the previous one stays, never stretched.
//
// The pointer shows the values of the nearest point; a tap or Enter pins them, Escape or a second tap lets go; the arrow keys walk
// along the data. A secondary tap offers the exports when OnExport is set.
type Chart struct {
	widget.BaseWidget
	Empty     string  // what will fill the chart; shown while there is no data
	MinHeight float32 // 0 = 120
	Plain     bool    // no hover, no focus: a sparkline in a row
	// OnExport is asked to store an export; name is a suggestion with its extension. write is safe on any goroutine.
	OnExport func(name string, write func(io.Writer) error)
	Name     string // base of export names
	OnPin    func(charts.Hit)
	OnFocus  func() // it got the keyboard: a scroller brings it into sight

	data    charts.Chart
	version int64

	mu      sync.Mutex // guards what the drawing goroutine hands over
	ready   *charts.Picture
	key     chartKey
	drawing bool // one picture is made at a time: live data that changes faster than it can be drawn must not starve the chart

	at      fyne.Position
	over    bool
	focused bool
	pinned  *charts.Hit
}

type chartKey struct {
	w, h    int
	version int64
	dark    bool
	text    float32
}

// NewChart makes a chart without data; empty says what will fill it.
func NewChart(empty string) *Chart {
	c := &Chart{Empty: empty}
	c.ExtendBaseWidget(c)
	return c
}

// NewSparkline makes a small chart without interaction.
func NewSparkline(width, height float32) *fyne.Container {
	c := &Chart{Plain: true, MinHeight: height}
	c.ExtendBaseWidget(c)
	return AtLeast(width, height, c)
}

// SetData shows other data. It must not be changed afterwards. nil shows the empty sentence.
// Data that is equal to what is shown costs nothing.
func (c *Chart) SetData(d charts.Chart) {
	if c.data != nil && reflect.DeepEqual(c.data, d) {
		c.Refresh() // the empty sentence may have changed
		return
	}
	c.data = d
	c.version = chartsVersion.Add(1)
	c.pinned = nil
	c.Refresh()
}

func (c *Chart) empty() bool { return c.data == nil || c.data.Empty() }

// Data is what the chart shows.
func (c *Chart) Data() charts.Chart { return c.data }

// Description tells the chart in words.
func (c *Chart) Description() string {
	if c.empty() && c.Empty != "" {
		return c.Empty
	}
	if c.data == nil {
		return ""
	}
	return c.data.Describe()
}

// PNG draws the chart at w x h units and the given scale, for an export.
func (c *Chart) PNG(out io.Writer, w, h int, scale float64) error {
	if c.data == nil {
		return nil
	}
	st := chartStyle(c.Theme(), scale)
	return png.Encode(out, c.data.Draw(int(float64(w)*scale), int(float64(h)*scale), st).Image)
}

// image is the raster's generator: it hands over a finished picture and starts the drawing of a missing one.
func (c *Chart) image(w, h int) image.Image {
	if c.data == nil || w < 2 || h < 2 {
		return image.NewRGBA(image.Rect(0, 0, max(w, 1), max(h, 1)))
	}
	th := c.Theme()
	variant := fyne.CurrentApp().Settings().ThemeVariant()
	key := chartKey{w, h, c.version, isDark(th, variant), th.Size(SizeCaption)}
	c.mu.Lock()
	ready, have, busy := c.ready, c.key, c.drawing
	stale := have != key || ready == nil
	c.drawing = c.drawing || stale
	c.mu.Unlock()
	if !stale {
		return ready.Image
	}
	if !busy {
		st := chartStyle(th, float64(w)/float64(max(c.BaseWidget.Size().Width, 1)))
		data := c.data
		if drawInline.Load() > 0 {
			return c.finish(key, data.Draw(w, h, st)).Image
		}
		go func() {
			c.finish(key, data.Draw(w, h, st))
			fyne.Do(c.Refresh)
		}()
	}
	return cropped(ready, w, h, th, variant)
}

// finish keeps a picture. When another one was asked for meanwhile, the refresh that follows asks again.
func (c *Chart) finish(key chartKey, pic *charts.Picture) *charts.Picture {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ready, c.key, c.drawing = pic, key, false
	return pic
}

func (c *Chart) picture() *charts.Picture {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ready
}

// cropped is the last picture on a background of the new size.
func cropped(p *charts.Picture, w, h int, th fyne.Theme, v fyne.ThemeVariant) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(img, img.Rect, image.NewUniform(th.Color(ColorSurface, v)), image.Point{}, draw.Src)
	if p != nil {
		draw.Draw(img, p.Image.Rect, p.Image, image.Point{}, draw.Src)
	}
	return img
}

func isDark(th fyne.Theme, v fyne.ThemeVariant) bool {
	bg := nrgba(th.Color(ColorBackground, v))
	return int(bg.R)+int(bg.G)+int(bg.B) < 3*128
}

// ChartStyle is the current theme for package charts at a scale of device pixels a unit.
func ChartStyle(scale float64) charts.Style { return chartStyle(theme.Current(), scale) }

func chartStyle(th fyne.Theme, scale float64) charts.Style {
	v := fyne.CurrentApp().Settings().ThemeVariant()
	col := func(n fyne.ThemeColorName) fyneNRGBA { return nrgba(th.Color(n, v)) }
	font, bold := chartFonts(th)
	shade := col(ColorBackground)
	if isDark(th, v) {
		shade = col(ColorTrack)
	}
	return charts.Style{
		Scale: scale, FontSize: float64(max(11, th.Size(SizeCaption)-0.5)), Font: font, Bold: bold,
		Background: col(ColorSurface), Text: col(ColorText), Muted: col(ColorMuted), Grid: col(ColorBorder),
		Shade: shade, Baseline: col(ColorMuted), Accent: col(ColorAccent), GPU: col(ColorGPU), TPU: col(ColorTPU), CPU: col(ColorCPU),
		Good: col(ColorGood), Warning: col(ColorWarning), Bad: col(ColorBad), Say: ChartWords,
	}
}

// ChartWords puts the words of charts into the window's language; nil = as they are. It is set once, before the first chart is made.
var ChartWords func(string) string

var fonts struct {
	sync.Mutex
	parsed map[string]*truetype.Font
}

// chartFonts parses the theme's fonts, once each. A font that freetype cannot read leaves go-chart's own.
func chartFonts(th fyne.Theme) (regular, bold *truetype.Font) {
	fonts.Lock()
	defer fonts.Unlock()
	if fonts.parsed == nil {
		fonts.parsed = map[string]*truetype.Font{}
	}
	get := func(s fyne.TextStyle) *truetype.Font {
		res := th.Font(s)
		f, ok := fonts.parsed[res.Name()]
		if !ok {
			f, _ = truetype.Parse(res.Content())
			fonts.parsed[res.Name()] = f
		}
		return f
	}
	return get(fyne.TextStyle{}), get(fyne.TextStyle{Bold: true})
}

// hit is what the crosshair shows: the pinned point, else the one nearest to the pointer.
func (c *Chart) hit() (charts.Hit, *charts.Picture, bool) {
	pic := c.picture()
	if pic == nil || pic.Empty || c.Plain {
		return charts.Hit{}, nil, false
	}
	if c.pinned != nil {
		h := *c.pinned
		if c.pinnedMoved(pic) {
			h.PX, h.PY = pic.ToPixel(h.X, h.Y)
		}
		return h, pic, true
	}
	if !c.over && !c.focused {
		return charts.Hit{}, nil, false
	}
	s := c.pixelScale(pic)
	h, ok := pic.Nearest(float64(c.at.X)*s, float64(c.at.Y)*s)
	return h, pic, ok
}

// pinnedMoved says whether the picture was drawn anew since the pin, so that the pixel must be found again from the data.
func (c *Chart) pinnedMoved(pic *charts.Picture) bool {
	x, y := pic.ToPixel(c.pinned.X, c.pinned.Y)
	return x != c.pinned.PX && y != c.pinned.PY
}

func (c *Chart) pixelScale(pic *charts.Picture) float64 {
	return float64(pic.Image.Rect.Dx()) / float64(max(c.BaseWidget.Size().Width, 1))
}

// MouseIn implements desktop.Hoverable.
func (c *Chart) MouseIn(e *desktop.MouseEvent) { c.MouseMoved(e) }

// MouseMoved implements desktop.Hoverable.
func (c *Chart) MouseMoved(e *desktop.MouseEvent) {
	c.over, c.at = true, e.Position
	c.refreshCross()
}

// MouseOut implements desktop.Hoverable.
func (c *Chart) MouseOut() {
	c.over = false
	c.refreshCross()
}

// Tapped pins the point under the pointer, or lets the pinned one go.
func (c *Chart) Tapped(e *fyne.PointEvent) {
	if c.Plain {
		return
	}
	if c.pinned != nil {
		c.pinned = nil
		c.refreshCross()
		return
	}
	c.at = e.Position
	was := c.over
	c.over = true
	c.pin()
	c.over = was
}

func (c *Chart) pin() {
	h, _, ok := c.hit()
	if !ok {
		return
	}
	c.pinned = &h
	if c.OnPin != nil {
		c.OnPin(h)
	}
	c.refreshCross()
}

// TappedSecondary offers the exports.
func (c *Chart) TappedSecondary(e *fyne.PointEvent) {
	if menu := c.Menu(); menu != nil {
		widget.ShowPopUpMenuAtPosition(menu, fyne.CurrentApp().Driver().CanvasForObject(c), e.AbsolutePosition)
	}
}

// Menu is the chart's menu; nil when there is nothing to export.
func (c *Chart) Menu() *fyne.Menu {
	if c.OnExport == nil || c.empty() {
		return nil
	}
	name := c.Name
	if name == "" {
		name = "chart"
	}
	data := c.data
	st, size := chartStyle(c.Theme(), 2), c.BaseWidget.Size()
	return fyne.NewMenu("",
		fyne.NewMenuItem(lang.L("Save as PNG…"), func() {
			c.OnExport(name+".png", func(w io.Writer) error {
				return png.Encode(w, data.Draw(int(size.Width*2), int(size.Height*2), st).Image)
			})
		}),
		fyne.NewMenuItem(lang.L("Save as CSV…"), func() { c.OnExport(name+".csv", data.CSV) }),
		fyne.NewMenuItem(lang.L("Copy as CSV"), func() {
			var b bytes.Buffer
			if data.CSV(&b) == nil {
				fyne.CurrentApp().Clipboard().SetContent(b.String())
			}
		}))
}

// FocusGained implements fyne.Focusable.
func (c *Chart) FocusGained() {
	c.focused = !c.Plain
	if pic := c.picture(); c.focused && pic != nil && !pic.Empty && !c.over {
		s := c.pixelScale(pic)
		c.at = fyne.NewPos(float32(float64(pic.Plot.Max.X-1)/s), float32(float64(pic.Plot.Min.Y+pic.Plot.Dy()/2)/s))
	}
	c.refreshCross()
	if c.OnFocus != nil {
		c.OnFocus()
	}
}

// FocusLost implements fyne.Focusable.
func (c *Chart) FocusLost() {
	c.focused = false
	c.refreshCross()
}

// TypedRune implements fyne.Focusable.
func (c *Chart) TypedRune(rune) {}

// TypedKey walks along the data with the arrows, pins with Enter or space, lets go with Escape.
func (c *Chart) TypedKey(e *fyne.KeyEvent) {
	pic := c.picture()
	if pic == nil || pic.Empty {
		return
	}
	s := float32(c.pixelScale(pic))
	step := max(2, float32(pic.Plot.Dx())/s/40)
	switch e.Name {
	case fyne.KeyLeft:
		c.at.X -= step
	case fyne.KeyRight:
		c.at.X += step
	case fyne.KeyUp:
		c.at.Y -= step
	case fyne.KeyDown:
		c.at.Y += step
	case fyne.KeyEscape:
		c.pinned = nil
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace:
		if c.pinned != nil {
			c.pinned = nil
		} else {
			c.pin()
		}
	}
	c.at.X = min(max(c.at.X, float32(pic.Plot.Min.X)/s), float32(pic.Plot.Max.X-1)/s)
	c.at.Y = min(max(c.at.Y, float32(pic.Plot.Min.Y)/s), float32(pic.Plot.Max.Y-1)/s)
	c.refreshCross()
}

// CreateRenderer implements fyne.Widget.
func (c *Chart) CreateRenderer() fyne.WidgetRenderer {
	c.ExtendBaseWidget(c)
	r := &chartRenderer{c: c}
	r.raster = canvas.NewRaster(c.image)
	r.empty = Muted("").Wrapped()
	r.empty.Align = fyne.TextAlignCenter
	r.line, r.dot = canvas.NewRectangle(nil), canvas.NewCircle(nil)
	r.tip = canvas.NewRectangle(nil)
	r.tip.CornerRadius, r.tip.StrokeWidth = 6, 1
	r.words = [3]*canvas.Text{canvas.NewText("", nil), canvas.NewText("", nil), canvas.NewText("", nil)}
	r.cross = container.NewWithoutLayout(r.line, r.dot, r.tip, r.words[0], r.words[1], r.words[2])
	r.focus = canvas.NewRectangle(nil)
	r.focus.StrokeWidth, r.focus.CornerRadius = 1, 4
	r.objects = []fyne.CanvasObject{r.raster, r.empty, r.cross, r.focus}
	r.sync()
	return r
}

func (c *Chart) refreshCross() {
	c.Refresh()
}
