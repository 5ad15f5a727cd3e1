package planner

import "time"

// ActionKind is what to do about one run after we were away.
type ActionKind string

// What can be done.
const (
	ActCollect         ActionKind = "collect"          // it ended while we were away
	ActAttach          ActionKind = "attach"           // our push did arrive: it is Action.Version
	ActRequeue         ActionKind = "requeue"          // our push did not arrive: back to waiting here, to be pushed once
	ActContinueCollect ActionKind = "continue-collect" // go on with the files that are missing
	ActForeignVersion  ActionKind = "foreign-version"  // a newer version that is not ours: say so, collect ours if it can be had, leave the other alone
	ActPushWhenFree    ActionKind = "push-when-free"   // authorised and waiting here
	ActKeepWatching    ActionKind = "keep-watching"    // nothing to do but ask again
	ActMissing         ActionKind = "missing"          // Kaggle no longer knows it: deleted or renamed; never pushed again by itself
)

// LocalRun is a run as our log had it when we stopped.
type LocalRun struct {
	Run          string // our name for it, given back in the Action
	Kernel       string // owner/slug
	State        string // pushing, unclear, waiting (or queued-here), queued, running, stopping, collecting; other states need nothing
	Version      int    // 0 = not known
	SourceSHA256 string // of the source that was pushed; "" = not known
	PushedAt     time.Time
	FilesDone    int // with collecting
	FilesTotal   int
	Pool         Pool
}

// RemoteKernel is a kernel of the account as Kaggle shows it now.
type RemoteKernel struct {
	Kernel       string // owner/slug
	Version      int    // current version
	Status       string // Kaggle's word, any spelling
	GPU, TPU     bool
	SourceSHA256 string    // reckoned by us from the pulled source; "" = not pulled
	LastRun      time.Time // zero = not known
}

// Action is what to do about one run.
type Action struct {
	Run     string
	Kernel  string
	Do      ActionKind
	Version int    // the version the action is about; 0 = none
	Note    string // one sentence for the person
}

// Reconcile compares our log with what Kaggle has and says what to do with each run that is not settled, in the order
// given. It never says "push": ActRequeue and ActPushWhenFree lead to a push only when a slot is free.
func Reconcile(local []LocalRun, remote []RemoteKernel, now time.Time) []Action { panic("not yet") }

// SlotHolder is one session that takes a slot.
type SlotHolder struct {
	Kernel  string
	Version int
	Ours    bool
	Label   string // slug, and " version N" when the version is not ours
}

// SlotsTaken says which sessions hold the slots of each pool, queued ones included, ours and others'.
func SlotsTaken(local []LocalRun, remote []RemoteKernel) map[Pool][]SlotHolder { panic("not yet") }
