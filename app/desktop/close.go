package desktop

import (
	"context"

	"fyne.io/fyne/v2/lang"

	"sandglass/widgets"
)

// closeWindow is the X and Ctrl+W. With a tray that somebody draws, the window goes there and the runs are watched on. Where no
// tray exists a hidden window could not be brought back: then the person is asked once, and may have the answer remembered.
func (s *shell) closeWindow() {
	if s.closing {
		return
	}
	_, host := hasTrayHost()
	if host && s.tray != nil {
		s.win.Hide()
		return
	}
	if s.core.Setting(s.ctx, settingOnClose) == "quit" {
		s.quit()
		return
	}
	s.Background(func(ctx context.Context) {
		week, err := s.core.Week(ctx)
		s.do(func() {
			if err != nil || len(week.InFlight)+len(week.Waiting) == 0 {
				s.quit() // nothing to watch: closing is quitting
				return
			}
			s.askClose()
		})
	})
}

func (s *shell) askClose() {
	s.closing = true
	var m *modal
	quit := widgets.NewButton(lang.L("Quit"), nil, func() { m.Hide(); s.quit() })
	stay := widgets.NewPrimary(lang.L("Keep the window"), nil, func() { m.Hide() })
	s.Mark("close.quit", quit)
	s.Mark("close.stay", stay)
	m = s.showModal(lang.L("Runs are in flight"), widgets.Body(lang.L("They go on at Kaggle without Sandglass, and are caught up with when it starts again. Notifications, and runs that wait for a free slot, need it open; this desktop has no tray to close it to.")).Wrapped(),
		520, func() { s.closing = false }, quit, stay)
	s.win.Canvas().Focus(stay)
}
