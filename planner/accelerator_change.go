package planner

import (
	"fmt"
	"slices"
	"strings"
)

// Each step of a change says what it does to the ask and how it is called; false when it does not apply.
type memoryStep func(a *MemoryAsk) (text string, ok bool)

func stepCheckpoint(a *MemoryAsk) (string, bool) {
	if a.Checkpointing || a.Method == Inference {
		return "", false
	}
	a.Checkpointing = true
	return "gradient checkpointing (20 to 30 % slower)", true
}

func stepAMP(a *MemoryAsk) (string, bool) {
	if a.Precision != FP32 || a.Pool == CPU || (a.Method != "" && a.Method != FullTraining) {
		return "", false
	}
	a.Precision = AMP
	if a.Pool == TPU {
		a.Precision = AMPBF16
	}
	return "mixed precision (torch.autocast)", true
}

// optimizerCounts: a smaller optimiser state is worth a word when it is a tenth of the whole.
func optimizerCounts(a *MemoryAsk) bool { return shareOf(a, "optimiser") >= .1 }

// shareOf is what the named terms are of the likely estimate.
func shareOf(a *MemoryAsk, names ...string) float64 {
	e := EstimateMemory(*a)
	sum := 0.0
	for _, t := range e.Terms {
		if slices.Contains(names, t.Name) {
			sum += t.Likely
		}
	}
	if e.LikelyGiB <= 0 {
		return 0
	}
	return sum / GiB / e.LikelyGiB
}

func step8bit(a *MemoryAsk) (string, bool) {
	if !optimizerCounts(a) || a.Pool != GPU || (a.Optimizer != "" && a.Optimizer != Adam) || a.Method == Inference {
		return "", false
	}
	a.Optimizer = Adam8bit
	return "8-bit Adam (bitsandbytes)", true
}

func stepAdafactor(a *MemoryAsk) (string, bool) {
	if !optimizerCounts(a) || a.Pool == GPU || (a.Optimizer != "" && a.Optimizer != Adam) || a.Method == Inference {
		return "", false
	}
	a.Optimizer = Adafactor
	return "Adafactor instead of Adam", true
}

func stepLoRA(a *MemoryAsk) (string, bool) {
	if a.Kind != KindTransformer || (a.Method != "" && a.Method != FullTraining) {
		return "", false
	}
	a.Method, a.Precision = LoRA, FP16
	if a.Pool == TPU {
		a.Precision = BF16
	}
	return "LoRA on a 16-bit base", true
}

func stepQLoRA(a *MemoryAsk) (string, bool) {
	if a.Kind != KindTransformer || a.Pool != GPU || a.Method == QLoRA || a.Method == Inference {
		return "", false
	}
	a.Method, a.Precision = QLoRA, FP16
	return "QLoRA (4-bit base)", true
}

// stepShard spreads weights, gradients and optimiser state over the session's devices.
func stepShard(devices int) memoryStep {
	return func(a *MemoryAsk) (string, bool) {
		if devices < 2 || a.ShardStage > 0 || (a.Method != "" && a.Method != FullTraining) || shareOf(a, "weights", "grads", "optimiser") < .4 {
			return "", false
		}
		a.ShardStage, a.ShardDevices = 3, devices
		return fmt.Sprintf("one task sharded over the %d devices (FSDP), so one at a time", devices), true
	}
}

// changesToFit looks for the gentlest changes after which the likely figure is within what is usable: those that leave the
// mathematics as it is first, then those that change what is trained. At most three, each reckoned.
func changesToFit(ask MemoryAsk, usableGiB float64, devices int) []MemoryChange {
	if ask.Kind == KindTabular {
		return tableChanges(ask, usableGiB)
	}
	if len(ask.Bench) > 0 && ask.Batch == 0 {
		return nil
	}
	if a, ok := LookupArch(ask.Model.Arch); ok {
		ask.Kind = a.Kind
	}
	plans := [][]memoryStep{
		{},
		{stepCheckpoint},
		{stepAMP},
		{step8bit},
		{stepAdafactor},
		{stepAMP, stepCheckpoint},
		{stepCheckpoint, step8bit},
		{stepCheckpoint, stepAdafactor},
		{stepShard(devices), stepCheckpoint},
		{stepLoRA},
		{stepLoRA, stepCheckpoint},
		{stepQLoRA},
		{stepQLoRA, stepCheckpoint},
	}
	if len(ask.Bench) > 0 {
		plans = plans[:1] // a bench says nothing of another configuration
	}
	var out []MemoryChange
	for _, plan := range plans {
		c, ok := tryChange(ask, plan, usableGiB)
		if !ok || slices.ContainsFunc(out, func(o MemoryChange) bool { return strings.HasPrefix(c.Text, o.Text) }) {
			continue
		}
		if out = append(out, c); len(out) == 3 {
			break
		}
	}
	if len(out) == 0 && len(ask.Bench) == 0 {
		out = smallerInputs(ask, usableGiB)
	}
	return out
}

// smallerInputs is the last resort: shorter sequences or smaller images, one at a time, with checkpointing.
func smallerInputs(ask MemoryAsk, usableGiB float64) []MemoryChange {
	more := ""
	if ask.Batch > 1 {
		ask.Batch, more = 1, ", one at a time"
	}
	if ask.Method != Inference && !ask.Checkpointing {
		ask.Checkpointing = true
		more += ", with gradient checkpointing"
	}
	size, least, what := &ask.Seq, 64, "sequences of %d instead of %d tokens"
	if ask.Image > 0 {
		size, least, what = &ask.Image, 32, "images of %d instead of %d pixels"
	}
	was := *size
	for *size /= 2; *size >= least; *size /= 2 {
		if e := EstimateMemory(ask); e.Known && e.LikelyGiB <= usableGiB {
			return []MemoryChange{{Text: fmt.Sprintf(what, *size, was) + more, LowGiB: e.LowGiB, HighGiB: e.HighGiB, Ask: ask}}
		}
	}
	return nil
}

// tableChanges: half as many bytes, or half as many rows.
func tableChanges(ask MemoryAsk, usableGiB float64) []MemoryChange {
	ask.Rows /= 2 // 4 bytes a cell are half of 8
	text := "32-bit columns instead of 64-bit ones (astype float32), read one file at a time"
	for n := 2; n <= 64; n *= 2 {
		if e := EstimateMemory(ask); e.Known && e.LikelyGiB <= usableGiB {
			return []MemoryChange{{Text: text, LowGiB: e.LowGiB, HighGiB: e.HighGiB, Ask: ask}}
		}
		ask.Rows /= 2
		text = fmt.Sprintf("32-bit columns and 1 row in %d", n)
	}
	return nil
}

// tryChange takes the steps, and then the largest batch that fits.
func tryChange(ask MemoryAsk, plan []memoryStep, usableGiB float64) (MemoryChange, bool) {
	a := ask
	var words []string
	for _, step := range plan {
		text, ok := step(&a)
		if !ok {
			return MemoryChange{}, false
		}
		words = append(words, text)
	}
	batches := []int{a.Batch}
	for b := a.Batch / 2; b >= 1; b /= 2 {
		batches = append(batches, b)
	}
	for _, b := range batches {
		if b == ask.Batch && len(plan) == 0 {
			continue
		}
		a.Batch = b
		e := EstimateMemory(a)
		if !e.Known || e.LikelyGiB > usableGiB {
			continue
		}
		if b != ask.Batch {
			text := fmt.Sprintf("batch %d instead of %d", b, ask.Batch)
			if a.Method != Inference {
				text += fmt.Sprintf(" with gradients accumulated over %d steps", (ask.Batch+b-1)/b)
			}
			words = append([]string{text}, words...)
		}
		return MemoryChange{Text: strings.Join(words, ", "), LowGiB: e.LowGiB, HighGiB: e.HighGiB, Ask: a}, true
	}
	return MemoryChange{}, false
}
