package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

var _ fyne.Widget = (*PageHeader)(nil)

// PageHeader is the title line of a page: a way back, title, status, a muted note; the page's actions at the right.
type PageHeader struct {
	widget.BaseWidget
	Title   *Text
	Badge   *Badge // hidden until SetStatus
	Note    *Text
	OnBack  func() // nil: no way back is shown
	Actions []fyne.CanvasObject
}

// NewPageHeader makes a header.
func NewPageHeader(title string, actions ...fyne.CanvasObject) *PageHeader {
	h := &PageHeader{
		Title:   NewText(title, "", SizeTitle, fyne.TextStyle{Bold: true}),
		Badge:   NewBadge(Status{}),
		Note:    Muted("").Truncated(),
		Actions: actions,
	}
	h.Badge.Hide()
	h.ExtendBaseWidget(h)
	return h
}

// SetStatus shows a badge beside the title; an empty word hides it.
func (h *PageHeader) SetStatus(s Status) {
	h.Badge.Set(s)
	if (s.Word != "") != h.Badge.Visible() {
		if s.Word == "" {
			h.Badge.Hide()
		} else {
			h.Badge.Show()
		}
	}
	h.Refresh()
}

// CreateRenderer implements fyne.Widget.
func (h *PageHeader) CreateRenderer() fyne.WidgetRenderer {
	h.ExtendBaseWidget(h)
	parts := []fyne.CanvasObject{}
	if h.OnBack != nil {
		parts = append(parts, NewQuiet("", IconBack.Resource(), func() { h.OnBack() }))
	}
	parts = append(parts, h.Title, h.Badge, h.Note)
	left := container.New(titleLine{}, parts...)
	right := HBox(Gap12)
	for _, a := range h.Actions {
		right.Add(Middle(a))
	}
	return widget.NewSimpleRenderer(FixedHeight(40, Spread(left, right)))
}

// titleLine gives every part its width and the last one the rest.
type titleLine struct{}

func (titleLine) MinSize(o []fyne.CanvasObject) fyne.Size {
	var s fyne.Size
	for _, x := range o {
		if x.Visible() {
			m := x.MinSize()
			s.Width += m.Width + Gap12
			s.Height = max(s.Height, m.Height)
		}
	}
	return s
}

func (titleLine) Layout(o []fyne.CanvasObject, s fyne.Size) {
	x := float32(0)
	for i, obj := range o {
		if !obj.Visible() {
			continue
		}
		m := obj.MinSize()
		if i == len(o)-1 {
			m.Width = max(0, s.Width-x)
		}
		obj.Move(fyne.NewPos(x, (s.Height-m.Height)/2))
		obj.Resize(m)
		x += m.Width + Gap12
	}
}

// IconView shows a symbol in a theme colour.
type IconView struct {
	widget.BaseWidget
	Icon  Icon
	Color fyne.ThemeColorName
	Side  float32 // 0 = 16
}

// NewIcon makes a symbol.
func NewIcon(i Icon, c fyne.ThemeColorName, side float32) *IconView {
	v := &IconView{Icon: i, Color: c, Side: side}
	v.ExtendBaseWidget(v)
	return v
}

// Set changes symbol and colour.
func (v *IconView) Set(i Icon, c fyne.ThemeColorName) {
	v.Icon, v.Color = i, c
	v.Refresh()
}

// CreateRenderer implements fyne.Widget.
func (v *IconView) CreateRenderer() fyne.WidgetRenderer {
	v.ExtendBaseWidget(v)
	img := canvas.NewImageFromResource(nil)
	img.FillMode = canvas.ImageFillContain
	side := v.Side
	if side == 0 {
		side = 16
	}
	r := &imageRenderer{img: img, side: side}
	r.paint = func() { img.Resource = theme.NewColoredResource(v.Icon.Resource(), v.Color) }
	r.paint()
	return r
}

type imageRenderer struct {
	img   *canvas.Image
	side  float32
	paint func()
}

func (r *imageRenderer) Layout(s fyne.Size) {
	r.img.Resize(fyne.NewSquareSize(r.side))
	r.img.Move(fyne.NewPos((s.Width-r.side)/2, (s.Height-r.side)/2))
}
func (r *imageRenderer) MinSize() fyne.Size           { return fyne.NewSquareSize(r.side) }
func (r *imageRenderer) Refresh()                     { r.paint(); r.img.Refresh() }
func (r *imageRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.img} }
func (r *imageRenderer) Destroy()                     {}
