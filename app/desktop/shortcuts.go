package desktop

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
)

// shortcuts binds the keyboard. A focused text field eats canvas shortcuts, so widgets.Entry hands those it does not know to
// the canvas's handler through forwardShortcut.
func (s *shell) shortcuts() {
	c := s.win.Canvas()
	for key, act := range s.keys() {
		c.AddShortcut(customShortcut(key), func(fyne.Shortcut) {
			if s.dialogs == 0 {
				act()
			}
		})
	}
	c.AddShortcut(backShortcut(), func(fyne.Shortcut) {
		if s.dialogs == 0 {
			s.escape()
		}
	})
	c.SetOnTypedKey(func(ev *fyne.KeyEvent) {
		switch ev.Name {
		case fyne.KeyEscape:
			s.escape()
		case fyne.KeyF1:
			if s.dialogs == 0 {
				s.help()
			}
		case fyne.KeyReturn, fyne.KeyEnter:
			if p, ok := s.currentPage().(interface{ enter() }); ok && s.dialogs == 0 {
				p.enter()
			}
		}
	})
}

// keys are the shortcuts with Ctrl (Cmd on a Mac).
func (s *shell) keys() map[fyne.KeyName]func() {
	return map[fyne.KeyName]func(){
		fyne.KeyN: func() { s.NewRun(0) },
		fyne.Key1: func() { s.Go("week") },
		fyne.Key2: func() { s.Go("runs") },
		fyne.Key3: func() { s.Go("plan") },
		fyne.Key4: func() { s.Go("experiments") },
		fyne.Key5: func() { s.Go("settings") },
		fyne.KeyR: s.refresh,
		fyne.KeyF: s.find,
		fyne.KeyW: s.closeWindow,
		fyne.KeyQ: func() { s.quit() },

		fyne.KeyReturn: s.confirm,
		fyne.KeyEnter:  s.confirm,
	}
}

// confirm is the deliberate key, for what spends: the page's own, where it has such a thing.
func (s *shell) confirm() {
	if p, ok := s.currentPage().(interface{ confirm() }); ok {
		p.confirm()
	}
}

// refresh asks Kaggle anew and redraws.
func (s *shell) refresh() {
	s.core.Nudge()
	s.Reload()
}

// find puts the keyboard into the page's search, where it has one.
func (s *shell) find() {
	if p, ok := s.currentPage().(interface{ find() }); ok {
		p.find()
		return
	}
	s.Go("runs")
	s.find()
}

// backShortcut is Alt and the left arrow: one step back, as Escape.
func backShortcut() *desktop.CustomShortcut {
	return &desktop.CustomShortcut{KeyName: fyne.KeyLeft, Modifier: fyne.KeyModifierAlt}
}

// escape closes the dialog on top, goes one step back in a page that has steps, leaves a text field, or goes back, in this order.
func (s *shell) escape() {
	if n := len(s.modals); n > 0 {
		s.modals[n-1].Hide()
		return
	}
	if p, ok := s.currentPage().(interface{ escape() bool }); ok && p.escape() {
		return
	}
	if s.win.Canvas().Focused() != nil {
		s.win.Canvas().Unfocus()
		return
	}
	s.back()
}

// customShortcut is a key with Ctrl, or Cmd on a Mac.
func customShortcut(key fyne.KeyName) *desktop.CustomShortcut {
	return &desktop.CustomShortcut{KeyName: key, Modifier: fyne.KeyModifierShortcutDefault}
}
