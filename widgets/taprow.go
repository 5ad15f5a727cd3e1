package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

var (
	_ fyne.Focusable    = (*TapRow)(nil)
	_ desktop.Hoverable = (*TapRow)(nil)
)

// TapRow makes its content one thing to click, to hover and to reach with the Tab key; Enter and space open it.
type TapRow struct {
	widget.BaseWidget
	Content  fyne.CanvasObject
	OnTapped func()

	hovered, focused bool
}

// NewTapRow makes a row.
func NewTapRow(content fyne.CanvasObject, tapped func()) *TapRow {
	r := &TapRow{Content: content, OnTapped: tapped}
	r.ExtendBaseWidget(r)
	return r
}

// Tapped implements fyne.Tappable.
func (r *TapRow) Tapped(*fyne.PointEvent) {
	if r.OnTapped != nil {
		r.OnTapped()
	}
}

// Cursor implements desktop.Cursorable.
func (r *TapRow) Cursor() desktop.Cursor { return desktop.PointerCursor }

// MouseIn implements desktop.Hoverable.
func (r *TapRow) MouseIn(*desktop.MouseEvent) { r.hovered = true; r.Refresh() }

// MouseMoved implements desktop.Hoverable.
func (r *TapRow) MouseMoved(*desktop.MouseEvent) {}

// MouseOut implements desktop.Hoverable.
func (r *TapRow) MouseOut() { r.hovered = false; r.Refresh() }

// FocusGained implements fyne.Focusable.
func (r *TapRow) FocusGained() { r.focused = true; r.Refresh() }

// FocusLost implements fyne.Focusable.
func (r *TapRow) FocusLost() { r.focused = false; r.Refresh() }

// TypedRune implements fyne.Focusable.
func (r *TapRow) TypedRune(rune) {}

// TypedKey implements fyne.Focusable.
func (r *TapRow) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace:
		r.Tapped(nil)
	case fyne.KeyEscape:
		HandUp(r, e)
	}
}

// CreateRenderer implements fyne.Widget.
func (r *TapRow) CreateRenderer() fyne.WidgetRenderer {
	r.ExtendBaseWidget(r)
	box := &boxRenderer{rect: canvas.NewRectangle(nil)}
	box.paint = func() {
		box.rect.CornerRadius = 6
		box.rect.FillColor, box.rect.StrokeWidth = nil, 0
		if r.hovered {
			box.rect.FillColor = themeColor(r, theme.ColorNameHover)
		}
		if r.focused {
			box.rect.StrokeWidth, box.rect.StrokeColor = 1, themeColor(r, ColorAccent)
		}
	}
	box.paint()
	box.objects = []fyne.CanvasObject{box.rect, r.Content}
	return box
}
