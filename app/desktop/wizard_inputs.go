package desktop

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"

	"sandglass/app"
	"sandglass/widgets"
)

// inputRow is one attached input as the step shows it.
type inputRow struct {
	Kind, Ref string
	What      string // "dataset", "output of a kernel"
	Where     string // "in data/", "2 files, 41 kB, in data/"
	Status    widgets.Status
	Text      string // what is wrong, or will be; "" = nothing
	Bad       bool   // the session would start without it
	Own       string // folder that would end a clash; "" = no clash
}

func kindWord(kind string) string {
	switch kind {
	case app.InputCompetition:
		return lang.L("competition")
	case app.InputKernel:
		return lang.L("output of a kernel")
	case app.InputModel:
		return lang.L("model")
	}
	return lang.L("dataset")
}

// inputRows words what is attached and what is known of it.
func (w *wizard) inputRows() []inputRow {
	s, _ := w.spec()
	known := map[app.InputRef]app.InputState{}
	if w.inputs.fresh(w.inputsKey()) {
		for _, st := range w.inputs.got {
			known[st.InputRef] = st
		}
	}
	var rows []inputRow
	for _, in := range s.Inputs() {
		r := inputRow{Kind: in.Kind, Ref: in.Ref, What: kindWord(in.Kind)}
		st, ok := known[in]
		if !ok {
			r.Status = widgets.Status{Word: lang.L("not checked"), Shape: widgets.ShapeRing}
			if w.inputs.busy {
				r.Status.Word = lang.L("asking…")
			}
			if w.inputs.err != nil {
				r.Text = explain(w.inputs.err).Sentence
			}
			rows = append(rows, r)
			continue
		}
		r.Status, r.Bad = inputStatus(st), st.Blocks()
		r.Where = inputWhere(st)
		if st.State != app.InputReady {
			r.Text = said(st.Text)
		}
		if st.Clash != "" {
			r.Text = strings.TrimSpace(r.Text + " " + said(st.Clash))
			if in.Target == "" && st.Folder != "" {
				r.Own = "data/" + in.Ref[strings.LastIndexByte(in.Ref, '/')+1:]
			}
			if st.State == app.InputReady {
				r.Status = widgets.Status{Word: lang.L("clash"), Shape: widgets.ShapeBang, Color: widgets.ColorWarning}
			}
		}
		rows = append(rows, r)
	}
	return rows
}

func inputStatus(s app.InputState) widgets.Status {
	word := map[string]string{app.InputReady: lang.L("ready"), app.InputMissing: lang.L("not found"), app.InputNotReady: lang.L("processing"), app.InputRunning: lang.L("still running"),
		app.InputFailed: lang.L("failed"), app.InputLocked: lang.L("rules not accepted"), app.InputMisspelt: lang.L("misspelt"), app.InputNotChecked: lang.L("not checked")}[s.State]
	switch s.State {
	case app.InputReady:
		return widgets.Status{Word: word, Shape: widgets.ShapeCheck, Color: widgets.ColorGood}
	case app.InputNotChecked:
		return widgets.Status{Word: word, Shape: widgets.ShapeRing}
	case app.InputNotReady, app.InputRunning, app.InputFailed:
		return widgets.Status{Word: word, Shape: widgets.ShapeClock, Color: widgets.ColorWarning}
	}
	return widgets.Status{Word: word, Shape: widgets.ShapeCross, Color: widgets.ColorBad}
}

// inputWhere says how big an input is and where the session finds it.
func inputWhere(s app.InputState) string {
	var parts []string
	if s.Files > 0 {
		n := fmt.Sprintf(lang.L("%d files"), s.Files)
		if s.Files == 1 {
			n = lang.L("one file")
		}
		parts = append(parts, n)
	}
	if s.Bytes > 0 {
		parts = append(parts, bytesText(s.Bytes))
	}
	if s.Folder != "" {
		parts = append(parts, fmt.Sprintf(lang.L("in %s/"), s.Folder))
	} else if s.Kind == app.InputModel {
		parts = append(parts, lang.L("attached, not linked"))
	}
	return strings.Join(parts, " · ")
}

// hitText is the second line of something that a search found.
func hitText(h app.InputHit, now time.Time) string {
	parts := []string{h.Ref}
	if h.Bytes > 0 {
		parts = append(parts, bytesText(h.Bytes))
	}
	if !h.Updated.IsZero() {
		parts = append(parts, when(h.Updated, now))
	}
	if h.Note != "" {
		parts = append(parts, said(h.Note))
	}
	if h.Why != "" {
		parts = append(parts, said(h.Why))
	}
	return strings.Join(parts, " · ")
}

// inputsPane is the second step: what the session has mounted.
type inputsPane struct {
	p        *newPage
	root     *fyne.Container
	attached *fyne.Container
	none     *widgets.Text
	shown    string // what the list shows, so that it is not built anew on every keystroke

	kind     *widgets.FilterChips
	text     *entry
	find     *widgets.Button
	answer   *widgets.Text
	hits     *fyne.Container
	found    []app.InputHit
	layout   *widgets.FilterChips
	internet *check
	hint     *hint
}

const hitsShown = 6

func newInputsPane(p *newPage) *inputsPane {
	c := &inputsPane{p: p, attached: widgets.VBox(0), hits: widgets.VBox(0), hint: newHint()}
	c.none = widgets.Muted(lang.L("Nothing is attached: the run works with what the project brings along.")).Wrapped()
	c.kind = widgets.NewFilterChips(widgets.Chip{Key: app.InputDataset, Text: lang.L("Dataset")}, widgets.Chip{Key: app.InputCompetition, Text: lang.L("Competition")},
		widgets.Chip{Key: app.InputKernel, Text: lang.L("Kernel output")}, widgets.Chip{Key: app.InputModel, Text: lang.L("Model")}).Wrapped()
	c.kind.OnSelected = func(string) { c.found = nil; c.say(""); c.showHits(); c.holder() }
	for _, k := range []string{app.InputDataset, app.InputCompetition, app.InputKernel, app.InputModel} {
		p.h.Mark("new.kind."+k, c.kind.Chip(k))
	}
	c.text = newEntry(p.h, "")
	c.text.OnSubmitted = func(string) { c.submit() }
	c.text.onFocus = func() { p.reveal(c.text) }
	c.find = widgets.NewButton(lang.L("Search"), widgets.IconSearch.Resource(), c.search)
	p.h.Mark("new.search", c.text)
	p.h.Mark("new.find", c.find)
	c.answer = widgets.Caption("").Wrapped()
	c.answer.Hide()
	c.layout = widgets.NewFilterChips(widgets.Chip{Key: "flat", Text: lang.L("Together in data/")}, widgets.Chip{Key: "nested", Text: lang.L("Each in data/ext/…")}).Wrapped()
	c.layout.OnSelected = func(k string) {
		p.w.form.Nested = k == "nested"
		p.changed()
		c.entered()
	}
	c.internet = newCheck(p, lang.L("Internet during the run"), func(on bool) {
		p.w.form.Internet = on
		p.changed()
	})
	p.h.Mark("new.internet", c.internet)
	c.hint.box = container.NewStack(c.hint.words)
	c.hint.box.Hide()
	c.root = widgets.VBox(widgets.Gap12,
		widgets.NewCard(lang.L("Attached"), nil, widgets.VBox(widgets.Gap4, c.none, c.attached, c.hint.box)),
		widgets.NewCard(lang.L("Attach another"), nil, widgets.VBox(widgets.Gap8, c.kind,
			container.NewBorder(nil, nil, nil, widgets.Pad(0, 0, 0, widgets.Gap8, c.find), c.text), c.answer, c.hits)),
		widgets.NewCard(lang.L("In the session"), nil, widgets.VBox(widgets.Gap8, labelled(lang.L("Files go"), c.layout, nil), labelled("", c.internet, nil))),
	)
	c.holder()
	return c
}

func (c *inputsPane) holder() {
	text := map[string]string{app.InputDataset: lang.L("words or owner/dataset; empty: your own"), app.InputCompetition: lang.L("words or its slug; empty: yours"),
		app.InputKernel: lang.L("words or owner/; empty: your own"), app.InputModel: lang.L("owner/model/framework/name/version")}[c.kind.Selected()]
	c.text.SetPlaceHolder(text)
}

func (c *inputsPane) object() fyne.CanvasObject { return c.root }
func (c *inputsPane) first() fyne.Focusable     { return nil }

func (c *inputsPane) fill() {
	f := c.p.w.form
	c.internet.SetChecked(f.Internet)
	c.layout.Select(map[bool]string{false: "flat", true: "nested"}[f.Nested])
}

// entered asks Kaggle about what is attached, once for each set of inputs.
func (c *inputsPane) entered() {
	w := &c.p.w
	s, problems := w.spec()
	key := w.inputsKey()
	if len(s.Inputs()) == 0 || problems[fieldInputs] != "" || !w.inputs.due(key) {
		return
	}
	w.inputs.ask(key)
	core := c.p.h.Core()
	ask(c.p, "inputs", func(ctx context.Context) ([]app.InputState, error) { return core.CheckInputs(ctx, s, nil) },
		func(got []app.InputState, err error) { w.inputs.answer(key, got, err) })
	c.p.render()
}

func (c *inputsPane) show(time.Time) {
	_, problems := c.p.w.spec()
	c.hint.set(problems[fieldInputs])
	rows := c.p.w.inputRows()
	setVisible(c.none, len(rows) == 0)
	if now := keyOf(rows); now != c.shown {
		c.shown = now
		c.attached.RemoveAll()
		for i, r := range rows {
			c.attached.Add(c.row(i, r, i == len(rows)-1))
		}
	}
}

// row is one attached input with its state, and the way to take it away.
func (c *inputsPane) row(i int, r inputRow, last bool) fyne.CanvasObject {
	away := widgets.NewQuiet("", widgets.IconCross.Resource(), func() {
		c.p.w.form.detach(r.Kind, r.Ref)
		c.p.changed()
		c.entered()
		c.p.focusFirst()
	})
	c.p.h.Mark(fmt.Sprintf("new.detach%d", i), away)
	line := container.New(inputLine{}, widgets.VBox(0, widgets.Strong(r.Ref).Truncated(), widgets.Caption(joinDot(r.What, r.Where)).Truncated()), widgets.NewBadge(r.Status), away)
	box := widgets.VBox(widgets.Gap4, line)
	if r.Text != "" {
		color := widgets.ColorWarning
		if r.Bad {
			color = widgets.ColorBad
		}
		box.Add(widgets.NewText(r.Text, color, widgets.SizeCaption, fyne.TextStyle{}).Wrapped())
	}
	if r.Own != "" {
		own := widgets.NewButton(fmt.Sprintf(lang.L("Put it into %s"), r.Own), widgets.IconFolder.Resource(), func() {
			c.p.w.form.place(r.Kind, r.Ref, r.Own)
			c.p.changed()
			c.entered()
			c.p.focusFirst()
		})
		c.p.h.Mark(fmt.Sprintf("new.own%d", i), own)
		box.Add(widgets.HBox(0, own))
	}
	padded := widgets.Pad(widgets.Gap8, 0, widgets.Gap8, 0, box)
	if last {
		return padded
	}
	return widgets.VBox(0, padded, widgets.NewHairline())
}

func joinDot(parts ...string) string {
	var out []string
	for _, s := range parts {
		if s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, " · ")
}

// inputLine places words that give way, and what stands at the right of them: a badge, a button.
type inputLine struct{}

func (inputLine) MinSize(o []fyne.CanvasObject) fyne.Size {
	h := float32(0)
	for _, x := range o {
		h = fyne.Max(h, x.MinSize().Height)
	}
	return fyne.NewSize(160, h)
}

func (inputLine) Layout(o []fyne.CanvasObject, s fyne.Size) {
	x := s.Width
	for i := len(o) - 1; i > 0; i-- {
		m := o[i].MinSize()
		x -= m.Width
		o[i].Resize(m)
		o[i].Move(fyne.NewPos(x, (s.Height-m.Height)/2))
		x -= widgets.Gap8
	}
	h := o[0].MinSize().Height
	o[0].Resize(fyne.NewSize(fyne.Max(0, x), h))
	o[0].Move(fyne.NewPos(0, (s.Height-h)/2))
}

// submit is Enter in the search: an empty field leads on, a whole reference is attached, anything else is searched for.
func (c *inputsPane) submit() {
	text := strings.TrimSpace(c.text.Text)
	kind := c.kind.Selected()
	switch {
	case text == "":
		c.p.goNext()
	case kind == app.InputModel, kind != app.InputCompetition && source.MatchString(text) && !strings.HasSuffix(text, "/"):
		c.attach(kind, text)
	case len(c.found) == 1 && strings.EqualFold(c.found[0].Ref, text) && c.found[0].Usable:
		c.attach(kind, c.found[0].Ref)
	default:
		c.search()
	}
}

func (c *inputsPane) attach(kind, ref string) {
	if !c.p.w.form.attach(kind, ref) {
		c.say(lang.L("It is attached already."))
		return
	}
	c.found = nil
	c.text.SetText("")
	c.say("")
	c.showHits()
	c.p.changed()
	c.entered()
	c.p.focusFirst()
}

func (c *inputsPane) say(text string) {
	c.answer.Set(text)
	setVisible(c.answer, text != "")
}

// search asks Kaggle. What an earlier search found goes when this one answers.
func (c *inputsPane) search() {
	kind, text, core := c.kind.Selected(), c.text.Text, c.p.h.Core()
	c.say(lang.L("Searching…"))
	ask(c.p, "search", func(ctx context.Context) ([]app.InputHit, error) { return core.SearchInputs(ctx, kind, text) },
		func(hits []app.InputHit, err error) {
			c.found = hits
			switch {
			case err != nil:
				ex := explain(err)
				c.say(strings.TrimSpace(ex.Sentence + " " + ex.Action))
			case len(hits) == 0 && strings.TrimSpace(text) == "":
				c.say(lang.L("There is none in this account."))
			case len(hits) == 0:
				c.say(lang.L("Kaggle found nothing for these words. A private one of another person is found by nobody; write owner/name to attach it unseen."))
			case len(hits) > hitsShown:
				c.say(fmt.Sprintf(lang.L("The first %d of %d; more words narrow it down."), hitsShown, len(hits)))
			default:
				c.say("")
			}
			c.showHits()
		})
}

// showHits lists what was found. Enter or a click attaches.
func (c *inputsPane) showHits() {
	c.hits.RemoveAll()
	now := time.Now()
	for i, h := range c.found {
		if i == hitsShown {
			break
		}
		title := h.Title
		if title == "" {
			title = h.Ref
		}
		icon, color := widgets.IconPlus, widgets.ColorAccent
		if !h.Usable {
			icon, color = widgets.IconWarning, widgets.ColorWarning
		}
		line := container.NewBorder(nil, nil, widgets.Pad(0, widgets.Gap8, 0, 0, widgets.Middle(widgets.NewIcon(icon, color, 14))), nil,
			widgets.VBox(0, widgets.Body(title).Truncated(), widgets.Caption(hitText(h, now)).Truncated()))
		row := widgets.NewTapRow(widgets.Pad(widgets.Gap4, widgets.Gap8, widgets.Gap4, widgets.Gap8, line), func() { c.attach(h.Kind, h.Ref) })
		c.p.h.Mark(fmt.Sprintf("new.hit%d", i), row)
		c.hits.Add(row)
	}
	if len(c.found) > 0 && c.p.h.Window() != nil {
		if f, ok := c.hits.Objects[0].(fyne.Focusable); ok {
			c.p.h.Window().Canvas().Focus(f)
		}
	}
}

func (c *inputsPane) foot() (note, next string, extra []fyne.CanvasObject) {
	for _, r := range c.p.w.inputRows() {
		if r.Bad {
			return lang.L("You may go on; the push asks about it again."), "", nil
		}
	}
	return "", "", nil
}
