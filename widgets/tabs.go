package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"
)

// Tab is one page of Tabs.
type Tab struct {
	Text    string
	Content fyne.CanvasObject
}

// Tabs shows one of several pages under a line of underlined words. The strip is one stop of the Tab key; the arrow keys move in it.
type Tabs struct {
	widget.BaseWidget
	OnSelected func(i int)

	tabs     []Tab
	selected int
	strip    *tabStrip
	stack    *fyne.Container
}

// NewTabs makes tabs with the first one selected.
func NewTabs(tabs ...Tab) *Tabs {
	t := &Tabs{tabs: tabs}
	t.strip = &tabStrip{t: t, hover: -1}
	t.strip.ExtendBaseWidget(t.strip)
	t.stack = container.NewStack()
	for i, tab := range tabs {
		if i > 0 {
			tab.Content.Hide()
		}
		t.stack.Add(tab.Content)
	}
	t.ExtendBaseWidget(t)
	return t
}

// Selected is the number of the visible tab.
func (t *Tabs) Selected() int { return t.selected }

// Select shows a tab.
func (t *Tabs) Select(i int) {
	if i < 0 || i >= len(t.tabs) || i == t.selected {
		return
	}
	t.tabs[t.selected].Content.Hide()
	t.selected = i
	t.tabs[i].Content.Show()
	t.strip.Refresh()
	t.stack.Refresh()
	if t.OnSelected != nil {
		t.OnSelected(i)
	}
}

// CreateRenderer implements fyne.Widget.
func (t *Tabs) CreateRenderer() fyne.WidgetRenderer {
	t.ExtendBaseWidget(t)
	top := VBox(0, t.strip, NewHairline())
	return widget.NewSimpleRenderer(container.New(topAndRest{gap: Gap12}, top, t.stack))
}

// topAndRest gives the first object its height and the second one the rest.
type topAndRest struct{ gap float32 }

func (l topAndRest) MinSize(o []fyne.CanvasObject) fyne.Size {
	a, b := o[0].MinSize(), o[1].MinSize()
	return fyne.NewSize(max(a.Width, b.Width), a.Height+l.gap+b.Height)
}

func (l topAndRest) Layout(o []fyne.CanvasObject, s fyne.Size) {
	h := o[0].MinSize().Height
	o[0].Move(fyne.NewPos(0, 0))
	o[0].Resize(fyne.NewSize(s.Width, h))
	o[1].Move(fyne.NewPos(0, h+l.gap))
	o[1].Resize(fyne.NewSize(s.Width, max(0, s.Height-h-l.gap)))
}

// TopAndRest stacks a part of its own height over one that takes the rest.
func TopAndRest(gap float32, top, rest fyne.CanvasObject) *fyne.Container {
	return container.New(topAndRest{gap}, top, rest)
}

type tabStrip struct {
	widget.BaseWidget
	t       *Tabs
	focused bool
	hover   int
}

const tabHeight, tabGap, tabGapLeast float32 = 34, 24, 10

func (s *tabStrip) at(x float32) int {
	left := float32(0)
	for i := range s.t.tabs {
		w := s.width(i)
		if gap := s.gap(); x >= left-gap/2 && x < left+w+gap/2 {
			return i
		}
		left += w + s.gap()
	}
	return -1
}

// gap is the space between two words: less of it where large words have no room otherwise.
func (s *tabStrip) gap() float32 {
	words := float32(2)
	for i := range s.t.tabs {
		words += s.width(i)
	}
	if n := len(s.t.tabs) - 1; n > 0 && s.BaseWidget.Size().Width > 0 {
		return min(tabGap, max(tabGapLeast, (s.BaseWidget.Size().Width-words)/float32(n)))
	}
	return tabGap
}

func (s *tabStrip) width(i int) float32 {
	return fyne.MeasureText(s.t.tabs[i].Text, s.Theme().Size(SizeBody), fyne.TextStyle{Bold: true}).Width
}

func (s *tabStrip) Tapped(e *fyne.PointEvent)        { s.t.Select(s.at(e.Position.X)) }
func (s *tabStrip) MouseIn(e *desktop.MouseEvent)    { s.MouseMoved(e) }
func (s *tabStrip) MouseMoved(e *desktop.MouseEvent) { s.setHover(s.at(e.Position.X)) }
func (s *tabStrip) MouseOut()                        { s.setHover(-1) }
func (s *tabStrip) FocusGained()                     { s.focused = true; s.Refresh() }
func (s *tabStrip) FocusLost()                       { s.focused = false; s.Refresh() }
func (s *tabStrip) TypedRune(rune)                   {}
func (s *tabStrip) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyLeft:
		s.t.Select(s.t.selected - 1)
	case fyne.KeyRight:
		s.t.Select(s.t.selected + 1)
	}
}

func (s *tabStrip) setHover(i int) {
	if s.hover != i {
		s.hover = i
		s.Refresh()
	}
}

func (s *tabStrip) CreateRenderer() fyne.WidgetRenderer {
	s.ExtendBaseWidget(s)
	r := &stripRenderer{s: s, line: canvas.NewRectangle(nil), focus: canvas.NewRectangle(nil)}
	for _, t := range s.t.tabs {
		r.words = append(r.words, canvas.NewText(t.Text, nil))
	}
	r.objects = []fyne.CanvasObject{r.focus, r.line}
	for _, w := range r.words {
		r.objects = append(r.objects, w)
	}
	r.paint()
	return r
}

type stripRenderer struct {
	s           *tabStrip
	line, focus *canvas.Rectangle
	words       []*canvas.Text
	objects     []fyne.CanvasObject
}

func (r *stripRenderer) paint() {
	for i, w := range r.words {
		name := ColorMuted
		if i == r.s.t.selected || i == r.s.hover {
			name = ColorText
		}
		w.Color, w.TextSize = themeColor(r.s, name), r.s.Theme().Size(SizeBody)
		w.TextStyle = fyne.TextStyle{Bold: i == r.s.t.selected}
	}
	r.line.FillColor = themeColor(r.s, ColorAccent)
	r.focus.FillColor = nil
	if r.s.focused {
		r.focus.FillColor = tint(ColorAccent, 0.14)
	}
	r.focus.CornerRadius = 4
}

func (r *stripRenderer) Layout(fyne.Size) {
	x, gap, tabHeight := float32(0), r.s.gap(), Grown(tabHeight)
	for i, w := range r.words {
		wide := r.s.width(i)
		m := w.MinSize()
		w.Move(fyne.NewPos(x+(wide-m.Width)/2, (tabHeight-2-m.Height)/2))
		w.Resize(m)
		if i == r.s.t.selected {
			r.line.Move(fyne.NewPos(x-2, tabHeight-2))
			r.line.Resize(fyne.NewSize(wide+4, 2))
			r.focus.Move(fyne.NewPos(x-8, 3))
			r.focus.Resize(fyne.NewSize(wide+16, tabHeight-9))
		}
		x += wide + gap
	}
}

func (r *stripRenderer) MinSize() fyne.Size {
	w := float32(0)
	for i := range r.words {
		w += r.s.width(i) + tabGapLeast
	}
	return fyne.NewSize(max(0, w-tabGapLeast)+2, Grown(tabHeight))
}

func (r *stripRenderer) Refresh() {
	r.paint()
	r.Layout(r.s.BaseWidget.Size())
	canvas.Refresh(r.s)
}
func (r *stripRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *stripRenderer) Destroy()                     {}
