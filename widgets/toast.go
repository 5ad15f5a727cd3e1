package widgets

import (
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"
)

// ToastTime is how long the result of something that went well stays.
const ToastTime = 4 * time.Second

// Toasts is an overlay at the bottom of a window for the results of what the person just did. Put it on top of a Stack; it
// covers nothing but its own boxes. A success leaves after ToastTime, a failure stays until it is dismissed.
type Toasts struct {
	widget.BaseWidget
	// After runs f on the UI thread later. nil = a timer and fyne.Do.
	After func(d time.Duration, f func())
	box   *fyne.Container
}

// NewToasts makes the overlay.
func NewToasts() *Toasts {
	t := &Toasts{box: VBox(Gap8)}
	t.ExtendBaseWidget(t)
	return t
}

// Say shows a success.
func (t *Toasts) Say(text string) {
	box := t.add(text, ColorGood, IconCheck, "", nil)
	after := t.After
	if after == nil {
		after = func(d time.Duration, f func()) { time.AfterFunc(d, func() { fyne.Do(f) }) }
	}
	after(ToastTime, func() { t.remove(box) })
}

// Fail shows a failure with an action, for instance "Details"; action "" shows none.
func (t *Toasts) Fail(text, action string, tapped func()) {
	t.add(text, ColorBad, IconWarning, action, tapped)
}

// Count is how many are shown.
func (t *Toasts) Count() int { return len(t.box.Objects) }

func (t *Toasts) add(text string, color fyne.ThemeColorName, icon Icon, action string, tapped func()) fyne.CanvasObject {
	const most = 3
	if len(t.box.Objects) >= most {
		t.remove(t.box.Objects[0])
	}
	var box *Card
	words := Body(text).Wrapped()
	right := HBox(Gap4)
	if action != "" {
		right.Add(NewButton(action, nil, func() {
			t.remove(box)
			tapped()
		}))
	}
	right.Add(NewQuiet("", IconCross.Resource(), func() { t.remove(box) }))
	line := container.NewBorder(nil, nil, Pad(0, Gap8, 0, 0, NewIcon(icon, color, 16)), Middle(right), Middle(words))
	box = NewCard("", nil, line)
	box.Border = color
	t.box.Add(box)
	t.Refresh()
	return box
}

func (t *Toasts) remove(o fyne.CanvasObject) {
	t.box.Remove(o)
	t.Refresh()
}

// CreateRenderer implements fyne.Widget.
func (t *Toasts) CreateRenderer() fyne.WidgetRenderer {
	t.ExtendBaseWidget(t)
	return &toastRenderer{t: t, objects: []fyne.CanvasObject{t.box}}
}

type toastRenderer struct {
	t       *Toasts
	objects []fyne.CanvasObject
}

func (r *toastRenderer) Layout(s fyne.Size) {
	w := min(480, s.Width-2*Gap16)
	for range 2 { // the height of wrapped words is known once they have their width
		h := r.t.box.MinSize().Height
		r.t.box.Resize(fyne.NewSize(w, h))
		r.t.box.Move(fyne.NewPos((s.Width-w)/2, s.Height-h-Gap24))
	}
}

func (r *toastRenderer) MinSize() fyne.Size { return fyne.Size{} }
func (r *toastRenderer) Refresh() {
	r.Layout(r.t.BaseWidget.Size())
	canvas.Refresh(r.t)
}
func (r *toastRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *toastRenderer) Destroy()                     {}

// StepProgress is a line about long work: what is being done, since when, how far, and how to stop it. The owner calls Tick about
// once a second; the widget has no clock of its own.
type StepProgress struct {
	widget.BaseWidget
	OnCancel func()

	words, time *Text
	bar         *QuotaBar
	cancel      *Button
	started     time.Time
	done, total int64
}

// NewStepProgress makes a line for work that began at start.
func NewStepProgress(start time.Time, onCancel func()) *StepProgress {
	p := &StepProgress{OnCancel: onCancel, words: Body("").Truncated(), time: Caption(""), bar: NewMeter(0, ColorAccent), started: start}
	p.cancel = NewButton(lang.L("Cancel"), nil, func() {
		p.cancel.SetText(lang.L("Cancelling…"))
		p.cancel.Disable()
		if p.OnCancel != nil {
			p.OnCancel()
		}
	})
	if onCancel == nil {
		p.cancel.Hide()
	}
	p.ExtendBaseWidget(p)
	return p
}

// Set says what is being done and how far it is; total 0 means that the amount is not known.
func (p *StepProgress) Set(words string, done, total int64) {
	p.done, p.total = done, total
	p.words.Set(words)
	if total > 0 {
		p.bar.Set(float64(total), Segment{Value: float64(done), Color: ColorAccent})
	} else {
		p.bar.Set(1)
	}
}

// Tick shows the time that has gone by and, when the amount is known, what is left at this speed.
func (p *StepProgress) Tick(now time.Time) {
	gone := now.Sub(p.started)
	text := shortTime(gone)
	if p.total > 0 && p.done > 0 && p.done < p.total && gone > 2*time.Second {
		left := time.Duration(float64(gone) * float64(p.total-p.done) / float64(p.done))
		text = fmt.Sprintf(lang.L("%s, about %s left"), text, shortTime(left))
	}
	p.time.Set(text)
}

func shortTime(d time.Duration) string {
	d = d.Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	}
}

// CreateRenderer implements fyne.Widget.
func (p *StepProgress) CreateRenderer() fyne.WidgetRenderer {
	p.ExtendBaseWidget(p)
	text := VBox(Gap4, Spread(p.words, p.time), p.bar)
	return widget.NewSimpleRenderer(container.NewBorder(nil, nil, nil, Pad(0, 0, 0, Gap12, Middle(p.cancel)), Middle(text)))
}
