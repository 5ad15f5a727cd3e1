package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

var _ desktop.Hoverable = (*TapArea)(nil)

// TapArea makes a part of a row something to click by itself. It takes no keyboard: its row has a key for the same (KeyRow).
type TapArea struct {
	widget.BaseWidget
	Content  fyne.CanvasObject
	OnTapped func()

	hovered bool
}

// NewTapArea makes an area of its content.
func NewTapArea(content fyne.CanvasObject, tapped func()) *TapArea {
	a := &TapArea{Content: content, OnTapped: tapped}
	a.ExtendBaseWidget(a)
	return a
}

// NewTapIcon makes an area of a symbol, 28 units square.
func NewTapIcon(icon fyne.Resource, tapped func()) *TapArea {
	img := canvas.NewImageFromResource(theme.NewColoredResource(icon, ColorMuted))
	img.FillMode = canvas.ImageFillContain
	return NewTapArea(AtLeast(28, 28, Pad(7, 7, 7, 7, img)), tapped)
}

// Tapped implements fyne.Tappable.
func (a *TapArea) Tapped(*fyne.PointEvent) {
	if a.OnTapped != nil {
		a.OnTapped()
	}
}

// Cursor implements desktop.Cursorable.
func (a *TapArea) Cursor() desktop.Cursor { return desktop.PointerCursor }

// MouseIn implements desktop.Hoverable.
func (a *TapArea) MouseIn(*desktop.MouseEvent) { a.hovered = true; a.Refresh() }

// MouseMoved implements desktop.Hoverable.
func (a *TapArea) MouseMoved(*desktop.MouseEvent) {}

// MouseOut implements desktop.Hoverable.
func (a *TapArea) MouseOut() { a.hovered = false; a.Refresh() }

// CreateRenderer implements fyne.Widget.
func (a *TapArea) CreateRenderer() fyne.WidgetRenderer {
	a.ExtendBaseWidget(a)
	box := &boxRenderer{rect: canvas.NewRectangle(nil)}
	box.paint = func() {
		box.rect.CornerRadius = 6
		box.rect.FillColor = nil
		if a.hovered {
			box.rect.FillColor = themeColor(a, theme.ColorNameHover)
		}
	}
	box.paint()
	box.objects = []fyne.CanvasObject{box.rect, a.Content}
	return box
}
