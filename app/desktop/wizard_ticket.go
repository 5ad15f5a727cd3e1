package desktop

import (
	"fmt"

	"fyne.io/fyne/v2/lang"

	"sandglass/app"
)

// ticketLine is a label and its value.
type ticketLine struct{ Label, Value string }

// ticketRow is one row of the card that says what the run will be and cost.
type ticketRow struct {
	Label, Value string
	Tone         tone // neutral, warn or bad
}

// ticket is what the card beside the wizard says: always the same rows, so that the eye finds them, with a dash for what is not
// known yet.
type ticket struct {
	Lines []ticketRow
	Note  string
	Busy  string // what is being asked, "" = nothing
}

const unknown = "—"

// ticket words what is known of the run. Each number is the core's; only the words are made here.
func (w *wizard) ticket() ticket {
	var t ticket
	s, _ := w.spec()
	pool := poolOfShape(s.Accelerator)
	add := func(label, value string, tn tone) {
		if value == "" {
			value, tn = unknown, toneNeutral
		}
		t.Lines = append(t.Lines, ticketRow{label, value, tn})
	}
	add(lang.L("accelerator"), shapeLabel(s.Accelerator), toneNeutral)
	add(lang.L("tasks"), tasksText(s, w.tasks()), toneNeutral)
	add(lang.L("cap"), w.capText(s.Hours), toneNeutral)

	var expected, chance, done, left string
	chanceTone, leftTone := toneNeutral, toneNeutral
	if o, ok := w.chosen(); ok {
		expected, done = o.Burns, o.Done
	}
	if h, ok := w.length(); ok {
		expected = hours(h.ExpectedH)
		if s.Hours > 0 {
			chance, chanceTone = chanceText(h.KilledAt(s.Hours))
		}
	}
	left, leftTone = w.leftText(pool)
	add(lang.L("expected"), expected, toneNeutral)
	add(lang.L("chance to finish"), chance, chanceTone)
	add(lang.L("done by"), done, toneNeutral)
	add(lang.L("quota after"), left, leftTone)
	script, scriptTone := w.scriptText()
	add(lang.L("script"), script, scriptTone)

	switch {
	case w.build.busy:
		t.Busy = lang.L("Packing the project…")
	case w.advice.busy:
		t.Busy = lang.L("Comparing the accelerators…")
	case w.hours.busy:
		t.Busy = lang.L("Reading how long earlier runs took…")
	case w.plan.busy:
		t.Busy = lang.L("Asking Kaggle what is left…")
	}
	switch {
	case pool == app.PoolCPU:
		t.Note = lang.L("A CPU session takes no quota.")
	case s.Hours > 0:
		t.Note = fmt.Sprintf(lang.L("Held until it ends: %s. Charged: what it really runs."), hours(s.Hours))
	default:
		t.Note = lang.L("The cap is set two steps on. A run that ends early is charged only for what it ran.")
	}
	return t
}

func (w *wizard) capText(h float64) string {
	if h <= 0 {
		return ""
	}
	return hours(h)
}

// tasksText says what the session has to do.
func tasksText(s app.BuildSpec, tasks int) string {
	switch {
	case tasks == 0:
		return ""
	case len(s.ExtraJobs) > 0:
		return fmt.Sprintf(lang.L("%d tasks of %d jobs"), tasks, 1+len(s.ExtraJobs))
	case len(s.Folds) == 1 && tasks == 1:
		return fmt.Sprintf(lang.L("fold %d"), s.Folds[0])
	case tasks == 1:
		return lang.L("one")
	}
	return fmt.Sprintf(lang.L("%d folds"), tasks)
}

// chanceText is the chance to finish under the cap.
func chanceText(killed float64) (string, tone) {
	p := 100 * (1 - killed)
	switch {
	case p > 99:
		return lang.L("over 99 %"), toneNeutral
	case p < 1:
		return lang.L("under 1 %"), toneBad
	case p < 50:
		return fmt.Sprintf("%.0f %%", p), toneBad
	case p < 80:
		return fmt.Sprintf("%.0f %%", p), toneWarn
	}
	return fmt.Sprintf("%.0f %%", p), toneNeutral
}

// leftText is what stays in the quota: after what it will probably burn where that is known, else after its whole cap.
func (w *wizard) leftText(pool string) (string, tone) {
	if pool == app.PoolCPU {
		return lang.L("untouched"), toneNeutral
	}
	tone := func(left float64) tone {
		if left <= 0 {
			return toneBad
		}
		return toneNeutral
	}
	if h, ok := w.length(); ok && h.LeftAfterH != nil {
		return leftHours(*h.LeftAfterH), tone(*h.LeftAfterH)
	}
	if o, ok := w.chosen(); ok && o.LeftAfterH != nil {
		return leftHours(*o.LeftAfterH), tone(*o.LeftAfterH)
	}
	if p := &w.plan; p.have && p.key == w.planKey() {
		return hours(p.got.LeftAfter) + lang.L(" or more"), tone(p.got.LeftAfter)
	}
	return "", toneNeutral
}

// leftHours writes a rest; below zero is what is missing.
func leftHours(h float64) string {
	if h < 0 {
		return fmt.Sprintf(lang.L("%s short"), hours(-h))
	}
	return hours(h)
}

// scriptLimit is Kaggle's limit of a kernel's source, in bytes.
const scriptLimit = 1_000_000

func (w *wizard) scriptText() (string, tone) {
	b := &w.build
	switch {
	case b.key == w.buildKey() && b.err != nil:
		return lang.L("cannot be packed"), toneBad
	case !b.fresh(w.buildKey()):
		return "", toneNeutral
	case b.got.ScriptBytes >= scriptLimit:
		return fmt.Sprintf(lang.L("%s, over 1 MB"), bytesText(int64(b.got.ScriptBytes))), toneBad
	}
	return fmt.Sprintf(lang.L("%s of 1 MB"), bytesText(int64(b.got.ScriptBytes))), toneNeutral
}
