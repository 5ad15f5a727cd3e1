package planner

import (
	"strings"
	"time"
)

// Pool is what a session is charged to. Kaggle counts GPU and TPU hours apart; CPU sessions are free.
type Pool string

// The pools.
const (
	GPU Pool = "gpu"
	TPU Pool = "tpu"
	CPU Pool = "cpu"
)

// ShapeStatus says whether Kaggle still hands out a machine shape.
type ShapeStatus int

const (
	// ShapeUnknown is a word we have never seen. Kaggle takes any string without complaint, or answers a bare 400.
	ShapeUnknown ShapeStatus = iota
	// ShapeOffered is handed out to every account with quota.
	ShapeOffered
	// ShapeRestricted is handed out only to entrants of some competitions or to admins; others silently get another machine.
	ShapeRestricted
	// ShapeSubstituted is accepted and silently stored as another shape.
	ShapeSubstituted
	// ShapeRetired is gone; the server runs the kernel on something else without saying so.
	ShapeRetired
)

// Shape is one machine shape of kernel-metadata.json ("machine_shape").
type Shape struct {
	Name    string // as Kaggle spells it; "none" for a CPU session
	Title   string // for people: "T4 ×2"
	Pool    Pool
	Status  ShapeStatus
	Instead string // what runs instead of a retired or substituted shape
	Devices int    // GPUs or TPU chips of one session; 0 = not known
	MemMiB  int    // memory of one device in MiB as measured before a context is made; 0 = not known
}

// shapes is what was known in December 2026: the official command-line program's own list and its test of retired
// accelerators, pull request 1198 there (T4 ×2 is the default, Highmem is for admins), and measured sessions for counts
// and memory. The list of restricted shapes moves with the competitions; live answers win over it.
var shapes = []Shape{
	{Name: "none", Title: "CPU", Pool: CPU, Status: ShapeOffered},
	{Name: "NvidiaTeslaT4", Title: "T4 ×2", Pool: GPU, Status: ShapeOffered, Devices: 2, MemMiB: 15360},
	{Name: "TpuV5E8", Title: "TPU v5e-8", Pool: TPU, Status: ShapeOffered, Devices: 8, MemMiB: 16384},
	{Name: "TpuV6E8", Title: "TPU v6e-8", Pool: TPU, Status: ShapeRestricted, Devices: 8},
	{Name: "NvidiaTeslaT4Highmem", Title: "T4 high memory", Pool: GPU, Status: ShapeRestricted},
	{Name: "NvidiaL4", Title: "L4", Pool: GPU, Status: ShapeRestricted},
	{Name: "NvidiaL4X1", Title: "L4 ×1", Pool: GPU, Status: ShapeRestricted, Devices: 1},
	{Name: "NvidiaTeslaA100", Title: "A100", Pool: GPU, Status: ShapeRestricted},
	{Name: "NvidiaH100", Title: "H100", Pool: GPU, Status: ShapeRestricted},
	{Name: "NvidiaRtxPro6000", Title: "RTX Pro 6000", Pool: GPU, Status: ShapeRestricted},
	{Name: "TpuV5E1", Title: "TPU v5e-1", Pool: TPU, Status: ShapeSubstituted, Instead: "TpuV5E8"},
	{Name: "TpuV5E4", Title: "TPU v5e-4", Pool: TPU, Status: ShapeSubstituted, Instead: "TpuV5E8"},
	{Name: "TpuV6E1", Title: "TPU v6e-1", Pool: TPU, Status: ShapeSubstituted, Instead: "TpuV5E8"},
	{Name: "NvidiaTeslaP100", Title: "P100", Pool: GPU, Status: ShapeRetired, Instead: "NvidiaTeslaT4", Devices: 1, MemMiB: 16280},
	{Name: "Tpu1VmV38", Title: "TPU v3-8", Pool: TPU, Status: ShapeRetired, Instead: "TpuV5E8"},
	{Name: "TpuV38", Title: "TPU v3-8", Pool: TPU, Status: ShapeRetired, Instead: "TpuV5E8"},
	{Name: "TpuV232", Title: "TPU v2-32", Pool: TPU, Status: ShapeRetired, Instead: "none"},
	{Name: "TpuV2256", Title: "TPU v2-256", Pool: TPU, Status: ShapeRetired, Instead: "none"},
}

// LookupShape finds a shape by name in any letter case; "" and "cpu" are "none". The second value is false for a name
// that is not in the list: the Shape then has the name as given and the pool its spelling suggests.
func LookupShape(name string) (Shape, bool) {
	n := strings.TrimSpace(name)
	if n == "" || strings.EqualFold(n, "cpu") {
		n = "none"
	}
	for _, s := range shapes {
		if strings.EqualFold(s.Name, n) {
			return s, true
		}
	}
	s := Shape{Name: n, Title: n, Pool: GPU}
	if strings.HasPrefix(strings.ToLower(n), "tpu") {
		s.Pool = TPU
	}
	return s, false
}

// Shapes lists the shapes anybody can ask for, CPU last.
func Shapes() []Shape {
	var out []Shape
	for _, s := range shapes[1:] {
		if s.Status == ShapeOffered {
			out = append(out, s)
		}
	}
	return append(out, shapes[0])
}

// PoolOf says which quota a session on this shape burns. An unknown shape that is not spelled like a TPU counts as a
// GPU: holding hours that turn out to be free is the cheaper mistake.
func PoolOf(shape string) Pool {
	s, _ := LookupShape(shape)
	return s.Pool
}

// Describe names a shape for people: "T4 ×2", "TPU v5e-8", "CPU". A shape we do not know keeps its own name.
func Describe(shape string) string {
	s, _ := LookupShape(shape)
	return s.Title
}

// SessionLimit is the longest a batch session may run: 12 hours on GPU and CPU, 9 on TPU (measured August and September
// 2026). Single competitions set lower limits, so it is a default and not a promise.
func SessionLimit(p Pool) time.Duration {
	if p == TPU {
		return 9 * time.Hour
	}
	return 12 * time.Hour
}

// Slots is how many batch sessions an account may have at once, queued ones included: 2 GPU, 1 TPU, 5 CPU (the numbers in
// Kaggle's own refusals).
func Slots(p Pool) int {
	switch p {
	case TPU:
		return 1
	case CPU:
		return 5
	}
	return 2
}

// PoolName is a pool's name in sentences: "GPU", "TPU", "CPU".
func (p Pool) PoolName() string { return strings.ToUpper(string(p)) }
