package desktop

import (
	"context"
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"sandglass/widgets"
)

// weekQueue is the launch queue on the Week page: what goes out next and why it waits. It is changed on the Plan page.
type weekQueue struct {
	h     host
	card  *widgets.Card
	pause *widgets.Button
	plan  *widgets.Button
	note  *widgets.Text
	list  *fyne.Container
	on    bool // paused
	shown string
}

// weekQueueMost is how many runs are shown; the rest is on the Plan page.
const weekQueueMost = 3

func newWeekQueue(h host) *weekQueue {
	c := &weekQueue{h: h, list: widgets.VBox(0), note: widgets.NewText("", widgets.ColorWarning, widgets.SizeCaption, fyne.TextStyle{}).Wrapped()}
	c.pause = widgets.NewButton(lang.L("Pause"), nil, c.toggle)
	c.plan = widgets.NewButton(lang.L("Open Plan"), nil, func() { h.Go("plan") })
	h.Mark("week.pause", c.pause)
	h.Mark("week.plan", c.plan)
	c.card = widgets.NewCard(lang.L("Launch queue"), nil,
		widgets.VBox(0, c.note, c.list, widgets.Pad(widgets.Gap12, 0, 0, 0, widgets.WrapRow(widgets.Gap8, c.plan, c.pause))))
	return c
}

func (c *weekQueue) toggle() {
	on := !c.on
	c.h.Background(func(ctx context.Context) {
		err := c.h.Core().QueuePause(ctx, on)
		c.h.Do(func() {
			if err != nil {
				c.h.Fail(err)
			}
			c.h.Reload()
		})
	})
}

func (c *weekQueue) show(v queueView) {
	c.on = v.Paused
	words := lang.L("Pause")
	if v.Paused {
		words = lang.L("Go on")
	}
	if c.pause.Text != words {
		c.pause.SetText(words)
	}
	setVisible(c.pause, v.Waiting > 0 || v.Paused)
	c.note.Set(v.Note)
	setVisible(c.note, v.Note != "")
	if now := keyOf(v); now != c.shown { // a row that is still right keeps the keyboard
		c.shown = now
		c.fill(v)
	}
	c.card.Refresh()
}

func (c *weekQueue) fill(v queueView) {
	c.list.RemoveAll()
	if len(v.Rows) == 0 {
		c.list.Add(widgets.Muted(v.Empty).Wrapped())
		return
	}
	for i, r := range v.Rows {
		if i == weekQueueMost {
			c.list.Add(widgets.Pad(widgets.Gap4, 0, 0, widgets.Gap8, widgets.Caption(fmt.Sprintf(lang.L("%d more in Plan"), len(v.Rows)-i))))
			return
		}
		c.list.Add(nextObject(nextRow{r.ID, r.Name, r.Short, r.Why}, c.h.OpenRun, i == len(v.Rows)-1 || i == weekQueueMost-1))
	}
}

// lastGrows stacks what is visible, the last of it over the height that is left.
type lastGrows struct{}

func (lastGrows) MinSize(o []fyne.CanvasObject) fyne.Size {
	var s fyne.Size
	for _, x := range o {
		if x.Visible() {
			m := x.MinSize()
			if s.Height > 0 {
				s.Height += widgets.Gap12
			}
			s = fyne.NewSize(fyne.Max(s.Width, m.Width), s.Height+m.Height)
		}
	}
	return s
}

func (lastGrows) Layout(o []fyne.CanvasObject, s fyne.Size) {
	y := float32(0)
	for i, x := range o {
		if !x.Visible() {
			continue
		}
		h := x.MinSize().Height
		if i == len(o)-1 {
			h = fyne.Max(h, s.Height-y)
		}
		x.Resize(fyne.NewSize(s.Width, h))
		x.Move(fyne.NewPos(0, y))
		y += h + widgets.Gap12
	}
}
