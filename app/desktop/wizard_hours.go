package desktop

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"sandglass/widgets"
)

// hoursPane is the fourth step: the cap, with the chance that it stops the run.
type hoursPane struct {
	p     *newPage
	root  *fyne.Container
	basis *widgets.Text
	chart *widgets.Chart
	cap   *entry
	slide *slider
	use   *widgets.Button
	hint  *hint

	stopped, week, other *widgets.Text
	otherCard            *widgets.Card
	warn                 *fyne.Container
	warned               string
}

func newHoursPane(p *newPage) *hoursPane {
	c := &hoursPane{p: p, basis: widgets.Caption("").Wrapped(), hint: newHint(), stopped: wrapped(""), week: wrapped(""), other: wrapped(""), warn: widgets.VBox(widgets.Gap8)}
	c.chart = widgets.NewChart(lang.L("Nothing is known yet of how long this job takes. After the first run the likely hours are drawn here."))
	c.chart.MinHeight, c.chart.Name = 190, "hours"
	c.chart.OnExport = exporter(p.h)
	c.cap = newEntry(p.h, lang.L("hours"))
	c.cap.OnChanged = func(s string) {
		p.w.form.Hours = s
		if !p.filling {
			p.w.capTyped = strings.TrimSpace(s) != ""
		}
		c.typed()
	}
	c.cap.OnSubmitted = func(string) { p.goNext() }
	c.cap.onFocus = func() { p.reveal(c.cap) }
	p.h.Mark("new.hours", c.cap)
	c.slide = newSlider(p)
	c.slide.OnChanged = func(v float64) {
		if text := hoursText(math.Round(v*10) / 10); !p.filling && text != c.cap.Text {
			c.cap.SetText(text)
		}
	}
	p.h.Mark("new.slider", c.slide)
	c.use = widgets.NewButton("", nil, func() {
		p.w.capTyped = false
		c.advise()
		p.changed()
		c.entered()
	})
	p.h.Mark("new.advised", c.use)
	line := container.NewBorder(nil, nil, widgets.Pad(0, widgets.Gap12, 0, 0, widgets.Middle(widgets.Muted(lang.L("Cap")))),
		widgets.HBox(widgets.Gap8, widgets.Pad(0, 0, 0, widgets.Gap8, container.New(fixedWidth(76), c.cap)), widgets.Middle(widgets.Muted("h")), widgets.Middle(c.use)), container.NewThemeOverride(c.slide, widgets.SliderTheme()))
	c.hint.box = container.NewStack(c.hint.words)
	c.hint.box.Hide()
	c.otherCard = widgets.NewCard(lang.L("Other ways"), nil, c.other)
	c.root = widgets.VBox(widgets.Gap12,
		widgets.NewCard(lang.L("How long it may run"), nil, widgets.VBox(widgets.Gap8, c.basis, c.chart, line, c.hint.box)),
		c.warn,
		widgets.Columns(widgets.Gap12, 380, nil, widgets.NewCard(lang.L("If the cap stops it"), nil, container.NewVBox(c.stopped)), widgets.NewCard(lang.L("This week"), nil, container.NewVBox(c.week))),
		c.otherCard)
	return c
}

// slider is Fyne's slider where Enter leads on.
type slider struct {
	widget.Slider
	p *newPage
}

func newSlider(p *newPage) *slider {
	s := &slider{p: p}
	s.Min, s.Max, s.Step = 0.1, 12, 0.1
	s.ExtendBaseWidget(s)
	return s
}

// TypedKey implements fyne.Focusable.
func (s *slider) TypedKey(ev *fyne.KeyEvent) {
	switch ev.Name {
	case fyne.KeyReturn, fyne.KeyEnter:
		s.p.goNext()
	case fyne.KeyEscape:
		widgets.HandUp(s, ev)
	default:
		s.Slider.TypedKey(ev)
	}
}

func (c *hoursPane) object() fyne.CanvasObject { return c.root }
func (c *hoursPane) first() fyne.Focusable     { return c.cap }

func (c *hoursPane) wrong(problems map[field]string) fyne.Focusable {
	if problems[fieldHours] != "" {
		return c.cap
	}
	return nil
}

func (c *hoursPane) fill() {
	if c.cap.Text != c.p.w.form.Hours {
		c.cap.SetText(c.p.w.form.Hours)
	}
}

func (c *hoursPane) typed() {
	if c.p.filling {
		return
	}
	c.p.changed()
	ask(c.p, "hours soon", func(ctx context.Context) (bool, error) {
		select {
		case <-ctx.Done():
		case <-time.After(350 * time.Millisecond):
		}
		return true, ctx.Err()
	}, func(bool, error) { c.entered() })
}

// entered asks how long earlier runs of this job took, and what follows for the cap.
func (c *hoursPane) entered() {
	w := &c.p.w
	key := w.hoursKey()
	if w.hours.due(key) {
		old := w.hours.got // the picture stays while a new cap is judged
		had := w.hours.have
		w.hours.ask(key)
		s, _ := w.spec()
		if !w.capTyped {
			s.Hours = 0
		}
		if had && !w.hours.have {
			w.hours.got = old
		}
		core, jobs, job, kind := c.p.h.Core(), w.jobTasks(s), w.jobKey(), w.model.Kind
		ask(c.p, "hours", func(ctx context.Context) (hoursView, error) { return askHours(ctx, core, s, jobs, kind) }, func(got hoursView, err error) {
			got.job, got.shape = job, s.Accelerator
			if w.hours.answer(key, got, err) {
				c.advise()
			}
		})
	}
	if w.form.Hours == "" {
		c.advise()
	}
	c.p.packSoon()
	c.p.render()
}

// advise writes the advised cap into the field, unless the person has one of their own.
func (c *hoursPane) advise() {
	w := &c.p.w
	if w.capTyped {
		return
	}
	h := w.adviseCap()
	if h <= 0 {
		return
	}
	c.p.filling = true
	w.form.Hours = hoursText(math.Round(h*10) / 10)
	c.fill()
	c.p.filling = false
}

// adviseCap is the cap to start with: the advised one where something was measured, else that of the project's last run. 0 while
// nothing is known: the person says it.
func (w *wizard) adviseCap() float64 {
	if v, ok := w.length(); ok && v.CapH > 0 {
		return v.CapH
	}
	if h := w.hours.got; h.shape == w.form.Shape && h.LimitH > 0 {
		return math.Min(w.lastHours, h.LimitH) // another machine than last time may run less long
	}
	return w.lastHours
}

func (c *hoursPane) show(time.Time) {
	w := &c.p.w
	v := w.hours.got
	_, problems := w.spec()
	hint := problems[fieldHours]
	if hint == "" && strings.TrimSpace(w.form.Hours) == "" {
		hint = lang.L("How long may it run? It is stopped then, and what it saved is kept.")
	}
	c.hint.set(hint)
	c.basis.Set(c.basisText())
	cap, ok := parseHours(w.form.Hours)
	if !ok {
		cap = 0
	}
	pool := poolOfShape(w.form.Shape)
	c.chart.SetData(v.chart(cap, pool))
	if v.LimitH > 0 && c.slide.Max != v.LimitH {
		c.slide.Max = v.LimitH
	}
	if cap > 0 && math.Abs(c.slide.Value-cap) > 0.04 {
		c.p.filling = true
		c.slide.SetValue(math.Min(cap, c.slide.Max))
		c.p.filling = false
	}
	advised := v.Known && v.CapH > 0 && math.Abs(v.CapH-cap) > 0.051 && w.capTyped
	setVisible(c.use, advised)
	if words := fmt.Sprintf(lang.L("Advised: %s"), hours(v.CapH)); advised && c.use.Text != words {
		c.use.SetText(words)
	}
	c.stopped.Set(orDash(v.Stopped))
	c.week.Set(orDash(v.ThisWeek))
	c.other.Set(strings.Join(v.Options, "\n"))
	setVisible(c.otherCard, len(v.Options) > 0)
	if now := strings.Join(v.Warnings, "\n"); now != c.warned {
		c.warned = now
		c.warn.RemoveAll()
		for _, s := range v.Warnings {
			card := widgets.NewCard("", nil, wrapped(s))
			card.Border = widgets.ColorWarning
			c.warn.Add(card)
		}
	}
	setVisible(c.warn, c.warned != "")
}

func orDash(s string) string {
	if s == "" {
		return lang.L("Not known yet.")
	}
	return s
}

func (c *hoursPane) basisText() string {
	w := &c.p.w
	switch {
	case w.hours.err != nil:
		ex := explain(w.hours.err)
		return strings.TrimSpace(ex.Sentence + " " + ex.Action)
	case w.hours.busy && !w.hours.have:
		return lang.L("Reading how long earlier runs of this job took…")
	}
	return strings.TrimSpace(w.hours.got.Parts + " " + w.hours.got.Basis)
}

// leave wants a cap: it is the only stop there is.
func (c *hoursPane) leave() bool {
	if strings.TrimSpace(c.p.w.form.Hours) == "" {
		c.p.h.Window().Canvas().Focus(c.cap)
		return false
	}
	return true
}
