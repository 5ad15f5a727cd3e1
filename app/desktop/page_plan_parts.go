package desktop

import (
	"context"
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"

	"sandglass/app"
	"sandglass/widgets"
)

// planCard is the headline of one pool until the deadline: usable hours, and what they are for.
type planCard struct {
	card               *widgets.Card
	title, now         *widgets.Text
	number, unit, note *widgets.Text
	explore, end, lost *widgets.Text
	bar                *widgets.QuotaBar
	known              *fyne.Container // hidden while the hours are not
}

func newPlanCard() *planCard {
	c := &planCard{title: widgets.Strong(""), now: widgets.Caption("").Right().Truncated(), unit: widgets.Muted("").Truncated(), note: widgets.Caption("").Wrapped(),
		number: widgets.NewText("", "", widgets.SizeNumber, fyne.TextStyle{Bold: true}), bar: widgets.NewQuotaBar(),
		explore: widgets.Strong(""), end: widgets.Strong(""), lost: widgets.Strong("")}
	line := container.NewBorder(nil, nil, c.title, nil, widgets.Pad(0, 0, 0, widgets.Gap12, c.now))
	figures := widgets.Columns(widgets.Gap8, 0, nil,
		figure(widgets.LegendItem{Word: lang.L("to explore"), Color: widgets.ColorAccent, Share: 0.8}, c.explore),
		figure(widgets.LegendItem{Word: lang.L("for the end"), Color: widgets.ColorGood, Share: 0.75}, c.end),
		figure(widgets.LegendItem{Word: lang.L("expires"), Color: widgets.ColorBad, Share: 0.8}, c.lost))
	c.known = widgets.VBox(widgets.Gap4, container.New(baseline{}, c.number, c.unit), c.bar, widgets.Pad(widgets.Gap4, 0, 0, 0, figures))
	c.card = widgets.NewCard("", nil, widgets.VBox(widgets.Gap4, line, c.known, c.note))
	return c
}

// figure is a number under the word and the colour it has in the bar.
func figure(of widgets.LegendItem, value *widgets.Text) fyne.CanvasObject {
	return widgets.VBox(0, widgets.NewLegend(of), value)
}

func (c *planCard) show(v planPool) {
	c.title.SetColor(v.Color)
	c.title.Set(v.Title)
	c.now.Set(v.Now)
	c.number.Set(v.Number)
	c.unit.Set(v.Unit)
	c.explore.Set(v.Explore)
	c.end.Set(v.End)
	c.lost.Set(v.Lost)
	c.note.Set(v.Note)
	setVisible(c.known, v.Number != "")
	c.bar.Set(v.AllH, widgets.Segment{Value: v.ExploreH, Color: widgets.ColorAccent, Share: 0.8}, widgets.Segment{Value: v.EndH, Color: widgets.ColorGood, Share: 0.75},
		widgets.Segment{Value: v.SlackH, Color: widgets.ColorGood, Share: 0.3}, widgets.Segment{Value: v.LostH, Color: widgets.ColorBad, Share: 0.8})
}

// startCard is what to start now so that nothing expires, and what to leave alone.
type startCard struct {
	p     *planPage
	card  *widgets.Card
	hint  *widgets.Text
	list  *fyne.Container
	rows  []*startLine
	leave *fyne.Container
	all   bool // every reason is shown
	shown string
}

// startLine is one suggestion with its one button.
type startLine struct {
	object           *fyne.Container
	name, why, hours *widgets.Text
	button           *widgets.FocusButton
	of               startRow
}

// leaveMost is how many reasons against starting something are shown at first.
const leaveMost = 3

func newStartCard(p *planPage) *startCard {
	c := &startCard{p: p, hint: widgets.Muted("").Wrapped(), list: widgets.VBox(0), leave: widgets.VBox(widgets.Gap4)}
	c.card = widgets.NewCard(lang.L("Start now, so that nothing expires"), nil, widgets.VBox(widgets.Gap8, c.hint, c.list, c.leave))
	return c
}

func (c *startCard) line() *startLine {
	l := &startLine{name: widgets.Strong("").Truncated(), why: widgets.Caption("").Wrapped(), hours: widgets.Body("").Right()}
	l.button = widgets.NewFocusButton("", nil, func() { c.p.take(l.of) }, func() { c.p.reveal(l.object) })
	row := container.New(startLayout{}, widgets.VBox(2, l.name, l.why), l.hours, l.button)
	l.object = widgets.VBox(0, widgets.Pad(widgets.Gap8, 0, widgets.Gap8, 0, row), widgets.NewHairline())
	return l
}

func (c *startCard) show(v planView) {
	c.hint.Set(v.StartHint)
	setVisible(c.hint, v.StartHint != "")
	for len(c.rows) < len(v.Start) {
		l := c.line()
		c.p.h.Mark(fmt.Sprintf("plan.start%d", len(c.rows)), l.button)
		c.rows = append(c.rows, l)
		c.list.Add(l.object)
	}
	for i, l := range c.rows {
		setVisible(l.object, i < len(v.Start))
		if i < len(v.Start) {
			l.of = v.Start[i]
			l.name.Set(l.of.Name)
			l.why.Set(l.of.Why)
			l.hours.Set(l.of.Hours)
			if l.button.Text != l.of.Button {
				l.button.SetText(l.of.Button)
			}
		}
	}
	setVisible(c.list, len(v.Start) > 0)
	if now := keyOf([2]any{v.Leave, c.all}); now != c.shown {
		c.shown = now
		c.showLeave(v)
	}
	setVisible(c.leave, len(v.Leave) > 0)
	c.card.Refresh()
}

func (c *startCard) showLeave(v planView) {
	c.leave.RemoveAll()
	c.leave.Add(widgets.Strong(lang.L("Leave alone for now")))
	for i, l := range v.Leave {
		if i == leaveMost && !c.all && len(v.Leave) > leaveMost+1 {
			more := widgets.NewFocusButton(fmt.Sprintf(lang.L("Show %d more"), len(v.Leave)-i), nil, func() {
				c.all = true
				c.showLeave(v)
			}, nil)
			more.OnFocus = func() { c.p.reveal(more) }
			c.p.h.Mark("plan.more", more)
			c.leave.Add(widgets.Pad(widgets.Gap4, 0, 0, 0, widgets.HBox(0, more)))
			return
		}
		c.leave.Add(container.New(leaveLayout{}, widgets.Body(l.Name).Truncated(), widgets.Caption(l.Why).Wrapped()))
	}
}

// startLayout is what, how long, and the button, which are below each other in every row.
type startLayout struct{}

const startHours, startButton float32 = 64, 150

func (startLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(120+widgets.Grown(startHours+startButton), fyne.Max(o[0].MinSize().Height, o[2].MinSize().Height))
}

func (startLayout) Layout(o []fyne.CanvasObject, s fyne.Size) {
	hours, button := widgets.Grown(startHours), widgets.Grown(startButton)
	w := fyne.Max(0, s.Width-hours-button-2*widgets.Gap12)
	o[0].Resize(fyne.NewSize(w, o[0].MinSize().Height))
	h := o[0].MinSize().Height
	o[0].Resize(fyne.NewSize(w, h))
	o[0].Move(fyne.NewPos(0, (s.Height-h)/2))
	o[1].Resize(fyne.NewSize(hours, s.Height))
	o[1].Move(fyne.NewPos(w+widgets.Gap12, 0))
	b := o[2].MinSize()
	o[2].Resize(fyne.NewSize(fyne.Min(b.Width, button), b.Height))
	o[2].Move(fyne.NewPos(s.Width-fyne.Min(b.Width, button), (s.Height-b.Height)/2))
}

// leaveLayout is a name and, beside it, the reason.
type leaveLayout struct{}

func (leaveLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(200, fyne.Max(o[0].MinSize().Height, o[1].MinSize().Height))
}

func (leaveLayout) Layout(o []fyne.CanvasObject, s fyne.Size) {
	w := s.Width * 0.34
	o[0].Resize(fyne.NewSize(w, o[0].MinSize().Height))
	o[0].Move(fyne.NewPos(0, 0))
	o[1].Resize(fyne.NewSize(fyne.Max(0, s.Width-w-widgets.Gap12), o[1].MinSize().Height))
	o[1].Move(fyne.NewPos(w+widgets.Gap12, 1))
}

// costCard is what a run costs, from measured ones, and what the plan advises beyond its suggestions.
type costCard struct {
	card  *widgets.Card
	body  *fyne.Container
	shown string
}

func newCostCard() *costCard {
	c := &costCard{body: widgets.VBox(0)}
	c.card = widgets.NewCard(lang.L("What a run costs here"), nil, c.body)
	return c
}

func (c *costCard) show(v planView) {
	if now := keyOf([]any{v.CostTitle, v.Costs, v.CostHint, v.Advice, v.Assumed}); now == c.shown {
		return
	} else {
		c.shown = now
	}
	c.card.Title.Set(v.CostTitle)
	c.body.RemoveAll()
	for _, l := range v.Costs {
		c.body.Add(widgets.NewStatRow(l.Label, l.Value))
	}
	c.body.Add(widgets.Pad(widgets.Gap4, 0, 0, 0, widgets.Caption(v.CostHint).Wrapped()))
	for _, a := range append(append([]string{}, v.Advice...), v.Assumed) {
		if a != "" {
			c.body.Add(widgets.Pad(widgets.Gap8, 0, 0, 0, widgets.Body(a).Wrapped()))
		}
	}
	c.card.Refresh()
}

// undoLine says what was just removed, and takes it back.
type undoLine struct {
	p      *planPage
	box    *fyne.Container
	words  *widgets.Text
	button *widgets.FocusButton
	back   func(context.Context) error
}

func newUndoLine(p *planPage, mark string) *undoLine {
	u := &undoLine{p: p, words: widgets.Muted("").Truncated()}
	u.button = widgets.NewFocusButton(lang.L("Undo"), nil, u.undo, nil)
	u.button.OnFocus = func() { p.reveal(u.button) }
	p.h.Mark(mark, u.button)
	u.box = widgets.Pad(widgets.Gap8, 0, 0, 0, widgets.Spread(u.words, u.button))
	u.box.Hide()
	return u
}

// offer shows the line; back nil says what happened and offers nothing.
func (u *undoLine) offer(words string, back func(context.Context) error) {
	u.back = back
	u.words.Set(words)
	setVisible(u.button, back != nil)
	u.box.Show()
	u.box.Refresh()
}

// forget takes the line away: what was removed stays so.
func (u *undoLine) forget() {
	u.back = nil
	u.box.Hide()
}

func (u *undoLine) undo() {
	back := u.back
	if back == nil || !u.box.Visible() || u.p.doing {
		return
	}
	u.forget()
	if w := u.p.h.Window(); w != nil && w.Canvas().Focused() == fyne.Focusable(u.button) {
		w.Canvas().Unfocus()
	}
	u.p.act(func(ctx context.Context, _ *app.App) error { return back(ctx) })
}

// queueCard is the launch queue.
type queueCard struct {
	p      *planPage
	card   *widgets.Card
	pause  *widgets.FocusButton
	note   *widgets.Text
	warn   *fyne.Container
	warns  *widgets.Text
	empty  *widgets.Text
	keys   *widgets.Text
	list   *fyne.Container
	rows   []*queueLine
	undo   *undoLine
	view   queueView
	follow int64 // the run whose row gets the keyboard when it is shown anew
}

// queueLine is one run of the queue.
type queueLine struct {
	object           *fyne.Container
	row              *widgets.KeyRow
	place, name      *widgets.Text
	what, why        *widgets.Text
	up, down, remove *widgets.TapArea
	of               queueRow
}

func newQueueCard(p *planPage) *queueCard {
	c := &queueCard{p: p, note: widgets.NewText("", widgets.ColorWarning, widgets.SizeCaption, fyne.TextStyle{}).Wrapped(), warns: widgets.Caption("").Wrapped(), empty: widgets.Muted("").Wrapped(),
		keys: widgets.Caption(lang.L("Enter opens the run, Alt with the up or down key moves it, Delete takes it out, Ctrl+Z brings it back.")).Wrapped(), list: widgets.VBox(0)}
	c.pause = widgets.NewFocusButton(lang.L("Pause"), nil, c.toggle, nil)
	c.pause.OnFocus = func() { p.reveal(c.pause) }
	p.h.Mark("plan.pause", c.pause)
	c.warn = container.NewBorder(nil, nil, container.NewVBox(widgets.Pad(1, widgets.Gap8, 0, 0, widgets.NewIcon(widgets.IconWarning, widgets.ColorWarning, 14))), nil, c.warns)
	c.undo = newUndoLine(p, "plan.queue.undo")
	c.card = widgets.NewCard(lang.L("Launch queue"), container.New(noGaps{}, c.pause), container.New(noGaps{}, c.note, c.empty, c.list, c.undo.box, c.warn, c.keys))
	return c
}

// noGaps stacks what is visible with a gap between.
type noGaps struct{}

func (noGaps) MinSize(o []fyne.CanvasObject) fyne.Size {
	var s fyne.Size
	for _, x := range o {
		if x.Visible() {
			m := x.MinSize()
			if s.Height > 0 {
				s.Height += widgets.Gap8
			}
			s = fyne.NewSize(fyne.Max(s.Width, m.Width), s.Height+m.Height)
		}
	}
	return s
}

func (noGaps) Layout(o []fyne.CanvasObject, s fyne.Size) {
	y := float32(0)
	for _, x := range o {
		if !x.Visible() {
			continue
		}
		x.Resize(fyne.NewSize(s.Width, x.MinSize().Height))
		h := x.MinSize().Height
		x.Resize(fyne.NewSize(s.Width, h))
		x.Move(fyne.NewPos(0, y))
		y += h + widgets.Gap8
	}
}

func (c *queueCard) line() *queueLine {
	l := &queueLine{place: widgets.Muted(""), name: widgets.Strong("").Truncated(), what: widgets.Caption("").Truncated(), why: widgets.Caption("").Wrapped()}
	l.up = widgets.NewTapIcon(theme.MoveUpIcon(), func() { c.move(l.of, -1) })
	l.down = widgets.NewTapIcon(theme.MoveDownIcon(), func() { c.move(l.of, 1) })
	l.remove = widgets.NewTapIcon(widgets.IconCross.Resource(), func() { c.take(l.of) })
	line := container.New(queueLayout{}, l.place, widgets.VBox(2, l.name, l.what), l.why, l.up, l.down, l.remove)
	l.row = widgets.NewKeyRow(widgets.Pad(widgets.Gap8, 0, widgets.Gap8, widgets.Gap4, line), func() { c.p.h.OpenRun(l.of.ID) })
	l.row.OnFocus = func() { c.p.reveal(l.object) }
	l.row.OnUndo = c.undo.undo
	l.row.OnAlt = func(k fyne.KeyName) bool {
		switch k {
		case fyne.KeyUp:
			c.move(l.of, -1)
		case fyne.KeyDown:
			c.move(l.of, 1)
		default:
			return false
		}
		return true
	}
	l.row.OnKey = func(k fyne.KeyName) bool {
		switch k {
		case fyne.KeyUp:
			c.focus(l, -1)
		case fyne.KeyDown:
			c.focus(l, 1)
		case fyne.KeyDelete, fyne.KeyBackspace:
			c.take(l.of)
		default:
			return false
		}
		return true
	}
	l.object = widgets.VBox(0, l.row, widgets.NewHairline())
	return l
}

// focus puts the keyboard onto the row before or after.
func (c *queueCard) focus(from *queueLine, delta int) {
	for i, l := range c.rows {
		if l == from && i+delta >= 0 && i+delta < len(c.view.Rows) {
			c.p.keyboard(c.rows[i+delta].row)
			return
		}
	}
}

func (c *queueCard) toggle() {
	on := !c.view.Paused
	c.p.act(func(ctx context.Context, core *app.App) error { return core.QueuePause(ctx, on) })
}

func (c *queueCard) move(r queueRow, delta int) {
	if r.Stopped || r.First && delta < 0 || r.Last && delta > 0 {
		return
	}
	if c.has() && !c.p.doing {
		c.follow = r.ID
	}
	c.p.act(func(ctx context.Context, core *app.App) error { return core.QueueMove(ctx, r.ID, delta) })
}

// take takes a run out of the queue, and offers the way back.
func (c *queueCard) take(r queueRow) {
	c.p.act(func(ctx context.Context, core *app.App) error {
		back, err := core.QueueTake(ctx, r.ID)
		if err != nil {
			return err
		}
		c.p.h.Do(func() {
			words := lang.L("%s was taken out of the queue; nothing of it was sent.")
			if r.Stopped {
				words = lang.L("The note about %s is gone.")
			}
			c.undo.offer(fmt.Sprintf(words, r.Name), back)
		})
		return nil
	})
}

// has says whether one of the rows has the keyboard.
func (c *queueCard) has() bool {
	for _, l := range c.rows {
		if c.p.focused() == fyne.Focusable(l.row) {
			return true
		}
	}
	return false
}

func (c *queueCard) show(v queueView) {
	c.view = v
	words := lang.L("Pause")
	if v.Paused {
		words = lang.L("Go on")
	}
	if c.pause.Text != words {
		c.pause.SetText(words)
	}
	setVisible(c.pause, v.Waiting > 0 || v.Paused)
	c.note.Set(v.Note)
	setVisible(c.note, v.Note != "")
	c.warns.Set(v.Warning)
	setVisible(c.warn, v.Warning != "")
	c.empty.Set(v.Empty)
	setVisible(c.empty, len(v.Rows) == 0)
	setVisible(c.keys, len(v.Rows) > 0)
	setVisible(c.list, len(v.Rows) > 0)
	for len(c.rows) < len(v.Rows) {
		l := c.line()
		n := fmt.Sprintf("plan.queue%d", len(c.rows))
		c.p.h.Mark(n, l.row)
		c.p.h.Mark(n+".up", l.up)
		c.p.h.Mark(n+".remove", l.remove)
		c.rows = append(c.rows, l)
		c.list.Add(l.object)
	}
	for i, l := range c.rows {
		setVisible(l.object, i < len(v.Rows))
		if i < len(v.Rows) {
			l.show(v.Rows[i])
		}
	}
	c.keepKeyboard()
	c.card.Refresh()
}

// keepKeyboard leaves the keyboard with the run that moved, and never in a row that is gone.
func (c *queueCard) keepKeyboard() {
	to := c.follow
	c.follow = 0
	for i, l := range c.rows {
		if i < len(c.view.Rows) && l.of.ID == to && to != 0 {
			c.p.keyboard(l.row)
		}
		if i >= len(c.view.Rows) && c.p.focused() == fyne.Focusable(l.row) {
			c.p.keyboardAfter(c.undo)
		}
	}
}

func (l *queueLine) show(r queueRow) {
	l.of = r
	l.place.Set(r.Place)
	l.name.Set(r.Name)
	l.what.SetShort(r.What, r.Short)
	l.why.Set(r.Why)
	setVisible(l.up, !r.Stopped && !r.First)
	setVisible(l.down, !r.Stopped && !r.Last)
}

// queueLayout is place, run, reason, and the three symbols; what is hidden keeps its place, so that the columns stand.
type queueLayout struct{}

const queueIcon float32 = 28

func (queueLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(300, fyne.Max(o[1].MinSize().Height, o[2].MinSize().Height))
}

func (queueLayout) Layout(o []fyne.CanvasObject, s fyne.Size) {
	place := widgets.Grown(18)
	right := s.Width - 3*queueIcon
	room := right - place - widgets.Gap12 - widgets.Gap8
	name := room * 0.44
	o[2].Resize(fyne.NewSize(fyne.Max(0, room-name), o[2].MinSize().Height))
	put := func(x fyne.CanvasObject, left, width float32) {
		h := x.MinSize().Height
		x.Resize(fyne.NewSize(width, h))
		x.Move(fyne.NewPos(left, (s.Height-h)/2))
	}
	put(o[0], 0, place)
	put(o[1], place, name)
	put(o[2], place+name+widgets.Gap12, fyne.Max(0, room-name))
	for i, x := range o[3:] {
		put(x, right+float32(i)*queueIcon, queueIcon)
	}
}

func (p *planPage) focused() fyne.Focusable {
	if w := p.h.Window(); w != nil {
		return w.Canvas().Focused()
	}
	return nil
}

// keyboard gives something the keyboard.
func (p *planPage) keyboard(f fyne.Focusable) {
	if w := p.h.Window(); w != nil {
		w.Canvas().Focus(f)
	}
}

// keyboardAfter puts the keyboard onto Undo when its row is gone, or nowhere.
func (p *planPage) keyboardAfter(u *undoLine) {
	if u.box.Visible() && u.button.Visible() {
		p.keyboard(u.button)
	} else if w := p.h.Window(); w != nil {
		w.Canvas().Unfocus()
	}
}
