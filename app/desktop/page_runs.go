package desktop

import (
	"context"
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"

	"sandglass/app"
	"sandglass/widgets"
)

// runsView is what the Runs page says, in strings.
type runsView struct {
	Rows    [][]widgets.Cell
	IDs     []int64
	Summary string
	Counts  map[string]string // beside the chips
	Empty   string            // why there are no rows; "" when there are
	First   bool              // there is no run at all yet
}

// runFilters are the chips above the table.
var runFilters = []struct {
	key, label string
	keep       func(r app.RunRow, needsYou bool) bool
	count      bool
}{
	{"all", "All", func(app.RunRow, bool) bool { return true }, false},
	{"flight", "In flight", func(r app.RunRow, _ bool) bool { return !r.Ended }, true},
	{"needs", "Needs you", func(_ app.RunRow, needsYou bool) bool { return needsYou }, true},
	{"gpu", "GPU", func(r app.RunRow, _ bool) bool { return r.Pool == app.PoolGPU }, false},
	{"tpu", "TPU", func(r app.RunRow, _ bool) bool { return r.Pool == app.PoolTPU }, false},
	{"cpu", "CPU", func(r app.RunRow, _ bool) bool { return r.Pool == app.PoolCPU }, false},
}

// newRunsView picks and words the rows. all is what the search left, needs the runs that need the person, chip the chosen filter.
func newRunsView(all []app.RunRow, needs map[int64]bool, chip, search string, now time.Time) runsView {
	v := runsView{First: len(all) == 0 && search == "", Counts: map[string]string{}}
	var gpu, tpu float64
	counts := map[string]int{}
	for _, r := range all {
		switch r.Pool {
		case app.PoolGPU:
			gpu += r.Hours
		case app.PoolTPU:
			tpu += r.Hours
		}
		for _, f := range runFilters {
			if !f.keep(r, needs[r.ID]) {
				continue
			}
			counts[f.key]++
			if f.key == chip {
				v.Rows = append(v.Rows, runCells(r, now))
				v.IDs = append(v.IDs, r.ID)
			}
		}
	}
	for _, f := range runFilters {
		if f.count && counts[f.key] > 0 {
			v.Counts[f.key] = fmt.Sprint(counts[f.key])
		}
	}
	runs := lang.L("%d runs")
	if len(all) == 1 {
		runs = lang.L("%d run")
	}
	v.Summary = fmt.Sprintf(runs+" · %.1f GPU-h · %.1f TPU-h", len(all), gpu, tpu)
	if len(v.Rows) == 0 {
		v.Empty = lang.L("No run matches. Clear the search or choose All.")
		if v.First {
			v.Empty = lang.L("A run is a training script, a cap in hours and an accelerator.")
		}
	}
	return v
}

var runColumns = []widgets.Column{
	{Title: "Run", Width: 140, Weight: 3},
	{Title: "Status", Width: 160, Weight: 1},
	{Title: "Accelerator", Width: 96, Weight: 1, Below: 800},
	{Title: "Cap, h", Width: 62, Right: true, Below: 800},
	{Title: "Burned, h", Width: 74, Right: true},
	{Title: "Score", Width: 96, Weight: 1, Right: true, Below: 560},
	{Title: "Pushed", Width: 100, Weight: 1, Right: true},
}

func runCells(r app.RunRow, now time.Time) []widgets.Cell {
	word, t := statusOf(r)
	status := t.status(word)
	at := r.PushedAt
	if at.IsZero() {
		at = r.CreatedAt
	}
	s := score(r.Score)
	if r.Score != nil && r.Metric != "" {
		s = metricName(r.Metric) + " " + s
	}
	return []widgets.Cell{
		{Text: r.Name, Strong: true}, {Text: word, Status: &status}, {Text: poolLabel(r.Pool), Muted: true},
		{Text: fmt.Sprintf("%.1f", r.CapHours)}, {Text: fmt.Sprintf("%.1f", r.Hours)}, {Text: s}, {Text: when(at, now), Muted: true},
	}
}

// runsPage lists every run of the account.
type runsPage struct {
	h      host
	root   *fyne.Container
	table  *widgets.Table
	chips  *widgets.FilterChips
	search *entry
	head   *widgets.PageHeader
	empty  *widgets.EmptyState
	view   runsView
}

func newRunsPage(h host) *runsPage {
	p := &runsPage{h: h}
	p.table = widgets.NewTable(runColumns, func() int { return len(p.view.Rows) }, func(i int) []widgets.Cell { return p.view.Rows[i] })
	p.table.OnOpen = func(i int) {
		if i >= 0 && i < len(p.view.IDs) {
			h.OpenRun(p.view.IDs[i])
		}
	}
	var chips []widgets.Chip
	for _, f := range runFilters {
		chips = append(chips, widgets.Chip{Key: f.key, Text: lang.L(f.label)})
	}
	p.chips = widgets.NewFilterChips(chips...)
	p.chips.OnSelected = func(string) { h.Reload() }
	for _, f := range runFilters {
		h.Mark("runs."+f.key, p.chips.Chip(f.key))
	}
	p.search = newEntry(h, lang.L("Find a run, a command…"))
	p.search.OnChanged = func(string) { h.Reload() }
	p.empty = widgets.NewEmptyState(widgets.IconRuns, "", "", "", nil)
	p.empty.Hide()
	h.Mark("runs.search", p.search)
	h.Mark("runs.table", p.table)
	collect := widgets.NewButton(lang.L("Collect finished"), widgets.IconDownload.Resource(), p.collectAll)
	h.Mark("runs.collect", collect)
	p.head = widgets.NewPageHeader(lang.L("Runs"), collect)
	bar := container.New(searchAndChips{}, p.search, p.chips)
	card := widgets.NewCard("", nil, container.NewStack(p.table, p.empty))
	card.Tight = true
	p.root = pageFrame(widgets.VBox(widgets.Gap12, p.head, bar), card)
	return p
}

// searchAndChips lets the search box give way to the chips, which have counts in them, and no further than its words need.
type searchAndChips struct{}

const searchLeast, searchMost = 130, 280

func (searchAndChips) MinSize(o []fyne.CanvasObject) fyne.Size {
	s, c := o[0].MinSize(), o[1].MinSize()
	return fyne.NewSize(searchLeast+widgets.Gap12+c.Width, fyne.Max(s.Height, c.Height))
}

func (searchAndChips) Layout(o []fyne.CanvasObject, size fyne.Size) {
	s, c := o[0].MinSize(), o[1].MinSize()
	w := fyne.Max(searchLeast, fyne.Min(searchMost, size.Width-widgets.Gap12-c.Width))
	o[0].Resize(fyne.NewSize(w, s.Height))
	o[0].Move(fyne.NewPos(0, (size.Height-s.Height)/2))
	o[1].Resize(c)
	o[1].Move(fyne.NewPos(w+widgets.Gap12, (size.Height-c.Height)/2))
}

func (p *runsPage) Object() fyne.CanvasObject { return p.root }

func (p *runsPage) Wants(ev app.Event) bool {
	return ev.Kind == app.EventRun || ev.Kind == app.EventAccount
}

func (p *runsPage) Load(ctx context.Context) func() {
	var text, chip string
	done := make(chan struct{})
	p.h.Do(func() { text, chip = p.search.Text, p.chips.Selected(); close(done) })
	select {
	case <-done:
	case <-ctx.Done():
		return nil
	}
	rows, err := p.h.Core().Runs(ctx, app.RunFilter{Text: text})
	if err != nil {
		ex := explain(err)
		return func() { p.show(runsView{Empty: ex.Sentence + " " + ex.Action}) }
	}
	needs := map[int64]bool{}
	waiting, err := p.h.Core().Runs(ctx, app.RunFilter{Text: text, NeedsYou: true})
	if err == nil {
		for _, r := range waiting {
			needs[r.ID] = true
		}
	}
	v := newRunsView(rows, needs, chip, text, time.Now())
	return func() { p.show(v) }
}

func (p *runsPage) show(v runsView) {
	p.view = v
	p.table.Refresh()
	p.chips.SetCounts(v.Counts)
	p.head.Note.Set(v.Summary)
	p.head.Refresh()
	setVisible(p.table, v.Empty == "")
	if v.Empty == "" {
		p.empty.Hide()
		return
	}
	if v.First {
		p.empty.Set(widgets.IconRuns, lang.L("No runs yet"), v.Empty, lang.L("New run"), func() { p.h.NewRun(0) })
	} else {
		p.empty.Set(widgets.IconSearch, lang.L("Nothing here"), v.Empty, "", nil)
	}
	p.empty.Show()
}

func (p *runsPage) Shown() { p.h.Window().Canvas().Focus(p.table.Focusable()) }

func (p *runsPage) Hidden() {}

// find puts the keyboard into the search box (Ctrl+F).
func (p *runsPage) find() { p.h.Window().Canvas().Focus(p.search) }

// collectAll fetches every finished run's files.
func (p *runsPage) collectAll() {
	p.h.Background(func(ctx context.Context) {
		n, err := p.h.Core().CollectFinished(ctx)
		p.h.Do(func() {
			if err != nil {
				p.h.Fail(err)
				return
			}
			p.h.Toast(fmt.Sprintf(lang.L("Collected %d runs."), n))
		})
	})
}
