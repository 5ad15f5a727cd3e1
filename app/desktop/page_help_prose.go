package desktop

import (
	"math"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"sandglass/widgets"
)

// stretch is a stretch of running text in one style; a link when to is not empty.
type stretch struct {
	text  string
	style fyne.TextStyle
	to    string
}

// prose is a paragraph of parts, broken between words. (In Fyne's RichText, 2.7, a word that meets the edge behind a change of
// style is broken letter by letter, and a link runs out of its column.)
type prose struct {
	widget.BaseWidget
	parts  []stretch
	color  fyne.ThemeColorName
	follow func(to string)
}

func newProse(parts []stretch, color fyne.ThemeColorName, follow func(string)) *prose {
	p := &prose{parts: parts, color: color, follow: follow}
	p.ExtendBaseWidget(p)
	return p
}

// Resize breaks the words anew when the width is another.
func (p *prose) Resize(s fyne.Size) {
	old := p.Size()
	p.BaseWidget.Resize(s)
	if s.Width != old.Width {
		p.Refresh()
	}
}

// CreateRenderer implements fyne.Widget.
func (p *prose) CreateRenderer() fyne.WidgetRenderer {
	r := &proseRenderer{p: p}
	r.build()
	return r
}

// piece is a part of a stretch that stands on one line.
type piece struct {
	stretch
	width float32
}

// chunk is what may not be broken: pieces without a space between them, such as "(" and "--json" and ")".
type chunk struct {
	pieces []piece
	width  float32
}

// breakLines puts words into lines of a width. A word that is wider than a line is broken inside. Pieces of one stretch that stand
// beside each other are one again.
func breakLines(parts []stretch, width float32, measure func(string, fyne.TextStyle) float32) [][]piece {
	var words []chunk
	glued := false
	for _, s := range parts {
		for i, part := range strings.Split(s.text, " ") {
			if i > 0 {
				glued = false
			}
			if part == "" {
				continue
			}
			pc := piece{stretch{part, s.style, s.to}, measure(part, s.style)}
			if last := len(words) - 1; glued && last >= 0 {
				words[last].pieces = append(words[last].pieces, pc)
				words[last].width += pc.width
			} else {
				words = append(words, chunk{[]piece{pc}, pc.width})
			}
			glued = true
		}
	}
	var lines [][]piece
	var line []piece
	used, space := float32(0), measure(" ", fyne.TextStyle{})
	add := func(pc piece, gap bool) {
		if last := len(line) - 1; last >= 0 && line[last].style == pc.style && line[last].to == pc.to {
			if gap {
				line[last].text += " "
			}
			line[last].text += pc.text
			line[last].width = measure(line[last].text, pc.style)
			return
		}
		if last := len(line) - 1; gap && last >= 0 {
			line[last].width += space
		}
		line = append(line, pc)
	}
	for _, w := range words {
		if len(line) > 0 && used+space+w.width > width {
			lines, line, used = append(lines, line), nil, 0
		}
		gap := len(line) > 0
		if gap {
			used += space
		}
		for _, pc := range w.pieces {
			for width > 0 && used+pc.width > width { // wider than a line: as many letters as fit
				n := len([]rune(pc.text))
				for n > 1 && used+measure(string([]rune(pc.text)[:n]), pc.style) > width {
					n--
				}
				head := string([]rune(pc.text)[:n])
				if head == pc.text {
					break
				}
				add(piece{stretch{head, pc.style, pc.to}, measure(head, pc.style)}, gap)
				lines, line, used, gap = append(lines, line), nil, 0, false
				pc.text = strings.TrimPrefix(pc.text, head)
				pc.width = measure(pc.text, pc.style)
			}
			add(pc, gap)
			used, gap = used+pc.width, false
		}
	}
	return append(lines, line)
}

type proseRenderer struct {
	p       *prose
	objects []fyne.CanvasObject
	height  float32
}

// build makes the objects of the lines for the width there is, in their places.
func (r *proseRenderer) build() {
	th := r.p.Theme()
	size, gap := th.Size(theme.SizeNameText), th.Size(theme.SizeNameLineSpacing)/2
	driver, variant := fyne.CurrentApp().Driver(), fyne.CurrentApp().Settings().ThemeVariant()
	measure := func(text string, style fyne.TextStyle) float32 { return fyne.MeasureText(text, size, style).Width }
	width := r.p.Size().Width
	if width == 0 {
		width = 400 // before there is a width; any height will be wrong then
	}
	r.objects, r.height = nil, 0
	line, base := driver.RenderedTextSize("Mg", size, fyne.TextStyle{}, nil)
	for _, pieces := range breakLines(r.p.parts, width, measure) {
		x := float32(0)
		for _, pc := range pieces {
			s, b := driver.RenderedTextSize(pc.text, size, pc.style, nil)
			var o fyne.CanvasObject
			if pc.to != "" {
				o = newLink(pc.stretch, r.p.follow)
			} else {
				t := canvas.NewText(pc.text, th.Color(r.p.color, variant))
				t.TextSize, t.TextStyle = size, pc.style
				o = t
			}
			o.Move(fyne.NewPos(round(x), round(r.height+base-b))) // fonts differ in where their letters stand
			o.Resize(s)
			r.objects = append(r.objects, o)
			x += pc.width
		}
		r.height += round(line.Height + gap)
	}
}

// round keeps letters on whole pixels; between two they are blurred.
func round(x float32) float32 { return float32(math.Round(float64(x))) }

func (r *proseRenderer) Layout(fyne.Size) {}

func (r *proseRenderer) MinSize() fyne.Size { return fyne.NewSize(40, r.height) }

func (r *proseRenderer) Refresh() {
	r.build()
	canvas.Refresh(r.p)
}

func (r *proseRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *proseRenderer) Destroy()                     {}

// link is a word or some to click, to reach with Tab and to open with Enter.
type link struct {
	widget.BaseWidget
	stretch
	follow func(to string)
	text   *canvas.Text
}

var (
	_ fyne.Focusable     = (*link)(nil)
	_ fyne.Tappable      = (*link)(nil)
	_ desktop.Hoverable  = (*link)(nil)
	_ desktop.Cursorable = (*link)(nil)
)

func newLink(s stretch, follow func(string)) *link {
	l := &link{stretch: s, follow: follow, text: canvas.NewText(s.text, nil)}
	l.ExtendBaseWidget(l)
	return l
}

// CreateRenderer implements fyne.Widget.
func (l *link) CreateRenderer() fyne.WidgetRenderer {
	th := l.Theme()
	l.text.Color = th.Color(widgets.ColorAccent, fyne.CurrentApp().Settings().ThemeVariant())
	l.text.TextSize, l.text.TextStyle = th.Size(theme.SizeNameText), l.style
	return widget.NewSimpleRenderer(l.text)
}

// underline shows that a click or Enter would open it.
func (l *link) underline(on bool) {
	l.text.TextStyle.Underline = on
	l.text.Refresh()
}

// Tapped implements fyne.Tappable.
func (l *link) Tapped(*fyne.PointEvent) { l.follow(l.to) }

// Cursor implements desktop.Cursorable.
func (l *link) Cursor() desktop.Cursor { return desktop.PointerCursor }

// MouseIn implements desktop.Hoverable.
func (l *link) MouseIn(*desktop.MouseEvent) { l.underline(true) }

// MouseMoved implements desktop.Hoverable.
func (l *link) MouseMoved(*desktop.MouseEvent) {}

// MouseOut implements desktop.Hoverable.
func (l *link) MouseOut() { l.underline(false) }

// FocusGained implements fyne.Focusable.
func (l *link) FocusGained() { l.underline(true) }

// FocusLost implements fyne.Focusable.
func (l *link) FocusLost() { l.underline(false) }

// TypedRune implements fyne.Focusable.
func (l *link) TypedRune(rune) {}

// TypedKey implements fyne.Focusable.
func (l *link) TypedKey(ev *fyne.KeyEvent) {
	switch ev.Name {
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace:
		l.follow(l.to)
	default:
		widgets.HandUp(l, ev)
	}
}
