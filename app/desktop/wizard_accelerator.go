package desktop

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"

	"sandglass/app"
	"sandglass/widgets"
)

// shapes of the machines there are.
const (
	shapeT4  = "NvidiaTeslaT4"
	shapeTPU = "TpuV5E8"
	shapeCPU = "none"
)

// acceleratorPane is the third step: which machine, with what speaks for and against each.
type acceleratorPane struct {
	p     *newPage
	root  *fyne.Container
	kind  *widgets.FilterChips
	rows  map[string]*fyne.Container // the fields of each kind
	boxes []*modelField
	picks []*modelPick
	ckpt  *check
	how   *fyne.Container // method, precision, optimiser
	cells struct{ method, optimizer, rank fyne.CanvasObject }
	facts *widgets.Text
	open  *widgets.Button
	form  *fyne.Container
	shown bool // the questions about the model are open

	wait   *widgets.EmptyState
	gap    *fyne.Container // around wait
	failed *widgets.Banner
	none   *fyne.Container // nowhere: what a script finds of a machine that is not chosen
	cards  []*optionCard
	list   *fyne.Container
	focus  bool // the keyboard goes to the chosen card once it is there
}

// modelField is one figure of the model.
type modelField struct {
	e  *entry
	of func(*modelForm) *string
}

// modelPick is one choice about the model.
type modelPick struct {
	c  *pick
	of func(*modelForm) *string
}

func newAcceleratorPane(p *newPage) *acceleratorPane {
	c := &acceleratorPane{p: p, rows: map[string]*fyne.Container{}, list: widgets.VBox(widgets.Gap12)}
	c.kind = widgets.NewFilterChips(widgets.Chip{Key: "", Text: lang.L("Not said")}, widgets.Chip{Key: "transformer", Text: lang.L("Transformer")}, widgets.Chip{Key: "cnn", Text: lang.L("CNN")},
		widgets.Chip{Key: "tabular", Text: lang.L("Tables")}, widgets.Chip{Key: "other", Text: lang.L("Other")}).Wrapped()
	c.kind.OnSelected = func(k string) {
		p.w.model.Kind = k
		c.changed()
	}
	for _, k := range []string{"", "transformer", "cnn", "tabular", "other"} {
		p.h.Mark("new.model."+k, c.kind.Chip(k))
	}
	params := func() fyne.CanvasObject {
		return c.small("params", lang.L("parameters, M"), "86", func(m *modelForm) *string { return &m.Params })
	}
	batch := func() fyne.CanvasObject {
		return c.small("batch", lang.L("batch"), "32", func(m *modelForm) *string { return &m.Batch })
	}
	seq := func(words, hold string) fyne.CanvasObject {
		return c.small("seq", words, hold, func(m *modelForm) *string { return &m.Seq })
	}
	layers := c.small("layers", lang.L("layers"), "12", func(m *modelForm) *string { return &m.Layers })
	hidden := c.small("hidden", lang.L("hidden size"), "768", func(m *modelForm) *string { return &m.Hidden })
	heads := c.small("heads", lang.L("heads"), "12", func(m *modelForm) *string { return &m.Heads })
	arch := func() fyne.CanvasObject {
		return c.small("arch", lang.L("architecture, if it has a name"), "convnext_tiny", func(m *modelForm) *string { return &m.Arch })
	}
	c.rows["transformer"] = grid(arch(), batch(), seq(lang.L("tokens"), "512"), params(), layers, hidden, heads)
	c.rows["cnn"] = grid(arch(), batch(), seq(lang.L("pixels a side"), "384"), params())
	c.rows["tabular"] = grid(c.small("rows", lang.L("rows"), "1000000", func(m *modelForm) *string { return &m.Rows }),
		c.small("columns", lang.L("columns"), "200", func(m *modelForm) *string { return &m.Columns }))
	c.rows["other"] = grid(params(), batch())
	hours := c.small("hours", lang.L("hours a task on one T4, if known"), "", func(m *modelForm) *string { return &m.HoursT4 })
	c.how = grid(
		c.choice("precision", lang.L("precision"), func(m *modelForm) *string { return &m.Precision }, word{lang.L("the usual one"), ""}, word{"32 bits", "fp32"}, word{lang.L("mixed, fp16"), "amp"},
			word{lang.L("mixed, bf16"), "amp-bf16"}, word{lang.L("all fp16"), "pure-fp16"}, word{lang.L("all bf16"), "pure-bf16"}),
		c.choice("method", lang.L("method"), func(m *modelForm) *string { return &m.Method }, word{lang.L("all weights"), ""}, word{"LoRA", "lora"}, word{"QLoRA", "qlora"}, word{lang.L("inference only"), "inference"}),
		c.choice("optimizer", lang.L("optimiser"), func(m *modelForm) *string { return &m.Optimizer }, word{"Adam", ""}, word{lang.L("Adam, 8 bits"), "adam8bit"}, word{"Adafactor", "adafactor"},
			word{lang.L("SGD, momentum"), "momentum"}, word{"SGD", "sgd"}),
		c.small("rank", lang.L("rank of the adapters"), "16", func(m *modelForm) *string { return &m.LoRARank }))
	c.cells.method, c.cells.optimizer, c.cells.rank = c.how.Objects[1], c.how.Objects[2], c.how.Objects[3]
	c.ckpt = newCheck(p, lang.L("Gradient checkpointing: less memory, slower steps"), func(on bool) {
		p.w.model.Checkpointing = ""
		if on {
			p.w.model.Checkpointing = "yes"
		}
		c.changed()
	})
	p.h.Mark("new.model.checkpointing", c.ckpt)
	c.facts = widgets.Caption("").Wrapped()
	c.open = widgets.NewButton(lang.L("Describe the model"), nil, func() { c.shown = !c.shown; p.render() })
	p.h.Mark("new.describe", c.open)
	c.form = widgets.VBox(widgets.Gap8, labelled(lang.L("Kind"), c.kind, nil), c.rows["transformer"], c.rows["cnn"], c.rows["tabular"], c.rows["other"], c.how, c.ckpt, grid(hours))
	head := container.New(inputLine{}, c.facts, c.open)
	c.wait = widgets.NewEmptyState(widgets.IconHourglass, lang.L("Comparing the accelerators…"), lang.L("What fits, what it burns and when it is done is worked out from this job and what is left this week."), "", nil)
	c.none = container.NewWithoutLayout()
	c.failed = widgets.NewBanner("", "", lang.L("Try again"), func() {
		p.w.advice.err = nil
		c.entered()
	})
	c.failed.Hide()
	c.gap = widgets.Pad(widgets.Gap24, 0, 0, 0, c.wait)
	c.root = widgets.VBox(widgets.Gap12, widgets.NewCard("", nil, widgets.VBox(widgets.Gap8, head, c.form)), c.failed, c.gap, c.list)
	return c
}

// grid places small fields three a line.
func grid(fields ...fyne.CanvasObject) *fyne.Container {
	return container.New(threeALine{}, fields...)
}

type threeALine struct{}

func (threeALine) MinSize(o []fyne.CanvasObject) fyne.Size {
	h, shown := float32(0), visible(o)
	for i := 0; i < len(shown); i += 3 {
		h += shown[i].MinSize().Height + widgets.Gap8
	}
	return fyne.NewSize(240, fyne.Max(0, h-widgets.Gap8))
}

func (threeALine) Layout(o []fyne.CanvasObject, s fyne.Size) {
	w := (s.Width - 2*widgets.Gap12) / 3
	for i, x := range visible(o) {
		h := x.MinSize().Height
		x.Resize(fyne.NewSize(w, h))
		x.Move(fyne.NewPos(float32(i%3)*(w+widgets.Gap12), float32(i/3)*(h+widgets.Gap8)))
	}
}

// visible are the fields that are asked for now.
func visible(o []fyne.CanvasObject) []fyne.CanvasObject {
	var shown []fyne.CanvasObject
	for _, x := range o {
		if x.Visible() {
			shown = append(shown, x)
		}
	}
	return shown
}

// small is a figure with its label above.
func (c *acceleratorPane) small(mark, label, hold string, of func(*modelForm) *string) fyne.CanvasObject {
	e := newEntry(c.p.h, hold)
	f := &modelField{e, of}
	e.OnChanged = func(s string) {
		*of(&c.p.w.model) = s
		for _, o := range c.boxes { // one figure, several kinds
			if o != f && o.of(&c.p.w.model) == of(&c.p.w.model) && o.e.Text != s {
				o.e.SetText(s)
			}
		}
		c.changed()
	}
	e.OnSubmitted = func(string) { c.p.goNext() }
	e.onFocus = func() { c.p.reveal(e) }
	c.boxes = append(c.boxes, f)
	c.p.h.Mark("new.model."+mark, e)
	return widgets.VBox(2, widgets.Caption(label).Truncated(), e)
}

// choice is a list of words with its label above.
func (c *acceleratorPane) choice(mark, label string, of func(*modelForm) *string, words ...word) fyne.CanvasObject {
	k := newPick(c.p, words, func(key string) {
		*of(&c.p.w.model) = key
		c.changed()
	})
	c.picks = append(c.picks, &modelPick{k, of})
	c.p.h.Mark("new.model."+mark, k)
	return widgets.VBox(2, widgets.Caption(label).Truncated(), k)
}

func (c *acceleratorPane) object() fyne.CanvasObject { return c.root }

// first is the chosen machine's card: the arrows move between machines, Enter goes on with this one.
func (c *acceleratorPane) first() fyne.Focusable {
	for i, o := range c.p.w.advice.got {
		if i < len(c.cards) && o.Shape == c.p.w.form.Shape && c.p.w.advice.fresh(c.p.w.adviceKey()) {
			return c.cards[i].choice
		}
	}
	c.focus = true
	return nil
}

func (c *acceleratorPane) fill() {
	m := c.p.w.model
	for _, f := range c.boxes {
		if want := *f.of(&m); f.e.Text != want {
			f.e.SetText(want)
		}
	}
	for _, k := range c.picks {
		k.c.set(*k.of(&m))
	}
	c.ckpt.SetChecked(m.Checkpointing != "")
	c.kind.Select(m.Kind)
}

// changed asks anew, once the person pauses.
func (c *acceleratorPane) changed() {
	if c.p.filling {
		return
	}
	c.p.changed()
	c.p.rememberModel()
	ask(c.p, "advice soon", func(ctx context.Context) (bool, error) {
		select {
		case <-ctx.Done():
		case <-time.After(350 * time.Millisecond):
		}
		return true, ctx.Err()
	}, func(bool, error) { c.entered() })
}

// entered asks what each machine would do, and packs the project beside it, so that the ticket knows its size and its tasks.
func (c *acceleratorPane) entered() {
	w := &c.p.w
	key := w.adviceKey()
	if w.advice.due(key) {
		w.advice.ask(key)
		s, _ := w.spec()
		m := w.model
		tasks := w.tasks()
		core := c.p.h.Core()
		ask(c.p, "advice", func(ctx context.Context) ([]option, error) { return askAccelerators(ctx, core, s, m, tasks) }, func(got []option, err error) {
			if !w.advice.answer(key, got, err) {
				return
			}
			if err != nil {
				w.advice.got = bareOptions()
			}
			if best := w.recommended(); best != "" && !w.shapeTyped {
				w.form.Shape = best
			}
			c.p.render()
			if c.focus && w.at == stepAccelerator {
				c.focus = false
				c.p.focusFirst()
			}
		})
	}
	c.p.packSoon()
	c.p.render()
}

func (c *acceleratorPane) show(time.Time) {
	w := &c.p.w
	c.facts.Set(w.modelText())
	setVisible(c.form, c.shown)
	words := lang.L("Describe the model")
	if c.shown {
		words = lang.L("Hide")
	}
	if c.open.Text != words {
		c.open.SetText(words)
	}
	for k, row := range c.rows {
		setVisible(row, k == w.model.Kind)
	}
	c.showHow(w.model)
	fresh := w.advice.fresh(w.adviceKey())
	setVisible(c.gap, len(w.advice.got) == 0)
	setVisible(c.failed, w.advice.err != nil)
	if w.advice.err != nil {
		fresh = true // nothing is on its way
		ex := explain(w.advice.err)
		c.failed.Set(widgets.ColorWarning, ex.Title, strings.TrimSpace(ex.Sentence+" "+ex.Action), lang.L("Try again"))
	}
	for len(c.cards) < len(w.advice.got) {
		c.addCard()
	}
	for i, k := range c.cards {
		setVisible(k.choice, i < len(w.advice.got))
		if i < len(w.advice.got) {
			on := w.advice.got[i].Shape == w.form.Shape
			k.show(w.advice.got[i], on, fresh)
			if on {
				c.mark(w.advice.got[i].Pool, k.choice)
			}
		}
	}
}

// showHow shows the questions that mean something for the kind and the method.
func (c *acceleratorPane) showHow(m modelForm) {
	setVisible(c.how, m.network())
	setVisible(c.ckpt, m.trains() && m.Kind != "other")
	setVisible(c.cells.method, m.Kind == "transformer")
	setVisible(c.cells.optimizer, m.trains())
	setVisible(c.cells.rank, m.adapters())
	c.how.Refresh()
}

func (c *acceleratorPane) addCard() {
	i := len(c.cards)
	k := newOptionCard(func() { c.take(i) })
	k.choice.OnEnter = c.p.goNext
	k.choice.OnMove = func(d int) {
		if to := i + d; to >= 0 && to < len(c.p.w.advice.got) {
			c.p.h.Window().Canvas().Focus(c.cards[to].choice)
			c.take(to)
		}
	}
	k.choice.OnFocus = func() { c.p.reveal(k.choice) }
	c.p.h.Mark(fmt.Sprintf("new.option%d", i), k.choice)
	c.cards = append(c.cards, k)
	c.list.Add(k.choice)
}

// mark tells a driving script which machine is chosen, and no longer which one was.
func (c *acceleratorPane) mark(pool string, o fyne.CanvasObject) {
	for _, q := range []string{app.PoolGPU, app.PoolTPU, app.PoolCPU} {
		if q == pool {
			c.p.h.Mark("new.chosen."+q, o)
		} else {
			c.p.h.Mark("new.chosen."+q, c.none)
		}
	}
}

// take chooses a machine.
func (c *acceleratorPane) take(i int) {
	if i >= len(c.p.w.advice.got) {
		return
	}
	o := c.p.w.advice.got[i]
	if c.p.w.form.Shape == o.Shape && c.p.w.shapeTyped {
		return
	}
	c.p.w.form.Shape, c.p.w.shapeTyped = o.Shape, true
	c.p.changed()
}

// modelText says what the comparison rests on.
func (w *wizard) modelText() string {
	if a := strings.TrimSpace(w.model.Arch); a != "" && knownArch(a) == "" {
		return fmt.Sprintf(lang.L("The architecture %s is not known here by that name; its parameters tell as much."), a)
	}
	if w.model.Kind == "" && number(w.model.HoursT4) == 0 {
		return lang.L("What fits, what it burns and when it is done. Best first; pick another if you know better. A few words about the model make it sharper.")
	}
	return lang.L("What fits, what it burns and when it is done. Best first; pick another if you know better.")
}

func (c *acceleratorPane) foot() (note, next string, extra []fyne.CanvasObject) {
	return lang.L("Why not P100? Today's PyTorch has no code for it."), "", nil
}

// optionCard shows one machine.
type optionCard struct {
	choice  *widgets.Choice
	title   *widgets.Text
	badge   *widgets.Badge
	values  [4]*widgets.Text
	labels  [4]*widgets.Text
	reasons *widgets.Text
	doubts  *widgets.Text
}

func newOptionCard(tapped func()) *optionCard {
	k := &optionCard{title: widgets.Strong(""), badge: widgets.NewBadge(widgets.Status{}), reasons: widgets.Body("").Wrapped(), doubts: widgets.Caption("").Wrapped()}
	var cells []fyne.CanvasObject
	for i, l := range []string{lang.L("memory"), lang.L("burns"), lang.L("done by"), lang.L("leaves")} {
		k.labels[i], k.values[i] = widgets.Caption(l).Truncated(), widgets.Strong("").Wrapped()
		cells = append(cells, container.New(labelAbove{}, k.labels[i], k.values[i]))
	}
	figures := widgets.Columns(widgets.Gap12, 0, []float32{1.15, 0.95, 1.3, 0.9}, cells...)
	k.choice = widgets.NewChoice(widgets.VBox(widgets.Gap8, widgets.HBox(widgets.Gap12, k.title, k.badge), figures, widgets.VBox(widgets.Gap4, k.reasons, k.doubts)), tapped)
	return k
}

// labelAbove sets a value under its label at the top of the cell.
type labelAbove struct{}

func (labelAbove) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(60, o[0].MinSize().Height+2+o[1].MinSize().Height)
}

func (labelAbove) Layout(o []fyne.CanvasObject, s fyne.Size) {
	h := o[0].MinSize().Height
	o[0].Resize(fyne.NewSize(s.Width, h))
	o[0].Move(fyne.NewPos(0, 0))
	o[1].Resize(fyne.NewSize(s.Width, o[1].MinSize().Height))
	o[1].Resize(fyne.NewSize(s.Width, o[1].MinSize().Height)) // a second time: wrapped words know their height by then
	o[1].Move(fyne.NewPos(0, h+2))
}

func (k *optionCard) show(o option, chosen, fresh bool) {
	k.title.Set(o.Title)
	k.title.SetColor(poolColor(o.Pool))
	k.choice.Color = poolColor(o.Pool)
	status := widgets.Status{}
	switch {
	case !fresh:
		status = widgets.Status{Word: lang.L("being worked out anew"), Shape: widgets.ShapeClock}
	case !o.Fits:
		status = widgets.Status{Word: lang.L("does not fit"), Shape: widgets.ShapeCross, Color: widgets.ColorBad}
		if o.Fit != "" {
			status.Word = o.Fit
		}
	case o.Recommended:
		status = widgets.Status{Word: lang.L("Recommended"), Shape: widgets.ShapeCheck, Color: widgets.ColorGood}
	case o.Fit != "":
		status = widgets.Status{Word: o.Fit, Shape: widgets.ShapeBang, Color: widgets.ColorWarning}
	}
	k.badge.Set(status)
	setVisible(k.badge, status.Word != "")
	for i, v := range []string{o.Memory, o.Burns, o.Done, o.Leaves} {
		if v == "" {
			v = unknown
		}
		k.values[i].Set(v)
	}
	k.reasons.Set(joinSentences(o.Reasons))
	k.doubts.Set(joinSentences(o.Doubts))
	setVisible(k.reasons, k.reasons.Text != "")
	setVisible(k.doubts, k.doubts.Text != "")
	k.choice.SetSelected(chosen)
	k.choice.Refresh()
}

func joinSentences(list []string) string {
	out := ""
	for i, s := range list {
		if i > 0 {
			out += " "
		}
		out += s
	}
	return out
}

// modelSetting is where what was said of a project's model is kept, so that it is asked for once.
func modelSetting(project string) string { return "model of " + project }

func (p *newPage) rememberModel() {
	project, core := p.w.form.Project, p.h.Core()
	raw, err := json.Marshal(p.w.model.answers())
	if project == "" || core == nil || err != nil {
		return
	}
	p.h.Background(func(ctx context.Context) {
		if err := core.SetSetting(context.WithoutCancel(ctx), modelSetting(project), string(raw)); err != nil {
			return // it is asked for again, no more
		}
	})
}

// recallModel fills in what was said of the model before.
func (p *newPage) recallModel(project string) {
	core := p.h.Core()
	if core == nil {
		return
	}
	ask(p, "model", func(ctx context.Context) (string, error) { return core.Setting(ctx, modelSetting(project)), nil }, func(raw string, _ error) {
		var a map[string]string
		if raw == "" || json.Unmarshal([]byte(raw), &a) != nil || p.w.form.Project != project {
			return
		}
		p.w.model = modelFrom(a)
		p.fill()
	})
}
