package sandbox

import (
	"context"
	"time"
)

// Executor runs one session. Run must come back soon after ctx ends, with nothing of the session still running;
// context.Cause(ctx) then says why. The time limit is in ctx: an executor need not keep its own.
type Executor interface {
	Run(ctx context.Context, job Job) Result
}

// Job is one session to execute.
type Job struct {
	Session      int64
	Owner, Slug  string
	Version      int
	Source       string // script text, or the notebook's JSON
	Language     string // "python" (anything else cannot run here)
	KernelType   string // "script" or "notebook"
	Shape        string // machine shape after the server's replacements; "" = CPU
	Pool         string // "gpu", "tpu" or "cpu"
	Internet     bool
	Limit        time.Duration // wall time; ctx carries it already
	Dir          string        // the session's own folder; exists, empty but for what is named below
	Working      string        // Dir/working: becomes the outputs
	Input        string        // Dir/input: the executor mounts Inputs into it
	Inputs       []Input
	FakeGPUs     int
	FakeTPUChips int
	Mark         string // unique to this session; put into the process's environment so that leftovers can be found
	// Log appends one chunk to the session's log. The chunk must be whole UTF-8. Safe for concurrent use.
	Log func(stream, data string)
}

// Input is one mounted source.
type Input struct {
	Kind   string // "dataset", "competition", "kernel" or "model"
	Ref    string // owner/slug, slug, owner/model/framework/variation/version
	Target string // path below the input folder, with slashes
	Dir    string // the folder that holds the files
}

// Result is how a session ended.
type Result struct {
	Status   string // StatusComplete, StatusError or StatusCancelled
	Message  string // failureMessage; "" when there is nothing to say
	ExitCode int    // of the process; -1 when it was killed or never started
}

// Session states on the wire.
const (
	StatusQueued          = "QUEUED"
	StatusRunning         = "RUNNING"
	StatusComplete        = "COMPLETE"
	StatusError           = "ERROR"
	StatusCancelRequested = "CANCEL_REQUESTED"
	StatusCancelled       = "CANCEL_ACKNOWLEDGED"
)
