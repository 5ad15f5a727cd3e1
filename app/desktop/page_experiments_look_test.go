package desktop

import (
	"errors"
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"sandglass/app"
	"sandglass/widgets"
)

// experimentOf is an experiment as the core gives it.
func experimentOf(name, kind string, score, spread float64, hours float64, g *app.Gain) app.Experiment {
	e := app.Experiment{Name: name, Project: "/home/mara/knee", Kind: kind, Metric: "auc", Better: app.BetterHigher, Planned: 5, Epochs: 30, Hours: hours, Runs: 1, Run: 7, Gain: g,
		At: testNow.Add(-time.Duration(hours*50) * time.Hour), Newest: app.RunRow{ID: 7, Name: name, State: app.StateComplete, Outcome: app.OutcomeComplete, Ended: true, Collected: true, Pool: app.PoolGPU, Origin: "push"}}
	if score != 0 {
		e.Score, e.Mean = &score, &score
		n := 5
		if kind == app.KindScreen {
			n, e.Planned = 1, 1
		} else {
			e.Spread = &spread
		}
		per := hours / float64(n)
		e.FoldHours = &per
		for k := range n {
			e.Folds = append(e.Folds, app.FoldScore{Fold: k, Score: score + .004*float64(k-2), Run: 7})
		}
	}
	return e
}

func gainOver(mean, low, high float64, better, folds int, verdict, advice string) *app.Gain {
	g := &app.Gain{Against: "baseline", Better: better, Mean: &mean, Source: "folds", P: .01, Verdict: verdict, Advice: advice,
		Text: fmt.Sprintf("Better than baseline by %.3g, ahead on %d of %d folds. That is %s: 95 %% between %+.3g and %+.3g, by the folds' differences.", mean, better, folds, verdict, low, high)}
	if low != high {
		g.Low, g.High = &low, &high
	}
	for k := range folds {
		g.Folds = append(g.Folds, app.FoldGain{Fold: k, Own: .851 + mean, Base: .828, Gain: mean + .001*float64(k-2)})
	}
	return g
}

func sampleExperiments() app.ExperimentsView {
	base := experimentOf("baseline", app.KindFull, .8280, .0121, 4.8, nil)
	base.Baseline = true
	failed := experimentOf("effv2-s", "", 0, 0, .2, nil)
	failed.Newest.State, failed.Newest.Outcome, failed.Why = app.StateError, app.OutcomeFailed, "it measured nothing yet"
	lone := experimentOf("mixup-screen", app.KindScreen, .7911, 0, .5, nil)
	lone.Why = "there is no control: baseline was not run with a schedule of 10 on these folds, and one such run makes every screen comparable"
	part := experimentOf("cnx384-r2", app.KindFull, .8510, .0102, 3.0, gainOver(.0230, .0120, .0340, 3, 3, app.BeyondNoise, app.AdviceKeep))
	part.Folds = part.Folds[:3]
	v := app.ExperimentsView{
		Projects: []app.ExperimentProject{{Dir: "/home/mara/knee", Name: "knee", Baseline: "baseline", Metric: "auc", Better: app.BetterHigher, Noise: []app.NoiseView{{Epochs: 30, SD: .0024, DF: 5}},
			Fidelity: app.FidelityView{Gains: true, Agree: 5, Rank: ptr(.94), P: .008, Verdict: "yes", Text: "Yes: signs agree in 5 of 6, rank correlation 0.94, over 6 ideas.", Points: []app.FidelityPoint{
				{Name: "aug-b", Screen: .0074, Full: .0052, ScreenFolds: 1, FullFolds: 5}, {Name: "mixup", Screen: -.028, Full: -.017, ScreenFolds: 1, FullFolds: 5}, {Name: "ema", Screen: .0021, Full: .0034, ScreenFolds: 1, FullFolds: 5},
				{Name: "res448", Screen: .0048, Full: -.0016, ScreenFolds: 1, FullFolds: 5}, {Name: "cnx384", Screen: .0125, Full: .023, ScreenFolds: 1, FullFolds: 5}, {Name: "swa", Screen: -.004, Full: -.0065, ScreenFolds: 1, FullFolds: 5}}}}},
		Experiments: []app.Experiment{part,
			experimentOf("aug-b", app.KindFull, .8332, .0118, 4.4, gainOver(.0052, .0011, .0093, 5, 5, app.BeyondNoise, app.AdviceKeep)),
			experimentOf("aug-b-screen", app.KindScreen, .8364, 0, 1.1, gainOver(.0074, 0, 0, 1, 1, app.TooFewFolds, app.AdviceMoreFolds)),
			experimentOf("ema", app.KindFull, .8314, .0126, 4.6, gainOver(.0034, -.0012, .0080, 4, 5, app.WithinNoise, app.AdviceSecondSeed)),
			experimentOf("res448-with-a-rather-long-name", app.KindFull, .8264, .0131, 6.1, gainOver(-.0016, -.0051, .0019, 2, 5, app.WithinNoise, app.AdviceNoGain)),
			lone,
			experimentOf("mixup", app.KindFull, .8110, .0140, 4.9, gainOver(-.0170, -.0251, -.0089, 0, 5, app.BeyondNoise, app.AdviceDrop)),
			failed, base},
	}
	v.Projects[0].Count = len(v.Experiments)
	return v
}

// manyExperiments is a season's worth.
func manyExperiments(n int) app.ExperimentsView {
	v := sampleExperiments()
	for i := range n - len(v.Experiments) {
		m := .02 * math.Sin(float64(i)*1.3)
		verdict, advice := app.WithinNoise, app.AdviceSecondSeed
		if m > .008 {
			verdict, advice = app.BeyondNoise, app.AdviceKeep
		}
		e := experimentOf(fmt.Sprintf("idea-%03d", i), app.KindFull, .828+m, .01+.002*math.Cos(float64(i)), 4+math.Sin(float64(i)), gainOver(m, m-.006, m+.006, 3, 5, verdict, advice))
		e.At = testNow.Add(-time.Duration(i+300) * time.Hour)
		v.Experiments = append(v.Experiments, e)
	}
	v.Projects[0].Count = len(v.Experiments)
	return v
}

func sampleCompared(names ...string) app.Compared {
	all := sampleExperiments()
	by := map[string]app.Experiment{}
	for _, e := range all.Experiments {
		by[e.Name] = e
	}
	c := app.Compared{Project: all.Projects[0], Baseline: "baseline", Bases: 1, Metric: "auc", Better: app.BetterHigher}
	for i, name := range append([]string{"baseline"}, names...) {
		e := by[name]
		c.Sides = append(c.Sides, e)
		var curves []app.CurveView
		for k := range len(e.Folds) {
			curves = append(curves, sampleCurve(name, k, *e.Score, 1))
		}
		c.Curves = append(c.Curves, curves)
		if i > 0 {
			c.Pairs = append(c.Pairs, app.ComparedPair{Name: name, Against: "baseline", Side: i, Gain: e.Gain, Why: e.Why})
		}
	}
	for k := range 5 {
		f := app.ComparedFold{Fold: k}
		for _, e := range c.Sides {
			if k < len(e.Folds) {
				f.Scores = append(f.Scores, &e.Folds[k].Score)
			} else {
				f.Scores = append(f.Scores, nil)
			}
		}
		c.Folds = append(c.Folds, f)
	}
	return c
}

// experimentsAt is the page with a snapshot, without a core behind it.
func experimentsAt(h host, v app.ExperimentsView) *experimentsPage {
	p := newExperimentsPage(h)
	p.Update(v)
	return p
}

func TestExperimentsInEveryStateAndSize(t *testing.T) {
	defer widgets.DrawInline()()
	for _, mode := range []widgets.Mode{widgets.ModeLight, widgets.ModeDark} {
		a := test.NewTempApp(t)
		a.Settings().SetTheme(widgets.NewTheme(mode, 1))
		sizes := []fyne.Size{{Width: 980, Height: 760}, {Width: 700, Height: 600}, {Width: 1400, Height: 1000}}
		if os.Getenv("SANDGLASS_LOOK") == "" { // one size a theme is enough where nobody looks
			sizes = sizes[mode%2 : mode%2+1]
		}
		for _, size := range sizes {
			tag := fmt.Sprintf("%d-%.0f", mode, size.Width)
			h := &stage{win: test.NewTempWindow(t, nil)}
			shot := func(name string, p *experimentsPage) {
				t.Helper()
				capture(t, "experiments-"+name+"-"+tag, p.Object(), mode, size, 1)
				if size.Width == 980 && os.Getenv("SANDGLASS_LOOK") != "" {
					capture(t, "experiments-"+name+"-2x-"+tag, p.Object(), mode, size, 2)
				}
			}
			shot("loading", newExperimentsPage(h))
			shot("empty", experimentsAt(h, app.ExperimentsView{}))
			failed := newExperimentsPage(h)
			failed.failed(app.Explained{Title: "The run log cannot be read", Sentence: "The disk is full.", Action: "Free some space."})
			shot("failed", failed)
			full := experimentsAt(h, sampleExperiments())
			full.mark(expID{"/home/mara/knee", "ema"})
			full.mark(expID{"/home/mara/knee", "aug-b"})
			full.see(1)
			shot("full", full)
			full.failed(app.Explained{Title: "The run log cannot be read", Sentence: "The disk is full.", Action: "Free some space."})
			shot("stale", full)
			many := experimentsAt(h, manyExperiments(300))
			many.sort("gain")
			shot("300", many)
			nothing := experimentsAt(h, sampleExperiments())
			nothing.search.SetText("xyz")
			shot("none", nothing)
			two := sampleExperiments()
			two.Projects = append(two.Projects, app.ExperimentProject{Dir: "/home/mara/leaf", Name: "leaf", Count: 1})
			two.Projects[0].Fidelity = app.FidelityView{}
			shot("two-projects", experimentsAt(h, two))
			one := experimentsAt(h, sampleExperiments())
			one.opened = []string{"aug-b"}
			one.detail.show(sampleCompared("aug-b"), nil)
			one.layers()
			shot("compare-one", one)
			three := experimentsAt(h, sampleExperiments())
			three.opened = []string{"aug-b", "ema", "mixup-screen"}
			three.detail.show(sampleCompared("aug-b", "ema", "mixup-screen"), nil)
			three.layers()
			shot("compare-three", three)
			unlike := experimentsAt(h, sampleExperiments())
			unlike.opened = []string{"loss"}
			unlike.detail.loading(unlike.opened)
			unlike.detail.show(app.Compared{}, &app.CallError{Reason: "the metrics differ: loss measured log loss and baseline measured AUC", Action: "Compare runs of one metric and one split, or name another --baseline."})
			unlike.layers()
			shot("compare-unlike", unlike)
			broken := experimentsAt(h, sampleExperiments())
			broken.opened = []string{"aug-b"}
			broken.detail.loading(broken.opened)
			broken.detail.show(app.Compared{}, errors.New("the disk is full"))
			broken.layers()
			shot("compare-failed", broken)
			alone := experimentsAt(h, sampleExperiments())
			alone.showFidelity()
			shot("screens", alone)
		}
	}
}
