package desktop

import (
	"context"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"

	"sandglass/app"
	"sandglass/widgets"
)

// planPage is the weeks to the deadline: what can be burned until then and what it is for, what to start now so that nothing
// expires, the launch queue, and the backlog that the plan chooses from.
type planPage struct {
	h      host
	root   *fyne.Container
	head   *widgets.PageHeader
	ready  fyne.CanvasObject
	scroll *container.Scroll
	wait   *widgets.EmptyState

	until    *widgets.FocusButton
	banner   *widgets.Banner
	none     *widgets.Card
	noneSays *widgets.EmptyState
	planned  *fyne.Container // what needs a deadline
	gpu, tpu *planCard
	weeks    *widgets.Card
	legend   *widgets.Legend
	pools    *widgets.FilterChips
	calendar *widgets.Chart
	told     *widgets.Text // the calendar in words
	start    *startCard
	costs    *costCard
	queue    *queueCard
	waits    *widgets.Chart
	waitWord *widgets.Text
	backlog  *backlogCard
	busy     *work

	last  app.PlanView
	have  bool
	doing bool   // what was done last is not shown yet: the rows are about what was before
	state string // for a driving script
	stop  context.CancelFunc
}

func newPlanPage(h host) *planPage {
	p := &planPage{h: h, state: "loading"}
	p.until = widgets.NewFocusButton(lang.L("Deadline…"), nil, p.askDeadline, func() { p.reveal(p.until) })
	refresh := widgets.NewButton(lang.L("Refresh"), widgets.IconRefresh.Resource(), p.refresh)
	h.Mark("plan.deadline", p.until)
	h.Mark("plan.refresh", refresh)
	p.head = widgets.NewPageHeader(lang.L("Plan"), p.until, refresh)

	p.banner = widgets.NewBanner("", "", "", p.refresh)
	p.banner.Hide()
	p.busy = newWork(h)
	p.noneSays = widgets.NewEmptyState(widgets.IconPlan, "", "", lang.L("Set the deadline…"), p.askDeadline)
	h.Mark("plan.first", p.noneSays.Action)
	p.none = widgets.NewCard("", nil, widgets.Pad(widgets.Gap12, 0, widgets.Gap12, 0, p.noneSays))
	p.none.Hide()
	p.gpu, p.tpu = newPlanCard(), newPlanCard()
	p.start, p.costs = newStartCard(p), newCostCard()
	p.queue, p.backlog = newQueueCard(p), newBacklogCard(p)
	p.planned = widgets.VBox(widgets.Gap12, widgets.Columns(widgets.Gap12, 520, nil, p.gpu.card, p.tpu.card), p.weekRow())
	// What is to be done at the left, what it rests on at the right, each as high as it is.
	rest := widgets.Columns(widgets.Gap12, 700, []float32{1.6, 1}, container.New(lastGrows{}, p.start.card, p.queue.card), widgets.VBox(widgets.Gap12, p.costs.card, p.waitCard()))
	body := widgets.VBox(widgets.Gap12, p.busy.box, p.banner, p.none, p.planned, rest, p.backlog.card)
	p.ready = scrolled(body)
	p.scroll = p.ready.(*fyne.Container).Objects[0].(*container.Scroll)
	p.ready.Hide()
	p.wait = widgets.NewEmptyState(widgets.IconPlan, lang.L("Reading the plan…"), lang.L("The run log, the backlog and the last reading of the quota are put together."), "", nil)
	p.root = pageFrame(p.head, container.NewStack(p.wait, p.ready))
	for _, c := range []*widgets.Chart{p.calendar, p.waits} {
		c.OnFocus = func() { p.reveal(c) }
	}
	return p
}

// weekRow is the calendar, with its legend, its pools and the same in words.
func (p *planPage) weekRow() fyne.CanvasObject {
	p.calendar = widgets.NewChart("")
	p.calendar.MinHeight, p.calendar.Name, p.calendar.OnExport = 236, "plan", exporter(p.h)
	p.legend = widgets.NewLegend(
		widgets.LegendItem{Word: lang.L("start now"), Color: widgets.ColorGPU},
		widgets.LegendItem{Word: lang.L("screens"), Color: widgets.ColorAccent, Share: 0.8},
		widgets.LegendItem{Word: lang.L("promotions"), Color: widgets.ColorGPU, Share: 0.55},
		widgets.LegendItem{Word: lang.L("final"), Color: widgets.ColorGood, Share: 0.75},
		widgets.LegendItem{Word: lang.L("slack"), Color: widgets.ColorGood, Share: 0.18},
	)
	p.pools = widgets.NewFilterChips(widgets.Chip{Key: app.PoolGPU, Text: "GPU"}, widgets.Chip{Key: app.PoolTPU, Text: "TPU"})
	p.pools.OnSelected = func(string) { p.render(time.Now()) }
	for _, pool := range []string{app.PoolGPU, app.PoolTPU} {
		p.h.Mark("plan."+pool, p.pools.Chip(pool))
	}
	p.told = widgets.Caption("").Wrapped()
	p.weeks = widgets.NewCard(lang.L("The weeks"), p.pools, widgets.VBox(widgets.Gap4, p.calendar, p.legend, p.told))
	return p.weeks
}

func (p *planPage) waitCard() fyne.CanvasObject {
	p.waits = widgets.NewChart("")
	p.waits.MinHeight, p.waits.Name, p.waits.OnExport = 150, "tpu-waits", exporter(p.h)
	p.waitWord = widgets.Caption("").Wrapped()
	return widgets.NewCard(lang.L("How long a TPU run waits"), nil, widgets.VBox(widgets.Gap4, p.waits, p.waitWord))
}

func (p *planPage) Object() fyne.CanvasObject { return p.root }

func (p *planPage) Wants(ev app.Event) bool {
	switch ev.Kind {
	case app.EventRun, app.EventQuota, app.EventAccount, app.EventNet:
		return true
	}
	return false
}

func (p *planPage) Load(ctx context.Context) func() {
	v, err := p.h.Core().Plan(ctx)
	if err != nil {
		ex := explain(err)
		return func() { p.failed(ex) }
	}
	return func() { p.Update(v, time.Now()) }
}

// Update shows a snapshot.
func (p *planPage) Update(v app.PlanView, now time.Time) {
	p.last, p.have, p.doing = v, true, false
	p.render(now)
	p.wait.Hide()
	p.ready.Show()
}

// failed shows why there is nothing to show; a page that has a snapshot keeps it and says so above it.
func (p *planPage) failed(ex app.Explained) {
	p.state, p.doing = "failed", false
	if p.have {
		p.banner.Set(widgets.ColorBad, ex.Title, ex.Sentence+" "+ex.Action, lang.L("Try again"))
		p.banner.Show()
		return
	}
	p.wait.Set(widgets.IconWarning, ex.Title, ex.Sentence+" "+ex.Action, lang.L("Try again"), p.h.Reload)
}

// status tells a driving script what the page shows.
func (p *planPage) status() string { return p.state }

func (p *planPage) render(now time.Time) {
	if !p.have {
		return
	}
	v := newPlanView(p.last, p.pools.Selected(), now)
	p.head.Note.SetShort(v.Note, v.NoteShort)
	if v.Banner == nil {
		p.banner.Hide()
	} else {
		p.banner.Set(v.Banner.Color, v.Banner.Strong, v.Banner.Text, v.Banner.Action)
		p.banner.Show()
	}
	p.state = "ready"
	setVisible(p.none, v.Empty != nil)
	for _, o := range []fyne.CanvasObject{p.planned, p.start.card, p.costs.card} {
		setVisible(o, v.Empty == nil)
	}
	if hide := v.Empty != nil; hide == p.until.Visible() { // the empty page has the same as its one action
		setVisible(p.until, !hide)
		p.head.Refresh()
	}
	if v.Empty != nil {
		p.state = "empty"
		p.noneSays.Set(widgets.IconPlan, v.Empty.Title, v.Empty.Text, v.Empty.Action, p.askDeadline)
	} else {
		p.gpu.show(v.GPU)
		p.tpu.show(v.TPU)
		color := poolColor(p.pools.Selected())
		p.legend.SetColor(0, color)
		p.legend.SetColor(2, color)
		p.legend.SetShown(v.Kinds...)
		p.calendar.Empty = v.CalendarHint
		p.calendar.SetData(v.Calendar)
		p.told.Set(said(v.Calendar.Describe()))
		setVisible(p.told, !v.Calendar.Empty())
		p.start.show(v)
		p.costs.show(v)
	}
	p.queue.show(v.Queue)
	p.waits.Empty = v.WaitsHint
	p.waits.SetData(v.Waits)
	p.waitWord.Set(said(v.Waits.Describe()))
	setVisible(p.waitWord, !v.Waits.Empty())
	p.backlog.show(v.Backlog)
}

func (p *planPage) refresh() {
	p.h.Background(func(ctx context.Context) {
		p.h.Core().Nudge()
		_, err := p.h.Core().Quota(ctx, true)
		p.h.Do(func() {
			if err != nil {
				p.h.Fail(err)
			}
			p.h.Reload()
		})
	})
}

// act does something in the core off the UI thread and shows what came of it. Until that is shown nothing else is done: a key that
// repeats would be about a row that is gone.
func (p *planPage) act(do func(ctx context.Context, core *app.App) error) {
	if p.doing {
		return
	}
	p.doing = true
	p.h.Background(func(ctx context.Context) {
		err := do(ctx, p.h.Core())
		p.h.Do(func() {
			if err != nil {
				p.h.Fail(err)
			}
			p.h.Reload()
		})
	})
}

// Shown starts the clock of the page: the times that are left are written anew, nothing is asked for.
func (p *planPage) Shown() { p.stop = ticking(p.h, 30*time.Second, p.render) }

func (p *planPage) Hidden() {
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
	p.queue.undo.forget()
	p.backlog.undo.forget()
}

// reveal scrolls the page so that what has the keyboard is seen.
func (p *planPage) reveal(o fyne.CanvasObject) {
	s := p.scroll
	if s == nil || s.Content.MinSize().Height <= s.Size().Height {
		return
	}
	d := fyne.CurrentApp().Driver()
	top := d.AbsolutePositionForObject(o).Y - d.AbsolutePositionForObject(s.Content).Y
	switch {
	case top < s.Offset.Y:
		s.ScrollToOffset(fyne.NewPos(0, fyne.Max(0, top-widgets.Gap24)))
	case top+o.Size().Height > s.Offset.Y+s.Size().Height:
		s.ScrollToOffset(fyne.NewPos(0, top+o.Size().Height-s.Size().Height+widgets.Gap24))
	}
}
