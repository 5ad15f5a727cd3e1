package desktop

import (
	"context"
	"fmt"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"

	"sandglass/app"
	"sandglass/widgets"
)

// comparedMost is how many experiments can be held against the baseline at once: as many as the table of folds has room for.
const comparedMost = 5

// experimentsPage lists what the runs of a project measured, holds some of them against the baseline, and shows how truly screens
// rank ideas.
type experimentsPage struct {
	h    host
	root *fyne.Container
	wait *widgets.EmptyState

	before   fyne.CanvasObject // until something is there
	front    fyne.CanvasObject // the list
	head     *widgets.PageHeader
	banner   *widgets.Banner
	bar      fyne.CanvasObject
	search   *entry
	chips    *widgets.FilterChips
	project  *jobPicker
	list     *expList
	empty    *widgets.EmptyState
	says     *widgets.Text
	compare  *widgets.Button
	export   *widgets.Button
	side     *fidelitySide
	fidelity *fidelityPane // the same, over the whole page, where there is no room at the side
	detail   *comparedPane

	all    app.ExperimentsView
	have   bool
	view   experimentsView
	order  expOrder
	opened []string // compared now; nil = the list is shown
	alone  bool     // the screens are shown over the whole page
	keys   bool     // the list is to have the keyboard once it has rows
	state  string   // for a driving script
}

func newExperimentsPage(h host) *experimentsPage {
	p := &experimentsPage{h: h, order: expOrder{key: "newest"}, state: "loading"}
	p.list = newExpList(h)
	p.list.onOpen, p.list.onMark, p.list.onSort, p.list.onSee = p.open, p.mark, p.sort, p.see
	h.Mark("experiments.list", p.list)
	p.compare = widgets.NewButton(lang.L("Compare"), nil, p.openMarked)
	p.compare.Disable()
	p.export = widgets.NewButton(lang.L("Export…"), widgets.IconDownload.Resource(), func() {
		exporter(h)("experiments.csv", experimentsCSV(p.all.Experiments, p.view.Rows))
	})
	h.Mark("experiments.compare", p.compare)
	h.Mark("experiments.export", p.export)
	p.head = widgets.NewPageHeader(lang.L("Experiments"), p.compare, p.export)
	p.banner = widgets.NewBanner("", "", lang.L("Try again"), h.Reload)
	p.banner.Hide()

	p.search = newEntry(h, lang.L("Find an experiment…"))
	p.search.OnChanged = func(string) { p.render() }
	h.Mark("experiments.search", p.search)
	var chips []widgets.Chip
	for _, f := range expFilters {
		chips = append(chips, widgets.Chip{Key: f.key, Text: lang.L(f.label)})
	}
	p.chips = widgets.NewFilterChips(chips...)
	p.chips.OnSelected = func(string) { p.render() }
	for _, f := range expFilters {
		h.Mark("experiments."+f.key, p.chips.Chip(f.key))
	}
	p.project = newJobPicker(func() { p.render() })
	p.bar = container.New(searchAndChips{}, p.search, widgets.HBox(widgets.Gap12, p.chips, p.project.object))

	p.empty = widgets.NewEmptyState(widgets.IconExperiments, "", "", "", nil)
	p.empty.Hide()
	p.says = widgets.Caption("").Wrapped()
	card := widgets.NewCard("", nil, container.NewStack(p.list, p.empty))
	card.Tight = true
	foot := widgets.FixedHeight(34, p.says)
	p.side = newFidelitySide(h, p.showFidelity)
	body := container.New(&listAndSide{p.side}, container.NewBorder(nil, widgets.Pad(widgets.Gap8, 0, 0, widgets.Gap4, foot), nil, nil, card), p.side.card, p.side.line)
	p.front = expFrame(widgets.VBox(widgets.Gap12, p.head, p.banner, p.bar), body)

	p.detail = newComparedPane(p)
	p.fidelity = newFidelityPane(p)
	p.wait = widgets.NewEmptyState(widgets.IconExperiments, lang.L("Reading the experiments…"), lang.L("Scores and learning curves come from this computer's run log."), "", nil)
	p.before = expFrame(widgets.NewPageHeader(lang.L("Experiments")), p.wait)
	p.root = container.NewStack(p.before, p.front, p.detail.object, p.fidelity.object)
	p.layers()
	return p
}

func (p *experimentsPage) Object() fyne.CanvasObject { return p.root }

func (p *experimentsPage) Wants(ev app.Event) bool {
	return ev.Kind == app.EventRun || ev.Kind == app.EventAccount
}

func (p *experimentsPage) Load(ctx context.Context) func() {
	var opened []string
	var project string
	done := make(chan struct{})
	p.h.Do(func() { opened, project = slices.Clone(p.opened), p.view.Project.Dir; close(done) })
	select {
	case <-done:
	case <-ctx.Done():
		return nil
	}
	all, err := p.h.Core().Experiments(ctx, "")
	if err != nil {
		ex := explain(err)
		return func() { p.failed(ex) }
	}
	if opened == nil {
		return func() { p.Update(all) }
	}
	c, err := p.h.Core().Compare(ctx, app.CompareAsk{Names: opened, Project: project})
	return func() {
		p.Update(all)
		if slices.Equal(opened, p.opened) { // the person may have gone back, or on
			p.detail.show(c, err)
		}
	}
}

// Update shows a snapshot.
func (p *experimentsPage) Update(all app.ExperimentsView) {
	p.all, p.have = all, true
	p.banner.Hide()
	p.render()
	p.layers()
	if p.keys && p.h.Window().Canvas().Focused() == nil { // the person may be typing already
		p.focus()
	}
}

// failed says why there is nothing new, over what is there.
func (p *experimentsPage) failed(ex app.Explained) {
	p.state = "failed"
	if p.have {
		p.banner.Set(widgets.ColorBad, ex.Title, ex.Sentence+" "+ex.Action, lang.L("Try again"))
		p.banner.Show()
		return
	}
	p.wait.Set(widgets.IconWarning, ex.Title, ex.Sentence+" "+ex.Action, lang.L("Try again"), p.h.Reload)
}

// layers shows the one part of the page that is open.
func (p *experimentsPage) layers() {
	setVisible(p.before, !p.have)
	setVisible(p.detail.object, p.have && p.opened != nil)
	setVisible(p.fidelity.object, p.have && p.opened == nil && p.alone)
	setVisible(p.front, p.have && p.opened == nil && !p.alone)
	switch {
	case !p.have:
	case p.opened != nil:
		p.state = "compare"
	case p.alone:
		p.state = "fidelity"
	case p.view.First:
		p.state = "empty"
	default:
		p.state = "list"
	}
}

// render words what is here anew, for another search, filter or order.
func (p *experimentsPage) render() {
	if !p.have {
		return
	}
	ask := expAsk{chip: p.chips.Selected(), text: p.search.Text, order: p.order}
	choices := projectChoice(projectDirs(p.all))
	if i := slices.Index(choices, p.project.selected()); i >= 0 {
		ask.project = p.all.Projects[i].Dir
	}
	v := newExperimentsView(p.all, ask)
	p.view = v
	p.project.show(choices)
	p.head.Note.Set(v.Note)
	p.chips.SetCounts(v.Counts)
	for id := range p.list.marked { // what is no longer there cannot be compared
		if !slices.ContainsFunc(p.all.Experiments, func(e app.Experiment) bool { return idOf(e) == id }) {
			delete(p.list.marked, id)
		}
	}
	p.list.show(v, p.order)
	p.side.show(v)
	p.fidelity.show(v)
	p.see(-1)
	p.buttons()
	for _, o := range []fyne.CanvasObject{p.bar, p.compare, p.export} {
		setVisible(o, !v.First)
	}
	setVisible(p.list, v.Title == "")
	if v.Title == "" {
		p.empty.Hide()
	} else {
		icon, action, tapped := widgets.IconSearch, "", func() {}
		if v.First {
			icon, action, tapped = widgets.IconExperiments, lang.L("New run"), func() { p.h.NewRun(0) }
		}
		p.empty.Set(icon, v.Title, v.Empty, action, tapped)
		p.empty.Show()
	}
	p.head.Refresh()
}

func projectDirs(all app.ExperimentsView) []string {
	var dirs []string
	for _, p := range all.Projects {
		dirs = append(dirs, p.Dir)
	}
	return dirs
}

// chosen are the marked experiments of the project, as the list has them; the baseline is in every comparison anyway.
func (p *experimentsPage) chosen() []string {
	var names []string
	for _, e := range p.all.Experiments {
		if p.list.marked[idOf(e)] && e.Project == p.view.Project.Dir && !e.Baseline {
			names = append(names, e.Name)
		}
	}
	return names
}

func (p *experimentsPage) buttons() {
	n := len(p.chosen())
	text := lang.L("Compare")
	if n > 0 {
		text = fmt.Sprintf(lang.L("Compare %d"), n)
	}
	if p.compare.Text != text {
		p.compare.SetText(text)
		p.head.Refresh()
	}
	if n > 0 {
		p.compare.Enable()
	} else {
		p.compare.Disable()
	}
	if len(p.view.Rows) > 0 {
		p.export.Enable()
	} else {
		p.export.Disable()
	}
}

// see tells the row under the keyboard or the pointer in words; -1 says what the list does.
func (p *experimentsPage) see(i int) {
	switch {
	case i >= 0 && i < len(p.view.Rows):
		r := p.view.Rows[i]
		p.says.Set(r.Name + ". " + r.Says)
	case len(p.view.Rows) > 0 && p.view.Project.Baseline == "":
		p.says.Set(lang.L("No baseline yet: open a run and make it the one that the others are held against."))
	case len(p.view.Rows) > 0:
		p.says.Set(lang.L("A bar is the gain with its 95 % interval; left of the line is worse. Mark some to compare them, open one for its folds and curves."))
	default:
		p.says.Set("")
	}
}

func (p *experimentsPage) sort(key string) {
	if p.order.key == key {
		if p.order.turn { // the third time: as it was
			p.order = expOrder{key: "newest"}
		} else {
			p.order.turn = true
		}
	} else {
		p.order = expOrder{key: key}
	}
	p.render()
}

func (p *experimentsPage) mark(id expID) {
	if p.list.marked[id] {
		delete(p.list.marked, id)
	} else {
		p.list.marked[id] = true
	}
	p.list.rows.Refresh()
	p.buttons()
}

// open holds one experiment against the baseline. The baseline itself is a run like any other.
func (p *experimentsPage) open(id expID) {
	for _, r := range p.view.Rows {
		if r.ID == id && r.Baseline {
			p.h.OpenRun(r.Run)
			return
		}
	}
	p.openNames([]string{id.name})
}

func (p *experimentsPage) openMarked() {
	names := p.chosen()
	if len(names) > comparedMost {
		p.h.Toast(fmt.Sprintf(lang.L("At most %d at once: take some marks away."), comparedMost))
		return
	}
	if len(names) > 0 {
		p.openNames(names)
	}
}

func (p *experimentsPage) openNames(names []string) {
	p.opened = names
	p.detail.loading(names)
	p.layers()
	p.h.Window().Canvas().Unfocus()
	p.h.Reload()
}

func (p *experimentsPage) showFidelity() {
	p.alone = true
	p.layers()
}

// close goes back to the list.
func (p *experimentsPage) close() {
	p.opened, p.alone = nil, false
	p.layers()
	p.focus()
}

// escape closes what is open over the list.
func (p *experimentsPage) escape() bool {
	if p.opened == nil && !p.alone {
		return false
	}
	p.close()
	return true
}

// setBaseline makes an experiment the one that the others are held against.
func (p *experimentsPage) setBaseline(name string) {
	project := p.view.Project.Dir
	p.h.Background(func(ctx context.Context) {
		err := p.h.Core().SetBaseline(ctx, project, name)
		p.h.Do(func() {
			if err != nil {
				p.h.Fail(err)
				return
			}
			p.h.Toast(fmt.Sprintf(lang.L("The others are held against %s now."), name))
			p.close()
			p.h.Reload()
		})
	})
}

// promote opens the form with the words of a screen, over all folds.
func (p *experimentsPage) promote(run int64) {
	p.h.Background(func(ctx context.Context) {
		spec, err := p.h.Core().PromoteSpec(ctx, run)
		p.h.Do(func() {
			if err != nil {
				p.h.Fail(err)
				return
			}
			if s, ok := p.h.(interface{ newRunOf(app.BuildSpec) }); ok {
				s.newRunOf(spec)
				return
			}
			p.h.NewRun(run)
		})
	})
}

// focus puts the keyboard where it is of use: on the list.
func (p *experimentsPage) focus() {
	if p.opened == nil && !p.alone && len(p.view.Rows) > 0 {
		p.keys = false
		p.h.Window().Canvas().Focus(p.list.rows)
	}
}

func (p *experimentsPage) Shown() {
	p.keys = true
	p.focus()
}

func (p *experimentsPage) Hidden() {}

// find puts the keyboard into the search box (Ctrl+F).
func (p *experimentsPage) find() {
	p.close()
	p.h.Window().Canvas().Focus(p.search)
}

// status is for a driving script.
func (p *experimentsPage) status() string { return p.state }
