package desktop

import (
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"sandglass/app"
	"sandglass/charts"
	"sandglass/widgets"
)

func TestRunViewOfARunningRun(t *testing.T) {
	v := newRunView(sampleRun(), charts.ByFraction, "", testNow)
	if !strings.HasPrefix(v.Note, "T4 ×2 · version 3 · 2 h 41 min of 7.0 h · ends by ") {
		t.Errorf("note = %q", v.Note)
	}
	if v.ChartTitle != "AUC against the baseline" || v.ChartAside != "live" || v.Collect != "" || v.Status.Word != "Running" {
		t.Errorf("title %q, aside %q, collect %q, status %q", v.ChartTitle, v.ChartAside, v.Collect, v.Status.Word)
	}
	if len(v.Curves.Curves) != 5 || !v.Curves.Curves[0].Done || v.Curves.Curves[4].Done || len(v.Curves.Baseline) != 5 {
		t.Errorf("curves: %d, done %v %v", len(v.Curves.Curves), v.Curves.Curves[0].Done, v.Curves.Curves[4].Done)
	}
	if len(v.Tasks) != 5 || v.Tasks[0].Words != "done in 46 min" || v.Tasks[3].Words != "50 %, 28 min left" || v.Tasks[3].Value != "0.842" {
		t.Errorf("tasks = %+v", v.Tasks)
	}
	if len(v.Util.Lanes) != 2 || v.Util.Lanes[1].Name != "GPU 1" || !strings.Contains(v.UtilNote, "GPU 0 idle for up to 6 min") && !strings.Contains(v.UtilNote, "GPU 0 idle for up to 5 min") {
		t.Errorf("lanes %d, note %q", len(v.Util.Lanes), v.UtilNote)
	}
}

func TestRunViewOfTheEnd(t *testing.T) {
	r := sampleRun()
	r.State, r.Ended, r.EndedAt, r.Score = app.StateComplete, true, testNow.Add(-time.Hour), ptr(0.851)
	v := newRunView(r, charts.ByFraction, "", testNow)
	if v.Collect != "Collect files" || !strings.HasSuffix(v.Note, "2.7 h of 7.0 h · ended 1 h ago") {
		t.Errorf("collect %q, note %q", v.Collect, v.Note)
	}
	got := map[string]string{}
	for _, s := range v.Stats {
		got[s.Label] = s.Value
	}
	if got["gain"] != "+0.0230" || got["AUC of this run"] != "0.851" || got["burned"] != "2.7 h" {
		t.Errorf("stats = %v", got)
	}
	for _, c := range v.Curves.Curves {
		if !c.Done {
			t.Errorf("%s still grows after the end", c.Name)
		}
	}
	r.Collected = true
	if v := newRunView(r, charts.ByFraction, "", testNow); v.Collect != "" {
		t.Error("a collected run still asks to be collected")
	}
}

func TestEachTaskStateHasWordsAndAColour(t *testing.T) {
	for state, want := range map[string]string{
		"running": "40 %, 15 min left", "done": "done in 10 min", "pruned": "pruned after 10 min", "timeout": "out of time after 10 min",
		"killed": "killed after 10 min", "failed": "failed: out of memory", "skipped": "finished by an earlier run", "not-started": "not started",
	} {
		row := newTaskRow(app.TaskView{Job: "a", Fold: ptr(1), State: state, Seconds: 600, Epochs: 4, Of: 10, Error: map[bool]string{true: "out of memory"}[state == "failed"]}, false)
		if row.Words != want || row.Color == "" || row.Name != "fold 1" {
			t.Errorf("%s = %+v, want %q", state, row, want)
		}
	}
	if n := newTaskRow(app.TaskView{Job: "assemble", State: "done"}, true).Name; n != "assemble" {
		t.Errorf("a job without folds is called %q", n)
	}
}

func TestATracebackIsToldByItsEnd(t *testing.T) {
	trace := "Traceback (most recent call last):\n  File \"a.py\", line 1\n    f()\n    ^^^\nFileNotFoundError: no data\n"
	if got := lastLines(trace, 1); got != "FileNotFoundError: no data" {
		t.Errorf("last line = %q", got)
	}
	if got := lastLines(trace, 2); got != "…\nf()\nFileNotFoundError: no data" {
		t.Errorf("last two = %q", got)
	}
	if got := lastLines("short", 3); got != "short" {
		t.Errorf("short = %q", got)
	}
}

func TestARunningTaskIsAsFarAsItsCurve(t *testing.T) {
	r := app.RunView{Greater: true, Curves: []app.CurveView{{Job: "a", Fold: 1, Points: []app.CurvePoint{{Epoch: 1, Frac: 0.25, Seconds: 60, Score: 0.9}, {Epoch: 2, Frac: 0.5, Seconds: 120, Score: 0.8}}}}}
	row := newTaskRow(withProgress(app.TaskView{Job: "a", Fold: ptr(1), State: "running"}, r), false)
	if row.Share != 0.5 || row.Words != "50 %, 2 min left" || row.Value != "0.900" {
		t.Errorf("row = %+v", row)
	}
	if row := newTaskRow(withProgress(app.TaskView{Job: "a", Fold: ptr(2), State: "running"}, r), false); row.Words != "running" {
		t.Errorf("another fold took the curve over: %+v", row)
	}
}

func TestRunNotices(t *testing.T) {
	r := sampleRun()
	r.UnreachableAt = testNow.Add(-20 * time.Minute)
	if n := runNotice(r, testNow); n == nil || !strings.Contains(n.Text, "20 min") {
		t.Errorf("unreachable: %+v", n)
	}
	for _, state := range []string{app.StateUnclear, app.StateWaiting, app.StateMissing} {
		if n := runNotice(app.RunView{RunRow: app.RunRow{State: state}}, testNow); n == nil || n.Text == "" {
			t.Errorf("%s: no notice", state)
		}
	}
	if n := runNotice(sampleRun(), testNow); n != nil {
		t.Errorf("all well: %+v", n)
	}
}

func TestTwoJobsCanBeSwitched(t *testing.T) {
	r := sampleRun()
	r.Jobs = []string{"cnx384-r2", "seed2"}
	r.Curves = append(r.Curves, sampleCurve("seed2", 0, 0.9, 1))
	v := newRunView(r, charts.ByFraction, "seed2", testNow)
	if len(v.Jobs) != 2 || len(v.Curves.Curves) != 1 || v.Tasks[0].Name != "cnx384-r2 fold 0" {
		t.Errorf("jobs %v, %d curves, first task %q", v.Jobs, len(v.Curves.Curves), v.Tasks[0].Name)
	}
	if v := newRunView(r, charts.ByFraction, "gone", testNow); len(v.Curves.Curves) != 5 {
		t.Errorf("an unknown job shows %d curves, want the first job's", len(v.Curves.Curves))
	}
}

func TestEmptyPartsSayWhatFillsThem(t *testing.T) {
	for _, state := range []string{app.StateQueued, app.StateRunning, app.StateComplete} {
		v := newRunView(app.RunView{RunRow: app.RunRow{State: state, Ended: state == app.StateComplete, Pool: app.PoolGPU}}, charts.ByEpoch, "", testNow)
		for name, s := range map[string]string{"curves": v.CurvesEmpty, "util": v.UtilEmpty, "files": v.FilesEmpty, "log": v.LogEmpty} {
			if !strings.HasSuffix(s, ".") {
				t.Errorf("%s, %s: %q is no sentence", state, name, s)
			}
		}
	}
}

func TestRunPageShowsLogAndActions(t *testing.T) {
	defer widgets.DrawInline()()
	test.NewTempApp(t).Settings().SetTheme(widgets.NewTheme(widgets.ModeDark, 1))
	h := &stage{win: test.NewTempWindow(t, widgets.Body(""))}
	p := newRunPage(h, 7)
	p.showLog([]app.LogLine{{N: 0, Text: "a"}, {N: 1, Text: "ha"}}, 2)
	p.Update(sampleRun(), testNow)
	p.showLog([]app.LogLine{{N: 0, Text: "a"}, {N: 1, Text: "half a line"}, {N: 2, Text: "c"}}, 3)
	if p.log.Len() != 3 || p.log.Line(1).Text != "half a line" || p.logEnd.Load() != 3 {
		t.Errorf("log: %d lines, second %q, end %d", p.log.Len(), p.log.Line(1).Text, p.logEnd.Load())
	}
	p.showLog([]app.LogLine{{N: 0, Text: "anew"}}, 1)
	if p.log.Len() != 1 || p.log.Line(0).Text != "anew" {
		t.Error("a log that began anew kept its old lines")
	}
	if !p.kaggle.Visible() || p.again.Visible() || p.collect.Visible() {
		t.Error("a running run offers Kaggle and nothing else")
	}
	r := sampleRun()
	r.State, r.Ended = app.StateComplete, true
	p.Update(r, testNow)
	if !p.again.Visible() || !p.collect.Visible() {
		t.Error("an ended run can be collected and run again")
	}
	p.again.Tapped(nil)
	if len(h.from) != 1 || h.from[0] != 7 {
		t.Errorf("Run again opened the form from %v", h.from)
	}
	p.find()
	if p.tabs.Selected() != tabLog {
		t.Error("find does not show the log")
	}
}
