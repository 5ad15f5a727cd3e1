package runnerpack

// Outputs is what a session left behind, as far as it can be read.
type Outputs struct {
	Run      *RunRecord       // run.json, nil when missing or broken
	Curves   []Curve          // of all jobs, by job and fold
	Scores   map[string]Score // by job: artifacts/<job>/score.json
	Util     []UtilSample     // from telemetry.jsonl
	Notes    []Note           // from telemetry.jsonl
	Manifest *Manifest        // manifest.json, nil when missing or broken
	Problems []string         // each missing or broken part, in words
	Files    []FileInfo       // every regular file, by path
}

// FileInfo is one output file.
type FileInfo struct {
	Path string `json:"path"` // slash-separated, relative to the output folder
	Size int64  `json:"size"`
}

// Curve is a learning curve of one fold.
type Curve struct {
	Job     string
	Fold    int
	Epochs  int  // planned
	Greater bool // greater is better
	Points  []Point
}

// Point is one epoch's score. Score is NaN when the session wrote none that is a
// number (a diverged loss); Seconds is 0 when the time is not known.
type Point struct {
	Epoch   int     `json:"epoch"`
	Score   float64 `json:"score"`
	Seconds float64 `json:"seconds"`
}

// Score is what a job's assembly found.
type Score struct {
	Score      float64
	Metric     string
	Greater    bool
	FoldScores map[int]float64
}

// UtilSample is one device at one moment.
type UtilSample struct {
	T        float64 // seconds since the script's start
	Device   string  // gpu0, tpu3, cpu
	Util     float64 // percent
	MemMB    float64
	PowerW   float64
	HasPower bool
}

// Note is a remark of the runner.
type Note struct {
	T     float64
	Level string // good, info, warn, bad
	Text  string
}

// RunRecord is run.json.
type RunRecord struct {
	Schema      int                `json:"schema"`
	BuildID     string             `json:"build_id"`
	Name        string             `json:"name"`
	Kernel      string             `json:"kernel"`
	StartedUTC  string             `json:"started_utc"`
	ElapsedS    float64            `json:"elapsed_s"`
	BudgetH     float64            `json:"budget_h"`
	Accelerator string             `json:"accelerator"`
	Hardware    Hardware           `json:"hardware"`
	Times       map[string]float64 `json:"times"`
	Jobs        []RunJob           `json:"jobs"`
	Tasks       []RunTask          `json:"tasks"`
	Findings    []RunFinding       `json:"findings"`
	Util        []UtilSummary      `json:"util"`
	Outcome     string             `json:"outcome"` // complete, partial, failed; "" while it ran
	DeadlineHit bool               `json:"deadline_hit"`
}

// Hardware is what the session found.
type Hardware struct {
	GPUs     []GPU  `json:"gpus"`
	TPUChips int    `json:"tpu_chips"`
	CPUs     int    `json:"cpus"`
	Python   string `json:"python"`
}

// GPU is one card.
type GPU struct {
	Name  string  `json:"name"`
	MemMB float64 `json:"mem_mb"`
}

// RunJob is one job's end.
type RunJob struct {
	Name      string   `json:"name"`
	Command   string   `json:"cmd"`
	Folds     []int    `json:"folds"`
	Complete  bool     `json:"complete"`
	Assembled *bool    `json:"assembled"` // nil: there was nothing to assemble
	Score     *float64 `json:"score"`
	Metric    string   `json:"metric"`
	Greater   bool     `json:"greater"`
}

// RunTask is one (job, fold).
type RunTask struct {
	Job     string   `json:"job"`
	Fold    *int     `json:"fold"` // nil: a command without {fold}
	State   string   `json:"state"`
	Seconds float64  `json:"seconds"`
	Device  string   `json:"device"`
	Best    *float64 `json:"best"`
	Epochs  int      `json:"epochs"`
	Error   string   `json:"error"`
	Log     string   `json:"log"`
}

// RunFinding is something the runner noticed.
type RunFinding struct {
	Code  string `json:"code"`
	Level string `json:"level"`
	Text  string `json:"text"`
}

// UtilSummary is one device over the tasks' own time.
type UtilSummary struct {
	Device    string  `json:"device"`
	Median    float64 `json:"median"`
	P10       float64 `json:"p10"`
	MemPeakMB float64 `json:"mem_peak_mb"`
	N         int     `json:"n"`
}

// Manifest is manifest.json: what the session saved.
type Manifest struct {
	Schema int            `json:"schema"`
	Files  []ManifestFile `json:"files"`
}

// ManifestFile is one file of it.
type ManifestFile struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// ManifestProblem is a file that is not what the manifest says.
type ManifestProblem struct {
	Path    string
	Problem string // "missing", "3 bytes, 7 expected", "content differs", …
}

// Telemetry is one "::sandglass {…}" line. Exactly one of the pointers is set.
type Telemetry struct {
	Kind    string  // session, task, point, util, note, end
	T       float64 // seconds since the script's start
	Session *TelemetrySession
	Task    *TelemetryTask
	Points  *Curve // the new points only
	Util    []UtilSample
	Note    *Note
	End     *TelemetryEnd
}

// TelemetrySession opens a phase.
type TelemetrySession struct {
	Phase    string   `json:"phase"` // start, inputs, install, tasks, assemble, close
	Build    string   `json:"build"`
	Deadline float64  `json:"deadline"` // Unix seconds
	Workers  int      `json:"workers"`
	Tasks    int      `json:"tasks"`
	Hardware Hardware `json:"hardware"`
}

// TelemetryTask is a task that changed its state.
type TelemetryTask struct {
	Job     string   `json:"job"`
	Fold    *int     `json:"fold"`
	State   string   `json:"state"`
	Device  string   `json:"device"`
	Seconds float64  `json:"seconds"`
	Best    *float64 `json:"best"`
	Epochs  int      `json:"epochs"`
	Error   string   `json:"error"`
}

// TelemetryEnd is the last line.
type TelemetryEnd struct {
	Outcome string `json:"outcome"`
	Exit    int    `json:"exit"`
}

// Array is a numeric array read from a .npy file, values in C (row) order.
type Array struct {
	Shape  []int
	Values []float64
}
