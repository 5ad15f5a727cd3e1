package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

var _ fyne.Widget = (*Button)(nil)

// Button is Fyne's button with a hairline border: keyboard, focus and hover are Fyne's. Only the one most important action of a
// window is filled (NewPrimary).
type Button struct {
	widget.Button
}

// NewButton makes a bordered button. icon may be nil.
func NewButton(text string, icon fyne.Resource, tapped func()) *Button {
	return newButton(text, icon, widget.MediumImportance, tapped)
}

// NewPrimary makes the filled button.
func NewPrimary(text string, icon fyne.Resource, tapped func()) *Button {
	return newButton(text, icon, widget.HighImportance, tapped)
}

// NewQuiet makes a button without border or fill, for icons inside other things.
func NewQuiet(text string, icon fyne.Resource, tapped func()) *Button {
	return newButton(text, icon, widget.LowImportance, tapped)
}

func newButton(text string, icon fyne.Resource, imp widget.Importance, tapped func()) *Button {
	b := &Button{}
	b.Text, b.Importance, b.OnTapped = text, imp, tapped
	if icon != nil {
		name := ColorText
		if imp == widget.HighImportance {
			name = ColorOnAccent
		}
		b.Icon = theme.NewColoredResource(icon, name)
	}
	b.ExtendBaseWidget(b)
	return b
}

// TypedKey presses the button with Enter too, and leaves Escape to the window.
func (b *Button) TypedKey(ev *fyne.KeyEvent) {
	if ev.Name == fyne.KeyReturn || ev.Name == fyne.KeyEnter {
		b.Tapped(nil)
		return
	}
	if ev.Name == fyne.KeyEscape {
		HandUp(b, ev)
		return
	}
	b.Button.TypedKey(ev)
}

// CreateRenderer implements fyne.Widget.
func (b *Button) CreateRenderer() fyne.WidgetRenderer {
	b.ExtendBaseWidget(b)
	inner := b.Button.CreateRenderer()
	if b.Importance == widget.LowImportance {
		return inner
	}
	r := &buttonRenderer{WidgetRenderer: inner, b: b, border: canvas.NewRectangle(nil)}
	r.paint()
	return r
}

type buttonRenderer struct {
	fyne.WidgetRenderer
	b      *Button
	border *canvas.Rectangle
}

func (r *buttonRenderer) paint() {
	name := ColorBorder
	if r.b.Importance == widget.HighImportance && !r.b.Disabled() {
		name = ColorAccent
	} else if r.b.Importance == widget.DangerImportance && !r.b.Disabled() {
		name = ColorBad
	}
	r.border.FillColor = nil
	r.border.StrokeColor, r.border.StrokeWidth = themeColor(r.b, name), 1
	r.border.CornerRadius = r.b.Theme().Size(theme.SizeNameInputRadius)
}

// MinSize is a little lower than Fyne's, 30 units with body text, and leaves more room beside the words.
func (r *buttonRenderer) MinSize() fyne.Size {
	m := r.WidgetRenderer.MinSize()
	pad := r.b.Theme().Size(theme.SizeNameInnerPadding)
	if r.b.Text != "" {
		m.Width += 2 * pad
	}
	return fyne.NewSize(m.Width+Gap12-Gap4, max(Grown(30), m.Height-2*pad))
}

func (r *buttonRenderer) Layout(s fyne.Size) {
	r.WidgetRenderer.Layout(s)
	r.border.Resize(s)
}

func (r *buttonRenderer) Refresh() {
	r.paint()
	r.WidgetRenderer.Refresh()
	r.border.Refresh()
}

func (r *buttonRenderer) Objects() []fyne.CanvasObject {
	return append(append([]fyne.CanvasObject{}, r.WidgetRenderer.Objects()...), r.border)
}
