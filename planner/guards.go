package planner

import "time"

// Guard is a reason not to push. Override is the flag that goes on in spite of it; "" means nothing does.
type Guard struct {
	Code     string // quota, slots, size, inputs, shape, identity, cap
	Reason   string
	Override string
}

// Size limits of a kernel's source in bytes. Kaggle answers a bare 400 at one million.
const (
	ScriptLimit = 1_000_000
	ScriptWarn  = 800_000
)

// PushFacts is what is known when a push is about to be made.
type PushFacts struct {
	Pool          Pool
	Shape         string        // machine shape as the metadata has it; "none" or "" for CPU
	EnableGPU     bool          // the metadata's switches, only for folders of a person's own;
	EnableTPU     bool          // a packed build always has both and the shape in accord
	Switches      bool          // the two switches above were given
	Cap           time.Duration // 0 = the session limit
	Balance       *Balance      // nil: unknown, which warns and never blocks
	BusySessions  int           // batch sessions of this pool, queued ones included, ours and others'
	BusyNames     []string      // what they are
	PendingInputs []string      // kernels attached as inputs that are still queued or running
	MissingInputs []string      // inputs Kaggle does not know or does not show to this account
	UnreadyInputs []string      // datasets still being processed
	ScriptBytes   int           // after whatever the push does to the source; 0 = not measured
	Identity      string        // what is wrong with title and id; "" = nothing
}

// PushGuards lists what speaks against a push, the gravest first. Empty means: go.
func PushGuards(f PushFacts) []Guard { panic("not yet") }

// PushWarnings lists what a person should know before pushing, though nothing of it is a reason not to.
func PushWarnings(f PushFacts) []string { panic("not yet") }
