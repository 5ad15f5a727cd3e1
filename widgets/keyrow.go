package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
)

var (
	_ fyne.Focusable    = (*KeyRow)(nil)
	_ fyne.Shortcutable = (*KeyRow)(nil)
)

// KeyRow is a TapRow of a list with keys of its own, so that what can be done with a row costs one stop of the Tab key and not one a
// button. What it has no use for goes to the window.
type KeyRow struct {
	TapRow
	OnKey   func(fyne.KeyName) bool // any key but Enter and Escape; false: it means nothing here
	OnAlt   func(fyne.KeyName) bool // a key together with Alt
	OnUndo  func()                  // Ctrl+Z, Cmd+Z on a Mac
	OnFocus func()                  // it got the keyboard: a scroller brings it into sight
}

// NewKeyRow makes a row; Enter and a tap open it.
func NewKeyRow(content fyne.CanvasObject, tapped func()) *KeyRow {
	r := &KeyRow{}
	r.Content, r.OnTapped = content, tapped
	r.ExtendBaseWidget(r)
	return r
}

// FocusGained implements fyne.Focusable.
func (r *KeyRow) FocusGained() {
	r.TapRow.FocusGained()
	if r.OnFocus != nil {
		r.OnFocus()
	}
}

// Tapped opens the row, and gives it the keyboard: what was clicked is what the keys are about from then on.
func (r *KeyRow) Tapped(e *fyne.PointEvent) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(r); c != nil && !r.focused {
		c.Focus(r)
	}
	r.TapRow.Tapped(e)
}

// TypedKey implements fyne.Focusable.
func (r *KeyRow) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyReturn, fyne.KeyEnter:
		r.Tapped(nil)
	case fyne.KeyEscape:
		HandUp(r, e)
	default:
		if r.OnKey != nil {
			r.OnKey(e.Name)
		}
	}
}

// TypedShortcut implements fyne.Shortcutable.
func (r *KeyRow) TypedShortcut(sc fyne.Shortcut) {
	switch s := sc.(type) {
	case *fyne.ShortcutUndo:
		if r.OnUndo != nil {
			r.OnUndo()
			return
		}
	case *desktop.CustomShortcut:
		if s.Modifier == fyne.KeyModifierAlt && r.OnAlt != nil && r.OnAlt(s.KeyName) {
			return
		}
	}
	if c, ok := fyne.CurrentApp().Driver().CanvasForObject(r).(interface{ TypedShortcut(fyne.Shortcut) }); ok {
		c.TypedShortcut(sc)
	}
}

// FocusButton is a Button that says when it gets the keyboard, so that a scroller can bring it into sight.
type FocusButton struct {
	Button
	OnFocus func()
}

// NewFocusButton makes a bordered button. icon may be nil.
func NewFocusButton(text string, icon fyne.Resource, tapped, focused func()) *FocusButton {
	b := &FocusButton{OnFocus: focused}
	b.Text, b.OnTapped = text, tapped
	if icon != nil {
		b.Icon = theme.NewColoredResource(icon, ColorText)
	}
	b.ExtendBaseWidget(b)
	return b
}

// FocusGained implements fyne.Focusable.
func (b *FocusButton) FocusGained() {
	b.Button.FocusGained()
	if b.OnFocus != nil {
		b.OnFocus()
	}
}
