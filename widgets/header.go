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
		Title:   NewText(title, "", SizeTitle, fyne.TextStyle{Bold: true}).Truncated(),
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
	right := container.New(actionLine{}, h.Actions...)
	line := container.New(&headerLine{}, left, right)
	r := &headerRenderer{h: h, line: line}
	r.objects = []fyne.CanvasObject{line}
	return r
}

// headerRenderer lays out anew on every refresh, because the badge and the actions come and go.
type headerRenderer struct {
	h       *PageHeader
	line    *fyne.Container
	objects []fyne.CanvasObject
}

const headerHeight float32 = 40

func (r *headerRenderer) Layout(s fyne.Size) { r.line.Resize(s) }
func (r *headerRenderer) MinSize() fyne.Size {
	return r.line.MinSize()
}
func (r *headerRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *headerRenderer) Destroy()                     {}
func (r *headerRenderer) Refresh() {
	for _, o := range r.line.Objects {
		o.(*fyne.Container).Refresh()
	}
	r.line.Refresh()
	canvas.Refresh(r.h)
}

// headerLine puts the title at the left and the actions at the right, or below where both have no room in one line.
type headerLine struct{ stacked bool }

func (h *headerLine) MinSize(o []fyne.CanvasObject) fyne.Size {
	a, b := o[0].MinSize(), o[1].MinSize()
	if h.stacked {
		return fyne.NewSize(max(a.Width, b.Width), Grown(headerHeight)+Gap4+b.Height)
	}
	return fyne.NewSize(max(a.Width, b.Width), Grown(headerHeight))
}

func (h *headerLine) Layout(o []fyne.CanvasObject, s fyne.Size) {
	b := o[1].MinSize()
	h.stacked = b.Width > 0 && titleWidth(o[0].(*fyne.Container).Objects)+Gap12+b.Width > s.Width
	o[0].Move(fyne.NewPos(0, 0))
	if h.stacked {
		o[0].Resize(fyne.NewSize(s.Width, Grown(headerHeight)))
		o[1].Move(fyne.NewPos(0, Grown(headerHeight)+Gap4))
		o[1].Resize(b)
		return
	}
	o[0].Resize(fyne.NewSize(max(0, s.Width-b.Width-Gap12), s.Height))
	o[1].Move(fyne.NewPos(s.Width-b.Width, 0))
	o[1].Resize(fyne.NewSize(b.Width, s.Height))
}

// titleWidth is what the parts before the last one take when nothing is cut.
func titleWidth(o []fyne.CanvasObject) float32 {
	x := float32(0)
	for _, obj := range o[:len(o)-1] {
		if obj.Visible() {
			x += wholeWidth(obj) + Gap12
		}
	}
	return max(0, x-Gap12)
}

func wholeWidth(o fyne.CanvasObject) float32 {
	if t, ok := o.(*Text); ok {
		return t.Width()
	}
	return o.MinSize().Width
}

// titleLine gives every part its width and the last one the rest. Words are cut where even that is too much.
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
	x, over := float32(0), titleWidth(o)-s.Width
	for i, obj := range o {
		if !obj.Visible() {
			continue
		}
		m := obj.MinSize()
		if i == len(o)-1 {
			m.Width = max(0, s.Width-x)
		} else if whole := wholeWidth(obj); whole > m.Width {
			m.Width = max(m.Width, whole-max(0, over))
		}
		obj.Move(fyne.NewPos(x, (s.Height-m.Height)/2))
		obj.Resize(m)
		x += m.Width + Gap12
	}
}

// actionLine puts what is visible side by side, each at its own height.
type actionLine struct{}

func (actionLine) MinSize(o []fyne.CanvasObject) fyne.Size {
	var s fyne.Size
	for _, x := range o {
		if x.Visible() {
			m := x.MinSize()
			if s.Width > 0 {
				s.Width += Gap12
			}
			s = fyne.NewSize(s.Width+m.Width, max(s.Height, m.Height))
		}
	}
	return s
}

func (actionLine) Layout(o []fyne.CanvasObject, s fyne.Size) {
	x := float32(0)
	for _, obj := range o {
		if !obj.Visible() {
			continue
		}
		m := obj.MinSize()
		obj.Resize(m)
		obj.Move(fyne.NewPos(x, (s.Height-m.Height)/2))
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
