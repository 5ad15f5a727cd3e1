package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

var _ fyne.Widget = (*Badge)(nil)

// Shape is the form that says the same as a badge's colour.
type Shape int

// Shapes of a Badge.
const (
	ShapeDot Shape = iota
	ShapePlay
	ShapeClock
	ShapeCheck
	ShapeCross
	ShapeSquare
	ShapeBang
	ShapeRing
)

// Status is what a badge says: a word, a shape and a colour.
type Status struct {
	Word  string
	Shape Shape
	Color fyne.ThemeColorName // "" = ColorMuted
}

// Badge is a small pill with a shape and a word.
type Badge struct {
	widget.BaseWidget
	Status Status
}

// NewBadge makes a badge.
func NewBadge(s Status) *Badge {
	b := &Badge{Status: s}
	b.ExtendBaseWidget(b)
	return b
}

// Set changes what the badge says.
func (b *Badge) Set(s Status) {
	if b.Status == s {
		return
	}
	b.Status = s
	b.Refresh()
}

func (b *Badge) color() fyne.ThemeColorName {
	if b.Status.Color == "" {
		return ColorMuted
	}
	return b.Status.Color
}

// CreateRenderer implements fyne.Widget.
func (b *Badge) CreateRenderer() fyne.WidgetRenderer {
	b.ExtendBaseWidget(b)
	r := &badgeRenderer{b: b, pill: canvas.NewRectangle(nil), icon: canvas.NewImageFromResource(nil), word: canvas.NewText("", nil)}
	r.icon.FillMode = canvas.ImageFillContain
	r.objects = []fyne.CanvasObject{r.pill, r.icon, r.word}
	r.paint()
	return r
}

type badgeRenderer struct {
	b       *Badge
	pill    *canvas.Rectangle
	icon    *canvas.Image
	word    *canvas.Text
	objects []fyne.CanvasObject
}

const badgeIcon float32 = 10

func (r *badgeRenderer) paint() {
	name := r.b.color()
	c := themeColor(r.b, name)
	r.pill.FillColor = tint(name, badgeTint)
	r.word.Text, r.word.Color = r.b.Status.Word, c
	r.word.TextSize, r.word.TextStyle = r.b.Theme().Size(SizeCaption), fyne.TextStyle{Bold: true}
	r.icon.Resource = theme.NewColoredResource(shapes[r.b.Status.Shape], name)
}

func (r *badgeRenderer) Layout(s fyne.Size) {
	h := r.MinSize().Height
	y := (s.Height - h) / 2
	w := r.MinSize().Width
	r.pill.CornerRadius = h / 2
	r.pill.Move(fyne.NewPos(0, y))
	r.pill.Resize(fyne.NewSize(min(w, s.Width), h))
	r.icon.Move(fyne.NewPos(Gap8, y+(h-badgeIcon)/2))
	r.icon.Resize(fyne.NewSquareSize(badgeIcon))
	m := r.word.MinSize()
	r.word.Move(fyne.NewPos(Gap8+badgeIcon+5, y+(h-m.Height)/2))
	r.word.Resize(m)
}

func (r *badgeRenderer) MinSize() fyne.Size {
	m := r.word.MinSize()
	return fyne.NewSize(Gap8+badgeIcon+5+m.Width+10, m.Height+4)
}

func (r *badgeRenderer) Refresh() {
	r.paint()
	r.Layout(r.b.BaseWidget.Size())
	r.pill.Refresh()
	r.icon.Refresh()
	r.word.Refresh()
	canvas.Refresh(r.b)
}
func (r *badgeRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *badgeRenderer) Destroy()                     {}

// badgeTint is how much of its colour a badge's pill has: enough to be seen, little enough to read the word on it.
const badgeTint = 0.085
