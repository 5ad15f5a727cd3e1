package desktop

import (
	"context"
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"

	"sandglass/app"
	"sandglass/charts"
	"sandglass/widgets"
)

// weekPage is the home page: the hours left, what is running, what to do next.
type weekPage struct {
	h     host
	root  *fyne.Container
	ready fyne.CanvasObject
	wait  *widgets.EmptyState

	gpu, tpu  *quotaCard
	banner    *widgets.Banner
	burnCard  *widgets.Card
	legend    *widgets.Legend
	burn      *widgets.Chart
	pace      *widgets.Chart
	pools     *widgets.FilterChips
	flights   *fyne.Container
	idle      *fyne.Container
	idleWords *widgets.Text
	needs     *fyne.Container
	needsCard *widgets.Card
	queued    *weekQueue
	rows      []*flightRow

	last  app.WeekView
	queue app.QueueView
	have  bool
	stop  context.CancelFunc
}

func newWeekPage(h host) *weekPage {
	p := &weekPage{h: h, gpu: newQuotaCard(), tpu: newQuotaCard()}
	refresh := widgets.NewButton(lang.L("Refresh"), widgets.IconRefresh.Resource(), p.refresh)
	h.Mark("week.refresh", refresh)
	head := widgets.NewPageHeader(lang.L("This week"), refresh)

	p.banner = widgets.NewBanner("", "", "", p.bannerTapped)
	p.banner.Hide()
	quota := widgets.Columns(widgets.Gap12, 520, nil, p.gpu.card, p.tpu.card)
	body := widgets.VBox(widgets.Gap12, quota, p.banner, p.chartRow(), p.runRow())
	p.ready = scrolled(body)
	p.ready.Hide()
	p.wait = widgets.NewEmptyState(widgets.IconHourglass, lang.L("Reading the week…"), lang.L("The run log is opened and Kaggle is asked for the quota."), "", nil)
	p.root = pageFrame(head, container.NewStack(p.wait, p.ready))
	return p
}

func (p *weekPage) chartRow() fyne.CanvasObject {
	p.burn = widgets.NewChart(lang.L("Each week becomes a bar here: hours kept, failed, killed by a cap, and burned elsewhere. The first run adds the first one."))
	p.pace = widgets.NewChart(lang.L("The week's burn is drawn here once the quota has been read."))
	p.burn.MinHeight, p.pace.MinHeight = 168, 168
	p.burn.Name, p.pace.Name = "weekly-burn", "this-week"
	p.burn.OnExport, p.pace.OnExport = exporter(p.h), exporter(p.h)
	p.pools = widgets.NewFilterChips(widgets.Chip{Key: app.PoolGPU, Text: "GPU"}, widgets.Chip{Key: app.PoolTPU, Text: "TPU"})
	p.pools.OnSelected = func(string) { p.render(time.Now()) }
	p.legend = newLegend()
	p.burnCard = widgets.NewCard(lang.L("By week"), p.legend, p.burn)
	pace := widgets.NewCard(lang.L("Burned so far"), p.pools, p.pace)
	return widgets.Columns(widgets.Gap12, 620, nil, p.burnCard, pace)
}

func (p *weekPage) runRow() fyne.CanvasObject {
	p.flights, p.needs = widgets.VBox(0), widgets.VBox(0)
	p.idleWords = widgets.Muted("").Wrapped()
	start := widgets.NewButton(lang.L("New run"), widgets.IconPlus.Resource(), func() { p.h.NewRun(0) })
	p.idle = widgets.VBox(widgets.Gap12, p.idleWords, widgets.HBox(0, start))
	flying := widgets.NewCard(lang.L("In flight"), nil, widgets.VBox(0, p.idle, p.flights))
	p.needsCard = widgets.NewCard(lang.L("Needs you"), nil, p.needs)
	p.needsCard.Hide()
	p.queued = newWeekQueue(p.h)
	return widgets.Columns(widgets.Gap12, 620, []float32{1.42, 1}, flying, container.New(lastGrows{}, p.needsCard, p.queued.card))
}

func (p *weekPage) Object() fyne.CanvasObject { return p.root }

func (p *weekPage) Wants(ev app.Event) bool {
	switch ev.Kind {
	case app.EventRun, app.EventCurve, app.EventQuota, app.EventAccount, app.EventNet:
		return true
	}
	return false
}

func (p *weekPage) Load(ctx context.Context) func() {
	w, err := p.h.Core().Week(ctx)
	if err != nil {
		ex := explain(err)
		return func() { p.failed(ex) }
	}
	q, err := p.h.Core().LaunchQueue(ctx)
	if err != nil {
		ex := explain(err)
		return func() { p.failed(ex) }
	}
	return func() {
		p.queue = q
		p.Update(w, time.Now())
	}
}

// Update shows a snapshot.
func (p *weekPage) Update(w app.WeekView, now time.Time) {
	p.last, p.have = w, true
	p.render(now)
	p.wait.Hide()
	p.ready.Show()
}

// failed shows why there is nothing to show; a page that has a snapshot keeps it and says so above it.
func (p *weekPage) failed(ex app.Explained) {
	if p.have {
		p.banner.Set(widgets.ColorBad, ex.Title, ex.Sentence+" "+ex.Action, lang.L("Try again"))
		p.banner.Show()
		return
	}
	p.wait.Set(widgets.IconWarning, ex.Title, ex.Sentence+" "+ex.Action, lang.L("Try again"), p.h.Reload)
}

func (p *weekPage) render(now time.Time) {
	if !p.have {
		return
	}
	v := newWeekView(p.last, p.queue, p.pools.Selected(), now)
	p.gpu.show(v.GPU)
	p.tpu.show(v.TPU)
	if v.Banner == nil {
		p.banner.Hide()
	} else {
		p.banner.Set(v.Banner.Color, v.Banner.Strong, v.Banner.Text, v.Banner.Action)
		p.banner.Show()
	}
	p.legend.SetColor(0, poolColor(v.Pool))
	p.legend.SetShown(v.parts()...)
	p.burn.SetData(v.Burn)
	p.pace.SetData(v.Pace)
	p.showFlights(v)
	p.showNeeds(v)
	p.queued.show(v.Queue)
}

func (p *weekPage) showFlights(v weekView) {
	p.idleWords.Set(v.Idle)
	setVisible(p.idle, len(v.InFlight) == 0)
	for len(p.rows) < len(v.InFlight) {
		r := newFlightRow(p.h.OpenRun)
		p.rows = append(p.rows, r)
		p.flights.Add(r.object)
		p.h.Mark(fmt.Sprintf("week.flight%d", len(p.rows)-1), r.row)
	}
	for i, r := range p.rows {
		setVisible(r.object, i < len(v.InFlight))
		if i < len(v.InFlight) {
			r.show(v.InFlight[i], i == len(v.InFlight)-1)
		}
	}
}

// showNeeds fills the card of what needs the person, which stands before what waits by itself.
func (p *weekPage) showNeeds(v weekView) {
	setVisible(p.needsCard, len(v.NeedsYou) > 0)
	p.needs.RemoveAll()
	const most = 4
	for i, r := range v.NeedsYou {
		if i == most {
			p.needs.Add(widgets.Pad(widgets.Gap8, 0, 0, 0, widgets.NewButton(fmt.Sprintf(lang.L("%d more"), len(v.NeedsYou)-most), nil, func() { p.h.Go("runs") })))
			break
		}
		p.needs.Add(nextObject(r, p.h.OpenRun, i == len(v.NeedsYou)-1 || i == most-1))
	}
}

func (p *weekPage) refresh() {
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

func (p *weekPage) bannerTapped() {
	if p.banner.Action.Text == lang.L("New run") {
		p.h.NewRun(0)
		return
	}
	p.refresh()
}

// Shown starts the clock of the page: ages and waits are written anew from the snapshot that is there, nothing is asked for.
func (p *weekPage) Shown() { p.stop = ticking(p.h, 15*time.Second, p.render) }

func (p *weekPage) Hidden() {
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
}

// ticking calls f on the UI thread every so often until it is stopped.
func ticking(h host, every time.Duration, f func(now time.Time)) context.CancelFunc {
	ctx, stop := context.WithCancel(context.Background())
	h.Background(func(life context.Context) {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-life.Done():
				return
			case now := <-tick.C:
				h.Do(func() {
					if ctx.Err() == nil {
						f(now)
					}
				})
			}
		}
	})
	return stop
}

// quotaCard shows one pool.
type quotaCard struct {
	card                       *widgets.Card
	title, reset, number, unit *widgets.Text
	note                       *widgets.Text
	bar                        *widgets.QuotaBar
}

func newQuotaCard() *quotaCard {
	c := &quotaCard{
		title: widgets.Strong(""), reset: widgets.Caption("").Right().Truncated(), unit: widgets.Muted(""), note: widgets.Caption("").Truncated(),
		number: widgets.NewText("", "", widgets.SizeNumber, fyne.TextStyle{Bold: true}), bar: widgets.NewQuotaBar(),
	}
	line := container.NewBorder(nil, nil, c.title, nil, widgets.Pad(0, 0, 0, widgets.Gap12, c.reset))
	number := container.New(baseline{}, c.number, c.unit)
	c.card = widgets.NewCard("", nil, widgets.VBox(widgets.Gap4, line, number, c.bar, widgets.Pad(widgets.Gap4, 0, 0, 0, c.note)))
	return c
}

func (c *quotaCard) show(v poolCard) {
	c.title.SetColor(v.Color)
	c.title.Set(v.Title)
	c.reset.SetShort(v.Reset, v.ResetShort)
	c.number.Set(v.Number)
	c.unit.Set(v.Unit)
	c.note.Set(v.Note)
	c.bar.Set(v.Total, widgets.Segment{Value: v.Used, Color: v.Color}, widgets.Segment{Value: v.Held, Color: v.Color, Share: 0.35})
}

// baseline sets a big number and the words after it on one line of writing.
type baseline struct{}

func (baseline) MinSize(o []fyne.CanvasObject) fyne.Size {
	a, b := o[0].MinSize(), o[1].MinSize()
	return fyne.NewSize(a.Width+6+b.Width, a.Height-6)
}

func (baseline) Layout(o []fyne.CanvasObject, s fyne.Size) {
	a, b := o[0].MinSize(), o[1].MinSize()
	o[0].Move(fyne.NewPos(0, -3))
	o[0].Resize(a)
	o[1].Move(fyne.NewPos(a.Width+6, -3+a.Height-b.Height-a.Height*0.11))
	o[1].Resize(fyne.NewSize(max(0, s.Width-a.Width-6), b.Height))
}

// flightRow is one run in flight.
type flightRow struct {
	object                  *fyne.Container
	row                     *widgets.TapRow
	rule                    *widgets.Hairline
	name, what, time, until *widgets.Text
	util                    *widgets.Text
	badge                   *widgets.Badge
	spark                   *widgets.Chart
	id                      int64
}

func newFlightRow(open func(int64)) *flightRow {
	r := &flightRow{
		name: widgets.Strong("").Truncated(), what: widgets.Caption("").Truncated(), time: widgets.Muted("").Truncated(), until: widgets.Caption("").Truncated(),
		util: widgets.Caption("").Right().Truncated(), badge: widgets.NewBadge(widgets.Status{}), rule: widgets.NewHairline(),
	}
	r.spark = widgets.NewChart("")
	r.spark.Plain, r.spark.MinHeight = true, 20
	left := widgets.VBox(2, r.name, r.what)
	middle := widgets.VBox(2, r.time, r.until)
	right := widgets.VBox(2, r.spark, r.util)
	line := container.New(flightLayout{}, left, r.badge, middle, right)
	r.row = widgets.NewTapRow(widgets.Pad(widgets.Gap8, widgets.Gap8, widgets.Gap8, widgets.Gap8, line), func() { open(r.id) })
	r.object = widgets.VBox(0, r.row, r.rule)
	return r
}

func (r *flightRow) show(f flight, last bool) {
	r.id = f.ID
	r.name.Set(f.Name)
	r.what.SetShort(f.What, f.WhatShort)
	r.time.SetShort(f.Time, f.TimeShort)
	r.until.Set(f.Until)
	r.util.Set(f.UtilText)
	r.badge.Set(f.Status)
	setVisible(r.rule, !last)
	setVisible(r.spark, len(f.Util) > 1)
	if len(f.Util) > 1 {
		r.spark.SetData(charts.Sparkline{Ink: poolInk(f.Pool), Name: lang.L("utilisation"), Values: f.Util, Hi: 100})
	}
}

// flightLayout is the columns of a run in flight: name, badge, time, utilisation; the last one gives way first.
type flightLayout struct{}

func (flightLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	h := float32(0)
	for _, x := range o {
		h = max(h, x.MinSize().Height)
	}
	return fyne.NewSize(260, h)
}

func (flightLayout) Layout(o []fyne.CanvasObject, s fyne.Size) {
	badge := max(o[1].MinSize().Width, 96) // the same in every row, so that the columns stand below each other
	gap := widgets.Gap12
	utilWidth := float32(130)
	if s.Width < 480 {
		utilWidth = 0
	}
	room := s.Width - badge - 2*gap
	if utilWidth > 0 {
		room -= utilWidth + gap
	}
	widths := []float32{room * 0.45, badge, room * 0.55, utilWidth}
	x := float32(0)
	for i, obj := range o {
		if widths[i] == 0 {
			obj.Resize(fyne.NewSize(0, 0))
			obj.Hide()
			continue
		}
		obj.Show()
		h := obj.MinSize().Height
		obj.Resize(fyne.NewSize(widths[i], h))
		obj.Move(fyne.NewPos(x, (s.Height-h)/2))
		x += widths[i] + gap
	}
}

// nextObject is one row of the card beside.
func nextObject(r nextRow, open func(int64), last bool) fyne.CanvasObject {
	left := widgets.VBox(2, widgets.Strong(r.Name).Truncated(), widgets.Caption(r.What).Truncated())
	why := widgets.Caption(r.Why).Right().Wrapped()
	line := container.New(nextLayout{}, left, why)
	row := widgets.NewTapRow(widgets.Pad(widgets.Gap8, widgets.Gap8, widgets.Gap8, widgets.Gap8, line), func() { open(r.ID) })
	if last {
		return row
	}
	return widgets.VBox(0, row, widgets.NewHairline())
}

// nextLayout shares a line between what waits and why.
type nextLayout struct{}

func (nextLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(160, max(o[0].MinSize().Height, o[1].MinSize().Height))
}

func (nextLayout) Layout(o []fyne.CanvasObject, s fyne.Size) {
	half := (s.Width - widgets.Gap12) / 2
	o[0].Resize(fyne.NewSize(half, o[0].MinSize().Height))
	o[1].Resize(fyne.NewSize(half, o[1].MinSize().Height))
	o[0].Move(fyne.NewPos(0, (s.Height-o[0].MinSize().Height)/2))
	o[1].Move(fyne.NewPos(half+widgets.Gap12, (s.Height-o[1].MinSize().Height)/2))
}

// newLegend names the parts of the burn chart's bars.
func newLegend() *widgets.Legend {
	return widgets.NewLegend(
		widgets.LegendItem{Word: lang.L("kept"), Color: widgets.ColorGPU},
		widgets.LegendItem{Word: lang.L("failed"), Color: widgets.ColorBad, Share: 0.8},
		widgets.LegendItem{Word: lang.L("killed"), Color: widgets.ColorWarning, Share: 0.8},
		widgets.LegendItem{Word: lang.L("elsewhere"), Color: widgets.ColorMuted, Share: 0.6},
	)
}
