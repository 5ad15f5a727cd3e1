package desktop

import (
	"context"
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/storage"

	"sandglass/app"
	"sandglass/widgets"
)

// projectPane is the first step: which folder, under which name, with which command.
type projectPane struct {
	p    *newPage
	root *fyne.Container

	projects []app.Project
	left     *app.Draft // a wizard left half-way, until the person says what is to become of it
	picks    []*projectPick
	known    *fyne.Container
	knownBox *widgets.Card

	leftBox   *fyne.Container
	leftWords *widgets.Text
	goOn      *widgets.Button

	project, name, command   *entry
	folds, baseline, include *entry
	hint                     map[field]*hint
	showHints                bool
	goOnThen                 bool // the person wanted to go on while the folder was still being read
	folder                   *widgets.Text
}

// projectPick is a known project in the list.
type projectPick struct {
	choice           *widgets.Choice
	name, path, last *widgets.Text
	dir              string
}

const projectsShown = 4

func newProjectPane(p *newPage) *projectPane {
	c := &projectPane{p: p, hint: map[field]*hint{}}
	c.project = c.field("new.project", lang.L("/home/me/leaf-disease"), func(f *newForm) *string { return &f.Project })
	typed := c.project.OnChanged
	c.project.OnChanged = func(s string) { typed(s); c.lookSoon() }
	c.name = c.field("new.name", "cnx384", func(f *newForm) *string { return &f.Name })
	c.command = c.field("new.command", "python src/train.py --name cnx384 --folds {fold}", func(f *newForm) *string { return &f.Command })
	c.folds = c.field("new.folds", lang.L("all of data/folds.csv"), func(f *newForm) *string { return &f.Folds })
	c.baseline = c.field("new.baseline", lang.L("none"), func(f *newForm) *string { return &f.Baseline })
	c.include = c.field("new.include", "src", func(f *newForm) *string { return &f.Include })
	browse := widgets.NewButton(lang.L("Browse…"), nil, c.browse)
	p.h.Mark("new.browse", browse)

	c.leftWords = wrapped("")
	c.goOn = widgets.NewButton(lang.L("Continue where you left off"), nil, func() { p.resume(*c.left) })
	over := widgets.NewButton(lang.L("Start over"), nil, p.startOver)
	p.h.Mark("new.resume", c.goOn)
	p.h.Mark("new.startover", over)
	box := widgets.NewCard("", nil, widgets.VBox(widgets.Gap8, c.leftWords, widgets.HBox(widgets.Gap8, c.goOn, over)))
	box.Border = widgets.ColorAccent
	c.leftBox = container.NewStack(box)

	c.known = widgets.VBox(widgets.Gap8)
	c.knownBox = widgets.NewCard(lang.L("Your projects"), nil, c.known)
	c.folder = widgets.Caption("").Wrapped()
	what := widgets.NewCard(lang.L("What to run"), nil, widgets.VBox(widgets.Gap8,
		c.row(lang.L("Project folder"), fieldProject, container.NewBorder(nil, nil, nil, widgets.Pad(0, 0, 0, widgets.Gap8, browse), c.project)),
		container.NewBorder(nil, nil, container.New(fixedWidth(labelWidth)), nil, c.folder),
		c.row(lang.L("Name"), fieldName, c.name),
		c.row(lang.L("Command"), fieldCommand, c.command),
		c.row(lang.L("Folds"), fieldFolds, c.folds),
	))
	more := widgets.NewCard(lang.L("Seldom changed"), nil, widgets.VBox(widgets.Gap8,
		c.row(lang.L("Files to send"), fieldInclude, c.include),
		c.row(lang.L("Baseline"), fieldBaseline, c.baseline),
	))
	c.root = widgets.VBox(widgets.Gap12, c.leftBox, c.knownBox, what, more)
	return c
}

const labelWidth = 116

// field is an entry of the form.
func (c *projectPane) field(mark, placeholder string, of func(*newForm) *string) *entry {
	return c.p.formEntry(mark, placeholder, of)
}

// formEntry is an entry that holds one answer: Enter leads on, what is typed is in the form at once.
func (p *newPage) formEntry(mark, placeholder string, of func(*newForm) *string) *entry {
	e := newEntry(p.h, placeholder)
	e.OnChanged = func(s string) {
		*of(&p.w.form) = s
		p.changed()
	}
	e.OnSubmitted = func(string) { p.goNext() }
	e.onFocus = func() { p.reveal(e) }
	p.h.Mark(mark, e)
	return e
}

// reveal scrolls the step so that o is in sight: Fyne leaves what has the keyboard out of sight otherwise.
func (p *newPage) reveal(o fyne.CanvasObject) {
	s := p.scrolls[p.w.at]
	if s == nil || s.Content.MinSize().Height <= s.Size().Height {
		return
	}
	d := fyne.CurrentApp().Driver()
	top := d.AbsolutePositionForObject(o).Y - d.AbsolutePositionForObject(s.Content).Y
	switch {
	case top < s.Offset.Y:
		s.ScrollToOffset(fyne.NewPos(0, fyne.Max(0, top-widgets.Gap12)))
	case top+o.Size().Height > s.Offset.Y+s.Size().Height:
		s.ScrollToOffset(fyne.NewPos(0, top+o.Size().Height-s.Size().Height+widgets.Gap12))
	}
}

// row is a label, a control, and under it the place for what is wrong with it.
func (c *projectPane) row(label string, f field, control fyne.CanvasObject) fyne.CanvasObject {
	return labelled(label, control, c.place(f))
}

func (c *projectPane) place(f field) *hint {
	h := newHint()
	c.hint[f] = h
	return h
}

// labelled is a line of a form: a muted label, its control, and a hint below.
func labelled(label string, control fyne.CanvasObject, h *hint) fyne.CanvasObject {
	line := container.NewBorder(nil, nil, container.New(fixedWidth(labelWidth), widgets.Middle(widgets.Muted(label))), nil, control)
	if h == nil {
		return line
	}
	h.box = container.NewBorder(nil, nil, container.New(fixedWidth(labelWidth)), nil, h.words)
	h.box.Hide()
	return container.NewVBox(line, h.box)
}

// hint is what is wrong with a field, under it.
type hint struct {
	words *widgets.Text
	box   *fyne.Container
}

func newHint() *hint {
	return &hint{words: widgets.NewText("", widgets.ColorBad, widgets.SizeCaption, fyne.TextStyle{}).Wrapped()}
}

func (h *hint) set(text string) {
	h.words.Set(text)
	setVisible(h.box, text != "")
}

func (c *projectPane) object() fyne.CanvasObject { return c.root }

func (c *projectPane) entered() { c.look() }

// first is the way on where everything is there, the draft's button where one was left, else the folder.
func (c *projectPane) first() fyne.Focusable {
	switch {
	case c.left != nil:
		return c.goOn
	case c.p.w.form.Project == "" && (len(c.projects) == 0 || len(c.picks) == 0):
		return c.project
	case c.p.w.form.Project == "":
		return c.picks[0].choice
	case c.p.w.wrong(stepProject):
		_, problems := c.p.w.spec()
		return c.wrong(problems)
	}
	return nil
}

func (c *projectPane) wrong(problems map[field]string) fyne.Focusable {
	for _, f := range []struct {
		field field
		e     *entry
	}{{fieldProject, c.project}, {fieldName, c.name}, {fieldCommand, c.command}, {fieldFolds, c.folds}} {
		if problems[f.field] != "" {
			return f.e
		}
	}
	return nil
}

// hints shows what is wrong from now on, or no longer.
func (c *projectPane) hints(on bool) { c.showHints = on }

func (c *projectPane) fill() {
	f := c.p.w.form
	for _, s := range []struct {
		e    *entry
		text string
	}{{c.project, f.Project}, {c.name, f.Name}, {c.command, f.Command}, {c.folds, f.Folds}, {c.baseline, f.Baseline}, {c.include, f.Include}} {
		if s.e.Text != s.text {
			s.e.SetText(s.text)
		}
	}
}

func (c *projectPane) show(now time.Time) {
	setVisible(c.leftBox, c.left != nil)
	if c.left != nil {
		c.leftWords.Set(leftSentence(*c.left, now))
	}
	_, problems := c.p.w.spec()
	for f, h := range c.hint {
		text := ""
		if c.showHints || f == fieldFolds || f == fieldProject && c.p.w.form.Project != "" {
			text = problems[f]
		}
		h.set(text)
	}
	c.folder.Set(c.folderText())
	setVisible(c.folder, c.folder.Text != "")
	c.showKnown(now)
}

// leftSentence says what was left half-way.
func leftSentence(d app.Draft, now time.Time) string {
	what := d.Name
	if what == "" {
		what = lang.L("a run without a name yet")
	}
	return fmt.Sprintf(lang.L("You left %s %s."), what, leftOff(d, now))
}

// folderText is what was seen in the folder.
func (c *projectPane) folderText() string {
	f := &c.p.w.facts
	switch {
	case f.busy:
		return lang.L("Looking into the folder…")
	case !f.fresh(f.key) || !f.got.Exists || f.got.Problem != "":
		return ""
	case len(f.got.Folds) > 0:
		return fmt.Sprintf(lang.L("%d folds in data/folds.csv."), len(f.got.Folds))
	}
	return lang.L("No data/folds.csv: the command runs once.")
}

// showKnown lists the projects that were run before, the newest first.
func (c *projectPane) showKnown(now time.Time) {
	setVisible(c.knownBox, len(c.projects) > 0)
	n := min(len(c.projects), projectsShown)
	for len(c.picks) < n {
		c.addPick()
	}
	for i, k := range c.picks {
		setVisible(k.choice, i < n)
		if i >= n {
			continue
		}
		pr := c.projects[i]
		k.dir = pr.Dir
		k.name.Set(pr.Name)
		k.path.Set(pr.Dir)
		k.last.Set(projectNote(pr, now))
		k.choice.SetSelected(pr.Dir == c.p.w.form.Project)
	}
}

func (c *projectPane) addPick() {
	k := &projectPick{name: widgets.Strong("").Truncated(), path: widgets.Caption("").Truncated(), last: widgets.Caption("").Right()}
	i := len(c.picks)
	k.choice = widgets.NewChoice(widgets.VBox(0, widgets.Spread(k.name, k.last), k.path), func() { c.pick(k.dir) })
	k.choice.OnEnter = func() { c.p.goNext() }
	k.choice.OnMove = func(d int) { c.move(i + d) }
	k.choice.OnFocus = func() { c.p.reveal(k.choice) }
	c.p.h.Mark(fmt.Sprintf("new.project%d", i), k.choice)
	c.picks = append(c.picks, k)
	c.known.Add(k.choice)
}

// move puts the keyboard onto a project and takes it.
func (c *projectPane) move(to int) {
	if to < 0 || to >= min(len(c.projects), len(c.picks)) {
		return
	}
	c.p.h.Window().Canvas().Focus(c.picks[to].choice)
	c.pick(c.picks[to].dir)
}

// projectNote is what is known of a project's last run.
func projectNote(p app.Project, now time.Time) string {
	switch {
	case p.Missing:
		return lang.L("the folder is gone")
	case p.Draft != nil:
		return lang.L("left ") + leftOff(*p.Draft, now)
	case p.LastRun == "":
		return lang.L("not run from this account yet")
	}
	return p.LastRun + ", " + when(p.LastAt, now)
}

// begin fills the wizard from the project that was used last.
func (c *projectPane) begin() {
	for _, pr := range c.projects {
		if !pr.Missing && (pr.LastRun != "" || pr.Draft != nil) {
			c.take(pr.Dir, false)
			return
		}
	}
}

// pick takes a known project. What was begun for another one stays as that one's draft.
func (c *projectPane) pick(dir string) {
	if dir == c.p.w.form.Project {
		return
	}
	c.p.keep()
	c.left = nil
	c.take(dir, true)
}

// take reads what the next run of a project starts from.
func (c *projectPane) take(dir string, touched bool) {
	core := c.p.h.Core()
	type found struct {
		spec  app.BuildSpec
		last  bool
		draft *app.Draft
	}
	c.p.w.facts.busy = true
	ask(c.p, "last", func(ctx context.Context) (found, error) {
		var f found
		d, ok, err := core.Draft(ctx, dir)
		if err == nil && ok {
			f.draft = &d
		}
		f.spec, f.last, err = core.LastSpec(ctx, dir)
		return f, err
	}, func(f found, err error) {
		c.p.w.facts.busy = false
		if err != nil {
			c.p.h.Fail(err)
			return
		}
		if f.draft != nil && touched {
			c.left = f.draft
		}
		c.p.adopt(dir, f.spec, f.last)
		c.p.touched = c.p.touched || touched
	})
}

// adopt fills the form from a project's last run; the folder tells the rest.
func (p *newPage) adopt(dir string, spec app.BuildSpec, last bool) {
	quota := p.w.quota
	if !last {
		spec = app.BuildSpec{Accelerator: shapeT4}
	}
	spec.Project = dir
	f := formOf(spec)
	p.w = wizard{base: spec, form: f, quota: quota, shapeTyped: last, lastHours: spec.Hours}
	p.recallModel(dir)
	p.fill()
	p.project.look()
	p.focusFirst()
}

// lookSoon looks at the folder that is being typed, once the person pauses.
func (c *projectPane) lookSoon() {
	if c.p.filling || c.p.h.Core() == nil {
		return
	}
	text := c.p.w.form.Project
	ask(c.p, "look soon", func(ctx context.Context) (string, error) {
		select {
		case <-ctx.Done():
		case <-time.After(300 * time.Millisecond):
		}
		return text, ctx.Err()
	}, func(string, error) { c.look() })
}

// look reads the folder off the UI thread and fills what is still empty.
func (c *projectPane) look() {
	w := &c.p.w
	s, _ := w.spec()
	if s.Project == "" || !w.facts.due(s.Project) {
		return
	}
	w.facts.ask(s.Project)
	core := c.p.h.Core()
	type seen struct {
		facts app.ProjectFacts
		spec  app.BuildSpec
		last  bool
	}
	ask(c.p, "facts", func(ctx context.Context) (seen, error) {
		v := seen{facts: app.LookAt(s.Project)}
		if v.facts.Exists {
			v.spec, v.last, _ = core.LastSpec(ctx, v.facts.Dir) // none, or unreadable: the folder's own words then
		}
		return v, ctx.Err()
	}, func(v seen, err error) {
		if !w.facts.answer(s.Project, v.facts, err) {
			return
		}
		defer func() { c.goOnThen = false }()
		if !v.facts.Exists {
			return
		}
		if f := w.form; v.last && f.Name == "" && f.Command == "" {
			v.spec.Project = f.Project
			w.base, w.taken, w.form = v.spec, nil, formOf(v.spec)
		}
		w.form = w.form.suggest(v.facts.Suggested)
		c.p.fill()
		if c.goOnThen {
			c.p.goNext()
		}
	})
}

func (c *projectPane) browse() {
	d := dialog.NewFolderOpen(func(u fyne.ListableURI, err error) {
		if err != nil {
			c.p.h.Fail(err)
			return
		}
		if u != nil {
			c.project.SetText(u.Path())
		}
	}, c.p.h.Window())
	if u, err := storage.ListerForURI(storage.NewFileURI(c.p.w.form.Project)); err == nil && c.p.w.form.Project != "" {
		d.SetLocation(u)
	}
	d.Resize(fyne.NewSize(820, 560))
	d.Show()
}

// leave waits for the folder: what is not known yet cannot be called right.
func (c *projectPane) leave() bool {
	c.showHints = true
	if c.left != nil { // Enter on the first screen goes on where it was left
		c.p.resume(*c.left)
		return false
	}
	s, _ := c.p.w.spec()
	if s.Project != "" && c.p.h.Core() != nil && !c.p.w.facts.fresh(s.Project) {
		c.goOnThen = true
		c.look()
		return false
	}
	return true
}
