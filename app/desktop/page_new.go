package desktop

import (
	"context"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"

	"sandglass/app"
	"sandglass/widgets"
)

// pane is one step of the wizard on the screen.
type pane interface {
	object() fyne.CanvasObject
	// show writes what the wizard knows. It is called on every change, so it writes only what differs.
	show(now time.Time)
	// entered asks what the step needs to know; it is called when the step is opened.
	entered()
	// first is where the keyboard is put when the step is opened; nil is the button that leads on.
	first() fyne.Focusable
}

// newPage is the New run wizard: six steps, each with an answer already there, and the ticket beside them that says what the run
// will be and cost. What was typed stays until the run is pushed or begun anew, whatever page is looked at in between; it is kept
// on disk too, so that a wizard left half-way is found again after a restart.
//
// Enter leads on, Escape and Alt+Left lead back, Ctrl+Enter pushes. Enter never pushes: a person who walks a known project with
// Enter alone arrives at the button that names the cost, and has to mean it.
type newPage struct {
	h    host
	root *fyne.Container
	head *widgets.PageHeader

	w        wizard
	panes    [stepCount]pane
	rails    [2]*widgets.StepRail // the column, and the line for narrow windows
	stack    *fyne.Container
	scrolls  [stepCount]*container.Scroll
	ticket   *ticketCard
	back     *widgets.Button
	next     *widgets.Button
	footer   *fyne.Container
	footNote *widgets.Text
	extra    *fyne.Container // buttons of the step between back and next

	project *projectPane
	review  *reviewPane
	filling bool // words are being written by the page, not typed
	loaded  bool
	touched bool // something is worth keeping as a draft
	saving  bool
	pushing bool
	runs    atomic.Bool                   // a run changed since the plan was asked for
	cancels map[string]context.CancelFunc // of the questions under way, by name
}

func newNewPage(h host) *newPage {
	p := &newPage{h: h, cancels: map[string]context.CancelFunc{}, w: wizard{form: newForm{Shape: shapeT4, Internet: true}}}
	p.head = widgets.NewPageHeader(lang.L("New run"))
	p.rails = [2]*widgets.StepRail{widgets.NewStepRail(false, stepWords()...), widgets.NewStepRail(true, stepWords()...)}
	for _, r := range p.rails {
		r.OnTapped = func(i int) { p.goTo(step(i)) }
	}
	for i := range stepCount {
		h.Mark("step."+i.key(), p.rails[0].Item(int(i)))
	}
	p.project, p.review = newProjectPane(p), newReviewPane(p)
	p.panes = [stepCount]pane{p.project, newInputsPane(p), newAcceleratorPane(p), newHoursPane(p), newRehearsePane(p), p.review}
	p.stack = container.NewStack()
	for i, pn := range p.panes {
		p.scrolls[i] = container.NewVScroll(widgets.Pad(0, widgets.Gap12, widgets.Gap12, 0, pn.object()))
		p.scrolls[i].Hide()
		p.stack.Add(p.scrolls[i])
	}
	p.ticket = newTicketCard()
	p.back = widgets.NewButton(lang.L("Back"), widgets.IconBack.Resource(), p.goBack)
	p.next = widgets.NewPrimary("", nil, p.goNext)
	h.Mark("new.back", p.back)
	h.Mark("new.next", p.next)
	p.footNote = widgets.Caption("").Right().Wrapped()
	p.extra = widgets.HBox(widgets.Gap8)
	p.footer = widgets.Pad(widgets.Gap12, widgets.Gap12, 0, 0,
		container.New(footerLine{}, p.back, p.footNote, p.extra, container.NewStack(p.next, p.review.push)))
	p.root = pageFrame(p.head, container.New(&wizardLayout{}, p.rails[0], p.rails[1], p.stack, p.footer, p.ticket.object))
	p.render()
	return p
}

// wizardLayout places the rail, the step with its footer, and the ticket: three columns where there is room, else the rail as a
// line above the step.
type wizardLayout struct{}

const (
	railWidth   = 172
	ticketLeast = 216
	ticketMost  = 264
	wizardWide  = 860 // from here on the rail is a column
	stepMost    = 700
)

func (l *wizardLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(fyne.Max(o[2].MinSize().Width, o[3].MinSize().Width)+widgets.Gap12+ticketLeast, o[1].MinSize().Height+120+o[3].MinSize().Height)
}

func (l *wizardLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	column, line, main, foot, side := o[0], o[1], o[2], o[3], o[4]
	wide := size.Width >= widgets.Grown(wizardWide)
	setVisible(column, wide)
	setVisible(line, !wide)
	x, y := float32(0), float32(0)
	if wide {
		column.Move(fyne.NewPos(-6, -4))
		rail := fyne.Max(railWidth, column.MinSize().Width)
		column.Resize(fyne.NewSize(rail, size.Height))
		x = rail + widgets.Gap12
	} else {
		h := line.MinSize().Height
		line.Move(fyne.NewPos(-6, -4))
		line.Resize(fyne.NewSize(size.Width, h))
		y = h + widgets.Gap8
	}
	ticket := fyne.Max(ticketLeast, fyne.Min(widgets.Grown(ticketMost), size.Width*0.3))
	width := size.Width - x - ticket - widgets.Gap12
	width = fyne.Min(width, widgets.Grown(stepMost))
	footHeight := foot.MinSize().Height
	main.Move(fyne.NewPos(x, y))
	main.Resize(fyne.NewSize(width, size.Height-y-footHeight))
	foot.Move(fyne.NewPos(x, size.Height-footHeight))
	foot.Resize(fyne.NewSize(width, footHeight))
	side.Move(fyne.NewPos(x+width+widgets.Gap12, y))
	side.Resize(fyne.NewSize(ticket, size.Height-y))
}

// footerLine is the way back at the left and the way on at the right; what is to be said about it stands above, over both.
type footerLine struct{}

const footerHeight = 32

func (footerLine) MinSize(o []fyne.CanvasObject) fyne.Size {
	w := float32(0)
	for i, x := range o {
		if i != 1 {
			w += x.MinSize().Width + widgets.Gap8
		}
	}
	return fyne.NewSize(w, footerHeight+noteHeight(o[1]))
}

func noteHeight(note fyne.CanvasObject) float32 {
	if !note.Visible() {
		return 0
	}
	return note.MinSize().Height + widgets.Gap8
}

func (footerLine) Layout(o []fyne.CanvasObject, s fyne.Size) {
	back, note, extra, next := o[0], o[1], o[2], o[3]
	note.Resize(fyne.NewSize(s.Width, fyne.Max(0, noteHeight(note)-widgets.Gap8)))
	note.Move(fyne.NewPos(0, 0))
	y := s.Height - footerHeight
	at := func(x fyne.CanvasObject, left, width float32) {
		x.Resize(fyne.NewSize(width, footerHeight))
		x.Move(fyne.NewPos(left, y))
	}
	at(back, 0, back.MinSize().Width)
	right := s.Width - next.MinSize().Width
	at(next, right, next.MinSize().Width)
	if e := extra.MinSize().Width; e > 0 {
		at(extra, right-e-widgets.Gap8, e)
	}
}

func (p *newPage) Object() fyne.CanvasObject { return p.root }

// Wants follows what the ticket shows. Another run changes which slots are free, so that the plan of the push is asked for anew; a
// reading of the quota does not, because that plan reads it itself.
func (p *newPage) Wants(ev app.Event) bool {
	if ev.Kind == app.EventRun || ev.Kind == app.EventAccount {
		p.runs.Store(true)
	}
	return ev.Kind == app.EventQuota || ev.Kind == app.EventAccount || ev.Kind == app.EventRun
}

// Load reads the projects and drafts, once; later only the quota.
func (p *newPage) Load(ctx context.Context) func() {
	core := p.h.Core()
	if core == nil {
		return nil
	}
	quota, qerr := core.Quota(ctx, false)
	projects, err := core.Projects(ctx)
	drafts, derr := core.Drafts(ctx)
	return func() {
		p.w.quota.key = "now"
		p.w.quota.answer("now", quota, qerr)
		if err == nil {
			p.project.projects = projects
		}
		if !p.loaded {
			p.loaded = true
			if derr == nil && len(drafts) > 0 && !p.touched {
				p.project.left = &drafts[0]
			}
			if p.project.left == nil && !p.touched {
				p.project.begin()
			}
			p.render()
			p.focusFirst()
		}
		if p.runs.Swap(false) && p.w.at == stepReview && !p.pushing {
			p.review.stale()
		}
		p.render()
	}
}

// Shown puts the keyboard where the step begins.
func (p *newPage) Shown() {
	p.panes[p.w.at].entered()
	p.render()
	p.focusFirst()
}

// Hidden keeps what was typed.
func (p *newPage) Hidden() { p.keep() }

// status tells a driving script where the wizard is and whether it is waiting for an answer.
func (p *newPage) status() string {
	s := p.w.at.key()
	if p.busy() {
		s += " busy"
	}
	return s
}

func (p *newPage) busy() bool {
	w := &p.w
	return w.facts.busy || w.inputs.busy || w.advice.busy || w.hours.busy || w.build.busy || w.plan.busy || w.rehearsal.busy || p.pushing || !p.loaded
}

// enter is Enter while nothing has the keyboard.
func (p *newPage) enter() { p.goNext() }

// escape is Escape, from wherever: one step back. On the first step the shell goes on with what Escape means everywhere.
func (p *newPage) escape() bool {
	if p.w.at == stepProject {
		return false
	}
	p.goBack()
	return true
}

// confirm is Ctrl+Enter: the deliberate key of the push button.
func (p *newPage) confirm() {
	if p.w.at == stepReview {
		p.review.spend()
	}
}

func (p *newPage) goNext() {
	if p.w.at == stepReview {
		p.review.hintKey()
		return
	}
	if !p.leave() {
		return
	}
	if !p.w.next() {
		p.project.hints(p.w.wrong(p.w.at))
		p.render()
		p.focusWrong()
		return
	}
	p.opened()
}

// leave lets a step do its own work before it is left; false keeps it.
func (p *newPage) leave() bool {
	if l, ok := p.panes[p.w.at].(interface{ leave() bool }); ok {
		return l.leave()
	}
	return true
}

func (p *newPage) goBack() {
	if p.w.back() {
		p.opened()
	}
}

func (p *newPage) goTo(s step) {
	if s != p.w.at && p.w.open(s) {
		p.w.at = s
		p.opened()
	}
}

// opened shows the step that was come to.
func (p *newPage) opened() {
	p.touched = true
	p.panes[p.w.at].entered()
	p.render()
	p.scrolls[p.w.at].ScrollToTop()
	p.focusFirst()
	p.keep()
	p.h.Reload()
}

func (p *newPage) focusFirst() {
	f := p.panes[p.w.at].first()
	if f == nil {
		f = p.next
		if p.w.at == stepReview {
			f = p.review.push
		}
	}
	if win := p.h.Window(); win != nil {
		win.Canvas().Focus(f)
	}
}

// focusWrong puts the keyboard into the first field that cannot be read.
func (p *newPage) focusWrong() {
	_, problems := p.w.spec()
	if w, ok := p.panes[p.w.at].(interface {
		wrong(map[field]string) fyne.Focusable
	}); ok {
		if f := w.wrong(problems); f != nil && p.h.Window() != nil {
			p.h.Window().Canvas().Focus(f)
		}
	}
}

// changed is called after the person changed an answer.
func (p *newPage) changed() {
	if p.filling {
		return
	}
	p.touched = true
	p.render()
	p.keepSoon()
}

// render writes what the wizard knows onto the screen.
func (p *newPage) render() {
	now := time.Now()
	for i, s := range p.scrolls {
		setVisible(s, step(i) == p.w.at)
	}
	states, open := make([]widgets.StepState, stepCount), make([]bool, stepCount)
	for i := range stepCount {
		open[i] = p.w.open(i)
		switch {
		case i == p.w.at:
			states[i] = widgets.StepCurrent
		case i <= p.w.reached && p.w.wrong(i):
			states[i] = widgets.StepWrong
		case i < p.w.reached:
			states[i] = widgets.StepDone
		}
	}
	for _, r := range p.rails {
		r.Set(states, open)
	}
	p.head.Note.Set(p.w.title())
	p.panes[p.w.at].show(now)
	p.ticket.show(p.w.ticket())
	setVisible(p.back, p.w.at > stepProject)
	setVisible(p.next, p.w.at != stepReview)
	setVisible(p.review.push, p.w.at == stepReview)
	if p.w.at != stepReview {
		p.setNext(p.w.at.leadsOn())
	}
	note, extra := "", []fyne.CanvasObject(nil)
	if f, ok := p.panes[p.w.at].(interface {
		foot() (note, next string, extra []fyne.CanvasObject)
	}); ok {
		var next string
		if note, next, extra = f.foot(); next != "" {
			p.setNext(next)
		}
	}
	held := false
	if h, ok := p.panes[p.w.at].(interface{ held() bool }); ok {
		held = h.held()
	}
	if held {
		p.next.Disable()
	} else {
		p.next.Enable()
	}
	p.footNote.Set(note)
	setVisible(p.footNote, note != "")
	if !sameObjects(p.extra.Objects, extra) {
		p.extra.Objects = extra
		p.extra.Refresh()
	}
	p.footer.Refresh()
	p.root.Objects[0].Refresh() // the footer may be higher now
}

func (p *newPage) setNext(words string) {
	if p.next.Text != words {
		p.next.SetText(words)
	}
}

func sameObjects(a, b []fyne.CanvasObject) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// keep stores the draft. A wizard nobody touched leaves none.
func (p *newPage) keep() {
	if !p.touched || p.pushing || p.h.Core() == nil {
		return
	}
	d := p.w.draft()
	p.h.Background(func(ctx context.Context) {
		ctx = context.WithoutCancel(ctx) // the window closes: the last words are kept all the same
		if err := p.h.Core().SaveDraft(ctx, d); err != nil {
			p.h.Do(func() { p.h.Toast(lang.L("What was typed could not be kept on disk: ") + explain(err).Sentence) })
		}
	})
}

// keepSoon stores the draft a little later, once for a stretch of typing; at once when the window closes.
func (p *newPage) keepSoon() {
	if p.saving || p.h.Core() == nil {
		return
	}
	p.saving = true
	p.h.Background(func(ctx context.Context) {
		closing := false
		select {
		case <-ctx.Done():
			closing = true
		case <-time.After(800 * time.Millisecond):
		}
		if closing {
			return // Hidden and the step before have kept all but the last half second
		}
		p.h.Do(func() {
			p.saving = false
			p.keep()
		})
	})
}

// startOver forgets the draft and begins with the project that was used last.
func (p *newPage) startOver() {
	project := p.w.form.Project
	if l := p.project.left; l != nil {
		project = l.Project
	}
	p.project.left = nil
	p.h.Background(func(ctx context.Context) {
		if err := p.h.Core().DropDraft(ctx, project); err != nil {
			p.h.Do(func() { p.h.Fail(err) })
		}
	})
	p.reset()
	p.project.begin()
	p.render()
	p.focusFirst()
}

// reset empties the wizard.
func (p *newPage) reset() {
	for name := range p.cancels {
		p.stopAsk(name)
	}
	if c, ok := p.panes[stepRehearse].(*rehearsePane); ok {
		c.end()
	}
	quota := p.w.quota
	p.w = wizard{form: newForm{Shape: shapeT4, Internet: true}, quota: quota}
	p.touched = false
	p.fill()
}

// resume goes on with a draft.
func (p *newPage) resume(d app.Draft) {
	quota := p.w.quota
	p.w = wizardOf(d)
	p.w.quota = quota
	p.project.left = nil
	p.touched = true
	p.fill()
	p.project.look()
	p.opened()
}

// startFrom takes over an earlier run's words.
func (p *newPage) startFrom(run int64) {
	p.keep() // what was begun before stays under its own project
	p.h.Background(func(ctx context.Context) {
		spec, err := p.h.Core().SpecOf(ctx, run)
		p.h.Do(func() {
			if err != nil {
				p.h.Fail(err)
				return
			}
			p.loaded, p.project.left = true, nil
			p.reset()
			p.w.base, p.w.form = spec, formOf(spec)
			p.touched = true
			p.recallModel(spec.Project)
			p.fill()
			p.project.look()
			p.opened()
		})
	})
}

// fill writes the form's words into the fields of every step.
func (p *newPage) fill() {
	p.filling = true
	for _, pn := range p.panes {
		if f, ok := pn.(interface{ fill() }); ok {
			f.fill()
		}
	}
	p.filling = false
}

// ask runs a question to the core off the UI thread; a second one of the same name takes the place of the first. done runs on the
// UI thread unless the question was taken back.
func ask[T any](p *newPage, name string, what func(ctx context.Context) (T, error), done func(T, error)) {
	p.stopAsk(name)
	if p.h.Core() == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.cancels[name] = cancel
	p.h.Background(func(life context.Context) {
		stop := context.AfterFunc(life, cancel)
		defer stop()
		got, err := what(ctx)
		p.h.Do(func() {
			if ctx.Err() == nil {
				done(got, err)
				p.render()
			}
			cancel()
		})
	})
}

// stopAsk takes a question back.
func (p *newPage) stopAsk(name string) {
	if c := p.cancels[name]; c != nil {
		c()
		delete(p.cancels, name)
	}
}
