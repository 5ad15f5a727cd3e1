package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sandglass/app"
)

const buildLong = `Packs a project into a kernel folder: one script under Kaggle's limit of one million bytes, with the session runner, your
src/, the support package and the frozen folds. Nothing is sent. Push the folder that it prints.

A command with {fold} makes one task a fold; without it the command gets the whole machine. Flags that take several values
may be repeated, separated by commas, or followed by all of them: --folds 0 1 2.

JSON: kernel, dir, script, script_bytes, parts [{name, bytes}], jobs, folds, warnings, left_out ["path: why"],
build_id, accelerator, cap_h, fill [{text, flag}], next. fill has one entry for each way to use devices that would idle.`

// buildFlags is a BuildSpec as the command line gives it.
type buildFlags struct {
	spec     app.BuildSpec
	folds    []string
	extra    []string
	datasets []string
	kernels  []string
	comps    []string
	models   []string
	resume   []string
	include  []string
	wheels   []string
	seeds    []string
	wide     []string
	// of extra jobs, NAME=VALUE
	jobFolds, jobAssemble, jobLauncher []string
}

func (p *program) buildCmd() *cobra.Command {
	var b buildFlags
	cmd := &cobra.Command{
		Use: "build --name N --cmd C --hours H", Short: "Pack a project into a kernel folder", Long: buildLong,
		Example: `  sandglass build --project . --name idea --hours 5 --cmd "python src/train.py --name idea --folds {fold}"
  sandglass build --name big --hours 8.5 --accelerator TpuV5E8 --folds 0 1 --dataset sam-roe/leaves=data/leaves --cmd "python src/train_xla.py --name big --folds {fold}"`,
		Args: args(0, 0, "no argument; every value has a flag"),
		RunE: p.verb(func(ctx context.Context, a core, _ []string) error {
			spec, err := b.build()
			if err != nil {
				return err
			}
			r, err := a.Build(ctx, spec, p.progress.report)
			if err != nil {
				return stopped(ctx, err, "stopped; no kernel folder was written", "")
			}
			for _, w := range r.Warnings {
				p.progress.line("warning: " + w)
			}
			return p.result(buildOf(r), func(w io.Writer) { buildText(w, r) })
		}),
	}
	b.register(cmd)
	return cmd
}

func (b *buildFlags) register(cmd *cobra.Command) {
	f, s := cmd.Flags(), &b.spec
	f.StringVar(&s.Project, "project", ".", "folder with src/, data/ and artifacts/")
	f.StringVar(&s.Name, "name", "", "name of the idea; results go to artifacts/<name>")
	f.StringVar(&s.Command, "cmd", "", "command to run, {fold} stands for a fold's number")
	f.Float64Var(&s.Hours, "hours", 0, "cap of the session in hours: a hard stop")
	f.StringArrayVar(&b.folds, "folds", nil, "folds to run: 0 1 2 or 0-4 (default: all of data/folds.csv when the command has {fold})")
	f.StringVar(&s.Accelerator, "accelerator", "", "NvidiaTeslaT4 (two T4, the default), TpuV5E8, or none")
	f.StringVar(&s.Slug, "slug", "", "name of the kernel (default <name>-train)")
	f.StringVar(&s.Out, "out", "", "folder to write (default <project>/.sandglass/build/<slug>)")
	f.StringArrayVar(&b.datasets, "dataset", nil, "owner/slug[=folder] to attach: its files are linked straight into data/, or into that folder")
	f.StringArrayVar(&b.kernels, "kernel", nil, "owner/slug[=folder] of a kernel whose output to attach")
	f.StringArrayVar(&b.comps, "competition", nil, "slug[=folder] of a competition to attach")
	f.StringArrayVar(&b.models, "model", nil, "model to attach: owner/model/framework/variation/version")
	f.StringVar(&s.Layout, "input-layout", "", "flat (default) or nested")
	f.StringArrayVar(&b.resume, "resume-from", nil, "owner/slug of an earlier run: finished folds are skipped")
	f.StringArrayVar(&b.include, "include", nil, "paths of the project that travel (default src)")
	f.StringArrayVar(&b.extra, "extra-job", nil, "NAME CMD: a further job in the same session, repeatable")
	f.StringArrayVar(&b.jobFolds, "job-folds", nil, "NAME=FOLDS: folds of an extra job of its own, such as other=0,1 or other=0-4")
	f.StringArrayVar(&b.jobAssemble, "job-assemble", nil, "NAME=CMD: command that joins the folds of an extra job")
	f.StringArrayVar(&b.jobLauncher, "job-launcher", nil, "NAME=LAUNCHER: torchrun or accelerate for an extra job without {fold}")
	f.StringVar(&s.Assemble, "assemble-cmd", "", "command that joins the folds (default: the command with --assemble)")
	f.StringVar(&s.Launcher, "launcher", "", "torchrun, accelerate or none (default): what starts a command without {fold} over both T4s")
	f.StringArrayVar(&b.wide, "wide-folds", nil, "folds to run last, one at a time over both T4s, through --launcher")
	f.StringArrayVar(&s.Post, "post-cmd", nil, "command to run after assembly, repeatable")
	f.StringArrayVar(&s.Pip, "pip", nil, "packages to install before training, repeatable")
	f.StringArrayVar(&b.wheels, "wheels", nil, "owner/slug of a dataset with wheels: pip works offline against it")
	f.StringVar(&s.SplitFrom, "split-from", "", "owner/slug of a dataset with data/folds.csv, for a split too big to travel: checked byte for byte")
	f.BoolVar(&s.NoInternet, "no-internet", false, "session without internet")
	f.BoolVar(&s.Public, "public", false, "the kernel may be seen by everybody")
	f.StringVar(&s.PruneAgainst, "prune-against", "", "baseline to prune against: a folder under artifacts/, or a path")
	f.Float64Var(&s.PruneMargin, "prune-margin", 0, "score margin (default: the baseline's spread over folds)")
	f.Float64Var(&s.PruneMinFrac, "prune-min-frac", 0, "never prune before this share of the schedule (default 0.3)")
	f.StringArrayVar(&b.seeds, "prune-seeds", nil, "the same run under other seeds: the margin is then each fold's own seed noise")
	f.StringVar(&s.Baseline, "baseline", "", "curves to show the run against (default artifacts/baseline)")
	f.BoolVar(&s.AllowAny, "allow-any-device", false, "train on whatever device Kaggle hands out")
	f.BoolVar(&s.AllowMissing, "allow-missing-inputs", false, "train although an input is not mounted")
	f.IntVar(&s.Retry, "retry", 0, "run a failed task again, at most so often")
	f.Float64Var(&s.StallMinutes, "stall", 0, "kill a task that shows no output and no score for so many minutes (default: 20, and only if it computes nothing either; -1: never)")
}

// build checks what only the command line can get wrong; the core checks the rest.
func (b *buildFlags) build() (app.BuildSpec, error) {
	s := b.spec
	for _, need := range []struct {
		flag string
		ok   bool
	}{{"--name", s.Name != ""}, {"--cmd", strings.TrimSpace(s.Command) != ""}, {"--hours", s.Hours != 0}} {
		if !need.ok {
			return s, &usageError{Text: "build needs " + need.flag, Hint: "see: sandglass build --help"}
		}
	}
	folds, err := foldNumbers(b.folds)
	if err != nil {
		return s, err
	}
	s.Folds = folds
	for _, x := range b.extra {
		name, command, ok := strings.Cut(x, "=")
		if !ok || name == "" || strings.ContainsAny(name, " \t") || strings.TrimSpace(command) == "" {
			return s, &usageError{Text: "--extra-job needs a name and a command", Hint: `write: --extra-job other "python src/other.py --folds {fold}"`}
		}
		s.ExtraJobs = append(s.ExtraJobs, app.JobSpec{Name: name, Command: command})
	}
	if err := b.jobs(&s); err != nil {
		return s, err
	}
	if s.WideFolds, err = foldNumbers(b.wide); err != nil {
		return s, err
	}
	s.PruneSeeds = commas(b.seeds)
	s.Datasets, s.Kernels, s.Competitions, s.Models = commas(b.datasets), commas(b.kernels), commas(b.comps), commas(b.models)
	s.ResumeFrom, s.Include, s.Wheels = commas(b.resume), commas(b.include), commas(b.wheels)
	return s, nil
}

// jobs gives the extra jobs what is said of each by its name.
func (b *buildFlags) jobs(s *app.BuildSpec) error {
	for _, of := range []struct {
		flag   string
		values []string
		set    func(j *app.JobSpec, v string) error
	}{
		{"--job-folds", b.jobFolds, func(j *app.JobSpec, v string) (err error) {
			j.Folds, err = foldNumbers([]string{v})
			return err
		}},
		{"--job-assemble", b.jobAssemble, func(j *app.JobSpec, v string) error { j.Assemble = v; return nil }},
		{"--job-launcher", b.jobLauncher, func(j *app.JobSpec, v string) error { j.Launcher = v; return nil }},
	} {
		for _, x := range of.values {
			name, v, _ := strings.Cut(x, "=")
			at := slices.IndexFunc(s.ExtraJobs, func(j app.JobSpec) bool { return j.Name == name })
			if at < 0 || strings.TrimSpace(v) == "" {
				return &usageError{Text: fmt.Sprintf("%s %s names no extra job", of.flag, x), Hint: "write: --extra-job other \"python src/other.py\" " + of.flag + " other=…"}
			}
			if err := of.set(&s.ExtraJobs[at], v); err != nil {
				return err
			}
		}
	}
	return nil
}

const resumeLong = `Builds the follow-up of a run that left something undone: the same command, folds and inputs as a kernel of its own
(<slug>-r2, -r3, …), with the output of the run and of all it resumed from attached. In the session finished folds are taken
over, folds with a checkpoint go on from it, pruned ones stay pruned, failed ones begin again. The project's code is taken as it
is now. A run that was not collected yet is collected first. Nothing is sent. Push the folder that it prints.

A run that is still going, or that has nothing left to do, has no follow-up: exit code 1.
` + kernelHelp + `

JSON: kernel, dir, script, script_bytes, parts [{name, bytes}], jobs, folds, warnings, left_out ["path: why"],
build_id, accelerator, cap_h, fill [{text, flag}], next.`

func (p *program) resumeCmd() *cobra.Command {
	var opt app.ResumeOptions
	cmd := &cobra.Command{
		Use: "resume KERNEL", Short: "Build the follow-up of a run that left something undone", Long: resumeLong,
		Example: "  sandglass resume idea-train --hours 3",
		Args:    args(1, 1, "the run's kernel"),
		PreRunE: func(cmd *cobra.Command, _ []string) error { return checkHours(cmd, "hours") },
		RunE: p.verb(func(ctx context.Context, a core, args []string) error {
			opt.Progress = p.progress.report
			r, err := a.Resume(ctx, args[0], opt)
			if err != nil {
				return stopped(ctx, err, "stopped; no kernel folder was written", "")
			}
			for _, w := range r.Warnings {
				p.progress.line("warning: " + w)
			}
			return p.result(buildOf(r), func(w io.Writer) { buildText(w, r) })
		}),
	}
	cmd.Flags().Float64Var(&opt.Hours, "hours", 0, "cap of the session in hours (default: that of the run)")
	return cmd
}

// leftOutLines is how many of the files that do not travel are named one by one.
const leftOutLines = 10

func buildText(w io.Writer, r app.BuildResult) {
	fmt.Fprintf(w, "built %s in %s\n", r.Kernel, r.Dir)
	fmt.Fprintf(w, "jobs %s", strings.Join(r.Jobs, ", "))
	if len(r.Folds) > 0 {
		fmt.Fprintf(w, "; folds %s", strings.Trim(fmt.Sprint(r.Folds), "[]"))
	}
	fmt.Fprintf(w, "; %s; cap %s\n", machine(r.Accelerator), hours(r.CapHours))
	fmt.Fprintf(w, "script %s of 1.0 MB:", size(int64(r.ScriptBytes)))
	for i, part := range r.Parts {
		if i > 0 {
			fmt.Fprint(w, ",")
		}
		fmt.Fprintf(w, " %s %s", part.Name, size(int64(part.Bytes)))
	}
	fmt.Fprintln(w)
	for i, line := range r.LeftOut {
		if i == leftOutLines {
			fmt.Fprintf(w, "left out: %d more, all of them with --json\n", len(r.LeftOut)-i)
			break
		}
		fmt.Fprintf(w, "left out: %s\n", line)
	}
	for _, o := range r.Fill {
		fmt.Fprintf(w, "idle devices: %s\n  %s\n", o.Text, o.Flag)
	}
	fmt.Fprintf(w, "next: sandglass push %s\n", quoted(r.Dir))
}

func (p *program) demoCmd() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use: "demo --dir DIR", Short: "Write the demo project and print its build command",
		Long: `Writes a small project (the Palmer penguins, five folds, a recorded baseline and an idea against it) that trains in seconds
with nothing but Python's standard library, and prints the command that builds it.

JSON: dir, name, command (the build command as a list of arguments), line (the same for a shell).`,
		Example: "  sandglass demo --dir penguins",
		Args:    args(0, 0, "no argument; the folder is --dir"),
		RunE: func(*cobra.Command, []string) error {
			if dir == "" {
				return &usageError{Text: "demo needs --dir", Hint: "write: sandglass demo --dir penguins"}
			}
			spec, err := app.WriteDemo(dir)
			if err != nil {
				return err
			}
			spec.Accelerator, spec.Baseline = "", "" // the defaults: what has to be learned is the rest
			command := buildCommand(spec)
			v := map[string]any{"dir": spec.Project, "name": spec.Name, "command": command, "line": shellLine(command)}
			spec.Project = dir // as it was typed, for a person
			return p.result(v, func(w io.Writer) { fmt.Fprintln(w, shellLine(buildCommand(spec))) })
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "folder to write the project to")
	return cmd
}

// shellLine writes a command for a POSIX shell.
func shellLine(command []string) string {
	words := make([]string, len(command))
	for i, a := range command {
		words[i] = quoted(a)
	}
	return strings.Join(words, " ")
}

// buildCommand writes a spec as the call that builds it.
func buildCommand(s app.BuildSpec) []string {
	out := []string{"sandglass", "build"}
	add := func(flag, value string) {
		if value != "" {
			out = append(out, flag, value)
		}
	}
	add("--project", s.Project)
	add("--name", s.Name)
	add("--hours", fmt.Sprintf("%g", s.Hours))
	add("--accelerator", s.Accelerator)
	if len(s.Folds) > 0 {
		out = append(out, "--folds")
		for _, f := range s.Folds {
			out = append(out, fmt.Sprint(f))
		}
	}
	add("--slug", s.Slug)
	add("--out", s.Out)
	add("--baseline", s.Baseline)
	add("--prune-against", s.PruneAgainst)
	add("--assemble-cmd", s.Assemble)
	add("--launcher", s.Launcher)
	for _, f := range s.WideFolds {
		add("--wide-folds", fmt.Sprint(f))
	}
	for _, d := range s.PruneSeeds {
		add("--prune-seeds", d)
	}
	if s.StallMinutes != 0 {
		add("--stall", fmt.Sprintf("%g", s.StallMinutes))
	}
	add("--split-from", s.SplitFrom)
	if len(s.Include) > 0 {
		out = append(append(out, "--include"), s.Include...)
	}
	for _, j := range s.ExtraJobs {
		out = append(out, "--extra-job", j.Name, j.Command)
		for k, f := range j.Folds {
			if k == 0 {
				out = append(out, "--job-folds", j.Name+"="+fmt.Sprint(f))
			} else {
				out[len(out)-1] += "," + fmt.Sprint(f)
			}
		}
		if j.Assemble != "" {
			add("--job-assemble", j.Name+"="+j.Assemble)
		}
		if j.Launcher != "" {
			add("--job-launcher", j.Name+"="+j.Launcher)
		}
	}
	add("--cmd", s.Command)
	return out
}

// quoted writes an argument for a POSIX shell.
func quoted(s string) string {
	plain := strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=:,@%+", r))
	}) < 0
	if plain && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
