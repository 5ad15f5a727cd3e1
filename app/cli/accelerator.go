package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"sandglass/app"
)

const acceleratorLong = `Judges T4 x2, TPU v5e-8 and CPU for a job: does it fit in memory, what does it burn of the week, when is it done (queue included), what
is left after it, with reasons and doubts. The best comes first. Say what you know; what you leave out widens the answer or is
not told. Signed out it works as well, without the quota.

The job: --arch names a known model (--list-archs), or give --params, or --layers --hidden --heads (and --vocab), with --batch and
--seq or --image. --bench 8=5200,16=9100 gives measured peaks of memory in MiB by batch; they win over every formula.
--precision fp16 and bf16 take the range from pure 16-bit weights to autocast; amp is autocast, pure-fp16 pure.

The time: --hours-t4 is what one task (fold, seed) takes on one T4. Without it the times of your own runs of --kernel, or of the same
--name and --cmd, are taken; without those neither burn nor finish is made up.

JSON: options [{accelerator, title, pool, recommended, fits, fit, runs, suits, memory_gib {low, likely, high, usable, basis, terms [{name, low, likely,
high, source}]}, quota_hours, quota_range, finish {low, likely, high} in hours from now, finish_at, left_after_h, affordable, queue, queue_basis,
devices, workers, waves, sessions, task_h, hours_basis, speed {ratio, low, high, basis, source}, changes, reasons, doubts, asks, own_peak_gib}], verdict, class, tasks,
quota_live, quota_why, reset_at, now. What is not known is null.`

// acceleratorFlags are the flags of `accelerator`.
type acceleratorFlags struct {
	ask                   app.AcceleratorAsk
	params, rows, columns string
	bench, steps, limits  []string
	cached, archs         bool
}

func (p *program) acceleratorCmd() *cobra.Command {
	var f acceleratorFlags
	cmd := &cobra.Command{
		Use: "accelerator", Short: "Which machine suits a job: what fits, what it burns, when it is done", Long: acceleratorLong,
		Example: `  sandglass accelerator --arch convnext_tiny --image 384 --batch 32 --hours-t4 2 --tasks 5
  sandglass accelerator --kind transformer --params 7B --method qlora --seq 1024 --batch 1 --checkpointing
  sandglass accelerator --kind tabular --framework lightgbm --json`,
		Args: args(0, 0, "no argument; every value has a flag"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.archs {
				list := app.Architectures()
				return p.result(map[string]any{"architectures": list}, func(w io.Writer) { archsText(w, list) })
			}
			ask, err := f.read()
			if err != nil {
				return err
			}
			return p.withApp(cmd.Context(), func(a core) error { return p.accelerators(cmd.Context(), a, ask) })
		},
	}
	s, a := cmd.Flags(), &f.ask
	s.StringVar(&a.Kind, "kind", "", "transformer, cnn, tabular or other")
	s.StringVar(&a.Arch, "arch", "", "a known model, such as resnet50, convnext_tiny, bert-large, qwen2.5-7b")
	s.BoolVar(&f.archs, "list-archs", false, "list the known models and the sources of their facts")
	s.StringVar(&f.params, "params", "", "parameters: 335100000, 7e9, 86M or 7B")
	s.IntVar(&a.Layers, "layers", 0, "layers of a transformer")
	s.IntVar(&a.Hidden, "hidden", 0, "its width")
	s.IntVar(&a.Heads, "heads", 0, "its attention heads")
	s.IntVar(&a.KVHeads, "kv-heads", 0, "its key and value heads, with grouped-query attention")
	s.IntVar(&a.FFN, "ffn", 0, "inner width of its feed-forward part (4 x hidden)")
	s.IntVar(&a.Vocab, "vocab", 0, "words whose scores it computes")
	s.IntVar(&a.Seq, "seq", 0, "tokens of a sequence")
	s.IntVar(&a.Batch, "batch", 0, "sequences or images in a step, on one device")
	s.IntVar(&a.Image, "image", 0, "side of an image in pixels")
	s.StringVar(&a.Precision, "precision", "", "fp32, amp, amp-bf16, fp16, bf16, pure-fp16 or pure-bf16")
	s.StringVar(&a.Optimizer, "optimizer", "", "sgd, momentum, adam, adam8bit or adafactor (adam)")
	s.StringVar(&a.Method, "method", "", "full, lora, qlora or inference (full)")
	s.StringVar(&a.Attention, "attention", "", "fused (flash, SDPA) or eager")
	s.BoolVar(&a.Checkpointing, "checkpointing", false, "gradient checkpointing")
	s.IntVar(&a.LoRARank, "lora-rank", 0, "rank of the adapters")
	s.StringVar(&a.LoRATargets, "lora-targets", "", "qv or all")
	s.StringSliceVar(&f.bench, "bench", nil, "measured peak memory: BATCH=MIB, several with commas")
	s.StringVar(&f.rows, "rows", "", "rows of the table")
	s.StringVar(&f.columns, "columns", "", "columns of the table")
	s.Float64Var(&a.HoursT4, "hours-t4", 0, "hours of one task on one T4")
	s.IntVar(&a.Tasks, "tasks", 0, "tasks: folds or seeds (1)")
	s.StringVar(&a.Framework, "framework", "", "libraries, with commas: torch, jax, tensorflow, sklearn, lightgbm, bitsandbytes, …")
	s.BoolVar(&a.Dynamic, "dynamic", false, "shapes change from batch to batch, or gathers, nonzero, custom CUDA")
	s.BoolVar(&a.Tiny, "tiny", false, "a small model that waits for launches or for its input")
	s.BoolVar(&a.DICOM, "dicom", false, "reads DICOM files")
	s.BoolVar(&a.OneProcess, "one-process", false, "the command uses one device however many there are")
	s.StringSliceVar(&f.steps, "step-seconds", nil, "own step times: NvidiaTeslaT4=0.31,TpuV5E8=0.12")
	s.StringVar(&a.Kernel, "kernel", "", "a run in the log whose times count")
	s.StringVar(&a.Name, "name", "", "name of a job whose earlier runs count")
	s.StringVar(&a.Command, "cmd", "", "its command")
	s.StringVar(&a.Project, "project", "", "its project folder")
	s.StringSliceVar(&f.limits, "session-limit", nil, "session limits that differ: gpu=9,tpu=9 (hours)")
	s.StringSliceVar(&a.Also, "also", nil, "further machine shapes to judge, such as NvidiaL4")
	s.BoolVar(&f.cached, "cached", false, "do not ask Kaggle for the quota; take the last figure read")
	return cmd
}

// read turns the flags into the ask.
func (f *acceleratorFlags) read() (app.AcceleratorAsk, error) {
	ask := f.ask
	ask.Live = !f.cached
	for _, x := range []struct {
		flag, text string
		to         *float64
	}{{"--params", f.params, &ask.Params}, {"--rows", f.rows, &ask.Rows}, {"--columns", f.columns, &ask.Columns}} {
		if x.text == "" {
			continue
		}
		v, err := bigNumber(x.text)
		if err != nil {
			return ask, &usageError{Text: fmt.Sprintf("%s %s is no number", x.flag, x.text), Hint: "write 335100000, 7e9, 86M or 7B"}
		}
		*x.to = v
	}
	for _, t := range commas(f.bench) {
		batch, mib, ok := strings.Cut(t, "=")
		b, err1 := strconv.Atoi(strings.TrimSpace(batch))
		m, err2 := strconv.ParseFloat(strings.TrimSpace(mib), 64)
		if !ok || err1 != nil || err2 != nil {
			return ask, &usageError{Text: "--bench " + t + " is not BATCH=MIB", Hint: "write --bench 8=5200,16=9100"}
		}
		ask.Bench = append(ask.Bench, app.MemoryPoint{Batch: b, MiB: m})
	}
	for _, t := range commas(f.steps) {
		shape, text, ok := strings.Cut(t, "=")
		s, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if !ok || err != nil {
			return ask, &usageError{Text: "--step-seconds " + t + " is not MACHINE=SECONDS", Hint: "write --step-seconds NvidiaTeslaT4=0.31,TpuV5E8=0.12"}
		}
		ask.Steps = append(ask.Steps, app.StepTime{Shape: strings.TrimSpace(shape), Seconds: s})
	}
	for _, t := range commas(f.limits) {
		pool, text, ok := strings.Cut(t, "=")
		h, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		pool = strings.ToLower(strings.TrimSpace(pool))
		if !ok || err != nil || pool != app.PoolGPU && pool != app.PoolTPU {
			return ask, &usageError{Text: "--session-limit " + t + " is not gpu=HOURS or tpu=HOURS", Hint: "write --session-limit gpu=9"}
		}
		if ask.LimitH == nil {
			ask.LimitH = map[string]float64{}
		}
		ask.LimitH[pool] = h
	}
	if ask.Kind == "" && ask.Arch == "" {
		return ask, &usageError{Text: "accelerator needs --kind or --arch", Hint: "write --kind transformer, cnn, tabular or other"}
	}
	return ask, nil
}

// bigNumber reads 335100000, 7e9, 86M, 7B, 1.5k, 1_000.
func bigNumber(s string) (float64, error) {
	s = strings.ToLower(strings.ReplaceAll(strings.TrimSpace(s), "_", ""))
	unit := 1.0
	for suffix, u := range map[string]float64{"k": 1e3, "m": 1e6, "b": 1e9, "g": 1e9, "t": 1e12} {
		if rest, ok := strings.CutSuffix(s, suffix); ok {
			s, unit = strings.TrimSpace(rest), u
			break
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	return v * unit, err
}

func (p *program) accelerators(ctx context.Context, a core, ask app.AcceleratorAsk) error {
	v, err := a.Accelerators(ctx, ask)
	if err != nil {
		return err
	}
	return p.result(v, func(w io.Writer) { acceleratorText(w, v) })
}

// acceleratorText is a table of the figures, and under it each machine's reasons and doubts.
func acceleratorText(w io.Writer, v app.AcceleratorAdvice) {
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(tw, "\taccelerator\tfits\tmemory (GiB)\tburns\tdone in\tleaves this week")
	for _, o := range v.Options {
		mark := ""
		if o.Recommended {
			mark = "*"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", mark, o.Title, fitWord(o), memoryText(o.Memory), burnText(o), spanText(o.Finish), leavesText(o))
	}
	_ = tw.Flush()
	fmt.Fprintln(w, "\n"+v.Verdict)
	for _, o := range v.Options {
		fmt.Fprintf(w, "\n%s (--accelerator %s)\n", o.Title, o.Accelerator)
		for _, s := range o.Reasons {
			fmt.Fprintln(w, "  +", s)
		}
		for _, s := range o.Doubts {
			fmt.Fprintln(w, "  ?", s)
		}
		for _, s := range o.Asks {
			if flags := askFlags[s]; flags != "" {
				fmt.Fprintln(w, "    give", flags)
			}
		}
	}
	fmt.Fprintln(w)
	if v.QuotaLive {
		fmt.Fprintln(w, "quota read from Kaggle just now")
	} else {
		fmt.Fprintln(w, "quota NOT LIVE:", strings.TrimRight(v.QuotaWhy, "."))
	}
}

// askFlags are the flags that settle a doubt, by what it asks for.
var askFlags = map[string]string{"table": "--rows and --columns", "model": "--params or --arch, or --bench", "hours": "--hours-t4, or --kernel or --name and --cmd of a run in the log"}

func fitWord(o app.AcceleratorOption) string {
	switch {
	case !o.Runs:
		return "does not run"
	case o.Fit == "unknown":
		return "not known"
	case o.Fit == "no":
		return "no"
	case o.Fit == "tight":
		return "tight"
	}
	return "yes"
}

func memoryText(m app.MemoryView) string {
	if m.Low == nil {
		return "-"
	}
	s := fmt.Sprintf("%.1f-%.1f", *m.Low, *m.High)
	if m.Usable != nil {
		s += fmt.Sprintf(" of %.4g", *m.Usable)
	}
	return s
}

func burnText(o app.AcceleratorOption) string {
	if o.Pool == app.PoolCPU {
		return "0 h"
	}
	if o.Quota.Low == nil {
		return "not known"
	}
	return spanText(o.Quota)
}

// spanText is a span of hours, in days from four on.
func spanText(s app.SpanView) string {
	if s.Low == nil {
		return "not known"
	}
	lo, hi, unit := *s.Low, *s.High, "h"
	if lo >= 96 {
		lo, hi, unit = lo/24, hi/24, "d"
	}
	if hi-lo < .05 {
		return fmt.Sprintf("%.1f %s", hi, unit)
	}
	return fmt.Sprintf("%.1f-%.1f %s", lo, hi, unit)
}

func leavesText(o app.AcceleratorOption) string {
	switch {
	case o.Pool == app.PoolCPU:
		return "not metered"
	case o.LeftAfterH == nil:
		return "not known"
	case *o.LeftAfterH < 0:
		return fmt.Sprintf("%.1f h too few", -*o.LeftAfterH)
	}
	return fmt.Sprintf("%.1f h %s", *o.LeftAfterH, strings.ToUpper(o.Pool))
}

func archsText(w io.Writer, list []app.Architecture) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, a := range list {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%.4g M\n", a.Name, a.Title, a.Kind, a.Params/1e6)
	}
	_ = tw.Flush()
}
