package planner

import (
	"fmt"
	"strings"
	"time"
)

// Guard is a reason not to push. Override is the flag that goes on in spite of it; "" means nothing does, and Advice then
// says what to do instead of "change it". Waits: time alone can lift it, so that the launch queue may wait for it.
type Guard struct {
	Code     string // identity, shape, size, cap, inputs, slots, quota
	Reason   string
	Override string
	Advice   string
	Waits    bool
}

// Size limits of a kernel's source in bytes. Kaggle answers a bare 400 at one million.
const (
	ScriptLimit = 1_000_000
	ScriptWarn  = 800_000
)

// Flags that override a guard.
const (
	flagForce = "--force"
	flagQueue = "--queue"
)

// PushFacts is what is known when a push is about to be made.
type PushFacts struct {
	Pool  Pool   // what the session will be charged to; "" = by Shape
	Shape string // machine shape as the metadata has it; "none" or "" for CPU
	// Switches: EnableGPU and EnableTPU were read from a metadata file and are to be checked against the shape. A packed
	// build always has the three in accord.
	Switches             bool
	EnableGPU, EnableTPU bool
	DockerImage          string        // a pinned image, "" = none
	Cap                  time.Duration // 0 = the session limit
	Balance              *Balance      // nil: unknown, which warns and never blocks
	BusySessions         int           // batch sessions of this pool, queued ones included, ours and others'
	BusyNames            []string      // what they are
	PendingInputs        []string      // kernels attached as inputs that are still queued or running
	MissingInputs        []string      // inputs Kaggle does not know or does not show to this account
	UnreadyInputs        []string      // datasets still being processed
	FailedInputs         []string      // kernels attached as inputs whose last run failed or was stopped
	ScriptBytes          int           // after whatever the push does to the source; 0 = not measured
	Identity             string        // what is wrong with title and id, a sentence; "" = nothing
	NoRun                bool          // the kernel is only saved: it takes no slot and burns nothing
}

func (f PushFacts) pool() Pool {
	if f.Pool != "" {
		return f.Pool
	}
	return PoolOf(f.Shape)
}

// PushGuards lists what speaks against a push, what cannot be overridden first. Empty means: go.
func PushGuards(f PushFacts) []Guard {
	var out []Guard
	add := func(code, override, format string, args ...any) {
		out = append(out, Guard{Code: code, Reason: fmt.Sprintf(format, args...), Override: override})
	}
	waits := func(code, override, format string, args ...any) {
		add(code, override, format, args...)
		out[len(out)-1].Waits = true
	}
	if f.Identity != "" {
		add("identity", "", "%s", f.Identity)
	}
	if f.Switches {
		out = append(out, shapeGuards(f)...)
	}
	if f.ScriptBytes >= ScriptLimit {
		add("size", "", "The kernel's source has %s bytes and Kaggle refuses one million or more. Put big files into a dataset and attach it.", grouped(f.ScriptBytes))
	}
	pool := f.pool()
	if limit := SessionLimit(pool); f.Cap > limit {
		add("cap", "", "The cap of %s is above the %s that a %s session may run. Lower it and resume in a second session.", Hours(f.Cap), Hours(limit), pool.PoolName())
	}
	if len(f.MissingInputs) > 0 {
		add("inputs", flagForce, "Kaggle does not show %s to this account: misspelt, private, or its rules are not accepted.", listed(f.MissingInputs))
	}
	if len(f.UnreadyInputs) > 0 {
		waits("inputs", flagForce, "Kaggle is still processing %s. A session that starts now would not have it.", listed(f.UnreadyInputs))
	}
	if len(f.PendingInputs) > 0 {
		waits("inputs", flagForce, "The input %s is still queued or running. Inputs are bound at the push, so the session would get its older output or none.", listed(f.PendingInputs))
	}
	if f.NoRun {
		return out
	}
	if f.BusySessions >= Slots(pool) {
		waits("slots", flagQueue, "%s%s. It can wait here and be pushed when a slot frees.", slotSentence(pool), busyNames(f.BusyNames))
	}
	if g, ok := quotaGuard(f, pool); ok {
		out = append(out, g)
	}
	return out
}

func quotaGuard(f PushFacts, pool Pool) (Guard, bool) {
	if pool == CPU || f.Balance == nil {
		return Guard{}, false
	}
	need := f.Cap
	if need <= 0 {
		need = SessionLimit(pool)
	}
	if need <= f.Balance.Left {
		return Guard{}, false
	}
	b := f.Balance
	reason := fmt.Sprintf("The run may use %s and %s of %s %s are left (%s used", Hours(need), Hours(b.Left), Hours(b.Total), pool.PoolName(), Hours(b.Used))
	if b.Reserved+b.Held > 0 {
		reason += fmt.Sprintf(", %s held by what is in flight", Hours(b.Reserved+b.Held))
	}
	reason += "). Kaggle would stop it when the quota ends. Lower the cap or wait for the reset."
	return Guard{Code: "quota", Reason: reason, Override: flagForce, Waits: need <= b.Total}, true // what fits no week is not worth waiting for
}

// shapeGuards checks the three words about the machine against each other. The two switches are deprecated in favour of
// machine_shape, and with enable_gpu alone the choice of card was Kaggle's: it used to be one that today's PyTorch cannot use.
func shapeGuards(f PushFacts) []Guard {
	guard := func(format string, args ...any) []Guard {
		return []Guard{{Code: "shape", Reason: fmt.Sprintf(format, args...)}}
	}
	s, _ := LookupShape(f.Shape)
	switch {
	case f.EnableGPU && f.EnableTPU:
		return guard("The metadata asks for a GPU and a TPU at once. Keep one of enable_gpu and enable_tpu.")
	case f.EnableGPU && s.Pool == CPU:
		return guard("The metadata says enable_gpu and names no machine_shape, so that Kaggle would choose the card. Write \"machine_shape\": \"NvidiaTeslaT4\", or push with --accelerator NvidiaTeslaT4.")
	case f.EnableTPU && s.Pool == CPU:
		return guard("The metadata says enable_tpu and names no machine_shape. Write \"machine_shape\": \"TpuV5E8\", or push with --accelerator TpuV5E8.")
	case !f.EnableGPU && s.Pool == GPU, !f.EnableTPU && s.Pool == TPU:
		return guard("The metadata names the machine %s and says that no %s is wanted. Set enable_%s to true or drop machine_shape.", s.Name, s.Pool.PoolName(), s.Pool)
	}
	return nil
}

// PushWarnings lists what a person should know before pushing, though nothing of it is a reason not to.
func PushWarnings(f PushFacts) []string {
	var out []string
	warn := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	pool := f.pool()
	s, known := LookupShape(f.Shape)
	switch {
	case !known:
		warn("The machine %s is not one we know. Kaggle takes any word and may run something else; the session checks what it got.", s.Name)
	case s.Name != f.Shape && f.Shape != "" && s.Pool != CPU:
		warn("The machine %s is spelt %s at Kaggle; the push uses that.", f.Shape, s.Name)
	}
	switch s.Status {
	case ShapeRetired:
		what := "A " + Describe(s.Instead) + " session runs instead, without a word"
		if s.Name == "NvidiaTeslaP100" {
			what += "; and today's PyTorch has no code for a P100 if it is handed out after all"
		}
		warn("The machine %s is retired. %s.", s.Title, what)
	case ShapeSubstituted:
		warn("Kaggle stores %s as %s.", s.Name, s.Instead)
	case ShapeRestricted:
		warn("The machine %s is handed out to some accounts only (entrants of certain competitions, admins); others get another one without a word.", s.Title)
	}
	if f.DockerImage != "" && pool == TPU {
		warn("The pinned image %s is left out: a TPU session on it would run on the processor alone and still end as complete.", f.DockerImage)
	}
	if len(f.FailedInputs) > 0 {
		warn("The last run of the input %s failed or was stopped: its output may be missing or half.", listed(f.FailedInputs))
	}
	if f.ScriptBytes >= ScriptWarn && f.ScriptBytes < ScriptLimit {
		warn("The kernel's source has %s bytes; at one million Kaggle refuses it.", grouped(f.ScriptBytes))
	}
	if f.NoRun || pool == CPU {
		return out
	}
	if f.Cap <= 0 {
		warn("Without a cap the run holds the whole %s of a %s session until it ends.", Hours(SessionLimit(pool)), pool.PoolName())
	}
	switch b := f.Balance; {
	case b == nil:
		warn("How much %s quota is left is not known, so nothing was checked against it.", pool.PoolName())
	case b.Rebased:
		warn("The last quota reading is from before the weekly reset; the new week is taken as unused.")
	}
	return out
}

// Hours writes a duration the way Sandglass shows hours: one decimal and the unit.
func Hours(d time.Duration) string { return fmt.Sprintf("%.1f h", d.Hours()) }

func slotSentence(p Pool) string {
	if n := Slots(p); n > 1 {
		return fmt.Sprintf("All %d %s sessions of the account are taken", n, p.PoolName())
	}
	return fmt.Sprintf("The one %s session of the account is taken", p.PoolName())
}

func busyNames(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (by " + strings.Join(names, " and ") + ")"
}

// listed joins names for a sentence, at most three of them in full.
func listed(names []string) string {
	if len(names) > 3 {
		return strings.Join(names[:3], ", ") + fmt.Sprintf(" and %d more", len(names)-3)
	}
	return strings.Join(names, ", ")
}

// grouped writes a count with a comma every three digits.
func grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
