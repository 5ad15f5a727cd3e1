package desktop

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"

	"sandglass/app"
	"sandglass/widgets"
)

// rehearsalRow is one check as the step shows it.
type rehearsalRow struct {
	Status            widgets.Status
	Text, Detail, Fix string
}

// rehearsalView is what a rehearsal has shown, in words.
type rehearsalView struct {
	Verdict string
	Tone    tone
	Rows    []rehearsalRow
	Not     string // what only Kaggle can show
	Log     string // last lines, when something is wrong
}

// newRehearsalView words a rehearsal. What is wrong comes first.
func newRehearsalView(r app.Rehearsal) rehearsalView {
	v := rehearsalView{Verdict: said(r.Verdict), Tone: toneGood}
	if v.Verdict == "" {
		v.Verdict = lang.L("The rehearsal is over.")
	}
	if !r.OK {
		v.Tone = toneBad
		n := len(r.Log)
		v.Log = strings.Join(r.Log[max(0, n-12):], "\n")
	}
	for _, state := range []string{app.CheckBad, app.CheckWarn, app.CheckOK, app.CheckSkipped} {
		for _, c := range r.Checks {
			if c.State == state {
				v.Rows = append(v.Rows, rehearsalRow{checkStatus(state), said(c.Text), said(c.Detail), said(c.Fix)})
			}
		}
	}
	if len(r.NotRehearsed) > 0 {
		v.Not = lang.L("Only Kaggle can show: ") + strings.Join(saidAll(r.NotRehearsed), "; ") + "."
	}
	return v
}

func checkStatus(state string) widgets.Status {
	switch state {
	case app.CheckOK:
		return widgets.Status{Word: lang.L("fine"), Shape: widgets.ShapeCheck, Color: widgets.ColorGood}
	case app.CheckWarn:
		return widgets.Status{Word: lang.L("look"), Shape: widgets.ShapeBang, Color: widgets.ColorWarning}
	case app.CheckBad:
		return widgets.Status{Word: lang.L("wrong"), Shape: widgets.ShapeCross, Color: widgets.ColorBad}
	}
	return widgets.Status{Word: lang.L("not seen"), Shape: widgets.ShapeRing}
}

// rehearsed says how the described run stands with its rehearsal: "", "good" or "bad".
func (w *wizard) rehearsed() string {
	switch r := &w.rehearsal; {
	case !r.fresh(w.rehearsalKey()):
		return ""
	case r.got.OK:
		return "good"
	}
	return "bad"
}

// skipRisk is a word of what going on without a rehearsal risks.
func (w *wizard) skipRisk() string {
	switch poolOfShape(w.form.Shape) {
	case app.PoolTPU:
		return lang.L("A crash at once would cost the whole wait in the TPU queue.")
	case app.PoolCPU:
		return lang.L("A crash would show only once Kaggle has started it.")
	}
	return lang.L("A crash that shows here in seconds would cost GPU-hours and the start-up there.")
}

// rehearsePane is the fifth step: the very script runs here before it runs there.
type rehearsePane struct {
	p     *newPage
	root  *fyne.Container
	words *widgets.Text
	run   *widgets.Button
	skip  *widgets.Button
	box   *fyne.Container
	line  *widgets.StepProgress
	tail  *widgets.Text
	clock context.CancelFunc
	lines []string

	verdict  *widgets.Text
	badge    *widgets.Badge
	checks   *fyne.Container
	not, log *widgets.Text
	result   *widgets.Card
	logCard  *widgets.Card
	shown    string
}

func newRehearsePane(p *newPage) *rehearsePane {
	c := &rehearsePane{p: p, words: wrapped(""), verdict: widgets.Strong("").Wrapped(), badge: widgets.NewBadge(widgets.Status{}), checks: widgets.VBox(0),
		not: widgets.Caption("").Wrapped(), log: widgets.Mono("").Wrapped(), tail: widgets.Mono("").Truncated(), box: container.NewStack()}
	c.run = widgets.NewButton(lang.L("Rehearse again"), widgets.IconRefresh.Resource(), c.start)
	c.skip = widgets.NewButton(lang.L("Skip"), nil, c.pass)
	p.h.Mark("new.rehearse", c.run)
	p.h.Mark("new.skip", c.skip)
	c.box.Hide()
	c.result = widgets.NewCard("", nil, widgets.VBox(widgets.Gap8, container.New(verdictLine{}, c.badge, c.verdict), c.checks, c.not))
	c.logCard = widgets.NewCard(lang.L("Last lines of its log"), nil, c.log)
	c.tail.Hide()
	c.root = widgets.VBox(widgets.Gap12, widgets.NewCard(lang.L("A rehearsal on this computer"), nil, widgets.VBox(widgets.Gap8, c.words, c.box, c.tail, widgets.HBox(0, c.run))), c.result, c.logCard)
	return c
}

// verdictLine is a badge and the words beside it, which wrap.
type verdictLine struct{}

func (verdictLine) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(160, fyne.Max(o[0].MinSize().Height, o[1].MinSize().Height))
}

func (verdictLine) Layout(o []fyne.CanvasObject, s fyne.Size) {
	m := o[0].MinSize()
	o[0].Resize(m)
	o[0].Move(fyne.NewPos(0, 0))
	x := widgets.Grown(verdictBadge)
	o[1].Resize(fyne.NewSize(s.Width-x, fyne.Max(m.Height, o[1].MinSize().Height)))
	o[1].Move(fyne.NewPos(x, 0))
}

// verdictBadge is the width kept for a badge, the same in every row so that the words stand below each other.
const verdictBadge = 92

func (c *rehearsePane) object() fyne.CanvasObject { return c.root }
func (c *rehearsePane) first() fyne.Focusable     { return nil }

// entered looks whether the same code was rehearsed before: then nothing has to run again.
func (c *rehearsePane) entered() {
	c.p.packSoon()
	c.recall()
}

// recall takes over an earlier rehearsal of what was packed.
func (c *rehearsePane) recall() {
	w := &c.p.w
	if w.rehearsed() != "" || w.rehearsal.busy || !w.build.fresh(w.buildKey()) {
		return
	}
	key, dir, core := w.rehearsalKey(), w.build.got.Dir, c.p.h.Core()
	type found struct {
		r  app.Rehearsal
		ok bool
	}
	ask(c.p, "recall", func(ctx context.Context) (found, error) {
		r, ok, err := core.RehearsalOf(ctx, dir)
		return found{r, ok}, err
	}, func(f found, err error) {
		if err == nil && f.ok && !w.rehearsal.busy {
			w.rehearsal = asked[app.Rehearsal]{key: key, have: true, got: f.r}
			if w.at == stepRehearse {
				c.p.focusFirst()
			}
		}
	})
}

// start rehearses.
func (c *rehearsePane) start() {
	w := &c.p.w
	if w.rehearsal.busy {
		return
	}
	key := w.rehearsalKey()
	w.rehearsal = asked[app.Rehearsal]{}
	w.rehearsal.ask(key)
	s, _ := w.spec()
	c.lines = nil
	c.line = widgets.NewStepProgress(time.Now(), c.stop)
	c.line.Set(lang.L("Packing"), 0, 0)
	c.line.Tick(time.Now())
	c.box.Objects = []fyne.CanvasObject{c.line}
	c.clock = ticking(c.p.h, time.Second, func(now time.Time) {
		if c.line != nil {
			c.line.Tick(now)
		}
		c.tail.Set(strings.Join(c.lines, "\n"))
	})
	core := c.p.h.Core()
	opt := app.RehearseOptions{Log: func(l app.LogLine) {
		c.p.h.Do(func() { c.lines = []string{l.Text} })
	}}
	ask(c.p, "rehearsal", func(ctx context.Context) (app.Rehearsal, error) {
		return core.Rehearse(ctx, s, opt, func(pr app.Progress) {
			c.p.h.Do(func() {
				if c.line != nil {
					c.line.Set(progressText(pr), pr.Done, pr.Total)
				}
			})
		})
	}, func(r app.Rehearsal, err error) {
		c.end()
		w.rehearsal.answer(key, r, err)
		if err == nil && r.PredictedTaskHours != nil { // a length that the step before did not know
			w.hours = asked[hoursView]{}
			c.p.panes[stepHours].entered()
		}
		c.p.render()
		if w.at == stepRehearse {
			c.p.focusFirst()
		}
	})
	c.p.render()
}

// stop ends a rehearsal; nothing of it runs on.
func (c *rehearsePane) stop() {
	c.halt()
	c.p.render()
	c.p.focusFirst()
}

func (c *rehearsePane) halt() {
	c.p.stopAsk("rehearsal")
	c.end()
	c.p.w.rehearsal = asked[app.Rehearsal]{}
}

// held says that the way on is not open yet.
func (c *rehearsePane) held() bool { return c.p.w.rehearsal.busy }

func (c *rehearsePane) end() {
	if c.clock != nil {
		c.clock()
		c.clock = nil
	}
	c.line = nil
}

// pass goes on without a rehearsal.
func (c *rehearsePane) pass() {
	w := &c.p.w
	if w.rehearsal.busy {
		c.halt()
	}
	w.skipped = w.rehearsalKey()
	c.p.goNext()
}

// leave rehearses first, when that was neither done nor waved through.
func (c *rehearsePane) leave() bool {
	w := &c.p.w
	if w.rehearsal.busy {
		return false
	}
	if w.rehearsed() != "" || w.skipped == w.rehearsalKey() || c.p.h.Core() == nil {
		return true
	}
	if w.rehearsal.err != nil && w.rehearsal.key == w.rehearsalKey() {
		w.skipped = w.rehearsalKey() // it cannot be rehearsed here; the words above the button said so
		return true
	}
	c.start()
	return false
}

func (c *rehearsePane) foot() (note, next string, extra []fyne.CanvasObject) {
	w := &c.p.w
	switch {
	case w.rehearsal.busy:
		return lang.L("It runs here, nothing is spent. Going back does not stop it."), lang.L("Rehearsing…"), []fyne.CanvasObject{c.skip}
	case w.rehearsed() == "bad":
		return lang.L("What is wrong here would most likely be wrong there."), lang.L("Continue all the same"), nil
	case w.rehearsed() == "good", w.skipped == w.rehearsalKey():
		return "", "", nil
	case w.rehearsal.err != nil && w.rehearsal.key == w.rehearsalKey():
		return w.skipRisk(), lang.L("Continue without"), nil
	}
	return w.skipRisk(), lang.L("Rehearse now"), []fyne.CanvasObject{c.skip}
}

func (c *rehearsePane) show(time.Time) {
	w := &c.p.w
	c.words.Set(c.text())
	setVisible(c.box, w.rehearsal.busy)
	setVisible(c.tail, w.rehearsal.busy && c.tail.Text != "")
	setVisible(c.run, w.rehearsed() != "" || w.rehearsal.err != nil && w.rehearsal.key == w.rehearsalKey())
	setVisible(c.result, w.rehearsed() != "")
	if w.rehearsed() == "" {
		c.logCard.Hide()
		return
	}
	v := newRehearsalView(w.rehearsal.got)
	if now := keyOf(v); now != c.shown {
		c.shown = now
		c.badge.Set(v.Tone.status(map[tone]string{toneGood: lang.L("passed"), toneBad: lang.L("failed")}[v.Tone]))
		c.verdict.Set(v.Verdict)
		c.checks.RemoveAll()
		for _, r := range v.Rows {
			c.checks.Add(checkObject(r))
		}
		c.not.Set(v.Not)
		c.log.Set(v.Log)
	}
	setVisible(c.not, v.Not != "")
	setVisible(c.logCard, v.Log != "")
}

// text says what a rehearsal is, or how it stands.
func (c *rehearsePane) text() string {
	w := &c.p.w
	switch {
	case w.rehearsal.err != nil && w.rehearsal.key == w.rehearsalKey():
		ex := explain(w.rehearsal.err)
		return strings.TrimSpace(ex.Title + ". " + ex.Sentence + " " + ex.Action)
	case w.rehearsed() != "":
		r := w.rehearsal.got
		text := fmt.Sprintf(lang.L("The script that would be pushed ran here for %s."), span(time.Duration(r.Seconds*float64(time.Second))))
		if !r.At.IsZero() {
			text += " " + fmt.Sprintf(lang.L("That was %s."), when(r.At, time.Now()))
		}
		return text
	}
	return lang.L("The very script that would be pushed runs here first, for its first batches: imports, paths, inputs, what it writes and how big that gets. It takes a minute or two, nothing is sent and no quota is spent.")
}

// checkObject is one check: its badge, its words, and what to do.
func checkObject(r rehearsalRow) fyne.CanvasObject {
	words := widgets.VBox(2, wrapped(r.Text))
	if r.Fix != "" {
		words.Add(widgets.NewText(r.Fix, "", "", fyne.TextStyle{Bold: true}).Wrapped())
	}
	if r.Detail != "" && r.Status.Shape != widgets.ShapeCheck {
		words.Add(widgets.Caption(r.Detail).Wrapped())
	}
	return widgets.VBox(0, widgets.NewHairline(), widgets.Pad(widgets.Gap4, 0, widgets.Gap4, 0, container.New(verdictLine{}, widgets.NewBadge(r.Status), words)))
}
