package desktop

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"sandglass/widgets"
)

// settingCheck is a choice that is on or off. Escape is left to the window, and who gets the keyboard says so.
type settingCheck struct {
	widget.Check
	onFocus func()
}

func newSettingCheck(text string, changed func(on bool)) *settingCheck {
	c := &settingCheck{}
	c.Text, c.OnChanged = text, changed
	c.ExtendBaseWidget(c)
	return c
}

// set shows a stored choice without storing it again.
func (c *settingCheck) set(on bool) {
	if c.Checked != on {
		c.Checked = on
		c.Refresh()
	}
}

// FocusGained implements fyne.Focusable.
func (c *settingCheck) FocusGained() {
	c.Check.FocusGained()
	if c.onFocus != nil {
		c.onFocus()
	}
}

// TypedKey implements fyne.Focusable.
func (c *settingCheck) TypedKey(ev *fyne.KeyEvent) {
	switch ev.Name {
	case fyne.KeyEscape:
		widgets.HandUp(c, ev)
	case fyne.KeyReturn, fyne.KeyEnter:
		c.Check.TypedRune(' ')
	default:
		c.Check.TypedKey(ev)
	}
}

// focusButton is a button that says when it gets the keyboard.
type focusButton struct {
	widgets.Button
	onFocus func()
}

func newFocusButton(text string, tapped func()) *focusButton {
	b := &focusButton{}
	b.Text, b.OnTapped = text, tapped
	b.ExtendBaseWidget(b)
	return b
}

// FocusGained implements fyne.Focusable.
func (b *focusButton) FocusGained() {
	b.Button.FocusGained()
	if b.onFocus != nil {
		b.onFocus()
	}
}

// reveal brings what got the keyboard into sight.
func reveal(s *container.Scroll, o fyne.CanvasObject) {
	d := fyne.CurrentApp().Driver()
	top := d.AbsolutePositionForObject(o).Y - d.AbsolutePositionForObject(s.Content).Y
	switch bottom := top + o.Size().Height; {
	case top < s.Offset.Y:
		s.ScrollToOffset(fyne.NewPos(0, fyne.Max(0, top-widgets.Gap24)))
	case bottom > s.Offset.Y+s.Size().Height:
		s.ScrollToOffset(fyne.NewPos(0, bottom-s.Size().Height+widgets.Gap24))
	}
}
