package widgets

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Chip is one choice of FilterChips.
type Chip struct {
	Key, Text string
	Count     string // "" = none
}

// FilterChips is a row of choices of which one holds.
type FilterChips struct {
	widget.BaseWidget
	OnSelected func(key string)
	OnFocus    func() // one of them got the keyboard: a scroller brings it into sight

	chips    []Chip
	selected string
	box      *fyne.Container
}

// NewFilterChips makes chips with the first one selected.
func NewFilterChips(chips ...Chip) *FilterChips {
	f := &FilterChips{chips: chips, box: HBox(Gap12)}
	if len(chips) > 0 {
		f.selected = chips[0].Key
	}
	f.ExtendBaseWidget(f)
	f.build()
	return f
}

// Wrapped lets the chips take several lines where there is no room for one, and returns f.
func (f *FilterChips) Wrapped() *FilterChips {
	f.box.Layout = &wrapRow{gap: Gap8}
	return f
}

// Selected is the key of the chosen chip.
func (f *FilterChips) Selected() string { return f.selected }

// Select chooses a chip by its key.
func (f *FilterChips) Select(key string) {
	if key == f.selected {
		return
	}
	f.selected = key
	f.box.Refresh()
	for _, o := range f.box.Objects {
		o.Refresh()
	}
	if f.OnSelected != nil {
		f.OnSelected(key)
	}
}

// Chip is the control of a choice, nil for an unknown key.
func (f *FilterChips) Chip(key string) fyne.CanvasObject {
	for i, c := range f.chips {
		if c.Key == key && i < len(f.box.Objects) {
			return f.box.Objects[i]
		}
	}
	return nil
}

// SetCounts changes the counts by key.
func (f *FilterChips) SetCounts(counts map[string]string) {
	for i := range f.chips {
		f.chips[i].Count = counts[f.chips[i].Key]
		f.box.Objects[i].Refresh()
	}
	f.box.Refresh()
}

func (f *FilterChips) build() {
	for i := range f.chips {
		c := &chip{f: f, i: i}
		c.ExtendBaseWidget(c)
		f.box.Add(c)
	}
}

// CreateRenderer implements fyne.Widget.
func (f *FilterChips) CreateRenderer() fyne.WidgetRenderer {
	f.ExtendBaseWidget(f)
	return widget.NewSimpleRenderer(f.box)
}

type chip struct {
	widget.BaseWidget
	f                *FilterChips
	i                int
	hovered, focused bool
}

func (c *chip) chip() Chip                     { return c.f.chips[c.i] }
func (c *chip) Tapped(*fyne.PointEvent)        { c.f.Select(c.chip().Key) }
func (c *chip) MouseIn(*desktop.MouseEvent)    { c.hovered = true; c.Refresh() }
func (c *chip) MouseMoved(*desktop.MouseEvent) {}
func (c *chip) MouseOut()                      { c.hovered = false; c.Refresh() }
func (c *chip) FocusGained() {
	c.focused = true
	c.Refresh()
	if c.f.OnFocus != nil {
		c.f.OnFocus()
	}
}
func (c *chip) FocusLost()     { c.focused = false; c.Refresh() }
func (c *chip) TypedRune(rune) {}
func (c *chip) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace:
		c.Tapped(nil)
	case fyne.KeyEscape:
		HandUp(c, e)
	}
}

func (c *chip) CreateRenderer() fyne.WidgetRenderer {
	c.ExtendBaseWidget(c)
	r := &chipRenderer{c: c, bg: canvas.NewRectangle(nil), word: canvas.NewText("", nil)}
	r.objects = []fyne.CanvasObject{r.bg, r.word}
	r.paint()
	return r
}

type chipRenderer struct {
	c       *chip
	bg      *canvas.Rectangle
	word    *canvas.Text
	objects []fyne.CanvasObject
}

func (r *chipRenderer) paint() {
	c := r.c
	on := c.f.selected == c.chip().Key
	r.word.Text = strings.TrimSpace(c.chip().Text + " " + c.chip().Count)
	r.word.Color, r.word.TextSize = themeColor(c, ColorText), c.Theme().Size(SizeBody)-1
	r.word.TextStyle = fyne.TextStyle{Bold: on}
	r.bg.FillColor, r.bg.StrokeColor, r.bg.StrokeWidth = themeColor(c, ColorSurface), themeColor(c, ColorBorder), 1
	if on {
		r.bg.FillColor = themeColor(c, ColorSelected)
	} else if c.hovered {
		r.bg.FillColor = themeColor(c, theme.ColorNameHover)
	}
	if c.focused {
		r.bg.StrokeColor = themeColor(c, ColorAccent)
	}
	r.bg.CornerRadius = 6
}

func (r *chipRenderer) Layout(s fyne.Size) {
	r.bg.Resize(s)
	m := r.word.MinSize()
	r.word.Move(fyne.NewPos((s.Width-m.Width)/2, (s.Height-m.Height)/2))
	r.word.Resize(m)
}

func (r *chipRenderer) MinSize() fyne.Size {
	bold := fyne.MeasureText(r.word.Text, r.word.TextSize, fyne.TextStyle{Bold: true}) // the row does not move when one is chosen
	return fyne.NewSize(bold.Width+2*Gap12, Grown(30))
}

func (r *chipRenderer) Refresh() {
	r.paint()
	r.Layout(r.c.BaseWidget.Size())
	canvas.Refresh(r.c)
}
func (r *chipRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *chipRenderer) Destroy()                     {}
