package desktop

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"sandglass/widgets"
)

// check is Fyne's tick box where Enter leads on and Escape back, as everywhere in the wizard.
type check struct {
	widget.Check
	p *newPage
}

func newCheck(p *newPage, text string, changed func(bool)) *check {
	c := &check{p: p}
	c.Text, c.OnChanged = text, changed
	c.ExtendBaseWidget(c)
	return c
}

// TypedKey implements fyne.Focusable.
func (c *check) TypedKey(ev *fyne.KeyEvent) {
	switch ev.Name {
	case fyne.KeyReturn, fyne.KeyEnter:
		c.p.goNext()
	case fyne.KeyEscape:
		widgets.HandUp(c, ev)
	default:
		c.Check.TypedKey(ev)
	}
}

// word is a choice: what is shown, and what the core calls it.
type word struct{ shown, key string }

// pick is Fyne's list of choices where Enter leads on and Escape back; the space bar opens it, the arrows change it.
type pick struct {
	widget.Select
	p     *newPage
	words []word
}

func newPick(p *newPage, words []word, changed func(key string)) *pick {
	c := &pick{p: p, words: words}
	for _, w := range words {
		c.Options = append(c.Options, w.shown)
	}
	c.Selected = words[0].shown
	c.OnChanged = func(shown string) {
		for _, w := range c.words {
			if w.shown == shown {
				changed(w.key)
			}
		}
	}
	c.ExtendBaseWidget(c)
	return c
}

// set shows a choice by its key; one that is not in the list leaves what is shown.
func (c *pick) set(key string) {
	for _, w := range c.words {
		if w.key == key && c.Selected != w.shown {
			c.SetSelected(w.shown)
		}
	}
}

// FocusGained implements fyne.Focusable.
func (c *pick) FocusGained() {
	c.Select.FocusGained()
	c.p.reveal(c)
}

// TypedKey implements fyne.Focusable.
func (c *pick) TypedKey(ev *fyne.KeyEvent) {
	switch ev.Name {
	case fyne.KeyReturn, fyne.KeyEnter:
		c.p.goNext()
	case fyne.KeyEscape:
		widgets.HandUp(c, ev)
	default:
		c.Select.TypedKey(ev)
	}
}

// deliberate is the push button: the space bar, Ctrl+Enter or a click press it, and Enter, which leads through the wizard, does not.
type deliberate struct {
	widgets.Button
	onEnter func()
}

func newDeliberate(text string, tapped, enter func()) *deliberate {
	b := &deliberate{onEnter: enter}
	b.Text, b.OnTapped, b.Importance = text, tapped, widget.HighImportance
	b.ExtendBaseWidget(b)
	return b
}

// TypedKey implements fyne.Focusable.
func (b *deliberate) TypedKey(ev *fyne.KeyEvent) {
	switch ev.Name {
	case fyne.KeyReturn, fyne.KeyEnter:
		b.onEnter()
	case fyne.KeyEscape:
		widgets.HandUp(b, ev)
	default:
		b.Button.TypedKey(ev)
	}
}

// ticketCard is the card beside the wizard.
type ticketCard struct {
	object *fyne.Container
	rows   *fyne.Container
	lines  []*widgets.StatRow
	note   *widgets.Text
	busy   *widgets.Text
}

func newTicketCard() *ticketCard {
	t := &ticketCard{rows: container.NewVBox(), note: widgets.Caption("").Wrapped(), busy: widgets.Caption("").Wrapped()}
	t.rows = widgets.VBox(0)
	t.busy.SetColor(widgets.ColorAccent)
	card := widgets.NewCard(lang.L("This run"), nil, widgets.VBox(widgets.Gap8, t.rows, t.note, t.busy))
	t.object = container.NewVBox(card)
	return t
}

func (t *ticketCard) show(v ticket) {
	for len(t.lines) < len(v.Lines) {
		l := widgets.NewStatRow("", "")
		l.Value.Truncate = false
		t.lines = append(t.lines, l)
		t.rows.Add(l)
	}
	for i, l := range v.Lines {
		row := t.lines[i]
		row.Label.Set(l.Label)
		row.Value.SetColor(toneColor(l.Tone))
		row.Value.Set(l.Value)
		row.Refresh()
	}
	t.note.Set(v.Note)
	t.busy.Set(v.Busy)
	setVisible(t.busy, v.Busy != "")
	t.object.Refresh()
}

// toneColor is the colour of words that are worth a look; beside it the words themselves say why.
func toneColor(t tone) fyne.ThemeColorName {
	switch t {
	case toneWarn:
		return widgets.ColorWarning
	case toneBad:
		return widgets.ColorBad
	case toneGood:
		return widgets.ColorGood
	}
	return widgets.ColorText
}
