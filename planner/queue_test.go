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

// A run that may be shortened goes with what is left before the reset; where another one fits that may not be, that goes first.
func TestQueueCheckShortens(t *testing.T) {
	reset := time.Date(2026, 9, 5, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		left, resetIn, least time.Duration
		next                 time.Duration // cap of the one behind; 0 = nobody
		code                 string        // "" = go
		limit                time.Duration // with this cap; 0 = its own
		why                  string
	}{
		"it fits":                                    {left: 9 * h, resetIn: 99 * h, least: 2 * h},
		"to the hours left":                          {left: 3 * h, resetIn: 99 * h, least: 2 * h, limit: 3 * h},
		"to a hundredth":                             {left: 3*h - 7*time.Second, resetIn: 99 * h, least: 2 * h, limit: 2*h + 99*36*time.Second},
		"to the very least":                          {left: 2*h + time.Second, resetIn: 99 * h, least: 2 * h, limit: 2 * h},
		"a least that is no hundredth":               {left: 2*h + 50*time.Second, resetIn: 99 * h, least: 2*h + 40*time.Second, limit: 2*h + 40*time.Second},
		"to the reset":                               {left: 9 * h, resetIn: 3 * h, least: 2 * h, limit: 3 * h},
		"the reset is too near: as any other":        {left: 9 * h, resetIn: h, least: 2 * h},
		"nobody knows the reset":                     {left: 3 * h, least: 2 * h, limit: 3 * h},
		"less is left than it needs":                 {left: h, resetIn: 99 * h, least: 2 * h, code: WaitQuota, why: "quota: needs 6.0 h, or 2.0 h at least; 1.0 h left until Sat 00:00 UTC"},
		"too little for a start-up, whatever it may": {left: time.Minute, resetIn: 99 * h, least: time.Second, code: WaitQuota},
		"it was not allowed":                         {left: 3 * h, resetIn: 99 * h, code: WaitQuota, why: "quota: needs 6.0 h, 3.0 h left"},
		"both fit: in order":                         {left: 9 * h, resetIn: 99 * h, least: 2 * h, next: 3 * h},
		"not both, and it fits":                      {left: 8 * h, resetIn: 99 * h, least: 2 * h, next: 3 * h, code: WaitFill, why: "wide goes first"},
		"not both, and it does not":                  {left: 5 * h, resetIn: 99 * h, least: 2 * h, next: 3 * h, code: WaitFill},
		"the one behind does not fit":                {left: 3 * h, resetIn: 99 * h, least: 2 * h, next: 4 * h, limit: 3 * h},
		"nor before the reset":                       {left: 9 * h, resetIn: 3 * h, least: 2 * h, next: 4 * h, limit: 3 * h},
	} {
		f := QueueFacts{PushFacts: PushFacts{Pool: GPU, Cap: 6 * h, Balance: &Balance{Left: c.left, Total: 30 * h}}, RefreshAt: reset, ResetIn: c.resetIn, Least: c.least}
		if c.next > 0 {
			f.Next = &QueueNext{"wide", c.next}
		}
		v := QueueCheck(f)
		if v.Stop || v.Go != (c.code == "") || v.Code != c.code || v.Cap != c.limit || !strings.Contains(v.Why, c.why) {
			t.Errorf("%s: %+v, want %q, cap %v, %q", name, v, c.code, c.limit, c.why)
		}
	}
	short := QueueFacts{PushFacts: PushFacts{Pool: GPU, Cap: 6 * h, Balance: &Balance{Left: 4 * h, Total: 4 * h}}, Least: 2 * h}
	if v := QueueCheck(short); !v.Go || v.Cap != 4*h {
		t.Errorf("a week with less than its cap: %+v", v)
	}
	passes := QueueFacts{PushFacts: PushFacts{Pool: GPU, Cap: 6 * h, Balance: &Balance{Used: 25 * h, Left: 5 * h, Total: 30 * h}}, RefreshAt: reset, ResetIn: 3 * h, Least: 2 * h, Passes: true}
	v := QueueCheck(passes)
	if passes.Cap = v.Cap; !v.Go || v.Cap != 150*time.Minute || !MayPass(QueueHead{WaitQuota, 6 * h}, passes, reset.Add(-3*h)) {
		t.Errorf("before one that waits for quota: %+v", v)
	}
	for _, in := range []time.Duration{30 * time.Minute, 10 * time.Minute} {
		if passes.ResetIn = in; QueueCheck(passes).Cap != 0 {
			t.Errorf("%s before the reset it passes", in)
		}
	}
	short.Forced = true
	if v := QueueCheck(short); !v.Go || v.Cap != 0 {
		t.Errorf("forced, so the quota is not looked at: %+v", v)
	}
	if !MayPass(QueueHead{WaitFill, 2 * h}, short, reset) {
		t.Error("it let the other one go first, and that may not")
	}
}

func TestLeastProblem(t *testing.T) {
	for _, c := range []struct {
		pool         Pool
		limit, least time.Duration
		packed       bool
		want         string
	}{
		{GPU, 6 * h, 2 * h, true, ""}, {TPU, 6 * h, 2 * h, true, ""},
		{CPU, 6 * h, 2 * h, true, "no quota"}, {GPU, 6 * h, 2 * h, false, "built here"},
		{GPU, 6 * h, 15 * time.Minute, true, "give at least 0."}, {GPU, 2 * h, 2 * h, true, "not below the cap"},
	} {
		if got := LeastProblem(c.pool, c.limit, c.least, c.packed); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
