package desktop

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2/lang"

	"sandglass/app"
)

// askAccelerators asks the core what each machine would do with the job.
func askAccelerators(ctx context.Context, core *app.App, s app.BuildSpec, m modelForm, tasks int) ([]option, error) {
	got, err := core.Accelerators(ctx, acceleratorAsk(s, m, tasks))
	if err != nil {
		return nil, err
	}
	var out []option
	for _, o := range got.Options {
		out = append(out, newOption(o, got.Now))
	}
	return out, nil
}

// acceleratorAsk puts the figures that were typed into the core's question. A figure that is no number is not known.
func acceleratorAsk(s app.BuildSpec, m modelForm, tasks int) app.AcceleratorAsk {
	a := app.AcceleratorAsk{Kind: m.Kind, Params: number(m.Params) * 1e6, Batch: int(number(m.Batch)), HoursT4: number(m.HoursT4), Tasks: tasks,
		Name: s.Name, Command: s.Command, Project: s.Project}
	switch m.Kind {
	case "transformer":
		a.Layers, a.Hidden, a.Heads, a.Seq = int(number(m.Layers)), int(number(m.Hidden)), int(number(m.Heads)), int(number(m.Seq))
	case "cnn":
		a.Image = int(number(m.Seq))
	case "tabular":
		a.Rows, a.Columns = number(m.Rows), number(m.Columns)
		a.Params, a.Batch = 0, 0
	}
	if m.network() {
		a.Precision, a.Method = m.Precision, m.method()
		if m.trains() {
			a.Optimizer, a.Checkpointing = m.Optimizer, m.Checkpointing != "" && m.Kind != "other"
		}
		if m.adapters() {
			a.LoRARank = int(number(m.LoRARank))
		}
	}
	if m.Kind == "transformer" || m.Kind == "cnn" {
		if known := knownArch(m.Arch); known != "" {
			a.Arch = known
		}
	}
	return a
}

// network says that the kind has weights, so that precision and optimiser mean something.
func (m modelForm) network() bool {
	return m.Kind == "transformer" || m.Kind == "cnn" || m.Kind == "other"
}

// method is how it is trained: only transformers are asked, whatever was picked before the kind was changed.
func (m modelForm) method() string {
	if m.Kind != "transformer" {
		return ""
	}
	return m.Method
}

func (m modelForm) trains() bool   { return m.network() && m.method() != "inference" }
func (m modelForm) adapters() bool { return m.method() == "lora" || m.method() == "qlora" }

// knownArch is the core's own name of an architecture, "" for one it does not know.
func knownArch(typed string) string {
	typed = strings.ToLower(strings.TrimSpace(typed))
	for _, a := range app.Architectures() {
		if typed != "" && strings.ToLower(a.Name) == typed {
			return a.Name
		}
	}
	return ""
}

// newOption words one judged machine.
func newOption(o app.AcceleratorOption, now time.Time) option {
	v := option{Shape: o.Accelerator, Title: o.Title, Pool: o.Pool, Recommended: o.Recommended, Fits: o.Fits, LeftAfterH: o.LeftAfterH, Reasons: saidAll(o.Reasons), Doubts: saidAll(o.Doubts)}
	switch {
	case o.Fits && o.Fit == "tight":
		v.Fit = lang.L("tight")
	case o.Affordable != nil && !*o.Affordable:
		v.Fit = lang.L("more than is left")
	case !o.Fits && !o.Runs:
		v.Fit = lang.L("does not run")
	}
	if m := o.Memory; m.Low != nil && m.High != nil {
		v.Memory = rangeText(*m.Low, *m.High) + " GiB"
		if m.Usable != nil {
			v.Memory = fmt.Sprintf(lang.L("%s of %.0f GiB"), rangeText(*m.Low, *m.High), *m.Usable)
		}
	}
	switch {
	case o.Pool == app.PoolCPU:
		v.Burns = lang.L("no quota")
	case o.Quota.Low != nil && o.Quota.High != nil:
		v.Burns = rangeText(*o.Quota.Low, *o.Quota.High) + " h"
	case o.QuotaHours != nil:
		v.Burns = hours(*o.QuotaHours)
	}
	if o.Finish.Low != nil && o.Finish.High != nil {
		v.Done = finishText(*o.Finish.Low, *o.Finish.High, now)
	}
	if o.LeftAfterH != nil && o.Pool != app.PoolCPU {
		v.Leaves = leftHours(*o.LeftAfterH)
	}
	return v
}

// bareOptions are the machines without a word about them, for when they cannot be judged: a person may know without.
func bareOptions() []option {
	return []option{{Shape: shapeT4, Title: "GPU T4 ×2", Pool: app.PoolGPU, Fits: true}, {Shape: shapeTPU, Title: "TPU v5e-8", Pool: app.PoolTPU, Fits: true}, {Shape: shapeCPU, Title: "CPU", Pool: app.PoolCPU, Fits: true}}
}

// askHours asks the core for a cap: s.Hours is one that the person chose, 0 asks for advice. jobs are the tasks of
// each job, kind is the kind of the model, "" when that was not said.
func askHours(ctx context.Context, core *app.App, s app.BuildSpec, jobs map[string]int, kind string) (hoursView, error) {
	got, err := core.Hours(ctx, app.HoursAsk{Name: s.Name, Command: s.Command, Project: s.Project, Jobs: jobs, Kind: kind, Accelerator: s.Accelerator, CapHours: s.Hours})
	if err != nil {
		return hoursView{}, err
	}
	return newHoursView(got, s.Hours, time.Now()), nil
}

// newHoursView words the advice on a cap. cap is the person's own, 0 for the advised one.
func newHoursView(a app.HoursAdvice, cap float64, now time.Time) hoursView {
	v := hoursView{LimitH: a.LimitH, Warnings: saidAll(a.Warnings)}
	for _, o := range a.Options {
		v.Options = append(v.Options, said(o.Text))
	}
	if a.ExpectedH == nil || a.CapH == nil || a.PKilled == nil {
		v.Basis = lang.L("How long this job takes is not known: nothing like it was measured yet. Set a cap that you can afford to lose; the first run then tells.")
		v.Stopped = lang.L("Finished folds are kept, and a follow-up run continues the others where they were saved.")
		if a.LeftH != nil {
			v.ThisWeek = fmt.Sprintf(lang.L("%s are left."), hours(*a.LeftH))
		}
		return v
	}
	v.Known, v.CapH, v.ExpectedH, v.PKilled, v.LeftAfterH, v.KilledAt = true, *a.CapH, *a.ExpectedH, *a.PKilled, a.LeftAfterH, a.KilledAt
	v.BoundH = v.CapH
	if a.BoundH != nil {
		v.BoundH = *a.BoundH
	}
	v.Basis, v.Parts = basisText(a), partsText(a)
	if a.Tasks == 1 { // only then is a measured task a measured session
		for _, r := range a.Runs {
			v.Runs = append(v.Runs, r.H+a.StartUpH+a.TailH)
		}
	}
	v.Stopped = fmt.Sprintf(lang.L("Finished folds are kept, the running ones continue from what they saved. Going on in another session costs about %s more."), hours(a.ResumeH))
	if cap == 0 {
		cap = v.CapH
	}
	v.ThisWeek = weekText(a, cap, now)
	return v
}

// basisText says what a bound rests on.
func basisText(a app.HoursAdvice) string {
	percent := fmt.Sprintf("%.0f %%", 100*a.Confidence)
	switch a.Basis {
	case "runs":
		return fmt.Sprintf(lang.L("Bound from %d measured tasks of this job, %s."), len(a.Runs), percent)
	case "one fold":
		return fmt.Sprintf(lang.L("Bound from a single measured task, %s; the next run makes it sharper."), percent)
	case "rehearsal":
		return fmt.Sprintf(lang.L("From the rehearsal on this computer, scaled by what is known of the speeds: wide, %s."), percent)
	}
	return ""
}

// partsText says what the cap is made of.
func partsText(a app.HoursAdvice) string {
	if a.TaskUpperH == nil {
		return ""
	}
	work := fmt.Sprintf(lang.L("one round of at most %s"), hours(*a.TaskUpperH))
	if a.Waves > 1 {
		work = fmt.Sprintf(lang.L("%d rounds of at most %s each"), a.Waves, hours(*a.TaskUpperH))
	}
	return fmt.Sprintf(lang.L("Start-up %s, %s, %s to save."), hours(a.StartUpH), work, hours(a.TailH))
}

// weekText says whether a cap fits what is left of the week.
func weekText(a app.HoursAdvice, cap float64, now time.Time) string {
	if a.Pool == app.PoolCPU {
		return lang.L("A CPU session takes no quota.")
	}
	text := lang.L("What is left is not known: Kaggle has not been asked, or did not answer.")
	if a.LeftH != nil {
		text = fmt.Sprintf(lang.L("Fits: %s left, %s held until it ends."), hours(*a.LeftH), hours(cap))
		if a.FitsQuota != nil && !*a.FitsQuota {
			text = fmt.Sprintf(lang.L("Does not fit: %s left, and the cap holds %s. Kaggle would stop it when the quota ends."), hours(*a.LeftH), hours(cap))
		}
	}
	if a.ResetAt != nil && a.CrossesReset != nil {
		if *a.CrossesReset {
			text += " " + fmt.Sprintf(lang.L("It may run past the reset, %s; which week Kaggle charges then is not known."), clock(*a.ResetAt, now))
		} else {
			text += " " + fmt.Sprintf(lang.L("It ends before the reset, %s."), clock(*a.ResetAt, now))
		}
	}
	return text
}
