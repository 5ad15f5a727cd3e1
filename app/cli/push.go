package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sandglass/app"
)

const pushLong = `Pushes a kernel folder: one that build wrote, or any folder with a kernel-metadata.json, script or notebook. First it checks
the free sessions, the quota left, the inputs, the machine and the size, says what the run may cost, and asks; outside a
terminal it needs --yes. What Kaggle answered is believed only as far as it goes: a push whose outcome is not known is looked
up, never repeated.

Exit code 3 says that a guard refused; the hint names the flag that goes on all the same. With --queue a push that finds no
free session, too few hours before the reset or an input that is still running waits in the launch queue and goes out by
itself, under the agreement given now and in its turn, while the window is open or "sandglass wait" runs ("sandglass queue").
Without --queue nothing is ever sent later: a push that Kaggle cannot be shown to have has to be made again.

With --queue --least-hours H a build may start with a shorter cap than its own, H hours at least, so that the last hours of a
week are used instead of expiring. Its session knows the shorter cap, saves and stops in time; what is left is a resume. So it is
for scripts that save checkpoints.

JSON: run, kernel, version, url, cap_h, state, accelerator, pool, why, warnings. With --dry-run: kernel, dir, accelerator, pool,
cap_h, left_after_h, cost, guards [{code, reason, override, advice, waits}], warnings, quota, rehearsal {ok, verdict, at} (null when
this very script was never rehearsed).`

func (p *program) pushCmd() *cobra.Command {
	var opt app.PushOptions
	var yes, dry bool
	cmd := &cobra.Command{
		Use: "push DIR", Short: "Push a kernel folder, after checks and one question", Long: pushLong,
		Example: "  sandglass push .sandglass/build/idea-train\n  sandglass push my-notebook --hours 3 --accelerator NvidiaTeslaT4 --yes --json",
		Args:    args(1, 1, "the kernel's folder"),
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			return errors.Join(checkHours(cmd, "hours"), checkHours(cmd, "least-hours"))
		},
		RunE: p.verb(func(ctx context.Context, a core, args []string) error {
			return p.push(ctx, a, args[0], opt, yes, dry)
		}),
	}
	f := cmd.Flags()
	f.Float64Var(&opt.Hours, "hours", 0, "cap of the session in hours (default: the build's, else the session limit)")
	f.StringVar(&opt.Accelerator, "accelerator", "", "machine to ask for instead of the folder's")
	f.BoolVar(&opt.Force, "force", false, "go on although a guard speaks against it")
	f.BoolVar(&opt.QueueIfFull, "queue", false, "no free session, too few hours or an input still running: wait in the launch queue and go out by itself")
	f.Float64Var(&opt.LeastHours, "least-hours", 0, "with --queue: it may start with a shorter cap, from these hours on, to use what is left of a week")
	f.BoolVar(&opt.NoRun, "no-run", false, "save the kernel at Kaggle without running it")
	f.BoolVar(&yes, "yes", false, "agree to the cost without being asked")
	f.BoolVar(&dry, "dry-run", false, "say what would happen and send nothing")
	return cmd
}

func (p *program) push(ctx context.Context, a core, dir string, opt app.PushOptions, yes, dry bool) error {
	p.progress.show("checking quota, sessions and inputs")
	plan, err := a.PlanPush(ctx, dir, opt)
	if err != nil {
		return stopped(ctx, err, "stopped; nothing was sent", "")
	}
	if dry {
		return p.result(planOf(plan), func(w io.Writer) { planText(w, plan) })
	}
	for _, w := range plan.Warnings {
		p.progress.line("warning: " + w)
	}
	consent := app.Consent{By: "--yes"}
	if !yes {
		if !p.ask {
			return &usageError{Text: "a push spends quota and there is no terminal to ask on; nothing was sent", Hint: "agree with --yes, or look first with --dry-run"}
		}
		planText(p.stderr, plan)
		if ok, err := p.confirm(fmt.Sprintf("Push %s, %s?", plan.Kernel, plan.CostText)); err != nil || !ok {
			return declined(err, "nothing was sent")
		}
		consent.By = "terminal"
	}
	p.progress.show("pushing " + plan.Kernel)
	row, err := a.Push(ctx, plan, consent)
	if err != nil {
		return stopped(ctx, err, "stopped; if the push was under way its outcome is looked up", "see: sandglass status "+plan.Kernel)
	}
	out := pushJSON{Run: row.ID, Kernel: row.Kernel, Version: row.Version, URL: row.URL, CapHours: row.CapHours, State: row.State,
		Accelerator: row.Accelerator, Pool: row.Pool, Why: row.Note, Warnings: list(plan.Warnings)}
	return p.result(out, func(w io.Writer) { pushText(w, row, plan) })
}

func planText(w io.Writer, plan app.PushPlan) {
	limit := "cap " + hours(plan.CapHours) + ": "
	if plan.Options.NoRun {
		limit = ""
	}
	fmt.Fprintf(w, "%s on %s, %s%s\n", plan.Kernel, machine(plan.Accelerator), limit, plan.CostText)
	if h := plan.Options.LeastHours; h > 0 {
		fmt.Fprintf(w, "if it has to wait, it may start with a shorter cap, from %s on, to use what is left of a week\n", hours(h))
	}
	if v, ok := poolView(plan.Quota, plan.Pool); ok && v.Known {
		fmt.Fprintf(w, "%s left of %s now, %s if the run uses its whole cap\n", hours(v.Left), hours(v.Total), hours(plan.LeftAfter))
	}
	if r := plan.Rehearsal; r != nil {
		fmt.Fprintf(w, "rehearsed %s: %s\n", moment(r.At), r.Verdict)
	}
	for _, g := range plan.Guards {
		fmt.Fprintf(w, "against it: %s", g.Reason)
		switch {
		case g.Waits && plan.Options.QueueIfFull:
			fmt.Fprint(w, " (it waits for that in the launch queue)")
		case g.Override != "":
			fmt.Fprintf(w, " (%s goes on all the same)", g.Override)
		case g.Advice != "":
			fmt.Fprintf(w, " (%s)", strings.TrimRight(g.Advice, "."))
		}
		fmt.Fprintln(w)
	}
}

func poolView(q app.QuotaView, pool string) (app.PoolView, bool) {
	switch pool {
	case app.PoolGPU:
		return q.GPU, true
	case app.PoolTPU:
		return q.TPU, true
	}
	return app.PoolView{}, false
}

func pushText(w io.Writer, r app.RunRow, plan app.PushPlan) {
	page := ""
	if r.URL != "" {
		page = r.URL + "\n"
	}
	switch r.State {
	case app.StateWaiting:
		fmt.Fprintf(w, "%s waits in the launch queue, %s: %s\nit goes out by itself while the window is open or this runs:\n  sandglass wait %s\n", r.Kernel, plan.CostText, clause(r.Note), r.Kernel)
	case app.StateNoRun:
		fmt.Fprintf(w, "saved %s as version %d; it does not run\n%s", r.Kernel, r.Version, page)
	default:
		fmt.Fprintf(w, "pushed %s version %d, %s\n%snext: sandglass wait %s --collect\n", r.Kernel, r.Version, plan.CostText, page, r.Kernel)
	}
}

// clause is a sentence's words for the middle of a line.
func clause(s string) string { return strings.TrimRight(s, ".") }
