package desktop

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"sandglass/app"
	"sandglass/widgets"
)

// backlogCard is the list of ideas that the plan chooses from.
type backlogCard struct {
	p     *planPage
	card  *widgets.Card
	add   *widgets.FocusButton
	head  *fyne.Container
	empty *widgets.Text
	keys  *widgets.Text
	list  *fyne.Container
	rows  []*backlogLine
	undo  *undoLine
	n     int
}

// backlogLine is one idea.
type backlogLine struct {
	object            *fyne.Container
	row               *widgets.KeyRow
	name, what        *widgets.Text
	pool, hours, gain *widgets.Text
	badge             *widgets.Badge
	of                backlogRow
}

func newBacklogCard(p *planPage) *backlogCard {
	c := &backlogCard{p: p, list: widgets.VBox(0)}
	c.add = widgets.NewFocusButton(lang.L("Add an idea…"), widgets.IconPlus.Resource(), func() { p.editBacklog(app.BacklogItem{}) }, nil)
	c.add.OnFocus = func() { p.reveal(c.add) }
	p.h.Mark("plan.add", c.add)
	c.empty = widgets.Muted(lang.L("An idea here has a name and the hours it will take. Once it is validated, which is to say rehearsed and worth its hours, the plan may choose it.")).Wrapped()
	c.keys = widgets.Caption(lang.L("Enter edits, the space bar validates, Delete removes, Ctrl+Z brings it back.")).Wrapped()
	c.head = widgets.Pad(0, 0, 0, widgets.Gap4, container.New(backlogLayout{}, widgets.Caption(lang.L("Idea")), widgets.Caption(lang.L("Pool")), widgets.Caption(lang.L("Hours")).Right(),
		widgets.Caption(lang.L("Gain")).Right(), widgets.Caption(lang.L("State")), widgets.Caption("")))
	c.undo = newUndoLine(p, "plan.backlog.undo")
	c.card = widgets.NewCard(lang.L("Backlog"), c.add, container.New(noGaps{}, c.empty, widgets.VBox(0, c.head, c.list), c.undo.box, c.keys))
	return c
}

func (c *backlogCard) line() *backlogLine {
	l := &backlogLine{name: widgets.Strong("").Truncated(), what: widgets.Caption("").Truncated(), pool: widgets.Body(""), hours: widgets.Body("").Right(),
		gain: widgets.Body("").Right().Truncated(), badge: widgets.NewBadge(widgets.Status{})}
	state := widgets.NewTapArea(widgets.Middle(l.badge), func() { c.validate(l.of) })
	remove := widgets.NewTapIcon(widgets.IconCross.Resource(), func() { c.drop(l.of) })
	line := container.New(backlogLayout{}, widgets.VBox(2, l.name, l.what), l.pool, l.hours, l.gain, state, remove)
	l.row = widgets.NewKeyRow(widgets.Pad(6, 0, 6, widgets.Gap4, line), func() { c.p.editBacklog(l.of.Item) })
	l.row.OnFocus = func() { c.p.reveal(l.object) }
	l.row.OnUndo = c.undo.undo
	l.row.OnKey = func(k fyne.KeyName) bool {
		switch k {
		case fyne.KeySpace:
			c.validate(l.of)
		case fyne.KeyDelete, fyne.KeyBackspace:
			c.drop(l.of)
		case fyne.KeyUp:
			c.focus(l, -1)
		case fyne.KeyDown:
			c.focus(l, 1)
		default:
			return false
		}
		return true
	}
	l.object = widgets.VBox(0, l.row, widgets.NewHairline())
	return l
}

func (c *backlogCard) focus(from *backlogLine, delta int) {
	for i, l := range c.rows {
		if l == from && i+delta >= 0 && i+delta < c.n {
			c.p.keyboard(c.rows[i+delta].row)
			return
		}
	}
}

// validate says that an idea is ready to start, or takes that back.
func (c *backlogCard) validate(r backlogRow) {
	it := r.Item
	it.Validated = !it.Validated
	c.p.act(func(ctx context.Context, core *app.App) error {
		_, err := core.EditBacklog(ctx, it)
		return err
	})
}

func (c *backlogCard) drop(r backlogRow) {
	c.end(r.Item, app.BacklogDropped, lang.L("%s was removed from the backlog."))
}

// end takes an idea off the list, and offers the way back.
func (c *backlogCard) end(it app.BacklogItem, state, words string) {
	c.p.act(func(ctx context.Context, core *app.App) error {
		if _, err := core.MarkBacklog(ctx, strconv.FormatInt(it.ID, 10), state); err != nil {
			return err
		}
		c.p.h.Do(func() {
			c.undo.offer(fmt.Sprintf(words, it.Name), func(ctx context.Context) error {
				_, err := core.ReopenBacklog(ctx, it.ID)
				return err
			})
		})
		return nil
	})
}

func (c *backlogCard) show(rows []backlogRow) {
	c.n = len(rows)
	setVisible(c.empty, len(rows) == 0)
	setVisible(c.head, len(rows) > 0)
	setVisible(c.keys, len(rows) > 0)
	for len(c.rows) < len(rows) {
		l := c.line()
		c.p.h.Mark(fmt.Sprintf("plan.idea%d", len(c.rows)), l.row)
		c.rows = append(c.rows, l)
		c.list.Add(l.object)
	}
	for i, l := range c.rows {
		setVisible(l.object, i < len(rows))
		if i < len(rows) {
			l.show(rows[i])
		} else if c.p.focused() == fyne.Focusable(l.row) {
			c.p.keyboardAfter(c.undo)
		}
	}
	c.card.Refresh()
}

func (l *backlogLine) show(r backlogRow) {
	l.of = r
	l.name.Set(r.Name)
	l.what.Set(r.What)
	l.pool.Set(r.Pool)
	l.hours.Set(r.Hours)
	l.gain.Set(r.Gain)
	l.badge.Set(r.Status)
}

// backlogLayout is the columns of the backlog: idea, pool, hours, gain, state, and the symbol that removes it.
type backlogLayout struct{}

// widths gives each column its width; 0 leaves it out.
func (backlogLayout) widths(total float32) [6]float32 {
	w := [6]float32{0, widgets.Grown(36), widgets.Grown(60), widgets.Grown(112), widgets.Grown(116), 28}
	if total < widgets.Grown(backlogGain) {
		w[3] = 0
	}
	for _, x := range w[1:] {
		if x > 0 {
			total -= x + widgets.Gap12
		}
	}
	w[0] = fyne.Max(60, total)
	return w
}

// backlogGain is the width from which on there is room for the expected gain.
const backlogGain = 540

func (backlogLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(400, o[0].MinSize().Height)
}

func (l backlogLayout) Layout(o []fyne.CanvasObject, s fyne.Size) {
	x := float32(0)
	for i, w := range l.widths(s.Width) {
		if setVisible(o[i], w > 0); w == 0 {
			continue
		}
		h := o[i].MinSize().Height
		o[i].Resize(fyne.NewSize(w, h))
		o[i].Move(fyne.NewPos(x, (s.Height-h)/2))
		x += w + widgets.Gap12
	}
}

// tick is Fyne's tick box in a dialog: Escape closes the dialog, Enter is the dialog's.
type tick struct {
	widget.Check
	onEnter func()
}

func newTick(text string, on bool, enter func()) *tick {
	t := &tick{onEnter: enter}
	t.Text, t.Checked = text, on
	t.ExtendBaseWidget(t)
	return t
}

// TypedKey implements fyne.Focusable.
func (t *tick) TypedKey(ev *fyne.KeyEvent) {
	switch ev.Name {
	case fyne.KeyEscape:
		widgets.HandUp(t, ev)
	case fyne.KeyReturn, fyne.KeyEnter:
		t.onEnter()
	default:
		t.Check.TypedKey(ev)
	}
}

// backlogForm is what is typed about an idea.
type backlogForm struct {
	was                            app.BacklogItem
	name, hours, gain, sd, command *entry
	project, dir, note             *entry
	pool                           *widgets.FilterChips
	validated, divisible           *tick
}

// read gives the item, or says which figure cannot be read.
func (f *backlogForm) read() (app.BacklogItem, string) {
	it := f.was
	it.Name, it.Pool, it.Command, it.Project, it.Dir, it.Note = f.name.Text, f.pool.Selected(), strings.TrimSpace(f.command.Text), strings.TrimSpace(f.project.Text), strings.TrimSpace(f.dir.Text), strings.TrimSpace(f.note.Text)
	it.Validated, it.Divisible = f.validated.Checked, f.divisible.Checked
	h, ok := figureOf(f.hours.Text)
	if !ok {
		return it, fmt.Sprintf(lang.L("%q is no number of hours: write it as 5.5, or leave it empty."), f.hours.Text)
	}
	if it.Hours = 0; h != nil {
		it.Hours = *h
	}
	if it.Gain, ok = figureOf(f.gain.Text); !ok {
		return it, fmt.Sprintf(lang.L("%q is no gain: write it in the score's own units, as 0.003, or leave it empty."), f.gain.Text)
	}
	if it.GainSD, ok = figureOf(f.sd.Text); !ok {
		return it, fmt.Sprintf(lang.L("%q is no standard deviation: write it as 0.002, or leave it empty."), f.sd.Text)
	}
	return it, ""
}

// figureOf reads a number as a person types it; nil for none.
func figureOf(text string) (*float64, bool) {
	text = strings.Replace(strings.TrimSpace(text), ",", ".", 1)
	text = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(text, "+"), "h"))
	if text == "" {
		return nil, true
	}
	x, err := strconv.ParseFloat(text, 64)
	return &x, err == nil
}

func figureText(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'g', -1, 64)
}

// editBacklog asks for a new idea, or for what is to be another about one.
func (p *planPage) editBacklog(it app.BacklogItem) {
	s, ok := p.h.(*shell)
	if !ok {
		return
	}
	isNew := it.ID == 0
	var m *modal
	var save func()
	field := func(holder, text string) *entry {
		e := newEntry(p.h, holder)
		e.SetText(text)
		e.OnSubmitted = func(string) { save() }
		return e
	}
	f := &backlogForm{was: it, name: field(lang.L("the idea in a few words"), it.Name), hours: field(lang.L("it will burn, as 5.5"), hoursText(it.Hours)),
		gain: field(lang.L("expected, as 0.003"), figureText(it.Gain)), sd: field(lang.L("give or take"), figureText(it.GainSD)),
		command: field("python src/train.py --name idea --folds {fold}", it.Command), project: field(lang.L("folder of the project"), it.Project),
		dir: field(lang.L("folder, once it is built"), it.Dir), note: field("", it.Note)}
	f.pool = widgets.NewFilterChips(widgets.Chip{Key: app.PoolGPU, Text: "GPU"}, widgets.Chip{Key: app.PoolTPU, Text: "TPU"}, widgets.Chip{Key: app.PoolCPU, Text: "CPU"})
	if it.Pool != "" {
		f.pool.Select(it.Pool)
	}
	f.validated = newTick(lang.L("Validated: the script ran, and the idea is worth its hours"), it.Validated, func() { save() })
	f.divisible = newTick(lang.L("A part of it is worth its part: it saves checkpoints, or is made of folds"), it.Divisible, func() { save() })
	wrong := newHint()
	wrong.box = container.NewStack(wrong.words)
	wrong.box.Hide()
	keep := widgets.NewPrimary(lang.L("Keep"), nil, func() { save() })
	if isNew {
		keep.SetText(lang.L("Add"))
	}
	save = func() {
		item, problem := f.read()
		if wrong.set(problem); problem != "" {
			return
		}
		keep.Disable()
		p.h.Background(func(ctx context.Context) {
			var err error
			if isNew {
				_, err = p.h.Core().AddBacklog(ctx, item)
			} else {
				_, err = p.h.Core().EditBacklog(ctx, item)
			}
			p.h.Do(func() {
				keep.Enable()
				if err != nil {
					ex := explain(err)
					wrong.set(strings.TrimSpace(ex.Sentence + " " + ex.Action))
					return
				}
				m.Hide()
				p.h.Reload()
			})
		})
	}
	buttons := []fyne.CanvasObject{}
	if !isNew {
		done := widgets.NewButton(lang.L("It is done"), widgets.IconCheck.Resource(), func() {
			m.Hide()
			p.backlog.end(it, app.BacklogDone, lang.L("%s is done."))
		})
		p.h.Mark("idea.done", done)
		buttons = append(buttons, done)
	}
	stop := widgets.NewButton(lang.L("Cancel"), nil, func() { m.Hide() })
	buttons = append(buttons, stop, keep)
	for name, o := range map[string]fyne.CanvasObject{"idea.name": f.name, "idea.hours": f.hours, "idea.gain": f.gain, "idea.keep": keep, "idea.cancel": stop, "idea.validated": f.validated} {
		p.h.Mark(name, o)
	}
	title := lang.L("Add an idea")
	if !isNew {
		title = it.Name
	}
	m = s.showModal(title, container.NewVBox(labelled(lang.L("name"), f.name, nil), labelled(lang.L("runs on"), widgets.HBox(0, f.pool), nil), labelled(lang.L("hours"), f.hours, nil),
		labelled(lang.L("gain"), container.NewGridWithColumns(2, f.gain, f.sd), nil), labelled(lang.L("command"), f.command, nil), labelled(lang.L("project"), f.project, nil),
		labelled(lang.L("built in"), f.dir, nil), labelled(lang.L("note"), f.note, nil), f.validated, f.divisible, wrong.box), 600, nil, buttons...)
	s.win.Canvas().Focus(f.name)
	if isNew {
		p.suggestProject(f.project)
	}
}

// suggestProject fills in the project that was used last, while nothing is typed.
func (p *planPage) suggestProject(into *entry) {
	p.h.Background(func(ctx context.Context) {
		projects, err := p.h.Core().Projects(ctx)
		if err != nil {
			return // a suggestion less
		}
		p.h.Do(func() {
			for _, pr := range projects {
				if !pr.Missing && into.Text == "" {
					into.SetText(pr.Dir)
				}
			}
		})
	})
}
