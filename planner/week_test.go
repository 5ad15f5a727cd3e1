package planner

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestWeekStart(t *testing.T) {
	tests := []struct{ refresh, now, want time.Time }{
		{saturday, midweek, saturday.Add(-week)},
		{saturday, saturday, saturday},
		{saturday, saturday.Add(-1), saturday.Add(-week)},
		{saturday, saturday.Add(5*week + h), saturday.Add(5 * week)},
		{saturday, saturday.Add(-5*week + h), saturday.Add(-5 * week)},
		{saturday.Add(9 * h), midweek, saturday.Add(9*h - week)},
		{time.Time{}, midweek, saturday.Add(-week)},
	}
	for _, tt := range tests {
		if got := WeekStart(tt.refresh, tt.now); !got.Equal(tt.want) {
			t.Errorf("refresh %v now %v: %v, want %v", tt.refresh, tt.now, got, tt.want)
		}
	}
}

func TestResetsBefore(t *testing.T) {
	tests := []struct {
		id       string
		deadline time.Time
		want     int
	}{
		{"W1", time.Date(2026, 10, 22, 23, 59, 0, 0, time.UTC), 3},
		{"W3 half an hour after", time.Date(2026, 10, 3, 0, 30, 0, 0, time.UTC), 1},
		{"W3 exactly at it", saturday, 0},
		{"exactly at the second", saturday.Add(week), 1},
		{"past", midweek.Add(-h), 0},
	}
	for _, tt := range tests {
		if got := ResetsBefore(saturday, midweek, tt.deadline); got != tt.want {
			t.Errorf("%s: %d resets, want %d", tt.id, got, tt.want)
		}
	}
}

func TestBurnByWeek(t *testing.T) {
	this := saturday.Add(-week) // the week midweek is in
	burns := []Burn{
		{Start: this.Add(h), End: this.Add(5 * h), Outcome: OutcomeComplete},
		{Start: this.Add(6 * h), End: this.Add(7 * h), Outcome: OutcomePartial},
		{Start: this.Add(8 * h), End: this.Add(10 * h), Outcome: OutcomeFailed},
		{Start: midweek.Add(-3 * h), Outcome: ""},                                     // still running
		{Start: this.Add(-2 * h), End: this.Add(h), Outcome: OutcomeKilled},           // across the reset
		{Start: this.Add(-3*week - h), End: this.Add(-3 * week), Outcome: "complete"}, // too long ago
	}
	readings := []Reading{
		{Used: 6 * h, FetchedAt: this.Add(-3 * h)},
		{Used: 14 * h, Reserved: 4 * h, FetchedAt: midweek.Add(-h)},
		{Used: 3 * h, FetchedAt: this.Add(4 * h)},
	}
	got := BurnByWeek(burns, readings, saturday, midweek, 3)
	want := []Week{
		{Start: this.Add(-2 * week)},
		{Start: this.Add(-week), Killed: 2 * h, Elsewhere: 6 * h},
		{Start: this, Kept: 8 * h, Failed: 2 * h, Killed: h, Elsewhere: 14*h - 10*h, Reserved: 4 * h, Current: true},
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("week %d:\ngot  %+v\nwant %+v", i, got[i], want[i])
		}
	}
	if BurnByWeek(burns, readings, saturday, midweek, 0) != nil {
		t.Error("no weeks were asked for")
	}
}

// What Kaggle counts a little longer than we do is nobody's session; what is more was started elsewhere.
func TestElsewhereIsNotRounding(t *testing.T) {
	this := saturday.Add(-week)
	burns := []Burn{{Start: this.Add(h), End: this.Add(3 * h), Outcome: OutcomeComplete}}
	for used, want := range map[time.Duration]time.Duration{
		2 * h: 0, 2*h + time.Minute: 0, 2*h - time.Minute: 0, 2*h + 5*time.Minute: 5 * time.Minute, 5 * h: 3 * h,
	} {
		got := BurnByWeek(burns, []Reading{{Used: used, FetchedAt: midweek}}, saturday, midweek, 1)[0].Elsewhere
		if got != want {
			t.Errorf("used %v, ours 2 h: %v elsewhere, want %v", used, got, want)
		}
	}
}

// However a session lies over the resets, the weeks together hold exactly its time.
func TestBurnIsSplitExactly(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		start := midweek.Add(-time.Duration(rnd.Int64N(int64(3 * week))))
		end := start.Add(time.Duration(rnd.Int64N(int64(12 * h))))
		if end.After(midweek) {
			end = midweek
		}
		sum := time.Duration(0)
		for _, w := range BurnByWeek([]Burn{{Start: start, End: end, Outcome: "complete"}}, nil, saturday, midweek, 5) {
			sum += w.Kept
		}
		if sum != end.Sub(start) {
			t.Fatalf("%v to %v: %v in the weeks, want %v", start, end, sum, end.Sub(start))
		}
	}
}

func TestPace(t *testing.T) {
	this := saturday.Add(-week)
	if got := EvenPace(30*h, saturday, this.Add(week/2)); got != 15*h {
		t.Errorf("half the week: %v, want 15 h", got)
	}
	if got := EvenPace(30*h, saturday, saturday); got != 0 {
		t.Errorf("at the reset: %v, want 0", got)
	}
	got := Pace([]Reading{{Used: 9 * h, FetchedAt: midweek}, {Used: 3 * h, FetchedAt: this.Add(h)}, {Used: 25 * h, FetchedAt: this.Add(-h)}, {Used: 1, FetchedAt: midweek.Add(h)}}, saturday, midweek)
	want := []Point{{At: this}, {At: this.Add(h), Used: 3 * h}, {At: midweek, Used: 9 * h}}
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("point %d: %v, want %v", i, got[i], want[i])
		}
	}
}

func TestMakespan(t *testing.T) {
	same := func(n int, c float64) (out []float64) {
		for range n {
			out = append(out, c)
		}
		return out
	}
	tests := []struct {
		id      string
		tasks   []float64
		workers int
		want    float64
	}{
		{"M1", same(1, 2), 2, 2}, {"M1", same(3, 2), 2, 4}, {"M1", same(5, 2), 2, 6}, {"M1", same(5, 2), 8, 2}, {"M1", same(10, 2), 8, 4},
		{"M2", []float64{3, 5, 3, 4, 3}, 2, 10}, {"M2", []float64{3, 4, 5, 6, 7}, 2, 14},
		{"none", nil, 2, 0}, {"no worker counts as one", []float64{1, 2}, 0, 3}, {"negative", []float64{-4, 2}, 1, 2},
	}
	for _, tt := range tests {
		if got := Makespan(tt.tasks, tt.workers); got != tt.want {
			t.Errorf("%s %v on %d: %v, want %v", tt.id, tt.tasks, tt.workers, got, tt.want)
		}
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		tasks := make([]float64, 1+rnd.IntN(12))
		sum, longest := 0.0, 0.0
		for i := range tasks {
			tasks[i] = rnd.Float64()
			sum, longest = sum+tasks[i], max(longest, tasks[i])
		}
		n := 1 + rnd.IntN(8)
		lower := max(longest, sum/float64(n))
		if got := Makespan(tasks, n); got < lower-1e-9 || got > lower*(2-1/float64(n))+1e-9 {
			t.Fatalf("%v on %d: %v is outside what any list schedule can take from %v", tasks, n, got, lower)
		}
	}
}
