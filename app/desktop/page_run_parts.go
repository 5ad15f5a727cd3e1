package desktop

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"sandglass/app"
	"sandglass/widgets"
)

// runOverview is the first tab: the curve and utilisation beside tasks, findings and cost.
type runOverview struct {
	object     fyne.CanvasObject
	curveCard  *widgets.Card
	curves     *widgets.Chart
	aside      *widgets.Text
	util       *widgets.Chart
	utilTitle  *widgets.Text
	utilNote   *widgets.Text
	utilBox    *fyne.Container
	tasks      *fyne.Container
	taskRows   []*taskLine
	tasksAside *widgets.Text
	tasksEmpty *widgets.Text
	findings   *fyne.Container
	findCard   *widgets.Card
	stats      *fyne.Container
	statRows   []*widgets.StatRow
}

func newRunOverview(h host, openCurves func()) *runOverview {
	o := &runOverview{aside: widgets.Caption("").Right(), tasksAside: widgets.Caption("").Right(), utilTitle: widgets.Strong(lang.L("Utilisation")),
		utilNote: widgets.Caption("").Wrapped(), tasks: widgets.VBox(0), findings: widgets.VBox(widgets.Gap12), stats: widgets.VBox(0)}
	o.curves = widgets.NewChart("")
	o.curves.MinHeight, o.curves.Name, o.curves.OnExport = 260, "learning-curves", exporter(h)
	o.util = widgets.NewChart("")
	o.util.MinHeight, o.util.Name, o.util.OnExport = 104, "utilisation", exporter(h)
	o.utilBox = widgets.VBox(widgets.Gap8, o.utilTitle, o.util, o.utilNote)
	o.curveCard = widgets.NewCard(lang.L("Score"), o.aside, container.NewBorder(nil, widgets.Pad(widgets.Gap12, 0, 0, 0, o.utilBox), nil, nil, o.curves))
	o.tasksEmpty = widgets.Muted("").Wrapped()
	taskCard := widgets.NewCard(lang.L("Tasks"), o.tasksAside, widgets.VBox(0, o.tasksEmpty, o.tasks))
	o.findCard = widgets.NewCard(lang.L("Findings"), nil, o.findings)
	statCard := widgets.NewCard(lang.L("Score and cost"), nil, o.stats)
	side := widgets.VBox(widgets.Gap12, taskCard, o.findCard, statCard)
	o.object = scrolled(widgets.Columns(widgets.Gap12, 700, []float32{1.84, 1}, o.curveCard, side))
	return o
}

func (o *runOverview) show(v runView) {
	o.curveCard.Title.Set(v.ChartTitle)
	o.aside.Set(v.ChartAside)
	o.curves.Empty, o.util.Empty = v.CurvesEmpty, v.UtilEmpty
	o.curves.SetData(v.Curves)
	lanes := len(v.Util.Lanes)
	setVisible(o.utilBox, lanes > 0)
	o.util.MinHeight = 36*float32(max(1, min(lanes, 4))) + 32
	o.util.SetData(v.Util)
	o.utilNote.Set(v.UtilNote)
	setVisible(o.utilNote, v.UtilNote != "")
	o.showTasks(v)
	o.findings.RemoveAll()
	for _, f := range v.Findings {
		o.findings.Add(findingObject(f))
	}
	setVisible(o.findCard, len(v.Findings) > 0)
	for len(o.statRows) < len(v.Stats) {
		r := widgets.NewStatRow("", "")
		o.statRows = append(o.statRows, r)
		o.stats.Add(r)
	}
	for i, r := range o.statRows {
		setVisible(r, i < len(v.Stats))
		if i < len(v.Stats) {
			r.Label.Set(v.Stats[i].Label)
			r.Set(v.Stats[i].Value)
		}
	}
}

func (o *runOverview) showTasks(v runView) {
	o.tasksAside.Set(v.TasksAside)
	o.tasksEmpty.Set(lang.L("Each fold of each job gets a line here when the session starts."))
	setVisible(o.tasksEmpty, len(v.Tasks) == 0)
	for len(o.taskRows) < len(v.Tasks) {
		t := newTaskLine()
		o.taskRows = append(o.taskRows, t)
		o.tasks.Add(t.object)
	}
	for i, t := range o.taskRows {
		setVisible(t.object, i < len(v.Tasks))
		if i < len(v.Tasks) {
			t.show(v.Tasks[i], i == len(v.Tasks)-1)
		}
	}
}

// taskLine is one task: name, how far, in words, best score.
type taskLine struct {
	object             *fyne.Container
	name, words, value *widgets.Text
	bar                *widgets.QuotaBar
	rule               *widgets.Hairline
}

func newTaskLine() *taskLine {
	t := &taskLine{name: widgets.Body("").Truncated(), words: widgets.Caption("").Truncated(), value: widgets.Strong("").Right(),
		bar: widgets.NewMeter(0, widgets.ColorGPU), rule: widgets.NewHairline()}
	line := container.New(taskLayout{}, t.name, t.bar, t.words, t.value)
	t.object = widgets.VBox(0, widgets.FixedHeight(widgets.RowHeight-1, line), t.rule)
	return t
}

func (t *taskLine) show(r taskRow, last bool) {
	t.name.Set(r.Name)
	t.words.Set(r.Words)
	t.value.Set(r.Value)
	t.bar.Set(1, widgets.Segment{Value: r.Share, Color: r.Color})
	setVisible(t.rule, !last)
}

// taskLayout gives the words what name, bar and score leave; a narrow line goes without the bar.
type taskLayout struct{}

func (taskLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(180, 20) }

func (taskLayout) Layout(o []fyne.CanvasObject, s fyne.Size) {
	name := min(max(o[0].(*widgets.Text).Width(), 48), s.Width*0.4)
	value := max(o[3].MinSize().Width, 44)
	bar := float32(64)
	if s.Width < 250 {
		bar = 0
	}
	x := float32(0)
	place := func(obj fyne.CanvasObject, w float32) {
		obj.Move(fyne.NewPos(x, 0))
		obj.Resize(fyne.NewSize(w, s.Height))
		if w > 0 {
			x += w + widgets.Gap12
		}
	}
	words := s.Width - name - value - 2*widgets.Gap12
	if bar > 0 {
		words -= bar + widgets.Gap12
	}
	place(o[0], name)
	setVisible(o[1], bar > 0)
	place(o[1], bar)
	place(o[2], max(0, words))
	place(o[3], value)
}

func findingObject(f finding) fyne.CanvasObject {
	words := widgets.VBox(2, widgets.Body(f.Text).Wrapped())
	if f.Detail != "" {
		words.Add(widgets.Caption(f.Detail).Wrapped())
	}
	if f.Fix != "" {
		words.Add(widgets.Caption(f.Fix).Wrapped())
	}
	return container.NewBorder(nil, nil, container.NewVBox(widgets.Pad(3, widgets.Gap8, 0, 0, widgets.NewIcon(f.Icon, f.Color, 14))), nil, words)
}

// scrolled lets a page's content scroll with the bar in the page's margin instead of over its cards.
func scrolled(o fyne.CanvasObject) fyne.CanvasObject {
	return container.New(intoMargin{}, container.NewVScroll(widgets.Pad(0, barRoom, 0, 0, o)))
}

const barRoom = widgets.Gap12

// intoMargin makes its object wider than its own space, by the room of a scroll bar.
type intoMargin struct{}

func (intoMargin) MinSize(o []fyne.CanvasObject) fyne.Size {
	return o[0].MinSize().SubtractWidthHeight(barRoom, 0)
}

func (intoMargin) Layout(o []fyne.CanvasObject, s fyne.Size) {
	o[0].Move(fyne.NewPos(0, 0))
	o[0].Resize(s.AddWidthHeight(barRoom, 0))
}

// noticeStack stacks what is visible, with a gap after each, and takes no room at all when nothing is.
type noticeStack struct{}

func (noticeStack) MinSize(o []fyne.CanvasObject) fyne.Size {
	var s fyne.Size
	for _, x := range o {
		if x.Visible() {
			m := x.MinSize()
			s = fyne.NewSize(max(s.Width, m.Width), s.Height+m.Height+widgets.Gap12)
		}
	}
	return s
}

func (noticeStack) Layout(o []fyne.CanvasObject, s fyne.Size) {
	y := float32(0)
	for _, x := range o {
		if x.Visible() {
			h := x.MinSize().Height
			x.Move(fyne.NewPos(0, y))
			x.Resize(fyne.NewSize(s.Width, h))
			y += h + widgets.Gap12
		}
	}
}

// jobPicker switches between the jobs of a session; it is there only when there is more than one.
type jobPicker struct {
	object *fyne.Container
	pick   *widget.Select
	change func()
}

func newJobPicker(change func()) *jobPicker {
	j := &jobPicker{change: change}
	j.pick = widget.NewSelect(nil, func(string) { j.change() })
	j.object = container.NewStack(j.pick)
	j.object.Hide()
	return j
}

func (j *jobPicker) selected() string { return j.pick.Selected }

func (j *jobPicker) show(jobs []string) {
	setVisible(j.object, len(jobs) > 1)
	j.pick.Options = jobs
	if j.pick.Selected == "" && len(jobs) > 0 {
		j.pick.Selected = jobs[0]
	}
	j.pick.Refresh()
}

// showMenu opens a menu below a button.
func showMenu(m *fyne.Menu, under fyne.CanvasObject) {
	if m == nil {
		return
	}
	c := fyne.CurrentApp().Driver().CanvasForObject(under)
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(under)
	widget.ShowPopUpMenuAtPosition(m, c, at.AddXY(0, under.Size().Height+2))
}

// filesTab lists what the session saved.
type filesTab struct {
	object fyne.CanvasObject
	table  *widgets.Table
	note   *widgets.Text
	head   *fyne.Container
	open   *widgets.Button
	empty  *widgets.EmptyState
	rows   [][]widgets.Cell
	files  []app.FileView
	dir    string
}

func newFilesTab(p *runPage) *filesTab {
	f := &filesTab{note: widgets.Caption("")}
	f.table = widgets.NewTable(fileColumns, func() int { return len(f.rows) }, func(i int) []widgets.Cell { return f.rows[i] })
	f.table.OnOpen = func(i int) {
		if i < len(f.files) {
			p.openPath(f.files[i].Local)
		}
	}
	f.open = widgets.NewButton(lang.L("Open folder"), widgets.IconFolder.Resource(), func() { p.openPath(f.dir) })
	f.empty = widgets.NewEmptyState(widgets.IconFolder, lang.L("No files yet"), "", "", nil)
	card := widgets.NewCard("", nil, container.NewStack(f.table, f.empty))
	card.Tight = true
	f.head = widgets.FixedHeight(30, widgets.Spread(f.note, f.open))
	f.object = widgets.TopAndRest(0, container.New(noticeStack{}, f.head), card)
	p.h.Mark("run.files", f.table)
	return f
}

func (f *filesTab) show(v runView, r app.RunView) {
	f.rows, f.files, f.dir = v.Files, v.FileViews, r.ArtifactsDir
	f.note.Set(v.FilesNote)
	setVisible(f.head, len(f.rows) > 0)
	setVisible(f.open, r.ArtifactsDir != "" && r.Collected)
	setVisible(f.table, len(f.rows) > 0)
	if len(f.rows) > 0 {
		f.empty.Hide()
	} else {
		f.empty.Set(widgets.IconFolder, lang.L("No files yet"), v.FilesEmpty, "", nil)
		f.empty.Show()
	}
	f.table.Refresh()
}

// shippedTab tells what went to Kaggle.
type shippedTab struct {
	object  fyne.CanvasObject
	command *widget.Label
	lines   *fyne.Container
	inputs  *widgets.Text
	table   *widgets.Table
	parts   [][]widgets.Cell
	partBox *fyne.Container
}

func newShippedTab() *shippedTab {
	t := &shippedTab{lines: widgets.VBox(0), inputs: widgets.Body("").Wrapped()}
	t.command = widget.NewLabel("")
	t.command.Wrapping, t.command.Selectable = fyne.TextWrapWord, true
	t.command.TextStyle, t.command.SizeName = fyne.TextStyle{Monospace: true}, widgets.SizeMono
	t.table = widgets.NewTable(partColumns, func() int { return len(t.parts) }, func(i int) []widgets.Cell { return t.parts[i] })
	card := widgets.NewCard("", nil, t.table)
	card.Tight = true
	t.partBox = container.New(&heightOf{t}, card)
	left := widgets.VBox(widgets.Gap12, widgets.NewCard(lang.L("Command"), nil, t.command), widgets.NewCard(lang.L("Kernel"), nil, t.lines))
	right := widgets.VBox(widgets.Gap12, t.partBox, widgets.NewCard(lang.L("Inputs"), nil, t.inputs))
	t.object = scrolled(widgets.Columns(widgets.Gap12, 700, nil, left, right))
	return t
}

func (t *shippedTab) show(v runView, r app.RunView) {
	command := r.Command
	if command == "" {
		command = lang.L("A kernel folder of your own, pushed as it is.")
	}
	if t.command.Text != command {
		t.command.SetText(command)
	}
	t.lines.RemoveAll()
	for i, l := range v.Shipped {
		value := widgets.Body(l.Value).Right().Truncated()
		line := container.NewBorder(nil, nil, widgets.Muted(l.Label), nil, widgets.Pad(0, 0, 0, widgets.Gap12, value))
		t.lines.Add(widgets.FixedHeight(30, line))
		if i < len(v.Shipped)-1 {
			t.lines.Add(widgets.NewHairline())
		}
	}
	inputs := lang.L("none: everything it reads travels in the script")
	for i, in := range v.Inputs {
		if i == 0 {
			inputs = in
		} else {
			inputs += "\n" + in
		}
	}
	t.inputs.Set(inputs)
	t.parts = v.Parts
	setVisible(t.partBox, len(t.parts) > 0)
	t.table.Refresh()
}

// heightOf shows all rows of the parts table without a scroll of its own.
type heightOf struct{ t *shippedTab }

func (l *heightOf) MinSize([]fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(260, widgets.Grown(float32(len(l.t.parts))*widgets.RowHeight+36))
}

func (l *heightOf) Layout(o []fyne.CanvasObject, s fyne.Size) { o[0].Resize(s) }
