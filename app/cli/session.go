package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"sandglass/app"
)

// cancelJSON is `cancel --json`.
type cancelJSON struct {
	Run    int64  `json:"run"`
	Kernel string `json:"kernel"`
	State  string `json:"state"`
	Did    string `json:"did"` // dropped, asked
}

func (p *program) cancelCmd() *cobra.Command {
	var session int64
	cmd := &cobra.Command{
		Use: "cancel KERNEL", Short: "Stop a run, or say what can stop it",
		Long: `Takes a run that waits in the launch queue out of it; nothing at Kaggle is touched. A run that Kaggle has cannot be stopped by its
name: Kaggle tells nobody the number of a session. So for one that runs this says where it is stopped on its page, for one in
Kaggle's queue that only deleting the kernel frees the slot ("sandglass delete"), changes nothing and ends with exit code 3.

With --session, Kaggle's own number of the session, it is stopped from here. The number is not a version and is not checked
against KERNEL: Kaggle stops whatever session of yours has it. What a stopped session saved is collected as usual.
` + kernelHelp + `

JSON: run, kernel, state, did (dropped: out of the launch queue; asked: Kaggle took the order to stop the session).`,
		Example: "  sandglass cancel idea-train\n  sandglass cancel idea-train --session 341475263",
		Args:    args(1, 1, "the run's kernel"),
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("session") && session <= 0 {
				return &usageError{Text: fmt.Sprintf("--session %d is no number of a session", session), Hint: "see: sandglass cancel --help"}
			}
			return nil
		},
		RunE: p.verb(func(ctx context.Context, a core, args []string) error {
			got, err := a.Cancel(ctx, args[0], session)
			if err != nil {
				return stopped(ctx, err, "stopped; whether the order reached Kaggle is not known", "see: sandglass status "+args[0])
			}
			out := cancelJSON{Run: got.Run.ID, Kernel: got.Run.Kernel, State: got.Run.State, Did: got.Did}
			return p.result(out, func(w io.Writer) {
				if got.Did == app.CancelDropped {
					fmt.Fprintf(w, "took %s out of the launch queue; it was not pushed, and nothing at Kaggle was touched\n", got.Run.Kernel)
					return
				}
				fmt.Fprintf(w, "Kaggle was told to stop session %d\nnext: sandglass wait %s --collect\n", session, got.Run.Kernel)
			})
		}),
	}
	cmd.Flags().Int64Var(&session, "session", 0, "Kaggle's own number of the running session")
	return cmd
}

// releaseJSON is `release --json`.
type releaseJSON struct {
	Run      int64    `json:"run"`
	Kernel   string   `json:"kernel"`
	State    string   `json:"state"`
	Released bool     `json:"released"` // false: it held nothing any more
	Held     float64  `json:"held_h"`
	Left     *float64 `json:"left_h"` // of its pool; null: not known, or a CPU run
}

func (p *program) releaseCmd() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use: "release KERNEL", Short: "Give back the hours that a run holds and will not burn",
		Long: `A run holds its cap from its push until it is seen to be over. This gives the hours of one back that was deleted at Kaggle, never
started, or waits in the launch queue (which it leaves). Kaggle is asked first: what it still has is refused with exit code 3,
because it will burn what it holds; --force releases it all the same, and it is then no longer watched here. Nothing at Kaggle is
changed, and a kernel that is released can be pushed again.
` + kernelHelp + `

JSON: run, kernel, state, released, held_h (what it held), left_h (of its pool, now).`,
		Example: "  sandglass release idea-train",
		Args:    args(1, 1, "the run's kernel"),
		RunE: p.verb(func(ctx context.Context, a core, args []string) error {
			got, err := a.Release(ctx, args[0], force)
			if err != nil {
				return stopped(ctx, err, "stopped", "")
			}
			out := releaseJSON{Run: got.Run.ID, Kernel: got.Run.Kernel, State: got.Run.State, Released: got.Freed, Held: got.Held, Left: got.Left}
			return p.result(out, func(w io.Writer) { releaseText(w, got) })
		}),
	}
	cmd.Flags().BoolVar(&force, "force", false, "release it although Kaggle has it or cannot be reached")
	return cmd
}

func releaseText(w io.Writer, r app.Released) {
	if r.Freed {
		fmt.Fprintf(w, "released %s, which held %s\n", r.Run.Kernel, hours(r.Held))
	} else {
		fmt.Fprintf(w, "%s is %s and holds nothing any more\n", r.Run.Kernel, r.Run.State)
	}
	if r.Left != nil {
		fmt.Fprintf(w, "%s left now\n", hours(*r.Left))
	}
}
