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
	return projectOf(t, map[string]string{"src/train.py": "print('trained')\n"},
		app.BuildSpec{Name: "idea-one", Command: "python src/train.py", Hours: 0.5, Accelerator: "none"})
}

// projectOf is a home whose sandbox account has pushed s of a project with these files.
func projectOf(t *testing.T, files map[string]string, s app.BuildSpec) (home, project string) {
	t.Helper()
	home, project = t.TempDir(), filepath.Join(t.TempDir(), "leaf")
	for name, text := range files {
		at := filepath.Join(project, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	core, err := app.Open(context.Background(), app.Options{Home: home, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	defer core.Close()
	if _, err := core.UseSandbox(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Project = project
	b, err := core.Build(t.Context(), s, nil)
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

// An offer for a card that would be idle is one press away, and so is the way back; both pack the run anew.
func TestAnOfferForAnIdleCardIsAddedAndTakenBack(t *testing.T) {
	home, _ := projectOf(t, map[string]string{
		"src/train.py":   "import argparse\np = argparse.ArgumentParser()\np.add_argument('--name')\np.add_argument('--folds')\np.add_argument('--seed')\np.parse_args()\n",
		"data/folds.csv": "id,fold\na,0\nb,1\nc,2\n",
	}, app.BuildSpec{Name: "idea-one", Command: "python src/train.py --name idea-one --folds {fold}", Hours: 0.5, Accelerator: "NvidiaTeslaT4"})
	s, ui, _ := openShell(t, home)
	s.Go("new")
	p := s.currentPage().(*newPage)
	settled(ui, p, stepProject)
	p.w.reached = stepReview
	p.w.skipped = p.w.rehearsalKey()
	p.goTo(stepReview)
	planned := func(jobs, offers int) {
		t.Helper()
		ui.until("the packed run", func() bool {
			return !p.busy() && p.w.plan.fresh(p.w.planKey()) && len(p.w.build.got.Jobs) == jobs && len(p.w.build.got.Fill) >= offers
		})
	}
	planned(1, 1)
	offer := p.w.build.got.Fill[0]
	if !offer.CanApply() || p.w.tasks() != 3 {
		t.Fatalf("the offer %+v, %d tasks", offer, p.w.tasks())
	}
	test.Tap(s.state.marks["new.fill.0"].(fyne.Tappable))
	planned(2, 0)
	if len(p.w.build.got.Fill) != 0 || p.w.tasks() != 4 || p.w.newReviewView().Taken != offer.Text {
		t.Errorf("added: offers %+v, %d tasks, %q", p.w.build.got.Fill, p.w.tasks(), p.w.newReviewView().Taken)
	}
	if p.pushing || p.review.push.Disabled() {
		t.Error("the run cannot be pushed with it")
	}
	test.Tap(s.state.marks["new.fill.undo"].(fyne.Tappable))
	planned(1, 1)
	if v := p.w.newReviewView(); v.Taken != "" || p.w.tasks() != 3 || len(p.w.base.ExtraJobs) != 0 {
		t.Errorf("taken back: %q, %d tasks, %+v", v.Taken, p.w.tasks(), p.w.base.ExtraJobs)
	}
}
