package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sandglass/app"
)

// newJSON is `new --json`.
type newJSON struct {
	Dir      string   `json:"dir"`
	Template string   `json:"template"`
	Files    []string `json:"files"` // slash-separated under dir
	Next     []string `json:"next"`  // shell lines to try in dir, in this order
}

func (p *program) newCmd() *cobra.Command {
	var template string
	about := make([]string, 0, 4)
	for _, name := range app.Templates() {
		about = append(about, fmt.Sprintf("  %-11s %s", name, app.TemplateAbout(name)))
	}
	cmd := &cobra.Command{
		Use: "new --template NAME DIR", Short: "Write a project that trains as it is: tabular, image, text or preprocess",
		Long: `Writes a project to start from: scripts that keep the contract of a session (curves, pruning, checkpoints, resume, a smoke test,
a bench) and a small synthetic data set to run them on.

` + strings.Join(about, "\n") + `

The folder may exist; a file of the project that is there already is never replaced, and then nothing is written.

JSON: dir, template, files, next (shell lines to try in the folder).`,
		Example: "  sandglass new --template tabular my-project",
		Args:    args(1, 1, "the folder to write the project to"),
		RunE: func(_ *cobra.Command, args []string) error {
			if template == "" {
				return &usageError{Text: "new needs --template", Hint: "one of " + strings.Join(app.Templates(), ", ")}
			}
			made, err := app.WriteTemplate(template, args[0])
			var unknown *app.TemplateUnknownError
			if errors.As(err, &unknown) {
				return &usageError{Text: "there is no template " + template, Hint: "one of " + strings.Join(app.Templates(), ", ")}
			}
			if err != nil {
				return err
			}
			v := newJSON{Dir: made.Dir, Template: made.Template, Files: list(made.Files), Next: list(made.Next)}
			return p.result(v, func(w io.Writer) {
				fmt.Fprintf(w, "Wrote %d files to %s. Try there:\n", len(made.Files), made.Dir)
				for _, line := range made.Next {
					fmt.Fprintln(w, "  "+line)
				}
			})
		},
	}
	cmd.Flags().StringVar(&template, "template", "", "what to start from: "+strings.Join(app.Templates(), ", "))
	return cmd
}
