package desktop

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"sandglass/app"
	"sandglass/widgets"
)

// stopView is what the Stop dialog says: what can be done depends on where the run is.
type stopView struct {
	Title  string
	Words  string
	Typed  string // the name that has to be typed before the kernel is deleted
	Button string
}

func newStopView(r app.RunView) stopView {
	v := stopView{Title: fmt.Sprintf(lang.L("Stop %s?"), r.Name), Typed: r.Name, Button: lang.L("Delete the kernel")}
	switch r.State {
	case app.StateQueued:
		v.Words = lang.L("Kaggle cannot take a run out of its queue. Deleting the kernel frees the slot; it removes the kernel with all its versions and their output, and cannot be undone.")
	default:
		v.Words = lang.L("Kaggle has no public way to stop a session. On the run's page there is a Stop button; what the run has saved by then is kept. Deleting the kernel ends it too, but removes all its versions and their output, and cannot be undone.")
	}
	v.Words += " " + lang.L("What was collected stays on this computer.")
	return v
}

// stopRun explains what stopping means here and does it only after the run's name was typed.
func (p *runPage) stopRun() {
	s, ok := p.h.(*shell)
	if !ok || !p.have {
		return
	}
	v := newStopView(p.last)
	var m *modal
	name := newEntry(p.h, v.Typed)
	gone := widgets.NewButton(v.Button, nil, func() {
		m.Hide()
		p.work.start(lang.L("Deleting the kernel at Kaggle…"), nil)
		id := strconv.FormatInt(p.id, 10)
		p.h.Background(func(ctx context.Context) {
			err := p.h.Core().Delete(ctx, id)
			p.h.Do(func() {
				p.work.finish()
				if err != nil {
					p.h.Fail(err)
					return
				}
				p.h.Toast(lang.L("Deleted at Kaggle."))
				p.h.Reload()
			})
		})
	})
	gone.Disable()
	name.OnChanged = func(text string) {
		if strings.TrimSpace(text) == v.Typed {
			gone.Enable()
		} else {
			gone.Disable()
		}
	}
	leave := widgets.NewPrimary(lang.L("Let it run"), nil, func() { m.Hide() })
	buttons := []fyne.CanvasObject{gone, leave}
	if p.kaggle.Visible() {
		page := widgets.NewButton(lang.L("Open its page"), widgets.IconExternal.Resource(), func() { m.Hide(); s.OpenURL(p.last.URL) })
		buttons = []fyne.CanvasObject{gone, page, leave}
	}
	s.Mark("stop.name", name)
	s.Mark("stop.delete", gone)
	s.Mark("stop.leave", leave)
	m = s.showModal(v.Title, widgets.VBox(widgets.Gap12, wrapped(v.Words),
		widgets.Muted(fmt.Sprintf(lang.L("To delete it, type its name: %s"), v.Typed)), name), 560, nil, buttons...)
	s.win.Canvas().Focus(leave)
}
