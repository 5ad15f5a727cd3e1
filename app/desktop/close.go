package desktop

import (
	"context"
	"fmt"

	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"sandglass/app"
	"sandglass/widgets"
)

// closing is what the X and Ctrl+W come to.
type closing int

const (
	closeHide    closing = iota // into the tray
	closeQuit                   //
	closeAsk                    // tray or quit, the first time
	closeAskQuit                // runs are in flight and there is no tray: quit or stay
)

// howToClose decides by what the person chose (see settingOnClose). A hidden window that no tray brings back would be lost, so
// without one only quitting is left, and it is asked about while something is under way.
func howToClose(tray bool, chosen string, underWay int) closing {
	switch {
	case chosen == "quit":
		return closeQuit
	case tray && chosen == "hide":
		return closeHide
	case tray:
		return closeAsk
	case underWay > 0:
		return closeAskQuit
	}
	return closeQuit
}

// closeWindow is the X and Ctrl+W.
func (s *shell) closeWindow() {
	if s.closing {
		return
	}
	s.closing = true
	s.Background(func(ctx context.Context) {
		tray := s.tray != nil && trayHost()
		chosen := s.core.Setting(ctx, settingOnClose)
		week, err := s.core.Week(ctx)
		if err != nil {
			s.log.Warn("closing without knowing what is under way", "err", err)
		}
		s.do(func() {
			s.closing = false
			switch howToClose(tray, chosen, len(week.InFlight)+len(week.Waiting)) {
			case closeHide:
				s.hide()
			case closeQuit:
				s.quit()
			case closeAsk:
				s.askTray(week)
			case closeAskQuit:
				s.askQuit(week)
			}
		})
	})
}

// hide leaves only the tray. What is looked at is nothing from now on.
func (s *shell) hide() {
	inForeground.Store(false)
	s.look()
	s.win.Hide()
}

// underWay says what goes on while the window is closed; "" when nothing does.
func underWay(week app.WeekView) string {
	run, wait := len(week.InFlight), len(week.Waiting)
	var flight string
	switch run {
	case 0:
	case 1:
		flight = fmt.Sprintf(lang.L("%s is in flight."), week.InFlight[0].Name)
	default:
		flight = fmt.Sprintf(lang.L("%d runs are in flight."), run)
	}
	switch {
	case wait == 0:
		return flight
	case run > 0:
		flight += " "
	}
	if wait == 1 {
		return flight + fmt.Sprintf(lang.L("%s waits for a free slot."), week.Waiting[0].Name)
	}
	return flight + fmt.Sprintf(lang.L("%d runs wait for a free slot."), wait)
}

// askTray asks where the window goes, and remembers.
func (s *shell) askTray(week app.WeekView) {
	s.closing = true
	var m *modal
	remember := func(choice string) {
		s.Background(func(ctx context.Context) {
			if err := s.core.SetSetting(ctx, settingOnClose, choice); err != nil {
				s.log.Warn("how to close is asked again", "err", err)
			}
		})
	}
	quit := widgets.NewButton(lang.L("Quit"), nil, func() {
		m.Hide()
		if err := s.core.SetSetting(s.ctx, settingOnClose, "quit"); err != nil { // before the end of everything
			s.log.Warn("how to close is asked again", "err", err)
		}
		s.quit()
	})
	tray := widgets.NewPrimary(lang.L("Keep watching in the tray"), nil, func() { m.Hide(); remember("hide"); s.hide() })
	s.Mark("close.quit", quit)
	s.Mark("close.tray", tray)
	body := widgets.VBox(widgets.Gap8)
	if words := underWay(week); words != "" {
		body.Add(wrapped(words))
	}
	body.Add(wrapped(lang.L("In the tray Sandglass goes on watching: it tells what happens, fetches results, and sends runs that wait for a free slot. Without it runs go on at Kaggle, and are caught up with at the next start.")))
	body.Add(widgets.Muted(lang.L("This is asked once; it can be changed in Settings.")).Wrapped())
	m = s.showModal(lang.L("Close to the tray?"), body, 520, func() { s.closing = false }, quit, tray)
	s.win.Canvas().Focus(tray)
}

// askQuit says what is under way before it is left alone.
func (s *shell) askQuit(week app.WeekView) {
	s.closing = true
	var m *modal
	always := widget.NewCheck(lang.L("Do not ask again"), nil)
	quit := widgets.NewButton(lang.L("Quit"), nil, func() {
		m.Hide()
		if always.Checked {
			if err := s.core.SetSetting(s.ctx, settingOnClose, "quit"); err != nil {
				s.log.Warn("how to close is asked again", "err", err)
			}
		}
		s.quit()
	})
	stay := widgets.NewPrimary(lang.L("Keep the window"), nil, func() { m.Hide() })
	s.Mark("close.quit", quit)
	s.Mark("close.stay", stay)
	s.Mark("close.always", always)
	m = s.showModal(lang.L("Runs are under way"), widgets.VBox(widgets.Gap8, wrapped(underWay(week)),
		wrapped(lang.L("They go on at Kaggle without Sandglass, and are caught up with when it starts again. Notifications, and runs that wait for a free slot, need it open; this desktop has no tray to close it to.")), always),
		520, func() { s.closing = false }, quit, stay)
	s.win.Canvas().Focus(stay)
}

// look tells the core what is on the screen, so that no notice repeats it.
func (s *shell) look() {
	var at app.Sight
	if p := s.visible.Load(); p != nil && inForeground.Load() {
		at = app.Sight{Run: p.at.run, Week: p.at.page == "week"}
	}
	s.core.Look(at)
}
