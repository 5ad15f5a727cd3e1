package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"
)

// LegendItem is a word and the colour it stands for.
type LegendItem struct {
	Word  string
	Color fyne.ThemeColorName
	Share float64 // strength of the colour; 0 = full
	// Hidden leaves the item out.
	Hidden bool
}

// Legend is a line of words, each after a square of its colour.
type Legend struct {
	widget.BaseWidget
	Items []LegendItem
}

// NewLegend makes a legend.
func NewLegend(items ...LegendItem) *Legend {
	l := &Legend{Items: items}
	l.ExtendBaseWidget(l)
	return l
}

// SetColor changes the colour of one item.
func (l *Legend) SetColor(i int, c fyne.ThemeColorName) {
	if l.Items[i].Color != c {
		l.Items[i].Color = c
		l.Refresh()
	}
}

// SetShown hides the items that do not occur.
func (l *Legend) SetShown(shown ...bool) {
	for i := range l.Items {
		l.Items[i].Hidden = i < len(shown) && !shown[i]
	}
	l.Refresh()
}

// CreateRenderer implements fyne.Widget.
func (l *Legend) CreateRenderer() fyne.WidgetRenderer {
	l.ExtendBaseWidget(l)
	r := &legendRenderer{l: l}
	for range l.Items {
		box, word := canvas.NewRectangle(nil), canvas.NewText("", nil)
		r.boxes, r.words = append(r.boxes, box), append(r.words, word)
		r.objects = append(r.objects, box, word)
	}
	r.paint()
	return r
}

type legendRenderer struct {
	l       *Legend
	boxes   []*canvas.Rectangle
	words   []*canvas.Text
	objects []fyne.CanvasObject
}

const legendBox, legendGap float32 = 9, 10

func (r *legendRenderer) paint() {
	for i, it := range r.l.Items {
		share := it.Share
		if share == 0 {
			share = 1
		}
		r.boxes[i].FillColor = tint(it.Color, share)
		setShown(r.boxes[i], !it.Hidden)
		setShown(r.words[i], !it.Hidden)
		r.words[i].Text, r.words[i].Color, r.words[i].TextSize = it.Word, themeColor(r.l, ColorMuted), r.l.Theme().Size(SizeCaption)
	}
}

func (r *legendRenderer) Layout(s fyne.Size) {
	x := float32(0)
	for i, w := range r.words {
		if r.l.Items[i].Hidden {
			continue
		}
		m := w.MinSize()
		r.boxes[i].Move(fyne.NewPos(x, (s.Height-legendBox)/2))
		r.boxes[i].Resize(fyne.NewSquareSize(legendBox))
		w.Move(fyne.NewPos(x+legendBox+4, (s.Height-m.Height)/2))
		w.Resize(m)
		x += legendBox + 4 + m.Width + legendGap
	}
}

func (r *legendRenderer) MinSize() fyne.Size {
	var s fyne.Size
	for i, w := range r.words {
		if r.l.Items[i].Hidden {
			continue
		}
		m := w.MinSize()
		s.Width += legendBox + 4 + m.Width + legendGap
		s.Height = max(s.Height, m.Height)
	}
	return fyne.NewSize(max(0, s.Width-legendGap), s.Height)
}

func (r *legendRenderer) Refresh() {
	r.paint()
	r.Layout(r.l.BaseWidget.Size())
	canvas.Refresh(r.l)
}
func (r *legendRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *legendRenderer) Destroy()                     {}

func setShown(o fyne.CanvasObject, yes bool) {
	if yes {
		o.Show()
	} else {
		o.Hide()
	}
}
