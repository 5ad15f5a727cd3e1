package desktop

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"sandglass/app"
	"sandglass/widgets"
)

// knownProject is a home whose sandbox account has pushed a run of a project before.
func knownProject(t *testing.T) (home, project string) {
	t.Helper()
	home, project = t.TempDir(), filepath.Join(t.TempDir(), "leaf")
	if err := os.MkdirAll(filepath.Join(project, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(project, "src", "train.py"), []byte("print('trained')\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	core, err := app.Open(context.Background(), app.Options{Home: home, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	defer core.Close()
	if _, err := core.UseSandbox(t.Context()); err != nil {
		t.Fatal(err)
	}
	b, err := core.Build(t.Context(), app.BuildSpec{Project: project, Name: "idea-one", Command: "python src/train.py", Hours: 0.5, Accelerator: "none", Datasets: nil}, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := core.PlanPush(t.Context(), b.Dir, app.PushOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := core.Push(t.Context(), plan, app.Consent{By: "test"}); err != nil {
		t.Fatal(err)
	}
	return home, project
}

// settled waits until the wizard stands on a step and has its answers.
func settled(ui *uiLoop, p *newPage, at step) {
	ui.t.Helper()
	ui.until(at.key(), func() bool { return p.w.at == at && !p.busy() })
}

func TestAKnownProjectIsPushedInEightClicks(t *testing.T) {
	home, project := knownProject(t)
	s, ui, _ := openShell(t, home)
	ui.until("the week", func() bool { return s.visible.Load().at.page == "week" })
	clicks := 0
	tap := func(o fyne.CanvasObject) {
		t.Helper()
		if !o.Visible() || o.Size().Width == 0 {
			t.Fatalf("after %d clicks there is nothing to click", clicks)
		}
		clicks++
		test.Tap(o.(fyne.Tappable))
	}
	tap(s.state.marks["nav.new"])
	p := s.currentPage().(*newPage)
	settled(ui, p, stepProject)
	if p.w.form.Project != project || p.w.form.Name != "idea-one" || p.w.form.Shape != shapeCPU {
		t.Fatalf("the last run's words are not there: %+v", p.w.form)
	}
	p.project.name.SetText("idea-two") // the first one may still be running
	for _, at := range []step{stepInputs, stepAccelerator, stepHours, stepRehearse} {
		tap(p.next)
		settled(ui, p, at)
	}
	tap(s.state.marks["new.skip"])
	settled(ui, p, stepReview)
	if p.review.push.Disabled() {
		t.Fatalf("the push is closed: %+v", p.w.newReviewView())
	}
	tap(p.review.push)
	ui.until("the run's page", func() bool { return s.visible.Load().at.page == "run" })
	if clicks > 8 {
		t.Errorf("%d clicks from the week to a pushed run", clicks)
	}
	if drafts, err := s.core.Drafts(t.Context()); err != nil || len(drafts) != 0 {
		t.Errorf("after the push drafts are left: %+v, %v", drafts, err)
	}
}

func TestEnterWalksToThePushButtonAndNoFurther(t *testing.T) {
	home, _ := knownProject(t)
	s, ui, _ := openShell(t, home)
	s.Go("new")
	p := s.currentPage().(*newPage)
	settled(ui, p, stepProject)
	p.project.name.SetText("idea-two")
	enter := func() {
		t.Helper()
		f := s.win.Canvas().Focused()
		if f == nil {
			t.Fatalf("on %s nothing has the keyboard", p.w.at.key())
		}
		f.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	}
	for _, at := range []step{stepInputs, stepAccelerator, stepHours, stepRehearse} {
		enter()
		settled(ui, p, at)
	}
	p.w.skipped = p.w.rehearsalKey()
	enter()
	settled(ui, p, stepReview)
	if p.w.plan.got.Kernel == "" {
		t.Error("there is no plan")
	}
	p.runs.Store(false)
	if p.Wants(app.Event{Kind: app.EventQuota}); p.runs.Load() {
		t.Error("a reading of the quota asks for the plan anew, which reads the quota, and so on for ever")
	}
	for range 3 {
		enter()
	}
	if p.pushing || p.w.at != stepReview || !p.review.urged {
		t.Fatal("Enter pushed, or said nothing")
	}
	f := s.win.Canvas().Focused()
	f.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if p.w.at != stepRehearse {
		t.Fatalf("Escape led to %s", p.w.at.key())
	}
	p.goNext()
	settled(ui, p, stepReview)
	s.confirm()
	ui.until("the run's page", func() bool { return s.visible.Load().at.page == "run" })
}

func TestAWizardLeftHalfWayIsFoundAgainAfterARestart(t *testing.T) {
	home, project := knownProject(t)
	a := test.NewTempApp(t)
	a.Settings().SetTheme(widgets.NewTheme(widgets.ModeLight, 1))
	open := func() (*shell, *uiLoop, func()) {
		core, err := app.Open(context.Background(), app.Options{Home: home, Getenv: func(string) string { return "" }})
		if err != nil {
			t.Fatal(err)
		}
		w := test.NewTempWindow(t, nil)
		ui := &uiLoop{t: t, queue: make(chan func(), 1024)}
		s := newShell(core, w, slog.New(slog.DiscardHandler), ui.do, "")
		w.Resize(fyne.NewSize(1180, 760))
		s.start()
		s.Go("new")
		return s, ui, func() {
			s.stop()
			if err := core.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	s, ui, stop := open()
	p := s.currentPage().(*newPage)
	settled(ui, p, stepProject)
	for _, at := range []step{stepInputs, stepAccelerator, stepHours} {
		p.goNext()
		settled(ui, p, at)
	}
	p.panes[stepHours].(*hoursPane).cap.SetText("1,5")
	s.Go("week")
	stop()

	s, ui, stop = open()
	defer stop()
	p = s.currentPage().(*newPage)
	ui.until("the draft", func() bool { return p.project.left != nil })
	if p.project.left.Project != project || s.win.Canvas().Focused() != fyne.Focusable(p.project.goOn) {
		t.Errorf("found %+v, and the keyboard is on %T", p.project.left, s.win.Canvas().Focused())
	}
	p.project.goOn.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	settled(ui, p, stepHours)
	if p.w.form.Hours != "1,5" || p.w.form.Name != "idea-one" {
		t.Errorf("came back as %+v", p.w.form)
	}
	p.startOver()
	ui.until("a new start", func() bool { return p.w.at == stepProject && p.w.form.Project == project && !p.busy() })
	if p.w.form.Hours == "1,5" {
		t.Error("starting over kept what was typed")
	}
}
