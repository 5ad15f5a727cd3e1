package runlog

import "time"

// Run is one row of the log: a kernel version, or the intent to push one. Every
// time is UTC with millisecond precision, a zero time means "has not happened".
type Run struct {
	ID            int64 // set by CreateRun
	Account       int64 // Account.ID; 0 = none (a recorded run that came with a project)
	Kernel        string
	Name          string
	Project       string // folder
	BuildDir      string
	ArtifactsDir  string // where collected files went, "" until then
	Command       string
	Accelerator   string
	BuildID       string
	SourceSHA256  string
	URL           string
	Version       int // 0 = not known yet
	KernelID      int64
	Cap           time.Duration
	Folds         []int
	Jobs          []string
	Inputs        []string
	State         string // pushing, unclear, waiting, refused, queued, running, stopping, complete, error, cancelled, missing, "no run"
	Status        string // Kaggle's word, lower case
	Failure       string
	Outcome       string
	Metric        string
	Greater       bool
	Score         *float64
	BaselineName  string
	BaselineScore *float64
	PruneMargin   float64 // score units; 0 = no pruning
	PruneMinFrac  float64

	CreatedAt        time.Time // CreateRun fills it in when zero
	PushedAt         time.Time
	QueuedAt         time.Time
	StartedAt        time.Time
	EndedAt          time.Time
	EndedFrom        string // where EndedAt comes from: "session", "cap", "observed"; "" = not ended, or not known
	CollectedAt      time.Time
	SeenAt           time.Time // a person looked at its end
	UnreachableSince time.Time

	Burned      time.Duration // of the accelerator's quota
	LogRecords  int           // records of Kaggle's log already taken in
	Consent     string        // who authorised the spend
	Note        string
	Origin      string // "push", "folder", "recorded", "found"
	Internet    bool
	ScriptBytes int
	Parts       []Part // what takes the space in the script
}

// Part is one part of a kernel script.
type Part struct {
	Name  string `json:"name"`
	Bytes int    `json:"bytes"`
}

// Filter narrows Runs. The zero value is every run. Fields are combined with and.
type Filter struct {
	Account      int64    // 0 = any
	Kernel       string   // exact
	Version      int      // 0 = any
	Name         string   // exact
	Project      string   // exact
	Command      string   // exact
	States       []string // any of these; nil = any
	Accelerators []string // any of these; nil = any
	Origins      []string // any of these; nil = any
	Text         string   // part of the name, kernel, command or project; letter case is ignored for ASCII
	Uncollected  bool     // not collected yet
	Unseen       bool     // nobody looked at its end yet
	Since        time.Time
	Limit        int // 0 = all
	Offset       int
}

// Account is who we are at which Kaggle. It never holds a secret.
type Account struct {
	ID          int64 // set by SaveAccount
	Username    string
	Kind        string // "kaggle", "sandbox"
	Endpoint    string // "" = production
	AuthKind    string // "key", "token", "oauth", "environment", "sandbox"
	Store       string // where the secret is: "keychain", "file", "memory", "environment", "sandbox"
	Speed       float64
	AddedAt     time.Time // SaveAccount fills it in when zero
	UsedAt      time.Time
	SignedOutAt time.Time // not zero: kept for the history of its runs only
}

// Task is one (job, fold) of a run.
type Task struct {
	Job     string
	Fold    *int // nil: a job without {fold}
	State   string
	Device  string
	Error   string
	Seconds float64
	Best    *float64
	Epochs  int
}

// Series of curves.
const (
	SeriesRun      = "run"      // the run's own
	SeriesBaseline = "baseline" // what it is compared with
)

// Curve is one learning curve.
type Curve struct {
	Job     string
	Fold    int
	Epochs  int // planned; 0 = unknown
	Greater bool
	Points  []Point // by epoch
}

// Point is one evaluation. Score and Seconds may be NaN (diverged; not known).
type Point struct {
	Epoch   int
	Score   float64
	Seconds float64 // since the task's start
}

// UtilSample is one sample of one device. Any number may be NaN = not measured.
type UtilSample struct {
	Device string
	T      float64 // seconds since the session's start
	Util   float64 // percent
	Mem    float64 // MiB
	Power  float64 // watts
}

// Finding is one diagnosis of a run.
type Finding struct {
	Code, Level, Text, Detail, Fix string
}

// File is one output of a run.
type File struct {
	Path   string // relative, with slashes
	Size   int64
	SHA256 string
	State  string // "here", "remote", "missing", "damaged"
	Local  string // absolute path when here
}

// PoolReading is one accelerator pool of a quota reading.
type PoolReading struct {
	Used, Reserved, Total time.Duration
}

// QuotaReading is what Kaggle said about the weekly quota. A nil pool was not reported.
type QuotaReading struct {
	At        time.Time
	GPU, TPU  *PoolReading
	RefreshAt time.Time // zero = not reported
}

// Event is something that happened, for other processes on the same log.
type Event struct {
	Seq  int64 // set by AppendEvent; increases, never repeats
	Kind string
	Run  int64 // 0 = not about one run
	At   time.Time
	Data string
}
