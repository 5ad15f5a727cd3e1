package planner

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func hp(x float64) *float64 { return &x }

// week is an account with quota: GPU and TPU hours left, a reset three days away.
func weekOf(gpu, tpu float64) (PoolState, PoolState) {
	return PoolState{LeftH: hp(gpu), TotalH: hp(30), ResetInH: hp(72)}, PoolState{LeftH: hp(tpu), TotalH: hp(20), ResetInH: hp(72)}
}

func find(t *testing.T, out []AcceleratorOption, shape string) AcceleratorOption {
	t.Helper()
	for _, o := range out {
		if o.Shape == shape {
			return o
		}
	}
	t.Fatalf("%s is not among the options", shape)
	return AcceleratorOption{}
}

func order(out []AcceleratorOption) string {
	var s []string
	for _, o := range out {
		s = append(s, Describe(o.Shape))
	}
	return strings.Join(s, ", ")
}

func says(list []string, part string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, part) })
}

// B2: five folds of 2 h, a chip worth five T4s, a queue of 13 h or 2 h.
func TestFinishOracle(t *testing.T) {
	for _, tt := range []struct{ queue, want float64 }{{13, 13.73}, {2, 2.73}} {
		ask := AcceleratorAsk{Memory: MemoryAsk{Kind: KindCNN}, HoursT4: 2, Tasks: 5}
		ask.GPU, ask.TPU = weekOf(30, 20)
		ask.Own = []SpeedMeasurement{{"NvidiaTeslaT4", .5, true}, {"TpuV5E8", .1, true}}
		for range 5000 { // so many own waits that nothing of the prior is left
			ask.TPU.WaitsH = append(ask.TPU.WaitsH, tt.queue)
		}
		out := RankAccelerators(ask)
		gpu, tpu := find(t, out, "NvidiaTeslaT4"), find(t, out, "TpuV5E8")
		closeTo(t, "GPU finish", gpu.FinishH.Likely, 6.05, 1e-9)
		closeTo(t, "GPU hours", gpu.QuotaH.Likely, 6.05, 1e-9)
		closeTo(t, "GPU left", *gpu.LeftAfterH, 23.95, 1e-9)
		closeTo(t, "TPU finish", tpu.FinishH.Likely, tt.want, .003)
		closeTo(t, "TPU hours", tpu.QuotaH.Likely, .7333, .001)
		if tpu.Speed.Basis != BasisMeasured || tpu.Workers != 8 || tpu.Waves != 1 || gpu.Waves != 3 {
			t.Errorf("%+v", tpu)
		}
		if first := out[0].Shape; (first == "TpuV5E8") != (tt.queue == 2) {
			t.Errorf("queue %g h: %s", tt.queue, order(out))
		}
	}
}

func TestRanking(t *testing.T) {
	cnn := MemoryAsk{Model: ModelFacts{Arch: "convnext_tiny"}, Image: 384, Batch: 32}
	tests := []struct {
		name   string
		ask    func(a *AcceleratorAsk)
		first  string // "" = any
		last   string
		reason map[string]string // shape: part of a reason or doubt
	}{
		{"five folds of two hours", func(a *AcceleratorAsk) { a.Memory, a.HoursT4, a.Tasks = cnn, 2, 5 }, "NvidiaTeslaT4", "none",
			map[string]string{"NvidiaTeslaT4": "3 waves, the last with one card idle", "TpuV5E8": "All 5 tasks at once", "none": "times slower"}},
		{"nothing but the kind", func(a *AcceleratorAsk) { a.Memory.Kind = KindTransformer }, "NvidiaTeslaT4", "none",
			map[string]string{"NvidiaTeslaT4": "say what one takes on a T4", "TpuV5E8": "say what one takes on a T4"}},
		{"the GPU quota is gone", func(a *AcceleratorAsk) { a.Memory, a.HoursT4, a.Tasks, a.GPU.LeftH = cnn, 2, 5, hp(0) }, "TpuV5E8", "none",
			map[string]string{"NvidiaTeslaT4": "used up", "TpuV5E8": "The GPU quota is gone"}},
		{"the same without hours", func(a *AcceleratorAsk) { a.Memory.Kind, a.GPU.LeftH = KindCNN, hp(0) }, "TpuV5E8", "none", nil},
		{"longer than a GPU session", func(a *AcceleratorAsk) { a.Memory, a.HoursT4, a.Tasks = cnn, 10, 8 }, "TpuV5E8", "none",
			map[string]string{"NvidiaTeslaT4": "Longer than one session", "TpuV5E8": "one TPU session holds it"}},
		{"boosting", func(a *AcceleratorAsk) {
			a.Memory.Kind, a.Framework, a.HoursT4, a.Tasks = KindTabular, "lightgbm", .5, 5
		}, "none", "TpuV5E8",
			map[string]string{"none": "Boosted trees belong on the CPU", "TpuV5E8": "no LightGBM"}},
		{"a table, nothing more", func(a *AcceleratorAsk) { a.Memory.Kind = KindTabular }, "none", "TpuV5E8", nil},
		{"scikit-learn", func(a *AcceleratorAsk) { a.Memory.Kind, a.Framework = KindOther, "sklearn" }, "none", "TpuV5E8",
			map[string]string{"NvidiaTeslaT4": "computes on the CPU"}},
		{"dynamic shapes", func(a *AcceleratorAsk) { a.Memory, a.HoursT4, a.Tasks, a.Dynamic = cnn, 2, 5, true }, "NvidiaTeslaT4", "",
			map[string]string{"TpuV5E8": "do not suit a TPU"}},
		{"QLoRA", func(a *AcceleratorAsk) {
			a.Memory = MemoryAsk{Kind: KindTransformer, Model: ModelFacts{Arch: "qwen-7b"}, Method: QLoRA, Seq: 1024, Batch: 1, Checkpointing: true}
		}, "NvidiaTeslaT4", "", map[string]string{"TpuV5E8": "bitsandbytes", "none": "need a GPU"}},
		{"flash-attn", func(a *AcceleratorAsk) { a.Memory.Kind, a.Framework = KindTransformer, "torch,flash-attn" }, "NvidiaTeslaT4", "",
			map[string]string{"NvidiaTeslaT4": "needs an Ampere card", "TpuV5E8": "flash-attn is CUDA code"}},
		{"bf16", func(a *AcceleratorAsk) { a.Memory.Kind, a.Memory.Precision = KindTransformer, BF16 }, "", "",
			map[string]string{"NvidiaTeslaT4": "4.3 times slower"}},
		{"fp16 on a TPU", func(a *AcceleratorAsk) { a.Memory.Kind, a.Memory.Precision = KindTransformer, FP16 }, "", "",
			map[string]string{"TpuV5E8": "bf16, not fp16"}},
		{"one process", func(a *AcceleratorAsk) { a.Memory.Kind, a.Tasks = KindCNN, 1 }, "", "",
			map[string]string{"NvidiaTeslaT4": "second T4 stays idle", "TpuV5E8": "other 7 stay idle"}},
		{"DICOM", func(a *AcceleratorAsk) { a.Memory.Kind, a.DICOM = KindCNN, true }, "", "", map[string]string{"TpuV5E8": "cannot decode DICOM"}},
		{"TensorFlow", func(a *AcceleratorAsk) { a.Memory.Kind, a.Framework = KindCNN, "tensorflow" }, "NvidiaTeslaT4", "TpuV5E8",
			map[string]string{"TpuV5E8": "CPU only"}},
		{"JAX", func(a *AcceleratorAsk) { a.Memory.Kind, a.Framework = KindCNN, "jax" }, "", "", map[string]string{"TpuV5E8": "as it is"}},
		{"the reset is near", func(a *AcceleratorAsk) {
			a.Memory, a.HoursT4, a.Tasks, a.GPU.ResetInH, a.TPU.ResetInH = cnn, 1, 2, hp(5), hp(5)
		}, "NvidiaTeslaT4", "",
			map[string]string{"NvidiaTeslaT4": "expire", "TpuV5E8": "next week's hours"}},
		{"the TPU slot is taken", func(a *AcceleratorAsk) {
			a.Memory, a.HoursT4, a.Tasks, a.TPU.Busy, a.TPU.FreeInH = cnn, 2, 5, 1, hp(6)
		}, "NvidiaTeslaT4", "",
			map[string]string{"TpuV5E8": "slot is taken"}},
		{"too large for a card", func(a *AcceleratorAsk) {
			a.Memory = MemoryAsk{Kind: KindTransformer, Model: ModelFacts{Arch: "bert-large"}, Batch: 64, Seq: 512, Precision: AMP}
		}, "", "",
			map[string]string{"NvidiaTeslaT4": "It fits with batch", "TpuV5E8": "too much"}},
		{"the quota does not suffice", func(a *AcceleratorAsk) { a.Memory, a.HoursT4, a.Tasks, a.GPU.LeftH = cnn, 2, 5, hp(4) }, "", "",
			map[string]string{"NvidiaTeslaT4": "too few"}},
		{"P100 still offered", func(a *AcceleratorAsk) { a.Memory, a.HoursT4, a.Offered = cnn, 2, []string{"NvidiaTeslaP100"} }, "", "",
			map[string]string{"NvidiaTeslaP100": "no longer hands it out"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var ask AcceleratorAsk
			ask.GPU, ask.TPU = weekOf(17.5, 20)
			tt.ask(&ask)
			out := RankAccelerators(ask)
			if got := out[0].Shape; tt.first != "" && got != tt.first {
				t.Errorf("order: %s", order(out))
			}
			if got := out[len(out)-1].Shape; tt.last != "" && got != tt.last {
				t.Errorf("order: %s", order(out))
			}
			for shape, part := range tt.reason {
				if o := find(t, out, shape); !says(o.Reasons, part) && !says(o.Doubts, part) {
					t.Errorf("%s does not say %q:\n%s\n%s", shape, part, strings.Join(o.Reasons, "\n"), strings.Join(o.Doubts, "\n"))
				}
			}
			for _, o := range out {
				checkOption(t, o)
			}
		})
	}
}

// Without hours no burn and no finish is made up.
func TestHoursUnknown(t *testing.T) {
	ask := AcceleratorAsk{Memory: MemoryAsk{Kind: KindCNN}}
	ask.GPU, ask.TPU = weekOf(30, 20)
	for _, o := range RankAccelerators(ask) {
		if o.FinishH != nil || o.TaskH != nil || o.LeftAfterH != nil || o.Affordable != nil || (o.QuotaH != nil) != (o.Pool == CPU) {
			t.Errorf("%s: %+v", o.Shape, o)
		}
	}
}

// Own runs of the same job replace the prior; the answer says which it was.
func TestOwnHistory(t *testing.T) {
	ask := AcceleratorAsk{Memory: MemoryAsk{Kind: KindCNN}, Tasks: 4, OwnTasksH: map[string][]float64{"NvidiaTeslaT4": {1.8, 2, 2.4}}}
	ask.GPU, ask.TPU = weekOf(30, 20)
	out := RankAccelerators(ask)
	gpu, tpu := find(t, out, "NvidiaTeslaT4"), find(t, out, "TpuV5E8")
	if gpu.HoursBasis != BasisHistory || gpu.TaskH.Likely != 2 || gpu.TaskH.High != 2.4 || tpu.Speed.Basis != BasisPrior || tpu.HoursBasis != BasisHistory {
		t.Errorf("%+v\n%+v", gpu, tpu)
	}
	ask.OwnTasksH["TpuV5E8"] = []float64{.5}
	tpu = find(t, RankAccelerators(ask), "TpuV5E8")
	if tpu.Speed.Basis != BasisHistory || math.Abs(tpu.Speed.Ratio-4) > 1e-9 || tpu.TaskH.Likely != .5 {
		t.Errorf("%+v", tpu)
	}
	delete(ask.OwnTasksH, "NvidiaTeslaT4") // a T4's time from a TPU's, through the prior
	gpu = find(t, RankAccelerators(ask), "NvidiaTeslaT4")
	if gpu.TaskH == nil || math.Abs(gpu.TaskH.Likely-1.25) > 1e-9 || gpu.TaskH.Low >= gpu.TaskH.High {
		t.Errorf("%+v", gpu.TaskH)
	}
}

func TestSessionSplit(t *testing.T) {
	ask := AcceleratorAsk{Memory: MemoryAsk{Kind: KindCNN}, HoursT4: 10, Tasks: 6}
	out := RankAccelerators(ask)
	gpu := find(t, out, "NvidiaTeslaT4")
	// 3 waves of 10 h: three sessions of at most 12 h.
	if gpu.Sessions != 3 || math.Abs(gpu.QuotaH.Likely-30.15) > 1e-9 {
		t.Errorf("%d sessions, %g h", gpu.Sessions, gpu.QuotaH.Likely)
	}
	ask.GPU.LimitH = 9
	if gpu = find(t, RankAccelerators(ask), "NvidiaTeslaT4"); gpu.Sessions != 4 {
		t.Errorf("with a limit of 9 h: %d sessions", gpu.Sessions)
	}
}

// Each change that is proposed is reckoned, and makes it fit.
func TestChangesFit(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	seen := 0
	for range 1500 {
		a := randomMemoryAsk(r)
		a.Pool = GPU
		e := EstimateMemory(a)
		if !e.Known || e.LikelyGiB <= 14.6 {
			continue
		}
		for _, c := range changesToFit(a, 14.6, 2) {
			seen++
			got := EstimateMemory(c.Ask)
			if got.LikelyGiB > 14.6 || got.LowGiB != c.LowGiB || c.Text == "" {
				t.Fatalf("%q of %+v: %g GiB", c.Text, a, got.LikelyGiB)
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d changes were looked at", seen)
	}
}

func checkOption(t *testing.T, o AcceleratorOption) {
	t.Helper()
	inOrder := func(what string, r *Range) {
		if r != nil && !(0 <= r.Low && r.Low <= r.Likely && r.Likely <= r.High && !math.IsInf(r.High, 0)) {
			t.Fatalf("%s %s: %+v", o.Shape, what, *r)
		}
	}
	inOrder("finish", o.FinishH)
	inOrder("quota", o.QuotaH)
	inOrder("task", o.TaskH)
	inOrder("queue", &o.QueueH)
	if o.Fits && (!o.Runs || o.Fit == FitNo) || math.IsNaN(o.score) {
		t.Fatalf("%+v", o)
	}
	if len(o.Reasons)+len(o.Doubts) == 0 {
		t.Fatalf("%s says nothing", o.Shape)
	}
	for _, s := range slices.Concat(o.Reasons, o.Doubts) {
		if !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, ")") || strings.Contains(s, "%!") || strings.Contains(s, "NaN") || strings.Contains(s, "Inf") {
			t.Fatalf("%s: %q", o.Shape, s)
		}
	}
}

func randomJob(r *rand.Rand) AcceleratorAsk {
	odd := func() float64 {
		return []float64{0, 1, .5, 30, 1e9, -1, math.NaN(), math.Inf(1)}[r.IntN(8)]
	}
	some := func() *float64 {
		if r.IntN(3) == 0 {
			return nil
		}
		return hp(40 * r.Float64())
	}
	a := AcceleratorAsk{Memory: randomMemoryAsk(r), Tasks: r.IntN(40) - 2, Dynamic: r.IntN(4) == 0, Tiny: r.IntN(4) == 0, DICOM: r.IntN(4) == 0, OneProcess: r.IntN(4) == 0,
		Framework: []string{"", "torch", "jax", "tf", "lightgbm", "sklearn", "torch,flash-attn", "keras", ",,", "x"}[r.IntN(10)]}
	a.HoursT4 = []float64{0, 20 * r.Float64(), odd()}[r.IntN(3)]
	a.GPU, a.TPU = PoolState{some(), some(), some(), r.IntN(4), some(), []float64{odd(), r.Float64()}, 0}, PoolState{some(), some(), some(), r.IntN(3), some(), []float64{odd(), 9 * r.Float64()}, 0}
	if r.IntN(4) == 0 {
		a.Offered = []string{"NvidiaTeslaP100", "NvidiaL4", "", "Nonsense", "TpuV5E1"}
	}
	if r.IntN(3) == 0 {
		a.OwnTasksH = map[string][]float64{"NvidiaTeslaT4": {r.Float64(), odd()}, "TpuV5E8": {odd()}, "none": {r.Float64()}}
	}
	if r.IntN(3) == 0 {
		a.Own = []SpeedMeasurement{{"NvidiaTeslaT4", odd(), true}, {"TpuV5E8", r.Float64(), true}, {"none", odd(), false}}
	}
	return a
}

// More quota never ranks a machine lower, and no ask makes nonsense.
func TestRankingProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		a := randomJob(r)
		out := RankAccelerators(a)
		for _, o := range out {
			checkOption(t, o)
		}
		for _, x := range []struct {
			shape string
			pool  func(*AcceleratorAsk) *PoolState
		}{{"NvidiaTeslaT4", func(a *AcceleratorAsk) *PoolState { return &a.GPU }}, {"TpuV5E8", func(a *AcceleratorAsk) *PoolState { return &a.TPU }}} {
			p := x.pool(&a)
			if p.LeftH == nil {
				continue
			}
			place := func(out []AcceleratorOption) int {
				return slices.IndexFunc(out, func(o AcceleratorOption) bool { return o.Shape == x.shape })
			}
			b := a
			x.pool(&b).LeftH = hp(*p.LeftH + 10*r.Float64())
			if was, is := place(out), place(RankAccelerators(b)); is > was {
				t.Fatalf("%s: place %d with %g h, %d with %g h: %+v", x.shape, was, *p.LeftH, is, *x.pool(&b).LeftH, a)
			}
		}
	}
}

func FuzzRankAccelerators(f *testing.F) {
	f.Add(uint64(1), "transformer", "bert-large", 335e6, 24, 1024, 16, 512, 8, 2., 5, "torch")
	f.Add(uint64(2), "tabular", "", 0., 0, 0, 0, 0, 0, -1., -3, "lightgbm,,")
	f.Add(uint64(3), "cnn", "unet", math.Inf(1), -1, 1<<40, 7, -9, 1<<50, math.NaN(), 1<<40, "\x00")
	f.Fuzz(func(t *testing.T, seed uint64, kind, arch string, params float64, layers, hidden, heads, seq, batch int, hours float64, tasks int, framework string) {
		a := randomJob(rand.New(rand.NewPCG(seed, 0)))
		a.Memory.Kind, a.Memory.Model.Arch, a.Memory.Model.Params = Kind(kind), arch, params
		a.Memory.Model.Layers, a.Memory.Model.Hidden, a.Memory.Model.Heads = layers, hidden, heads
		a.Memory.Seq, a.Memory.Batch, a.HoursT4, a.Tasks, a.Framework = seq, batch, hours, tasks, framework
		out := RankAccelerators(a)
		if len(out) < 3 {
			t.Fatalf("%d options", len(out))
		}
		for _, o := range out {
			checkOption(t, o)
			checkEstimate(t, a.Memory, o.Memory)
		}
	})
}

// What cannot be recommended as it is comes with the change that helps.
func TestVerdict(t *testing.T) {
	big := AcceleratorAsk{Memory: MemoryAsk{Kind: KindTransformer, Model: ModelFacts{Arch: "llama-2-7b"}, Method: QLoRA, Seq: 16384, Batch: 1, Checkpointing: true}}
	if v := RankingVerdict(RankAccelerators(big)); !strings.Contains(v, "no machine") || !strings.Contains(v, "instead of 16384 tokens") {
		t.Error(v)
	}
	if v := RankingVerdict(RankAccelerators(AcceleratorAsk{Memory: MemoryAsk{Kind: KindCNN}})); !strings.HasPrefix(v, "T4 ×2 is the first to try") {
		t.Error(v)
	}
	if v := RankingVerdict(RankAccelerators(AcceleratorAsk{HoursT4: 2, Memory: MemoryAsk{Kind: KindCNN, Model: ModelFacts{Arch: "resnet50"}, Image: 224, Batch: 16}})); !strings.HasSuffix(v, "suits it best.") {
		t.Error(v)
	}
	if v := RankingVerdict(nil); v != "" {
		t.Error(v)
	}
	table := AcceleratorAsk{Memory: MemoryAsk{Kind: KindTabular, Rows: 4e7, Columns: 60}}
	cpu := find(t, RankAccelerators(table), "none")
	if cpu.Fit != FitNo || len(cpu.Changes) != 1 || !strings.Contains(cpu.Changes[0].Text, "32-bit") || EstimateMemory(cpu.Changes[0].Ask).LikelyGiB > 28 {
		t.Errorf("%+v", cpu.Changes)
	}
}
