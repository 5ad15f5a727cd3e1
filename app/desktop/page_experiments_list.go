package desktop

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"sandglass/widgets"
)

// expList is the list of experiments: a head whose words sort it, and a row each with its gain drawn beside the noise. A click or
// Enter opens a row, space or a click on its box marks it, the arrow keys walk.
type expList struct {
	widget.BaseWidget
	view   experimentsView
	marked map[expID]bool
	order  expOrder

	onOpen func(expID)
	onMark func(expID)
	onSort func(key string)
	onSee  func(i int) // the row under the keyboard or the pointer; -1 = none

	rows *expRows
	head []*expHead
	top  *fyne.Container
}

// Columns of the list.
const (
	expMark = iota
	expName
	expScore
	expSpread
	expGain
	expBar
	expAhead
	expHours
	expWord
	expColumnCount
)

// expColumns are their titles, least widths and shares; below is the width of the list from which they are left out.
var expColumns = [expColumnCount]struct {
	title, sort string
	width, grow float32
	below       float32
	right       bool
}{
	expMark:   {width: 20},
	expName:   {title: "Experiment", sort: "name", width: 120, grow: 3},
	expScore:  {title: "Score", sort: "score", width: 62, right: true},
	expSpread: {title: "Spread", width: 66, right: true, below: 760},
	expGain:   {title: "Gain", sort: "gain", width: 66, right: true},
	expBar:    {title: "Gain and its noise", width: 96, grow: 2, below: 590},
	expAhead:  {title: "Folds ahead", width: 74, right: true, below: 860},
	expHours:  {title: "Hours", sort: "hours", width: 58, right: true, below: 650},
	expWord:   {title: "Verdict", width: 138},
}

const expGap = widgets.Gap12

// expWidths gives each column its place in a width; 0 leaves it out.
func expWidths(total float32) (out [expColumnCount]float32) {
	room, grow, shown := total-2*widgets.Gap12, float32(0), 0
	for i, c := range expColumns {
		if total >= c.below {
			out[i] = c.width
			room -= c.width
			grow += c.grow
			shown++
		}
	}
	room -= expGap * float32(shown-1)
	for i, c := range expColumns {
		if out[i] > 0 && room > 0 {
			out[i] += room * c.grow / grow
		}
	}
	return out
}

// expLine lays out the head and every row alike.
type expLine struct{}

func (expLine) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(100, widgets.RowHeight-theme.Padding()) // the list adds the padding between rows
}

func (expLine) Layout(o []fyne.CanvasObject, s fyne.Size) {
	x := widgets.Gap12
	for i, w := range expWidths(s.Width) {
		if w == 0 {
			o[i].Hide()
			continue
		}
		o[i].Show()
		o[i].Move(fyne.NewPos(x, 0))
		o[i].Resize(fyne.NewSize(w, s.Height))
		x += w + expGap
	}
}

func newExpList(h host) *expList {
	l := &expList{marked: map[expID]bool{}}
	l.rows = &expRows{l: l}
	l.rows.Length = func() int { return len(l.view.Rows) }
	l.rows.CreateItem = func() fyne.CanvasObject { return newExpItem(l) }
	l.rows.UpdateItem = func(i widget.ListItemID, o fyne.CanvasObject) { o.(*expItem).fill(i) }
	l.rows.OnSelected = func(i widget.ListItemID) {
		l.rows.Unselect(i) // so that a second click opens it again
		l.rows.at = i
		l.open(i)
	}
	l.rows.ExtendBaseWidget(l.rows)
	var cells []fyne.CanvasObject
	for _, c := range expColumns {
		if c.sort == "" {
			t := widgets.Caption(c.title).Truncated()
			if c.title != "" {
				t.Set(lang.L(c.title))
			}
			if c.right {
				t.Right()
			}
			cells = append(cells, t)
			continue
		}
		head := newExpHead(c.sort, lang.L(c.title), c.right, func() { l.onSort(c.sort) })
		h.Mark("experiments.sort."+c.sort, head)
		l.head = append(l.head, head)
		cells = append(cells, head)
	}
	l.top = container.New(expLine{}, cells...)
	l.ExtendBaseWidget(l)
	return l
}

func (l *expList) open(i int) {
	if i >= 0 && i < len(l.view.Rows) {
		l.onOpen(l.view.Rows[i].ID)
	}
}

func (l *expList) mark(i int) {
	if i >= 0 && i < len(l.view.Rows) {
		l.onMark(l.view.Rows[i].ID)
	}
}

// show draws other rows, or the same with other marks.
func (l *expList) show(v experimentsView, order expOrder) {
	l.view, l.order = v, order
	l.rows.at = min(l.rows.at, max(0, len(v.Rows)-1))
	for _, h := range l.head {
		h.set(h.key == order.key, order.turn)
	}
	l.rows.Refresh()
}

// CreateRenderer implements fyne.Widget.
func (l *expList) CreateRenderer() fyne.WidgetRenderer {
	l.ExtendBaseWidget(l)
	pad := l.Theme().Size(theme.SizeNamePadding)
	top := widgets.VBox(0, widgets.FixedHeight(28, l.top), widgets.Pad(0, pad, 0, pad, widgets.NewHairline()))
	return widget.NewSimpleRenderer(widgets.TopAndRest(0, top, l.rows))
}

// expRows is Fyne's list with the keys of this one. It mirrors the list's own idea of the focused row, which is private there.
type expRows struct {
	widget.List
	l  *expList
	at int
}

// FocusGained says which row the keyboard is on.
func (r *expRows) FocusGained() {
	r.List.FocusGained()
	r.l.onSee(r.at)
}

// TypedKey opens with Enter, marks with space, and walks.
func (r *expRows) TypedKey(e *fyne.KeyEvent) {
	n := len(r.l.view.Rows)
	switch e.Name {
	case fyne.KeyReturn, fyne.KeyEnter:
		r.l.open(r.at)
		return
	case fyne.KeySpace:
		r.l.mark(r.at)
		return
	case fyne.KeyEscape:
		widgets.HandUp(r, e)
		return
	case fyne.KeyDown:
		r.at = min(r.at+1, max(0, n-1))
	case fyne.KeyUp:
		r.at = max(r.at-1, 0)
	}
	r.List.TypedKey(e)
	r.l.onSee(r.at)
}

// expItem is one row.
type expItem struct {
	widget.BaseWidget
	l    *expList
	i    int
	line *fyne.Container

	mark                       *markBox
	name, kind                 *widgets.Text
	score, spread, gain, ahead *widgets.Text
	hours                      *widgets.Text
	bar                        *gainBar
	verdict                    *widgets.Badge
}

var _ desktop.Hoverable = (*expItem)(nil)

func newExpItem(l *expList) *expItem {
	r := &expItem{l: l, i: -1}
	right := func() *widgets.Text { return widgets.Body("").Truncated().Right() }
	r.mark = newMarkBox(func() { l.mark(r.i) })
	r.name, r.kind = widgets.Strong("").Truncated(), widgets.Caption("")
	r.score, r.spread, r.gain, r.ahead, r.hours = right(), right(), right(), right(), right()
	r.spread.ColorName, r.ahead.ColorName = widgets.ColorMuted, widgets.ColorMuted
	r.bar = newGainBar()
	r.verdict = widgets.NewBadge(widgets.Status{})
	r.line = container.New(expLine{}, r.mark, container.New(nameAndKind{}, r.name, r.kind), r.score, r.spread, r.gain, r.bar, r.ahead, r.hours, r.verdict)
	r.ExtendBaseWidget(r)
	return r
}

// nameAndKind sets a muted word right after a name, where there is room for both.
type nameAndKind struct{}

func (nameAndKind) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(24, max(o[0].MinSize().Height, o[1].MinSize().Height))
}

func (nameAndKind) Layout(o []fyne.CanvasObject, s fyne.Size) {
	name, kind := o[0].(*widgets.Text), o[1].(*widgets.Text)
	k, gap := kind.Width(), widgets.Gap8
	if kind.Text == "" || name.Width()+1+gap+k > s.Width { // the name comes first; what a row says below tells the rest
		k, gap = 0, 0
	}
	w := min(name.Width()+1, s.Width-k-gap)
	name.Move(fyne.NewPos(0, 0))
	name.Resize(fyne.NewSize(w, s.Height))
	setVisible(kind, k > 0)
	kind.Move(fyne.NewPos(w+gap, 1))
	kind.Resize(fyne.NewSize(k+1, s.Height))
}

// fill sets every property of a recycled row.
func (r *expItem) fill(i int) {
	if i < 0 || i >= len(r.l.view.Rows) {
		return
	}
	r.i = i
	x := r.l.view.Rows[i]
	r.mark.set(r.l.marked[x.ID])
	r.name.Set(x.Name)
	r.kind.Set(x.Kind)
	r.score.Set(x.Score)
	r.spread.Set(x.Spread)
	r.gain.Set(x.Gain)
	if x.Mean == nil {
		r.gain.SetColor(widgets.ColorMuted)
	} else {
		r.gain.SetColor(widgets.ColorText)
	}
	r.ahead.Set(x.Ahead)
	r.hours.Set(x.Hours)
	r.bar.set(gainMark{x.Mean, x.Low, x.High, r.l.view.Scale, x.Verdict.Color})
	r.verdict.Set(x.Verdict)
	r.line.Objects[expName].(*fyne.Container).Refresh()
}

// CreateRenderer implements fyne.Widget.
func (r *expItem) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(r.line) }

// MouseIn tells the row in words below the list.
func (r *expItem) MouseIn(*desktop.MouseEvent) { r.l.onSee(r.i) }

// MouseMoved implements desktop.Hoverable.
func (r *expItem) MouseMoved(*desktop.MouseEvent) {}

// MouseOut implements desktop.Hoverable.
func (r *expItem) MouseOut() { r.l.onSee(-1) }

// markBox is a row's box: on when the row is to be compared. The keyboard marks by the list.
type markBox struct {
	widget.BaseWidget
	on     bool
	tapped func()
}

func newMarkBox(tapped func()) *markBox {
	m := &markBox{tapped: tapped}
	m.ExtendBaseWidget(m)
	return m
}

func (m *markBox) set(on bool) {
	if m.on != on {
		m.on = on
		m.Refresh()
	}
}

// Tapped implements fyne.Tappable.
func (m *markBox) Tapped(*fyne.PointEvent) { m.tapped() }

// Cursor implements desktop.Cursorable.
func (m *markBox) Cursor() desktop.Cursor { return desktop.PointerCursor }

// CreateRenderer implements fyne.Widget.
func (m *markBox) CreateRenderer() fyne.WidgetRenderer {
	r := &markRenderer{m: m, box: canvas.NewRectangle(nil), tick: canvas.NewImageFromResource(theme.NewColoredResource(widgets.IconCheck.Resource(), widgets.ColorOnAccent))}
	r.tick.FillMode = canvas.ImageFillContain
	r.paint()
	return r
}

type markRenderer struct {
	m    *markBox
	box  *canvas.Rectangle
	tick *canvas.Image
}

const markSide float32 = 16

func (r *markRenderer) paint() {
	r.box.CornerRadius, r.box.StrokeWidth = 4, 1
	r.box.StrokeColor, r.box.FillColor = theme.ColorForWidget(widgets.ColorMuted, r.m), theme.ColorForWidget(widgets.ColorSurface, r.m)
	if r.m.on {
		r.box.StrokeColor, r.box.FillColor = theme.ColorForWidget(widgets.ColorAccent, r.m), theme.ColorForWidget(widgets.ColorAccent, r.m)
	}
	setVisible(r.tick, r.m.on)
}

func (r *markRenderer) Layout(s fyne.Size) {
	y := (s.Height - markSide) / 2
	r.box.Move(fyne.NewPos(0, y))
	r.box.Resize(fyne.NewSquareSize(markSide))
	r.tick.Move(fyne.NewPos(2, y+2))
	r.tick.Resize(fyne.NewSquareSize(markSide - 4))
}

func (r *markRenderer) MinSize() fyne.Size           { return fyne.NewSquareSize(markSide) }
func (r *markRenderer) Refresh()                     { r.paint(); canvas.Refresh(r.m) }
func (r *markRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.box, r.tick} }
func (r *markRenderer) Destroy()                     {}

// gainMark is what a bar shows: a gain, the ends of its interval, and how far the bar reaches either side of no gain.
type gainMark struct {
	mean, low, high *float64
	scale           float64
	color           fyne.ThemeColorName
}

// gainBar draws a gain beside its noise: a dot, its interval as a line, and no gain as a hairline, all rows on one scale.
type gainBar struct {
	widget.BaseWidget
	mark gainMark
}

func newGainBar() *gainBar {
	b := &gainBar{}
	b.ExtendBaseWidget(b)
	return b
}

func (b *gainBar) set(m gainMark) {
	b.mark = m
	b.Refresh()
}

// CreateRenderer implements fyne.Widget.
func (b *gainBar) CreateRenderer() fyne.WidgetRenderer {
	r := &gainBarRenderer{b: b, zero: canvas.NewRectangle(nil), line: canvas.NewRectangle(nil), dot: canvas.NewCircle(nil)}
	r.place(b.BaseWidget.Size())
	return r
}

type gainBarRenderer struct {
	b    *gainBar
	zero *canvas.Rectangle
	line *canvas.Rectangle
	dot  *canvas.Circle
}

const gainDot float32 = 8

// place puts the parts where the figures say.
func (r *gainBarRenderer) place(s fyne.Size) {
	m := r.b.mark
	setVisible(r.zero, m.scale > 0)
	setVisible(r.line, m.mean != nil && m.low != nil && m.scale > 0)
	setVisible(r.dot, m.mean != nil && m.scale > 0)
	r.zero.FillColor = theme.ColorForWidget(widgets.ColorBorder, r.b)
	ink := m.color
	if ink == "" {
		ink = widgets.ColorMuted
	}
	r.line.FillColor, r.dot.FillColor = theme.ColorForWidget(ink, r.b), theme.ColorForWidget(ink, r.b)
	if m.scale <= 0 {
		return
	}
	at := func(v float64) float32 {
		half := (s.Width - gainDot) / 2
		return s.Width/2 + float32(v/m.scale)*half
	}
	r.zero.Move(fyne.NewPos(s.Width/2, 0))
	r.zero.Resize(fyne.NewSize(1, s.Height))
	if m.mean == nil {
		return
	}
	r.dot.Move(fyne.NewPos(at(*m.mean)-gainDot/2, (s.Height-gainDot)/2))
	r.dot.Resize(fyne.NewSquareSize(gainDot))
	if m.low != nil {
		x0, x1 := at(*m.low), at(*m.high)
		r.line.Move(fyne.NewPos(x0, s.Height/2-1))
		r.line.Resize(fyne.NewSize(max(1, x1-x0), 2))
	}
}

func (r *gainBarRenderer) Layout(s fyne.Size) { r.place(s) }
func (r *gainBarRenderer) MinSize() fyne.Size { return fyne.NewSize(40, gainDot) }
func (r *gainBarRenderer) Refresh()           { r.place(r.b.BaseWidget.Size()); canvas.Refresh(r.b) }
func (r *gainBarRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.zero, r.line, r.dot}
}
func (r *gainBarRenderer) Destroy() {}

// expHead is a column's title that sorts by it.
type expHead struct {
	widgets.TapRow
	key   string
	title string
	word  *widgets.Text
}

func newExpHead(key, title string, right bool, tapped func()) *expHead {
	h := &expHead{key: key, title: title, word: widgets.Caption(title).Truncated()}
	if right {
		h.word.Right()
	}
	h.Content, h.OnTapped = h.word, tapped
	h.ExtendBaseWidget(h)
	return h
}

// set says whether the list is sorted by this column, and which way round.
func (h *expHead) set(on, turned bool) {
	title, color := h.title, widgets.ColorMuted
	if on {
		title, color = h.title+" ↓", widgets.ColorText
		if turned {
			title = h.title + " ↑"
		}
	}
	h.word.Set(title)
	h.word.SetColor(color)
}
