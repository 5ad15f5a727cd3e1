package desktop

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"sandglass/app"
	"sandglass/widgets"
)

// appID names Sandglass to the desktop: preferences, notifications, the .desktop file.
const appID = "io.github.sandglass"

// route is a place in the app: comparable, so that "the same place again" is recognised.
type route struct {
	page string
	run  int64
}

// shell is the window's frame: sidebar, the visible page, toasts over it, dialogs, the way back. It is the host of every page.
type shell struct {
	core *app.App
	win  fyne.Window
	log  *slog.Logger

	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup
	do     func(func())

	pages   map[string]page // built once, lazily; run pages are built anew
	visible atomic.Pointer[place]
	history []route

	frame   *fyne.Container // what fills the window: first launch, or sidebar and page
	content *fyne.Container
	side    *sidebar
	toasts  *widgets.Toasts
	pump    *pump
	notify  atomic.Pointer[notifier]
	tray    *tray
	said    string // the last toast, for a driving script
	state   *uiState
	dialogs int
	modals  []*modal
	quit    func()
	closing bool
}

// place is a page and where it is.
type place struct {
	at   route
	page page
}

// newShell builds the frame inside win. do runs a function on the UI thread; statePath is SANDGLASS_UI_STATE.
func newShell(core *app.App, win fyne.Window, log *slog.Logger, do func(func()), statePath string) *shell {
	s := &shell{core: core, win: win, log: log, do: do, pages: map[string]page{}, state: newUIState(statePath)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.content = container.NewStack()
	s.side = newSidebar(s)
	s.toasts = widgets.NewToasts()
	s.frame = container.NewStack()
	s.pump = newPump(s.currentPage, do, s.told, s.changed)
	win.SetContent(container.NewStack(s.frame, s.toasts))
	s.shortcuts()
	return s
}

// start shows the first page and begins to listen. Without an account that page is the three doors.
func (s *shell) start() {
	sub := s.core.Subscribe()
	s.spawn(func(ctx context.Context) {
		defer sub.Close()
		s.pump.run(ctx, sub.C())
	})
	if _, err := s.core.Account(s.ctx); err != nil {
		s.Go("first")
	} else {
		s.Go("week")
	}
	s.refreshSide()
}

// stop ends everything the shell started and waits for it.
func (s *shell) stop() {
	s.cancel()
	s.work.Wait()
	if n := s.notify.Load(); n != nil {
		n.Close()
	}
}

func (s *shell) spawn(f func(ctx context.Context)) {
	s.work.Go(func() { f(s.ctx) })
}

func (s *shell) currentPage() page {
	if p := s.visible.Load(); p != nil {
		return p.page
	}
	return nil
}

// Core is the program's core.
func (s *shell) Core() *app.App { return s.core }

// Window is the one window.
func (s *shell) Window() fyne.Window { return s.win }

// Do runs f on the UI thread, soon.
func (s *shell) Do(f func()) { s.do(f) }

// Background runs f on a goroutine that ends with the window.
func (s *shell) Background(f func(ctx context.Context)) { s.spawn(f) }

// Reload asks the visible page for a fresh snapshot.
func (s *shell) Reload() { s.pump.reload() }

// Mark names a control for a driving script.
func (s *shell) Mark(name string, o fyne.CanvasObject) { s.state.mark(name, o) }

// Toast shows the result of what the person just did.
func (s *shell) Toast(text string) {
	s.said = text
	s.toasts.Say(text)
}

// OpenRun shows a run's page.
func (s *shell) OpenRun(id int64) { s.open(route{page: "run", run: id}, true) }

// NewRun opens the form, with an earlier run's words as its defaults when from is not 0.
func (s *shell) NewRun(from int64) {
	s.open(route{page: "new"}, true)
	if p, ok := s.currentPage().(*newPage); ok && from != 0 {
		p.startFrom(from)
	}
}

// newRunOf opens the form with what the run is to be.
func (s *shell) newRunOf(spec app.BuildSpec) {
	s.open(route{page: "new"}, true)
	if p, ok := s.currentPage().(*newPage); ok {
		p.startWith(spec)
	}
}

// Go shows a page by name.
func (s *shell) Go(name string) { s.open(route{page: name}, true) }

// back shows the place before this one.
func (s *shell) back() {
	if len(s.history) == 0 {
		return
	}
	last := s.history[len(s.history)-1]
	s.history = s.history[:len(s.history)-1]
	s.open(last, false)
}

const historyMax = 50

func (s *shell) open(to route, remember bool) {
	from := s.visible.Load()
	if from != nil && from.at == to {
		s.Reload()
		return
	}
	p := s.build(to)
	if p == nil {
		return
	}
	if from != nil {
		from.page.Hidden()
		if remember && from.at.page != "first" {
			s.history = append(s.history, from.at)
			if len(s.history) > historyMax {
				s.history = s.history[1:]
			}
		}
	}
	s.visible.Store(&place{at: to, page: p})
	s.look()
	s.content.Objects = []fyne.CanvasObject{p.Object()}
	s.content.Refresh()
	if to.page == "first" {
		s.frame.Objects = []fyne.CanvasObject{p.Object()}
	} else if len(s.frame.Objects) != 1 || s.frame.Objects[0] != fyne.CanvasObject(s.side.withPage) {
		s.frame.Objects = []fyne.CanvasObject{s.side.withPage}
	}
	s.frame.Refresh()
	s.side.choose(to.page)
	s.win.Canvas().Unfocus()
	p.Shown()
	s.Reload()
	s.writeState()
}

// build gives the page of a route. Pages but the run's are kept, so that going back loses no input and no scroll position.
func (s *shell) build(to route) page {
	if to.page == "run" {
		return newRunPage(s, to.run)
	}
	if p, ok := s.pages[to.page]; ok {
		return p
	}
	var p page
	switch to.page {
	case "first":
		p = newFirstPage(s)
	case "week":
		p = newWeekPage(s)
	case "runs":
		p = newRunsPage(s)
	case "plan":
		p = newPlanPage(s)
	case "experiments":
		p = newExperimentsPage(s)
	case "new":
		p = newNewPage(s)
	case "settings":
		p = newSettingsPage(s)
	case "help":
		p = newHelpPage(s)
	default:
		s.log.Error("no such page", "page", to.page)
		return nil
	}
	s.pages[to.page] = p
	return p
}

// changed is called for each event, off the UI thread: the sidebar's counts and the tray follow the runs and the quota.
func (s *shell) changed(ev app.Event) {
	if ev.Kind == app.EventAccount {
		s.core.Nudge() // somebody else's quota and runs: ask now
	}
	switch ev.Kind {
	case app.EventRun, app.EventQuota, app.EventAccount, app.EventNet, app.EventReload:
		s.refreshSide()
	}
}

// refreshSide reads what the sidebar and the tray show and shows it. Any goroutine.
func (s *shell) refreshSide() {
	s.spawn(func(ctx context.Context) {
		view, paused := readSide(ctx, s.core), s.paused(ctx)
		s.do(func() {
			s.side.show(view)
			s.tray.update(view.week, paused)
			s.writeState()
		})
	})
}

// told shows a notice natively. Whether it is shown at all the core decided.
func (s *shell) told(n app.Notice) {
	if to := s.notify.Load(); to != nil {
		to.Notify(n)
	}
}

// inForeground follows the app's lifecycle hooks.
var inForeground atomic.Bool

// raise brings the window up, and a run's page into it when run is not 0. Any goroutine.
func (s *shell) raise(run int64) {
	s.do(func() {
		s.win.Show()
		s.win.RequestFocus()
		if run != 0 {
			s.OpenRun(run)
		}
	})
}

func (s *shell) writeState() {
	snap := uiSnapshot{Toast: s.said, Dialog: s.dialogs > 0}
	if p := s.visible.Load(); p != nil {
		snap.Page, snap.Run = p.at.page, p.at.run
		if st, ok := p.page.(interface{ status() string }); ok {
			snap.Status = st.status()
		}
	}
	s.state.write(s.win, snap)
}
