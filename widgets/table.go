package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Column is one column of a Table.
type Column struct {
	Title  string
	Width  float32 // at least
	Weight float32 // share of what is left over; 0 = none
	Right  bool    // numbers
	Below  float32 // the column is left out while the table is narrower than this
}

// Cell is what a row shows in one column.
type Cell struct {
	Text   string
	Strong bool
	Muted  bool
	Mono   bool
	Status *Status // shown as a badge instead of Text
}

// Table is a header over a list of rows with aligned columns. Rows are made only for what is visible, so its length may be large.
// A click or Enter opens a row; the arrow keys move the selection.
type Table struct {
	widget.BaseWidget
	Columns []Column
	Length  func() int
	Row     func(i int) []Cell // a cell per column
	OnOpen  func(i int)
	// OnSelect is told when the selection moves by keyboard. May be nil.
	OnSelect func(i int)

	list   *rowList
	header *fyne.Container
}

// RowHeight is the height of a table's row with normal text.
const RowHeight float32 = 36

// NewTable makes a table.
func NewTable(columns []Column, length func() int, row func(i int) []Cell) *Table {
	t := &Table{Columns: columns, Length: length, Row: row}
	t.list = &rowList{t: t}
	t.list.Length = func() int { return t.Length() }
	t.list.CreateItem = func() fyne.CanvasObject { return newTableRow(t) }
	t.list.UpdateItem = func(i widget.ListItemID, o fyne.CanvasObject) { t.fill(i, o.(*fyne.Container)) }
	t.list.OnSelected = t.selected
	t.list.ExtendBaseWidget(t.list)
	t.ExtendBaseWidget(t)
	return t
}

// Refresh shows the rows as they are now.
func (t *Table) Refresh() {
	t.list.Refresh()
	t.BaseWidget.Refresh()
}

// ScrollTo makes a row visible.
func (t *Table) ScrollTo(i int) { t.list.ScrollTo(i) }

// Focusable is the part of the table that takes the keyboard.
func (t *Table) Focusable() fyne.Focusable { return t.list }

func (t *Table) selected(i widget.ListItemID) {
	t.list.at = i
	t.list.Unselect(i) // so that a second click opens it again
	if i < t.Length() && t.OnOpen != nil {
		t.OnOpen(i)
	}
}

// CreateRenderer implements fyne.Widget.
func (t *Table) CreateRenderer() fyne.WidgetRenderer {
	t.ExtendBaseWidget(t)
	cells := make([]fyne.CanvasObject, len(t.Columns))
	for i, c := range t.Columns {
		title := c.Title
		if title != "" {
			title = lang.L(title)
		}
		h := Caption(title).Truncated()
		if c.Right {
			h.Right()
		}
		cells[i] = h
	}
	t.header = container.New(&rowLayout{t: t}, cells...)
	pad := t.Theme().Size(theme.SizeNamePadding)
	top := VBox(0, FixedHeight(28, t.header), Pad(0, pad, 0, pad, NewHairline()))
	return widget.NewSimpleRenderer(TopAndRest(0, top, t.list))
}

func newTableRow(t *Table) *fyne.Container {
	cells := make([]fyne.CanvasObject, len(t.Columns))
	for i, c := range t.Columns {
		text := Body("").Truncated()
		if c.Right {
			text.Right()
		}
		badge := NewBadge(Status{})
		badge.Hide()
		cells[i] = container.NewStack(text, badge)
	}
	return container.New(&rowLayout{t: t}, cells...)
}

// fill sets every property of a recycled row.
func (t *Table) fill(i int, row *fyne.Container) {
	if i < 0 || i >= t.Length() {
		return
	}
	cells := t.Row(i)
	for j, o := range row.Objects {
		var c Cell
		if j < len(cells) {
			c = cells[j]
		}
		stack := o.(*fyne.Container)
		text, badge := stack.Objects[0].(*Text), stack.Objects[1].(*Badge)
		if c.Status != nil {
			badge.Set(*c.Status)
			badge.Show()
			text.Hide()
			continue
		}
		badge.Hide()
		style := fyne.TextStyle{Bold: c.Strong, Monospace: c.Mono}
		color := ColorText
		if c.Muted {
			color = ColorMuted
		}
		if text.Style != style || text.ColorName != color || text.Text != c.Text {
			text.Style, text.ColorName, text.Text = style, color, c.Text
			text.Refresh()
		}
		text.Show()
	}
}

// rowLayout places header and row cells by the same widths.
type rowLayout struct{ t *Table }

const cellGap float32 = 16

// widths gives each column its width; 0 leaves it out.
func (l *rowLayout) widths(total float32) []float32 {
	cols := l.t.Columns
	out := make([]float32, len(cols))
	room, weight, shown := total-2*Gap12, float32(0), 0
	for i, c := range cols {
		if total < c.Below {
			continue
		}
		out[i] = max(c.Width, 1)
		room -= out[i]
		weight += c.Weight
		shown++
	}
	room -= cellGap * float32(max(0, shown-1))
	if weight > 0 {
		for i, c := range cols {
			if out[i] > 0 {
				out[i] = max(24, out[i]+room*c.Weight/weight)
			}
		}
	}
	return out
}

func (l *rowLayout) MinSize([]fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(100, Grown(RowHeight)-l.t.Theme().Size(theme.SizeNamePadding)) // the list adds the padding between rows
}

func (l *rowLayout) Layout(o []fyne.CanvasObject, s fyne.Size) {
	x := Gap12
	for i, w := range l.widths(s.Width) {
		if w == 0 {
			o[i].Hide()
			continue
		}
		o[i].Show()
		o[i].Move(fyne.NewPos(x, 0))
		o[i].Resize(fyne.NewSize(w, s.Height))
		x += w + cellGap
	}
}

// rowList is Fyne's list plus Enter. It mirrors the list's own idea of the focused row, which is private there.
type rowList struct {
	widget.List
	t  *Table
	at int
}

func (l *rowList) TypedKey(e *fyne.KeyEvent) {
	n := l.t.Length()
	switch e.Name {
	case fyne.KeyReturn, fyne.KeyEnter:
		if l.at < n {
			l.t.selected(l.at)
		}
		return
	case fyne.KeyDown:
		l.at = min(l.at+1, max(0, n-1))
	case fyne.KeyUp:
		l.at = max(l.at-1, 0)
	}
	l.List.TypedKey(e)
	if l.t.OnSelect != nil && (e.Name == fyne.KeyDown || e.Name == fyne.KeyUp) {
		l.t.OnSelect(l.at)
	}
}
