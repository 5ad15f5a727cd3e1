package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"
)

// Segment is a part of a bar.
type Segment struct {
	Value float64
	Color fyne.ThemeColorName
	Share float64 // strength of the colour; 0 = full
}

// QuotaBar is a bar whose parts follow each other from the left; what they leave of Total stays empty.
type QuotaBar struct {
	widget.BaseWidget
	Total    float64
	Segments []Segment
	Height   float32 // 0 = 12
}

// NewQuotaBar makes an empty bar.
func NewQuotaBar() *QuotaBar {
	b := &QuotaBar{}
	b.ExtendBaseWidget(b)
	return b
}

// NewMeter makes a thin bar with one part.
func NewMeter(value float64, color fyne.ThemeColorName) *QuotaBar {
	b := NewQuotaBar()
	b.Height = 6
	b.Set(1, Segment{Value: value, Color: color})
	return b
}

// Set changes the parts. Parts that go beyond Total are cut at the end of the bar.
func (b *QuotaBar) Set(total float64, parts ...Segment) {
	b.Total, b.Segments = total, parts
	b.Refresh()
}

// CreateRenderer implements fyne.Widget.
func (b *QuotaBar) CreateRenderer() fyne.WidgetRenderer {
	b.ExtendBaseWidget(b)
	r := &barRenderer{b: b, track: canvas.NewRectangle(nil)}
	r.Refresh()
	return r
}

type barRenderer struct {
	b       *QuotaBar
	track   *canvas.Rectangle
	parts   []*canvas.Rectangle
	objects []fyne.CanvasObject
}

func (r *barRenderer) height() float32 {
	if r.b.Height == 0 {
		return 12
	}
	return r.b.Height
}

func (r *barRenderer) Layout(s fyne.Size) {
	h := r.height()
	y := (s.Height - h) / 2
	r.track.Move(fyne.NewPos(0, y))
	r.track.Resize(fyne.NewSize(s.Width, h))
	r.track.CornerRadius = h / 2
	x := float32(0)
	for i, p := range r.parts {
		w := float32(0)
		if r.b.Total > 0 && r.b.Segments[i].Value > 0 {
			w = min(s.Width-x, s.Width*float32(r.b.Segments[i].Value/r.b.Total))
		}
		if w > 0 && w < 2 {
			w = 2 // a sliver that is there must be seen
		}
		p.Move(fyne.NewPos(x, y))
		p.Resize(fyne.NewSize(w, h))
		left, right := float32(0), float32(0)
		if x == 0 {
			left = min(h/2, w/2)
		}
		if x+w >= s.Width-0.5 {
			right = min(h/2, w/2)
		}
		p.TopLeftCornerRadius, p.BottomLeftCornerRadius = left, left
		p.TopRightCornerRadius, p.BottomRightCornerRadius = right, right
		x += w
	}
}

func (r *barRenderer) MinSize() fyne.Size { return fyne.NewSize(40, r.height()) }

func (r *barRenderer) Refresh() {
	r.track.FillColor = themeColor(r.b, ColorTrack)
	for len(r.parts) < len(r.b.Segments) {
		r.parts = append(r.parts, canvas.NewRectangle(nil))
	}
	r.parts = r.parts[:len(r.b.Segments)]
	r.objects = append(r.objects[:0], r.track)
	for i, s := range r.b.Segments {
		share := s.Share
		if share == 0 {
			share = 1
		}
		r.parts[i].FillColor = tint(s.Color, share)
		r.objects = append(r.objects, r.parts[i])
	}
	r.Layout(r.b.BaseWidget.Size())
	canvas.Refresh(r.b)
}

func (r *barRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *barRenderer) Destroy()                     {}

// StatRow is a line of a card: a muted label at the left, its value at the right, a hairline below.
type StatRow struct {
	widget.BaseWidget
	Label, Value *Text
	Last         bool // no hairline: the last row of its card
}

// NewStatRow makes a row.
func NewStatRow(label, value string) *StatRow {
	r := &StatRow{Label: Muted(label).Truncated(), Value: Strong(value).Right()}
	r.ExtendBaseWidget(r)
	return r
}

// Set changes the value.
func (r *StatRow) Set(value string) { r.Value.Set(value) }

// CreateRenderer implements fyne.Widget.
func (r *StatRow) CreateRenderer() fyne.WidgetRenderer {
	r.ExtendBaseWidget(r)
	line := container.New(&statLine{}, r.Label, r.Value)
	if r.Last {
		return widget.NewSimpleRenderer(line)
	}
	return widget.NewSimpleRenderer(VBox(0, line, NewHairline()))
}

// statLine puts a label and its value into one line, or into two where they have no room in one.
type statLine struct{ stacked bool }

const statHeight float32 = 32

func (l *statLine) MinSize(o []fyne.CanvasObject) fyne.Size {
	a, b := o[0].MinSize(), o[1].MinSize()
	if l.stacked {
		return fyne.NewSize(max(a.Width, b.Width), a.Height+b.Height+Gap8)
	}
	return fyne.NewSize(max(a.Width, b.Width), Grown(statHeight))
}

func (l *statLine) Layout(o []fyne.CanvasObject, s fyne.Size) {
	a, b := o[0].MinSize(), o[1].MinSize()
	l.stacked = o[0].(*Text).Width()+Gap12+b.Width > s.Width
	if l.stacked {
		o[0].Move(fyne.NewPos(0, Gap4))
		o[0].Resize(fyne.NewSize(s.Width, a.Height))
		o[1].Move(fyne.NewPos(0, Gap4+a.Height))
		o[1].Resize(fyne.NewSize(s.Width, b.Height))
		return
	}
	o[0].Move(fyne.NewPos(0, 0))
	o[0].Resize(fyne.NewSize(max(0, s.Width-b.Width-Gap12), s.Height))
	o[1].Move(fyne.NewPos(s.Width-b.Width, 0))
	o[1].Resize(fyne.NewSize(b.Width, s.Height))
}
