package desktop

import (
	"context"
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/storage"
	"fyne.io/fyne/v2/widget"

	"sandglass/app"
	"sandglass/widgets"
)

// shapes are the accelerators the form offers, in its order.
var shapes = []struct{ label, shape, mark string }{
	{"T4 ×2", "NvidiaTeslaT4", "new.gpu"},
	{"TPU v5e-8", "TpuV5E8", "new.tpu"},
	{"CPU", "none", "new.cpu"},
}

// newPage is the New run form: what to run, on what, for how long, and a button that names what it costs. What was typed stays
// until the run is pushed, whatever page is looked at in between.
type newPage struct {
	h    host
	root *fyne.Container

	project, name, command *entry
	datasets, kernels      *entry
	competition            *entry
	hours, folds, baseline *entry
	include                *entry
	internet               *widget.Check
	shape                  *widgets.FilterChips
	hints                  map[field]*hint

	build  *widgets.Button
	busy   *work
	side   *fyne.Container
	cancel context.CancelFunc
	filled bool
	plan   *app.PushPlan
}

func newNewPage(h host) *newPage {
	p := &newPage{h: h, hints: map[field]*hint{}}
	field := func(mark, placeholder string) *entry {
		e := newEntry(h, placeholder)
		e.OnChanged = func(string) { p.stale() }
		h.Mark(mark, e)
		return e
	}
	p.project = field("new.project", lang.L("/home/me/leaf-disease"))
	p.project.OnSubmitted = func(string) { p.suggest() }
	p.name = field("new.name", "cnx384")
	p.command = field("new.command", "python src/train.py --name cnx384 --folds {fold}")
	p.datasets = field("new.datasets", lang.L("owner/dataset, owner/other=data/other"))
	p.kernels = field("new.kernels", lang.L("owner/kernel whose output is needed"))
	p.competition = field("new.competition", lang.L("competition slug"))
	p.hours = field("new.hours", "2")
	p.hours.SetText("2")
	p.folds = field("new.folds", lang.L("all of data/folds.csv"))
	p.baseline = field("new.baseline", lang.L("none"))
	p.include = field("new.include", "src")
	p.internet = widget.NewCheck(lang.L("Internet during the run"), func(bool) { p.stale() })
	p.internet.SetChecked(true)
	var chips []widgets.Chip
	for _, sh := range shapes {
		chips = append(chips, widgets.Chip{Key: sh.shape, Text: sh.label})
	}
	p.shape = widgets.NewFilterChips(chips...)
	p.shape.OnSelected = func(string) { p.stale() }
	for _, sh := range shapes {
		h.Mark(sh.mark, p.shape.Chip(sh.shape))
	}

	browse := widgets.NewButton(lang.L("Browse…"), nil, p.browse)
	h.Mark("new.browse", browse)
	p.build = widgets.NewPrimary(lang.L("Build and check"), nil, p.check)
	h.Mark("new.build", p.build)
	p.busy = newWork(h)

	what := widgets.NewCard(lang.L("What to run"), nil, widgets.VBox(widgets.Gap8,
		p.row(lang.L("Project folder"), fieldProject, container.NewBorder(nil, nil, nil, browse, p.project)),
		p.row(lang.L("Name"), fieldName, p.name),
		p.row(lang.L("Command"), fieldCommand, p.command),
		p.row(lang.L("Files to send"), "", p.include),
		p.row(lang.L("Folds"), fieldFolds, p.folds),
		p.row(lang.L("Baseline"), fieldBaseline, p.baseline),
	))
	where := widgets.NewCard(lang.L("Where and how long"), nil, widgets.VBox(widgets.Gap8,
		p.row(lang.L("Accelerator"), "", p.shape),
		p.row(lang.L("Hours, at most"), fieldHours, container.New(fixedWidth(96), p.hours)),
	))
	inputs := widgets.NewCard(lang.L("Inputs"), nil, widgets.VBox(widgets.Gap8,
		p.row(lang.L("Datasets"), fieldInputs, p.datasets),
		p.row(lang.L("Competition"), "", p.competition),
		p.row(lang.L("Outputs of kernels"), "", p.kernels),
		p.row("", "", p.internet),
	))
	form := widgets.VBox(widgets.Gap12, what, where, inputs, container.NewHBox(p.build, p.busy.box))
	p.side = container.NewStack()
	p.clearTicket()
	p.root = pageFrame(widgets.NewPageHeader(lang.L("New run")),
		container.New(formAndTicket{}, container.NewVScroll(widgets.Pad(0, widgets.Gap12, 0, 0, form)), p.side))
	return p
}

// row is a label, a control, and under it the place for what is wrong with it.
func (p *newPage) row(label string, f field, control fyne.CanvasObject) fyne.CanvasObject {
	line := container.NewBorder(nil, nil, container.New(fixedWidth(labelWidth), widgets.Middle(widgets.Muted(label))), nil, control)
	if f == "" {
		return line
	}
	words := widgets.NewText("", widgets.ColorBad, widgets.SizeCaption, fyne.TextStyle{}).Wrapped()
	h := &hint{words: words, box: container.NewBorder(nil, nil, container.New(fixedWidth(labelWidth)), nil, words)}
	h.box.Hide()
	p.hints[f] = h
	return container.NewVBox(line, h.box)
}

// formAndTicket gives the ticket a third of the width, between what its numbers need and what a sentence needs.
type formAndTicket struct{}

const ticketLeast, ticketMost = 220, 300

func (formAndTicket) MinSize(o []fyne.CanvasObject) fyne.Size {
	form, side := o[0].MinSize(), o[1].MinSize()
	return fyne.NewSize(form.Width+widgets.Gap12+ticketLeast, fyne.Max(form.Height, side.Height))
}

func (formAndTicket) Layout(o []fyne.CanvasObject, size fyne.Size) {
	side := fyne.Min(ticketMost, fyne.Max(ticketLeast, size.Width/3))
	side = fyne.Max(ticketLeast, fyne.Min(side, size.Width-widgets.Gap12-o[0].MinSize().Width))
	o[0].Resize(fyne.NewSize(size.Width-widgets.Gap12-side, size.Height))
	o[0].Move(fyne.NewPos(0, 0))
	o[1].Resize(fyne.NewSize(side, size.Height))
	o[1].Move(fyne.NewPos(size.Width-side, 0))
}

const labelWidth = 130

// hint is what is wrong with a field, under it.
type hint struct {
	words *widgets.Text
	box   *fyne.Container
}

func (h *hint) set(text string) {
	h.words.Set(text)
	setVisible(h.box, text != "")
}

func (p *newPage) Object() fyne.CanvasObject { return p.root }

func (p *newPage) Wants(app.Event) bool { return false }

// Load fills the form once from the newest run of the account, so that a second run of a project is a name away.
func (p *newPage) Load(ctx context.Context) func() {
	if p.filled {
		return nil
	}
	rows, err := p.h.Core().Runs(ctx, app.RunFilter{Limit: 20})
	if err != nil {
		return nil
	}
	for _, r := range rows {
		if r.Origin == "push" && r.Project != "" {
			if spec, err := p.h.Core().SpecOf(ctx, r.ID); err == nil {
				return func() { p.fill(formOf(spec)) }
			}
		}
	}
	return func() { p.filled = true }
}

func (p *newPage) Shown() { p.h.Window().Canvas().Focus(p.project) }

func (p *newPage) Hidden() {}

// startFrom takes over an earlier run's words.
func (p *newPage) startFrom(run int64) {
	p.h.Background(func(ctx context.Context) {
		spec, err := p.h.Core().SpecOf(ctx, run)
		p.h.Do(func() {
			if err != nil {
				p.h.Fail(err)
				return
			}
			p.filled = false
			p.project.SetText("")
			p.fill(formOf(spec))
		})
	})
}

// fill shows f, unless the person has begun to type a project of their own.
func (p *newPage) fill(f newForm) {
	if p.filled || p.project.Text != "" && p.project.Text != f.Project {
		return
	}
	p.filled = true
	for _, s := range []struct {
		e    *entry
		text string
	}{{p.project, f.Project}, {p.name, f.Name}, {p.command, f.Command}, {p.datasets, f.Datasets}, {p.competition, f.Competition},
		{p.kernels, f.Kernels}, {p.hours, f.Hours}, {p.folds, f.Folds}, {p.baseline, f.Baseline}, {p.include, f.Include}} {
		s.e.SetText(s.text)
	}
	p.internet.SetChecked(f.Internet)
	if p.shape.Chip(f.Shape) != nil {
		p.shape.Select(f.Shape)
	}
}

func (p *newPage) form() newForm {
	return newForm{Project: p.project.Text, Name: p.name.Text, Command: p.command.Text, Datasets: p.datasets.Text, Kernels: p.kernels.Text,
		Competition: p.competition.Text, Shape: p.shape.Selected(), Hours: p.hours.Text, Folds: p.folds.Text, Baseline: p.baseline.Text, Include: p.include.Text,
		Internet: p.internet.Checked}
}

// suggest fills the empty fields from what the folder holds.
func (p *newPage) suggest() {
	f := p.form().suggest()
	for _, s := range []struct {
		e    *entry
		text string
	}{{p.name, f.Name}, {p.command, f.Command}, {p.baseline, f.Baseline}} {
		if s.e.Text != s.text {
			s.e.SetText(s.text)
		}
	}
}

func (p *newPage) browse() {
	d := dialog.NewFolderOpen(func(u fyne.ListableURI, err error) {
		if err != nil {
			p.h.Fail(err)
			return
		}
		if u != nil {
			p.project.SetText(u.Path())
			p.suggest()
		}
	}, p.h.Window())
	if u, err := storage.ListerForURI(storage.NewFileURI(p.project.Text)); err == nil && p.project.Text != "" {
		d.SetLocation(u)
	}
	d.Resize(fyne.NewSize(820, 560))
	d.Show()
}

// stale drops the ticket: it no longer says what the form says.
func (p *newPage) stale() {
	if p.plan != nil {
		p.plan = nil
		p.clearTicket()
	}
}

func (p *newPage) clearTicket() {
	p.side.Objects = []fyne.CanvasObject{container.NewVBox(widgets.NewCard(lang.L("This run"), nil,
		wrapped(lang.L("Build and check packs the project and asks Kaggle what is left. Nothing is spent before you press the button that names the cost."))))}
	p.side.Refresh()
}

// check builds the kernel folder and asks what a push would cost.
func (p *newPage) check() {
	p.suggest()
	spec, problems := p.form().spec()
	for f, h := range p.hints {
		h.set(problems[f])
	}
	if len(problems) > 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	p.build.Disable()
	p.busy.start(lang.L("Packing"), cancel)
	p.h.Background(func(life context.Context) {
		stop := context.AfterFunc(life, cancel)
		defer stop()
		built, err := p.h.Core().Build(ctx, spec, func(pr app.Progress) {
			p.h.Do(func() { p.busy.step(progressText(pr), pr.Done, pr.Total) })
		})
		var plan app.PushPlan
		if err == nil {
			p.h.Do(func() { p.busy.step(lang.L("Asking what is left"), 0, 0) })
			plan, err = p.h.Core().PlanPush(ctx, built.Dir, app.PushOptions{})
		}
		p.h.Do(func() {
			cancel()
			p.cancel = nil
			p.busy.finish()
			p.build.Enable()
			if err != nil {
				if ctx.Err() == nil || life.Err() == nil {
					p.h.Fail(err)
				}
				return
			}
			p.plan = &plan
			p.showTicket(newTicket(built, plan))
		})
	})
}

func (p *newPage) showTicket(t ticket) {
	rows := container.NewVBox()
	for _, l := range t.Lines {
		rows.Add(widgets.NewStatRow(l.Label, l.Value))
	}
	for _, g := range t.Guards {
		rows.Add(widgets.NewBanner(g.Reason, "", "", nil))
	}
	for _, w := range t.Warnings {
		rows.Add(wrapped(w))
	}
	push := widgets.NewPrimary(t.Button, nil, func() { p.push(t) })
	if !t.CanPush {
		push.Disable()
	}
	p.h.Mark("new.push", push)
	rows.Add(push)
	rows.Add(widgets.Caption(lang.L("Held until it ends. Charged: what it really runs.")))
	p.side.Objects = []fyne.CanvasObject{container.NewVScroll(widgets.NewCard(lang.L("This run"), nil, rows))}
	p.side.Refresh()
	p.h.Reload()
}

// push spends: it is only ever reached by pressing the button that names the cost.
func (p *newPage) push(t ticket) {
	if p.plan == nil {
		return
	}
	plan := *p.plan
	plan.Options.Force = len(t.Guards) > 0 && !t.Queue
	plan.Options.QueueIfFull = t.Queue
	p.plan = nil
	p.build.Disable()
	p.busy.start(lang.L("Pushing"), nil)
	p.h.Background(func(ctx context.Context) {
		run, err := p.h.Core().Push(ctx, plan, app.Consent{By: "button"})
		p.h.Do(func() {
			p.busy.finish()
			p.build.Enable()
			p.clearTicket()
			if err != nil {
				p.h.Fail(err)
				return
			}
			p.h.Toast(fmt.Sprintf(lang.L("Pushed %s, version %d."), run.Name, run.Version))
			p.h.OpenRun(run.ID)
		})
	})
}
