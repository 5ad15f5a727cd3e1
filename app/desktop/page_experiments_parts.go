package desktop

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"

	"sandglass/app"
	"sandglass/charts"
	"sandglass/widgets"
)

// fidelitySide is the card beside the list that says how truly screens rank ideas, and the line that stands for it where there is
// no room. Both are there only once an idea has a screen and a full run.
type fidelitySide struct {
	card  *widgets.Card
	chart *widgets.Chart
	truly *widgets.Text
	line  *widgets.TapRow
	short *widgets.Text
	any   bool
}

const screensQuestion = "Do screens rank ideas truly?"

func newFidelitySide(h host, open func()) *fidelitySide {
	s := &fidelitySide{truly: widgets.Body("").Wrapped(), short: widgets.Muted("").Truncated()}
	s.chart = widgets.NewChart("")
	s.chart.Name, s.chart.OnExport, s.chart.MinHeight = "screens", exporter(h), 240
	h.Mark("experiments.fidelity", s.chart)
	s.card = widgets.NewCard(lang.L(screensQuestion), nil, container.NewBorder(nil, widgets.Pad(widgets.Gap8, 0, 0, 0, s.truly), nil, nil, s.chart))
	row := container.NewBorder(nil, nil, widgets.Pad(0, widgets.Gap8, 0, 0, widgets.Strong(lang.L(screensQuestion))), nil, s.short)
	s.line = widgets.NewTapRow(widgets.Pad(widgets.Gap8, widgets.Gap12, widgets.Gap8, widgets.Gap12, row), open)
	h.Mark("experiments.screens-line", s.line)
	return s
}

func (s *fidelitySide) show(v experimentsView) {
	s.any = v.Truly != ""
	if s.any {
		s.chart.SetData(v.Fidelity)
	}
	s.truly.Set(v.Truly)
	s.short.Set(v.Truly)
	s.card.Refresh()
}

// listAndSide gives the card its place at the right of wide space, and the line its place below the list of narrow space.
type listAndSide struct{ side *fidelitySide }

const sideFrom, sideLeast, sideMost float32 = 860, 300, 420

func (l *listAndSide) MinSize(o []fyne.CanvasObject) fyne.Size {
	m := o[0].MinSize()
	return fyne.NewSize(max(m.Width, 300), m.Height+o[2].MinSize().Height)
}

func (l *listAndSide) Layout(o []fyne.CanvasObject, s fyne.Size) {
	list, card, line := o[0], o[1], o[2]
	wide := s.Width >= sideFrom
	setVisible(card, l.side.any && wide)
	setVisible(line, l.side.any && !wide)
	w, h := s.Width, s.Height
	if card.Visible() {
		side := min(sideMost, max(sideLeast, s.Width*0.34))
		w -= side + widgets.Gap12
		card.Move(fyne.NewPos(w+widgets.Gap12, 0))
		card.Resize(fyne.NewSize(side, min(s.Height, max(360, card.MinSize().Height))))
	}
	if line.Visible() {
		lh := line.MinSize().Height
		h -= lh
		line.Move(fyne.NewPos(0, h))
		line.Resize(fyne.NewSize(s.Width, lh))
	}
	list.Move(fyne.NewPos(0, 0))
	list.Resize(fyne.NewSize(w, h))
}

// fidelityPane is the same chart over the whole page.
type fidelityPane struct {
	object fyne.CanvasObject
	chart  *widgets.Chart
	truly  *widgets.Text
	head   *widgets.PageHeader
}

func newFidelityPane(p *experimentsPage) *fidelityPane {
	f := &fidelityPane{truly: widgets.Body("").Wrapped()}
	f.chart = widgets.NewChart("")
	f.chart.Name, f.chart.OnExport, f.chart.MinHeight = "screens", exporter(p.h), 240
	save := widgets.NewButton(lang.L("Export…"), widgets.IconDownload.Resource(), nil)
	save.OnTapped = func() { showMenu(f.chart.Menu(), save) }
	f.head = widgets.NewPageHeader(lang.L(screensQuestion), save)
	f.head.OnBack = p.close
	card := widgets.NewCard("", nil, container.NewBorder(nil, widgets.Pad(widgets.Gap12, 0, 0, 0, f.truly), nil, nil, f.chart))
	f.object = expFrame(f.head, card)
	return f
}

func (f *fidelityPane) show(v experimentsView) {
	if v.Truly != "" {
		f.chart.SetData(v.Fidelity)
	}
	f.truly.Set(v.Truly)
	f.head.Note.Set(v.Note)
}

// comparedPane is some experiments beside the baseline: what they came to in words, their curves, their scores fold by fold.
type comparedPane struct {
	p      *experimentsPage
	object fyne.CanvasObject
	head   *widgets.PageHeader
	wait   *widgets.EmptyState
	body   fyne.CanvasObject
	words  *fyne.Container
	chart  *widgets.Chart
	pick   *jobPicker
	axis   *widgets.FilterChips
	table  *fyne.Container

	promote, baseline, run, export *widgets.Button

	got  app.Compared
	have bool
	view comparedView
}

func newComparedPane(p *experimentsPage) *comparedPane {
	d := &comparedPane{p: p}
	d.promote = widgets.NewButton(lang.L("Run in full…"), nil, func() { p.promote(d.one().Run) })
	d.baseline = widgets.NewButton(lang.L("Set as baseline"), nil, func() { p.setBaseline(d.one().Name) })
	d.run = widgets.NewButton(lang.L("Open run"), nil, func() { p.h.OpenRun(d.one().Run) })
	d.export = widgets.NewButton(lang.L("Export…"), widgets.IconDownload.Resource(), func() { exporter(p.h)("comparison.csv", comparedCSV(d.got)) })
	for name, b := range map[string]fyne.CanvasObject{"promote": d.promote, "baseline": d.baseline, "run": d.run, "csv": d.export} {
		p.h.Mark("compare."+name, b)
	}
	d.head = widgets.NewPageHeader("", d.promote, d.baseline, d.run, d.export)
	d.head.OnBack = p.close
	d.words = widgets.VBox(widgets.Gap12)
	d.chart = widgets.NewChart("")
	d.chart.Name, d.chart.OnExport, d.chart.MinHeight = "curves", exporter(p.h), 280
	d.chart.Empty = lang.L("No learning curves: the scripts report no epochs (docs/scripts.md).")
	d.pick = newJobPicker(d.render)
	d.axis = widgets.NewFilterChips(widgets.Chip{Key: "frac", Text: lang.L("Fraction")}, widgets.Chip{Key: "epoch", Text: lang.L("Epoch")}, widgets.Chip{Key: "hours", Text: lang.L("Hours")})
	d.axis.OnSelected = func(string) { d.render() }
	d.table = container.NewStack()
	curves := widgets.NewCard(lang.L("Learning curves"), widgets.HBox(widgets.Gap12, d.pick.object, d.axis), d.chart)
	folds := widgets.NewCard(lang.L("Fold by fold"), nil, d.table)
	folds.Tight = true
	d.body = scrolled(widgets.VBox(widgets.Gap12, widgets.NewCard("", nil, d.words), container.New(&curvesAndFolds{pane: d}, curves, folds)))
	d.wait = widgets.NewEmptyState(widgets.IconExperiments, "", "", "", nil)
	d.object = expFrame(d.head, container.NewStack(d.wait, d.body))
	d.object.Hide()
	return d
}

// curvesAndFolds sets the curves and the table side by side where both have room, else the table below. stacked is what the last
// layout found, since a container is asked for its least height without its width.
type curvesAndFolds struct {
	pane    *comparedPane
	stacked bool
}

const curvesLeast float32 = 440

// folds is how wide the table has to be to show every figure.
func (l *curvesAndFolds) folds() float32 {
	w := 2*widgets.Gap12 + widgets.Gap16*float32(len(l.pane.view.Columns))
	for _, c := range l.pane.view.Columns {
		w += c.Width
	}
	return w
}

func (l *curvesAndFolds) MinSize(o []fyne.CanvasObject) fyne.Size {
	a, b := o[0].MinSize(), o[1].MinSize()
	if l.stacked {
		return fyne.NewSize(max(a.Width, b.Width), a.Height+widgets.Gap12+b.Height)
	}
	return fyne.NewSize(max(a.Width, b.Width), max(a.Height, b.Height))
}

func (l *curvesAndFolds) Layout(o []fyne.CanvasObject, s fyne.Size) {
	folds := max(l.folds(), s.Width*0.42)
	l.stacked = s.Width < folds+widgets.Gap12+curvesLeast
	curves, table := fyne.NewSize(s.Width-folds-widgets.Gap12, s.Height), fyne.NewSize(folds, s.Height)
	at := fyne.NewPos(curves.Width+widgets.Gap12, 0)
	if l.stacked {
		h := o[1].MinSize().Height
		curves, table = fyne.NewSize(s.Width, max(o[0].MinSize().Height, s.Height-h-widgets.Gap12)), fyne.NewSize(s.Width, h)
		at = fyne.NewPos(0, curves.Height+widgets.Gap12)
	}
	o[0].Move(fyne.NewPos(0, 0))
	o[0].Resize(curves)
	o[1].Move(at)
	o[1].Resize(table)
}

// expFrame is a page's frame whose head comes before its body for the Tab key too.
func expFrame(head, body fyne.CanvasObject) *fyne.Container {
	return widgets.Pad(widgets.Gap16, widgets.Gap24, widgets.Gap16, widgets.Gap24, widgets.TopAndRest(widgets.Gap12, head, body))
}

// loading is shown until the core has answered.
func (d *comparedPane) loading(names []string) {
	d.have, d.got = false, app.Compared{}
	d.head.Title.Set(names[0])
	d.head.Note.Set("")
	d.wait.Set(widgets.IconExperiments, lang.L("Comparing…"), lang.L("Scores and curves are put side by side, fold by fold."), "", nil)
	d.layers()
}

// one is the first experiment that is not only held against.
func (d *comparedPane) one() app.Experiment { return d.got.Sides[d.got.Bases] }

func (d *comparedPane) layers() {
	setVisible(d.wait, !d.have)
	setVisible(d.body, d.have)
	one := d.have && d.view.Alone
	setVisible(d.promote, one && d.one().Kind == app.KindScreen && d.one().Newest.Origin == "push")
	setVisible(d.baseline, one && d.one().Kind == app.KindFull)
	setVisible(d.run, one)
	setVisible(d.export, d.have)
	d.head.Refresh()
}

// show shows a comparison, or why there is none.
func (d *comparedPane) show(c app.Compared, err error) {
	if err != nil {
		d.have = false
		ex := explain(err)
		title, action, tapped := lang.L("Not compared"), "", func() {}
		if name := d.p.opened[0]; len(d.p.opened) == 1 && d.p.view.Project.Baseline == "" {
			title, ex.Sentence, ex.Action = lang.L("No baseline yet"), lang.L("The others of the project are held against one of them."), ""
			action, tapped = lang.L("Make this one the baseline"), func() { d.p.setBaseline(name) }
		}
		d.wait.Set(widgets.IconWarning, title, ex.Sentence+" "+ex.Action, action, tapped)
		d.layers()
		return
	}
	d.got, d.have = c, true
	d.render()
	d.layers()
}

func (d *comparedPane) render() {
	if !d.have {
		return
	}
	axis := charts.ByFraction
	switch d.axis.Selected() {
	case "epoch":
		axis = charts.ByEpoch
	case "hours":
		axis = charts.ByHours
	}
	v := newComparedView(d.got, axis)
	d.view = v
	d.head.Title.Set(v.Title)
	d.head.Note.Set(v.Note)
	d.words.Objects = nil
	for _, l := range v.Pairs {
		badge := widgets.NewBadge(l.Status)
		line := container.NewBorder(nil, nil, widgets.AtLeast(150, 0, container.NewVBox(badge)), nil, widgets.VBox(2, widgets.Strong(l.Name), wrapped(l.Text)))
		d.words.Add(line)
	}
	at := slices.Index(v.Names, d.pick.selected())
	if at < 0 {
		at = 0
		d.pick.pick.Selected = v.Names[0]
	}
	d.pick.show(v.Names)
	d.chart.SetData(v.Curves[at])
	table := widgets.NewTable(v.Columns, func() int { return len(d.view.Rows) }, func(i int) []widgets.Cell { return d.view.Rows[i] })
	d.table.Objects = []fyne.CanvasObject{widgets.AtLeast(0, 36+widgets.RowHeight*float32(len(v.Rows)), table)}
	d.table.Refresh()
	d.words.Refresh()
	d.body.Refresh()
}

// comparedCSV writes each fold's scores and gains.
func comparedCSV(c app.Compared) func(w io.Writer) error {
	return func(w io.Writer) error {
		head := []string{"fold"}
		for _, s := range c.Sides {
			head = append(head, s.Name)
		}
		for _, p := range c.Pairs {
			head = append(head, "gain of "+p.Name+" over "+p.Against)
		}
		rows := [][]string{head}
		for _, f := range c.Folds {
			line := []string{strconv.Itoa(f.Fold)}
			for _, s := range f.Scores {
				line = append(line, plainNumber(s))
			}
			for _, p := range c.Pairs {
				cell := ""
				if p.Gain != nil {
					if i := slices.IndexFunc(p.Gain.Folds, func(g app.FoldGain) bool { return g.Fold == f.Fold }); i >= 0 {
						cell = plainNumber(&p.Gain.Folds[i].Gain)
					}
				}
				line = append(line, cell)
			}
			rows = append(rows, line)
		}
		return csv.NewWriter(w).WriteAll(rows)
	}
}
