package planner

import (
	"fmt"
	"math"
	"slices"
)

// LayerBytes is what one transformer layer stores for the backward pass, in bytes: in 16 bits
// s x b x h x (34 + 5 a s / h), in 32 bits s x b x h x (66 + 9 a s / h), because dropout masks stay one byte (Korthikanti et
// al., arXiv 2205.05198). With fused attention the a s / h term goes: the scores are computed again.
//
// The published formula is for as many key and value heads as query heads and a feed-forward part of 4h; its 34 are 11
// for attention, 19 for feed-forward and 4 for the norms, so other shapes replace the 6 of q, k and v and the 16 of the
// feed-forward part: 4 f/h bytes without a gate, 8 f/h with one (gate, its activation, up, product).
func LayerBytes(m ModelFacts, batch, seq float64, bits int, fused bool) float64 {
	h := float64(m.Hidden)
	if h <= 0 {
		return 0
	}
	f := float64(m.FFN)
	if f == 0 {
		f = 4 * h
	}
	values := 32 - 4*(1-m.kvShare()) // bytes in 16 bits, without the two masks
	if m.Gated {
		values += 8*f/h - 16
	} else {
		values += 4*f/h - 16
	}
	coef, scores := values+2, 5.0
	if bits == 32 {
		coef, scores = 2*values+2, 9
	}
	if fused {
		scores = 0
	}
	return seq*batch*h*coef + seq*seq*batch*float64(m.Heads)*scores
}

// activations adds what the forward pass keeps, or what inference holds.
func (e *estimator) activations() {
	switch {
	case e.ask.Kind == KindTransformer || e.ask.Model.Patch > 0:
		e.transformer()
	default:
		e.convolutions()
	}
}

// sizes are batch and sequence length, assumed where they were not said.
func (e *estimator) sizes() (batch, seq triple) {
	a, m := e.ask, e.ask.Model
	batch, seq = one(float64(a.Batch)), one(float64(a.Seq))
	if m.Patch > 0 { // a ViT: patches and a class token
		side := float64(a.Image)
		if side == 0 {
			side = float64(m.ActsSide)
		}
		if side == 0 {
			side = 224
		}
		n := math.Floor(side / float64(m.Patch))
		seq = one(n*n + 1)
	} else if a.Seq == 0 {
		seq = triple{128, 512, 1024}
		e.assume("No sequence length was given: 128 to 1,024 tokens are taken.")
	}
	if a.Batch == 0 {
		batch = triple{1, 8, 32}
		if m.Params >= 1e9 || a.Method == Inference {
			batch = triple{1, 1, 4}
		}
		e.assume(fmt.Sprintf("No batch was given: %.0f to %.0f is taken.", batch.lo, batch.hi))
	}
	return batch, seq
}

func (e *estimator) transformer() {
	a, m := e.ask, e.ask.Model
	e.basis = "formula"
	if m.Arch != "" {
		e.basis = "architecture"
	}
	shapes := [3]ModelFacts{m, m, m}
	if m.Layers == 0 || m.Hidden == 0 {
		e.basis = "parameters"
		e.assume("Layers and width are not known: they are taken from the number of parameters, for widths of 40 to 160 a layer.")
		shapes = [3]ModelFacts{typicalShape(m.Params*.8, 160), typicalShape(m.Params, 80), typicalShape(m.Params, 40)}
	}
	batch, seq := e.sizes()
	b, s := [3]float64{batch.lo, batch.mid, batch.hi}, [3]float64{seq.lo, seq.mid, seq.hi}
	if a.Method == Inference {
		e.inference(shapes, b, s)
		return
	}
	var acts [3]float64
	for i, m := range shapes {
		fused := a.Attention == Fused || (a.Attention == "" && i < 2)
		full, kept := e.layer(m, b[i], s[i], i, fused)
		n := max(float64(m.Layers), 1)
		acts[i] = n * full
		if a.Checkpointing {
			acts[i] = min(acts[i], n*kept+full)
		}
	}
	e.add("activations", ordered(acts), e.actsSource())
	e.logits(b, s)
}

// layer is what a layer keeps, and what is kept of it under checkpointing: its input, 2 s b h bytes in 16 bits.
func (e *estimator) layer(m ModelFacts, b, s float64, i int, fused bool) (full, kept float64) {
	input := s * b * float64(m.Hidden)
	k := 1.0
	switch p := e.ask.Precision; {
	case p.auto():
		k = [3]float64{1, 1.3, 1.3}[i] // autocast leaves softmax, norms and losses in 32 bits
	case p.half() && e.ask.Method == FullTraining:
		k = [3]float64{1, 1.15, 1.3}[i]
	case p.half():
		k = [3]float64{1, 1, 1.3}[i]
	case !p.pure():
		return LayerBytes(m, b, s, 32, fused), 4 * input
	}
	return k * LayerBytes(m, b, s, 16, fused), k * 2 * input
}

func (e *estimator) actsSource() string {
	s := "s b h (34 + 5 a s/h) bytes a layer in 16 bits, (66 + 9 a s/h) in 32 (Korthikanti et al.)"
	if e.ask.Precision.auto() || e.ask.Precision.half() {
		s += "; autocast up to 1.3 times the 16-bit figure (unverified)"
	}
	switch e.ask.Attention {
	case Fused:
		s += "; fused attention drops the a s/h term"
	case "":
		s += "; with fused attention at the low end, eager at the high end"
	}
	if e.ask.Checkpointing {
		s += "; checkpointing keeps 2 s b h (4 in 32 bits) a layer and one layer in full"
	}
	return s
}

// ordered puts three figures in order: a guessed shape is rounded to whole layers, which may turn two of them round.
func ordered(x [3]float64) triple {
	slices.Sort(x[:])
	return triple{x[0], x[1], x[2]}
}

// typicalShape is a transformer of that many parameters whose width is k times its layers: 12 L h^2 = P.
func typicalShape(params, k float64) ModelFacts {
	h := math.Cbrt(params * k / 12)
	m := ModelFacts{Hidden: max(int(h), 1), Layers: max(int(math.Round(h/k)), 1)}
	m.Heads = max(m.Hidden/64, 1)
	m.KVHeads, m.FFN = m.Heads, 4*m.Hidden
	return m
}

// logits adds the scores over the vocabulary and their gradient: 2 + 4 bytes a token and word (16-bit logits and the 32-bit
// copy the loss is computed from), with the gradient 8 likely, up to 14. The published QLoRA points of Qwen-7B (152k
// words) grow by 1.56 MB a token beyond 1,024, of which 0.26 is the layers' inputs.
func (e *estimator) logits(b, s [3]float64) {
	vocab := e.vocabulary()
	if vocab.hi == 0 {
		return
	}
	per := triple{6, 8, 14}
	if e.ask.Precision == FP32 {
		per = triple{8, 12, 16}
	}
	e.add("logits", vocab.by(per).by(triple{b[0] * s[0], b[1] * s[1], b[2] * s[2]}), "batch x tokens x vocabulary x 6 to 14 bytes: 16-bit logits, the 32-bit copy the loss needs, their gradient (ours; fits Qwen-7B's published points)")
}

func (e *estimator) vocabulary() triple {
	m := e.ask.Model
	h := float64(m.Hidden)
	switch {
	case m.Encoder || m.Patch > 0:
		return triple{}
	case m.Vocab > 0:
		return one(float64(m.Vocab))
	case m.Params < 1e9:
		return triple{}
	case m.Layers > 0 && h > 0:
		emb := e.embedding().mid
		low := min(max(emb/(2*h), 32000), 256000)
		return triple{low, low, min(max(emb/h, low), 256000)}
	}
	e.assume("The vocabulary is not known: 32,000 to 152,000 words are taken.")
	return triple{32000, 100000, 152000}
}

// KVBytes is the cache of keys and values for one token: 2 x layers x kv heads x head size x bytes.
func KVBytes(m ModelFacts, bytes float64) float64 {
	return 2 * float64(m.Layers) * float64(m.Hidden) * m.kvShare() * bytes
}

func (e *estimator) inference(shapes [3]ModelFacts, b, s [3]float64) {
	bytes := 2.0
	if e.ask.Precision == FP32 {
		bytes = 4
	}
	var kv, act [3]float64
	for i, m := range shapes {
		kv[i] = KVBytes(m, bytes) * b[i] * s[i]
		act[i] = LayerBytes(m, b[i], s[i], int(8*bytes), true)
	}
	if !e.ask.Model.Encoder && e.ask.Model.Patch == 0 {
		e.add("kv cache", ordered(kv), "2 x layers x kv heads x head size x bytes x tokens")
	}
	e.add("activations", ordered([3]float64{act[0] / 4, act[1] / 2, act[2]}), "of one layer at a time")
}

// Numbers stored per output of a convolution: its output, the norm's, and the activation's unless it works in place.
var storedPerOutput = triple{2, 2.5, 3}

// ampShare is what autocast stores of the 32-bit figure: 0.58 measured on a T4 (Wide-ResNet, batch 128: 4433 of 7657 MB);
// half when nothing stays in 32 bits.
var ampShare = triple{.5, .58, .65}

func (e *estimator) convolutions() {
	a := e.ask
	batch := one(float64(a.Batch))
	if a.Batch == 0 {
		batch = triple{1, 32, 64}
		e.assume("No batch was given: 1 to 64 is taken.")
	}
	per, source := e.perImage()
	if a.Method == Inference {
		e.add("activations", per.by(batch).by(triple{.1, .25, .5}), "a part of the layers at a time (our estimate); "+source)
		return
	}
	if a.Checkpointing {
		per = per.by(triple{.25, .4, .6})
		source += "; checkpointing keeps 0.25 to 0.6 of it (our estimate)"
	}
	e.add("activations", per.by(batch), source)
}

// perImage is what one image (or row) stores, in bytes.
func (e *estimator) perImage() (triple, string) {
	a, m := e.ask, e.ask.Model
	share := one(1)
	switch {
	case a.Precision.auto(), a.Precision.half():
		share = ampShare
	case a.Precision.pure():
		share = one(.5)
	}
	if m.ActsM == 0 {
		e.basis = "parameters"
		e.assume("Only the number of parameters is known: networks store 0.1 to 4.4 numbers a parameter and image, so the interval is wide. Measure two batches, or name the architecture.")
		return triple{.1, .5, 4.4}.times(m.Params * 4).by(storedPerOutput).by(share), "0.1 to 4.4 layer outputs a parameter and image, the span of timm's networks"
	}
	e.basis = "architecture"
	scale := 1.0
	if a.Image > 0 && m.ActsSide > 0 {
		scale = float64(a.Image) * float64(a.Image) / (float64(m.ActsSide) * float64(m.ActsSide))
	}
	per := storedPerOutput.times(4 * m.ActsM * 1e6)
	source := fmt.Sprintf("%.4g million layer outputs an image of %d pixels x 2 to 3 stored x bytes", m.ActsM, m.ActsSide)
	if lo, hi, ok := m.fitted(); ok { // of AMP; brought to 32 bits, so that every precision uses it
		per.lo = max(per.lo, lo/ampShare.hi)
		per.hi = max(min(per.hi, hi/ampShare.lo), per.lo)
		per.mid = math.Sqrt(per.lo * per.hi)
		source += fmt.Sprintf(", narrowed by timm's training benchmark: a batch of %d fits 24 GiB with AMP", m.FitAMP24)
	}
	return per.by(share).times(scale), source
}

// benchBatches are the batches timm's benchmark tries, downwards from 512, until one fits.
var benchBatches = []int{512, 384, 256, 192, 128, 96, 64, 48, 32, 24, 16, 12, 8}

// fitted brackets the bytes of one image under AMP from timm's training benchmark (RTX 3090, 24 GiB, SGD with momentum):
// the batch that fitted used at most what the card has less weights and context, and the next larger one used more even
// with a sixth of it in buffers.
func (m ModelFacts) fitted() (lo, hi float64, ok bool) {
	if m.FitAMP24 <= 0 || m.Params <= 0 {
		return 0, 0, false
	}
	const card = 23.7 * GiB
	static := 12 * m.Params
	hi = (card - static - 1*GiB) / float64(m.FitAMP24)
	for i, b := range benchBatches {
		if b == m.FitAMP24 && i > 0 {
			lo = max((card/1.2-static-1.4*GiB)/float64(benchBatches[i-1]), 0)
		}
	}
	return lo, hi, hi > 0
}
