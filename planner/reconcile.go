package planner

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	// arriveWithin is how long a push whose outcome we did not see may take to show up.
	arriveWithin = 2 * time.Minute
	// clockSkew is how far this computer's clock may be from Kaggle's.
	clockSkew = 5 * time.Minute
)

// ActionKind is what to do about one run after we were away.
type ActionKind string

// What can be done.
const (
	ActCollect         ActionKind = "collect"          // it ended while we were away
	ActAttach          ActionKind = "attach"           // our push did arrive: it is Action.Version
	ActRequeue         ActionKind = "requeue"          // our push did not arrive: back to waiting here, to be pushed once, if it was authorised to wait; else the person has to push again
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
// given. It never says "push": ActRequeue and ActPushWhenFree lead to a push only when a slot is free. Kernels that no
// run of ours names are never touched.
func Reconcile(local []LocalRun, remote []RemoteKernel, now time.Time) []Action {
	r := reconciler{remote: newest(remote), claimed: map[string]bool{}}
	for _, l := range local {
		if l.Version > 0 {
			r.claimed[versionKey(l.Kernel, l.Version)] = true
		}
	}
	acts := make(map[int]Action, len(local))
	// Open pushes first, the oldest before the others: each takes at most one version, and no two take the same.
	order := byPushTime(local)
	for _, open := range []bool{true, false} {
		for _, i := range order {
			if openPush(local[i]) != open {
				continue
			}
			if a, ok := r.decide(local[i], now); ok {
				a.Run, a.Kernel = local[i].Run, local[i].Kernel
				acts[i] = a
			}
		}
	}
	var out []Action
	for i := range local {
		if a, ok := acts[i]; ok {
			out = append(out, a)
		}
	}
	return out
}

type reconciler struct {
	remote  map[string]RemoteKernel
	claimed map[string]bool // kernel and version: a run of ours
}

// openPush: a request whose outcome we never saw.
func openPush(l LocalRun) bool { return l.State == "pushing" || l.State == "unclear" }

func (r *reconciler) decide(l LocalRun, now time.Time) (Action, bool) {
	k, there := r.remote[kernelKey(l.Kernel)]
	switch l.State {
	case "waiting", "queued-here":
		return Action{Do: ActPushWhenFree, Note: "It waits here and is pushed when a slot is free."}, true
	case "pushing", "unclear":
		return r.pushed(l, k, there, now), true
	case StateQueued, StateRunning, StateStopping, StateNotVisible:
		return r.watched(l, k, there, now), true
	case "collecting":
		return r.collecting(l, k, there), true
	}
	return Action{}, false
}

// pushed decides about a push whose outcome we never saw.
func (r *reconciler) pushed(l LocalRun, k RemoteKernel, there bool, now time.Time) Action {
	young := !l.PushedAt.IsZero() && now.Sub(l.PushedAt) < arriveWithin
	switch {
	case !there && young:
		return Action{Do: ActKeepWatching, Note: "The push is not to be seen at Kaggle yet; it may still appear."}
	case !there:
		return Action{Do: ActRequeue, Note: "The push did not reach Kaggle."}
	}
	taken := r.claimed[versionKey(l.Kernel, k.Version)] && l.Version != k.Version
	same := l.SourceSHA256 != "" && strings.EqualFold(l.SourceSHA256, k.SourceSHA256)
	differs := l.SourceSHA256 != "" && k.SourceSHA256 != "" && !same
	before := !k.LastRun.IsZero() && !l.PushedAt.IsZero() && k.LastRun.Before(l.PushedAt.Add(-clockSkew))
	switch {
	case taken || (same && before) || (differs && before):
		return r.notArrived(young, k)
	case same:
		r.claimed[versionKey(l.Kernel, k.Version)] = true
		return Action{Do: ActAttach, Version: k.Version, Note: fmt.Sprintf("The push did arrive: it is version %d.", k.Version)}
	case differs && !k.LastRun.IsZero() && !l.PushedAt.IsZero():
		// Run after our push with another source: ours may be the version below it, or none.
		return Action{Do: ActForeignVersion, Version: k.Version, Note: fmt.Sprintf("Version %d of this kernel was pushed elsewhere while the outcome of our push was open. It is left alone, and ours is not pushed again by itself.", k.Version)}
	case differs:
		return r.notArrived(young, k)
	case before:
		return r.notArrived(young, k)
	}
	return Action{Do: ActKeepWatching, Version: k.Version, Note: fmt.Sprintf("Version %d may be our push; its source has to be compared first.", k.Version)}
}

func (r *reconciler) notArrived(young bool, k RemoteKernel) Action {
	if young {
		return Action{Do: ActKeepWatching, Note: "The push is not to be seen at Kaggle yet; it may still appear."}
	}
	return Action{Do: ActRequeue, Note: fmt.Sprintf("The push did not reach Kaggle, which has version %d from before.", k.Version)}
}

// watched decides about a run that Kaggle had accepted.
func (r *reconciler) watched(l LocalRun, k RemoteKernel, there bool, now time.Time) Action {
	if !there {
		if !l.PushedAt.IsZero() && now.Sub(l.PushedAt) < visibleWithin {
			return Action{Do: ActKeepWatching, Version: l.Version, Note: "Kaggle does not show it yet."}
		}
		return Action{Do: ActMissing, Version: l.Version, Note: "Kaggle no longer knows this kernel: it was deleted or renamed. It is not pushed again by itself."}
	}
	if l.Version > 0 && k.Version > l.Version {
		return r.newer(l, k)
	}
	if l.Version == 0 || k.Version == l.Version {
		switch status := NormalStatus(k.Status); status {
		case StateComplete, StateError, StateCancelled:
			return Action{Do: ActCollect, Version: k.Version, Note: fmt.Sprintf("It ended while nobody watched (%s).", status)}
		}
	}
	return Action{Do: ActKeepWatching, Version: l.Version}
}

// newer decides about a run of ours that a later version has covered.
func (r *reconciler) newer(l LocalRun, k RemoteKernel) Action {
	if r.claimed[versionKey(l.Kernel, k.Version)] {
		return Action{Do: ActCollect, Version: l.Version, Note: fmt.Sprintf("We pushed version %d of this kernel since; version %d is collected if Kaggle still has it.", k.Version, l.Version)}
	}
	return Action{Do: ActForeignVersion, Version: l.Version, Note: fmt.Sprintf("Version %d of this kernel was pushed elsewhere. It is left alone; version %d is collected if Kaggle still has it.", k.Version, l.Version)}
}

func (r *reconciler) collecting(l LocalRun, k RemoteKernel, there bool) Action {
	switch {
	case !there:
		return Action{Do: ActMissing, Version: l.Version, Note: fmt.Sprintf("Kaggle no longer knows this kernel; %d of %d files are here and stay.", l.FilesDone, l.FilesTotal)}
	case l.Version > 0 && k.Version > l.Version:
		return r.newer(l, k)
	}
	return Action{Do: ActContinueCollect, Version: l.Version, Note: filesNote(l)}
}

func filesNote(l LocalRun) string {
	switch left := l.FilesTotal - l.FilesDone; {
	case l.FilesTotal == 0:
		return "Collecting goes on."
	case left <= 0:
		return "Every file is here; collecting is finished off."
	case left == 1:
		return fmt.Sprintf("Collecting goes on with file %d.", l.FilesTotal)
	}
	return fmt.Sprintf("Collecting goes on with files %d to %d.", l.FilesDone+1, l.FilesTotal)
}

// SlotHolder is one session that takes a slot.
type SlotHolder struct {
	Kernel  string
	Version int
	Ours    bool
	Label   string // slug, and " version N" when the version is not ours
}

// SlotsTaken says which sessions hold the slots of each pool, queued ones included, ours and others'. A version is ours
// when a run of ours has that number, or is a push of that very source whose outcome we did not see.
func SlotsTaken(local []LocalRun, remote []RemoteKernel) map[Pool][]SlotHolder {
	ours := map[string]bool{}
	for _, a := range Reconcile(local, remote, time.Time{}) {
		if a.Do == ActAttach {
			ours[versionKey(a.Kernel, a.Version)] = true
		}
	}
	for _, l := range local {
		if l.Version > 0 {
			ours[versionKey(l.Kernel, l.Version)] = true
		}
	}
	out := map[Pool][]SlotHolder{}
	merged := newest(remote)
	for _, k := range remote {
		if k != merged[kernelKey(k.Kernel)] || !live(NormalStatus(k.Status)) {
			continue
		}
		delete(merged, kernelKey(k.Kernel)) // listed twice: counted once
		h := SlotHolder{Kernel: k.Kernel, Version: k.Version, Ours: ours[versionKey(k.Kernel, k.Version)]}
		h.Label = k.Kernel[strings.LastIndexByte(k.Kernel, '/')+1:]
		if !h.Ours {
			h.Label += fmt.Sprintf(" version %d", k.Version)
		}
		pool := CPU
		switch {
		case k.TPU:
			pool = TPU
		case k.GPU:
			pool = GPU
		}
		out[pool] = append(out[pool], h)
	}
	return out
}

// newest keeps of each kernel the row with the highest version.
func newest(remote []RemoteKernel) map[string]RemoteKernel {
	out := make(map[string]RemoteKernel, len(remote))
	for _, k := range remote {
		if have, ok := out[kernelKey(k.Kernel)]; !ok || k.Version > have.Version {
			out[kernelKey(k.Kernel)] = k
		}
	}
	return out
}

// byPushTime is the order of the runs by their push, those without a time last.
func byPushTime(local []LocalRun) []int {
	order := make([]int, len(local))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		ta, tb := local[a].PushedAt, local[b].PushedAt
		if ta.IsZero() != tb.IsZero() {
			if ta.IsZero() {
				return 1
			}
			return -1
		}
		return ta.Compare(tb)
	})
	return order
}

func kernelKey(kernel string) string { return strings.ToLower(strings.TrimSpace(kernel)) }

func versionKey(kernel string, version int) string {
	return fmt.Sprintf("%s/%d", kernelKey(kernel), version)
}
