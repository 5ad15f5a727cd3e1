package planner

import (
	"fmt"
	"strings"
	"time"
)

// What a run of the launch queue waits for.
const (
	WaitSlots   = "slots"   // every session of the pool is taken
	WaitQuota   = "quota"   // the cap does not fit what is left of the week
	WaitInputs  = "inputs"  // an input is still running or being processed
	WaitMissing = "missing" // an input is not to be seen; believed when it is so twice
	WaitBehind  = "behind"  // an earlier run of the pool goes first
	WaitFill    = "fill"    // it may be shortened to what is left, and lets one go first that may not
)

// QueueFacts is what is known about the run that the launch queue looks at.
type QueueFacts struct {
	PushFacts
	RefreshAt     time.Time // the next reset; zero = not known
	Forced        bool      // the person agreed in spite of quota and inputs: these are not looked at
	MissingBefore bool      // the look before found an input missing as well
	WaitedInputs  bool      // at the look before it waited for its inputs

	// Of a run that the person lets start with a shorter cap, so that hours do not expire:
	Least   time.Duration // the shortest cap it may get; 0 = it goes with its own or not at all
	ResetIn time.Duration // until the next reset; 0 = not known
	Next    *QueueNext    // who goes first where not both fit; nil = nobody
	Passes  bool          // one that waits for quota is ahead of it
	// The pool's own wait between push and start, hours; zeros stand for what is known of the pool.
	QueueMedianH, QueueP90H float64
}

// QueueNext is the first run behind one that may be shortened that may not be, and that waits for nothing but its turn, a session or
// quota.
type QueueNext struct {
	Name string
	Cap  time.Duration
}

// QueueVerdict is what becomes of a waiting run: it goes, it waits for Code, or it stops because no waiting helps. Why is
// a clause in plain words, Advice what the person can do.
type QueueVerdict struct {
	Go, Stop          bool
	Cap               time.Duration // it goes with this cap, which is shorter than its own; 0 = with its own
	Code, Why, Advice string
}

// QueueCheck judges one waiting run. A stop is final: it is for what the person has to decide anew.
func QueueCheck(f QueueFacts) QueueVerdict {
	pool := f.pool()
	need := f.Cap
	if need <= 0 {
		need = SessionLimit(pool)
	}
	metered := pool != CPU && f.Balance != nil && !f.Forced
	switch {
	case need > SessionLimit(pool):
		return QueueVerdict{Stop: true, Code: "cap", Why: fmt.Sprintf("the cap of %s is above the %s that a %s session may run", Hours(need), Hours(SessionLimit(pool)), pool.PoolName()),
			Advice: "Push it again with a lower cap."}
	case metered && f.least(need) > f.Balance.Total:
		return QueueVerdict{Stop: true, Code: WaitQuota, Why: fmt.Sprintf("it needs %s and a whole week has %s %s now", hoursOf(need, pool), Hours(f.Balance.Total), plural(pool)),
			Advice: "Push it again with a lower cap and resume it in a second session."}
	case len(f.MissingInputs) > 0 && !f.Forced && f.MissingBefore:
		return QueueVerdict{Stop: true, Code: WaitMissing, Why: fmt.Sprintf("the input %s is gone from Kaggle, or no longer shown to this account", listed(f.MissingInputs)),
			Advice: "Attach another input and push it again."}
	case len(f.FailedInputs) > 0 && !f.Forced && f.WaitedInputs:
		return QueueVerdict{Stop: true, Code: WaitInputs, Why: fmt.Sprintf("the input %s, which it waited for, failed or was stopped", listed(f.FailedInputs)),
			Advice: "Look at that run first, then push this one again."}
	}
	var codes, why []string
	wait := func(code, format string, args ...any) {
		codes, why = append(codes, code), append(why, fmt.Sprintf(format, args...))
	}
	if f.BusySessions >= Slots(pool) {
		wait(WaitSlots, "%s", slotHeld(pool, f.BusyNames))
	}
	var shorter time.Duration
	if metered {
		var first bool
		shorter, first = f.fill(need)
		switch {
		case first:
			wait(WaitFill, "%s goes first: it fits what is left of the week and cannot be shortened", f.Next.Name)
		case shorter == 0 && need > f.Balance.Left && f.Least > 0:
			wait(WaitQuota, "quota: needs %s, or %s at least; %s left until %s", Hours(need), Hours(f.least(need)), Hours(f.Balance.Left), resetText(f.RefreshAt))
		case shorter == 0 && need > f.Balance.Left:
			wait(WaitQuota, "quota: needs %s, %s left until %s", Hours(need), Hours(f.Balance.Left), resetText(f.RefreshAt))
		}
	}
	if len(f.MissingInputs) > 0 && !f.Forced {
		wait(WaitMissing, "the input %s is not to be seen at Kaggle; it is looked for once more", listed(f.MissingInputs))
	}
	if len(f.UnreadyInputs) > 0 && !f.Forced {
		wait(WaitInputs, "input %s still being processed", listed(f.UnreadyInputs))
	}
	if len(f.PendingInputs) > 0 && !f.Forced {
		wait(WaitInputs, "input %s still running", listed(f.PendingInputs))
	}
	if codes == nil {
		return QueueVerdict{Go: true, Cap: shorter}
	}
	return QueueVerdict{Code: codes[0], Why: strings.Join(why, "; ")}
}

// least is the shortest cap that a run with the cap need may get.
func (f QueueFacts) least(need time.Duration) time.Duration {
	if f.Least <= 0 {
		return need
	}
	return min(max(f.Least, LeastUseful(f.pool())), need)
}

// fill asks Fill about a run that may be shortened: which shorter cap it goes with (0 = its own, or none that fits), or whether the
// run behind it goes first. What does not fit before the reset whatever its cap is left to the rules for all runs.
func (f QueueFacts) fill(need time.Duration) (shorter time.Duration, first bool) {
	least := f.least(need)
	reset := f.ResetIn
	if f.Passes && reset > 0 {
		reset -= passMargin // as MayPass asks for
	}
	if f.Least <= 0 || least >= need || reset < 0 || f.ResetIn > 0 && reset == 0 {
		return 0, false
	}
	ask := FillAsk{Pool: f.pool(), LeftH: f.Balance.Left.Hours(), ResetInH: reset.Hours(), FreeSlots: 1,
		Offers: []FillOffer{{Group: 1, CapH: need.Hours(), LeastH: least.Hours()}}, QueueMedianH: f.QueueMedianH, QueueP90H: f.QueueP90H}
	if f.Next != nil {
		ask.Offers = append(ask.Offers, FillOffer{Group: 2, CapH: f.Next.Cap.Hours()})
	}
	starts := Fill(ask)
	switch {
	case len(starts) == 0:
		return 0, false
	case starts[0].Offer > 0:
		return 0, true
	case !starts[0].Cut:
		return 0, false
	}
	// Down to a hundredth of an hour: the cap stands in the head of the script.
	return max(time.Duration(starts[0].CapH*100+slack)*36*time.Second, least), false
}

// LeastUseful is the shortest cap under which a session of a pool gets as far as saving something.
func LeastUseful(p Pool) time.Duration {
	return time.Duration(LeastCap(startOf(p)) * float64(time.Hour)).Round(time.Second)
}

// LeastProblem says why a run with this cap cannot be let start with a shorter one, from least on; "" when it can. packed: its script
// was built here, so that its own deadline follows the cap.
func LeastProblem(p Pool, limit, least time.Duration, packed bool) string {
	switch useful := LeastUseful(p); {
	case p == CPU:
		return "a CPU session burns no quota, so its cap is never shortened"
	case !packed:
		return "only a kernel that was built here can be given a shorter cap: in any other the script would not know of it and be killed"
	case least < useful:
		return fmt.Sprintf("%s are over before a %s session has saved anything; give at least %.2f", Hours(least), p.PoolName(), useful.Hours()+.005)
	case least >= limit:
		return fmt.Sprintf("the least of %s is not below the cap of %s", Hours(least), Hours(limit))
	}
	return ""
}

// QueueHead is a run that waits ahead of others in its pool.
type QueueHead struct {
	Code string        // what it waits for
	Cap  time.Duration // the least that it would go with
}

// passMargin is what a session that passes must leave free before the reset: start-up and the save after its end.
const passMargin = 30 * time.Minute

// MayPass says whether a run may be pushed before one that waits ahead of it. Pools never wait for each other; within a
// pool the order holds, with three exceptions where holding it would only let hours expire:
//
//   - the one ahead waits for nothing but its inputs: nobody knows for how long, and a free session would idle meanwhile;
//   - the one ahead may be shortened and lets another go first, as QueueCheck found;
//   - the one ahead needs more hours than this week has left even if everything in flight gave its hours back, and the one
//     behind fits and is over before the reset, so that it takes nothing from it. Not on the TPU, whose own queue may keep
//     a session waiting into the next week.
func MayPass(ahead QueueHead, f QueueFacts, now time.Time) bool {
	pool := f.pool()
	switch ahead.Code {
	case WaitInputs, WaitMissing, WaitFill:
		return true
	case WaitQuota:
		b := f.Balance
		if pool != GPU || b == nil || b.Rebased || f.RefreshAt.IsZero() || f.Cap <= 0 {
			return false
		}
		return ahead.Cap > b.Total-b.Used && !now.Add(f.Cap+passMargin).After(f.RefreshAt)
	}
	return false
}

// slotHeld says who holds a pool's sessions: "a GPU slot: cnx384 and wide hold both".
func slotHeld(p Pool, names []string) string {
	n := Slots(p)
	head := "a " + p.PoolName() + " slot"
	if n == 1 {
		head = "the " + p.PoolName() + " slot"
	}
	switch {
	case len(names) == 0 && n == 1:
		return head + ": it is taken"
	case len(names) == 0:
		return fmt.Sprintf("%s: all %d are taken", head, n)
	case n == 1:
		return fmt.Sprintf("%s: %s holds it", head, names[0])
	case n == 2 && len(names) == 2:
		return fmt.Sprintf("%s: %s and %s hold both", head, names[0], names[1])
	}
	last := len(names) - 1
	if last == 0 {
		return fmt.Sprintf("%s: %s and others hold all %d", head, names[0], n)
	}
	return fmt.Sprintf("%s: %s and %s hold all %d", head, strings.Join(names[:last], ", "), names[last], n)
}

// resetText is a reset as the queue names it: "Sat 00:00 UTC".
func resetText(t time.Time) string {
	if t.IsZero() {
		return "the weekly reset"
	}
	return t.UTC().Format("Mon 15:04") + " UTC"
}

func hoursOf(d time.Duration, p Pool) string { return fmt.Sprintf("%.1f %s", d.Hours(), plural(p)) }

func plural(p Pool) string { return p.PoolName() + "-hours" }

// QueueWarnings is what a person should know when a run is put into the launch queue.
func QueueWarnings(p Pool) []string {
	if p != TPU {
		return nil
	}
	return []string{"Once it is pushed, a TPU run holds the one TPU slot of the account for as long as it waits in Kaggle's own queue, half a day or more: no other TPU run can start meanwhile, and only deleting the kernel drops it."}
}
