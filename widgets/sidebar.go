package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

var (
	_ fyne.Focusable    = (*SidebarItem)(nil)
	_ desktop.Hoverable = (*SidebarItem)(nil)
)

// SidebarItem is one place in the navigation: a symbol, a word, and a count when there is something to see.
type SidebarItem struct {
	widget.BaseWidget
	Icon     Icon
	Text     string
	Count    string
	OnTapped func()

	selected, hovered, focused bool
}

// NewSidebarItem makes an item.
func NewSidebarItem(icon Icon, text string, tapped func()) *SidebarItem {
	s := &SidebarItem{Icon: icon, Text: text, OnTapped: tapped}
	s.ExtendBaseWidget(s)
	return s
}

// SetSelected marks the page that is shown.
func (s *SidebarItem) SetSelected(on bool) {
	if s.selected != on {
		s.selected = on
		s.Refresh()
	}
}

// SetCount changes the count; "" hides it.
func (s *SidebarItem) SetCount(n string) {
	if s.Count != n {
		s.Count = n
		s.Refresh()
	}
}

// Tapped implements fyne.Tappable.
func (s *SidebarItem) Tapped(*fyne.PointEvent) {
	if s.OnTapped != nil {
		s.OnTapped()
	}
}

// MouseIn implements desktop.Hoverable.
func (s *SidebarItem) MouseIn(*desktop.MouseEvent) { s.hovered = true; s.Refresh() }

// MouseMoved implements desktop.Hoverable.
func (s *SidebarItem) MouseMoved(*desktop.MouseEvent) {}

// MouseOut implements desktop.Hoverable.
func (s *SidebarItem) MouseOut() { s.hovered = false; s.Refresh() }

// FocusGained implements fyne.Focusable.
func (s *SidebarItem) FocusGained() { s.focused = true; s.Refresh() }

// FocusLost implements fyne.Focusable.
func (s *SidebarItem) FocusLost() { s.focused = false; s.Refresh() }

// TypedRune implements fyne.Focusable.
func (s *SidebarItem) TypedRune(rune) {}

// TypedKey implements fyne.Focusable.
func (s *SidebarItem) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace:
		s.Tapped(nil)
	}
}

// CreateRenderer implements fyne.Widget.
func (s *SidebarItem) CreateRenderer() fyne.WidgetRenderer {
	s.ExtendBaseWidget(s)
	r := &sidebarRenderer{s: s, bg: canvas.NewRectangle(nil), icon: canvas.NewImageFromResource(nil),
		word: canvas.NewText("", nil), count: canvas.NewText("", nil)}
	r.icon.FillMode = canvas.ImageFillContain
	r.objects = []fyne.CanvasObject{r.bg, r.icon, r.word, r.count}
	r.paint()
	return r
}

type sidebarRenderer struct {
	s           *SidebarItem
	bg          *canvas.Rectangle
	icon        *canvas.Image
	word, count *canvas.Text
	objects     []fyne.CanvasObject
}

func (r *sidebarRenderer) paint() {
	s := r.s
	name := ColorMuted
	if s.selected {
		name = ColorText
	}
	r.word.Text, r.word.Color = s.Text, themeColor(s, name)
	r.word.TextSize, r.word.TextStyle = s.Theme().Size(SizeBody), fyne.TextStyle{Bold: s.selected}
	r.count.Text, r.count.Color, r.count.TextSize = s.Count, themeColor(s, ColorMuted), s.Theme().Size(SizeCaption)
	r.icon.Resource = theme.NewColoredResource(s.Icon.Resource(), name)
	r.bg.FillColor, r.bg.StrokeWidth = nil, 0
	r.bg.CornerRadius = 6
	switch {
	case s.selected:
		r.bg.FillColor = themeColor(s, ColorSelected)
	case s.hovered:
		r.bg.FillColor = themeColor(s, theme.ColorNameHover)
	}
	if s.focused {
		r.bg.StrokeWidth, r.bg.StrokeColor = 1, themeColor(s, ColorAccent)
	}
}

func (r *sidebarRenderer) Layout(size fyne.Size) {
	r.bg.Resize(size)
	r.icon.Move(fyne.NewPos(10, (size.Height-16)/2))
	r.icon.Resize(fyne.NewSquareSize(16))
	m := r.word.MinSize()
	r.word.Move(fyne.NewPos(36, (size.Height-m.Height)/2))
	r.word.Resize(m)
	c := r.count.MinSize()
	r.count.Move(fyne.NewPos(size.Width-c.Width-10, (size.Height-c.Height)/2))
	r.count.Resize(c)
}

func (r *sidebarRenderer) MinSize() fyne.Size {
	return fyne.NewSize(36+r.word.MinSize().Width+30, Grown(35))
}

func (r *sidebarRenderer) Refresh() {
	r.paint()
	r.Layout(r.s.BaseWidget.Size())
	canvas.Refresh(r.s)
}
func (r *sidebarRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *sidebarRenderer) Destroy()                     {}

// Panel is a plain surface in a theme colour behind its content: the sidebar, the page.
type Panel struct {
	widget.BaseWidget
	Color   fyne.ThemeColorName
	Content fyne.CanvasObject
}

// NewPanel makes a panel.
func NewPanel(color fyne.ThemeColorName, content fyne.CanvasObject) *Panel {
	p := &Panel{Color: color, Content: content}
	p.ExtendBaseWidget(p)
	return p
}

// CreateRenderer implements fyne.Widget.
func (p *Panel) CreateRenderer() fyne.WidgetRenderer {
	p.ExtendBaseWidget(p)
	r := &boxRenderer{rect: canvas.NewRectangle(nil)}
	r.paint = func() { r.rect.FillColor = themeColor(p, p.Color) }
	r.paint()
	r.objects = []fyne.CanvasObject{r.rect, p.Content}
	return r
}
