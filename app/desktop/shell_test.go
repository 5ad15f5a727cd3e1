package desktop

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"sandglass/app"
	"sandglass/widgets"
)

// uiLoop is the UI thread of a test: what the shell hands to Do runs here, on the test's own goroutine, as it would on the real
// driver's main one. (Fyne's test driver would run it on the caller's.)
type uiLoop struct {
	t     *testing.T
	queue chan func()
}

func (u *uiLoop) do(f func()) { u.queue <- f }

// until runs the queue until good is true; the deadline only ends a test that is broken.
func (u *uiLoop) until(what string, good func() bool) {
	u.t.Helper()
	limit := time.After(20 * time.Second)
	for !good() {
		select {
		case f := <-u.queue:
			f()
		case <-limit:
			u.t.Fatalf("waited for %s in vain", what)
		}
	}
}

func openShell(t *testing.T, home string) (*shell, *uiLoop, string) {
	t.Helper()
	a := test.NewTempApp(t)
	a.Settings().SetTheme(widgets.NewTheme(widgets.ModeLight, 1))
	core, err := app.Open(context.Background(), app.Options{Home: home, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	w := test.NewTempWindow(t, nil)
	w.SetPadded(false)
	ui := &uiLoop{t: t, queue: make(chan func(), 1024)}
	state := filepath.Join(t.TempDir(), "ui.json")
	s := newShell(core, w, slog.New(slog.DiscardHandler), ui.do, state)
	s.quit = func() {}
	w.Resize(fyne.NewSize(1180, 760))
	s.start()
	t.Cleanup(func() {
		s.stop()
		if err := core.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, ui, state
}

func readState(t *testing.T, path string) uiSnapshot {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		return uiSnapshot{}
	}
	var snap uiSnapshot
	if err := json.Unmarshal(b, &snap); err != nil {
		t.Fatal(err)
	}
	return snap
}

func TestFirstStartShowsTheDoors(t *testing.T) {
	s, ui, state := openShell(t, t.TempDir())
	ui.until("the doors", func() bool { return readState(t, state).Page == "first" })
	ui.until("what is on this computer", func() bool {
		return s.pages["first"].(*firstPage).here.Text != "" && readState(t, state).Page == "first"
	})
	for _, name := range []string{"first.sandbox", "first.signin"} {
		if _, ok := readState(t, state).Objects[name]; !ok {
			t.Errorf("a driving script does not find %s in %v", name, readState(t, state).Objects)
		}
	}
}

func TestEveryPageOpensEmptyAndTheWayBackIsKept(t *testing.T) {
	s, ui, state := openShell(t, t.TempDir())
	for _, name := range []string{"week", "runs", "new", "settings"} {
		s.Go(name)
		ui.until(name, func() bool { return readState(t, state).Page == name })
		if got := s.win.Canvas().Size(); got.Width > 1180 || got.Height > 760 {
			t.Errorf("%s makes the window grow to %v", name, got)
		}
		if min := s.frame.MinSize(); min.Width > 900 || min.Height > 600 {
			t.Errorf("%s does not fit into 900 x 600: its smallest size is %v", name, min)
		}
	}
	for _, name := range []string{"new", "runs", "week"} {
		s.escape() // leaves a focused field first
		if s.visible.Load().at.page != name {
			s.escape()
		}
		if got := s.visible.Load().at.page; got != name {
			t.Errorf("back led to %s, want %s", got, name)
		}
	}
}

func TestTheWizardKeepsWhatWasTyped(t *testing.T) {
	s, ui, state := openShell(t, t.TempDir())
	s.Go("new")
	ui.until("the wizard", func() bool { return readState(t, state).Page == "new" && s.currentPage().(*newPage).loaded })
	p := s.currentPage().(*newPage)
	test.Type(p.project.name, "cnx384")
	s.Go("week")
	s.Go("new")
	if got := s.currentPage().(*newPage).project.name.Text; got != "cnx384" {
		t.Errorf("the name became %q", got)
	}
	p.goNext()
	if !p.project.hint[fieldProject].box.Visible() || p.project.hint[fieldName].box.Visible() || p.w.at != stepProject {
		t.Error("only the fields that are wrong are named")
	}
}

func TestShortcutsWorkWhileAFieldHasTheFocus(t *testing.T) {
	s, ui, state := openShell(t, t.TempDir())
	s.Go("new")
	ui.until("the wizard", func() bool { return readState(t, state).Page == "new" })
	p := s.currentPage().(*newPage)
	s.win.Canvas().Focus(p.project.command)
	p.project.command.TypedShortcut(customShortcut(fyne.Key2))
	if got := s.visible.Load().at.page; got != "runs" {
		t.Errorf("Ctrl+2 from a field led to %s", got)
	}
}

func TestAnErrorIsShownOnceAndEscapeClosesIt(t *testing.T) {
	s, _, _ := openShell(t, t.TempDir())
	s.Go("week")
	s.Fail(app.ErrNoAccount)
	if s.dialogs != 1 {
		t.Fatalf("%d dialogs", s.dialogs)
	}
	s.Fail(context.Canceled) // what the person stopped is no error
	if s.dialogs != 1 {
		t.Errorf("a cancelled action opened a dialog")
	}
	s.escape()
	if s.dialogs != 0 || s.visible.Load().at.page != "week" {
		t.Errorf("Escape left %d dialogs on %s", s.dialogs, s.visible.Load().at.page)
	}
}
