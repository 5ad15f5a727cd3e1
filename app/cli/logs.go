package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sandglass/app"
)

func (p *program) logCmd() *cobra.Command {
	f := app.RunFilter{Limit: 20}
	var all, aside, yes bool
	cmd := &cobra.Command{
		Use: "log", Short: "List the runs of this computer, the newest first",
		Long: `Lists what was pushed, found or recorded here. Nothing is asked of Kaggle: "sandglass status" does that.

With --set-aside a damaged run log is moved to another name, after one question (elsewhere than on a terminal it needs --yes),
and the next call starts a new one. Nothing is deleted, a log that is in order stays where it is, secrets in the keychain and
results in project folders are not touched. JSON then: log, aside, copies.

JSON: a list of runs: run, kernel, version, name, project, state, status, outcome, accelerator, pool, cap_h, hours, metric, score,
failure, url, created_at, pushed_at, started_at, ended_at, collected_at, unreachable_since, origin, ended, collected.`,
		Example: "  sandglass log -n 5\n  sandglass log --pool tpu --json",
		Args:    args(0, 0, "no argument"),
	}
	show := p.verb(func(ctx context.Context, a core, _ []string) error {
		if all {
			f.Limit = 0
		}
		switch f.Pool {
		case "", app.PoolGPU, app.PoolTPU, app.PoolCPU:
		default:
			return &usageError{Text: "there is no pool " + f.Pool, Hint: "gpu, tpu or cpu"}
		}
		rows, err := a.Runs(ctx, f)
		if err != nil {
			return err
		}
		out := make([]rowJSON, len(rows))
		for i, r := range rows {
			out[i] = rowOf(r)
		}
		return p.result(out, func(w io.Writer) { logText(w, rows) })
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if aside {
			return p.setAside(cmd.Context(), yes)
		}
		return show(cmd, args)
	}
	fl := cmd.Flags()
	fl.IntVarP(&f.Limit, "number", "n", 20, "how many")
	fl.BoolVar(&all, "all", false, "every run")
	fl.StringVar(&f.Text, "text", "", "only runs with this in name, kernel, command or project")
	fl.StringVar(&f.Pool, "pool", "", "only gpu, tpu or cpu")
	fl.BoolVar(&f.InFlight, "in-flight", false, "only runs that are under way")
	fl.BoolVar(&aside, "set-aside", false, "move a damaged run log away, so that a new one is started")
	fl.BoolVar(&yes, "yes", false, "with --set-aside: without being asked")
	return cmd
}

// setAside moves a damaged run log away. It works without the core, which a damaged log keeps from opening.
func (p *program) setAside(ctx context.Context, yes bool) error {
	if !yes {
		if !p.ask {
			return &usageError{Text: "there is no terminal to ask on; the run log is where it was", Hint: "agree with --yes"}
		}
		if ok, err := p.confirm("Move the damaged run log to another name and start a new one? Nothing is deleted."); err != nil || !ok {
			return declined(err, "the run log is where it was")
		}
	}
	s, err := app.SetAsideRunLog(ctx, app.Options{Getenv: p.getenv, Version: Version})
	if err != nil {
		return err
	}
	v := map[string]any{"log": s.Log, "aside": s.Aside, "copies": list(s.Copies)}
	return p.result(v, func(w io.Writer) {
		fmt.Fprintf(w, "the damaged run log is now %s; the next call starts a new one\n", s.Aside)
		for _, c := range s.Copies {
			fmt.Fprintf(w, "a copy from before an update: %s; put in the place of %s it brings its runs back\n", c, s.Log)
		}
		fmt.Fprintln(w, "sign in again if an account was kept there; \"sandglass status owner/slug\" finds a run at Kaggle again")
	})
}

func logText(w io.Writer, rows []app.RunRow) {
	if len(rows) == 0 {
		fmt.Fprintln(w, "no runs yet; the first step: sandglass build --help")
		return
	}
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "run\tkernel\tversion\taccelerator\tcap\tused\tstate\toutcome\tscore\tpushed")
	for _, r := range rows {
		pushed := "-"
		if !r.PushedAt.IsZero() {
			pushed = r.PushedAt.Local().Format("2 Jan 15:04")
		}
		outcome := r.Outcome
		if outcome == "" {
			outcome = "-"
		}
		fmt.Fprintf(tw, "%d\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, r.Kernel, r.Version, strings.TrimPrefix(machine(r.Accelerator), "NvidiaTesla"),
			hours(r.CapHours), hours(r.Hours), r.State, outcome, pointer(r.Score, "%.5g"), pushed)
	}
	tw.Flush()
}

func (p *program) logsCmd() *cobra.Command {
	var follow bool
	var n int
	cmd := &cobra.Command{
		Use: "logs KERNEL", Short: "Show a session's log, or follow it",
		Long: `Shows what the session wrote. -f follows a run until it has ended; a TPU session's log comes at its end. The runner's own
telemetry lines are part of it.
` + kernelHelp + `

JSON: a list of lines {n, stream, text}; with -f one such object a line as they come.`,
		Example: "  sandglass logs idea-train -f",
		Args:    args(1, 1, "the run's kernel"),
		PreRunE: func(*cobra.Command, []string) error {
			if n < 0 {
				return &usageError{Text: fmt.Sprintf("-n %d is no number of lines", n), Hint: "0 is all of them"}
			}
			return nil
		},
		RunE: p.verb(func(ctx context.Context, a core, args []string) error {
			if follow {
				return p.follow(ctx, a, args[0], n)
			}
			return p.logs(ctx, a, args[0], n)
		}),
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the run has ended")
	cmd.Flags().IntVarP(&n, "number", "n", 0, "only the last so many lines (default: all)")
	return cmd
}

func (p *program) logs(ctx context.Context, a core, kernel string, last int) error {
	row, err := a.Resolve(ctx, kernel)
	if err != nil {
		return err
	}
	lines, err := tail(ctx, a, row.ID, last)
	if err != nil {
		return err
	}
	out := make([]lineJSON, len(lines))
	for i, l := range lines {
		out[i] = lineJSON{l.N, l.Stream, l.Text}
	}
	if len(lines) == 0 && !p.json {
		p.progress.line("no log has come from " + row.Kernel + " yet; its state is: " + row.State)
	}
	return p.result(out, func(w io.Writer) {
		for _, l := range lines {
			fmt.Fprintln(w, l.Text)
		}
	})
}

// page is how many lines are read at once.
const page = 2000

// tail gives the last n lines, or all.
func tail(ctx context.Context, a core, run int64, last int) ([]app.LogLine, error) {
	var out []app.LogLine
	from := 0
	for {
		got, total, err := a.LogLines(ctx, run, from, page)
		if err != nil {
			return nil, err
		}
		if from == 0 && last > 0 && total > last {
			from = total - last
			last = 0
			continue
		}
		out = append(out, got...)
		from += len(got)
		if len(got) == 0 || from >= total {
			return out, nil
		}
	}
}

// follow prints lines as they come until the run has ended.
func (p *program) follow(ctx context.Context, a core, kernel string, last int) error {
	row, err := a.Resolve(ctx, kernel)
	if err != nil {
		return err
	}
	sub := a.Subscribe()
	defer sub.Close()
	if err := a.StartWatcher(ctx); err != nil {
		return err
	}
	next, err := p.printFrom(ctx, a, row.ID, max(0, p.firstOf(ctx, a, row.ID, last)))
	if err != nil {
		return err
	}
	check := time.NewTicker(2 * time.Second) // also for what another process's watcher writes
	defer check.Stop()
	for {
		v, err := a.Run(ctx, row.ID)
		if err != nil {
			return stopped(ctx, err, "stopped following; the run goes on", "")
		}
		if next, err = p.printFrom(ctx, a, row.ID, next); err != nil {
			return stopped(ctx, err, "stopped following; the run goes on", "")
		}
		if v.Ended && next >= v.LogLines {
			p.progress.line(stateLine(v, p.now()))
			return nil
		}
		select {
		case <-ctx.Done():
			return &stoppedError{Text: "stopped following; the run goes on", Hint: "go on with: sandglass logs " + kernel + " -f"}
		case <-sub.C():
		case <-check.C:
		}
	}
}

func (p *program) firstOf(ctx context.Context, a core, run int64, last int) int {
	if last <= 0 {
		return 0
	}
	_, total, err := a.LogLines(ctx, run, 0, 1)
	if err != nil {
		return 0
	}
	return total - last
}

// printFrom prints the lines from a number on and gives the next number.
func (p *program) printFrom(ctx context.Context, a core, run int64, from int) (int, error) {
	for {
		lines, total, err := a.LogLines(ctx, run, from, page)
		if err != nil {
			return from, err
		}
		for _, l := range lines {
			if p.json {
				raw, err := json.Marshal(lineJSON{l.N, l.Stream, l.Text})
				if err != nil {
					return from, err
				}
				fmt.Fprintln(p.stdout, string(raw))
			} else {
				fmt.Fprintln(p.stdout, l.Text)
			}
		}
		from += len(lines)
		if len(lines) == 0 || from >= total {
			return from, nil
		}
	}
}
