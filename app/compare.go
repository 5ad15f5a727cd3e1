package app

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"sandglass/app/runlog"
	"sandglass/planner"
)

// Verdicts and advice of a Gain.
const (
	BeyondNoise = planner.BeyondNoise
	WithinNoise = planner.WithinNoise
	TooFewFolds = planner.TooFewFolds

	AdviceKeep       = planner.AdviceKeep
	AdvicePromote    = planner.VerdictPromote
	AdviceSecondSeed = planner.AdviceSecondSeed
	AdviceMoreFolds  = planner.AdviceMoreFolds
	AdviceNoGain     = planner.AdviceNoGain
	AdviceDrop       = planner.AdviceDrop
)

// FoldScore is what one fold came to.
type FoldScore struct {
	Fold  int     `json:"fold"`
	Score float64 `json:"score"`
	Run   int64   `json:"run"` // that the newest training of it is from
}

// FoldGain is one fold that both sides measured; the gain is above zero when the own side is better.
type FoldGain struct {
	Fold int     `json:"fold"`
	Own  float64 `json:"own"`
	Base float64 `json:"base"`
	Gain float64 `json:"gain"`
}

// Gain is one experiment against another over the folds that both measured (planner.CompareFolds).
type Gain struct {
	Against  string     `json:"against"`
	Folds    []FoldGain `json:"folds"`
	OnlyOwn  []int      `json:"only_own"`  // folds that the other side lacks
	OnlyBase []int      `json:"only_base"` // folds that this side lacks
	Better   int        `json:"better"`    // folds with a gain
	Mean     *float64   `json:"mean"`      // above zero is better; null = no fold in common
	Low      *float64   `json:"low"`       // 95 % interval; null = nothing tells how far off the mean may be
	High     *float64   `json:"high"`
	Source   string     `json:"noise_from"` // folds, seeds, or nothing
	P        float64    `json:"p"`          // two-sided chance of so large a difference when there is none
	Verdict  string     `json:"verdict"`    // beyond the noise, within the noise, too few folds
	Advice   string     `json:"advice"`     // keep (promote for a screen), second seed, more folds, no gain, drop
	Text     string     `json:"text"`       // all of it in a sentence
}

// Experiment is everything that ran under one name in one project, and what it measured.
type Experiment struct {
	Name      string      `json:"name"`
	Project   string      `json:"project"` // folder; "" = none
	Kind      string      `json:"kind"`    // full or screen; "" = nothing was measured yet
	Metric    string      `json:"metric"`
	Better    string      `json:"better"`     // higher, lower; "" = not known
	Score     *float64    `json:"score"`      // of the whole, where a run assembled its folds; else their mean
	Mean      *float64    `json:"mean"`       // over the folds
	Spread    *float64    `json:"spread"`     // standard deviation over the folds; null for fewer than two
	Folds     []FoldScore `json:"folds"`      // finished ones, by fold
	Planned   int         `json:"planned"`    // folds that there are to be
	Epochs    int         `json:"epochs"`     // planned; 0 = not known
	Seeds     int         `json:"seeds"`      // that each fold was trained with, at least
	Hours     float64     `json:"hours"`      // all its sessions took, failed ones too
	FoldHours *float64    `json:"fold_hours"` // hours a fold that counts; null = none does
	Runs      int         `json:"runs"`
	Run       int64       `json:"run"`    // the newest
	Kernel    string      `json:"kernel"` // of it
	State     string      `json:"state"`
	Outcome   string      `json:"outcome"`
	At        time.Time   `json:"at"` // it was begun
	Newest    RunRow      `json:"-"`
	Baseline  bool        `json:"baseline"`
	Control   bool        `json:"control"` // it is the baseline's own screen, which the other screens are held against
	Gain      *Gain       `json:"gain"`    // against the baseline; null = it is the baseline, or Why
	Why       string      `json:"why"`     // there is no gain
}

// NoiseView is what seeds alone make a fold's score differ by.
type NoiseView struct {
	Epochs int     `json:"epochs"` // of the trainings it was measured with; 0 = not known
	SD     float64 `json:"sd"`
	DF     int     `json:"df"`
}

// FidelityPoint is one idea that was screened and run in full.
type FidelityPoint struct {
	Name        string  `json:"name"`
	Screen      float64 `json:"screen"`
	Full        float64 `json:"full"`
	ScreenFolds int     `json:"screen_folds"` // that its figure rests on
	FullFolds   int     `json:"full_folds"`
}

// FidelityView says how truly screens rank ideas.
type FidelityView struct {
	Gains      bool            `json:"gains"` // the points are gains; false: scores
	Points     []FidelityPoint `json:"points"`
	Agree      int             `json:"agree"` // ideas whose gain has one sign on both; 0 for scores
	Rank       *float64        `json:"rank"`  // Spearman's correlation; null = none to be had
	P          float64         `json:"p"`     // chance of ranks that agree as well by luck
	Verdict    string          `json:"verdict"`
	Text       string          `json:"text"`
	Uncontrols []string        `json:"without_control"` // ideas whose screen has no control at the same settings
}

// ExperimentProject is a project with experiments.
type ExperimentProject struct {
	Dir      string       `json:"dir"`
	Name     string       `json:"name"`
	Baseline string       `json:"baseline"` // "" = none
	Chosen   bool         `json:"chosen"`   // the person chose it
	Metric   string       `json:"metric"`   // of the baseline, else of the newest experiment
	Better   string       `json:"better"`
	Noise    []NoiseView  `json:"noise"`
	Fidelity FidelityView `json:"fidelity"`
	Count    int          `json:"experiments"`
}

// ExperimentsView is every experiment of the projects asked for, the newest first.
type ExperimentsView struct {
	Projects    []ExperimentProject `json:"projects"`
	Experiments []Experiment        `json:"experiments"`
}

// Experiments lists what the runs of a project measured, and each gain against the project's baseline. project "" is all of them.
// It reads this computer only.
func (a *App) Experiments(ctx context.Context, project string) (ExperimentsView, error) {
	v := ExperimentsView{Projects: []ExperimentProject{}, Experiments: []Experiment{}}
	ls, err := a.labs(ctx, draftProject(project))
	if err != nil {
		return v, err
	}
	speed := a.accountSpeed(ctx)
	for _, l := range ls {
		v.Projects = append(v.Projects, l.view())
		for _, t := range l.trials {
			v.Experiments = append(v.Experiments, l.experiment(t, a.now(), speed))
		}
	}
	slices.SortStableFunc(v.Experiments, func(x, y Experiment) int { return y.Newest.CreatedAt.Compare(x.Newest.CreatedAt) })
	return v, nil
}

func (a *App) accountSpeed(ctx context.Context) float64 {
	acc, err := a.Account(ctx)
	if err != nil {
		return 1
	}
	return speedOf(acc)
}

// SetBaseline makes an experiment the one that the others of its project are measured against. name "" goes back to the project's
// own: the experiment called baseline, else what the newest run was shown beside.
func (a *App) SetBaseline(ctx context.Context, project, name string) error {
	project = draftProject(project)
	if name != "" {
		ls, err := a.labs(ctx, project)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(ls, func(l *lab) bool { return l.dir == project && l.byName[name] != nil })
		if i < 0 {
			return noSuchExperiment(name, project)
		}
		if t := ls[i].byName[name].full; t == nil {
			return &CallError{Reason: "nothing can be held against " + name + ", which measured nothing yet", Action: "Choose one with a score."}
		}
	}
	if err := a.SetSetting(ctx, baselineKey(project), name); err != nil {
		return err
	}
	a.noteChange(ctx, EventRun, 0)
	return nil
}

// PromoteSpec is what the full run of a screened idea is built from: the words of its run, over all folds, under a name without
// -screen. Its schedule and its data are the command's, which only the person can lengthen.
func (a *App) PromoteSpec(ctx context.Context, id int64) (BuildSpec, error) {
	spec, err := a.SpecOf(ctx, id)
	if err != nil {
		return spec, err
	}
	spec.Folds, spec.Slug, spec.ResumeFrom, spec.Out = nil, "", nil, ""
	if m := screenName.FindStringSubmatch(spec.Name); m != nil {
		spec.Command = strings.ReplaceAll(spec.Command, spec.Name, m[1])
		spec.Name = m[1]
	}
	return spec, nil
}

func noSuchExperiment(name, project string) error {
	reason := fmt.Sprintf("no run is called %q", name)
	if project != "" {
		reason = fmt.Sprintf("no run of %s is called %q", filepath.Base(project), name)
	}
	return &CallError{Reason: reason, Action: "\"sandglass compare\" without a name lists what was measured."}
}

// experiment is a trial as the list shows it.
func (l *lab) experiment(t *trial, now time.Time, speed float64) Experiment {
	e := Experiment{Name: t.name, Project: l.dir, Folds: []FoldScore{}, Hours: t.hours, Runs: t.runs, Newest: rowOf(t.newest, now, speed), Baseline: t == l.baseline,
		Metric: t.newest.Metric}
	e.Control = t != l.baseline && l.baseline != nil && t.full != nil && t.full == l.baseline.screen
	e.Run, e.Kernel, e.State, e.Outcome, e.At = t.newest.ID, t.newest.Kernel, t.newest.State, t.newest.Outcome, t.newest.CreatedAt
	if t.full != nil {
		e.measured(t.full)
	}
	if t != l.baseline {
		e.Gain, e.Why = l.gain(t, l.baseline, true)
	}
	return e
}

// measured puts down what was measured; the hours are there already.
func (e *Experiment) measured(m *tally) {
	e.Kind, e.Metric, e.Better, e.Planned, e.Epochs, e.Seeds = m.kind, m.metric, m.better, len(m.planned), m.epochs, m.seeds
	e.Folds = []FoldScore{}
	e.Mean, e.Spread, e.FoldHours = nil, nil, nil
	var scores []float64
	for _, k := range slices.Sorted(maps.Keys(m.scores)) {
		e.Folds = append(e.Folds, FoldScore{k, m.scores[k], m.from[k]})
		scores = append(scores, m.scores[k])
	}
	if n := len(scores); n > 0 {
		mean := meanOf(slices.Clone(scores))
		e.Mean = &mean
		per := e.Hours / float64(n)
		e.FoldHours = &per
		if n > 1 {
			sd := math.Sqrt(variance(scores))
			e.Spread = &sd
		}
	}
	if e.Score = m.score; e.Score == nil {
		e.Score = e.Mean
	}
}

// gain is a trial against another one, or why there is none. A screen is held against what the other one measured at the same
// settings, never against its full run: that compares a short training with a long one.
func (l *lab) gain(own, base *trial, control bool) (*Gain, string) {
	switch {
	case own.full == nil:
		return nil, "it measured nothing yet"
	case base == nil:
		return nil, "the project has no baseline"
	case base.full == nil:
		return nil, "nothing was measured by " + base.name + " yet"
	}
	m := own.full
	against := l.reference(own, base, control)
	switch {
	case against == nil && m == base.screen:
		return nil, "it is the screen of " + base.name + " itself, which other screens are held against"
	case against == nil:
		return nil, noControl(m, base)
	}
	if why := unlike(m, against); why != "" {
		return nil, why
	}
	return gainOf(m, against, l.noise[m.epochs]), ""
}

// reference is what a trial is held against: what base is listed with, or a screen's control; nil = there is none.
func (l *lab) reference(own, base *trial, named bool) *tally {
	if own.full == nil || own.full.kind != KindScreen {
		return base.full
	}
	return l.control(own.full, base, named)
}

func noControl(m *tally, base *trial) string {
	if m.epochs > 0 {
		return fmt.Sprintf("there is no control: %s was not run with a schedule of %d on these folds, and one such run makes every screen comparable", base.name, m.epochs)
	}
	return "there is no control: " + base.name + " was not run at these settings on these folds, and one such run makes every screen comparable"
}

// control is what a screen is held against: with named, the one that it was built to be shown beside; else what base measured with
// the same schedule on one of its folds, the same command first, or its own screen. nil = there is none.
func (l *lab) control(m *tally, base *trial, named bool) *tally {
	if t := l.byName[m.baselineName]; named && t != nil && t != base && t.full != nil && t.name != m.name && fits(m, t.full) {
		return t.full
	}
	var all []*tally
	for _, g := range base.settings {
		c := tallyOf(base.name, g, g.sittings)
		if base.full != nil && (c.command != base.full.command || c.epochs != base.full.epochs) {
			if c.title = base.name + ", cheaper"; c.epochs > 0 && c.epochs != base.full.epochs {
				c.title = base.name + " at " + plural(c.epochs, "epoch")
			}
		}
		all = append(all, c)
	}
	if base.screen != nil && base.screen.name != base.name {
		all = append(all, base.screen)
	}
	slices.SortStableFunc(all, func(x, y *tally) int { return boolInt(y.command == m.command) - boolInt(x.command == m.command) })
	for _, c := range all {
		if c.name != m.name && fits(m, c) { // a screen is no control of itself
			return c
		}
	}
	return nil
}

// fits says whether c can be the control of the screen m: a common fold, the same schedule, and no more than twice its cost.
func fits(m, c *tally) bool {
	if m.epochs > 0 && c.epochs > 0 && m.epochs != c.epochs || m.cost > 0 && c.cost >= 2*m.cost && m.command != c.command {
		return false
	}
	for k := range m.scores {
		if _, ok := c.scores[k]; ok {
			return true
		}
	}
	return false
}

// unlike says why two measurements cannot be compared; "" when they can.
func unlike(x, y *tally) string {
	name := func(m *tally) string { return cmp.Or(m.metric, "a score without a name") }
	switch {
	case x.metric != "" && y.metric != "" && metricKey(x.metric) != metricKey(y.metric):
		return fmt.Sprintf("the metrics differ: %s measured %s and %s measured %s", x.name, x.metric, y.name, y.metric)
	case x.better != "" && y.better != "" && x.better != y.better:
		return fmt.Sprintf("the metrics differ: in %s a %s %s is better and in %s a %s %s", x.name, x.better, name(x), y.name, y.better, name(y))
	case x.split != "" && y.split != "" && x.split != y.split:
		return fmt.Sprintf("the splits differ: %s and %s were built with other rows in their folds (data/folds.csv)", x.name, y.name)
	}
	return ""
}

// metricKey is a metric's name without what people write differently: "log_loss", "Log loss".
func metricKey(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

func gainOf(m, against *tally, noise planner.SeedNoise) *Gain {
	better := cmp.Or(m.better, against.better, BetterHigher)
	c := planner.CompareFolds(m.folds(), against.folds(), better == BetterHigher, noise)
	g := &Gain{Against: cmp.Or(against.title, against.name), Folds: []FoldGain{}, OnlyOwn: append([]int{}, c.OnlyOwn...), OnlyBase: append([]int{}, c.OnlyBase...),
		Better: c.Better, Source: c.Source, P: c.P,
		Verdict: c.Verdict, Advice: c.Advice}
	for _, f := range c.Folds {
		g.Folds = append(g.Folds, FoldGain(f))
	}
	if len(c.Folds) > 0 {
		g.Mean = &c.Mean
	}
	if c.HasBar {
		g.Low, g.High = &c.Low, &c.High
	}
	if m.kind == KindScreen && g.Advice == AdviceKeep {
		g.Advice = AdvicePromote
	}
	g.Text = g.words()
	return g
}

// words tells a gain in two sentences: what it is, and what it is beside the noise.
func (g *Gain) words() string {
	n := len(g.Folds)
	if n == 0 {
		return fmt.Sprintf("No fold in common with %s.", g.Against)
	}
	var s string
	switch mean := *g.Mean; {
	case mean == 0:
		s = fmt.Sprintf("Level with %s over %s.", g.Against, plural(n, "fold"))
	case n == 1 && mean > 0:
		s = fmt.Sprintf("Better than %s by %.3g on the one fold in common.", g.Against, mean)
	case n == 1:
		s = fmt.Sprintf("Worse than %s by %.3g on the one fold in common.", g.Against, -mean)
	case mean > 0:
		s = fmt.Sprintf("Better than %s by %.3g, ahead on %d of %d folds.", g.Against, mean, g.Better, n)
	default:
		s = fmt.Sprintf("Worse than %s by %.3g, ahead on %d of %d folds.", g.Against, -mean, g.Better, n)
	}
	by := "folds' differences"
	if g.Source == "seeds" {
		by = "noise between seeds"
	}
	switch g.Verdict {
	case BeyondNoise:
		return s + fmt.Sprintf(" That is beyond the noise: 95 %% between %+.3g and %+.3g, by the %s.", *g.Low, *g.High, by)
	case WithinNoise:
		return s + fmt.Sprintf(" That is within the noise: 95 %% between %+.3g and %+.3g, by the %s.", *g.Low, *g.High, by)
	}
	return s + " Those are too few folds: three in common, or the same run under other seeds, tell noise from gain."
}

// view is what a project's experiments say together.
func (l *lab) view() ExperimentProject {
	p := ExperimentProject{Dir: l.dir, Name: projectName(l.dir), Chosen: l.chosen, Noise: []NoiseView{}, Fidelity: l.fidelity(), Count: len(l.trials)}
	if l.baseline != nil {
		p.Baseline = l.baseline.name
	}
	for _, t := range append([]*trial{l.baseline}, l.trials...) {
		if t != nil && t.full != nil {
			p.Metric, p.Better = cmp.Or(p.Metric, t.full.metric), cmp.Or(p.Better, t.full.better)
		}
	}
	for _, epochs := range slices.Sorted(maps.Keys(l.noise)) {
		p.Noise = append(p.Noise, NoiseView{epochs, l.noise[epochs].SD, l.noise[epochs].DF})
	}
	return p
}

// fidelity holds screens against full runs of the same idea: gains where the baseline and a control give them, else the scores of
// screens with one schedule and the same folds.
func (l *lab) fidelity() FidelityView {
	var gains []FidelityPoint
	scores := map[string][]FidelityPoint{}
	v := FidelityView{Points: []FidelityPoint{}, Uncontrols: []string{}}
	for _, t := range l.trials {
		if t.screen == nil || t.full == nil || t.full.kind != KindFull || len(t.screen.scores) == 0 || len(t.full.scores) == 0 || unlike(t.screen, t.full) != "" {
			continue
		}
		key := fmt.Sprint(t.screen.epochs, slices.Sorted(maps.Keys(t.screen.scores)), metricKey(t.full.metric))
		scores[key] = append(scores[key], FidelityPoint{t.name, mapMean(t.screen.scores), mapMean(t.full.scores), len(t.screen.scores), len(t.full.scores)})
		if t == l.baseline || l.baseline == nil || l.baseline.full == nil {
			continue
		}
		control := l.control(t.screen, l.baseline, true)
		if control == nil {
			v.Uncontrols = append(v.Uncontrols, t.name)
			continue
		}
		if unlike(t.screen, control) != "" || unlike(t.full, l.baseline.full) != "" {
			continue
		}
		short, full := gainOf(t.screen, control, planner.SeedNoise{}), gainOf(t.full, l.baseline.full, planner.SeedNoise{})
		if short.Mean != nil && full.Mean != nil {
			gains = append(gains, FidelityPoint{t.name, *short.Mean, *full.Mean, len(short.Folds), len(full.Folds)})
		}
	}
	v.Gains, v.Points = true, append(v.Points, gains...)
	for _, key := range slices.Sorted(maps.Keys(scores)) {
		if ps := scores[key]; len(v.Points) < 3 && (len(ps) >= 3 || len(v.Points) == 0) && len(ps) > len(v.Points) {
			v.Gains, v.Points = false, ps
		}
	}
	var pairs []planner.ScreenPair
	for _, p := range v.Points {
		pairs = append(pairs, planner.ScreenPair{Screen: p.Screen, Full: p.Full})
	}
	f := planner.Fidelity(pairs, v.Gains)
	v.P, v.Verdict, v.Text = f.P, f.Verdict, f.Text
	if n := len(v.Uncontrols); n > 0 && len(gains) < 3 {
		v.Text += fmt.Sprintf(" Run %s once at the screens' settings: that is the control which %d of them lack.", l.baseline.name, n)
	}
	if v.Gains {
		v.Agree = f.Agree
	}
	if !math.IsNaN(f.Rank) {
		v.Rank = &f.Rank
	}
	return v
}

func mapMean(m map[int]float64) float64 { return meanOf(slices.Collect(maps.Values(m))) }

// CompareAsk names experiments to be held against each other.
type CompareAsk struct {
	Names    []string
	Baseline string // what they are held against; "" = the project's baseline, else the first of them
	Project  string // folder; "" = the only one that has them all
}

// ComparedPair is one experiment against another one.
type ComparedPair struct {
	Name    string `json:"name"`
	Against string `json:"against"`
	Side    int    `json:"side"` // number of the experiment among the sides, from 0
	Base    int    `json:"base"` // and of what it is held against
	Gain    *Gain  `json:"gain"` // null: Why
	Why     string `json:"why"`
}

// ComparedFold is one fold's scores, in the order of the sides; null = not measured.
type ComparedFold struct {
	Fold   int        `json:"fold"`
	Scores []*float64 `json:"scores"`
}

// Compared is experiments of one project side by side.
type Compared struct {
	Project  ExperimentProject `json:"project"`
	Baseline string            `json:"baseline"` // what they are held against
	Metric   string            `json:"metric"`
	Better   string            `json:"better"`
	Sides    []Experiment      `json:"sides"` // what they are held against first, then as they were named
	Bases    int               `json:"bases"` // how many of the first ones are only held against: the baseline, and its screens where screens were named
	Folds    []ComparedFold    `json:"folds"`
	Pairs    []ComparedPair    `json:"pairs"`
	Curves   [][]CurveView     `json:"-"` // of each side, by fold
}

// Compare holds experiments against a baseline fold by fold, and two named ones against each other as well. Metrics that are not
// the same are refused with a CallError.
func (a *App) Compare(ctx context.Context, ask CompareAsk) (Compared, error) {
	l, names, err := a.compareLab(ctx, ask)
	if err != nil {
		return Compared{}, err
	}
	base := l.byName[names[0]]
	for _, name := range names[1:] {
		if m := l.byName[name].full; m != nil && base.full != nil {
			if why := unlike(m, base.full); why != "" {
				return Compared{}, &CallError{Reason: why, Action: "Compare runs of one metric and one split, or against another baseline."}
			}
		}
	}
	v := Compared{Project: l.view(), Baseline: base.name, Folds: []ComparedFold{}, Pairs: []ComparedPair{}}
	speed := a.accountSpeed(ctx)
	named := ask.Baseline == "" && base == l.baseline
	bases, baseOf := l.bases(base, names[1:], named)
	var tallies []*tally
	for _, m := range bases {
		e := l.experiment(base, a.now(), speed)
		if m != base.full {
			e.Name, e.Hours, e.Baseline = cmp.Or(m.title, m.name), m.hours, false
			e.measured(m)
		}
		e.Gain, e.Why = nil, ""
		v.Sides, tallies = append(v.Sides, e), append(tallies, m)
	}
	v.Bases = len(bases)
	for i, name := range names[1:] {
		t := l.byName[name]
		v.Sides, tallies = append(v.Sides, l.experiment(t, a.now(), speed)), append(tallies, t.full)
		g, why := l.gain(t, base, named)
		v.Pairs = append(v.Pairs, ComparedPair{name, v.Sides[baseOf[i]].Name, v.Bases + i, baseOf[i], g, why})
	}
	if len(names) == 3 && len(ask.Names) == 2 {
		g, why := l.gain(l.byName[names[2]], l.byName[names[1]], false)
		v.Pairs = append(v.Pairs, ComparedPair{names[2], names[1], v.Bases + 1, v.Bases, g, why})
	}
	return v, a.fillCompared(ctx, &v, tallies)
}

// bases are what the named trials are held against, each once, and which of them each has.
func (l *lab) bases(base *trial, names []string, named bool) (list []*tally, of []int) {
	key := func(m *tally) string { return m.name + "\x00" + m.title }
	for _, name := range names {
		m := l.reference(l.byName[name], base, named)
		if m == nil || base.full != nil && key(m) == key(base.full) {
			m = base.full // without a control its own curves stand beside the baseline's all the same
		}
		at := slices.IndexFunc(list, func(x *tally) bool { return x == m || x != nil && m != nil && key(x) == key(m) })
		if at < 0 {
			at, list = len(list), append(list, m)
		}
		of = append(of, at)
	}
	return list, of
}

// fillCompared puts the scores and the curves side by side.
func (a *App) fillCompared(ctx context.Context, v *Compared, tallies []*tally) error {
	byFold := map[int][]*float64{}
	for i, e := range v.Sides {
		v.Metric, v.Better = cmp.Or(v.Metric, e.Metric), cmp.Or(v.Better, e.Better)
		for _, f := range e.Folds {
			if byFold[f.Fold] == nil {
				byFold[f.Fold] = make([]*float64, len(v.Sides))
			}
			byFold[f.Fold][i] = &f.Score
		}
		curves, err := a.tallyCurves(ctx, tallies[i])
		if err != nil {
			return err
		}
		v.Curves = append(v.Curves, curves)
	}
	for _, k := range slices.Sorted(maps.Keys(byFold)) {
		v.Folds = append(v.Folds, ComparedFold{k, byFold[k]})
	}
	return nil
}

// compareLab finds the project of what is asked for, and the names with what they are held against first.
func (a *App) compareLab(ctx context.Context, ask CompareAsk) (*lab, []string, error) {
	if len(ask.Names) == 0 {
		return nil, nil, &CallError{Reason: "there is nothing to compare", Action: "Name one or more runs."}
	}
	project := draftProject(ask.Project)
	ls, err := a.labs(ctx, project)
	if err != nil {
		return nil, nil, err
	}
	want := slices.Clone(ask.Names)
	if ask.Baseline != "" {
		want = append([]string{ask.Baseline}, want...)
	}
	var found []*lab
	for _, l := range ls {
		if slices.IndexFunc(want, func(n string) bool { return l.byName[n] == nil }) < 0 {
			found = append(found, l)
		}
	}
	switch {
	case len(found) == 0:
		for _, n := range want { // the one that is nowhere
			if slices.IndexFunc(ls, func(l *lab) bool { return l.byName[n] != nil }) < 0 {
				return nil, nil, noSuchExperiment(n, project)
			}
		}
		return nil, nil, &CallError{Reason: "no project has runs of all these names: " + strings.Join(want, ", "), Action: "Compare runs of one project: their folds are the same."}
	case len(found) > 1:
		var dirs []string
		for _, l := range found {
			dirs = append(dirs, cmp.Or(l.dir, "none"))
		}
		return nil, nil, &CallError{Reason: "several projects have runs of these names: " + strings.Join(dirs, ", "), Action: "Name the project (--project)."}
	}
	l := found[0]
	if ask.Baseline == "" && l.baseline != nil {
		want = append([]string{l.baseline.name}, want...)
	}
	var names []string
	for _, n := range want {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	if len(names) < 2 {
		return nil, nil, &CallError{Reason: "there is only " + names[0] + " to compare", Action: "Name a second run, or another baseline."}
	}
	return l, names, nil
}

// tallyCurves are the learning curves of what was measured, by fold.
func (a *App) tallyCurves(ctx context.Context, m *tally) ([]CurveView, error) {
	if m == nil {
		return nil, nil
	}
	series := runlog.SeriesRun
	if m.recorded {
		series = runlog.SeriesBaseline
	}
	byRun := map[int64][]runlog.Curve{}
	var out []runlog.Curve
	for _, k := range slices.Sorted(maps.Keys(m.from)) {
		id := m.from[k]
		if _, have := byRun[id]; !have {
			curves, err := a.store.Curves(ctx, id, series)
			if err != nil {
				return nil, err
			}
			byRun[id] = curves
		}
		for _, c := range byRun[id] {
			if (m.recorded || c.Job == m.name) && c.Fold == k {
				out = append(out, c)
			}
		}
	}
	return curveViews(out), nil
}
