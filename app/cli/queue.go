package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sandglass/app"
)

const queueLong = `Lists the launch queue: runs that were authorised with "push --queue" and go out by themselves when a session, the quota and
their inputs allow. They go in order, each accelerator's by itself; a follow-up (resume) is put before what has not begun. Three runs
may be passed, because holding the order would only let hours expire: one that waits for its inputs; one that no longer fits this
week, by one that fits and is over before the reset; and one that may be shortened, by one that may not be and fits.

A run goes out exactly as it was authorised: source, cap and machine. Only one that was pushed with --least-hours may start with a
shorter cap than its own: when that does not fit what is left of the week, or before the reset. When the build folder changed or is
gone, an input was deleted or failed, or the cap fits no week any more, it leaves the queue, nothing is sent, and you are told. An
authorisation does not expire. The queue is looked after while the window is open or "sandglass wait" runs.

RUN is the number in the list, or what "sandglass status" takes.

JSON: paused, served, runs [{run, kernel, name, position, code, why, advice, stopped, since, last_try, next_try, dir, source_sha256,
consent, cap_h, least_h (the shortest cap it may start with; null: its own only), follow_up, accelerator, pool, state, …}].`

func (p *program) queueCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "queue", Short: "The launch queue: what goes out by itself, and why it waits", Long: queueLong,
		Example: "  sandglass push .sandglass/build/idea-train --queue\n  sandglass queue\n  sandglass queue move idea-train first\n  sandglass queue pause",
		Args:    args(0, 0, ""),
		RunE: p.verb(func(ctx context.Context, a core, _ []string) error {
			return p.queue(ctx, a)
		}),
	}
	pause := func(use, short string, on bool) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Args: args(0, 0, ""), Long: short + ".\n\nJSON: as of \"sandglass queue\".",
			RunE: p.verb(func(ctx context.Context, a core, _ []string) error {
				if err := a.QueuePause(ctx, on); err != nil {
					return err
				}
				return p.queue(ctx, a)
			})}
	}
	move := &cobra.Command{Use: "move RUN up|down|first|last", Short: "Change the order", Args: args(2, 2, "a run and up, down, first or last"),
		Long: "Moves a run one place up or down, to the front or to the end.\n\nJSON: as of \"sandglass queue\".",
		RunE: p.verb(func(ctx context.Context, a core, args []string) error {
			delta, ok := map[string]int{"up": -1, "down": 1, "first": -1 << 30, "last": 1 << 30}[args[1]]
			if !ok {
				return &usageError{Text: "a run moves up, down, first or last, not " + args[1], Hint: "for example: sandglass queue move " + args[0] + " first"}
			}
			return p.queueEdit(ctx, a, args[0], func(id int64) error { return a.QueueMove(ctx, id, delta) })
		})}
	remove := &cobra.Command{Use: "remove RUN", Short: "Take a run out; nothing of it is sent", Args: args(1, 1, "a run"),
		Long: "Takes a run out of the queue. Nothing of it is sent, and nothing at Kaggle is touched. Of one that left the queue by itself the\nnote goes.\n\nJSON: as of \"sandglass queue\".",
		RunE: p.verb(func(ctx context.Context, a core, args []string) error {
			return p.queueEdit(ctx, a, args[0], func(id int64) error { return a.QueueRemove(ctx, id) })
		})}
	cmd.AddCommand(pause("pause", "Push nothing by itself until \"sandglass queue resume\"", true),
		pause("resume", "Let the queue go on", false), move, remove)
	return cmd
}

// queueEdit does something to one run of the queue and shows what came of it.
func (p *program) queueEdit(ctx context.Context, a core, name string, edit func(id int64) error) error {
	row, err := a.Resolve(ctx, name)
	if err != nil {
		return err
	}
	if err := edit(row.ID); errors.Is(err, app.ErrNotQueued) {
		return &usageError{Text: row.Kernel + " is not in the launch queue; nothing was changed", Hint: "\"sandglass queue\" lists what is"}
	} else if err != nil {
		return err
	}
	return p.queue(ctx, a)
}

func (p *program) queue(ctx context.Context, a core) error {
	rows, err := a.Queue(ctx)
	if err != nil {
		return err
	}
	paused, err := a.QueuePaused(ctx)
	if err != nil {
		return err
	}
	out := queueJSON{Paused: paused, Served: a.QueueServed(), Runs: []queueRowJSON{}}
	for _, r := range rows {
		out.Runs = append(out.Runs, queueRowOf(r))
	}
	return p.result(out, func(w io.Writer) { queueText(w, out, p.now()) })
}

// capText is a cap, and the shortest one that a run may start with.
func capText(r queueRowJSON) string {
	if r.Least == nil {
		return hours(r.CapHours)
	}
	return hours(r.CapHours) + ", at least " + hours(*r.Least)
}

func queueText(w io.Writer, q queueJSON, now time.Time) {
	if len(q.Runs) == 0 {
		fmt.Fprintln(w, "the launch queue is empty; put a run into it with: sandglass push DIR --queue")
		if q.Paused {
			fmt.Fprintln(w, "it is paused: go on with: sandglass queue resume")
		}
		return
	}
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "place\trun\tname\tmachine\tcap\twaits\tfor")
	waiting := 0
	for _, r := range q.Runs {
		place := fmt.Sprint(r.Position)
		if r.Stopped {
			place = "left"
		} else {
			waiting++
		}
		since := "-"
		if r.Since != nil {
			since = span(now.Sub(*r.Since))
		}
		fmt.Fprintf(tw, "%s\t%d\t%s\t%s\t%s\t%s\t%s\n", place, r.Run, r.Name, machine(r.Accelerator), capText(r), since, clause(r.Why))
	}
	tw.Flush()
	for _, r := range q.Runs {
		if r.Advice != "" {
			fmt.Fprintf(w, "%s: %s\n", r.Name, r.Advice)
		}
	}
	switch {
	case q.Paused:
		fmt.Fprintln(w, "the queue is paused: go on with: sandglass queue resume")
	case waiting > 0 && !q.Served:
		fmt.Fprintln(w, "nothing looks after the queue now: open the window, or let this run: sandglass wait RUN")
	}
}
