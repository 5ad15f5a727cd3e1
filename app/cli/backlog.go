package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"sandglass/app"
)

func (p *program) backlogCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "backlog", Short: "Keep the runs that could be started one day",
		Long: `The backlog is what "sandglass plan" chooses from, so that no hour of a week expires. An item is suggested when it is
validated: its script ran, and the idea is worth its hours.`,
		Example: "  sandglass backlog add seed2 --hours 5.7 --gain 0.003 --gain-sd 0.002 --validated\n  sandglass backlog list\n  sandglass backlog done seed2",
		Args:    args(0, 0, "one of add, list, done, drop"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return &usageError{Text: "backlog needs to know what to do", Hint: "sandglass backlog add NAME, list, done ITEM or drop ITEM"}
		},
	}
	cmd.AddCommand(p.backlogAddCmd(), p.backlogListCmd(),
		p.backlogMarkCmd("done", app.BacklogDone, "Say that an item was run"), p.backlogMarkCmd("drop", app.BacklogDropped, "Say that an item is not worth its hours"))
	return cmd
}

func (p *program) backlogAddCmd() *cobra.Command {
	var in app.BacklogItem
	var gain, sd float64
	cmd := &cobra.Command{
		Use: "add NAME", Short: "Add an item", Long: "JSON: the item: id, name, project, command, dir, pool, hours, gain, gain_sd, validated, divisible, state, note, added_at, changed_at.",
		Example: "  sandglass backlog add seed2 --hours 5.7 --pool gpu --validated",
		Args:    args(0, 1, "the name of the item"),
	}
	f := cmd.Flags()
	f.StringVar(&in.Name, "name", "", "the name, when it is not the argument")
	f.Float64Var(&in.Hours, "hours", 0, "hours it will probably burn; without them it is not suggested")
	f.StringVar(&in.Pool, "pool", app.PoolGPU, "gpu, tpu or cpu")
	f.StringVar(&in.Project, "project", "", "folder with the code")
	f.StringVar(&in.Command, "cmd", "", "command of the run")
	f.StringVar(&in.Dir, "dir", "", "build folder, when it is built already")
	f.Float64Var(&gain, "gain", 0, "expected gain in score, above zero is better")
	f.Float64Var(&sd, "gain-sd", 0, "standard deviation of the gain")
	f.BoolVar(&in.Validated, "validated", false, "ready to start: it was rehearsed and is worth its hours")
	f.BoolVar(&in.Divisible, "divisible", false, "it saves checkpoints, so a part of it may fill what is left of a week")
	f.StringVar(&in.Note, "note", "", "anything else")
	cmd.RunE = p.verb(func(ctx context.Context, a core, given []string) error {
		if len(given) == 1 {
			in.Name = given[0]
		}
		if f.Changed("gain") {
			in.Gain = &gain
		}
		if f.Changed("gain-sd") {
			in.GainSD = &sd
		}
		item, err := a.AddBacklog(ctx, in)
		if err != nil {
			return err
		}
		return p.result(item, func(w io.Writer) { fmt.Fprintf(w, "added as number %d\n", item.ID) })
	})
	return cmd
}

func (p *program) backlogListCmd() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the open items", Long: "JSON: a list of items; their fields as of add.", Example: "  sandglass backlog list --all",
		Args: args(0, 0, "no argument"),
		RunE: p.verb(func(ctx context.Context, a core, _ []string) error {
			items, err := a.Backlog(ctx, all)
			if err != nil {
				return err
			}
			return p.result(list(items), func(w io.Writer) {
				if len(items) == 0 {
					fmt.Fprintln(w, "the backlog has no open item; add one: sandglass backlog add NAME --hours H")
				}
				for _, it := range items {
					fmt.Fprintf(w, "%3d  %-24s %-4s %8s  %s\n", it.ID, it.Name, it.Pool, hours(it.Hours), backlogState(it))
				}
			})
		}),
	}
	cmd.Flags().BoolVar(&all, "all", false, "those that are done or dropped too")
	return cmd
}

func backlogState(it app.BacklogItem) string {
	switch {
	case it.State != app.BacklogTodo:
		return it.State
	case it.Validated:
		return "validated"
	}
	return "not validated"
}

func (p *program) backlogMarkCmd(verb, state, short string) *cobra.Command {
	return &cobra.Command{
		Use: verb + " ITEM", Short: short, Long: "ITEM is the number or the name of an open item.\n\nJSON: the item.", Example: "  sandglass backlog " + verb + " 3",
		Args: args(1, 1, "the number or name of an item"),
		RunE: p.verb(func(ctx context.Context, a core, given []string) error {
			item, err := a.MarkBacklog(ctx, given[0], state)
			if err != nil {
				return err
			}
			return p.result(item, func(w io.Writer) { fmt.Fprintf(w, "%s is %s\n", item.Name, item.State) })
		}),
	}
}
