package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"sandglass/app"
)

const rehearseLong = `Builds the very script that a push would send, runs it on this computer in the sandbox's executor, and says what it saw: missing
packages and whether Kaggle has them, files that would not be there, writes outside the session, outputs against the contract,
sizes against Kaggle's limits. Nothing is sent and no quota is spent; no account and no network are needed. DIR is a folder that
build wrote: it is built once more from the same words.

The devices are made up as planned, the cap is short, and --smoke is added to a command whose script knows it. The command is
kept inside the session: what it opens elsewhere on this computer is not there for it, as at Kaggle. Inputs are linked from where
they are here: --input, the place of the last time, data/<slug> and the like, kagglehub's downloads, collected runs, the sandbox.

The verdict says what could not be rehearsed. Exit code 0: passed, warnings included; 1: something would fail at Kaggle.

JSON: ok, verdict, checks [{code, state "ok|warn|bad|skipped", text, detail, fix}], not_rehearsed, seconds, cap_seconds, smoke,
output {bytes, files, predicted_bytes, predicted_files}, tasks, batch_seconds, epoch_seconds, task_seconds, predicted_task_h,
log, dir, at, kernel, build_id, payload, script_bytes, accelerator, python. What is not known is null.`

func (p *program) rehearseCmd() *cobra.Command {
	var (
		b       buildFlags
		opt     app.RehearseOptions
		inputs  []string
		showLog bool
	)
	cmd := &cobra.Command{
		Use: "rehearse [DIR | --name N --cmd C]", Short: "Run the script that would be pushed on this computer, and say what it would meet at Kaggle", Long: rehearseLong,
		Example: `  sandglass rehearse .sandglass/build/idea-train
  sandglass rehearse --name idea --cmd "python src/train.py --name idea --folds {fold}"
  sandglass rehearse --name big --accelerator TpuV5E8 --dataset sam-roe/leaves --input sam-roe/leaves=../leaves --minutes 10 --cmd "python src/train_xla.py --name big --folds {fold}"`,
		Args: args(0, 1, ""),
		RunE: p.verb(func(ctx context.Context, a core, args []string) error {
			spec, err := rehearsalSpec(&b, args)
			if err != nil {
				return err
			}
			opt.Inputs = commas(inputs)
			var mu sync.Mutex // log and progress come from the session's side
			if showLog || p.verbose {
				opt.Log = func(l app.LogLine) {
					mu.Lock()
					defer mu.Unlock()
					p.progress.line(l.Text)
				}
			}
			r, err := a.Rehearse(ctx, spec, opt, func(x app.Progress) {
				mu.Lock()
				defer mu.Unlock()
				p.progress.report(x)
			})
			if err != nil {
				return stopped(ctx, err, "stopped; nothing of the rehearsal runs on, and the project is as it was", "")
			}
			if err := p.result(r, func(w io.Writer) { rehearsalText(w, r) }); err != nil {
				return err
			}
			if !r.OK {
				return exitError(exitFailed)
			}
			return nil
		}),
	}
	b.register(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&inputs, "input", nil, "owner/slug=FOLDER: where an attached input is on this computer, repeatable; remembered")
	f.Float64Var(&opt.Minutes, "minutes", app.DefaultRehearsalMinutes, "cap of the rehearsal")
	f.BoolVar(&opt.NoSmoke, "no-smoke", false, "run the command as it is although its script knows --smoke")
	f.StringVar(&opt.Python, "python", "", "interpreter to run with (default: the project's .venv, else python3)")
	f.BoolVar(&showLog, "log", false, "show the session's log while it runs")
	return cmd
}

// rehearsalSpec is what the folder named was built from, else the build's spec with words of its own where something is missing.
// The cap of the push does not matter to it.
func rehearsalSpec(b *buildFlags, dir []string) (app.BuildSpec, error) {
	if len(dir) > 0 {
		if b.spec.Name != "" || b.spec.Command != "" {
			return app.BuildSpec{}, &usageError{Text: "a folder was named and a run described as well", Hint: "leave out --name and --cmd, or the folder"}
		}
		return app.SpecOfFolder(dir[0])
	}
	if b.spec.Hours == 0 {
		b.spec.Hours = 1
	}
	spec, err := b.build()
	var usage *usageError
	if errors.As(err, &usage) {
		err = &usageError{Text: strings.Replace(usage.Text, "build needs", "rehearse needs", 1), Hint: strings.Replace(usage.Hint, "sandglass build", "sandglass rehearse", 1)}
	}
	return spec, err
}

func rehearsalText(w io.Writer, r app.Rehearsal) {
	for _, c := range r.Checks {
		fmt.Fprintf(w, "%-7s %-12s %s\n", c.State, c.Code, c.Text)
		if c.State == app.CheckOK {
			continue
		}
		for line := range strings.Lines(c.Detail) {
			fmt.Fprintf(w, "%23s%s\n", "", strings.TrimRight(line, "\n"))
		}
		if c.Fix != "" {
			fmt.Fprintf(w, "%21sfix: %s\n", "", c.Fix)
		}
	}
	if len(r.NotRehearsed) > 0 {
		fmt.Fprintln(w, "not rehearsed:")
		for _, n := range r.NotRehearsed {
			fmt.Fprintln(w, "  "+n)
		}
	}
	fmt.Fprintln(w, r.Verdict)
	fmt.Fprintf(w, "log and outputs: %s\n", r.Dir)
}
