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

// wrapRow places objects side by side, and on a further line what has no room.
type wrapRow struct {
	gap   float32
	width float32 // of the last layout: the height follows from it
}

func (w *wrapRow) place(objects []fyne.CanvasObject, width float32, at func(o fyne.CanvasObject, x, y, height float32)) float32 {
	var x, y, tall float32
	var line []fyne.CanvasObject
	end := func() {
		for x := float32(0); len(line) > 0; line = line[1:] {
			at(line[0], x, y, tall)
			x += line[0].MinSize().Width + w.gap
		}
	}
	for _, o := range objects {
		if !o.Visible() {
			continue
		}
		m := o.MinSize()
		if x > 0 && x+m.Width > width {
			end()
			x, y, tall = 0, y+tall+w.gap, 0
		}
		line = append(line, o)
		x, tall = x+m.Width+w.gap, fyne.Max(tall, m.Height)
	}
	end()
	return y + tall
}

func (w *wrapRow) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var wide float32
	for _, o := range objects {
		if o.Visible() {
			wide = fyne.Max(wide, o.MinSize().Width)
		}
	}
	return fyne.NewSize(wide, w.place(objects, fyne.Max(w.width, wide), func(fyne.CanvasObject, float32, float32, float32) {}))
}

func (w *wrapRow) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	w.width = size.Width
	w.place(objects, size.Width, func(o fyne.CanvasObject, x, y, height float32) {
		o.Move(fyne.NewPos(x, y))
		o.Resize(fyne.NewSize(o.MinSize().Width, height))
	})
}
