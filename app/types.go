package app

import "time"

// Pools of quota. CPU sessions are not metered.
const (
	PoolGPU = "gpu"
	PoolTPU = "tpu"
	PoolCPU = "cpu"
)

// Account is who we are at which Kaggle. It never carries a secret.
type Account struct {
	ID       int64
	Username string
	Kind     string // "kaggle" or "sandbox"
	Endpoint string // "" is production
	AuthKind string // "key", "token", "oauth", "environment", "sandbox"
	Store    string // where the secret is: "keychain", "file", "memory", "environment", "sandbox"
	Speed    float64
}

// PoolView is one accelerator pool of the week, in hours.
// Left = Total - Used - Reserved - Held, never below zero.
type PoolView struct {
	Known    bool // false: Kaggle did not report this pool; every number is meaningless
	Used     float64
	Reserved float64 // held by sessions running now, in Kaggle's words
	Held     float64 // held by our own runs beyond what Kaggle reserves
	Total    float64
	Left     float64
	Holders  []string // names of the runs that hold hours
}

// QuotaView is the state of the weekly quota and how far it can be trusted.
type QuotaView struct {
	GPU, TPU  PoolView
	RefreshAt time.Time // zero: unknown
	FetchedAt time.Time // zero: never
	Live      bool      // read from Kaggle just now
	Why       string    // when not live: why, in one sentence
	Failed    error     // Kaggle was asked and gave no figures: why; nil otherwise
	Rebased   bool      // the reading is older than the reset and was re-based

	StartedSince []string // names of our runs that went out after the reading: it does not contain them, held does
}

// BuildSpec asks for a kernel folder. Fields as runnerpack.Spec; the owner comes from the account.
type BuildSpec struct {
	Project      string
	Name         string
	Command      string
	Hours        float64 // cap
	Folds        []int   // nil: every fold of data/folds.csv when the command contains {fold}
	Accelerator  string  // "NvidiaTeslaT4", "TpuV5E8" or "none"; "" = NvidiaTeslaT4
	Slug         string
	Datasets     []string // owner/slug[=folder]
	Kernels      []string
	Competitions []string
	Models       []string
	Layout       string // flat or nested
	ResumeFrom   []string
	Include      []string
	ExtraJobs    []JobSpec
	Assemble     string
	Launcher     string // torchrun or accelerate: starts a command without {fold} once a GPU; "" and none = as it is
	Post         []string
	Pip, Wheels  []string
	NoInternet   bool
	Public       bool
	PruneAgainst string  // a folder under artifacts/, or a path
	PruneMargin  float64 // score units; 0 with PruneAgainst = the baseline's fold spread
	PruneMinFrac float64
	PruneSeeds   []string // the same run with other seeds, as PruneAgainst: each fold's margin is then its own seed noise, and PruneMargin that of a fold without
	Baseline     string   // curves shown beside the run; default: PruneAgainst, else artifacts/baseline when it exists
	AllowAny     bool     // run on whatever device Kaggle hands out
	AllowMissing bool     // run although an input is not mounted
	Retry        int
	StallMinutes float64 // a task without output and score for so long is killed; 0 = 20, and only without CPU time too; below 0 = never
	WideFolds    []int   // folds that run after the others, one at a time on all cards, through Launcher
	SplitFrom    string  // owner/slug of the dataset that brings data/folds.csv to the session; "" = it travels in the script
	Out          string
}

// JobSpec is a further job riding in the same session.
type JobSpec struct {
	Name, Command string
	Folds         []int  // nil: those of the run
	Assemble      string // joins its folds; "" derives it from the command
	Launcher      string // as BuildSpec.Launcher, for this job
}

// SizePart is one part of the kernel script and what it takes.
type SizePart struct {
	Name  string `json:"name"`
	Bytes int    `json:"bytes"`
}

// BuildResult is a kernel folder ready to push.
type BuildResult struct {
	Kernel      string      `json:"kernel"`
	Dir         string      `json:"dir"`
	Script      string      `json:"script"`
	ScriptBytes int         `json:"script_bytes"`
	Parts       []SizePart  `json:"parts"`
	Jobs        []string    `json:"jobs"`
	Folds       []int       `json:"folds"`
	Warnings    []string    `json:"warnings"`
	LeftOut     []string    `json:"left_out"` // "path: why" of what lies in the included folders and does not travel
	BuildID     string      `json:"build_id"`
	Accelerator string      `json:"accelerator"`
	CapHours    float64     `json:"cap_h"`
	Fill        []FillOffer `json:"fill"` // what idle devices could do for nothing; empty when none is idle
}

// Guard is a reason not to push, with the flag that overrides it ("" = cannot be overridden; Advice then says what to do).
type Guard struct {
	Code     string `json:"code"` // quota, slots, size, inputs, shape, identity, cap, unclear, waiting, twice, running
	Reason   string `json:"reason"`
	Override string `json:"override"`
	Advice   string `json:"advice"`
	Waits    bool   `json:"waits"` // time alone can lift it: with --queue the launch queue waits for it
}

// PushOptions are the person's choices for one push.
type PushOptions struct {
	Hours       float64 // cap for a folder of one's own; 0 = the build's
	Accelerator string  // overrides the metadata's shape
	Force       bool    // go on although a guard that can be overridden refuses
	QueueIfFull bool    // no free slot: keep it and push when one frees, under this consent
	NoRun       bool    // save the kernel without running it
	// LeastHours lets a run that waits start with a shorter cap, from here on, so that hours that would expire are used and the rest is
	// a resume. It is for builds of ours that save checkpoints, with QueueIfFull; 0 = it starts with its whole cap or not at all.
	LeastHours float64
}

// PushPlan is what a push would do and cost. Nothing was sent yet.
type PushPlan struct {
	Dir         string
	Kernel      string
	Name        string
	Accelerator string // shape, "none" for CPU
	Pool        string
	CapHours    float64
	Quota       QuotaView
	LeftAfter   float64 // hours of the pool left if the run uses its whole cap
	Guards      []Guard // empty: nothing speaks against it
	Warnings    []string
	Options     PushOptions
	CostText    string         // "up to 7.0 GPU-hours"; the words of the push button and of the terminal question
	Rehearsal   *RehearsalNote // the newest of this very script; nil: it was never rehearsed

	source string    // SHA-256 of what was planned: a folder that changed since is not pushed
	at     time.Time // when the guards were asked
	pushes int64     // pushes of this process so far: another one makes the guards stale
	cut    error     // Kaggle could not be reached; nil = it was
	last   int64     // the newest run of this kernel: a newer one is another push that came first
}

// RehearsalNote is how a rehearsal went.
type RehearsalNote struct {
	OK      bool      `json:"ok"`
	Verdict string    `json:"verdict"` // one sentence
	At      time.Time `json:"at"`      // when it ended
}

// Consent records who authorised a spend of quota. A push without consent is refused.
type Consent struct {
	By string // "button", "terminal", "--yes"
}

// Run states as screens and verbs see them.
const (
	StatePushing  = "pushing"  // the request is out, its outcome not known yet
	StateUnclear  = "unclear"  // the outcome of the push has to be looked up
	StateWaiting  = "waiting"  // authorised, pushed by itself when a slot frees
	StateRefused  = "refused"  // Kaggle refused the push
	StateQueued   = "queued"   // waits at Kaggle; burns nothing
	StateRunning  = "running"  //
	StateStopping = "stopping" //
	StateComplete = "complete" //
	StateError    = "error"    //
	StateCancel   = "cancelled"
	StateMissing  = "missing" // Kaggle no longer knows it
	StateNoRun    = "no run"  // a kernel was saved, nothing ran
)

// Outcomes, decided when a run is collected.
const (
	OutcomeComplete = "complete" // every job is complete
	OutcomePartial  = "partial"  // something worth keeping came out
	OutcomeFailed   = "failed"   // nothing worth keeping
	OutcomeKilled   = "killed"   // stopped by its cap; what was saved is kept
)

// RunRow is a run as lists show it.
type RunRow struct {
	ID            int64     `json:"id"`
	Kernel        string    `json:"kernel"`
	Version       int       `json:"version"`
	Name          string    `json:"name"`
	Project       string    `json:"project"`
	State         string    `json:"state"`
	Status        string    `json:"status"` // Kaggle's status word, lower case
	Outcome       string    `json:"outcome"`
	Accelerator   string    `json:"accelerator"`
	Pool          string    `json:"pool"`
	CapHours      float64   `json:"cap_h"`
	Hours         float64   `json:"hours"` // burned so far
	Metric        string    `json:"metric"`
	Score         *float64  `json:"score"`
	Failure       string    `json:"failure"`
	Note          string    `json:"note"` // what Sandglass has to say about it
	URL           string    `json:"url"`  // its page at Kaggle; "" on a sandbox
	CreatedAt     time.Time `json:"created_at"`
	PushedAt      time.Time `json:"pushed_at"`
	StartedAt     time.Time `json:"started_at"`
	EndedAt       time.Time `json:"ended_at"`
	EndedFrom     string    `json:"ended_from"` // where ended_at comes from: "session", "cap", "observed" (when it was seen to be over); "" = not ended
	CollectedAt   time.Time `json:"collected_at"`
	UnreachableAt time.Time `json:"unreachable_since"`
	Origin        string    `json:"origin"` // push, folder, recorded, found
	Ended         bool      `json:"ended"`
	Collected     bool      `json:"collected"`
}

// TaskView is one (job, fold) of a run.
type TaskView struct {
	Job     string   `json:"job"`
	Fold    *int     `json:"fold"` // nil: a job without {fold}
	State   string   `json:"state"`
	Seconds float64  `json:"seconds"`
	Device  string   `json:"device"`
	Best    *float64 `json:"best"`
	Epochs  int      `json:"epochs"` // done
	Of      int      `json:"of"`     // planned; 0 = unknown
	Error   string   `json:"error"`
}

// CurvePoint is one evaluation. Frac is its place in the schedule, 0 to 1. Seconds since the task's start, NaN if unknown.
type CurvePoint struct {
	Epoch   int
	Frac    float64
	Seconds float64
	Score   float64
}

// CurveView is one learning curve.
type CurveView struct {
	Job    string
	Fold   int
	Points []CurvePoint
}

// UtilPoint is one sample of one device. Util in percent, Mem in MiB, T in seconds since the session's start.
type UtilPoint struct {
	Device string
	T      float64
	Util   float64
	Mem    float64
}

// FindingView is a diagnosis with its fix.
type FindingView struct {
	Code   string `json:"code"`
	Level  string `json:"level"` // good, info, warn, bad
	Text   string `json:"text"`
	Detail string `json:"detail"`
	Fix    string `json:"fix"`
}

// FileView is one output file.
type FileView struct {
	Path  string `json:"path"`
	Size  int64  `json:"size"`
	State string `json:"state"` // here, remote, missing, damaged
	Local string `json:"local"` // absolute path when here
}

// RunView is everything the run's page shows.
type RunView struct {
	RunRow
	Command       string
	Folds         []int
	Jobs          []string
	Tasks         []TaskView
	Curves        []CurveView // the run's own
	BaselineName  string
	Baseline      []CurveView
	BaselineScore *float64
	Greater       bool    // higher scores are better
	PruneMargin   float64 // 0: no pruning line
	PruneMinFrac  float64
	Util          []UtilPoint
	Findings      []FindingView
	Files         []FileView
	LogLines      int
	BuildDir      string
	ArtifactsDir  string
	Parts         []SizePart
	Inputs        []string
	QueuedFor     time.Duration // how long it waited, or waits so far
	EndsBy        time.Time     // start + cap; zero while it has not started
}

// BurnWeek is one week of the burn chart, in hours of one pool.
type BurnWeek struct {
	Start                           time.Time
	Kept, Failed, Killed, Elsewhere float64
	Reserved                        float64 // this week only: held by what is in flight
	Current                         bool
}

// PacePoint is this week's cumulative burn at a time, in hours.
type PacePoint struct {
	At    time.Time
	Hours float64
}

// WeekView is everything the Week page shows.
type WeekView struct {
	Quota    QuotaView
	GPU, TPU []BurnWeek // oldest first, the last one is the current week
	Pace     []PacePoint
	PaceTPU  []PacePoint
	WeekFrom time.Time
	WeekTo   time.Time
	InFlight []RunView
	Waiting  []RunRow // authorised, not pushed yet
	NeedsYou []RunRow // finished and not collected, or failed and not looked at
	Now      time.Time

	ExpiringGPU, ExpiringTPU *Expiring // hours about to expire unused; nil: nothing to say
}

// Expiring is what is about to expire in one pool, in hours.
type Expiring struct {
	LeftH     float64 // left now
	BurnableH float64 // of it, with the sessions that can still run before the reset
	LostH     float64 // LeftH - BurnableH: lost whatever is started
	LongestH  float64 // cap of the longest run that can start now and end before the reset
}

// EventKind says what changed. An event carries no data: read a fresh view.
type EventKind string

// Kinds of events.
const (
	EventRun     EventKind = "run"     // a run's state or rows changed
	EventCurve   EventKind = "curve"   // points, utilisation or tasks of a running run arrived
	EventLog     EventKind = "log"     // log lines arrived
	EventQuota   EventKind = "quota"   // a new quota reading
	EventAccount EventKind = "account" // signed in, out, switched
	EventNet     EventKind = "net"     // Kaggle became reachable or unreachable
	EventNotice  EventKind = "notice"  // something a person wants to be told
	EventReload  EventKind = "reload"  // this subscriber was too slow: reload everything
)

// Event is one change.
type Event struct {
	Kind   EventKind
	Run    int64 // 0: not about one run
	Seq    int64
	Notice *Notice // with EventNotice
}

// Notice is a native notification to show. Each is told once for ever: the core remembers Key.
type Notice struct {
	Key   string
	Kind  string // "tpu-started", "finished", "failed", "near-cap", "queue-stopped", "slot-freed", "quota-reset", "expiring"
	Title string // what happened: "TPU run started: cnx384"
	Body  string // what it means: "waited 11 h 20 min, ends by 07:40"
	Run   int64
}

// Progress reports long work. Total 0 means the amount is not known.
type Progress struct {
	Stage string // "Packing", "Downloading", …
	Item  string
	Done  int64
	Total int64
}

// Collected is the result of a collect.
type Collected struct {
	Run      RunView
	Dir      string // where the files went
	New      int    // files fetched now
	Kept     int    // files already here
	Left     int    // files of model weights that stay at Kaggle because they were not asked for
	LeftSize int64  // their bytes as far as Kaggle tells them
	Problems []string
}

// LogLine is one line of a run's log.
type LogLine struct {
	N      int // from 0
	Text   string
	Stream string // stdout, stderr
}
