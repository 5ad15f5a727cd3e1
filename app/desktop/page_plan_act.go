package desktop

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"sandglass/app"
	"sandglass/widgets"
)

// askDeadline asks until when the plan runs. What is typed is read as it is typed, so that nobody has to guess the zone.
func (p *planPage) askDeadline() {
	s, ok := p.h.(*shell)
	if !ok {
		return
	}
	var m *modal
	box := newEntry(p.h, lang.L("2026-12-22, or 2026-12-22 18:00 Europe/Berlin"))
	told := widgets.Caption("").Wrapped()
	var at time.Time
	keep := widgets.NewPrimary(lang.L("Keep"), nil, nil)
	read := func(string) {
		told.SetColor(widgets.ColorMuted)
		if at = (time.Time{}); strings.TrimSpace(box.Text) == "" {
			told.Set(lang.L("Kaggle's deadlines are in UTC, mostly at 23:59."))
			keep.Disable()
			return
		}
		t, err := p.h.Core().ReadDeadline(box.Text)
		if err != nil {
			ex := explain(err)
			told.SetColor(widgets.ColorBad)
			told.Set(strings.TrimSpace(ex.Sentence + " " + ex.Action))
			keep.Disable()
			return
		}
		at = t
		now := time.Now()
		told.Set(fmt.Sprintf(lang.L("That is %s, in %s."), deadlineText(t, now), span(t.Sub(now))))
		keep.Enable()
	}
	store := func(t time.Time) {
		m.Hide()
		p.act(func(ctx context.Context, core *app.App) error { return core.SetDeadline(ctx, t) })
	}
	keep.OnTapped = func() {
		if !at.IsZero() {
			store(at)
		}
	}
	box.OnChanged, box.OnSubmitted = read, func(string) { keep.OnTapped() }
	if !p.last.Deadline.IsZero() {
		box.SetText(p.last.Deadline.UTC().Format("2006-01-02 15:04 UTC"))
	}
	read("")
	stop := widgets.NewButton(lang.L("Cancel"), nil, func() { m.Hide() })
	buttons := []fyne.CanvasObject{stop, keep}
	if !p.last.Deadline.IsZero() {
		forget := widgets.NewButton(lang.L("Forget it"), nil, func() { store(time.Time{}) })
		p.h.Mark("deadline.forget", forget)
		buttons = []fyne.CanvasObject{forget, stop, keep}
	}
	p.h.Mark("deadline.text", box)
	p.h.Mark("deadline.keep", keep)
	m = s.showModal(lang.L("Until when?"), widgets.VBox(widgets.Gap12,
		wrapped(lang.L("A date alone is the end of that day in UTC. A time without a zone is UTC, as at Kaggle; an offset or a zone's name may follow it.")), box, told), 520, nil, buttons...)
	s.win.Canvas().Focus(box)
}

// take does what a suggestion's one button says: what is built goes by way of the launch queue, after one question that names the
// cost; what is not opens in the wizard.
func (p *planPage) take(r startRow) {
	x := r.Suggestion
	s, ok := p.h.(*shell)
	if !ok {
		return
	}
	if !p.last.Ready(x) {
		p.busy.start(lang.L("Looking for an earlier run to start from"), nil)
		hours := 0.0
		if x.Partial && x.Hours != nil {
			hours = *x.Hours
		}
		p.h.Background(func(ctx context.Context) {
			spec, err := p.h.Core().BacklogSpec(ctx, x.Backlog, hours)
			p.h.Do(func() {
				p.busy.finish()
				if err != nil {
					p.h.Fail(err)
					return
				}
				s.newRunOf(spec)
			})
		})
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	words := lang.L("Asking Kaggle what is left and what runs…")
	if x.Run != 0 {
		words = lang.L("Building the follow-up…")
	}
	p.busy.start(words, cancel)
	p.scroll.ScrollToTop()
	p.h.Background(func(life context.Context) {
		defer context.AfterFunc(life, cancel)()
		plan, err := p.h.Core().PlanSuggestion(ctx, x, func(g app.Progress) {
			p.h.Do(func() { p.busy.step(words, g.Done, g.Total) })
		})
		p.h.Do(func() {
			p.busy.finish()
			gone := ctx.Err() != nil
			cancel()
			switch {
			case gone:
			case err != nil:
				p.h.Fail(err)
			default:
				p.askPush(s, x, plan)
			}
		})
	})
}

// askPush names the cost and what speaks against it, once; its button spends.
func (p *planPage) askPush(s *shell, x app.Suggestion, plan app.PushPlan) {
	var v reviewView
	v.decide(plan, false)
	var m *modal
	words := widgets.VBox(widgets.Gap8)
	cost := upper(plan.CostText) + "."
	if plan.Pool != app.PoolCPU {
		cost = upper(plan.CostText) + fmt.Sprintf(lang.L("; %s are left after it."), hours(plan.LeftAfter))
	}
	words.Add(wrapped(cost))
	for _, g := range plan.Guards {
		if g.Waits {
			words.Add(wrapped(said(g.Reason)))
			continue
		}
		b := widgets.NewBanner("", "", "", nil)
		b.Set(widgets.ColorBad, guardWord(g), said(strings.TrimSpace(g.Reason+" "+g.Advice)), "")
		words.Add(b)
	}
	for _, w := range plan.Warnings {
		words.Add(widgets.Caption(said(w)).Wrapped())
	}
	stop := widgets.NewButton(lang.L("Cancel"), nil, func() { m.Hide() })
	push := newDeliberate(v.Button, nil, func() {}) // Enter does not spend
	push.OnTapped = func() {
		m.Hide()
		p.busy.start(lang.L("Pushing"), nil)
		p.h.Background(func(ctx context.Context) {
			run, err := p.h.Core().PushSuggestion(ctx, x, plan, app.Consent{By: "button"})
			p.h.Do(func() {
				p.busy.finish()
				switch {
				case err != nil:
					p.h.Fail(err)
				case run.State == app.StateWaiting:
					p.h.Toast(fmt.Sprintf(lang.L("%s waits in the launch queue and is pushed when a slot frees."), run.Name))
				default:
					p.h.Toast(fmt.Sprintf(lang.L("Pushed %s, version %d."), run.Name, run.Version))
				}
				p.h.Reload()
			})
		})
	}
	p.h.Mark("planpush.go", push)
	p.h.Mark("planpush.cancel", stop)
	if !v.CanPush {
		push.Disable()
	}
	m = s.showModal(fmt.Sprintf(lang.L("Start %s?"), plan.Name), words, 560, nil, stop, push)
	s.win.Canvas().Focus(stop)
}

// startWith takes over what a new run is to be, from elsewhere in the window.
func (p *newPage) startWith(spec app.BuildSpec) {
	p.keep() // what was begun before stays under its own project
	p.loaded, p.project.left = true, nil
	p.reset()
	p.w.base, p.w.form = spec, formOf(spec)
	p.touched = true
	p.recallModel(spec.Project)
	p.fill()
	p.project.look()
	p.opened()
}
