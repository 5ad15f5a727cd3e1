package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sandglass/app"
)

func (p *program) hoursCmd() *cobra.Command {
	var ask app.HoursAsk
	var speed, project string
	var left float64
	cmd := &cobra.Command{
		Use: "hours", Short: "Size the cap of a session from measured runs",
		Long: `Says how long a session may run: start-up, the tasks on the devices there are, each at its upper bound, and a tail for
saving; longer where that would not hold with the chance asked for. Measured hours of one task come from --runs, from the
log (--kernel, or --job), from one measured fold (--fold), or from a rehearsal and a relative speed (--rehearsal, --speed; with
--project and --cmd the project's last rehearsal of that command).
Without any of them it says that nothing is known and makes no number up. Nothing is asked of Kaggle.

JSON: task_upper_h, makespan_h, cap_h, expected_h, p_killed (null when nothing is known), basis ("runs", "one fold",
"rehearsal", "unknown"), warnings, and task_median_h, bound_h, wanted_h, limit_h, clipped, sessions, waves, idle_devices,
idle_h, resume_h, start_up_h, tail_h, left_h, left_after_h, fits_session, fits_quota, reset_at, crosses_reset, options,
runs, tasks, devices, confidence, accelerator, pool.`,
		Example: "  sandglass hours --runs 1.8,2.0,2.1 --tasks 5 --devices 2\n  sandglass hours --kernel sam-roe/idea-train --json",
		Args:    args(0, 0, "no argument"),
	}
	f := cmd.Flags()
	f.Float64SliceVar(&ask.Runs, "runs", nil, "measured hours of one task each, such as 1.8,2.0,2.1")
	f.StringVar(&ask.Kernel, "kernel", "", "take the measured tasks from this run and the others of the same command")
	f.StringVar(&ask.Job, "job", "", "only the tasks of this job; alone: of every run that has such a job")
	f.StringVar(&ask.Name, "name", "", "take them from the runs of this name")
	f.StringVar(&ask.Command, "cmd", "", "take them from the runs of this command")
	f.StringVar(&project, "project", "", "of this project folder only; its last rehearsal counts when no run does")
	f.StringVar(&ask.Kind, "kind", "", "transformer, cnn, tabular or other: what a rehearsal here is scaled by")
	f.Float64Var(&ask.Fold, "fold", 0, "hours of one task, measured by hand")
	f.Float64Var(&ask.Rehearsal, "rehearsal", 0, "hours of one task on the machine of a rehearsal")
	f.StringVar(&speed, "speed", "", "how many times faster the session's device is than that machine: 10, or with a range 10:6:16")
	f.IntVar(&ask.Tasks, "tasks", 0, "tasks (folds) of the session; default: those of the run, else 1")
	f.IntVar(&ask.Devices, "devices", 0, "tasks at a time; default: the accelerator's devices")
	f.Float64Var(&ask.Confidence, "confidence", 0.95, "chance that the cap shall hold")
	f.StringVar(&ask.Accelerator, "accelerator", "", "NvidiaTeslaT4, TpuV5E8 or none; default: that of the run, else NvidiaTeslaT4")
	f.Float64Var(&ask.CapHours, "cap", 0, "say how likely this cap stops the session, instead of advising one")
	f.Float64Var(&left, "left", 0, "hours left of the week; default: the last reading")
	f.BoolVar(&ask.OwnKernel, "own-kernel", false, "the kernel was not built by Sandglass: nothing stops its tasks before the cap")
	cmd.RunE = p.verb(func(ctx context.Context, a core, _ []string) error {
		if f.Changed("left") {
			ask.LeftHours = &left
		}
		var err error
		if project != "" { // the log knows projects by their full paths
			if ask.Project, err = filepath.Abs(project); err != nil {
				return err
			}
		}
		if ask.Speed, err = speedGuess(speed); err != nil {
			return err
		}
		v, err := a.Hours(ctx, ask)
		if err != nil {
			return err
		}
		v.Runs, v.Options, v.Warnings = list(v.Runs), list(v.Options), list(v.Warnings)
		for i := range v.Options {
			v.Options[i].Tasks = list(v.Options[i].Tasks)
		}
		return p.result(v, func(w io.Writer) { hoursText(w, v) })
	})
	return cmd
}

// speedGuess reads RATIO or RATIO:LOW:HIGH.
func speedGuess(text string) (app.SpeedGuess, error) {
	if text == "" {
		return app.SpeedGuess{}, nil
	}
	bad := &usageError{Text: "--speed " + text + " is no relative speed", Hint: "give a factor such as 10, or with the range that it lies in 10:6:16"}
	parts := strings.Split(text, ":")
	var x [3]float64
	for i, part := range parts {
		v, err := strconv.ParseFloat(part, 64)
		if err != nil || i > 2 || !(v > 0 && v < 1e6) {
			return app.SpeedGuess{}, bad
		}
		x[i] = v
	}
	if len(parts) == 2 || len(parts) == 3 && !(x[1] <= x[0] && x[0] <= x[2]) {
		return app.SpeedGuess{}, bad
	}
	return app.SpeedGuess{Ratio: x[0], Low: x[1], High: x[2]}, nil
}

func hoursText(w io.Writer, v app.HoursAdvice) {
	if v.CapH == nil {
		fmt.Fprintf(w, "cap      unknown\n")
	} else {
		fmt.Fprintf(w, "cap      %s (stopped in %s)\n", hours(*v.CapH), chance(*v.PKilled))
		in := ""
		if *v.Sessions > 1 {
			in = " in " + count(*v.Sessions, "session")
		}
		fmt.Fprintf(w, "expected %s%s\n", hours(*v.ExpectedH), in)
		fmt.Fprintf(w, "task     %s likely, %s at most (%.0f %%), from %s\n", hours(*v.TaskMedianH), hours(*v.TaskUpperH), 100*v.Confidence, basisText(v))
		fmt.Fprintf(w, "session  %s start-up, %s in %s on %s, %s to save\n", hours(v.StartUpH), count(v.Tasks, "task"), count(v.Waves, "wave"), count(v.Devices, "device"), hours(v.TailH))
		fmt.Fprintf(w, "resume   costs about %s more\n", hours(v.ResumeH))
		if v.LeftH != nil {
			fmt.Fprintf(w, "quota    %s of %s left, %s after it\n", hours(*v.LeftH), strings.ToUpper(v.Pool), hours(max(*v.LeftAfterH, 0)))
		}
	}
	for _, text := range v.Warnings {
		fmt.Fprintln(w, "note:", text)
	}
	for _, o := range v.Options {
		fmt.Fprintln(w, "or:", o.Text)
	}
}

func basisText(v app.HoursAdvice) string {
	switch v.Basis {
	case "runs":
		return count(len(v.Runs), "measured task")
	case "one fold":
		return "one measured task"
	}
	return "a " + v.Basis
}

// chance writes a share: "about 2 of 100 runs".
func chance(p float64) string {
	switch {
	case p < 0.005:
		return "fewer than 1 of 100 runs"
	case p > 0.995:
		return "nearly every run"
	}
	return fmt.Sprintf("about %.0f of 100 runs", 100*p)
}
