package runnerpack

// Accelerators a build can ask for. Other shapes exist at Kaggle (see
// CheckAccelerator); these are the ones a build knows how to spread tasks over.
const (
	AcceleratorT4   = "NvidiaTeslaT4" // two T4 cards, 16 GB each
	AcceleratorTPU  = "TpuV5E8"       // eight chips
	AcceleratorNone = "none"          // CPU
)

// Limits of Kaggle that a build keeps.
const (
	MaxScriptBytes  = 1_000_000 // from here on Kaggle answers a push with a bare 400
	WarnScriptBytes = 800_000   // from here on a build names its biggest parts
	MaxHours        = 12.0      // GPU and CPU sessions
	MaxHoursTPU     = 9.0
	MaxTitle        = 50  // characters
	MinTitle        = 5   // characters, of the title and of the slug
	DefaultMinFrac  = 0.3 // share of the schedule before which nothing is pruned
)

// Spec says what to build.
type Spec struct {
	Project string  // the project folder
	Name    string  // name of the run and of its first job; the script's --name
	Command string  // {fold} makes it one task a fold
	Hours   float64 // cap of the session
	// Folds to run. nil means all of data/folds.csv when the command has {fold}.
	Folds       []int
	Accelerator string // NvidiaTeslaT4, TpuV5E8 or none; "" is NvidiaTeslaT4
	Owner       string // the user name in the kernel's id
	Slug        string // "" is <name>-train
	Inputs      []Input
	Layout      string   // flat (default) or nested
	ResumeFrom  []string // owner/slug of earlier kernels of ours whose artifacts are continued
	Include     []string // paths under Project that travel; default src
	// SplitFrom is the dataset (owner/slug) out of which the session takes data/folds.csv instead of carrying it. It is
	// attached, and the session stops unless the file there is the project's own, byte for byte.
	SplitFrom  string
	ExtraJobs  []Job
	Assemble   string   // joins the folds of the first job; "" derives it from the command
	Launcher   string   // of the first job, see Job
	WideFolds  []int    // of the first job, see Job
	Post       []string // commands after assembly
	Pip        []string // packages installed in the session
	Wheels     []string // owner/slug of datasets with wheels; pip then runs offline
	NoInternet bool
	Public     bool
	Baseline   *Prune
	// AllowAnyDevice lets the session go on when the accelerator it got is not the one it asked for.
	AllowAnyDevice bool
	// AllowMissingInputs lets the session go on when an input is not mounted.
	AllowMissingInputs bool
	Retry              int // how often a failed task is started again: 0 or 1
	// StallMinutes without output and without a score after which a task is taken for hung and killed. 0: 20 minutes, and only when
	// it uses no CPU time either. Below 0: never.
	StallMinutes float64
	Durations    map[string]float64 // "job/fold" to predicted seconds, longest first
	Out          string             // folder to write; default <project>/.sandglass/build/<slug>
}

// Input is one thing a session has mounted.
type Input struct {
	Kind   string // dataset, competition, kernel or model
	Ref    string // owner/slug, a competition's slug, owner/model/framework/variation/version
	Target string // folder under the project, "" for the layout's choice
}

// Job is one command of a session, run once or once a fold.
type Job struct {
	Name    string
	Command string
	// Folds of a command with {fold}; nil in a Spec means the run's folds.
	Folds []int
	// Assemble joins the folds once all are done; "" derives it from the command.
	Assemble string
	// Launcher starts a command without {fold} once a card: torchrun or
	// accelerate; "" and none start it as it is. GPU sessions only. A command
	// with {fold} needs one for its wide folds, and for nothing else.
	Launcher string
	// WideFolds are those of Folds that run last, one at a time over all cards.
	WideFolds []int
}

// Prune says against which earlier run a fold that trails is stopped.
type Prune struct {
	Reference string  // folder with curve_fold<k>.json, absolute or under the project
	Margin    float64 // how far behind, in score
	MinFrac   float64 // share of the schedule before which nothing is pruned; 0 is 0.3
	// FoldMargins are margins of single folds, from the noise between seeds of that fold; Margin is that of the others.
	FoldMargins map[int]float64
}

// Build is what Pack made.
type Build struct {
	Kernel      string // owner/slug
	Dir         string // the kernel folder
	Script      string // name of the script in Dir
	BuildID     string // <slug>@<hash of what travels>: equal for equal builds
	SHA256      string // of the script
	ScriptBytes int
	Parts       []Part // what takes the space, biggest first; they add up to ScriptBytes
	Jobs        []Job  // as they run: folds and assembly filled in
	Folds       []int  // of all jobs together; nil when no command has {fold}
	Warnings    []string
	Metadata    Metadata
	LeftOut     []string // "path: why", sorted
	Fill        []Offer  // what the devices that the last round leaves idle could do; nil when none is idle
}

// Part is a share of the script.
type Part struct {
	Name  string `json:"name"` // runner, support, code, folds, baseline, config, script
	Bytes int    `json:"bytes"`
}

// BuildRecord is sandglass.json beside the script: what was asked for, for
// whoever pushes or collects the folder later.
type BuildRecord struct {
	Schema      int          `json:"schema"`
	Kernel      string       `json:"kernel"`
	Name        string       `json:"name"`
	BuildID     string       `json:"build_id"`
	Hours       float64      `json:"hours"`
	Accelerator string       `json:"accelerator"`
	Command     string       `json:"cmd"`
	Jobs        []RecordJob  `json:"jobs"`
	Folds       []int        `json:"folds"`
	Prune       *RecordPrune `json:"prune"`
	ResumeFrom  []string     `json:"resume_from"`
	Project     string       `json:"project"` // absolute; stays on this machine, never in the script
	SHA256      string       `json:"sha256"`  // of the script
}

// RecordJob is a job as the build record and the script's config name it.
type RecordJob struct {
	Name     string  `json:"name"`
	Command  string  `json:"cmd"`
	Folds    []int   `json:"folds"`
	Assemble *string `json:"assemble"`
	Launcher string  `json:"launcher,omitempty"`
	Wide     []int   `json:"wide,omitempty"`
}

// RecordPrune is the pruning rule as the build record and the config name it.
type RecordPrune struct {
	Reference   string          `json:"reference,omitempty"` // build record only
	Margin      float64         `json:"margin"`
	MinFrac     float64         `json:"min_frac"`
	FoldMargins map[int]float64 `json:"fold_margins,omitempty"`
}
