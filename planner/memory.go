package planner

import "math"

// GiB is what memory is told in: 2^30 bytes. Cards are sold in GB of 10^9.
const GiB = 1 << 30

const mib = 1 << 20

// Precision is how weights and activations are stored while a model trains or answers.
type Precision string

// The precisions. Sources disagree about "mixed precision Adam" (12, 16 or 18 bytes a parameter) because frameworks store
// weights differently; these names say which storage is meant.
const (
	FP32    Precision = "fp32"     // everything in 32 bits: 4+4 bytes for weight and gradient
	AMP     Precision = "amp"      // torch.autocast with fp16: weights, gradients and optimiser stay 32 bits, most activations are 16
	AMPBF16 Precision = "amp-bf16" // the same with bf16
	FP16    Precision = "fp16"     // weights and gradients in 16 bits
	BF16    Precision = "bf16"     // the same with bf16
)

// Optimizer is what keeps state for every trained parameter.
type Optimizer string

// The optimisers.
const (
	SGD       Optimizer = "sgd"
	Momentum  Optimizer = "momentum"
	Adam      Optimizer = "adam" // and AdamW
	Adam8bit  Optimizer = "adam8bit"
	Adafactor Optimizer = "adafactor"
)

// Method is what part of a model is trained.
type Method string

// The methods.
const (
	FullTraining Method = "full"
	LoRA         Method = "lora"
	QLoRA        Method = "qlora"
	Inference    Method = "inference"
)

// Attention is how attention keeps its scores.
type Attention string

// The kinds of attention. Unknown ("") takes the range from fused to eager: torch's own scaled_dot_product_attention is the
// default of today's libraries, a layer written by hand is eager.
const (
	Eager Attention = "eager" // the scores of every pair of positions are stored
	Fused Attention = "fused" // flash, memory-efficient or SDPA: they are computed again instead
)

// ModelFacts describe a model. Zero is unknown, and what is unknown makes the interval wide.
type ModelFacts struct {
	Arch   string  // a name of Architectures; its facts fill in what is zero here
	Params float64 // parameters

	// Transformers.
	Layers  int
	Hidden  int
	Heads   int
	KVHeads int // fewer than Heads with grouped-query attention; 0 = Heads
	FFN     int // inner width of the feed-forward part; 0 = 4 x Hidden
	Gated   bool
	Vocab   int // size of the vocabulary whose logits are computed; 0 = by the rules of EstimateMemory
	Tied    bool

	// Convolutional networks.
	ActsM float64 // outputs of convolution and linear layers for one image of Image pixels a side, in millions
	Image int     // side of the image in pixels
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
	Pool          Pool         // what it runs on: a GPU has a context, a CPU has none; "" = GPU
}

// BenchPoint is a measured peak of device memory at a batch size.
type BenchPoint struct {
	Batch int
	MiB   float64
}

// MemoryTerm is one part of a memory estimate, in bytes. Likely lies between Low and High.
type MemoryTerm struct {
	Name              string // weights, grads, optimiser, activations, logits, kv cache, context, buffers, measured, table
	Low, Likely, High float64
	Source            string // formula and where it is from
}

// MemoryEstimate is what one device needs, as an interval. The terms add up to it.
type MemoryEstimate struct {
	Known                      bool // false: nothing is known, the figures are meaningless
	LowGiB, LikelyGiB, HighGiB float64
	SumGiB                     float64 // the likely terms before buffers: the bare formula
	Terms                      []MemoryTerm
	Basis                      string   // "bench", "formula", "architecture", "parameters", "table", "unknown"
	Assumed                    []string // what was not said and had to be assumed, in sentences
}

// EstimateMemory reckons the memory of one device.
func EstimateMemory(ask MemoryAsk) MemoryEstimate {
	return MemoryEstimate{Basis: "unknown", LowGiB: math.NaN(), LikelyGiB: math.NaN(), HighGiB: math.NaN(), SumGiB: math.NaN()}
}
