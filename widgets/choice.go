package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

var (
	_ fyne.Focusable    = (*Choice)(nil)
	_ desktop.Hoverable = (*Choice)(nil)
)

// Choice is a card of which one of several holds: a ring at the left, its content beside it. Space takes it, the up and down keys
// are handed to OnMove, Enter to OnEnter: a person who agrees goes on without looking for a button.
type Choice struct {
	widget.BaseWidget
	Content  fyne.CanvasObject
	Color    fyne.ThemeColorName // of the border and the ring while it holds; "" = ColorAccent
	OnTapped func()
	OnMove   func(delta int)
	OnEnter  func()
	OnFocus  func() // it got the keyboard: a scroller brings it into sight

	selected, hovered, focused bool
}

// NewChoice makes a choice.
func NewChoice(content fyne.CanvasObject, tapped func()) *Choice {
	c := &Choice{Content: content, OnTapped: tapped}
	c.ExtendBaseWidget(c)
	return c
}

// SetSelected says whether it is the one that holds.
func (c *Choice) SetSelected(on bool) {
	if c.selected != on {
		c.selected = on
		c.Refresh()
	}
}

// Selected says whether it is the one that holds.
func (c *Choice) Selected() bool { return c.selected }

// Tapped implements fyne.Tappable.
func (c *Choice) Tapped(*fyne.PointEvent) {
	if c.OnTapped != nil {
		c.OnTapped()
	}
}

// Cursor implements desktop.Cursorable.
func (c *Choice) Cursor() desktop.Cursor { return desktop.PointerCursor }

// MouseIn implements desktop.Hoverable.
func (c *Choice) MouseIn(*desktop.MouseEvent) { c.hovered = true; c.Refresh() }

// MouseMoved implements desktop.Hoverable.
func (c *Choice) MouseMoved(*desktop.MouseEvent) {}

// MouseOut implements desktop.Hoverable.
func (c *Choice) MouseOut() { c.hovered = false; c.Refresh() }

// FocusGained implements fyne.Focusable.
func (c *Choice) FocusGained() {
	c.focused = true
	c.Refresh()
	if c.OnFocus != nil {
		c.OnFocus()
	}
}

// FocusLost implements fyne.Focusable.
func (c *Choice) FocusLost() { c.focused = false; c.Refresh() }

// TypedRune implements fyne.Focusable.
func (c *Choice) TypedRune(rune) {}

// TypedKey implements fyne.Focusable.
func (c *Choice) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeySpace:
		c.Tapped(nil)
	case fyne.KeyUp, fyne.KeyLeft:
		if c.OnMove != nil {
			c.OnMove(-1)
		}
	case fyne.KeyDown, fyne.KeyRight:
		if c.OnMove != nil {
			c.OnMove(1)
		}
	case fyne.KeyReturn, fyne.KeyEnter:
		if !c.selected {
			c.Tapped(nil)
		}
		if c.OnEnter != nil {
			c.OnEnter()
		}
	case fyne.KeyEscape:
		HandUp(c, e)
	}
}

// CreateRenderer implements fyne.Widget.
func (c *Choice) CreateRenderer() fyne.WidgetRenderer {
	c.ExtendBaseWidget(c)
	r := &choiceRenderer{c: c, rect: canvas.NewRectangle(nil), ring: canvas.NewCircle(nil), dot: canvas.NewCircle(nil)}
	r.body = Pad(Gap12, Gap12, Gap12, Gap12+28, c.Content)
	r.objects = []fyne.CanvasObject{r.rect, r.ring, r.dot, r.body}
	r.paint()
	return r
}

type choiceRenderer struct {
	c         *Choice
	rect      *canvas.Rectangle
	ring, dot *canvas.Circle
	body      *fyne.Container
	objects   []fyne.CanvasObject
}

func (r *choiceRenderer) paint() {
	c := r.c
	name := c.Color
	if name == "" {
		name = ColorAccent
	}
	border, ring, wide := ColorBorder, theme.ColorNameInputBorder, float32(1)
	r.rect.FillColor = themeColor(c, ColorSurface)
	if c.hovered && !c.selected {
		r.rect.FillColor = themeColor(c, ColorSidebar)
	}
	r.dot.FillColor = nil
	if c.selected {
		border, ring = name, name
		r.dot.FillColor = themeColor(c, name)
	}
	if c.focused {
		border, wide = ColorAccent, 2
		if c.selected {
			border = name
		}
	}
	r.rect.StrokeColor, r.rect.StrokeWidth, r.rect.CornerRadius = themeColor(c, border), wide, c.Theme().Size(SizeRadius)
	r.ring.FillColor, r.ring.StrokeColor, r.ring.StrokeWidth = nil, themeColor(c, ring), 1.5
}

func (r *choiceRenderer) Layout(s fyne.Size) {
	r.rect.Resize(s)
	r.ring.Move(fyne.NewPos(Gap12+2, Gap12+3))
	r.ring.Resize(fyne.NewSquareSize(16))
	r.dot.Move(fyne.NewPos(Gap12+6, Gap12+7))
	r.dot.Resize(fyne.NewSquareSize(8))
	r.body.Resize(s)
}

func (r *choiceRenderer) MinSize() fyne.Size { return r.body.MinSize() }

func (r *choiceRenderer) Refresh() {
	r.paint()
	r.rect.Refresh()
	r.ring.Refresh()
	r.dot.Refresh()
	r.body.Refresh()
	r.Layout(r.c.BaseWidget.Size())
	canvas.Refresh(r.c)
}
func (r *choiceRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *choiceRenderer) Destroy()                     {}
