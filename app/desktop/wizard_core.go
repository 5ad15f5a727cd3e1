package desktop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fyne.io/fyne/v2/lang"

	"sandglass/app"
)

func askAccelerators(ctx context.Context, core *app.App, s app.BuildSpec, m modelForm, tasks int) ([]option, error) {
	return nil, errors.New("not built into this version yet")
}

// askHours asks the core for a cap: s.Hours is one that the person chose, 0 asks for advice.
func askHours(ctx context.Context, core *app.App, s app.BuildSpec, tasks int) (hoursView, error) {
	got, err := core.Hours(ctx, app.HoursAsk{Name: s.Name, Command: s.Command, Project: s.Project, Tasks: tasks, Accelerator: s.Accelerator, CapHours: s.Hours})
	if err != nil {
		return hoursView{}, err
	}
	return newHoursView(got, s.Hours, time.Now()), nil
}

// newHoursView words the advice on a cap. cap is the person's own, 0 for the advised one.
func newHoursView(a app.HoursAdvice, cap float64, now time.Time) hoursView {
	v := hoursView{LimitH: a.LimitH, Warnings: a.Warnings}
	for _, o := range a.Options {
		v.Options = append(v.Options, o.Text)
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
