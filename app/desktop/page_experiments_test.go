package desktop

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"sandglass/app"
	"sandglass/charts"
	"sandglass/widgets"
)

func rowNames(v experimentsView) string {
	var names []string
	for _, r := range v.Rows {
		names = append(names, r.Name)
	}
	return strings.Join(names, " ")
}

func TestExperimentsViewSortsAndFilters(t *testing.T) {
	all := sampleExperiments()
	const long = "res448-with-a-rather-long-name"
	for _, x := range []struct {
		name string
		ask  expAsk
		want string
	}{
		{"newest", expAsk{chip: "all"}, "effv2-s mixup-screen aug-b-screen cnx384-r2 aug-b ema baseline mixup " + long},
		{"by gain", expAsk{chip: "all", order: expOrder{key: "gain"}}, "cnx384-r2 aug-b-screen aug-b ema baseline " + long + " mixup mixup-screen effv2-s"},
		{"by gain, turned", expAsk{chip: "all", order: expOrder{"gain", true}}, "mixup " + long + " baseline ema aug-b aug-b-screen cnx384-r2 mixup-screen effv2-s"},
		{"by score", expAsk{chip: "full", order: expOrder{key: "score"}}, "cnx384-r2 aug-b ema baseline " + long + " mixup"},
		{"by name", expAsk{chip: "screens", order: expOrder{key: "name"}}, "aug-b-screen mixup-screen"},
		{"by hours", expAsk{chip: "clear", order: expOrder{key: "hours"}}, "mixup aug-b cnx384-r2"},
		{"search", expAsk{chip: "all", text: " AUG "}, "aug-b-screen aug-b"},
	} {
		all.Experiments = slices.Clone(sampleExperiments().Experiments)
		if x.ask.order.key == "" {
			x.ask.order.key = "newest"
		}
		if got := rowNames(newExperimentsView(all, x.ask)); len(strings.Fields(got)) != len(strings.Fields(x.want)) || x.name != "newest" && got != x.want {
			t.Errorf("%s: %s, want %s", x.name, got, x.want)
		}
	}
	lower := sampleExperiments()
	lower.Projects[0].Better = app.BetterLower
	if got := rowNames(newExperimentsView(lower, expAsk{chip: "full", order: expOrder{key: "score"}})); !strings.HasPrefix(got, "mixup ") {
		t.Errorf("lower is better: %s", got)
	}
}

func TestExperimentRowsAreWorded(t *testing.T) {
	v := newExperimentsView(sampleExperiments(), expAsk{chip: "all", order: expOrder{key: "name"}})
	by := map[string]expRow{}
	for _, r := range v.Rows {
		by[r.Name] = r
	}
	if v.Note != "knee · AUC, higher is better · against baseline · seeds differ by 0.0024" || v.Scale != .034 || v.Counts["screens"] != "2" || v.Counts["clear"] != "3" || v.Title != "" {
		t.Errorf("%q, scale %v, counts %v", v.Note, v.Scale, v.Counts)
	}
	for name, want := range map[string][5]string{ // kind, score, gain, verdict, ahead
		"baseline":     {"", "0.8280", "baseline", "baseline", ""},
		"aug-b":        {"", "0.8332", "+0.0052", "beyond the noise", "5 of 5"},
		"cnx384-r2":    {"3 of 5 folds", "0.8510", "+0.0230", "beyond the noise", "3 of 3"},
		"aug-b-screen": {"", "0.8364", "+0.0074", "too few folds", "1 of 1"},
		"ema":          {"", "0.8314", "+0.0034", "within the noise", "4 of 5"},
		"mixup-screen": {"", "0.7911", "—", "no control", ""},
		"effv2-s":      {"", "—", "—", "Failed", ""},
	} {
		r := by[name]
		if got := [5]string{r.Kind, r.Score, r.Gain, r.Verdict.Word, r.Ahead}; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if r.Says == "" {
			t.Errorf("%s says nothing", name)
		}
	}
	// A colour never stands alone: a loss beyond the noise has another shape than a gain beyond it.
	control := sampleExperiments().Experiments[5]
	if control.Control = true; expVerdict(control).Word != "control" {
		t.Errorf("the baseline's own screen is called %q", expVerdict(control).Word)
	}
	lone := sampleExperiments().Experiments[5]
	lone.Name = "mixup"
	if r := newExpRow(lone); r.Kind != "screen" {
		t.Errorf("a screen whose name does not say so: %q", r.Kind)
	}
	if up, down := by["aug-b"].Verdict, by["mixup"].Verdict; up.Word != down.Word || up.Shape == down.Shape || up.Color == down.Color {
		t.Errorf("%+v and %+v", up, down)
	}
	if !strings.HasSuffix(by["ema"].Says, "A second seed or more folds would tell.") || !strings.HasPrefix(by["mixup-screen"].Says, "There is no control: baseline ") {
		t.Errorf("%q, %q", by["ema"].Says, by["mixup-screen"].Says)
	}
	if v.Truly == "" || len(v.Fidelity.Points) != 6 || !v.Fidelity.Gains || v.Fidelity.Points[0].Note != "folds: 1 against 5" {
		t.Errorf("screens: %q %+v", v.Truly, v.Fidelity)
	}
	for x, want := range map[float64]string{.023: "+0.0230", -.017: "-0.0170", 0: "+0.0000", .00012: "+0.00012", -12.5: "-12.50", 2500: "+2500.0"} {
		if got := signedScore(x); got != want {
			t.Errorf("%v is written %s, want %s", x, got, want)
		}
	}
}

func TestExperimentsOfSeveralProjects(t *testing.T) {
	all := sampleExperiments()
	all.Projects = append(all.Projects, app.ExperimentProject{Dir: "/srv/knee", Name: "knee"}, app.ExperimentProject{Dir: "/home/mara/leaf", Name: "leaf"}, app.ExperimentProject{})
	e := experimentOf("wide", app.KindFull, .5, .1, 1, nil)
	e.Project, e.Why = "/home/mara/leaf", "the project has no baseline"
	all.Experiments = append(all.Experiments, e)
	if got := projectChoice(projectDirs(all)); !slices.Equal(got, []string{"/home/mara/knee", "/srv/knee", "leaf", "without a project"}) {
		t.Errorf("projects %q", got)
	}
	v := newExperimentsView(all, expAsk{chip: "all", project: "/home/mara/leaf"})
	if rowNames(v) != "wide" || v.Note != "leaf · no baseline" || v.Rows[0].Verdict.Word != "not compared" {
		t.Errorf("%s: %q %+v", rowNames(v), v.Note, v.Rows)
	}
	if v := newExperimentsView(all, expAsk{chip: "all", project: "/gone"}); v.Project.Dir != "/home/mara/knee" {
		t.Errorf("a project that is gone leads to %s", v.Project.Dir)
	}
	if v := newExperimentsView(app.ExperimentsView{}, expAsk{}); !v.First || v.Title == "" {
		t.Error("without a run there has to be a first step")
	}
	if v := newExperimentsView(all, expAsk{chip: "all", text: "xyz"}); v.First || v.Title == "" {
		t.Error("a search without a hit is not the same as having no experiments")
	}
}

func TestComparedView(t *testing.T) {
	c := sampleCompared("aug-b", "mixup-screen")
	c.Pairs[0].Gain.OnlyBase = []int{5, 6}
	c.Pairs = append(c.Pairs, app.ComparedPair{Name: "mixup-screen", Against: "aug-b", Side: 2, Base: 1, Why: "the splits differ"})
	v := newComparedView(c, charts.ByEpoch)
	if v.Title != "aug-b, mixup-screen" || v.Note != "against baseline · AUC, higher is better" || v.Alone || len(v.Names) != 2 || len(v.Curves) != 2 {
		t.Errorf("%+v", v)
	}
	if p := v.Pairs[0]; p.Status.Word != "beyond the noise" || !strings.HasSuffix(p.Text, "Keep it. Left out: fold 5, 6, which baseline alone has.") {
		t.Errorf("pair %+v", p)
	}
	if p := v.Pairs[2]; p.Name != "mixup-screen against aug-b" || p.Text != "The splits differ." {
		t.Errorf("pair %+v", p)
	}
	line := func(i int) string {
		var words []string
		for _, c := range v.Rows[i] {
			words = append(words, c.Text)
		}
		return strings.Join(words, "|")
	}
	if len(v.Columns) != 6 || len(v.Rows) != 9 || line(1) != "1|0.8240|0.8292|+0.0042|—|—" || line(5) != "mean|0.8280|0.8332|+0.0052|0.7911|—" || line(7) != "hours|4.8 h|4.4 h||0.5 h|" {
		t.Errorf("%d columns, rows %q, %q, %q", len(v.Columns), line(1), line(5), line(7))
	}
	if cv := v.Curves[0]; cv.Name != "aug-b" || cv.BaselineName != "baseline" || len(cv.Curves) != 5 || len(cv.Baseline) != 5 || !cv.Greater || cv.X != charts.ByEpoch || cv.Metric != "AUC" {
		t.Errorf("curves %+v", cv)
	}
	var b bytes.Buffer
	if err := comparedCSV(c)(&b); err != nil || !strings.HasPrefix(b.String(), "fold,baseline,aug-b,mixup-screen,gain of aug-b over baseline,gain of mixup-screen over baseline,gain of mixup-screen over aug-b\n0,0.82") {
		t.Errorf("%v: %s", err, b.String())
	}
	b.Reset()
	all := sampleExperiments()
	if err := experimentsCSV(all.Experiments, newExperimentsView(all, expAsk{chip: "screens"}).Rows)(&b); err != nil || strings.Count(b.String(), "\n") != 3 || !strings.Contains(b.String(), "aug-b-screen,screen,auc,higher,0.8364,0.8364,,1,1,0.0074,,,1,baseline,too few folds,more folds,1.1,1,") {
		t.Errorf("%v: %s", err, b.String())
	}
}

// What an answer of the core that comes late finds on the page.
func TestAnAnswerForWhatIsNoLongerOpenIsDropped(t *testing.T) {
	test.NewTempApp(t).Settings().SetTheme(widgets.NewTheme(widgets.ModeLight, 1))
	h := &stage{win: test.NewTempWindow(t, nil)}
	p := experimentsAt(h, sampleExperiments())
	p.open(expID{"/home/mara/knee", "aug-b"})
	if p.status() != "compare" || p.detail.have || !p.detail.wait.Visible() || h.loads != 1 {
		t.Fatalf("while the core is asked: %s, %d loads", p.status(), h.loads)
	}
	p.detail.show(sampleCompared("aug-b"), nil)
	if !p.detail.have || p.detail.promote.Visible() || !p.detail.baseline.Visible() {
		t.Error("a full run can be made the baseline and cannot be promoted")
	}
	if !p.escape() || p.status() != "list" || p.escape() {
		t.Errorf("Escape leads to %s", p.status())
	}
	p.open(expID{"/home/mara/knee", "mixup-screen"})
	p.detail.show(sampleCompared("mixup-screen"), nil)
	if !p.detail.promote.Visible() || p.detail.baseline.Visible() {
		t.Error("a screen can be promoted and is no baseline")
	}
	p.close()
	p.open(expID{"/home/mara/knee", "baseline"}) // the baseline is held against nothing: its run is opened
	if p.status() != "list" || len(h.opened) != 1 {
		t.Errorf("the baseline: %s, opened %v", p.status(), h.opened)
	}
	for _, e := range p.all.Experiments {
		p.mark(idOf(e))
	}
	p.openMarked()
	if p.status() != "list" || len(h.toasts) != 1 {
		t.Errorf("eight at once: %s, %q", p.status(), h.toasts)
	}
}

// trainedProject is a home whose sandbox account has run and collected three experiments of a project over three folds.
func trainedProject(t *testing.T) (home, project string) {
	t.Helper()
	home, project = t.TempDir(), filepath.Join(t.TempDir(), "leaf")
	for name, text := range map[string]string{"data/folds.csv": "id,fold\na,0\nb,1\nc,2\n", "src/train.py": `import argparse, json, os
from sandglass.budget import TrainBudget
p = argparse.ArgumentParser()
p.add_argument("--name")
p.add_argument("--folds", nargs="*", type=int, default=[])
p.add_argument("--assemble", action="store_true")
a = p.parse_args()
out = os.path.join("artifacts", a.name)
os.makedirs(out, exist_ok=True)
gain = {"deep": [.02, .021, .019], "wide": [.002, -.004, .001]}.get(a.name, [0, 0, 0])
for k in a.folds:
    budget = TrainBudget(out, fold=k, epochs=2, greater_is_better=True)
    for e in range(2):
        budget.start_epoch()
        budget.end_epoch(e, .8 + .01 * k + gain[k] - .1 * (1 - e))
    budget.write_status("done", best_score=.8 + .01 * k + gain[k])
if a.assemble:
    json.dump({"score": .81 + sum(gain) / 3, "metric": "auc", "greater_is_better": True, "fold_scores": {}}, open(os.path.join(out, "score.json"), "w"))
`} {
		path := filepath.Join(project, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	core, err := app.Open(context.Background(), app.Options{Home: home, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	defer core.Close()
	if _, err := core.UseSandbox(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"baseline", "deep", "wide"} {
		b, err := core.Build(t.Context(), app.BuildSpec{Project: project, Name: name, Command: "python src/train.py --name " + name + " --folds {fold}", Hours: 0.5, Accelerator: "none"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := core.PlanPush(t.Context(), b.Dir, app.PushOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := core.Push(t.Context(), plan, app.Consent{By: "test"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := core.Wait(t.Context(), r.Kernel, app.WaitOptions{Interval: 100 * time.Millisecond, Collect: true}, func(app.RunView) {}); err != nil {
			t.Fatal(err)
		}
	}
	return home, project
}

func TestExperimentsThroughTheCore(t *testing.T) {
	home, project := trainedProject(t)
	s, ui, _ := openShell(t, home)
	s.keys()[fyne.Key4]()
	p, ok := s.currentPage().(*experimentsPage)
	if !ok {
		t.Fatalf("Ctrl+4 leads to %s", s.visible.Load().at.page)
	}
	ui.until("the list", func() bool { return p.status() == "list" && len(p.view.Rows) == 3 })
	if min := s.frame.MinSize(); min.Width > 900 || min.Height > 600 {
		t.Errorf("the page does not fit into 900 x 600: its smallest size is %v", min)
	}
	if rowNames(p.view) != "wide deep baseline" || p.view.Rows[1].Verdict.Word != "beyond the noise" || p.view.Rows[0].Verdict.Word != "within the noise" || p.view.Rows[1].Gain != "+0.0200" {
		t.Fatalf("%s: %+v", rowNames(p.view), p.view.Rows)
	}
	// By keyboard alone: mark two, compare them, back, open one, make it the baseline.
	if s.win.Canvas().Focused() != fyne.Focusable(p.list.rows) {
		t.Errorf("the keyboard is on %T", s.win.Canvas().Focused())
	}
	key(p.list.rows, fyne.KeySpace)
	key(p.list.rows, fyne.KeyDown)
	if !strings.HasPrefix(p.says.Text, "deep. Better than baseline by 0.02, ahead on 3 of 3 folds. That is beyond the noise") {
		t.Errorf("the row in words: %q", p.says.Text)
	}
	key(p.list.rows, fyne.KeySpace)
	if p.compare.Disabled() || p.compare.Text != "Compare 2" {
		t.Errorf("two are marked, and the button says %q", p.compare.Text)
	}
	p.compare.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	ui.until("the comparison", func() bool { return p.detail.have })
	if v := p.detail.view; v.Title != "wide, deep" || len(v.Pairs) != 3 || len(v.Rows) != 7 || len(v.Curves[1].Curves) != 3 || len(v.Curves[1].Baseline) != 3 {
		t.Errorf("%q, %d pairs, %d rows", v.Title, len(v.Pairs), len(v.Rows))
	}
	s.escape()
	if p.status() != "list" || s.win.Canvas().Focused() != fyne.Focusable(p.list.rows) {
		t.Fatalf("Escape leads to %s, with the keyboard on %T", p.status(), s.win.Canvas().Focused())
	}
	p.list.rows.at = 1
	key(p.list.rows, fyne.KeyReturn)
	ui.until("deep against the baseline", func() bool { return p.detail.have })
	p.detail.baseline.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	ui.until("another baseline", func() bool { return p.status() == "list" && p.view.Project.Baseline == "deep" })
	if !p.view.Project.Chosen || p.view.Rows[1].Gain != "baseline" || p.view.Rows[2].Mean == nil || *p.view.Rows[2].Mean > 0 {
		t.Errorf("%+v", p.view.Rows)
	}
	if v, err := s.core.Experiments(t.Context(), project); err != nil || v.Projects[0].Baseline != "deep" {
		t.Errorf("the core has %+v, %v", v.Projects, err)
	}
	// The Tab key comes by every control in sight, and back.
	seen := map[string]bool{}
	s.win.Canvas().Focus(p.search)
	for i := range 40 {
		s.win.Canvas().FocusNext()
		if i == 4 && s.win.Canvas().Focused() != s.state.marks["experiments.sort.name"].(fyne.Focusable) {
			t.Errorf("after the chips Tab comes to %T, want the head of the list", s.win.Canvas().Focused())
		}
		for name, o := range s.state.marks {
			if f, ok := o.(fyne.Focusable); ok && f == s.win.Canvas().Focused() {
				seen[name] = true
			}
		}
		seen["rows"] = seen["rows"] || s.win.Canvas().Focused() == fyne.Focusable(p.list.rows)
	}
	for _, name := range []string{"rows", "experiments.search", "experiments.export", "experiments.all", "experiments.clear", "experiments.sort.name", "experiments.sort.hours"} {
		if !seen[name] {
			t.Errorf("Tab never comes to %s: %v", name, seen)
		}
	}
	// A search that a field holds, and the way to it.
	s.find()
	if s.win.Canvas().Focused() != fyne.Focusable(p.search) {
		t.Errorf("Ctrl+F leads to %T", s.win.Canvas().Focused())
	}
	test.Type(p.search, "WID")
	if rowNames(p.view) != "wide" {
		t.Errorf("found %s", rowNames(p.view))
	}
}

func TestExperimentsWithoutARunOfferTheFirstStep(t *testing.T) {
	s, ui, _ := openShell(t, t.TempDir())
	s.Go("experiments")
	p := s.currentPage().(*experimentsPage)
	ui.until("nothing", func() bool { return p.status() == "empty" })
	if !p.empty.Visible() || p.bar.Visible() || p.export.Visible() || p.empty.Action.Text != "New run" {
		t.Errorf("the empty page: %q %q", p.empty.Title.Text, p.empty.Action.Text)
	}
	p.empty.Action.OnTapped()
	if got := s.visible.Load().at.page; got != "new" {
		t.Errorf("the first step leads to %s", got)
	}
}

// Three hundred rows are shown, sorted and walked without an object for each.
func TestThreeHundredExperiments(t *testing.T) {
	test.NewTempApp(t).Settings().SetTheme(widgets.NewTheme(widgets.ModeLight, 1))
	h := &stage{win: test.NewTempWindow(t, nil)}
	p := experimentsAt(h, manyExperiments(300))
	h.win.SetContent(p.Object())
	h.win.Resize(fyne.NewSize(980, 760))
	for _, k := range []string{"gain", "gain", "gain", "score", "hours", "name"} {
		p.sort(k)
		if len(p.view.Rows) != 300 {
			t.Fatalf("by %s: %d rows", k, len(p.view.Rows))
		}
	}
	if !strings.HasPrefix(p.list.head[0].word.Text, "Experiment ↓") {
		t.Errorf("the head says %q", p.list.head[0].word.Text)
	}
	for range 299 {
		p.list.rows.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
	}
	if p.list.rows.at != 299 || !strings.HasPrefix(p.says.Text, p.view.Rows[299].Name) {
		t.Errorf("at %d: %q", p.list.rows.at, p.says.Text)
	}
	p.search.SetText("idea-00")
	if n := len(p.view.Rows); n != 10 || p.list.rows.at != 9 {
		t.Errorf("%d rows, at %d", n, p.list.rows.at)
	}
	// Widths add up at every size, and a column is there or not, never squeezed.
	for w := float32(300); w < 2000; w += 37 {
		sum, shown := 2*widgets.Gap12, 0
		for i, x := range expWidths(w) {
			if x > 0 {
				sum, shown = sum+x, shown+1
				if x < expColumns[i].width {
					t.Fatalf("at %v column %d has %v", w, i, x)
				}
			}
		}
		if sum += expGap * float32(shown-1); w >= 480 && (sum > w+.5 || sum < w-.5) {
			t.Fatalf("at %v the columns take %v: %v", w, sum, fmt.Sprint(expWidths(w)))
		}
	}
}
