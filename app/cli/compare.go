package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"sandglass/app"
)

func (p *program) compareCmd() *cobra.Command {
	var ask app.CompareAsk
	var set string
	cmd := &cobra.Command{
		Use: "compare [NAME…]", Short: "Hold runs against a baseline, fold by fold",
		Long: `Says what each run measured, its gain over the baseline, and whether that is more than noise. A name is that of a run or of a
job in it; all sessions under it count together, of each fold the newest whole training. Only folds that both sides have are
compared. The baseline is --baseline, else the project's own: the one set with --set-baseline, else the run called baseline,
else what the newest run was shown beside. Without any, the first name is. Without a name everything is listed.

The interval holds 95 of 100: t over the folds' differences, corrected for the training data that folds share, or wider where
runs under other seeds (--seed in the command, or a name with -seed2) differ by more. "beyond the noise": it leaves out zero.
"within the noise": it does not. "too few folds": fewer than three in common, and no noise between seeds is known.

Screens (half of the folds or fewer, half the epochs or fewer, or a name that ends in -screen) are held against what the
baseline measured at the same settings, never against its full run. Where ideas have both a screen and a full run, the last
line says how truly screens rank them: Spearman's correlation, and how often the signs agree.

JSON with names: project {dir, baseline, chosen, metric, better, noise, fidelity {gains, points {name, screen, full,
screen_folds, full_folds}, agree, rank, p, verdict, text, without_control}}, baseline, metric, better, sides {name, kind,
score, mean, spread, folds {fold, score, run}, planned, epochs, seeds, hours, fold_hours, runs, run (the newest), kernel, state,
outcome, at, baseline, control, gain, why}, bases (how many of the first sides are only held against),
folds {fold, scores in the order of the sides}, pairs {name, against, side, base, gain {folds, only_own, only_base, better, mean, low,
high, noise_from, p, verdict, advice, text}, why}. Without names: projects, experiments (as sides).`,
		Example: "  sandglass compare\n  sandglass compare wide deep --project .\n  sandglass compare wide --baseline deep --json\n  sandglass compare --set-baseline deep --project .",
		Args:    args(0, -1, ""),
	}
	f := cmd.Flags()
	f.StringVar(&ask.Baseline, "baseline", "", "what to hold them against, this time")
	f.StringVar(&ask.Project, "project", "", "folder of the project; default: the only one that has them all")
	f.StringVar(&set, "set-baseline", "", "make this run the project's baseline from now on; \"none\" goes back to its own")
	cmd.RunE = p.verb(func(ctx context.Context, a core, names []string) error {
		if f.Changed("set-baseline") {
			if ask.Project == "" {
				return &usageError{Text: "--set-baseline needs --project", Hint: "name its folder, such as --project ."}
			}
			name := set
			if name == "none" {
				name = ""
			}
			if err := a.SetBaseline(ctx, ask.Project, name); err != nil {
				return err
			}
		}
		if len(names) == 0 {
			if ask.Baseline != "" {
				return &usageError{Text: "--baseline needs a name to hold against it", Hint: "give the runs' names, or set the project's with --set-baseline"}
			}
			v, err := a.Experiments(ctx, ask.Project)
			if err != nil {
				return err
			}
			return p.result(v, func(w io.Writer) { experimentsText(w, v) })
		}
		ask.Names = names
		v, err := a.Compare(ctx, ask)
		if err != nil {
			return err
		}
		return p.result(v, func(w io.Writer) { comparedText(w, v) })
	})
	return cmd
}

// experimentsText lists every project's experiments, each project under its own line.
func experimentsText(w io.Writer, v app.ExperimentsView) {
	if len(v.Experiments) == 0 {
		fmt.Fprintln(w, "Nothing was measured yet: push a run (sandglass build, sandglass push) and collect it.")
	}
	for i, p := range v.Projects {
		if i > 0 {
			fmt.Fprintln(w)
		}
		projectLine(w, p, p.Baseline)
		var own []app.Experiment
		for _, e := range v.Experiments {
			if e.Project == p.Dir {
				own = append(own, e)
			}
		}
		experimentTable(w, own)
		foot(w, p)
	}
}

func projectLine(w io.Writer, p app.ExperimentProject, baseline string) {
	parts := []string{plain(p.Dir)}
	if p.Dir == "" {
		parts[0] = "without a project"
	}
	if p.Metric != "" || p.Better != "" {
		parts = append(parts, strings.TrimSuffix(plain(p.Metric)+", "+p.Better+" is better", ",  is better"))
	}
	if baseline == "" {
		parts = append(parts, "no baseline")
	} else {
		parts = append(parts, "against "+plain(baseline))
	}
	fmt.Fprintln(w, strings.Join(parts, " · "))
}

func experimentTable(w io.Writer, list []app.Experiment) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "name\tkind\tscore\tmean ± spread\tgain\t95 %\tahead\thours\tper fold\tverdict")
	for _, e := range list {
		mean := figure(e.Mean)
		if e.Spread != nil {
			mean += fmt.Sprintf(" ± %.2g", *e.Spread)
		}
		gain, bar, ahead, verdict := "-", "-", "-", e.Why
		if e.Baseline {
			verdict = "baseline"
		}
		if g := e.Gain; g != nil {
			gain, bar, ahead = gainText(g.Mean), interval(g), fmt.Sprintf("%d of %d", g.Better, len(g.Folds))
			verdict = g.Verdict + ": " + g.Advice
		}
		perFold := "-"
		if e.FoldHours != nil {
			perFold = hours(*e.FoldHours)
		}
		kind := e.Kind
		if kind == "" {
			kind = "-"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", plain(e.Name), kind, figure(e.Score), mean, gain, bar, ahead, hours(e.Hours), perFold, plain(verdict))
	}
	_ = t.Flush() // of a buffer
}

// comparedText is the table of the sides, their scores fold by fold, and each gain in a sentence.
func comparedText(w io.Writer, v app.Compared) {
	projectLine(w, v.Project, v.Baseline)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "fold\t")
	for _, s := range v.Sides {
		fmt.Fprint(t, plain(s.Name)+"\t")
	}
	fmt.Fprintln(t)
	row := func(name string, cell func(i int) *float64) {
		fmt.Fprint(t, name+"\t")
		for i := range v.Sides {
			fmt.Fprint(t, figure(cell(i))+"\t")
		}
		fmt.Fprintln(t)
	}
	for _, f := range v.Folds {
		row(fmt.Sprint(f.Fold), func(i int) *float64 { return f.Scores[i] })
	}
	row("mean", func(i int) *float64 { return v.Sides[i].Mean })
	row("spread", func(i int) *float64 { return v.Sides[i].Spread })
	fmt.Fprint(t, "hours\t")
	for _, s := range v.Sides {
		fmt.Fprint(t, hours(s.Hours)+"\t")
	}
	fmt.Fprintln(t)
	_ = t.Flush() // of a buffer
	fmt.Fprintln(w)
	for _, pair := range v.Pairs {
		if pair.Gain == nil {
			fmt.Fprintf(w, "%s: not compared with %s: %s.\n", plain(pair.Name), plain(pair.Against), plain(pair.Why))
			continue
		}
		fmt.Fprintf(w, "%s: %s Advice: %s.\n", plain(pair.Name), plain(pair.Gain.Text), pair.Gain.Advice)
		if left := foldsLeft(pair.Gain); left != "" {
			fmt.Fprintf(w, "  %s\n", left)
		}
	}
	foot(w, v.Project)
}

func foldsLeft(g *app.Gain) string {
	var parts []string
	for _, x := range []struct {
		folds []int
		who   string
	}{{g.OnlyOwn, "only it has"}, {g.OnlyBase, "only " + plain(g.Against) + " has"}} {
		if len(x.folds) > 0 {
			parts = append(parts, fmt.Sprintf("fold %s, which %s", strings.Trim(strings.Join(strings.Fields(fmt.Sprint(x.folds)), ", "), "[]"), x.who))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "left out: " + strings.Join(parts, "; ")
}

// foot says what is known of the noise, and how far screens can be believed.
func foot(w io.Writer, p app.ExperimentProject) {
	for _, n := range p.Noise {
		at := ""
		if n.Epochs > 0 {
			at = fmt.Sprintf(" at %d epochs", n.Epochs)
		}
		fmt.Fprintf(w, "Noise between seeds%s: %.2g a fold.\n", at, n.SD)
	}
	if len(p.Fidelity.Points) > 0 {
		what := "scores"
		if p.Fidelity.Gains {
			what = "gains"
		}
		fmt.Fprintf(w, "Do screens rank ideas truly (by %s)? %s\n", what, p.Fidelity.Text)
	}
}

// figure writes a score with the digits that tell runs apart.
func figure(x *float64) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf("%.5g", *x)
}

func gainText(x *float64) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf("%+.3g", *x)
}

func interval(g *app.Gain) string {
	if g.Low == nil {
		return "-"
	}
	return fmt.Sprintf("%+.3g to %+.3g", *g.Low, *g.High)
}
