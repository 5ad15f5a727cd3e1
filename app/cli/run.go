package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sandglass/app"
)

const kernelHelp = `KERNEL is owner/slug, slug or the run's name, each also with /VERSION, or the run's number from "sandglass log".`

const runJSONHelp = `JSON: kernel, version, status, outcome, tasks [{job, fold, state, seconds, best, device, epochs, of, error}], files [{path, size,
state, local}], hours, findings [{code, level, text, detail, fix}], and run, name, state, score, metric, cap_h, url, failure, …`

func (p *program) waitCmd() *cobra.Command {
	var interval secondsFlag
	var most float64
	var collect, weights bool
	cmd := &cobra.Command{
		Use: "wait KERNEL", Short: "Watch a run until it has ended",
		Long: `Watches a run: its state, and its folds as their results come in. Progress goes to standard error, the end to standard output.
Network failures do not end it, and when it is interrupted the run goes on at Kaggle. What waits in the launch queue goes out
from here as well, in its turn. Exit code 0 only when the run has ended by itself and no task of it failed, or when it was
saved without running.
` + kernelHelp + "\n\n" + runJSONHelp,
		Example: "  sandglass wait idea-train --collect",
		Args:    args(1, 1, "the run's kernel"),
		PreRunE: func(cmd *cobra.Command, _ []string) error { return checkHours(cmd, "max-hours") },
		RunE: p.verb(func(ctx context.Context, a core, args []string) error {
			if weights && !collect {
				return &usageError{Text: "--weights says what to collect, and nothing is collected without --collect", Hint: "add --collect"}
			}
			opt := app.WaitOptions{Collect: collect, Weights: weights, Interval: time.Duration(interval), Max: time.Duration(most * float64(time.Hour))}
			return p.wait(ctx, a, args[0], opt)
		}),
	}
	f := cmd.Flags()
	f.Var(&interval, "interval", "time between two looks, e.g. 90 or 2m (default: adaptive)")
	f.Float64Var(&most, "max-hours", 0, "give up after so many hours (default: never; a TPU queue can take half a day)")
	f.BoolVar(&collect, "collect", false, "bring the results home when it has ended")
	f.BoolVar(&weights, "weights", false, "with --collect: model weights too")
	return cmd
}

func (p *program) wait(ctx context.Context, a core, kernel string, opt app.WaitOptions) error {
	var last string
	v, err := a.Wait(ctx, kernel, opt, func(v app.RunView) {
		line := stateLine(v, p.now())
		if key := v.State + v.Status + v.Failure; key != last {
			last = key
			p.progress.line(line)
		} else {
			p.progress.show(line)
		}
	})
	if err != nil {
		return stopped(ctx, err, stoppedWaiting(v), "go on with: sandglass wait "+kernel)
	}
	err = p.result(runOf(v), func(w io.Writer) {
		runText(w, v, p.now())
		if opt.Collect {
			files, bytes := leftWeights(v)
			leftText(w, files, bytes, kernel)
		}
	})
	if err != nil {
		return err
	}
	return ended(v)
}

// stoppedWaiting says what a run does when nobody waits for it any more.
func stoppedWaiting(v app.RunView) string {
	if v.State == app.StateWaiting {
		return "stopped waiting; it stays in the launch queue, and goes out while the window is open or a wait runs"
	}
	return "stopped waiting; the run goes on at Kaggle"
}

// ended is the exit code of a run that was waited for.
func ended(v app.RunView) error {
	if v.State == app.StateNoRun { // saved only: nothing ran, and nothing was to
		return nil
	}
	// The session ends well at Kaggle whatever became of its folds, so a fold that crashed is looked for.
	for _, t := range v.Tasks {
		if t.State == "failed" {
			return exitError(exitFailed)
		}
	}
	if v.State == app.StateComplete && v.Outcome != app.OutcomeFailed && v.Outcome != app.OutcomeKilled {
		return nil
	}
	return exitError(exitFailed)
}

func (p *program) statusCmd() *cobra.Command {
	return &cobra.Command{
		Use: "status [KERNEL…]", Short: "Ask Kaggle once how runs are going",
		Long: `Asks Kaggle once about each run named, or about every run in flight. Exit code 0 whatever the state.
` + kernelHelp + `

With one KERNEL the JSON document is that run, otherwise a list of runs.
` + runJSONHelp,
		Example: "  sandglass status\n  sandglass status sam-roe/idea-train --json",
		Args:    args(0, -1, ""),
		RunE: p.verb(func(ctx context.Context, a core, args []string) error {
			return p.status(ctx, a, args)
		}),
	}
}

func (p *program) status(ctx context.Context, a core, kernels []string) error {
	one := len(kernels) == 1
	if len(kernels) == 0 {
		rows, err := a.Runs(ctx, app.RunFilter{InFlight: true})
		if err != nil {
			return err
		}
		for _, r := range rows {
			kernels = append(kernels, fmt.Sprint(r.ID))
		}
	}
	views := []app.RunView{}
	for _, k := range kernels {
		v, err := a.Refresh(ctx, k)
		if err != nil {
			return stopped(ctx, err, "stopped", "")
		}
		views = append(views, v)
	}
	if one {
		return p.result(runOf(views[0]), func(w io.Writer) { runText(w, views[0], p.now()) })
	}
	out := make([]runJSON, len(views))
	for i, v := range views {
		out[i] = runOf(v)
	}
	return p.result(out, func(w io.Writer) {
		for _, v := range views {
			fmt.Fprintln(w, stateLine(v, p.now()))
		}
		if len(views) == 0 {
			fmt.Fprintln(w, "no run is in flight")
		}
	})
}

func (p *program) collectCmd() *cobra.Command {
	var opt app.CollectOptions
	cmd := &cobra.Command{
		Use: "collect KERNEL", Short: "Bring a run's results home",
		Long: `Downloads the output of a run that has ended, without model weights unless --weights, checks it, puts results into the
project's artifacts/, and says what the run has to teach. A broken download is taken up where it stopped. Exit code 1 when
nothing worth keeping came out.
` + kernelHelp + "\n\n" + runJSONHelp + "\nOf collect alone: new, kept, left and left_bytes (weights that stay at Kaggle), dir, problems.",
		Example: "  sandglass collect idea-train\n  sandglass collect idea-train --weights",
		Args:    args(1, 1, "the run's kernel"),
		RunE: p.verb(func(ctx context.Context, a core, args []string) error {
			got, err := a.Collect(ctx, args[0], opt, p.progress.report)
			if err != nil {
				return stopped(ctx, err, "stopped; the files that arrived are kept", "go on with: sandglass collect "+args[0])
			}
			out := runOf(got.Run)
			out.New, out.Kept, out.Dir, out.Problems = &got.New, &got.Kept, got.Dir, list(got.Problems)
			out.Left, out.LeftBytes = &got.Left, &got.LeftSize
			if err := p.result(out, func(w io.Writer) { collectText(w, got, args[0], p.now()) }); err != nil {
				return err
			}
			if got.Run.Outcome == app.OutcomeFailed {
				return exitError(exitFailed)
			}
			return nil
		}),
	}
	f := cmd.Flags()
	f.BoolVar(&opt.Weights, "weights", false, "model weights too")
	f.StringVar(&opt.Dir, "dir", "", "put everything below this folder instead of into the project")
	f.StringVar(&opt.Pattern, "pattern", "", "only paths that match this regular expression")
	return cmd
}

func collectText(w io.Writer, got app.Collected, kernel string, now time.Time) {
	runText(w, got.Run, now)
	fmt.Fprintf(w, "collected into %s: %s new, %d here already\n", got.Dir, count(got.New, "file"), got.Kept)
	leftText(w, got.Left, got.LeftSize, kernel)
	for _, x := range got.Problems {
		fmt.Fprintf(w, "problem: %s\n", x)
	}
}

// leftText says which weights a collect left behind, and what fetches them.
func leftText(w io.Writer, files int, bytes int64, kernel string) {
	if files > 0 {
		fmt.Fprintf(w, "left at Kaggle: %s of model weights (%s); to fetch them: sandglass collect --weights %s\n", count(files, "file"), size(bytes), quoted(kernel))
	}
}

// leftWeights counts what the collect of a wait left at Kaggle: it fetches everything but weights.
func leftWeights(v app.RunView) (files int, bytes int64) {
	for _, f := range v.Files {
		if v.Collected && f.State == "remote" {
			files, bytes = files+1, bytes+f.Size
		}
	}
	return files, bytes
}

func (p *program) deleteCmd() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "delete KERNEL", Short: "Delete a kernel at Kaggle, which also drops its queued run",
		Long: `Deletes the kernel at Kaggle with every version and output. It cannot be undone, and it is the only way to drop a queued TPU
run. On a terminal the kernel's name has to be typed; elsewhere it needs --yes. What was collected stays here.
` + kernelHelp + "\nA run that only waits here is taken out of the launch queue, and nothing at Kaggle is touched.\n\nJSON: kernel, deleted, dropped (out of the launch queue).",
		Example: "  sandglass delete sam-roe/idea-train",
		Args:    args(1, 1, "the kernel to delete"),
		RunE: p.verb(func(ctx context.Context, a core, args []string) error {
			return p.delete(ctx, a, args[0], yes)
		}),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "delete without being asked")
	return cmd
}

func (p *program) delete(ctx context.Context, a core, kernel string, yes bool) error {
	row, err := a.Resolve(ctx, kernel)
	if err != nil {
		return err
	}
	if !yes {
		if !p.ask {
			return &usageError{Text: "deleting cannot be undone and there is no terminal to ask on; nothing was deleted", Hint: "agree with --yes"}
		}
		what := fmt.Sprintf("Deletes %s at Kaggle with every version and output.", row.Kernel)
		if row.State == app.StateWaiting {
			what = fmt.Sprintf("Takes %s out of the launch queue; it was not pushed, and nothing at Kaggle is touched.", row.Kernel)
		}
		fmt.Fprint(p.stderr, what+" Type its name to go on: ")
		name, err := p.line()
		if err != nil {
			return err
		}
		if _, slug, _ := strings.Cut(row.Kernel, "/"); name != row.Kernel && name != slug {
			return &stoppedError{Text: "nothing was deleted: that is not its name"}
		}
	}
	if err := a.Delete(ctx, kernel); err != nil {
		return err
	}
	if row.State == app.StateWaiting {
		return p.result(map[string]any{"kernel": row.Kernel, "deleted": false, "dropped": true}, func(w io.Writer) {
			fmt.Fprintf(w, "took %s out of the launch queue; it was not pushed, and nothing at Kaggle was touched\n", row.Kernel)
		})
	}
	return p.result(map[string]any{"kernel": row.Kernel, "deleted": true, "dropped": false}, func(w io.Writer) { fmt.Fprintf(w, "deleted %s at Kaggle\n", row.Kernel) })
}

// stateLine is a run in one line.
func stateLine(v app.RunView, now time.Time) string {
	s := fmt.Sprintf("%s version %d: %s", v.Kernel, v.Version, v.State)
	if v.Version == 0 {
		s = fmt.Sprintf("%s: %s", v.Kernel, v.State)
	}
	if v.Status != "" && v.Status != v.State && v.State != app.StateWaiting {
		s += " (Kaggle: " + v.Status + ")"
	}
	switch v.State {
	case app.StateNoRun:
		s += " (saved only, nothing ran)"
	case app.StateWaiting:
		s += " in the launch queue: " + clause(v.Note)
	case app.StateUnclear:
		s += ": " + clause(v.Note)
	case app.StateQueued:
		s += " for " + span(v.QueuedFor)
	case app.StateRunning:
		s += " for " + hours(v.Hours)
		if v.CapHours > 0 {
			s += " of " + hours(v.CapHours)
		}
		if done, all := finished(v.Tasks); all > 0 {
			s += fmt.Sprintf(", %d of %s ended", done, count(all, "task"))
		}
	}
	if v.Outcome != "" && v.Outcome != v.State {
		s += ", " + v.Outcome
	}
	if !v.UnreachableAt.IsZero() {
		s += "; Kaggle not reached for " + span(now.Sub(v.UnreachableAt))
	}
	return s
}

func finished(tasks []app.TaskView) (done, all int) {
	for _, t := range tasks {
		switch t.State {
		case "", "running", "waiting", "not-started":
		default:
			done++
		}
	}
	return done, len(tasks)
}

// runText is everything a terminal shows of a run.
func runText(out io.Writer, v app.RunView, now time.Time) {
	var text strings.Builder
	defer func() { fmt.Fprint(out, plain(text.String())) }()
	w := &text
	fmt.Fprintln(w, stateLine(v, now))
	switch {
	case v.Hours > 0 && v.State != app.StateRunning && v.CapHours > 0:
		fmt.Fprintf(w, "%s used of a cap of %s\n", hours(v.Hours), hours(v.CapHours))
	case v.Hours > 0 && v.State != app.StateRunning: // pushed elsewhere, so its cap is not known
		fmt.Fprintf(w, "%s used\n", hours(v.Hours))
	}
	if v.Score != nil {
		fmt.Fprintf(w, "%s %.5g", metric(v.Metric), *v.Score)
		if v.BaselineScore != nil {
			fmt.Fprintf(w, ", baseline %s %.5g", v.BaselineName, *v.BaselineScore)
		}
		fmt.Fprintln(w)
	}
	said := v.State == app.StateWaiting || v.State == app.StateUnclear // in the line above
	if v.Failure != "" && v.Failure != v.Note {
		fmt.Fprintf(w, "failure: %s\n", v.Failure)
	}
	if v.Note != "" && !said {
		fmt.Fprintf(w, "note: %s\n", v.Note)
	}
	if len(v.Tasks) > 0 {
		tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
		fmt.Fprintln(tw, "job\tfold\tstate\tseconds\tbest")
		for _, t := range v.Tasks {
			fmt.Fprintf(tw, "%s\t%s\t%s\t%.0f\t%s\n", t.Job, pointer(t.Fold, "%d"), t.State, t.Seconds, pointer(t.Best, "%.5g"))
		}
		tw.Flush()
	}
	for _, f := range v.Findings {
		fmt.Fprintf(w, "%s: %s\n", f.Level, f.Text)
		if f.Detail != "" {
			fmt.Fprintf(w, "    %s\n", strings.ReplaceAll(strings.TrimRight(f.Detail, "\n"), "\n", "\n    "))
		}
		if f.Fix != "" {
			fmt.Fprintf(w, "    fix: %s\n", f.Fix)
		}
	}
	if n := len(v.Files); n > 0 {
		fmt.Fprint(w, count(n, "file"))
		if v.ArtifactsDir != "" {
			fmt.Fprintf(w, ", results in %s", v.ArtifactsDir)
		}
		fmt.Fprintln(w)
	}
	if v.URL != "" {
		fmt.Fprintln(w, v.URL)
	}
}

func metric(name string) string {
	if name == "" {
		return "score"
	}
	return name
}

func pointer[T any](p *T, format string) string {
	if p == nil {
		return "-"
	}
	return fmt.Sprintf(format, *p)
}
