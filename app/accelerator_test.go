package app

import (
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/app/runlog"
)

func optionOf(t *testing.T, v AcceleratorAdvice, shape string) AcceleratorOption {
	t.Helper()
	for _, o := range v.Options {
		if o.Accelerator == shape {
			return o
		}
	}
	t.Fatalf("%s is not among %+v", shape, v.Options)
	return AcceleratorOption{}
}

// The quota, the waits and the times of own runs come from the log, and the answer says so.
func TestAcceleratorsKnowTheAccount(t *testing.T) {
	a, r := resumeWorld(t, nil, timedTask("idea", 0, "done", 1.8), timedTask("idea", 1, "done", 2.2))
	acc, err := a.Account(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	now := a.now()
	for i, wait := range []time.Duration{6 * time.Hour, 9 * time.Hour, 12 * time.Hour} {
		q := runlog.Run{Account: acc.ID, Kernel: "sam-roe/tpu", Name: "tpu", Version: i + 1, Accelerator: "TpuV5E8", State: StateComplete, Origin: originPush, CollectedAt: now,
			QueuedAt: now.Add(-wait - 30*time.Hour), StartedAt: now.Add(-30 * time.Hour), EndedAt: now.Add(-29 * time.Hour), PushedAt: now.Add(-wait - 30*time.Hour)}
		if _, err := a.store.CreateRun(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	reading := runlog.QuotaReading{At: now, RefreshAt: now.Add(50 * time.Hour),
		GPU: &runlog.PoolReading{Used: 20 * time.Hour, Total: 30 * time.Hour}, TPU: &runlog.PoolReading{Total: 20 * time.Hour}}
	if err := a.store.AddQuota(t.Context(), acc.ID, reading); err != nil {
		t.Fatal(err)
	}
	v, err := a.Accelerators(t.Context(), AcceleratorAsk{Kind: "cnn", Kernel: r.Kernel, Tasks: 5})
	if err != nil {
		t.Fatal(err)
	}
	gpu, tpu := optionOf(t, v, "NvidiaTeslaT4"), optionOf(t, v, "TpuV5E8")
	wantNear(t, "a task", gpu.TaskH.Likely, 2, 1e-6)
	wantNear(t, "GPU hours", gpu.QuotaHours, 6.05, 1e-6)
	wantNear(t, "GPU hours left", gpu.LeftAfterH, 3.95, 1e-6)
	if gpu.HoursBasis != "history" || tpu.QueueBasis != "history" || tpu.QueueN != 3 || *tpu.Queue.Likely < 2 || *tpu.Queue.Likely > 9 || tpu.Speed.Basis != "prior" {
		t.Errorf("GPU %+v\nTPU %+v", gpu, tpu)
	}
	if v.QuotaLive || v.QuotaWhy == "" || v.ResetAt == nil || gpu.FinishAt.High == nil || !gpu.FinishAt.High.After(v.Now) {
		t.Errorf("%+v", v)
	}
	wantNear(t, "finish", gpu.Finish.Likely, 6.05, 1e-6)

	// A session in the TPU's one slot.
	held := runlog.Run{Account: acc.ID, Kernel: "sam-roe/held", Name: "held", Version: 1, Accelerator: "TpuV5E8", State: StateRunning, Origin: originPush, Cap: 4 * time.Hour,
		PushedAt: now.Add(-2 * time.Hour), QueuedAt: now.Add(-2 * time.Hour), StartedAt: now.Add(-time.Hour)}
	if _, err := a.store.CreateRun(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	v, err = a.Accelerators(t.Context(), AcceleratorAsk{Kind: "cnn", HoursT4: 2, Tasks: 5})
	if err != nil {
		t.Fatal(err)
	}
	if later := optionOf(t, v, "TpuV5E8"); *later.Finish.Likely < *tpu.Finish.Likely || !strings.Contains(strings.Join(later.Doubts, " "), "slot is taken (1): it waits for up to 3.0 h") {
		t.Errorf("%+v", later)
	}
}

// Signed out the figures that need no account are there, and nothing is made up.
func TestAcceleratorsSignedOut(t *testing.T) {
	a, err := Open(t.Context(), Options{Home: t.TempDir(), Getenv: envOf(map[string]string{"HOME": t.TempDir()}), Log: testLog(t), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer closeApp(t, a)
	v, err := a.Accelerators(t.Context(), AcceleratorAsk{Arch: "resnet50", Batch: 32, HoursT4: 1, Live: true})
	if err != nil || len(v.Options) != 3 || v.Class != "conv" || v.QuotaWhy != "nobody is signed in" {
		t.Fatalf("%+v, %v", v, err)
	}
	gpu := v.Options[0]
	if gpu.LeftAfterH != nil || gpu.Affordable != nil || gpu.QuotaHours == nil || gpu.Memory.Low == nil || !strings.Contains(strings.Join(gpu.Doubts, " "), "GPU quota is not known") {
		t.Errorf("%+v", gpu)
	}
	var doc struct {
		Options []map[string]any `json:"options"`
	}
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	for _, o := range doc.Options {
		for _, field := range []string{"accelerator", "fits", "memory_gib", "quota_hours", "finish", "left_after_h", "reasons", "doubts"} {
			if _, ok := o[field]; !ok {
				t.Errorf("%v has no %s", o["accelerator"], field)
			}
		}
		for _, field := range []string{"reasons", "doubts", "changes"} {
			if _, ok := o[field].([]any); !ok {
				t.Errorf("%v: %s is %T", o["accelerator"], field, o[field])
			}
		}
		m, _ := o["memory_gib"].(map[string]any)
		low, high := m["low"].(float64), m["high"].(float64)
		sumLow, sumHigh := 0.0, 0.0
		for _, x := range m["terms"].([]any) {
			term := x.(map[string]any)
			sumLow += term["low"].(float64)
			sumHigh += term["high"].(float64)
		}
		if low > high || sumLow-low > 1e-6 || low-sumLow > 1e-6 || sumHigh-high > 1e-6 || high-sumHigh > 1e-6 {
			t.Errorf("%v: terms %g to %g, sum %g to %g", o["accelerator"], sumLow, sumHigh, low, high)
		}
	}
}

func TestAcceleratorsRefuse(t *testing.T) {
	a, _ := resumeWorld(t, nil)
	for _, ask := range []AcceleratorAsk{{Kind: "magic"}, {Arch: "resnet51"}, {Kind: "cnn", Precision: "fp7"}, {Kind: "cnn", Batch: -1}, {Kind: "cnn", Params: -5},
		{Kind: "cnn", Bench: []MemoryPoint{{0, 100}}}, {Kind: "cnn", Steps: []StepTime{{"Abacus", 1}}}, {Kind: "cnn", LimitH: map[string]float64{"gpu": -1}}, {Kind: "cnn", HoursT4: -2},
		{Kind: "tabular", Method: "qlora"}, {Kind: "cnn", Arch: "bert-large"}, {Kind: "cnn", Layers: 12, Hidden: 768}, {Kind: "tabular", Heads: 8}, {Kind: "transformer", Rows: 1e6},
		{Kind: "cnn", Project: filepath.Join(t.TempDir(), "nowhere")}} {
		_, err := a.Accelerators(t.Context(), ask)
		var call *CallError
		if !errors.As(err, &call) {
			t.Errorf("%+v: %v", ask, err)
		}
	}
	for _, ask := range []AcceleratorAsk{{Kind: "llm", Arch: "bert-large"}, {Arch: "bert-large", Layers: 24}, {Kind: "other", Params: 1e8, Hidden: 512}, {Kind: "tabular", Rows: 1e6, Columns: 40}} {
		if _, err := a.Accelerators(t.Context(), ask); err != nil {
			t.Errorf("%+v: %v", ask, err)
		}
	}
	if v, err := a.Accelerators(t.Context(), AcceleratorAsk{Kind: "cnn"}); err != nil || !strings.Contains(v.Verdict, "rule of thumb") {
		t.Errorf("nothing known: %q, %v", v.Verdict, err)
	}
	if _, err := a.Accelerators(t.Context(), AcceleratorAsk{Arch: "resnet51", Params: 3e7}); err != nil {
		t.Errorf("an unknown architecture of known size: %v", err)
	}
}

// What the devices held in the newest run of the job is said beside the estimate, and of another job nothing is.
func TestAcceleratorsKnowTheMemoryOfTheLastRun(t *testing.T) {
	a, r := resumeWorld(t, nil, timedTask("idea", 0, "done", 1.8))
	samples := []runlog.UtilSample{{Device: "gpu0", T: 5, Util: 90, Mem: 9000, Power: math.NaN()}, {Device: "gpu1", T: 5, Util: 90, Mem: 11.2 * 1024, Power: math.NaN()}, {Device: "gpu1", T: 9, Util: 1, Mem: math.NaN(), Power: math.NaN()}}
	if err := a.store.AddUtil(t.Context(), r.ID, samples); err != nil {
		t.Fatal(err)
	}
	v, err := a.Accelerators(t.Context(), AcceleratorAsk{Kind: "cnn", Params: 25e6, Batch: 1, Kernel: r.Kernel})
	if err != nil {
		t.Fatal(err)
	}
	gpu, tpu := optionOf(t, v, "NvidiaTeslaT4"), optionOf(t, v, "TpuV5E8")
	wantNear(t, "the peak", gpu.OwnPeakGiB, 11.2, 1e-6)
	if !strings.Contains(strings.Join(gpu.Reasons, " "), "Your last run of this job peaked at 11.2 GiB on one card.") || tpu.OwnPeakGiB != nil {
		t.Errorf("%v; TPU %v", gpu.Reasons, tpu.OwnPeakGiB)
	}
	if !strings.Contains(strings.Join(gpu.Doubts, " "), "outside the estimate") {
		t.Errorf("a peak far from the estimate is not doubted: %v, %v", gpu.Memory.SpanView, gpu.Doubts)
	}
	if v, err = a.Accelerators(t.Context(), AcceleratorAsk{Kind: "cnn", Name: "another"}); err != nil || optionOf(t, v, "NvidiaTeslaT4").OwnPeakGiB != nil {
		t.Errorf("another job has the peak too, %v", err)
	}
}

// The words about a machine name no flag: a window says them too. What would settle a doubt is told beside it.
func TestTheWordsOfAnAdviceNameNoFlag(t *testing.T) {
	a, _ := resumeWorld(t, nil)
	for kind, want := range map[string]string{"cnn": "model", "tabular": "table", "other": "hours"} {
		v, err := a.Accelerators(t.Context(), AcceleratorAsk{Kind: kind})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range v.Options {
			if s := strings.Join(append(o.Reasons, o.Doubts...), " "); strings.Contains(s, "--") {
				t.Errorf("%s, %s: %s", kind, o.Title, s)
			}
		}
		if o := optionOf(t, v, "NvidiaTeslaT4"); !slices.Contains(o.Asks, want) {
			t.Errorf("%s asks for %v", kind, o.Asks)
		}
	}
}
