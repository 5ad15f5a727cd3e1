package planner

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"testing"
	"testing/quick"
	"time"
)

var (
	saturday = time.Date(2026, 10, 3, 0, 0, 0, 0, time.UTC)
	midweek  = time.Date(2026, 9, 30, 12, 0, 0, 0, time.UTC)
)

const h = time.Hour

func reading() Reading {
	return Reading{Pool: GPU, Used: 10 * h, Total: 30 * h, FetchedAt: midweek, RefreshAt: saturday}
}

func TestBalanceHolds(t *testing.T) {
	run := func(phase HoldPhase, limit, startedAgo, endedIn time.Duration) Hold {
		x := Hold{Pool: GPU, Cap: limit, Phase: phase}
		if startedAgo != 0 {
			x.StartedAt = midweek.Add(-startedAgo)
		}
		if endedIn != 0 {
			x.EndedAt = midweek.Add(endedIn)
		}
		return x
	}
	reserved := func(d time.Duration) Reading { r := reading(); r.Reserved = d; return r }
	tests := []struct {
		name       string
		r          Reading
		holds      []Hold
		held, left time.Duration
	}{
		{"nothing in flight", reading(), nil, 0, 20 * h},
		{"pushing holds its cap", reading(), []Hold{run(HoldPushing, 7*h, 0, 0)}, 7 * h, 13 * h},
		{"queued holds its cap", reading(), []Hold{run(HoldQueued, 7*h, 0, 0)}, 7 * h, 13 * h},
		{"no cap holds the session limit", reading(), []Hold{run(HoldQueued, 0, 0, 0)}, 12 * h, 8 * h},
		{"running holds the rest at the reading", reading(), []Hold{run(HoldRunning, 7*h, 3*h, 0)}, 4 * h, 16 * h},
		{"running past its cap holds nothing", reading(), []Hold{run(HoldRunning, 7*h, 8*h, 0)}, 0, 20 * h},
		{"running, start unknown, holds its cap", reading(), []Hold{run(HoldRunning, 7*h, 0, 0)}, 7 * h, 13 * h},
		{"Kaggle reserves it already", reserved(4 * h), []Hold{run(HoldRunning, 7*h, 3*h, 0)}, 0, 16 * h},
		{"Kaggle reserves less than we know", reserved(3 * h), []Hold{run(HoldRunning, 7*h, 3*h, 0)}, h, 16 * h},
		{"somebody else's reservation stays", reserved(9 * h), []Hold{run(HoldRunning, 7*h, 3*h, 0)}, 0, 11 * h},
		{"seen running shortly after the reading: it ran at it", reserved(7 * h), []Hold{run(HoldRunning, 7*h, -time.Minute, 0)}, 0, 13 * h},
		{"a queued run comes on top of what runs", reserved(5 * h), []Hold{run(HoldQueued, 7*h, 0, 0)}, 7 * h, 8 * h},
		{"ended after the reading: its time since then", reading(), []Hold{run(HoldEnded, 7*h, 3*h, h)}, h, 19 * h},
		{"started and ended after the reading", reading(), []Hold{run(HoldEnded, 7*h, -h, 3*h)}, 2 * h, 18 * h},
		{"ended before the reading: in it", reading(), []Hold{run(HoldEnded, 7*h, 3*h, -time.Minute)}, 0, 20 * h},
		{"ended after it, start unknown: at most since then", reading(), []Hold{run(HoldEnded, 7*h, 0, 2*h)}, 2 * h, 18 * h},
		{"TPU runs hold no GPU hours", reading(), []Hold{{Pool: TPU, Cap: 9 * h, Phase: HoldQueued}}, 0, 20 * h},
		{"processor runs hold nothing", reading(), []Hold{{Pool: CPU, Cap: 9 * h, Phase: HoldRunning}}, 0, 20 * h},
		{"more held than there is", reading(), []Hold{run(HoldQueued, 12*h, 0, 0), run(HoldQueued, 12*h, 0, 0)}, 24 * h, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := BalanceOf(tt.r, tt.holds, midweek.Add(h))
			if b.Held != tt.held || b.Left != tt.left {
				t.Errorf("held %v left %v, want %v and %v", b.Held, b.Left, tt.held, tt.left)
			}
		})
	}
}

// A queue of half a day must not melt what the run holds.
func TestQueueTimeDoesNotReduceAHold(t *testing.T) {
	r := reading()
	hold := []Hold{{Pool: GPU, Cap: 7 * h, Phase: HoldQueued}}
	for _, wait := range []time.Duration{0, time.Minute, 8 * h, 20 * h} {
		r.FetchedAt = midweek.Add(wait)
		if b := BalanceOf(r, hold, r.FetchedAt); b.Held != 7*h {
			t.Errorf("after %v in the queue the run holds %v, want 7 h", wait, b.Held)
		}
	}
}

func TestBalanceOracles(t *testing.T) {
	r := Reading{Used: 3600 * time.Second, Reserved: 1800 * time.Second, Total: 108000 * time.Second, FetchedAt: midweek, RefreshAt: saturday}
	if b := BalanceOf(r, nil, midweek); b.Left != 102600*time.Second {
		t.Errorf("Q2: left %v, want 102600 s", b.Left)
	}
	r = Reading{Used: 35 * h, Total: 30 * h, FetchedAt: midweek, RefreshAt: saturday}
	if b := BalanceOf(r, nil, midweek); b.Left != 0 || b.Overdrawn != 5*h {
		t.Errorf("Q3: left %v overdrawn %v, want 0 and 5 h", b.Left, b.Overdrawn)
	}
	if got := WeekStart(time.Time{}, time.Date(2026, 8, 29, 0, 0, 0, 0, time.UTC)); got.Weekday() != time.Saturday || got.Hour() != 0 {
		t.Errorf("Q4: the reset is %v, want a Saturday 00:00 UTC", got)
	}
}

func TestRebase(t *testing.T) {
	tests := []struct {
		name  string
		r     Reading
		holds []Hold
		now   time.Time
		want  Balance
	}{
		{"one reset", reading(), nil, saturday.Add(h), Balance{Total: 30 * h, Left: 30 * h, Rebased: true, RefreshAt: saturday.Add(week)}},
		{"exactly at the reset", reading(), nil, saturday, Balance{Total: 30 * h, Left: 30 * h, Rebased: true, RefreshAt: saturday.Add(week)}},
		{"a moment before it", reading(), nil, saturday.Add(-1), Balance{Used: 10 * h, Total: 30 * h, Left: 20 * h, RefreshAt: saturday}},
		{"several missed", reading(), nil, saturday.Add(3*week + 5*h), Balance{Total: 30 * h, Left: 30 * h, Rebased: true, RefreshAt: saturday.Add(4 * week)}},
		{"a queued run holds its cap in the new week", reading(), []Hold{{Pool: GPU, Cap: 7 * h, Phase: HoldQueued}}, saturday.Add(h),
			Balance{Held: 7 * h, Total: 30 * h, Left: 23 * h, Rebased: true, RefreshAt: saturday.Add(week)}},
		{"a run across the reset holds what it had left there", reading(), []Hold{{Pool: GPU, Cap: 7 * h, Phase: HoldRunning, StartedAt: saturday.Add(-3 * h)}}, saturday.Add(h),
			Balance{Held: 4 * h, Total: 30 * h, Left: 26 * h, Rebased: true, RefreshAt: saturday.Add(week)}},
		{"before the reset it holds what it can burn until then", Reading{Pool: GPU, Used: 10 * h, Total: 30 * h, FetchedAt: saturday.Add(-3 * h), RefreshAt: saturday},
			[]Hold{{Pool: GPU, Cap: 7 * h, Phase: HoldRunning, StartedAt: saturday.Add(-4 * h)}}, saturday.Add(-2 * h),
			Balance{Used: 10 * h, Held: 3 * h, Total: 30 * h, Left: 17 * h, RefreshAt: saturday}},
		{"Kaggle's own reservation wins where it is more", Reading{Pool: GPU, Used: 10 * h, Reserved: 6 * h, Total: 30 * h, FetchedAt: saturday.Add(-3 * h), RefreshAt: saturday},
			[]Hold{{Pool: GPU, Cap: 7 * h, Phase: HoldRunning, StartedAt: saturday.Add(-4 * h)}}, saturday.Add(-2 * h),
			Balance{Used: 10 * h, Reserved: 6 * h, Total: 30 * h, Left: 14 * h, RefreshAt: saturday}},
		{"a run that ended across it: its part of the new week", reading(), []Hold{{Pool: GPU, Cap: 7 * h, Phase: HoldEnded, StartedAt: saturday.Add(-3 * h), EndedAt: saturday.Add(h)}}, saturday.Add(2 * h),
			Balance{Held: h, Total: 30 * h, Left: 29 * h, Rebased: true, RefreshAt: saturday.Add(week)}},
		{"a run of the old week is forgotten", reading(), []Hold{{Pool: GPU, Cap: 7 * h, Phase: HoldEnded, StartedAt: saturday.Add(-9 * h), EndedAt: saturday.Add(-h)}}, saturday.Add(2 * h),
			Balance{Total: 30 * h, Left: 30 * h, Rebased: true, RefreshAt: saturday.Add(week)}},
		{"Kaggle's reservation across the reset loses what burnt before it",
			Reading{Pool: GPU, Used: 10 * h, Reserved: 7 * h, Total: 30 * h, FetchedAt: saturday.Add(-2 * h), RefreshAt: saturday}, nil, saturday.Add(h),
			Balance{Reserved: 5 * h, Total: 30 * h, Left: 25 * h, Rebased: true, RefreshAt: saturday.Add(week)}},
		{"a reading after its own reset time is taken as it is",
			Reading{Pool: GPU, Used: 2 * h, Total: 30 * h, FetchedAt: saturday.Add(time.Minute), RefreshAt: saturday}, nil, saturday.Add(h),
			Balance{Used: 2 * h, Total: 30 * h, Left: 28 * h, RefreshAt: saturday.Add(week)}},
		{"no reset time known: Saturday", Reading{Pool: GPU, Used: 10 * h, Total: 30 * h, FetchedAt: midweek}, nil, saturday.Add(h),
			Balance{Total: 30 * h, Left: 30 * h, Rebased: true, RefreshAt: saturday.Add(week)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := BalanceOf(tt.r, tt.holds, tt.now); got != tt.want {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

// scene is a random reading with random runs.
type scene struct {
	r     Reading
	holds []Hold
	now   time.Time
}

func randomScene(seed uint64) scene {
	rnd := rand.New(rand.NewPCG(seed, 1))
	hours := func(n float64) time.Duration { return time.Duration(rnd.Float64() * n * float64(h)) }
	s := scene{r: Reading{Pool: GPU, Used: hours(40), Reserved: hours(15), Total: hours(45), FetchedAt: midweek.Add(hours(100)), RefreshAt: saturday.Add(time.Duration(rnd.IntN(4)-1) * week)}}
	if rnd.IntN(6) == 0 {
		s.r.RefreshAt = time.Time{}
	}
	s.now = s.r.FetchedAt.Add(hours(24 * 30 * rnd.Float64()))
	for range rnd.IntN(5) {
		x := Hold{Pool: []Pool{GPU, GPU, TPU, CPU}[rnd.IntN(4)], Cap: hours(13), Phase: HoldPhase(rnd.IntN(4))}
		if rnd.IntN(4) > 0 {
			x.StartedAt = s.r.FetchedAt.Add(hours(40) - 20*h)
		}
		if x.Phase == HoldEnded {
			x.EndedAt = s.r.FetchedAt.Add(hours(40) - 20*h)
		}
		s.holds = append(s.holds, x)
	}
	return s
}

func TestBalanceProperties(t *testing.T) {
	property := func(name string, holds func(s scene, b Balance) bool) {
		t.Run(name, func(t *testing.T) {
			err := quick.Check(func(seed uint64) bool {
				s := randomScene(seed)
				return holds(s, BalanceOf(s.r, s.holds, s.now))
			}, &quick.Config{MaxCount: 4000})
			if err != nil {
				t.Error(err)
			}
		})
	}
	property("nothing is negative and left is within the total", func(s scene, b Balance) bool {
		return b.Held >= 0 && b.Used >= 0 && b.Reserved >= 0 && b.Left >= 0 && b.Left <= b.Total && b.Overdrawn >= 0
	})
	property("the sum is kept", func(s scene, b Balance) bool {
		return b.Left == max(0, b.Total-b.Used-b.Reserved-b.Held)
	})
	property("more quota never leaves less", func(s scene, b Balance) bool {
		s.r.Total += 3 * h
		return BalanceOf(s.r, s.holds, s.now).Left >= b.Left
	})
	property("one run more never leaves more", func(s scene, b Balance) bool {
		for phase := HoldPushing; phase <= HoldEnded; phase++ {
			more := append(s.holds[:len(s.holds):len(s.holds)], Hold{Pool: GPU, Cap: 5 * h, Phase: phase, StartedAt: s.r.FetchedAt, EndedAt: s.r.FetchedAt.Add(2 * h)})
			if BalanceOf(s.r, more, s.now).Left > b.Left {
				return false
			}
		}
		return true
	})
	property("more used never leaves more", func(s scene, b Balance) bool {
		s.r.Used += h
		return BalanceOf(s.r, s.holds, s.now).Left <= b.Left
	})
	property("a whole week later without runs is the same new week", func(s scene, b Balance) bool {
		if !b.Rebased {
			return true
		}
		later := BalanceOf(s.r, nil, s.now.Add(week))
		return later.Rebased && later.Used == 0 && later.Reserved == 0 && later.RefreshAt.Equal(b.RefreshAt.Add(week))
	})
	property("the next reset is within a week", func(s scene, b Balance) bool {
		return b.RefreshAt.After(s.now) && !b.RefreshAt.After(s.now.Add(week))
	})
	property("other pools do not matter", func(s scene, b Balance) bool {
		more := append(s.holds[:len(s.holds):len(s.holds)], Hold{Pool: TPU, Cap: 9 * h}, Hold{Pool: CPU, Cap: 9 * h})
		return BalanceOf(s.r, more, s.now) == b
	})
}

// The quota answers of the case, as the client would hand them on.
func TestCase12(t *testing.T) {
	var answers []struct {
		Name string
		Body struct {
			GPU map[string]any `json:"gpuQuota"`
		}
	}
	var want map[string]struct {
		Left      float64 `json:"gpu_left_s"`
		Free      float64 `json:"gpu_free_to_plan_s"`
		Overdrawn float64 `json:"overdrawn_s"`
	}
	readJSON(t, "testdata/12-quota-durations/responses.json", &answers)
	readJSON(t, "testdata/12-quota-durations/expected.json", &want)
	checked := 0
	for _, a := range answers {
		used, ok := parseSeconds(a.Body.GPU["timeUsed"])
		total, ok2 := parseSeconds(a.Body.GPU["totalTimeAllowed"])
		if !ok || !ok2 {
			continue // not reported or not readable: there is no Reading
		}
		reserved, _ := parseSeconds(a.Body.GPU["timeReserved"])
		w := want[a.Name]
		b := BalanceOf(Reading{Used: used, Reserved: reserved, Total: total, FetchedAt: midweek, RefreshAt: saturday}, nil, midweek)
		left := w.Left
		if w.Free > 0 {
			left = w.Free
		}
		if got := b.Left.Seconds(); got != left {
			t.Errorf("%s: left %v s, want %v", a.Name, got, left)
		}
		if got := b.Overdrawn.Seconds(); got != w.Overdrawn {
			t.Errorf("%s: overdrawn %v s, want %v", a.Name, got, w.Overdrawn)
		}
		checked++
	}
	if checked != 5 {
		t.Errorf("%d answers were checked, want the 5 good ones", checked)
	}
}

func parseSeconds(v any) (time.Duration, bool) {
	s, ok := v.(string)
	if !ok {
		return 0, false
	}
	d, err := time.ParseDuration(s)
	return d, err == nil && d >= 0 && s[len(s)-1] == 's'
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
