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

// reviewView is the last step in words.
type reviewView struct {
	Lines        []ticketLine
	Guards       []app.Guard
	Warnings     []string
	Parts        []app.SizePart
	Fill         []app.FillOffer
	Taken        string // what was added last to fill an idle device
	LeftOut      []string
	Button       string // the words of the push button, cost included
	CanPush      bool   // nothing speaks against it, or what does is overridden or queued for
	Queue        bool   // a slot is missing: the button queues instead
	Override     bool   // something can be overridden, and has to be said so
	Problem      string // why there is nothing to push
	ProblemTitle string
	Busy         string
}

// newReviewView words a build and its push plan.
func (w *wizard) newReviewView() reviewView {
	s, _ := w.spec()
	v := reviewView{Button: lang.L("Push")}
	if n := len(w.taken); n > 0 {
		v.Taken = w.taken[n-1].text
	}
	b, pl := &w.build, &w.plan
	if b.key == w.buildKey() && b.err != nil {
		ex := explain(b.err)
		v.ProblemTitle, v.Problem = ex.Title, strings.TrimSpace(ex.Sentence+" "+ex.Action)
		return v
	}
	if !b.fresh(w.buildKey()) {
		v.Busy = lang.L("Packing the project…")
		return v
	}
	v.Parts, v.Fill, v.LeftOut = b.got.Parts, b.got.Fill, b.got.LeftOut
	v.Warnings = append(v.Warnings, b.got.Warnings...)
	add := func(l, x string) { v.Lines = append(v.Lines, ticketLine{l, x}) }
	add(lang.L("kernel"), b.got.Kernel)
	add(lang.L("command"), s.Command)
	if len(s.ExtraJobs) > 0 {
		var names []string
		for _, j := range s.ExtraJobs {
			names = append(names, j.Name)
		}
		add(lang.L("further jobs"), strings.Join(names, ", "))
	}
	add(lang.L("inputs"), inputsText(s))
	if s.NoInternet {
		add(lang.L("internet"), lang.L("off"))
	}
	if len(s.Pip) > 0 {
		add(lang.L("installs"), strings.Join(s.Pip, ", "))
	}
	add(lang.L("rehearsal"), w.rehearsalText())
	if pl.key == w.planKey() && pl.err != nil {
		ex := explain(pl.err)
		v.ProblemTitle, v.Problem = ex.Title, strings.TrimSpace(ex.Sentence+" "+ex.Action)
		return v
	}
	if !pl.fresh(w.planKey()) {
		v.Busy = lang.L("Asking Kaggle what is left and what runs…")
		return v
	}
	v.Guards, v.Warnings = pl.got.Guards, append(v.Warnings, pl.got.Warnings...)
	v.decide(pl.got, w.override)
	return v
}

// decide words the button and says whether it may be pressed.
func (v *reviewView) decide(p app.PushPlan, override bool) {
	v.CanPush = true
	v.Button = lang.L("Push, ") + said(p.CostText)
	for _, g := range p.Guards {
		box := g.Override != "" && g.Code != "slots" // a missing slot is waited for, never pushed past
		v.Override = v.Override || box
		switch {
		case box && override:
		case g.Waits:
			v.Queue = true
		default:
			v.CanPush = false
		}
	}
	if v.Queue {
		v.Button = lang.L("Add to launch queue, ") + said(p.CostText)
	}
}

func inputsText(s app.BuildSpec) string {
	var refs []string
	for _, in := range s.Inputs() {
		refs = append(refs, in.Ref)
	}
	if len(refs) == 0 {
		return lang.L("none")
	}
	return strings.Join(refs, ", ")
}

func (w *wizard) rehearsalText() string {
	switch w.rehearsed() {
	case "good":
		return lang.L("passed")
	case "bad":
		return lang.L("failed, going on all the same")
	}
	switch r := &w.rehearsal; {
	case r.busy:
		return lang.L("running")
	case r.have && r.got.OK:
		return lang.L("passed before the last change")
	case r.have:
		return lang.L("failed before the last change")
	}
	return lang.L("skipped")
}

// reviewPane is the last step: what is sent, what speaks against it, and the button that names the cost.
type reviewPane struct {
	p     *newPage
	root  *fyne.Container
	push  *deliberate
	wait  *widgets.Text
	fault *widgets.Banner
	busy  *work
	lines *fyne.Container
	what  *widgets.Card
	guard *fyne.Container
	over  *check
	warn  *fyne.Container
	size  *widgets.Card
	parts *fyne.Container
	fill  *widgets.Card
	fills *fyne.Container
	shown string
	urged bool // Enter was pressed on the button: say which key it is
}

func newReviewPane(p *newPage) *reviewPane {
	c := &reviewPane{p: p, wait: widgets.Muted("").Wrapped(), lines: widgets.VBox(0), guard: widgets.VBox(widgets.Gap8), warn: widgets.VBox(widgets.Gap4),
		parts: widgets.VBox(widgets.Gap8), fills: widgets.VBox(widgets.Gap8), busy: newWork(p.h)}
	c.fault = widgets.NewBanner("", "", "", func() {
		p.w.build, p.w.plan = asked[app.BuildResult]{}, asked[app.PushPlan]{}
		c.entered()
	})
	c.push = newDeliberate(lang.L("Push"), c.spend, c.hintKey)
	p.h.Mark("new.push", c.push)
	c.over = newCheck(p, lang.L("Go on all the same"), func(on bool) {
		p.w.override = on
		p.render()
	})
	p.h.Mark("new.override", c.over)
	c.what = widgets.NewCard(lang.L("What is sent"), nil, c.lines)
	c.size = widgets.NewCard(lang.L("What takes the space"), nil, c.parts)
	c.fill = widgets.NewCard(lang.L("A device would be idle"), nil, c.fills)
	c.root = widgets.VBox(widgets.Gap12, c.busy.box, c.wait, c.fault, c.guard, c.over, c.what, c.fill, c.size, c.warn)
	return c
}

func (c *reviewPane) object() fyne.CanvasObject { return c.root }

func (c *reviewPane) first() fyne.Focusable {
	v := c.p.w.newReviewView()
	if v.Override && !v.CanPush {
		return c.over
	}
	return c.push
}

func (c *reviewPane) entered() {
	c.urged = false
	c.p.pack(func() { c.plan() })
}

// stale asks anew what a push would do: something changed at Kaggle or in the log.
func (c *reviewPane) stale() {
	if c.p.w.plan.have && !c.p.w.plan.busy {
		c.plan()
	}
}

// plan asks what a push would do and cost.
func (c *reviewPane) plan() {
	w := &c.p.w
	key := w.planKey()
	if key == "" {
		return
	}
	dir, core := w.build.got.Dir, c.p.h.Core()
	first := !w.plan.fresh(key)
	w.plan.ask(key)
	ask(c.p, "plan", func(ctx context.Context) (app.PushPlan, error) { return core.PlanPush(ctx, dir, app.PushOptions{}) }, func(got app.PushPlan, err error) {
		w.plan.answer(key, got, err)
		c.p.render()
		if first && w.at == stepReview {
			c.p.focusFirst()
		}
	})
}

func (c *reviewPane) show(time.Time) {
	v := c.p.w.newReviewView()
	c.wait.Set(v.Busy)
	setVisible(c.wait, v.Busy != "" && !c.p.pushing)
	setVisible(c.fault, v.Problem != "")
	if v.Problem != "" {
		c.fault.Set(widgets.ColorBad, v.ProblemTitle, v.Problem, lang.L("Try again"))
	}
	if c.push.Text != v.Button {
		c.push.SetText(v.Button)
	}
	if v.CanPush && !c.p.pushing {
		c.push.Enable()
	} else {
		c.push.Disable()
	}
	c.over.SetChecked(c.p.w.override)
	setVisible(c.over, v.Override)
	if now := keyOf(v); now != c.shown {
		c.shown = now
		c.build(v)
	}
	setVisible(c.what, len(v.Lines) > 0)
	setVisible(c.size, len(v.Parts) > 0)
	setVisible(c.fill, len(v.Fill) > 0 || v.Taken != "")
}

// take adds what fills an idle device to the run, which is then packed anew.
func (c *reviewPane) take(f app.FillOffer) {
	w := &c.p.w
	if c.p.pushing {
		return
	}
	w.taken = append(w.taken, taken{f.Text, w.base})
	w.base = f.Apply(w.base)
	c.entered()
	c.p.focusFirst()
}

// untake takes the last of them back.
func (c *reviewPane) untake() {
	w := &c.p.w
	if c.p.pushing || len(w.taken) == 0 {
		return
	}
	last := len(w.taken) - 1
	w.base, w.taken = w.taken[last].before, w.taken[:last]
	c.entered()
	c.p.focusFirst()
}

func (c *reviewPane) build(v reviewView) {
	c.lines.RemoveAll()
	for i, l := range v.Lines {
		c.lines.Add(container.New(reviewLine{}, widgets.Muted(l.Label), widgets.Body(l.Value).Wrapped()))
		if i < len(v.Lines)-1 {
			c.lines.Add(widgets.NewHairline())
		}
	}
	c.guard.RemoveAll()
	for _, g := range v.Guards {
		color := widgets.ColorWarning
		if g.Override == "" {
			color = widgets.ColorBad
		}
		b := widgets.NewBanner("", said(g.Reason), "", nil)
		b.Set(color, guardWord(g), said(strings.TrimSpace(g.Reason+" "+g.Advice)), "")
		c.guard.Add(b)
	}
	c.parts.RemoveAll()
	total := 0
	for _, q := range v.Parts {
		total += q.Bytes
	}
	for _, q := range v.Parts {
		c.parts.Add(container.New(partLine{}, widgets.Muted(q.Name).Truncated(), widgets.NewMeter(float64(q.Bytes)/float64(max(1, total)), widgets.ColorCPU), widgets.Body(bytesText(int64(q.Bytes))).Right()))
	}
	c.fills.RemoveAll()
	for i, f := range v.Fill {
		if i > 0 {
			c.fills.Add(widgets.NewHairline())
		}
		c.fills.Add(wrapped(said(f.Text)))
		if !f.CanApply() {
			c.fills.Add(widgets.Mono(f.Flag).Wrapped())
			continue
		}
		take := widgets.NewButton(lang.L("Add it to this run"), nil, func() { c.take(f) })
		c.p.h.Mark(fmt.Sprintf("new.fill.%d", i), take)
		c.fills.Add(widgets.HBox(0, take))
	}
	if v.Taken != "" {
		c.fills.Add(widgets.Muted(fmt.Sprintf(lang.L("Added: %s"), said(v.Taken))).Wrapped())
		back := widgets.NewButton(lang.L("Take it back"), nil, c.untake)
		c.p.h.Mark("new.fill.undo", back)
		c.fills.Add(widgets.HBox(0, back))
	}
	c.warn.RemoveAll()
	for _, s := range v.Warnings {
		c.warn.Add(widgets.Caption(said(s)).Wrapped())
	}
	for i, s := range v.LeftOut {
		if i == 5 {
			c.warn.Add(widgets.Caption(fmt.Sprintf(lang.L("%d more stay here."), len(v.LeftOut)-i)))
			break
		}
		c.warn.Add(widgets.Caption(fmt.Sprintf(lang.L("Stays here: %s"), said(s))).Wrapped())
	}
	setVisible(c.warn, len(c.warn.Objects) > 0)
	setVisible(c.guard, len(v.Guards) > 0)
}

// guardWord names a guard in a word or two.
func guardWord(g app.Guard) string {
	switch g.Code {
	case "slots":
		return lang.L("No slot is free.")
	case "quota":
		return lang.L("Not enough is left.")
	case "inputs":
		return lang.L("An input is not ready.")
	case "size":
		return lang.L("Too big.")
	case "running", "twice", "waiting":
		return lang.L("It is there already.")
	case "cap":
		return lang.L("The cap is too long.")
	}
	return lang.L("Not like this.")
}

// reviewLine is a label and its words, which wrap.
type reviewLine struct{}

func (reviewLine) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(160, fyne.Max(o[0].MinSize().Height, o[1].MinSize().Height)+widgets.Gap12)
}

func (reviewLine) Layout(o []fyne.CanvasObject, s fyne.Size) {
	y := widgets.Gap12 / 2
	o[0].Resize(fyne.NewSize(widgets.Grown(labelWidth), o[0].MinSize().Height))
	o[0].Move(fyne.NewPos(0, y))
	o[1].Resize(fyne.NewSize(s.Width-widgets.Grown(labelWidth), s.Height-widgets.Gap12))
	o[1].Move(fyne.NewPos(widgets.Grown(labelWidth), y))
}

// partLine is a name, a bar and a size.
type partLine struct{}

func (partLine) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(240, o[0].MinSize().Height)
}

func (partLine) Layout(o []fyne.CanvasObject, s fyne.Size) {
	const size = 76
	bar := fyne.Max(0, s.Width-widgets.Grown(labelWidth)-size-2*widgets.Gap12)
	o[0].Resize(fyne.NewSize(widgets.Grown(labelWidth), s.Height))
	o[0].Move(fyne.NewPos(0, 0))
	o[1].Resize(fyne.NewSize(bar, s.Height))
	o[1].Move(fyne.NewPos(widgets.Grown(labelWidth)+widgets.Gap12, 0))
	o[2].Resize(fyne.NewSize(size, s.Height))
	o[2].Move(fyne.NewPos(s.Width-size, 0))
}

func (c *reviewPane) foot() (note, next string, extra []fyne.CanvasObject) {
	v := c.p.w.newReviewView()
	switch {
	case c.p.pushing, !v.CanPush && !v.Override:
		return "", "", nil
	case !v.CanPush:
		return lang.L("Tick the box above to go on."), "", nil
	case c.urged:
		return lang.L("Enter alone never spends: press Ctrl+Enter, the space bar, or click."), "", nil
	}
	return lang.L("Ctrl+Enter, or click"), "", nil
}

// hintKey says which key spends, to a person who pressed Enter.
func (c *reviewPane) hintKey() {
	c.urged = true
	c.p.render()
}

// spend pushes: it is only ever reached by the deliberate key or a click on the button that names the cost.
func (c *reviewPane) spend() {
	p, w := c.p, &c.p.w
	v := w.newReviewView()
	if !v.CanPush || p.pushing || !w.plan.fresh(w.planKey()) {
		return
	}
	plan := w.plan.got
	plan.Options.Force, plan.Options.QueueIfFull = w.override, v.Queue
	project := w.form.Project
	p.pushing = true
	c.busy.start(lang.L("Pushing"), nil)
	p.render()
	p.h.Background(func(ctx context.Context) {
		run, err := p.h.Core().Push(ctx, plan, app.Consent{By: "button"})
		if err == nil {
			err2 := p.h.Core().DropDraft(context.WithoutCancel(ctx), project)
			if err2 != nil {
				p.h.Do(func() { p.h.Toast(lang.L("The run was pushed; its draft is still kept.")) })
			}
		}
		p.h.Do(func() {
			p.pushing = false
			c.busy.finish()
			if err != nil {
				c.p.h.Fail(err)
				c.plan()
				p.render()
				return
			}
			if run.State == app.StateWaiting {
				p.h.Toast(fmt.Sprintf(lang.L("%s waits in the launch queue and is pushed when a slot frees."), run.Name))
			} else {
				p.h.Toast(fmt.Sprintf(lang.L("Pushed %s, version %d."), run.Name, run.Version))
			}
			p.reset()
			p.loaded = false // the next run starts from this one
			p.render()
			p.h.OpenRun(run.ID)
		})
	})
}
