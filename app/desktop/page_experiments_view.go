package desktop

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"fyne.io/fyne/v2/lang"

	"sandglass/app"
	"sandglass/charts"
	"sandglass/widgets"
)

// expID names an experiment: a name is unique in its project only.
type expID struct{ project, name string }

func idOf(e app.Experiment) expID { return expID{e.Project, e.Name} }

// expOrder is what the list is sorted by.
type expOrder struct {
	key  string // newest, name, score, gain, hours
	turn bool   // the other way round than usual
}

// expAsk is what the person asks of the list.
type expAsk struct {
	project string // "" = the newest
	chip    string
	text    string
	order   expOrder
}

// expRow is one experiment in strings, and its gain in numbers for the bar.
type expRow struct {
	ID                              expID
	Name, Kind, Score, Spread, Gain string
	Ahead, Hours                    string
	Mean, Low, High                 *float64
	Verdict                         widgets.Status
	Says                            string // all of it in a sentence
	Baseline                        bool
	Run                             int64
}

// experimentsView is what the Experiments page says, in strings.
type experimentsView struct {
	Note     string
	Project  app.ExperimentProject
	Projects []string // folders, as they are chosen from; one or none = no choice is offered
	Rows     []expRow
	Scale    float64 // the largest gain or end of a bar among the rows; 0 = none
	Counts   map[string]string
	Title    string // of the empty state; "" = there are rows
	Empty    string
	First    bool // nothing was measured yet at all
	Fidelity charts.Fidelity
	Truly    string // how truly screens rank ideas, in words; "" = no idea has both
}

// expFilters are the chips above the list.
var expFilters = []struct {
	key, label string
	keep       func(e app.Experiment) bool
}{
	{"all", "All", func(app.Experiment) bool { return true }},
	{"full", "Full runs", func(e app.Experiment) bool { return e.Kind == app.KindFull }},
	{"screens", "Screens", func(e app.Experiment) bool { return e.Kind == app.KindScreen }},
	{"clear", "Beyond the noise", func(e app.Experiment) bool { return e.Gain != nil && e.Gain.Verdict == app.BeyondNoise }},
}

// newExperimentsView picks, sorts and words the experiments of one project.
func newExperimentsView(all app.ExperimentsView, ask expAsk) experimentsView {
	v := experimentsView{Counts: map[string]string{}, First: len(all.Projects) == 0}
	if v.First {
		v.Title, v.Empty = lang.L("Nothing to compare yet"), lang.L("A run that was collected stands here with its score, and its gain over the baseline beside the noise.")
		return v
	}
	v.Project = all.Projects[0]
	for _, p := range all.Projects {
		v.Projects = append(v.Projects, p.Dir)
		if p.Dir == ask.project {
			v.Project = p
		}
	}
	var list []app.Experiment
	counts := map[string]int{}
	for _, e := range all.Experiments {
		if e.Project != v.Project.Dir || !strings.Contains(strings.ToLower(e.Name), strings.ToLower(strings.TrimSpace(ask.text))) {
			continue
		}
		for _, f := range expFilters {
			if f.keep(e) {
				counts[f.key]++
				if f.key == ask.chip {
					list = append(list, e)
				}
			}
		}
	}
	for _, f := range expFilters[1:] {
		if counts[f.key] > 0 {
			v.Counts[f.key] = fmt.Sprint(counts[f.key])
		}
	}
	sortExperiments(list, ask.order, v.Project.Better)
	for _, e := range list {
		r := newExpRow(e)
		for _, x := range []*float64{r.Mean, r.Low, r.High} {
			if x != nil {
				v.Scale = math.Max(v.Scale, math.Abs(*x))
			}
		}
		v.Rows = append(v.Rows, r)
	}
	v.Note = expNote(v.Project)
	if len(v.Rows) == 0 {
		v.Title, v.Empty = lang.L("Nothing here"), lang.L("No experiment matches. Clear the search or choose All.")
	}
	v.fidelity()
	return v
}

func expNote(p app.ExperimentProject) string {
	parts := []string{cmp.Or(p.Name, lang.L("without a project"))}
	switch {
	case p.Metric != "" && p.Better != "":
		parts = append(parts, fmt.Sprintf(lang.L("%s, %s is better"), metricName(p.Metric), lang.L(p.Better)))
	case p.Better != "":
		parts = append(parts, fmt.Sprintf(lang.L("%s is better"), lang.L(p.Better)))
	}
	if p.Baseline == "" {
		return strings.Join(append(parts, lang.L("no baseline")), " · ")
	}
	parts = append(parts, fmt.Sprintf(lang.L("against %s"), p.Baseline))
	for _, n := range p.Noise {
		parts = append(parts, fmt.Sprintf(lang.L("seeds differ by %.2g"), n.SD))
		break
	}
	return strings.Join(parts, " · ")
}

// sortExperiments puts the best first: the newest, the highest gain, the better score, the most hours, names by the alphabet. What
// has no figure comes last either way.
func sortExperiments(list []app.Experiment, o expOrder, better string) {
	figure := func(e app.Experiment) (float64, bool) {
		switch o.key {
		case "score":
			if e.Score == nil {
				return 0, false
			}
			if better == app.BetterLower {
				return -*e.Score, true
			}
			return *e.Score, true
		case "gain":
			if e.Baseline {
				return 0, true
			}
			if e.Gain == nil || e.Gain.Mean == nil {
				return 0, false
			}
			return *e.Gain.Mean, true
		case "hours":
			return e.Hours, true
		}
		return float64(e.At.UnixMilli()), true
	}
	slices.SortStableFunc(list, func(x, y app.Experiment) int {
		by := 0
		if o.key == "name" {
			by = strings.Compare(strings.ToLower(x.Name), strings.ToLower(y.Name))
		} else {
			a, okA := figure(x)
			b, okB := figure(y)
			if okA != okB {
				if okA {
					return -1
				}
				return 1
			}
			by = cmp.Compare(b, a)
		}
		if o.turn {
			return -by
		}
		return by
	})
}

func newExpRow(e app.Experiment) expRow {
	r := expRow{ID: idOf(e), Name: e.Name, Score: longScore(e.Score), Gain: "—", Hours: fmt.Sprintf("%.1f", e.Hours), Verdict: expVerdict(e), Says: expSays(e), Baseline: e.Baseline, Run: e.Run}
	switch {
	case e.Kind == app.KindScreen:
		if !strings.Contains(strings.ToLower(e.Name), "screen") { // its name says so already
			r.Kind = lang.L("screen")
		}
	case len(e.Folds) > 0 && len(e.Folds) < e.Planned:
		r.Kind = fmt.Sprintf(lang.L("%d of %d folds"), len(e.Folds), e.Planned)
	}
	if e.Spread != nil {
		r.Spread = fmt.Sprintf("± %.2g", *e.Spread)
	}
	if e.Baseline {
		r.Gain = lang.L("baseline")
	}
	if g := e.Gain; g != nil && g.Mean != nil {
		r.Gain, r.Mean, r.Low, r.High = signedScore(*g.Mean), g.Mean, g.Low, g.High
		r.Ahead = fmt.Sprintf(lang.L("%d of %d"), g.Better, len(g.Folds))
	}
	return r
}

// longScore writes a score with a digit more than elsewhere: gains are small.
func longScore(s *float64) string {
	if s == nil || math.IsNaN(*s) {
		return "—"
	}
	if a := math.Abs(*s); a >= 1000 {
		return fmt.Sprintf("%.1f", *s)
	} else if a >= 10 {
		return fmt.Sprintf("%.2f", *s)
	}
	return fmt.Sprintf("%.4f", *s)
}

// signedScore writes a gain: "+0.0230".
func signedScore(x float64) string {
	switch a := math.Abs(x); {
	case a >= 1000:
		return fmt.Sprintf("%+.1f", x)
	case a >= 10:
		return fmt.Sprintf("%+.2f", x)
	case a != 0 && a < 0.0005:
		return fmt.Sprintf("%+.2g", x)
	}
	return fmt.Sprintf("%+.4f", x)
}

// expVerdict is what an experiment came to: the noise's word where there is a gain, else what it is.
func expVerdict(e app.Experiment) widgets.Status {
	word, t := statusOf(e.Newest)
	switch g := e.Gain; {
	case e.Baseline:
		return widgets.Status{Word: lang.L("baseline"), Shape: widgets.ShapeDot, Color: widgets.ColorMuted}
	case g != nil:
		return gainStatus(g)
	case e.Kind == "" && e.Newest.Ended:
		return t.status(word)
	case e.Kind == "":
		return t.status(word)
	case e.Control:
		return widgets.Status{Word: lang.L("control"), Shape: widgets.ShapeDot, Color: widgets.ColorMuted}
	case e.Kind == app.KindScreen:
		return toneNeutral.status(lang.L("no control"))
	}
	return toneNeutral.status(lang.L("not compared"))
}

func gainStatus(g *app.Gain) widgets.Status {
	s := toneNeutral.status(lang.L(g.Verdict))
	if g.Verdict == app.BeyondNoise {
		s.Shape, s.Color = widgets.ShapeCheck, widgets.ColorGood
		if g.Mean != nil && *g.Mean < 0 {
			s.Shape, s.Color = widgets.ShapeCross, widgets.ColorBad
		}
	} else if g.Advice == app.AdviceSecondSeed {
		s.Color = widgets.ColorWarning
	}
	return s
}

// expSays tells an experiment in a sentence, with what to do next.
func expSays(e app.Experiment) string {
	switch {
	case e.Gain != nil:
		return said(e.Gain.Text) + " " + adviceWords(e.Gain.Advice)
	case e.Baseline:
		return fmt.Sprintf(lang.L("%s is what the others are held against."), e.Name)
	case e.Why != "":
		return capital(said(e.Why)) + "."
	}
	return ""
}

// adviceWords is what follows from a verdict.
func adviceWords(advice string) string {
	switch advice {
	case app.AdviceKeep:
		return lang.L("Keep it.")
	case app.AdvicePromote:
		return lang.L("Promote it: run all folds in full.")
	case app.AdviceSecondSeed:
		return lang.L("A second seed or more folds would tell.")
	case app.AdviceMoreFolds:
		return lang.L("Run more folds before judging it.")
	case app.AdviceNoGain:
		return lang.L("No gain was seen.")
	case app.AdviceDrop:
		return lang.L("Drop it, or change it materially.")
	}
	return ""
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// fidelity words the chart of screens against full runs.
func (v *experimentsView) fidelity() {
	f := v.Project.Fidelity
	if len(f.Points) == 0 {
		return
	}
	v.Truly = said(f.Text)
	v.Fidelity = charts.Fidelity{Ink: charts.InkGPU, Metric: metricName(v.Project.Metric), Gains: f.Gains, Lower: v.Project.Better == app.BetterLower, Note: f.Text}
	for _, p := range f.Points {
		v.Fidelity.Points = append(v.Fidelity.Points, charts.FidelityPoint{Name: p.Name, Screen: p.Screen, Full: p.Full,
			Note: fmt.Sprintf(lang.L("folds: %d against %d"), p.ScreenFolds, p.FullFolds)})
	}
}

// experimentsCSV writes the rows that are shown.
func experimentsCSV(all []app.Experiment, rows []expRow) func(w io.Writer) error {
	by := map[expID]app.Experiment{}
	for _, e := range all {
		by[idOf(e)] = e
	}
	return func(w io.Writer) error {
		out := [][]string{{"name", "kind", "metric", "better", "score", "mean", "spread", "folds", "planned_folds", "gain", "gain_low", "gain_high", "ahead", "against", "verdict", "advice", "hours", "runs", "why"}}
		for _, r := range rows {
			e := by[r.ID]
			line := []string{e.Name, e.Kind, e.Metric, e.Better, plainNumber(e.Score), plainNumber(e.Mean), plainNumber(e.Spread), strconv.Itoa(len(e.Folds)), strconv.Itoa(e.Planned)}
			if g := e.Gain; g != nil {
				line = append(line, plainNumber(g.Mean), plainNumber(g.Low), plainNumber(g.High), strconv.Itoa(g.Better), g.Against, g.Verdict, g.Advice)
			} else {
				line = append(line, "", "", "", "", "", "", "")
			}
			out = append(out, append(line, strconv.FormatFloat(e.Hours, 'g', 6, 64), strconv.Itoa(e.Runs), e.Why))
		}
		return csv.NewWriter(w).WriteAll(out)
	}
}

func plainNumber(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'g', -1, 64)
}

// comparedView is the side-by-side view of some experiments, in strings.
type comparedView struct {
	Title, Note string
	Pairs       []pairLine
	Columns     []widgets.Column
	Rows        [][]widgets.Cell
	Names       []string // whose curves can be shown beside the baseline
	Curves      []charts.LearningCurves
	Alone       bool // one experiment against the baseline
}

// pairLine is one comparison in words.
type pairLine struct {
	Name   string
	Status widgets.Status
	Text   string
}

// newComparedView words a comparison.
func newComparedView(c app.Compared, axis charts.XAxis) comparedView {
	v := comparedView{Alone: len(c.Sides) == c.Bases+1}
	var names []string
	for _, s := range c.Sides[c.Bases:] {
		names = append(names, s.Name)
	}
	v.Title = strings.Join(names, ", ")
	base := c.Baseline
	if c.Bases == 1 { // the baseline, or its screen where only screens are shown
		base = c.Sides[0].Name
	}
	v.Note = fmt.Sprintf(lang.L("against %s"), base)
	if c.Better != "" {
		v.Note += " · " + strings.TrimPrefix(fmt.Sprintf(lang.L("%s, %s is better"), metricName(c.Metric), lang.L(c.Better)), ", ")
	}
	for _, p := range c.Pairs {
		line := pairLine{Name: p.Name, Status: toneNeutral.status(lang.L("not compared")), Text: capital(said(p.Why)) + "."}
		if p.Base >= c.Bases {
			line.Name = fmt.Sprintf(lang.L("%s against %s"), p.Name, p.Against)
		}
		if g := p.Gain; g != nil {
			line.Status, line.Text = gainStatus(g), said(g.Text)+" "+adviceWords(g.Advice)
			if left := leftOut(g); left != "" {
				line.Text += " " + left
			}
		}
		v.Pairs = append(v.Pairs, line)
	}
	v.table(c)
	v.curves(c, axis)
	return v
}

// leftOut names the folds that only one side has.
func leftOut(g *app.Gain) string {
	var parts []string
	for _, x := range []struct {
		folds []int
		who   string
	}{{g.OnlyOwn, lang.L("it")}, {g.OnlyBase, g.Against}} {
		if len(x.folds) > 0 {
			var list []string
			for _, k := range x.folds {
				list = append(list, strconv.Itoa(k))
			}
			parts = append(parts, fmt.Sprintf(lang.L("fold %s, which %s alone has"), strings.Join(list, ", "), x.who))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf(lang.L("Left out: %s."), strings.Join(parts, "; "))
}

// table is the scores fold by fold, and what each is ahead by.
func (v *comparedView) table(c app.Compared) {
	v.Columns = []widgets.Column{{Title: lang.L("Fold"), Width: 82}}
	for i, s := range c.Sides {
		v.Columns = append(v.Columns, widgets.Column{Title: s.Name, Width: 70, Weight: 1, Right: true})
		if i >= c.Bases {
			v.Columns = append(v.Columns, widgets.Column{Title: lang.L("gain"), Width: 66, Weight: 1, Right: true})
		}
	}
	gains := map[int]map[int]float64{} // by side and fold
	means := map[int]*float64{}
	for _, p := range c.Pairs {
		if p.Gain != nil && p.Base < c.Bases {
			gains[p.Side], means[p.Side] = map[int]float64{}, p.Gain.Mean
			for _, f := range p.Gain.Folds {
				gains[p.Side][f.Fold] = f.Gain
			}
		}
	}
	row := func(name string, muted bool, score, gain func(i int) string) {
		cells := []widgets.Cell{{Text: name, Muted: true}}
		for i := range c.Sides {
			cells = append(cells, widgets.Cell{Text: score(i), Muted: muted})
			if i >= c.Bases {
				cells = append(cells, widgets.Cell{Text: gain(i), Muted: muted})
			}
		}
		v.Rows = append(v.Rows, cells)
	}
	none := func(int) string { return "" }
	for _, f := range c.Folds {
		row(strconv.Itoa(f.Fold), false, func(i int) string { return longScore(f.Scores[i]) }, func(i int) string {
			if d, ok := gains[i][f.Fold]; ok {
				return signedScore(d)
			}
			return "—"
		})
	}
	row(lang.L("mean"), false, func(i int) string { return longScore(c.Sides[i].Mean) }, func(i int) string {
		if m := means[i]; m != nil {
			return signedScore(*m)
		}
		return "—"
	})
	row(lang.L("spread"), true, func(i int) string {
		if s := c.Sides[i].Spread; s != nil {
			return fmt.Sprintf("%.2g", *s)
		}
		return "—"
	}, none)
	row(lang.L("hours"), true, func(i int) string { return hours(c.Sides[i].Hours) }, none)
	row(lang.L("hours a fold"), true, func(i int) string {
		if h := c.Sides[i].FoldHours; h != nil {
			return hours(*h)
		}
		return "—"
	}, none)
}

// curves are each side's learning curves over the baseline's.
func (v *comparedView) curves(c app.Compared, axis charts.XAxis) {
	all := make([][]charts.Curve, len(c.Sides))
	for i := range c.Sides {
		for _, cv := range c.Curves[i] {
			all[i] = append(all[i], chartCurve(cv, true))
		}
	}
	for _, p := range c.Pairs {
		if p.Base < c.Bases {
			s, base := c.Sides[p.Side], c.Sides[p.Base]
			v.Names = append(v.Names, s.Name)
			v.Curves = append(v.Curves, charts.LearningCurves{Metric: metricName(c.Metric), X: axis, Ink: poolInk(s.Newest.Pool), Name: s.Name, Curves: all[p.Side],
				BaselineName: base.Name, Baseline: all[p.Base], Greater: c.Better != app.BetterLower})
		}
	}
}

// projectChoice is how a project stands in the list of projects: its own name, with the folder where another has the same.
func projectChoice(dirs []string) []string {
	names := map[string]int{}
	for _, d := range dirs {
		names[filepath.Base(d)]++
	}
	var out []string
	for _, d := range dirs {
		switch name := filepath.Base(d); {
		case d == "":
			out = append(out, lang.L("without a project"))
		case names[name] > 1:
			out = append(out, d)
		default:
			out = append(out, name)
		}
	}
	return out
}
