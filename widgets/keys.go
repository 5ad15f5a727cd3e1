package widgets

import "fyne.io/fyne/v2"

// HandUp gives a key that a focused widget has no use for to the window, where Fyne would drop it: Escape leaves a page from
// whatever has the keyboard.
func HandUp(o fyne.CanvasObject, ev *fyne.KeyEvent) {
	c := fyne.CurrentApp().Driver().CanvasForObject(o)
	if c == nil {
		return
	}
	if typed := c.OnTypedKey(); typed != nil {
		typed(ev)
	}
}
