package widgets

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

var _ fyne.Widget = (*Text)(nil)

// Text is words without the padding that a Label has, so that columns and cards line up on the grid. It takes its colour and size
// from the theme by name. Short text stays on one line; with Wrap it breaks between words, with Truncate it ends in an ellipsis.
type Text struct {
	widget.BaseWidget
	Text      string
	ColorName fyne.ThemeColorName // "" = ColorText
	SizeName  fyne.ThemeSizeName  // "" = SizeBody
	Style     fyne.TextStyle
	Align     fyne.TextAlign
	Wrap      bool
	Truncate  bool
	Short     string // with Truncate: shown instead where the whole does not fit; "" = an ellipsis

	lines []string
	shown textKey
}

type textKey struct {
	text  string
	width float32
	size  float32
	style fyne.TextStyle
	mode  [2]bool
}

// NewText makes text of a colour and size.
func NewText(text string, color fyne.ThemeColorName, size fyne.ThemeSizeName, style fyne.TextStyle) *Text {
	t := &Text{Text: text, ColorName: color, SizeName: size, Style: style}
	t.ExtendBaseWidget(t)
	return t
}

// Body is plain text.
func Body(text string) *Text { return NewText(text, "", "", fyne.TextStyle{}) }

// Strong is bold text: card titles, values.
func Strong(text string) *Text { return NewText(text, "", "", fyne.TextStyle{Bold: true}) }

// Muted is body text that steps back.
func Muted(text string) *Text { return NewText(text, ColorMuted, "", fyne.TextStyle{}) }

// Caption is small muted text.
func Caption(text string) *Text { return NewText(text, ColorMuted, SizeCaption, fyne.TextStyle{}) }

// Mono is text in the font of logs and code.
func Mono(text string) *Text { return NewText(text, "", SizeMono, fyne.TextStyle{Monospace: true}) }

// Wrapped makes t break between words and returns it.
func (t *Text) Wrapped() *Text { t.Wrap = true; return t }

// Truncated makes t end in an ellipsis where there is no room and returns it.
func (t *Text) Truncated() *Text { t.Truncate = true; return t }

// Right aligns t at its right edge and returns it.
func (t *Text) Right() *Text { t.Align = fyne.TextAlignTrailing; return t }

// Set changes the words. It does nothing when they are the same.
func (t *Text) Set(text string) {
	if t.Text == text {
		return
	}
	t.Text = text
	t.Refresh()
}

// SetShort changes the words and what is shown where they do not fit.
func (t *Text) SetShort(text, short string) {
	if t.Text == text && t.Short == short {
		return
	}
	t.Text, t.Short, t.lines = text, short, nil
	t.Refresh()
}

// SetColor changes the colour.
func (t *Text) SetColor(c fyne.ThemeColorName) {
	if t.ColorName == c {
		return
	}
	t.ColorName = c
	t.Refresh()
}

func (t *Text) size() float32 {
	name := t.SizeName
	if name == "" {
		name = SizeBody
	}
	return t.Theme().Size(name)
}

// Resize breaks the words anew.
func (t *Text) Resize(s fyne.Size) {
	if s == t.BaseWidget.Size() {
		return
	}
	t.BaseWidget.Resize(s)
	if t.Wrap || t.Truncate {
		t.Refresh()
	}
}

// split breaks the text for the current width, once for each width.
func (t *Text) split() []string {
	key := textKey{t.Text, t.BaseWidget.Size().Width, t.size(), t.Style, [2]bool{t.Wrap, t.Truncate}}
	if key == t.shown && t.lines != nil {
		return t.lines
	}
	t.shown = key
	measure := func(s string) float32 { return fyne.MeasureText(s, key.size, t.Style).Width }
	switch {
	case t.Wrap && key.width > 0:
		t.lines = wrap(t.Text, key.width, measure)
	case t.Truncate && key.width > 0:
		whole := strings.ReplaceAll(t.Text, "\n", " ")
		if t.Short != "" && measure(whole) > key.width {
			whole = t.Short
		}
		t.lines = []string{ellipsis(whole, key.width, measure)}
	default:
		t.lines = strings.Split(t.Text, "\n")
	}
	return t.lines
}

// wrap breaks text between words; a word wider than a line is broken inside.
func wrap(text string, width float32, measure func(string) float32) []string {
	var out []string
	for _, para := range strings.Split(text, "\n") {
		line := ""
		for _, word := range strings.Fields(para) {
			try := word
			if line != "" {
				try = line + " " + word
			}
			if measure(try) <= width {
				line = try
				continue
			}
			if line != "" {
				out = append(out, line)
			}
			for measure(word) > width {
				n := fitRunes(word, width, measure)
				out = append(out, word[:n])
				word = word[n:]
			}
			line = word
		}
		if line != "" || len(strings.Fields(para)) == 0 {
			out = append(out, line)
		}
	}
	return out
}

// fitRunes is how many bytes of s, at least one rune, fit into width.
func fitRunes(s string, width float32, measure func(string) float32) int {
	last := 0
	for i := range s {
		if i > 0 && measure(s[:i]) > width {
			break
		}
		last = i
	}
	if last == 0 {
		for i := range s {
			if i > 0 {
				return i
			}
		}
		return len(s)
	}
	return last
}

func ellipsis(s string, width float32, measure func(string) float32) string {
	if measure(s) <= width {
		return s
	}
	lo, hi := 0, len([]rune(s))
	r := []rune(s)
	for lo < hi { // the longest prefix that fits
		mid := (lo + hi + 1) / 2
		if measure(string(r[:mid])+"…") <= width {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return strings.TrimRight(string(r[:lo]), " ") + "…"
}

// CreateRenderer implements fyne.Widget.
func (t *Text) CreateRenderer() fyne.WidgetRenderer {
	t.ExtendBaseWidget(t)
	r := &textRenderer{t: t}
	r.sync()
	return r
}

type textRenderer struct {
	t       *Text
	lines   []*canvas.Text
	objects []fyne.CanvasObject
}

func (r *textRenderer) sync() {
	lines := r.t.split()
	for len(r.lines) < len(lines) {
		c := canvas.NewText("", nil)
		r.lines = append(r.lines, c)
		r.objects = append(r.objects, c)
	}
	r.lines, r.objects = r.lines[:len(lines)], r.objects[:len(lines)]
	col := r.t.ColorName
	if col == "" {
		col = ColorText
	}
	ink := r.t.Theme().Color(col, fyne.CurrentApp().Settings().ThemeVariant())
	size := r.t.size()
	for i, s := range lines {
		c := r.lines[i]
		c.Text, c.Color, c.TextSize, c.TextStyle, c.Alignment = s, ink, size, r.t.Style, r.t.Align
	}
}

func (r *textRenderer) lineHeight() float32 {
	return fyne.MeasureText("M", r.t.size(), r.t.Style).Height
}

func (r *textRenderer) Layout(s fyne.Size) {
	r.sync()
	h := r.lineHeight()
	y := float32(0)
	if len(r.lines) == 1 && s.Height > h {
		y = (s.Height - h) / 2 // one line stands in the middle of its row
	}
	for _, c := range r.lines {
		c.Move(fyne.NewPos(0, y))
		c.Resize(fyne.NewSize(s.Width, h))
		y += h
	}
}

func (r *textRenderer) MinSize() fyne.Size {
	h := r.lineHeight()
	switch {
	case r.t.Wrap:
		return fyne.NewSize(min(40, fyne.MeasureText(r.t.Text, r.t.size(), r.t.Style).Width), h*float32(max(1, len(r.t.split()))))
	case r.t.Truncate:
		return fyne.NewSize(min(24, fyne.MeasureText(r.t.Text, r.t.size(), r.t.Style).Width), h)
	}
	w := float32(0)
	lines := strings.Split(r.t.Text, "\n")
	for _, l := range lines {
		w = max(w, fyne.MeasureText(l, r.t.size(), r.t.Style).Width)
	}
	return fyne.NewSize(w, h*float32(len(lines)))
}

func (r *textRenderer) Refresh() {
	r.sync()
	r.Layout(r.t.BaseWidget.Size())
	canvas.Refresh(r.t)
}

func (r *textRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *textRenderer) Destroy()                     {}

// themeColor is the current colour of a name.
func themeColor(w fyne.Widget, name fyne.ThemeColorName) (c fyneColor) {
	return theme.ColorForWidget(name, w)
}

// Width is how wide the words are on one line.
func (t *Text) Width() float32 { return fyne.MeasureText(t.Text, t.size(), t.Style).Width }
