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

func step8bit(a *MemoryAsk) (string, bool) {
	if a.Pool != GPU || (a.Optimizer != "" && a.Optimizer != Adam) || a.Method == Inference {
		return "", false
	}
	a.Optimizer = Adam8bit
	return "8-bit Adam (bitsandbytes)", true
}

func stepAdafactor(a *MemoryAsk) (string, bool) {
	if a.Pool == GPU || (a.Optimizer != "" && a.Optimizer != Adam) || a.Method == Inference {
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
		if devices < 2 || a.ShardStage > 0 || (a.Method != "" && a.Method != FullTraining) {
			return "", false
		}
		a.ShardStage, a.ShardDevices = 3, devices
		return fmt.Sprintf("one task sharded over the %d devices (FSDP), so one at a time", devices), true
	}
}

// changesToFit looks for the gentlest changes after which the likely figure is within what is usable: those that leave the
// mathematics as it is first, then those that change what is trained. At most three, each reckoned.
func changesToFit(ask MemoryAsk, usableGiB float64, devices int) []MemoryChange {
	if ask.Kind == KindTabular || (len(ask.Bench) > 0 && ask.Batch == 0) {
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
	return out
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
