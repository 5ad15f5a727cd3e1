package desktop

import (
	"context"
	"runtime"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"sandglass/widgets"
)

// entry is a text field that leaves the window's shortcuts working: Fyne's own keeps every shortcut to itself while it has the
// focus. Escape leaves the field.
type entry struct {
	widget.Entry
	shell   *shell
	onFocus func() // it got the keyboard; nil = nobody asks
}

// FocusGained implements fyne.Focusable.
func (e *entry) FocusGained() {
	e.Entry.FocusGained()
	if e.onFocus != nil {
		e.onFocus()
	}
}

func newEntry(h host, placeholder string) *entry {
	e := &entry{}
	e.shell, _ = h.(*shell)
	e.SetPlaceHolder(placeholder)
	e.ExtendBaseWidget(e)
	return e
}

// newSecretEntry hides what is typed.
func newSecretEntry(h host, placeholder string) *entry {
	e := newEntry(h, placeholder)
	e.Password = true
	return e
}

// TypedShortcut hands the window's shortcuts on and keeps the rest.
func (e *entry) TypedShortcut(sc fyne.Shortcut) {
	if c, ok := sc.(*desktop.CustomShortcut); ok && e.shell != nil {
		if *c == *backShortcut() && runtime.GOOS != "darwin" { // a Mac's fields walk by words with it
			if e.shell.dialogs == 0 {
				e.shell.escape()
			}
			return
		}
		if act, ok := e.shell.keys()[c.KeyName]; ok && c.Modifier == fyne.KeyModifierShortcutDefault {
			if e.shell.dialogs == 0 {
				act()
			}
			return
		}
	}
	e.Entry.TypedShortcut(sc)
}

// TypedKey leaves the field, or closes the dialog around it, on Escape; F1 is the window's.
func (e *entry) TypedKey(ev *fyne.KeyEvent) {
	if ev.Name == fyne.KeyEscape && e.shell != nil {
		e.shell.escape()
		return
	}
	if ev.Name == fyne.KeyF1 {
		widgets.HandUp(e, ev)
		return
	}
	e.Entry.TypedKey(ev)
}

// work is the line about long work: hidden until something starts, then words, time gone by, and how to stop it.
type work struct {
	h    host
	box  *fyne.Container
	line *widgets.StepProgress
	stop context.CancelFunc
}

func newWork(h host) *work {
	w := &work{h: h, box: container.NewStack()}
	w.box.Hide()
	return w
}

// start shows the line. cancel nil means that the work cannot be stopped half-way.
func (w *work) start(words string, cancel func()) {
	w.finish()
	w.line = widgets.NewStepProgress(time.Now(), cancel)
	w.line.Set(words, 0, 0)
	w.line.Tick(time.Now())
	w.box.Objects = []fyne.CanvasObject{widgets.AtLeast(360, 0, w.line)}
	w.box.Show()
	w.box.Refresh()
	w.stop = ticking(w.h, time.Second, w.line.Tick)
}

func (w *work) step(words string, done, total int64) {
	if w.line != nil {
		w.line.Set(words, done, total)
	}
}

func (w *work) finish() {
	if w.stop != nil {
		w.stop()
		w.stop = nil
	}
	w.line = nil
	w.box.Hide()
}

// pageFrame puts a page's head above its body, with the page's margins.
func pageFrame(head, body fyne.CanvasObject) *fyne.Container {
	return widgets.Pad(widgets.Gap16, widgets.Gap24, widgets.Gap16, widgets.Gap24,
		container.NewBorder(widgets.Pad(0, 0, widgets.Gap12, 0, head), nil, nil, nil, body))
}

// wrapped is a paragraph.
func wrapped(text string) *widgets.Text { return widgets.Body(text).Wrapped() }

// centred puts one thing into the middle of the window.
func centred(o fyne.CanvasObject) fyne.CanvasObject {
	return container.New(layout.NewCenterLayout(), o)
}

func setVisible(o fyne.CanvasObject, yes bool) {
	if yes {
		o.Show()
	} else {
		o.Hide()
	}
}

// fixedWidth lays out one object at a width, grown with the text, over the whole height.
type fixedWidth float32

func (w fixedWidth) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var h float32
	for _, o := range objects {
		h = fyne.Max(h, o.MinSize().Height)
	}
	return fyne.NewSize(widgets.Grown(float32(w)), h)
}

func (w fixedWidth) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objects {
		o.Move(fyne.NewPos(0, 0))
		o.Resize(fyne.NewSize(widgets.Grown(float32(w)), size.Height))
	}
}

// status is how a tone looks: a shape and a colour beside the word.
func (t tone) status(word string) widgets.Status {
	switch t {
	case toneBusy:
		return widgets.Status{Word: word, Shape: widgets.ShapePlay, Color: widgets.ColorGPU}
	case toneQueued:
		return widgets.Status{Word: word, Shape: widgets.ShapeClock, Color: widgets.ColorTPU}
	case toneGood:
		return widgets.Status{Word: word, Shape: widgets.ShapeCheck, Color: widgets.ColorGood}
	case toneWarn:
		return widgets.Status{Word: word, Shape: widgets.ShapeSquare, Color: widgets.ColorWarning}
	case toneBad:
		return widgets.Status{Word: word, Shape: widgets.ShapeCross, Color: widgets.ColorBad}
	}
	return widgets.Status{Word: word, Shape: widgets.ShapeRing, Color: widgets.ColorMuted}
}
