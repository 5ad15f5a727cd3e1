package app

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"sandglass/app/runlog"
	"sandglass/planner"
)

// Which way a metric is better.
const (
	BetterHigher = "higher"
	BetterLower  = "lower"
)

// What a measurement is worth.
const (
	KindFull   = "full"
	KindScreen = "screen" // a cheap try: few folds, a short schedule, little data
)

// sitting is what one run measured of one of its jobs.
type sitting struct {
	run     runlog.Run
	command string // what is left of it without the name, the folds and the seed
	seed    string
	epochs  int // planned; 0 = not known
	planned []int
	scores  map[int]float64
	cost    float64 // hours a finished fold took, median; 0 = not known
	hours   float64 // of the session, the job's share of it
	better  string
	metric  string
	split   string // SHA-256 of the split it was built with; "" = not known

	recorded bool // no run of the log: curves that one was shown beside
}

// settings are the sittings of one experiment that differ in folds and seed only, newest first.
type settings struct {
	command  string
	epochs   int
	sittings []sitting
}

// tally is what some sittings of the same settings say together.
type tally struct {
	name, kind    string
	title         string // what it is called beside others; "" = name
	hours         float64
	command       string
	epochs        int
	scores        map[int]float64
	seeds         int           // trainings that each score is the mean of, at least
	from          map[int]int64 // run that a fold's newest score is from
	planned       []int
	cost          float64
	metric        string
	better, split string
	baselineName  string // what its newest run was shown beside
	score         *float64
	recorded      bool // its curves are those that a run was shown beside
}

func (m *tally) folds() planner.FoldScores {
	return planner.FoldScores{ByFold: m.scores, Seeds: m.seeds}
}

// trial is everything that ran under one name in one project.
type trial struct {
	name     string
	newest   runlog.Run
	runs     int
	hours    float64
	settings []*settings
	full     *tally // what it is listed with; nil = it measured nothing
	screen   *tally // a cheap try of the same idea that came beside it; nil = none
}

// lab is one project's trials.
type lab struct {
	dir      string
	trials   []*trial // newest run first
	byName   map[string]*trial
	baseline *trial // nil = none
	chosen   bool   // the person chose it
	noise    map[int]planner.SeedNoise
}

// screenName is the suffix of a name that says that it is the screen of another one.
var screenName = regexp.MustCompile(`^(.+?)[-_]screen$`)

// seedName is the suffix of a name that says that it is another one under another seed.
var seedName = regexp.MustCompile(`^(.+?)[-_](?:seed|s)(\d+)$`)

// labs reads what the account's runs measured, by project; project "" reads all. The newest project comes first.
func (a *App) labs(ctx context.Context, project string) ([]*lab, error) {
	acc, err := a.Account(ctx)
	if err != nil && !errors.Is(err, ErrNoAccount) {
		return nil, err
	}
	runs, err := a.store.Runs(ctx, runlog.Filter{Project: project})
	if err != nil {
		return nil, err
	}
	var out []*lab
	byDir := map[string]*lab{}
	for _, r := range runs { // newest first
		if acc.ID != 0 && r.Account != 0 && r.Account != acc.ID || !trained(r) {
			continue
		}
		l := byDir[r.Project]
		if l == nil {
			l = &lab{dir: r.Project, byName: map[string]*trial{}}
			byDir[r.Project], out = l, append(out, l)
		}
		if err := a.addRun(ctx, l, r, speedOf(acc)); err != nil {
			return nil, err
		}
	}
	for _, l := range out {
		if err := a.addRecorded(ctx, l); err != nil {
			return nil, err
		}
		l.settle(a.Setting(ctx, baselineKey(l.dir)))
	}
	return slices.DeleteFunc(out, func(l *lab) bool { return len(l.trials) == 0 }), nil
}

// trained says whether there was a session that may have measured something.
func trained(r runlog.Run) bool {
	return atKaggle(r.State) && !r.StartedAt.IsZero() || ended(r.State) || r.State == StateMissing
}

// baselineKey is the setting that holds a project's chosen baseline.
func baselineKey(project string) string { return "experiments.baseline " + project }

// addRun takes a run's jobs into the trials of their names.
func (a *App) addRun(ctx context.Context, l *lab, r runlog.Run, speed float64) error {
	tasks, err := a.store.Tasks(ctx, r.ID)
	if err != nil {
		return err
	}
	curves, err := a.store.Curves(ctx, r.ID, runlog.SeriesRun)
	if err != nil {
		return err
	}
	jobs := r.Jobs
	if len(jobs) == 0 {
		jobs = []string{r.Name}
		for _, c := range curves {
			if !slices.Contains(jobs, c.Job) {
				jobs = append(jobs, c.Job)
			}
		}
	}
	var notes buildNotes
	if r.BuildDir != "" {
		if notes, err = readNotes(r.BuildDir); err != nil || notes.BuildID != r.BuildID {
			notes = buildNotes{} // built anew since, or gone: only what the log knows counts
		}
	}
	seconds, all := map[string]float64{}, 0.0
	for _, t := range tasks {
		seconds[t.Job] += t.Seconds
		all += t.Seconds
	}
	hours := burnedSoFar(r, a.now(), speed).Hours()
	for _, job := range jobs {
		s := newSitting(r, job, tasks, curves, speed)
		s.split = notes.Split
		for _, j := range notes.Spec.ExtraJobs {
			if j.Name == job {
				s.command, s.seed = plainCommand(j.Command, job)
			}
		}
		if len(s.scores) == 0 && s.run.Score == nil && r.Origin != originPush {
			continue // a kernel of the person's own that says nothing about a score
		}
		t := l.byName[job]
		if t == nil {
			t = &trial{name: job, newest: r}
			l.byName[job] = t
			l.trials = append(l.trials, t)
		}
		t.runs++
		share := 1 / float64(len(jobs))
		if all > 0 {
			share = seconds[job] / all
		}
		s.hours = hours * share
		t.hours += s.hours
		t.add(s)
	}
	return nil
}

// addRecorded takes in the baseline that runs were shown beside when no run of the log bears its name: a folder under artifacts/ that
// came from elsewhere. Its curves are kept with the newest such run, which is the one that its row leads to.
func (a *App) addRecorded(ctx context.Context, l *lab) error {
	for _, t := range l.trials {
		r := t.newest
		if r.BaselineName == "" || l.byName[r.BaselineName] != nil {
			continue
		}
		curves, err := a.store.Curves(ctx, r.ID, runlog.SeriesBaseline)
		if err != nil {
			return err
		}
		from := runlog.Run{ID: r.ID, Account: r.Account, Kernel: r.Kernel, Name: r.BaselineName, Project: r.Project, Metric: r.Metric, Greater: r.Greater, Score: r.BaselineScore,
			State: StateComplete, Outcome: OutcomeComplete, CreatedAt: r.CreatedAt}
		s := sitting{run: from, scores: map[int]float64{}, metric: r.Metric, better: betterWord(r.Greater), recorded: true}
		for _, c := range curves {
			if b, ok := bestPoint(c); ok && !slices.Contains(s.planned, c.Fold) {
				s.scores[c.Fold], s.planned = b, append(s.planned, c.Fold)
				s.epochs = max(s.epochs, c.Epochs)
			}
		}
		if len(s.scores) == 0 {
			continue
		}
		slices.Sort(s.planned)
		b := &trial{name: r.BaselineName, newest: from}
		b.add(s)
		l.byName[b.name] = b
		l.trials = append(l.trials, b)
		return nil // one a project: what it is held against
	}
	return nil
}

func newSitting(r runlog.Run, job string, tasks []runlog.Task, curves []runlog.Curve, speed float64) sitting {
	s := sitting{run: r, scores: map[int]float64{}}
	if job == r.Name || len(r.Jobs) < 2 {
		s.command, s.seed = plainCommand(r.Command, job)
		s.metric = r.Metric
		if r.Metric != "" || r.Score != nil {
			s.better = betterWord(r.Greater)
		}
	} else {
		s.run.Score = nil // the score is the first job's
	}
	best := map[int]float64{}
	for _, c := range curves {
		if c.Job != job {
			continue
		}
		s.better = betterWord(c.Greater)
		s.epochs = max(s.epochs, c.Epochs)
		if b, ok := bestPoint(c); ok {
			best[c.Fold] = b
		}
	}
	var costs []float64
	for _, t := range tasks {
		if t.Job != job || t.Fold == nil {
			continue
		}
		s.planned = append(s.planned, *t.Fold)
		if t.State != "done" && t.State != "skipped" { // not a whole training: its score says nothing about the idea
			continue
		}
		score, ok := best[*t.Fold]
		if t.Best != nil {
			score, ok = *t.Best, true
		}
		if ok && !math.IsNaN(score) && !math.IsInf(score, 0) {
			s.scores[*t.Fold] = score
		}
		if t.State == "done" && t.Seconds > 0 {
			costs = append(costs, t.Seconds/3600*speed)
		}
	}
	s.cost = medianOf(costs)
	for _, k := range r.Folds {
		if !slices.Contains(s.planned, k) {
			s.planned = append(s.planned, k)
		}
	}
	slices.Sort(s.planned)
	return s
}

func betterWord(greater bool) string {
	if greater {
		return BetterHigher
	}
	return BetterLower
}

// bestPoint is the best score of a curve.
func bestPoint(c runlog.Curve) (float64, bool) {
	best, ok := 0.0, false
	for _, p := range c.Points {
		if !math.IsNaN(p.Score) && !math.IsInf(p.Score, 0) && (!ok || (p.Score > best) == c.Greater) {
			best, ok = p.Score, true
		}
	}
	return best, ok
}

// plainCommand takes out of a command what is no setting of the training, its name and its folds, and the seed, which is given
// back by itself.
func plainCommand(command, name string) (plain, seed string) {
	var kept []string
	words := strings.Fields(command)
	for i := 0; i < len(words); i++ {
		flag, value, joined := strings.Cut(words[i], "=")
		switch flag {
		case "--name", "--seed", "--fold", "--folds":
			for !joined && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
				i++
				value = words[i]
				if flag != "--folds" {
					break
				}
			}
			if flag == "--seed" {
				seed = value
			}
		default:
			kept = append(kept, strings.ReplaceAll(words[i], name, "{name}"))
		}
	}
	return strings.Join(kept, " "), seed
}

// add puts a sitting, older than those before it, to the ones with the same settings. A schedule that is not known fits any.
func (t *trial) add(s sitting) {
	for _, g := range t.settings {
		if g.command == s.command && (g.epochs == s.epochs || g.epochs == 0 || s.epochs == 0) {
			g.epochs = max(g.epochs, s.epochs)
			g.sittings = append(g.sittings, s)
			return
		}
	}
	t.settings = append(t.settings, &settings{s.command, s.epochs, []sitting{s}})
}

// tallyOf puts sittings of the same settings together: of each seed the newest score of a fold, of the seeds their mean.
func tallyOf(name string, g *settings, sittings []sitting) *tally {
	m := &tally{name: name, kind: KindFull, command: g.command, epochs: g.epochs, scores: map[int]float64{}, from: map[int]int64{}}
	seeds := map[int]map[string]float64{}
	var costs []float64
	for _, s := range sittings { // newest first
		for _, k := range s.planned {
			if !slices.Contains(m.planned, k) {
				m.planned = append(m.planned, k)
			}
		}
		for k, v := range s.scores {
			if seeds[k] == nil {
				seeds[k] = map[string]float64{}
				m.from[k] = s.run.ID
			}
			if _, have := seeds[k][s.seed]; !have {
				seeds[k][s.seed] = v
			}
		}
		if s.cost > 0 {
			costs = append(costs, s.cost)
		}
		m.hours += s.hours
		m.recorded = m.recorded || s.recorded
		m.metric, m.better = cmp.Or(m.metric, s.metric), cmp.Or(m.better, s.better)
		m.split, m.baselineName = cmp.Or(m.split, s.split), cmp.Or(m.baselineName, s.run.BaselineName)
		if m.score == nil && s.run.Score != nil && len(s.planned) >= len(m.planned) {
			m.score = s.run.Score
		}
	}
	for k, by := range seeds {
		m.scores[k] = meanOf(slices.Collect(maps.Values(by)))
		if m.seeds == 0 || len(by) < m.seeds {
			m.seeds = len(by)
		}
	}
	if m.seeds > 1 {
		m.score = nil // it is one seed's
	}
	m.cost = medianOf(costs)
	slices.Sort(m.planned)
	return m
}

func (m *tally) empty() bool { return len(m.scores) == 0 && m.score == nil }

func meanOf(x []float64) float64 {
	slices.Sort(x) // the same sum whatever the order
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// settle finds each trial's measurements, the baseline and the seeds' noise. chosen is the baseline that the person set.
func (l *lab) settle(chosen string) {
	most := 0
	for _, t := range l.trials {
		t.settle()
		if t.full != nil {
			most = max(most, len(t.full.planned))
		}
	}
	l.baseline, l.chosen = l.byName[chosen], chosen != ""
	if l.baseline == nil {
		l.baseline, l.chosen = l.byName["baseline"], false
	}
	for i := 0; l.baseline == nil && i < len(l.trials); i++ {
		if name := l.trials[i].newest.BaselineName; name != "" && name != l.trials[i].name {
			l.baseline = l.byName[name]
		}
	}
	for _, t := range l.trials {
		if t.full == nil {
			continue
		}
		short := l.baseline != nil && l.baseline.full != nil && few(t.full.epochs, l.baseline.full.epochs)
		if few(len(t.full.planned), most) || short || screenName.MatchString(t.name) {
			t.full.kind = KindScreen
		}
	}
	for _, t := range l.trials {
		if m := screenName.FindStringSubmatch(t.name); m != nil && t.full != nil {
			if of := l.byName[m[1]]; of != nil && of.screen == nil {
				of.screen = t.full
			}
		}
	}
	l.noise = l.seedNoise()
}

// few says whether so many folds, or epochs, are a cheap try of so many: half of them or fewer. 0 is not known.
func few(n, of int) bool { return n > 0 && 2*n <= of }

// settle picks what the trial is listed with: the settings with the most folds, then the longest schedule, then the newest. What
// was cheaper beside them is its screen.
func (t *trial) settle() {
	var full *settings
	for _, g := range t.settings {
		m := tallyOf(t.name, g, g.sittings)
		if m.empty() {
			continue
		}
		if t.full == nil || len(m.planned) > len(t.full.planned) || len(m.planned) == len(t.full.planned) && m.epochs > t.full.epochs {
			t.full, full = m, g
		}
	}
	if full == nil {
		return
	}
	var newest time.Time
	for _, g := range t.settings {
		var short []sitting
		for _, s := range g.sittings {
			folds := few(len(s.planned), len(t.full.planned))
			other := g != full && (few(g.epochs, t.full.epochs) || s.cost > 0 && s.cost <= t.full.cost/2)
			if len(s.scores) > 0 && (folds || other) {
				short = append(short, s)
			}
		}
		if len(short) > 0 && short[0].run.CreatedAt.After(newest) {
			newest = short[0].run.CreatedAt
			t.screen = tallyOf(t.name, g, short)
			t.screen.kind = KindScreen
		}
	}
}

// seedNoise is the noise between seeds by planned epochs, from runs that differ in nothing but the seed: --seed in the command, or
// a name that ends in -seed2 or -s2.
func (l *lab) seedNoise() map[int]planner.SeedNoise {
	groups := map[int][][]float64{}
	for _, t := range l.trials {
		if t.full == nil || l.baseline != nil && l.baseline.full != nil && unlike(t.full, l.baseline.full) != "" || l.seedOf(t) != nil {
			continue
		}
		byFold := map[int][]float64{}
		for _, g := range t.settings {
			if g.command != t.full.command || g.epochs != t.full.epochs {
				continue
			}
			seen := map[int]map[string]bool{}
			for _, s := range g.sittings {
				for k, v := range s.scores {
					if seen[k] == nil {
						seen[k] = map[string]bool{}
					}
					if !seen[k][s.seed] {
						seen[k][s.seed] = true
						byFold[k] = append(byFold[k], v)
					}
				}
			}
		}
		for _, other := range l.trials {
			if l.seedOf(other) == t {
				for k, v := range other.full.scores {
					byFold[k] = append(byFold[k], v)
				}
			}
		}
		for _, scores := range byFold {
			groups[t.full.epochs] = append(groups[t.full.epochs], scores)
		}
	}
	out := map[int]planner.SeedNoise{}
	for epochs, g := range groups {
		if n := planner.SeedNoiseOf(g); n.DF > 0 {
			out[epochs] = n
		}
	}
	return out
}

// seedOf is the trial that t is under another seed; nil = none.
func (l *lab) seedOf(t *trial) *trial {
	m := seedName.FindStringSubmatch(t.name)
	if m == nil || t.full == nil {
		return nil
	}
	of := l.byName[m[1]]
	if of == nil || of.full == nil || of.full.command != t.full.command || of.full.epochs != t.full.epochs {
		return nil
	}
	return of
}

// projectName is a folder's own name.
func projectName(dir string) string {
	if dir == "" {
		return ""
	}
	return filepath.Base(dir)
}
