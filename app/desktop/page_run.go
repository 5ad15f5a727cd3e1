package desktop

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"

	"sandglass/app"
	"sandglass/charts"
	"sandglass/widgets"
)

// Tabs of a run's page, in their order.
const (
	tabOverview = iota
	tabCurves
	tabUtil
	tabLog
	tabFiles
	tabShipped
)

// telemetryMark begins the log lines by which a session tells its progress.
const telemetryMark = "::sandglass "

// runPage is everything about one run.
type runPage struct {
	h    host
	id   int64
	root *fyne.Container

	head    *widgets.PageHeader
	banner  *widgets.Banner
	work    *work
	tabs    *widgets.Tabs
	wait    *widgets.EmptyState
	body    *fyne.Container
	collect *widgets.Button
	kaggle  *widgets.Button
	halt    *widgets.Button
	sandbox bool // the account is the sandbox: there is no page to open
	again   *widgets.Button

	overview *runOverview
	curves   *widgets.Chart
	axis     *widgets.FilterChips
	jobs     *jobPicker
	util     *widgets.Chart
	utilNote *widgets.Text
	log      *widgets.LogView
	files    *filesTab
	shipped  *shippedTab

	last   app.RunView
	have   bool
	view   runView
	logEnd atomic.Int64 // number of the next log line to ask for; Load reads it off the UI thread
	stop   context.CancelFunc
}

func newRunPage(h host, id int64) *runPage {
	p := &runPage{h: h, id: id, work: newWork(h)}
	p.collect = widgets.NewButton(lang.L("Collect files"), widgets.IconDownload.Resource(), p.collectFiles)
	p.kaggle = widgets.NewButton(lang.L("Open on Kaggle"), widgets.IconExternal.Resource(), func() { h.OpenURL(p.last.URL) })
	p.again = widgets.NewButton(lang.L("Run again…"), widgets.IconRefresh.Resource(), func() { h.NewRun(p.id) })
	p.halt = widgets.NewButton(lang.L("Stop…"), widgets.IconStop.Resource(), p.stopRun)
	for name, b := range map[string]fyne.CanvasObject{"run.stop": p.halt, "run.collect": p.collect, "run.kaggle": p.kaggle, "run.again": p.again} {
		b.Hide()
		h.Mark(name, b)
	}
	p.head = widgets.NewPageHeader(lang.L("Run"), p.kaggle, p.halt, p.again, p.collect)
	p.head.OnBack = func() { h.Go("runs") }
	p.banner = widgets.NewBanner("", "", "", h.Reload)
	p.banner.Hide()

	p.overview = newRunOverview(h, func() { p.tabs.Select(tabCurves) })
	p.curves = widgets.NewChart("")
	p.curves.Name, p.curves.OnExport, p.curves.MinHeight = "learning-curves", exporter(h), 320
	p.util = widgets.NewChart("")
	p.util.Name, p.util.OnExport, p.util.MinHeight = "utilisation", exporter(h), 200
	p.log = widgets.NewLogView("")
	p.files = newFilesTab(p)
	p.shipped = newShippedTab()
	p.tabs = widgets.NewTabs(
		widgets.Tab{Text: lang.L("Overview"), Content: p.overview.object},
		widgets.Tab{Text: lang.L("Curves"), Content: p.curvesTab()},
		widgets.Tab{Text: lang.L("Utilisation"), Content: p.utilTab()},
		widgets.Tab{Text: lang.L("Log"), Content: widgets.NewCard("", nil, p.log)},
		widgets.Tab{Text: lang.L("Files"), Content: p.files.object},
		widgets.Tab{Text: lang.L("What was shipped"), Content: p.shipped.object})
	h.Mark("run.tabs", p.tabs)
	h.Mark("run.log", p.log)

	p.wait = widgets.NewEmptyState(widgets.IconHourglass, lang.L("Reading the run…"), lang.L("Its state, curves and log come from this computer's run log."), "", nil)
	p.body = widgets.TopAndRest(0, container.New(noticeStack{}, p.work.box, p.banner), p.tabs)
	p.body.Hide()
	p.root = pageFrame(p.head, container.NewStack(p.wait, p.body))
	return p
}

func (p *runPage) curvesTab() fyne.CanvasObject {
	p.axis = widgets.NewFilterChips(widgets.Chip{Key: "frac", Text: lang.L("Fraction")}, widgets.Chip{Key: "epoch", Text: lang.L("Epoch")}, widgets.Chip{Key: "hours", Text: lang.L("Hours")})
	p.axis.OnSelected = func(string) { p.render(time.Now()) }
	p.jobs = newJobPicker(func() { p.render(time.Now()) })
	save := widgets.NewButton(lang.L("Export…"), widgets.IconDownload.Resource(), nil)
	save.OnTapped = func() { showMenu(p.curves.Menu(), save) }
	tools := widgets.Spread(widgets.HBox(widgets.Gap12, p.axis, p.jobs.object), save)
	return widgets.TopAndRest(widgets.Gap12, tools, widgets.NewCard("", nil, p.curves))
}

func (p *runPage) utilTab() fyne.CanvasObject {
	p.utilNote = widgets.Caption("").Wrapped()
	card := widgets.NewCard(lang.L("Utilisation, % of each device"), nil, widgets.VBox(widgets.Gap8, p.util, p.utilNote))
	return scrolled(container.NewVBox(card))
}

func (p *runPage) Object() fyne.CanvasObject { return p.root }

func (p *runPage) Wants(ev app.Event) bool {
	switch ev.Kind {
	case app.EventRun, app.EventCurve, app.EventLog:
		return ev.Run == p.id || ev.Run == 0
	case app.EventNet, app.EventAccount:
		return true
	}
	return false
}

func (p *runPage) Load(ctx context.Context) func() {
	r, err := p.h.Core().Run(ctx, p.id)
	if err != nil {
		ex := explain(err)
		return func() { p.failed(ex) }
	}
	// The last line of each stream may still be growing: those are read again.
	const growing = 2
	from := max(0, int(p.logEnd.Load())-growing)
	lines, total, err := p.h.Core().LogLines(ctx, p.id, max(from, r.LogLines-widgets.LogKeep), widgets.LogKeep)
	if err != nil {
		lines, total = nil, int(p.logEnd.Load()) // the page is worth showing without its log; the next event asks again
	}
	acc, err := p.h.Core().Account(ctx)
	inSandbox := err == nil && acc.Kind == "sandbox"
	return func() {
		p.sandbox = inSandbox
		p.showLog(lines, total)
		p.Update(r, time.Now())
	}
}

func (p *runPage) showLog(lines []app.LogLine, total int) {
	out := make([]widgets.LogLine, len(lines))
	for i, l := range lines {
		out[i] = widgets.LogLine{N: l.N, Text: l.Text, Warn: l.Stream == "stderr", Quiet: strings.HasPrefix(l.Text, telemetryMark)}
	}
	if total < p.log.End() { // the log began anew
		p.log.Replace(out)
	} else {
		p.log.Append(out...)
	}
	p.logEnd.Store(int64(p.log.End()))
}

// Update shows a snapshot.
func (p *runPage) Update(r app.RunView, now time.Time) {
	p.last, p.have = r, true
	p.render(now)
	p.wait.Hide()
	p.body.Show()
}

func (p *runPage) failed(ex app.Explained) {
	if p.have {
		p.banner.Set(widgets.ColorBad, ex.Title, ex.Sentence+" "+ex.Action, lang.L("Try again"))
		p.banner.Show()
		return
	}
	p.wait.Set(widgets.IconWarning, ex.Title, ex.Sentence+" "+ex.Action, lang.L("Try again"), p.h.Reload)
}

func (p *runPage) render(now time.Time) {
	if !p.have {
		return
	}
	axis := charts.ByFraction
	switch p.axis.Selected() {
	case "epoch":
		axis = charts.ByEpoch
	case "hours":
		axis = charts.ByHours
	}
	v := newRunView(p.last, axis, p.jobs.selected(), now)
	p.view = v
	p.head.Title.Set(v.Title)
	p.head.Note.Set(v.Note)
	p.head.SetStatus(v.Status)
	setVisible(p.kaggle, p.last.URL != "" && !p.sandbox)
	setVisible(p.halt, p.last.State == app.StateQueued || p.last.State == app.StateRunning)
	setVisible(p.again, p.last.Ended && p.last.Project != "")
	setVisible(p.collect, v.Collect != "")
	p.head.Refresh()
	if v.Banner == nil {
		p.banner.Hide()
	} else {
		p.banner.Set(v.Banner.Color, v.Banner.Strong, v.Banner.Text, v.Banner.Action)
		p.banner.Show()
	}
	p.overview.show(v)
	p.curves.Empty, p.util.Empty, p.log.Empty = v.CurvesEmpty, v.UtilEmpty, v.LogEmpty
	p.curves.SetData(v.Curves)
	p.jobs.show(v.Jobs)
	p.util.MinHeight = 96*float32(max(1, len(v.Util.Lanes))) + 32
	p.util.SetData(v.Util)
	p.utilNote.Set(v.UtilNote)
	p.log.Refresh()
	p.files.show(v, p.last)
	p.shipped.show(v, p.last)
	p.body.Refresh()
}

// Shown starts the clock of the page: times are written anew from the snapshot that is there.
func (p *runPage) Shown() {
	p.stop = ticking(p.h, 15*time.Second, func(now time.Time) {
		if p.have && !p.last.Ended {
			p.head.Note.Set(runNote(p.last, now))
		}
	})
}

func (p *runPage) Hidden() {
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
}

// find puts the keyboard into the log's search (Ctrl+F).
func (p *runPage) find() {
	p.tabs.Select(tabLog)
	p.h.Window().Canvas().Focus(p.log.Finder())
}

func (p *runPage) collectFiles() {
	ctx, cancel := context.WithCancel(context.Background())
	p.collect.Disable()
	p.work.start(lang.L("Asking Kaggle for the files…"), cancel)
	p.h.Background(func(life context.Context) {
		defer context.AfterFunc(life, cancel)()
		var last time.Time
		got, err := p.h.Core().Collect(ctx, strconv.FormatInt(p.id, 10), app.CollectOptions{}, func(pr app.Progress) {
			if now := time.Now(); now.Sub(last) > 100*time.Millisecond { // never a redraw for each block that arrives
				last = now
				p.h.Do(func() { p.work.step(progressText(pr), pr.Done, pr.Total) })
			}
		})
		stopped := ctx.Err() != nil
		p.h.Do(func() {
			p.work.finish()
			p.collect.Enable()
			switch {
			case err != nil && stopped:
				p.h.Toast(lang.L("Stopped. Complete files are kept; the rest goes on from where it was."))
			case err != nil:
				p.h.Fail(err)
			default:
				p.h.Toast(fmt.Sprintf(lang.L("%d new files in %s"), got.New, got.Dir))
			}
			p.h.Reload()
		})
		cancel()
	})
}

// openPath opens a file or folder with the program the system has for it.
func (p *runPage) openPath(path string) {
	if path == "" {
		return
	}
	p.h.OpenURL((&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String())
}
