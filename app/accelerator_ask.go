package app

import (
	"fmt"
	"slices"
	"strings"

	"sandglass/planner"
)

// Words for the choices, and what else people write.
var (
	kindWords = map[string]planner.Kind{"": "", "transformer": planner.KindTransformer, "cnn": planner.KindCNN, "tabular": planner.KindTabular, "other": planner.KindOther,
		"llm": planner.KindTransformer, "vit": planner.KindTransformer, "conv": planner.KindCNN, "table": planner.KindTabular, "trees": planner.KindTabular}
	precisionWords = map[string]planner.Precision{"": "", "fp32": planner.FP32, "float32": planner.FP32, "32": planner.FP32, "amp": planner.AMP, "mixed": planner.AMP, "autocast": planner.AMP,
		"amp-fp16": planner.AMP, "amp-bf16": planner.AMPBF16, "bf16-mixed": planner.AMPBF16, "16-mixed": planner.AMP, "fp16": planner.FP16, "float16": planner.FP16, "half": planner.FP16, "16": planner.FP16,
		"bf16": planner.BF16, "bfloat16": planner.BF16, "pure-fp16": planner.PureFP16, "pure-bf16": planner.PureBF16}
	optimizerWords = map[string]planner.Optimizer{"": "", "sgd": planner.SGD, "momentum": planner.Momentum, "sgd-momentum": planner.Momentum, "adam": planner.Adam, "adamw": planner.Adam,
		"adam8bit": planner.Adam8bit, "adamw8bit": planner.Adam8bit, "8bit-adam": planner.Adam8bit, "adam-8bit": planner.Adam8bit, "adamw-8bit": planner.Adam8bit, "adafactor": planner.Adafactor}
	methodWords    = map[string]planner.Method{"": "", "full": planner.FullTraining, "lora": planner.LoRA, "qlora": planner.QLoRA, "inference": planner.Inference, "infer": planner.Inference}
	attentionWords = map[string]planner.Attention{"": "", "eager": planner.Eager, "fused": planner.Fused, "flash": planner.Fused, "sdpa": planner.Fused, "flash-attention": planner.Fused}
)

// word finds a choice, or says which there are.
func word[T ~string](flag, given string, of map[string]T, choices string) (T, error) {
	if v, ok := of[strings.ReplaceAll(strings.ToLower(strings.TrimSpace(given)), "_", "-")]; ok {
		return v, nil
	}
	return "", &CallError{Reason: fmt.Sprintf("%s %s is not known", flag, given), Action: "Write one of " + choices + "."}
}

// planner turns the ask into the planner's, and refuses what cannot be meant.
func (ask AcceleratorAsk) planner() (planner.AcceleratorAsk, error) {
	var p planner.AcceleratorAsk
	m := &p.Memory
	var errs [6]error
	m.Kind, errs[0] = word("kind", ask.Kind, kindWords, "transformer, cnn, tabular, other")
	m.Precision, errs[1] = word("precision", ask.Precision, precisionWords, "fp32, amp, amp-bf16, fp16, bf16, pure-fp16, pure-bf16")
	m.Optimizer, errs[2] = word("optimizer", ask.Optimizer, optimizerWords, "sgd, momentum, adam, adam8bit, adafactor")
	m.Method, errs[3] = word("method", ask.Method, methodWords, "full, lora, qlora, inference")
	m.Attention, errs[4] = word("attention", ask.Attention, attentionWords, "fused, eager")
	m.LoRATargets, errs[5] = word("lora-targets", ask.LoRATargets, map[string]string{"": "", "qv": "qv", "all": "all", "all-linear": "all"}, "qv, all")
	for _, err := range errs {
		if err != nil {
			return p, err
		}
	}
	if err := ask.checkNumbers(); err != nil {
		return p, err
	}
	if arch, ok := planner.LookupArch(ask.Arch); ok {
		m.Model.Arch = arch.Name
	} else if ask.Arch != "" && ask.Params == 0 && ask.Layers == 0 && len(ask.Bench) == 0 {
		hint := "Give --params, or measure two batches; `sandglass accelerator --list-archs` shows what is known."
		if near := planner.SimilarArchs(ask.Arch); len(near) > 0 {
			hint = "Known and similar: " + strings.Join(near, ", ") + ". Or give --params."
		}
		return p, &CallError{Reason: "the architecture " + ask.Arch + " is not known", Action: hint}
	}
	if err := ask.checkKind(m.Kind, m.Method); err != nil {
		return p, err
	}
	mm := &m.Model
	mm.Params, mm.Layers, mm.Hidden, mm.Heads, mm.KVHeads, mm.FFN, mm.Vocab = ask.Params, ask.Layers, ask.Hidden, ask.Heads, ask.KVHeads, ask.FFN, ask.Vocab
	m.Batch, m.Seq, m.Image, m.Checkpointing, m.LoRARank, m.Rows, m.Columns = ask.Batch, ask.Seq, ask.Image, ask.Checkpointing, ask.LoRARank, ask.Rows, ask.Columns
	for _, b := range ask.Bench {
		m.Bench = append(m.Bench, planner.BenchPoint(b))
	}
	for _, s := range ask.Steps {
		p.Own = append(p.Own, planner.SpeedMeasurement{Shape: s.Shape, Seconds: s.Seconds, Step: true})
	}
	p.HoursT4, p.Tasks, p.Framework, p.Dynamic, p.Tiny, p.DICOM, p.OneProcess, p.Offered = ask.HoursT4, ask.Tasks, ask.Framework, ask.Dynamic, ask.Tiny, ask.DICOM, ask.OneProcess, slices.Clone(ask.Also)
	return p, nil
}

// checkKind refuses figures of another kind of model than the one named: the estimate would be of neither.
func (ask AcceleratorAsk) checkKind(kind planner.Kind, method planner.Method) error {
	transformer := ask.Layers > 0 || ask.Hidden > 0 || ask.Heads > 0 || ask.KVHeads > 0 || ask.FFN > 0 || ask.Vocab > 0
	arch, known := planner.LookupArch(ask.Arch)
	switch {
	case kind == "":
		return nil
	case known && arch.Kind != kind:
		return &CallError{Reason: fmt.Sprintf("%s is of the kind %s, not %s", arch.Title, arch.Kind, kind), Action: "Leave the kind out, or name another architecture."}
	case transformer && (kind == planner.KindCNN || kind == planner.KindTabular):
		return &CallError{Reason: "layers, hidden size and heads describe a transformer, and the kind is " + string(kind), Action: "Choose the kind transformer, or leave them out."}
	case kind == planner.KindTabular && (method == planner.LoRA || method == planner.QLoRA):
		return &CallError{Reason: "boosted trees have no adapters to train", Action: "Leave the method out, or choose the kind transformer."}
	case kind != planner.KindTabular && (ask.Rows > 0 || ask.Columns > 0):
		return &CallError{Reason: "rows and columns describe a table, and the kind is " + string(kind), Action: "Choose the kind tabular, or leave them out."}
	}
	return nil
}

func (ask AcceleratorAsk) checkNumbers() error {
	bad := func(what string, v any) error {
		return &CallError{Reason: fmt.Sprintf("%s: %v cannot be meant", what, v), Action: "Leave out what you do not know."}
	}
	for _, n := range []struct {
		what string
		v    float64
		most float64
	}{{"the number of parameters", ask.Params, 1e13}, {"layers", float64(ask.Layers), 1e4}, {"hidden", float64(ask.Hidden), 1e6}, {"heads", float64(ask.Heads), 1e5},
		{"kv-heads", float64(ask.KVHeads), 1e5}, {"ffn", float64(ask.FFN), 1e7}, {"vocab", float64(ask.Vocab), 1e7}, {"seq", float64(ask.Seq), 1e7}, {"batch", float64(ask.Batch), 1e7},
		{"image", float64(ask.Image), 1e5}, {"lora-rank", float64(ask.LoRARank), 1e5}, {"rows", ask.Rows, 1e12}, {"columns", ask.Columns, 1e9}, {"hours on a T4", ask.HoursT4, maxHours}, {"tasks", float64(ask.Tasks), 1e4}} {
		if !(n.v >= 0 && n.v <= n.most) {
			return bad(n.what, n.v)
		}
	}
	for _, b := range ask.Bench {
		if b.Batch < 1 || !(b.MiB > 0 && b.MiB < 1e7) {
			return bad("a measured peak", fmt.Sprintf("batch %d, %v MiB", b.Batch, b.MiB))
		}
	}
	for _, s := range ask.Steps {
		if !(s.Seconds > 0 && s.Seconds < 1e6) {
			return bad("a step time", fmt.Sprintf("%v s", s.Seconds))
		}
		if _, ok := planner.LookupShape(s.Shape); !ok {
			return &CallError{Reason: s.Shape + " is no machine that is known", Action: "Write NvidiaTeslaT4, TpuV5E8 or none."}
		}
	}
	for pool, h := range ask.LimitH {
		if !(h > 0 && h <= 168) {
			return bad("the session limit of "+pool, fmt.Sprintf("%v h", h))
		}
	}
	return nil
}
