package planner

import (
	"fmt"
	"slices"
	"strings"
)

// GiB is what memory is told in: 2^30 bytes. Cards are sold in GB of 10^9.
const GiB = 1 << 30

const mib = 1 << 20

// Precision is how weights and activations are stored while a model trains or answers.
type Precision string

// The precisions. Sources disagree about "mixed precision Adam" (12, 16 or 18 bytes a parameter) because frameworks store
// weights differently. Most of these names say which storage is meant; FP16 and BF16 do not, and take the range. "" is the
// usual one of the method: autocast for full training, a 16-bit base under LoRA, QLoRA and for inference.
const (
	FP32     Precision = "fp32"      // everything in 32 bits
	AMP      Precision = "amp"       // torch.autocast with fp16: weights, gradients and optimiser stay 32 bits, most activations are 16
	AMPBF16  Precision = "amp-bf16"  // the same with bf16
	FP16     Precision = "fp16"      // 16 bits, from pure to autocast; the frozen base of LoRA is 2 bytes
	BF16     Precision = "bf16"      // the same with bf16
	PureFP16 Precision = "pure-fp16" // weights and gradients in 16 bits, optimiser in 32
	PureBF16 Precision = "pure-bf16" // the same with bf16
)

func (p Precision) pure() bool { return p == PureFP16 || p == PureBF16 }

// half: computes in 16 bits without saying how the weights are stored.
func (p Precision) half() bool { return p == FP16 || p == BF16 }

func (p Precision) auto() bool { return p == AMP || p == AMPBF16 }

func (p Precision) isBF16() bool { return p == BF16 || p == AMPBF16 || p == PureBF16 }

// Optimizer is what keeps state for every trained parameter. "" is Adam.
type Optimizer string

// The optimisers.
const (
	SGD       Optimizer = "sgd"
	Momentum  Optimizer = "momentum"
	Adam      Optimizer = "adam" // and AdamW
	Adam8bit  Optimizer = "adam8bit"
	Adafactor Optimizer = "adafactor"
)

// Method is what part of a model is trained. "" is FullTraining.
type Method string

// The methods.
const (
	FullTraining Method = "full"
	LoRA         Method = "lora"
	QLoRA        Method = "qlora"
	Inference    Method = "inference"
)

// Attention is how attention keeps its scores. Unknown ("") takes the range from fused to eager, fused being the likely one:
// torch's scaled_dot_product_attention is the default of today's libraries, a layer written by hand is eager.
type Attention string

// The kinds of attention.
const (
	Eager Attention = "eager" // the scores of every pair of positions are stored
	Fused Attention = "fused" // flash, memory-efficient or SDPA: they are computed again instead
)

// ModelFacts describe a model. Zero is unknown, and what is unknown makes the interval wide.
type ModelFacts struct {
	Arch   string  // a name LookupArch knows; its facts fill in what is zero here
	Params float64 // parameters

	// Transformers.
	Layers  int
	Hidden  int
	Heads   int
	KVHeads int  // fewer than Heads with grouped-query attention; 0 = Heads
	FFN     int  // inner width of the feed-forward part; 0 = 4 x Hidden
	Gated   bool // the feed-forward part has a gate (SwiGLU), so three matrices
	Vocab   int  // size of the vocabulary whose logits are computed; 0 = see EstimateMemory
	Tied    bool // input and output embedding are one matrix
	Encoder bool // no language-model head: classification, regression, embedding
	Patch   int  // side of a ViT's patch in pixels

	// Convolutional networks.
	ActsM    float64 // outputs of convolution and linear layers for one image of ActsImage pixels a side, in millions
	ActsSide int
	FitAMP24 int // batch at that size that trained with AMP on a 24 GiB card in timm's benchmark; see Arch
}

// MemoryAsk asks what one device needs for a model.
type MemoryAsk struct {
	Kind          Kind
	Model         ModelFacts
	Batch, Seq    int
	Image         int // side of the images in pixels; 0 = what the architecture's facts are for
	Precision     Precision
	Optimizer     Optimizer
	Method        Method
	Checkpointing bool
	Attention     Attention
	LoRARank      int
	LoRATargets   string // "qv" or "all"; "" = from one to the other
	ShardStage    int    // ZeRO: 1 optimiser, 2 and gradients, 3 and weights over ShardDevices
	ShardDevices  int
	Bench         []BenchPoint // measured peaks; they win over every formula
	Rows, Columns float64      // of a table
	Pool          Pool         // what it runs on: a GPU has a context, a CPU none; "" = GPU
}

// BenchPoint is a measured peak of device memory at a batch size.
type BenchPoint struct {
	Batch int
	MiB   float64
}

// MemoryTerm is one part of a memory estimate, in bytes. Low <= Likely <= High.
type MemoryTerm struct {
	Name              string // weights, grads, optimiser, activations, logits, kv cache, context, buffers, measured, table
	Low, Likely, High float64
	Source            string // formula and where it is from
}

// MemoryEstimate is what one device needs, as an interval. The terms add up to it.
type MemoryEstimate struct {
	Known                      bool // false: nothing is known, the figures are zero and meaningless
	LowGiB, LikelyGiB, HighGiB float64
	SumGiB                     float64 // the likely terms before buffers: the bare formula
	Terms                      []MemoryTerm
	Basis                      string   // "bench", "formula", "architecture", "parameters", "table", "unknown"
	Assumed                    []string // what was not said and had to be assumed, in sentences
}

// Bounds of what is counted: beyond them a figure is a typing error, and sums stay finite.
const (
	maxParams = 1e14
	maxCount  = 1 << 24
)

// EstimateMemory reckons the memory of one device, by the first of these that is possible:
//
//   - a bench: mem = m0 + m1 x batch through the measured peaks;
//   - a table's rows and columns;
//   - the formulas, from the architecture's facts and what the ask says of the model;
//   - the number of parameters alone, which gives a wide interval.
//
// The sum of the likely terms is the bare formula. Allocator, fragmentation and workspaces come on top: nothing at the low
// end, 10 % likely, 20 % at the high end. (BERT-large in fp32 measured 14.3 % and 7 % over the formula; accelerate's
// estimator says to add up to 20 %.)
//
// Logits are counted for a language model: the vocabulary as said, or for a model of 10^9 parameters and more what its
// layers do not explain of its parameters. A smaller model without a stated vocabulary is taken to have no such head.
func EstimateMemory(ask MemoryAsk) MemoryEstimate {
	ask = ask.clean()
	e := &estimator{ask: ask}
	switch {
	case e.bench():
	case ask.Kind == KindTabular:
		e.table()
	case ask.Model.Params > 0:
		e.static()
		e.activations()
		e.context()
	}
	return e.done()
}

// estimator collects terms.
type estimator struct {
	ask     MemoryAsk
	terms   []MemoryTerm
	basis   string
	assumed []string
	exact   bool // no buffers on top
}

// triple is a low, a likely and a high value.
type triple struct{ lo, mid, hi float64 }

func one(x float64) triple              { return triple{x, x, x} }
func (t triple) times(x float64) triple { return triple{t.lo * x, t.mid * x, t.hi * x} }
func (t triple) by(u triple) triple     { return triple{t.lo * u.lo, t.mid * u.mid, t.hi * u.hi} }
func (t triple) plus(u triple) triple   { return triple{t.lo + u.lo, t.mid + u.mid, t.hi + u.hi} }
func (e *estimator) assume(s string)    { e.assumed = append(e.assumed, s) }

func (e *estimator) add(name string, t triple, source string) {
	if t.hi > 0 {
		e.terms = append(e.terms, MemoryTerm{name, t.lo, t.mid, t.hi, source})
	}
}

func (e *estimator) done() MemoryEstimate {
	out := MemoryEstimate{Basis: "unknown", Assumed: e.assumed}
	if len(e.terms) == 0 {
		return out
	}
	var sum triple
	for _, t := range e.terms {
		sum = sum.plus(triple{t.Low, t.Likely, t.High})
	}
	out.SumGiB = sum.mid / GiB
	if !e.exact {
		e.add("buffers", sum.by(triple{0, .1, .2}), "allocator, fragmentation and workspaces: 10 % likely, up to 20 % (accelerate's estimator; BERT-large on a V100 measured 7 to 14 % over the formula)")
		sum = sum.by(triple{1, 1.1, 1.2})
	}
	out.Known, out.Basis, out.Terms = true, e.basis, e.terms
	out.LowGiB, out.LikelyGiB, out.HighGiB = sum.lo/GiB, sum.mid/GiB, sum.hi/GiB
	return out
}

// clean fills in an architecture's facts and takes nonsense for unknown.
func (a MemoryAsk) clean() MemoryAsk {
	m := &a.Model
	if arch, ok := LookupArch(m.Arch); ok {
		arch.fill(m)
		a.Kind = arch.Kind
	}
	for _, n := range []*int{&a.Batch, &a.Seq, &a.Image, &a.LoRARank, &a.ShardDevices, &m.Layers, &m.Hidden, &m.Heads, &m.KVHeads, &m.FFN, &m.Vocab, &m.Patch, &m.ActsSide, &m.FitAMP24} {
		*n = min(max(*n, 0), maxCount)
	}
	for _, x := range []*float64{&m.Params, &m.ActsM, &a.Rows, &a.Columns} {
		if !(*x > 0) { // also NaN
			*x = 0
		}
		*x = min(*x, maxParams)
	}
	if m.KVHeads == 0 || m.KVHeads > m.Heads {
		m.KVHeads = m.Heads
	}
	if m.FFN == 0 {
		m.FFN = 4 * m.Hidden
	}
	if m.Params == 0 {
		m.Params = m.countParams()
	}
	if a.Pool == "" {
		a.Pool = GPU
	}
	if a.Method == "" {
		a.Method = FullTraining
	}
	if a.Optimizer == "" {
		a.Optimizer = Adam
	}
	if a.Precision == "" {
		a.Precision = AMP
		if a.Method != FullTraining {
			a.Precision = FP16
		}
		if a.Pool == CPU {
			a.Precision = FP32
		}
	}
	return a
}

// countParams is the size of a transformer from its shape: attention 2h^2 (q and o) and 2h x kv (k and v), feed-forward 2 or
// 3 matrices, embeddings. 0 when the shape is not known.
func (m ModelFacts) countParams() float64 {
	if m.Layers == 0 || m.Hidden == 0 {
		return 0
	}
	h := float64(m.Hidden)
	n := float64(m.Layers) * m.layerParams()
	switch {
	case m.Vocab == 0:
	case m.Tied || m.Encoder:
		n += float64(m.Vocab) * h
	default:
		n += 2 * float64(m.Vocab) * h
	}
	return n
}

func (m ModelFacts) layerParams() float64 {
	h, f := float64(m.Hidden), float64(m.FFN)
	if f == 0 {
		f = 4 * h
	}
	mats := 2.0
	if m.Gated {
		mats = 3
	}
	return 2*h*h + 2*h*h*m.kvShare() + mats*h*f
}

// kvShare is the width of keys and values as a share of the hidden width.
func (m ModelFacts) kvShare() float64 {
	if m.Heads == 0 || m.KVHeads == 0 {
		return 1
	}
	return float64(m.KVHeads) / float64(m.Heads)
}

// bench fits measured peaks. One point gives no slope: only that batch and smaller ones can be told.
func (e *estimator) bench() bool {
	pts := slices.DeleteFunc(slices.Clone(e.ask.Bench), func(p BenchPoint) bool { return p.Batch < 1 || p.Batch > maxCount || !(p.MiB > 0) || p.MiB > 1e9 })
	if len(pts) == 0 {
		return false
	}
	e.basis, e.exact = "bench", true
	m0, m1 := FitBench(pts)
	b := float64(e.ask.Batch)
	if b == 0 {
		b = float64(pts[len(pts)-1].Batch)
		e.assume(fmt.Sprintf("No batch was given: %.0f, the last one measured, is taken.", b))
	}
	if m1 <= 0 { // one batch size, or noise
		peak := 0.0
		for _, p := range pts {
			peak = max(peak, p.MiB)
		}
		first := float64(pts[0].Batch)
		e.assume("One batch size alone tells no slope: measure a second one.")
		// Between "all of it is fixed" and "all of it grows with the batch".
		lo, hi := peak, peak*b/first
		lo, hi = min(lo, hi), max(lo, hi)
		e.add("measured", triple{lo * .95, (lo + hi) / 2, hi * 1.05}.times(mib), "one measured peak, scaled from not at all to in proportion with the batch")
		return true
	}
	far := 0.05
	if maxBatch := slices.MaxFunc(pts, func(a, b BenchPoint) int { return a.Batch - b.Batch }).Batch; b > 2*float64(maxBatch) {
		far = .1
		e.assume("The batch is more than twice the largest measured one.")
	}
	v := max(m0, 0) + m1*b
	e.add("measured", triple{v * .95, v, v * (1 + far)}.times(mib), fmt.Sprintf("%.0f + %.1f x batch MiB, fitted through %d measured peaks", m0, m1, len(pts)))
	return true
}

// FitBench fits mem = m0 + m1 x batch by least squares, in MiB. m1 is 0 when there are not two different batches. A negative
// slope is noise and given as 0.
func FitBench(pts []BenchPoint) (m0, m1 float64) {
	var n, sx, sy, sxx, sxy float64
	for _, p := range pts {
		x := float64(p.Batch)
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+p.MiB, sxx+x*x, sxy+x*p.MiB
	}
	if n == 0 {
		return 0, 0
	}
	d := n*sxx - sx*sx
	if d <= 0 {
		return sy / n, 0
	}
	m1 = max((n*sxy-sx*sy)/d, 0)
	return (sy - m1*sx) / n, m1
}

// table is the memory of boosted trees on a table: the frame itself in 8 bytes a cell, and up to three copies while it is
// read, split and binned (ours; histograms of one byte a cell are within that).
func (e *estimator) table() {
	if cells := e.ask.Rows * e.ask.Columns; cells > 0 {
		e.basis = "table"
		e.add("table", triple{1.25, 2.5, 4}.times(8*cells), "rows x columns x 8 bytes, and 1 to 4 copies of it while it is read, split and binned (our rule)")
		e.context()
	}
}

// context is what a process takes before it holds a model.
func (e *estimator) context() {
	switch e.ask.Pool {
	case CPU:
		e.add("context", triple{.3, .6, 1.5}.times(GiB), "Python and its libraries in main memory (our estimate)")
	case TPU:
		e.add("context", triple{0, .1, .25}.times(GiB), "what libtpu keeps back of 16 GiB: about 0.25 GiB (unverified)")
	default:
		if e.ask.Kind == KindTabular {
			return
		}
		e.add("context", triple{1024, 1343, 1434}.times(mib), "CUDA context and kernels: 1.0 to 1.4 GiB; 1343 MiB measured on a V100 (Hugging Face, performance guide)")
	}
}

func perParam(what string, n float64, why string) string {
	return strings.TrimSpace(fmt.Sprintf("%s: %.3g bytes a parameter. %s", what, n, why))
}
