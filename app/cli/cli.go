// Package cli is Sandglass without a window: the verbs, for scripts and for ssh. It parses, asks and prints; every rule
// lives in package app, so that a verb and a screen do and say the same.
//
// Results go to standard output, progress and errors to standard error. With --json a verb prints one JSON document whose
// fields keep their names (json.go); a failure is then an object with "error", "hint" and "exit". The exit code is 0 for
// done, 1 for "the thing asked for failed", 2 for a wrong call, 3 for refused by a guard, 4 for Kaggle not reached.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sandglass/app"
)

// Version is what the verbs report as the program's version. The main program sets it.
var Version = "dev"

// Exit codes.
const (
	exitDone = iota
	exitFailed
	exitUsage
	exitGuard
	exitOffline
)

// core is what the verbs use of package app.
type core interface {
	Close() error
	Whoami(ctx context.Context) (app.Identity, error)
	SignIn(ctx context.Context, in app.SignIn) (app.Account, error)
	BrowserSignIn(ctx context.Context) (*app.BrowserSignIn, error)
	SignOut(ctx context.Context) error
	FindCredentials(ctx context.Context) []app.Found
	Import(ctx context.Context, f app.Found, store string) (app.Account, error)
	ServeSandbox(ctx context.Context, s app.SandboxServe) error
	Quota(ctx context.Context, live bool) (app.QuotaView, error)
	Accelerators(ctx context.Context, ask app.AcceleratorAsk) (app.AcceleratorAdvice, error)
	Build(ctx context.Context, spec app.BuildSpec, progress func(app.Progress)) (app.BuildResult, error)
	Rehearse(ctx context.Context, spec app.BuildSpec, opt app.RehearseOptions, progress func(app.Progress)) (app.Rehearsal, error)
	Resume(ctx context.Context, kernel string, opt app.ResumeOptions) (app.BuildResult, error)
	PlanPush(ctx context.Context, dir string, opt app.PushOptions) (app.PushPlan, error)
	Push(ctx context.Context, plan app.PushPlan, consent app.Consent) (app.RunRow, error)
	Refresh(ctx context.Context, kernel string) (app.RunView, error)
	Wait(ctx context.Context, kernel string, opt app.WaitOptions, onChange func(app.RunView)) (app.RunView, error)
	Collect(ctx context.Context, kernel string, opt app.CollectOptions, progress func(app.Progress)) (app.Collected, error)
	Delete(ctx context.Context, kernel string) error
	Cancel(ctx context.Context, kernel string, session int64) (app.Cancelled, error)
	Release(ctx context.Context, kernel string, force bool) (app.Released, error)
	Resolve(ctx context.Context, kernel string) (app.RunRow, error)
	Runs(ctx context.Context, f app.RunFilter) ([]app.RunRow, error)
	Run(ctx context.Context, id int64) (app.RunView, error)
	LogLines(ctx context.Context, id int64, from, n int) ([]app.LogLine, int, error)
	Queue(ctx context.Context) ([]app.QueueRow, error)
	QueuePaused(ctx context.Context) (bool, error)
	QueuePause(ctx context.Context, on bool) error
	QueueMove(ctx context.Context, runID int64, delta int) error
	QueueRemove(ctx context.Context, runID int64) error
	QueueServed() bool
	StartWatcher(ctx context.Context) error
	Subscribe() *app.Subscription
	Hours(ctx context.Context, ask app.HoursAsk) (app.HoursAdvice, error)
	Season(ctx context.Context, ask app.SeasonAsk) (app.SeasonView, error)
	AddBacklog(ctx context.Context, item app.BacklogItem) (app.BacklogItem, error)
	Backlog(ctx context.Context, all bool) ([]app.BacklogItem, error)
	MarkBacklog(ctx context.Context, item, state string) (app.BacklogItem, error)
	Experiments(ctx context.Context, project string) (app.ExperimentsView, error)
	Compare(ctx context.Context, ask app.CompareAsk) (app.Compared, error)
	SetBaseline(ctx context.Context, project, name string) error
}

// program is one call of the command line.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	json, verbose  bool
	ask            bool // standard input is a terminal, so a person can be asked
	now            func() time.Time
	open           func(ctx context.Context, opt app.Options) (core, error)
	progress       *progress
}

// Main runs one command line (without the program's name) and returns the exit code. An interrupt cancels what is under
// way; a second one ends the program at once.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	p := &program{
		stdin: stdin, stdout: stdout, stderr: stderr, getenv: getenv, ask: isTerminal(stdin), now: time.Now,
		open:     func(ctx context.Context, opt app.Options) (core, error) { return app.Open(ctx, opt) },
		progress: newProgress(stderr),
	}
	return p.run(ctx, args)
}

func (p *program) run(ctx context.Context, args []string) int {
	p.json = slices.Contains(args, "--json") // also for the errors of a line that cannot be parsed
	root := p.root()
	root.SetArgs(spread(args))
	err := root.ExecuteContext(ctx)
	p.progress.clear()
	return p.finish(ctx, err)
}

// withApp opens the core for the time of f.
func (p *program) withApp(ctx context.Context, f func(a core) error) error {
	opt := app.Options{Getenv: p.getenv, Version: Version}
	if p.verbose {
		opt.Log = slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	a, err := p.open(ctx, opt)
	if err != nil {
		return err
	}
	err = f(a)
	if closing := a.Close(); err == nil {
		err = closing
	}
	return err
}

// verb turns a function over the core into what cobra runs.
func (p *program) verb(f func(ctx context.Context, a core, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return p.withApp(cmd.Context(), func(a core) error { return f(cmd.Context(), a, args) })
	}
}

const rootLong = `Sandglass spends Kaggle's free weekly GPU and TPU hours so that none is wasted: it builds a kernel from a folder with a
training script, pushes it, watches it and brings the results home. Without a verb the window opens.

A run, from a folder to a score:
  sandglass build --project . --name idea --hours 5 --cmd "python src/train.py --name idea --folds {fold}"
  sandglass push .sandglass/build/idea-train
  sandglass wait idea-train --collect

A project to start from, and a Kaggle on this computer to try it on without an account:
  sandglass new --template tabular my-project
  sandglass sandbox serve --addr 127.0.0.1:8899

What is left of the week, and what to start so that nothing expires:
  sandglass quota
  sandglass plan --deadline 2026-12-22

Exit codes: 0 done; 1 the thing asked for failed; 2 the call was wrong; 3 refused by a guard (the hint names the flag that
goes on all the same); 4 Kaggle could not be reached. Every verb has --json.

Environment: SANDGLASS_HOME moves all state, SANDGLASS_ENDPOINT points to another Kaggle (the sandbox), KAGGLE_API_TOKEN or
KAGGLE_USERNAME and KAGGLE_KEY sign in without a keychain.`

// Verbs are listed in the order of work, not of the alphabet.
func init() { cobra.EnableCommandSorting = false }

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use: "sandglass", Short: "Spend Kaggle's weekly GPU and TPU hours well", Long: rootLong,
		SilenceUsage: true, SilenceErrors: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		Args:              p.knownVerb,
		RunE:              func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	root.SetIn(p.stdin)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{Text: flagText(err), Hint: "see: " + cmd.CommandPath() + " --help"}
	})
	root.PersistentFlags().BoolVar(&p.json, "json", p.json, "print one JSON document")
	root.PersistentFlags().BoolVar(&p.verbose, "verbose", false, "write what is done to standard error")
	for _, g := range []struct {
		title string
		verbs []*cobra.Command
	}{
		{"The account:", []*cobra.Command{p.signinCmd(), p.importCmd(), p.whoamiCmd(), p.signoutCmd()}},
		{"Before the push:", []*cobra.Command{p.newCmd(), p.demoCmd(), p.acceleratorCmd(), p.hoursCmd(), p.buildCmd(), p.rehearseCmd()}},
		{"The run:", []*cobra.Command{p.pushCmd(), p.queueCmd(), p.statusCmd(), p.waitCmd(), p.logsCmd(), p.cancelCmd(), p.deleteCmd()}},
		{"Its results:", []*cobra.Command{p.collectCmd(), p.resumeCmd(), p.compareCmd(), p.logCmd()}},
		{"The week:", []*cobra.Command{p.quotaCmd(), p.planCmd(), p.backlogCmd(), p.releaseCmd()}},
		{"The program:", []*cobra.Command{p.sandboxCmd(), p.versionCmd()}},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, v := range g.verbs {
			v.GroupID = g.title
		}
		root.AddCommand(g.verbs...)
		root.SetHelpCommandGroupID(g.title) // the last one
	}
	return root
}

// flagText words a flag that cannot be read: what a number looks like is the reader's matter, not which function refused it.
func flagText(err error) string {
	var bad *pflag.InvalidValueError
	var num *strconv.NumError
	if !errors.As(err, &bad) || !errors.As(err, &num) {
		return err.Error()
	}
	want := "a number"
	switch bad.GetFlag().Value.Type() {
	case "int":
		want = "a whole number"
	case "float64Slice":
		want = "a list of numbers such as 1.8,2.0"
	case "bool":
		want = "true or false"
	}
	if errors.Is(num, strconv.ErrRange) {
		want += " that a computer can hold"
	}
	return fmt.Sprintf("--%s %q is not %s", bad.GetFlag().Name, bad.GetValue(), want)
}

// knownVerb refuses a verb that does not exist and names the nearest.
func (p *program) knownVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	err := &usageError{Text: "there is no verb " + args[0], Hint: "see: " + cmd.CommandPath() + " --help"}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		err.Hint = "did you mean: " + cmd.CommandPath() + " " + near[0]
	}
	return err
}

// usageError is a wrong call. Exit code 2.
type usageError struct{ Text, Hint string }

func (e *usageError) Error() string { return e.Text }

// args refuses a wrong number of arguments in words.
func args(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, got []string) error {
		switch {
		case len(got) < least:
			return &usageError{Text: cmd.CommandPath() + " needs " + what, Hint: "see: " + cmd.CommandPath() + " --help"}
		case most >= 0 && len(got) > most:
			return &usageError{Text: "too many arguments: " + got[most], Hint: "see: " + cmd.CommandPath() + " --help"}
		}
		return nil
	}
}

// exitError ends the program with a code after everything has been said.
type exitError int

func (e exitError) Error() string { return "ended" }

// stoppedError is an interrupt, with what became of the work.
type stoppedError struct{ Text, Hint string }

func (e *stoppedError) Error() string { return e.Text }

// stopped gives an interrupted verb its words; any other error passes.
func stopped(ctx context.Context, err error, text, hint string) error {
	if err == nil || ctx.Err() == nil || !errors.Is(err, context.Canceled) {
		return err
	}
	return &stoppedError{Text: text, Hint: hint}
}
