package planner

import (
	"strings"
	"testing"
	"time"
)

func TestQueueCheck(t *testing.T) {
	reset := time.Date(2026, 9, 5, 0, 0, 0, 0, time.UTC) // a Saturday
	bal := func(left, total time.Duration) *Balance {
		return &Balance{Left: left, Total: total, Used: total - left}
	}
	gpu := func(change func(*QueueFacts)) QueueFacts {
		f := QueueFacts{PushFacts: PushFacts{Pool: GPU, Cap: 7 * h, Balance: bal(20*h, 30*h), BusySessions: 1, BusyNames: []string{"cnx384"}}, RefreshAt: reset}
		change(&f)
		return f
	}
	for name, c := range map[string]struct {
		facts QueueFacts
		code  string // "" = go
		stop  bool
		why   string
	}{
		"it goes": {gpu(func(*QueueFacts) {}), "", false, ""},
		"both slots": {gpu(func(f *QueueFacts) { f.BusySessions, f.BusyNames = 2, []string{"cnx384", "wide"} }), WaitSlots, false,
			"a GPU slot: cnx384 and wide hold both"},
		"the TPU slot": {gpu(func(f *QueueFacts) { f.Pool = TPU }), WaitSlots, false, "the TPU slot: cnx384 holds it"},
		"CPU sessions": {gpu(func(f *QueueFacts) {
			f.Pool, f.BusySessions, f.BusyNames = CPU, 5, []string{"a", "b", "c", "d", "e"}
		}), WaitSlots, false, "a CPU slot: a, b, c, d and e hold all 5"},
		"quota": {gpu(func(f *QueueFacts) { f.Balance = bal(192*time.Minute, 30*h) }), WaitQuota, false,
			"quota: needs 7.0 h, 3.2 h left until Sat 00:00 UTC"},
		"quota that is forced":        {gpu(func(f *QueueFacts) { f.Balance, f.Forced = bal(0, 30*h), true }), "", false, ""},
		"quota that nobody knows":     {gpu(func(f *QueueFacts) { f.Balance = nil }), "", false, ""},
		"a week that is too short":    {gpu(func(f *QueueFacts) { f.Balance = bal(5*h, 5*h) }), WaitQuota, true, "it needs 7.0 GPU-hours and a whole week has 5.0 h"},
		"a cap above the session":     {gpu(func(f *QueueFacts) { f.Cap = 13 * h }), "cap", true, "the cap of 13.0 h is above the 12.0 h"},
		"an input that runs":          {gpu(func(f *QueueFacts) { f.PendingInputs = []string{"me/prep"} }), WaitInputs, false, "input me/prep still running"},
		"an input being processed":    {gpu(func(f *QueueFacts) { f.UnreadyInputs = []string{"me/data"} }), WaitInputs, false, "input me/data still being processed"},
		"an input not seen once":      {gpu(func(f *QueueFacts) { f.MissingInputs = []string{"me/data"} }), WaitMissing, false, "looked for once more"},
		"an input not seen twice":     {gpu(func(f *QueueFacts) { f.MissingInputs, f.MissingBefore = []string{"me/data"}, true }), WaitMissing, true, "me/data is gone"},
		"an input that failed":        {gpu(func(f *QueueFacts) { f.FailedInputs, f.WaitedInputs = []string{"me/prep"}, true }), WaitInputs, true, "me/prep, which it waited for, failed"},
		"one that had failed before":  {gpu(func(f *QueueFacts) { f.FailedInputs = []string{"me/prep"} }), "", false, ""},
		"a slot and quota, both said": {gpu(func(f *QueueFacts) { f.BusySessions, f.Balance = 2, bal(h, 30*h) }), WaitSlots, false, "; quota: needs 7.0 h, 1.0 h left"},
	} {
		v := QueueCheck(c.facts)
		if v.Go != (c.code == "") || v.Stop != c.stop || v.Code != c.code || !strings.Contains(v.Why, c.why) || v.Stop != (v.Advice != "") {
			t.Errorf("%s: %+v, want %q, stop %v, %q", name, v, c.code, c.stop, c.why)
		}
	}
}

func TestMayPass(t *testing.T) {
	now := time.Date(2026, 9, 4, 12, 0, 0, 0, time.UTC)
	reset := now.Add(12 * h)
	f := func(p Pool, limit time.Duration) QueueFacts {
		return QueueFacts{PushFacts: PushFacts{Pool: p, Cap: limit, Balance: &Balance{Used: 20 * h, Held: 4 * h, Left: 6 * h, Total: 30 * h}}, RefreshAt: reset}
	}
	for name, c := range map[string]struct {
		ahead QueueHead
		facts QueueFacts
		want  bool
	}{
		"slots are taken in order":               {QueueHead{WaitSlots, h}, f(GPU, h), false},
		"behind one that is behind":              {QueueHead{WaitBehind, h}, f(GPU, h), false},
		"an unclear push ahead":                  {QueueHead{"unclear", h}, f(GPU, h), false},
		"inputs may be passed":                   {QueueHead{WaitInputs, h}, f(TPU, h), true},
		"it fits no more this week":              {QueueHead{WaitQuota, 11 * h}, f(GPU, 5*h), true},
		"hours in flight may come back":          {QueueHead{WaitQuota, 9 * h}, f(GPU, 5*h), false},
		"it would reach over the reset":          {QueueHead{WaitQuota, 11 * h}, f(GPU, 11*h+45*time.Minute), false},
		"the TPU's own queue may last over it":   {QueueHead{WaitQuota, 11 * h}, f(TPU, h), false},
		"nobody knows the quota":                 {QueueHead{WaitQuota, 11 * h}, QueueFacts{PushFacts: PushFacts{Pool: GPU, Cap: h}}, false},
		"without a cap it may hold a whole week": {QueueHead{WaitQuota, 11 * h}, f(GPU, 0), false},
	} {
		if got := MayPass(c.ahead, c.facts, now); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if len(QueueWarnings(TPU)) != 1 || len(QueueWarnings(GPU)) != 0 {
		t.Error("only a TPU run holds its one slot while it waits at Kaggle")
	}
}
