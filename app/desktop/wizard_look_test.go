package desktop

import (
	"errors"
	"fmt"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"sandglass/app"
	"sandglass/widgets"
)

// wizardAt is the page with w in it, without a core behind it.
func wizardAt(h host, w wizard, at step) *newPage {
	p := newNewPage(h)
	p.loaded = true
	p.w = w
	p.w.at = at
	p.project.projects = []app.Project{{Dir: "/home/mara/knee", Name: "knee", LastRun: "cnx384", LastAt: testNow, Runs: 4}, {Dir: "/home/mara/old", Name: "old", Missing: true}}
	p.fill()
	p.render()
	return p
}

func TestTheWizardInEveryStateAndSize(t *testing.T) {
	defer widgets.DrawInline()()
	for _, mode := range []widgets.Mode{widgets.ModeLight, widgets.ModeDark} {
		a := test.NewTempApp(t)
		a.Settings().SetTheme(widgets.NewTheme(mode, 1))
		for _, size := range []fyne.Size{{Width: 980, Height: 760}, {Width: 700, Height: 600}} {
			tag := fmt.Sprintf("%d-%.0f", mode, size.Width)
			h := &stage{}
			for at := range stepCount {
				full := aWizard()
				full.form.Datasets, full.form.Kernels = "sam-roe/leaf-scans kim-poe/leaf-more", "mara/prep"
				full = answered(full)
				capture(t, fmt.Sprintf("new-%s-full-%s", at.key(), tag), wizardAt(h, full, at).Object(), mode, size, 1)
				capture(t, fmt.Sprintf("new-%s-empty-%s", at.key(), tag), wizardAt(h, wizard{form: newForm{Shape: shapeT4, Internet: true}}, at).Object(), mode, size, 1)
				if size.Width > 900 {
					capture(t, fmt.Sprintf("new-%s-2x-%s", at.key(), tag), wizardAt(h, full, at).Object(), mode, size, 2)
				}
			}
			failed := aWizard()
			boom := errors.New("Kaggle could not be reached: dial tcp: lookup api.kaggle.com: no such host")
			failed.advice = asked[[]option]{}
			failed.advice.ask(failed.adviceKey())
			failed.advice.answer(failed.adviceKey(), nil, boom)
			capture(t, "new-accelerator-failed-"+tag, wizardAt(h, failed, stepAccelerator).Object(), mode, size, 1)
			failed.build.ask(failed.buildKey())
			failed.build.answer(failed.buildKey(), app.BuildResult{}, boom)
			capture(t, "new-review-failed-"+tag, wizardAt(h, failed, stepReview).Object(), mode, size, 1)
			guarded := aWizard()
			guarded.plan.got.Guards = []app.Guard{{Code: "slots", Reason: "Both GPU slots are taken by cnx384-r1 and effv2-s. It can wait here and be pushed when a slot frees.", Override: "--queue", Waits: true},
				{Code: "quota", Reason: "The run may use 7.0 h and 4.1 h of 30 h GPU are left. Kaggle would stop it when the quota ends.", Override: "--force"}}
			capture(t, "new-review-guards-"+tag, wizardAt(h, guarded, stepReview).Object(), mode, size, 1)
			bad := aWizard()
			bad.rehearsal.got.OK, bad.rehearsal.got.Verdict, bad.rehearsal.got.Log = false, "The script would fail at once: a module is missing.", []string{"Traceback (most recent call last):", "  File \"src/train.py\", line 3, in <module>", "ModuleNotFoundError: No module named 'timm'"}
			bad.rehearsal.got.Checks = append(bad.rehearsal.got.Checks, app.RehearsalCheck{Code: "imports", State: app.CheckBad, Text: "The module timm was not found.", Detail: "ModuleNotFoundError: No module named 'timm'", Fix: "Add --pip timm, or take it off the imports."})
			capture(t, "new-rehearse-bad-"+tag, wizardAt(h, bad, stepRehearse).Object(), mode, size, 1)
			left := wizardAt(h, wizard{form: newForm{Shape: shapeT4, Internet: true}}, stepProject)
			half := aWizard()
			d := half.draft()
			d.Step, d.SavedAt = "hours", testNow
			left.project.left = &d
			left.render()
			capture(t, "new-project-left-"+tag, left.Object(), mode, size, 1)
		}
	}
}

// answered has Kaggle's answer about each input of w.
func answered(w wizard) wizard {
	key := w.inputsKey()
	w.inputs.ask(key)
	w.inputs.answer(key, []app.InputState{
		{InputRef: app.InputRef{Kind: app.InputDataset, Ref: "sam-roe/leaf-scans"}, State: app.InputReady, Folder: "data", Bytes: 412_000_000, Files: 3120},
		{InputRef: app.InputRef{Kind: app.InputDataset, Ref: "kim-poe/leaf-more"}, State: app.InputReady, Folder: "data", Files: 4, Bytes: 41_000, Clash: "data/train.csv is there from sam-roe/leaf-scans already and stays that one. Give this input a folder of its own: kim-poe/leaf-more=data/leaf-more."},
		{InputRef: app.InputRef{Kind: app.InputKernel, Ref: "mara/prep"}, State: app.InputRunning, Folder: "data", Text: "It is running. Inputs are bound at the push, so a session started now gets its older output, or none."},
	}, nil)
	full := aWizard()
	w.build, w.plan, w.rehearsal = full.build, full.plan, full.rehearsal
	w.build.key = w.buildKey()
	w.plan.key = w.planKey()
	w.rehearsal.key = w.rehearsalKey()
	return w
}
