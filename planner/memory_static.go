package planner

import "fmt"

// Bytes a trained parameter keeps, by precision and optimiser. Sources: Hugging Face's single-GPU performance guide (fp32
// SGD with momentum 12, Adam 16, AMP with an fp16 copy 18, 8-bit Adam 10), ZeRO (fp16 with a 32-bit master: 2+2+12 = 16), the
// QLoRA paper's "16-bit fine-tuning" (2+2+8 = 12: 65B = 780 GB).

// weightBytes is the weight itself: under autocast it stays 4 bytes, 6 while the cached 16-bit copy lives.
func weightBytes(p Precision) triple {
	switch {
	case p.pure():
		return one(2)
	case p.half():
		return triple{2, 4, 6}
	case p.auto():
		return triple{4, 6, 6}
	}
	return one(4)
}

func gradBytes(p Precision) triple {
	switch {
	case p.pure():
		return one(2)
	case p.half():
		return triple{2, 4, 4}
	}
	return one(4)
}

// optimizerBytes is the state. Pure 16-bit training keeps it in 32 bits, with a 32-bit master copy of the weights at the
// high end. Adafactor measured close to nothing without momentum; its documentation says slightly over 4.
func optimizerBytes(o Optimizer, p Precision) triple {
	t := one(8)
	switch o {
	case SGD:
		t = one(0)
	case Momentum:
		t = one(4)
	case Adam8bit:
		t = one(2)
	case Adafactor:
		t = triple{.02, .02, 4.5}
	}
	if p.pure() {
		t.hi += 4
	}
	return t
}

// StaticBytes is what every trained parameter keeps through a training step: weight, gradient and optimiser state together,
// as low, likely and high figures.
func StaticBytes(p Precision, o Optimizer) (low, likely, high float64) {
	t := weightBytes(p).plus(gradBytes(p)).plus(optimizerBytes(o, p))
	return t.lo, t.mid, t.hi
}

// static adds weights, gradients and optimiser state.
func (e *estimator) static() {
	a, m := e.ask, e.ask.Model
	switch a.Method {
	case LoRA, QLoRA:
		e.frozen()
		n := e.adapters()
		e.add("adapters", n.times(4), "LoRA matrices, 4 bytes each")
		e.add("grads", n.times(4), "of the adapters alone, 4 bytes each")
		e.add("optimiser", n.by(optimizerBytes(a.Optimizer, FP32)), "of the adapters alone: "+string(a.Optimizer))
	case Inference:
		w := one(2)
		switch {
		case a.Precision.auto():
			w = triple{2, 4, 6}
		case !a.Precision.half() && !a.Precision.pure():
			w = one(4)
		}
		e.add("weights", w.times(m.Params), perParam("weights", w.mid, ""))
	default:
		w, g, o := weightBytes(a.Precision), gradBytes(a.Precision), optimizerBytes(a.Optimizer, a.Precision)
		e.add("weights", e.shard(3, w.times(m.Params)), perParam("weights", w.mid, precisionNote(a.Precision)))
		e.add("grads", e.shard(2, g.times(m.Params)), perParam("gradients", g.mid, ""))
		e.add("optimiser", e.shard(1, o.times(m.Params)), perParam(string(a.Optimizer), o.mid, "8 Adam, 4 momentum, 2 8-bit Adam, 0 SGD (Hugging Face, performance guide)"))
	}
}

func precisionNote(p Precision) string {
	switch {
	case p.auto():
		return "Autocast keeps them in 32 bits and caches a 16-bit copy."
	case p.half():
		return "From pure 16 bits (12 bytes in all with Adam) to autocast with its copy (18): how the weights are stored was not said."
	case p.pure():
		return "A 32-bit master copy is in the optimiser's high end."
	}
	return ""
}

// shard divides a term over devices from a ZeRO stage on: 1 the optimiser, 2 and gradients, 3 and weights.
func (e *estimator) shard(from int, t triple) triple {
	if n := e.ask.ShardDevices; n > 1 && e.ask.ShardStage >= from {
		return t.times(1 / float64(n))
	}
	return t
}

// Bytes of a 4-bit weight: NF4 is half a byte and a scale for every 64: 0.127 bits with double quantisation, 0.5 without.
const (
	nf4Double = .5 + .127/8
	nf4Plain  = .5 + .5/8
)

// frozen adds the base under LoRA. QLoRA packs the linear layers into 4 bits; embeddings and head stay 16 bits, or become
// 32 when peft prepares a model for k-bit training.
func (e *estimator) frozen() {
	a, m := e.ask, e.ask.Model
	if a.Method == LoRA {
		w := one(4)
		switch {
		case a.Precision.half(), a.Precision.pure():
			w = one(2)
		case a.Precision.auto():
			w = triple{2, 4, 4} // loaded in 16 bits, or in 32 as it comes
		}
		e.add("weights", w.times(m.Params), perParam("frozen base", w.mid, "no gradient, no optimiser state"))
		return
	}
	emb := e.embedding()
	packed := triple{m.Params - emb.hi, m.Params - emb.mid, m.Params - emb.lo}
	bytes := triple{packed.lo*nf4Double + emb.hi*2, packed.mid*nf4Double + emb.mid*2, packed.lo*nf4Plain + emb.hi*4}
	if m.Layers == 0 {
		bytes.lo = m.Params * nf4Double
	}
	bytes.lo = min(bytes.lo, bytes.mid)
	e.add("weights", bytes, "4-bit base: 0.516 to 0.563 bytes a packed parameter (QLoRA); embeddings and head stay 16 bits, 32 when prepared for k-bit training")
}

// embedding is the number of parameters in input embedding and head.
func (e *estimator) embedding() triple {
	m := e.ask.Model
	h := float64(m.Hidden)
	switch {
	case m.Vocab > 0 && h > 0:
		n := float64(m.Vocab) * h
		if !m.Tied {
			n *= 2
		}
		return one(min(n, m.Params*.9))
	case m.Layers > 0 && h > 0: // what the layers do not explain
		rest := m.Params - float64(m.Layers)*m.layerParams()
		return one(min(max(rest, 0), m.Params*.9))
	}
	return triple{0, .06, .16}.times(m.Params) // Llama-2-7B 4 %, Qwen-7B 16 %
}

// LoRAParams is the number of trained parameters of LoRA of rank r: r x (inputs + outputs) for each matrix. targets "qv" is
// the query and value projections, peft's default; "all" is every linear layer.
func LoRAParams(m ModelFacts, r int, targets string) float64 {
	h, f := float64(m.Hidden), float64(m.FFN)
	if f == 0 {
		f = 4 * h
	}
	kv := h * m.kvShare()
	sum := h + h + h + kv // q, v
	if targets == "all" {
		sum += h + kv + h + h // k, o
		sum += 2 * (h + f)
		if m.Gated {
			sum += h + f
		}
	}
	return float64(r) * sum * float64(m.Layers)
}

// adapters is the number of LoRA parameters. An unstated rank is 8 on q and v (peft's default) to 64 on every layer.
func (e *estimator) adapters() triple {
	a, m := e.ask, e.ask.Model
	if m.Layers == 0 || m.Hidden == 0 {
		e.assume("The adapters' size is not known: 0.06 to 2.4 % of the parameters are taken, as in a 7B model.")
		return triple{.0006, .006, .024}.times(m.Params)
	}
	ranks := [3]int{8, 16, 64}
	if a.LoRARank > 0 {
		ranks = [3]int{a.LoRARank, a.LoRARank, a.LoRARank}
	}
	targets := [3]string{"qv", "all", "all"}
	if a.LoRATargets != "" {
		targets = [3]string{a.LoRATargets, a.LoRATargets, a.LoRATargets}
	}
	if a.LoRARank == 0 || a.LoRATargets == "" {
		e.assume(fmt.Sprintf("Adapters: rank %d on %s to rank %d on %s.", ranks[0], targetWords(targets[0]), ranks[2], targetWords(targets[2])))
	}
	return triple{LoRAParams(m, ranks[0], targets[0]), LoRAParams(m, ranks[1], targets[1]), LoRAParams(m, ranks[2], targets[2])}
}

func targetWords(t string) string {
	if t == "all" {
		return "every linear layer"
	}
	return "query and value"
}
