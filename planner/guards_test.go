package planner

import (
	"strings"
	"testing"
	"time"
)

func TestPushGuards(t *testing.T) {
	left := func(d time.Duration) *Balance { return &Balance{Used: 10 * h, Total: 30 * h, Left: d, Held: 3 * h} }
	tests := []struct {
		name  string
		facts PushFacts
		want  string // code:override, …
	}{
		{"nothing speaks against it", PushFacts{Shape: "NvidiaTeslaT4", Cap: 7 * h, Balance: left(20 * h), BusySessions: 1, ScriptBytes: 400_000}, ""},
		{"exactly what is left", PushFacts{Shape: "NvidiaTeslaT4", Cap: 7 * h, Balance: left(7 * h)}, ""},
		{"a minute too much", PushFacts{Shape: "NvidiaTeslaT4", Cap: 7*h + time.Minute, Balance: left(7 * h)}, "quota:--force"},
		{"no cap needs the session limit", PushFacts{Shape: "NvidiaTeslaT4", Balance: left(11 * h)}, "quota:--force"},
		{"unknown quota blocks nothing", PushFacts{Shape: "NvidiaTeslaT4", Cap: 7 * h}, ""},
		{"processor sessions are free", PushFacts{Shape: "none", Cap: 7 * h, Balance: left(0)}, ""},
		{"both GPU slots taken", PushFacts{Shape: "NvidiaTeslaT4", Cap: h, BusySessions: 2}, "slots:--queue"},
		{"the TPU slot taken", PushFacts{Shape: "TpuV5E8", Cap: h, BusySessions: 1}, "slots:--queue"},
		{"one of two GPU slots taken", PushFacts{Shape: "NvidiaTeslaT4", Cap: h, BusySessions: 1}, ""},
		{"cap over the TPU session", PushFacts{Shape: "TpuV5E8", Cap: 10 * h}, "cap:"},
		{"a million bytes", PushFacts{Shape: "none", ScriptBytes: 1_000_000}, "size:"},
		{"one byte less", PushFacts{Shape: "none", ScriptBytes: 999_999}, ""},
		{"an input still runs", PushFacts{Shape: "none", PendingInputs: []string{"me/prep"}}, "inputs:--force"},
		{"an input is not there", PushFacts{Shape: "none", MissingInputs: []string{"me/data"}}, "inputs:--force"},
		{"an input is being processed", PushFacts{Shape: "none", UnreadyInputs: []string{"me/data"}}, "inputs:--force"},
		{"title and id", PushFacts{Shape: "none", Identity: "The title makes another slug."}, "identity:"},
		{"saving only takes neither slot nor quota", PushFacts{Shape: "NvidiaTeslaT4", Cap: 7 * h, Balance: left(0), BusySessions: 2, NoRun: true}, ""},
		{"several at once, what cannot be overridden first", PushFacts{Shape: "NvidiaTeslaT4", Cap: 7 * h, Balance: left(0), BusySessions: 2, ScriptBytes: 2_000_000}, "size:, slots:--queue, quota:--force"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, g := range PushGuards(tt.facts) {
				got = append(got, g.Code+":"+g.Override)
				if !strings.HasSuffix(g.Reason, ".") {
					t.Errorf("%q is not a sentence", g.Reason)
				}
			}
			if s := strings.Join(got, ", "); s != tt.want {
				t.Errorf("got %q, want %q", s, tt.want)
			}
		})
	}
	g := PushGuards(PushFacts{Shape: "NvidiaTeslaT4", Cap: 7 * h, Balance: left(4 * h)})
	for _, figure := range []string{"7.0 h", "4.0 h", "30.0 h", "10.0 h used", "3.0 h held"} {
		if !strings.Contains(g[0].Reason, figure) {
			t.Errorf("%q does not name %s", g[0].Reason, figure)
		}
	}
}

func TestCase14(t *testing.T) {
	var matrix []struct {
		Name     string
		Metadata struct {
			GPU   bool   `json:"enable_gpu"`
			TPU   bool   `json:"enable_tpu"`
			Shape string `json:"machine_shape"`
		}
	}
	readJSON(t, "testdata/14-accelerators/matrix.json", &matrix)
	want := map[string]struct{ refuse, say string }{
		"gpu-flag-only":      {refuse: "NvidiaTeslaT4"},
		"t4":                 {},
		"p100":               {say: "retired"},
		"old-tpu":            {say: "retired"},
		"v5e":                {},
		"both":               {refuse: "at once"},
		"shape-against-flag": {refuse: "no GPU"},
		"wrong-case":         {say: "NvidiaTeslaT4"},
		"made-up":            {say: "not one we know"},
		"empty":              {},
	}
	for _, m := range matrix {
		w, ok := want[m.Name]
		if !ok {
			t.Errorf("nothing is expected of %s", m.Name)
			continue
		}
		f := PushFacts{Shape: m.Metadata.Shape, Switches: true, EnableGPU: m.Metadata.GPU, EnableTPU: m.Metadata.TPU, Cap: h, Balance: &Balance{Left: 9 * h, Total: 30 * h}}
		var reasons []string
		for _, g := range PushGuards(f) {
			reasons = append(reasons, g.Reason)
		}
		said := strings.Join(PushWarnings(f), " ")
		if refused := len(reasons) > 0; refused != (w.refuse != "") || !strings.Contains(strings.Join(reasons, " "), w.refuse) {
			t.Errorf("%s: refused with %q, want %q", m.Name, reasons, w.refuse)
		}
		if (said != "") != (w.say != "") || !strings.Contains(said, w.say) {
			t.Errorf("%s: warned %q, want %q", m.Name, said, w.say)
		}
	}
	if len(matrix) != len(want) {
		t.Errorf("%d rows, want %d", len(matrix), len(want))
	}
}

func TestPushWarnings(t *testing.T) {
	tests := []struct {
		name  string
		facts PushFacts
		want  []string
	}{
		{"unknown quota", PushFacts{Shape: "NvidiaTeslaT4", Cap: h}, []string{"not known"}},
		{"no cap", PushFacts{Shape: "TpuV5E8", Balance: &Balance{}}, []string{"9.0 h"}},
		{"old reading", PushFacts{Shape: "NvidiaTeslaT4", Cap: h, Balance: &Balance{Rebased: true}}, []string{"before the weekly reset"}},
		{"near a million", PushFacts{Shape: "none", ScriptBytes: 812_345}, []string{"812,345"}},
		{"pinned image on a TPU", PushFacts{Shape: "TpuV5E8", Cap: h, Balance: &Balance{}, DockerImage: "gcr.io/x"}, []string{"gcr.io/x"}},
		{"restricted", PushFacts{Shape: "NvidiaL4", Cap: h, Balance: &Balance{}}, []string{"some accounts"}},
		{"substituted", PushFacts{Shape: "TpuV5E1", Cap: h, Balance: &Balance{}}, []string{"TpuV5E8"}},
		{"processor", PushFacts{Shape: "none"}, nil},
	}
	for _, tt := range tests {
		got := PushWarnings(tt.facts)
		if len(got) != len(tt.want) {
			t.Errorf("%s: %q, want %d warnings", tt.name, got, len(tt.want))
			continue
		}
		for i := range got {
			if !strings.Contains(got[i], tt.want[i]) {
				t.Errorf("%s: %q does not say %q", tt.name, got[i], tt.want[i])
			}
		}
	}
}

func TestShapes(t *testing.T) {
	tests := []struct {
		name, title string
		pool        Pool
	}{
		{"NvidiaTeslaT4", "T4 ×2", GPU}, {"nvidiateslat4", "T4 ×2", GPU}, {" TPUV5E8 ", "TPU v5e-8", TPU}, {"Tpu1VmV38", "TPU v3-8", TPU},
		{"none", "CPU", CPU}, {"", "CPU", CPU}, {"cpu", "CPU", CPU}, {"NvidiaFuture", "NvidiaFuture", GPU}, {"TpuV9", "TpuV9", TPU},
	}
	for _, tt := range tests {
		if Describe(tt.name) != tt.title || PoolOf(tt.name) != tt.pool {
			t.Errorf("%q: %q on %q, want %q on %q", tt.name, Describe(tt.name), PoolOf(tt.name), tt.title, tt.pool)
		}
	}
	if SessionLimit(GPU) != 12*h || SessionLimit(TPU) != 9*h || SessionLimit(CPU) != 12*h || Slots(GPU) != 2 || Slots(TPU) != 1 || Slots(CPU) != 5 {
		t.Error("limits are not those of the reference")
	}
	for _, s := range Shapes() {
		if s.Status != ShapeOffered {
			t.Errorf("%s is not offered to everybody", s.Name)
		}
	}
}
