package planner

import (
	"testing"
	"time"
)

var pushed = time.Date(2026, 10, 1, 8, 0, 0, 0, time.UTC)

type answer struct {
	Status, Network, FailureMessage string
	HTTP                            int
}

func play(tr *Tracker, every time.Duration, pinned bool, answers ...answer) []Verdict {
	var out []Verdict
	for i, a := range answers {
		out = append(out, tr.Observe(Observation{At: pushed.Add(time.Duration(i+1) * every), Status: a.Status, HTTP: a.HTTP, Network: a.Network, Message: a.FailureMessage, Pinned: pinned}))
	}
	return out
}

func TestCase10(t *testing.T) {
	var seq map[string]struct {
		Version *int     `json:"pushed_version"`
		Answers []answer `json:"answers"`
	}
	var want map[string]struct {
		Final   string `json:"final"`
		Message string `json:"message_shown"`
	}
	readJSON(t, "testdata/10-status-sequences/sequences.json", &seq)
	readJSON(t, "testdata/10-status-sequences/expected.json", &want)
	if len(seq) != len(want) || len(seq) == 0 {
		t.Fatalf("%d sequences and %d expectations", len(seq), len(want))
	}
	for name, s := range seq {
		for _, every := range []time.Duration{20 * time.Second, time.Minute, 3 * time.Minute} {
			version := 0
			if s.Version != nil {
				version = *s.Version
			}
			all := play(NewTracker(version, pushed), every, false, s.Answers...)
			last := all[len(all)-1]
			if last.State != want[name].Final || !last.Terminal {
				t.Errorf("%s every %v: ended as %q (terminal %v), want %q", name, every, last.State, last.Terminal, want[name].Final)
			}
			if last.Message != want[name].Message {
				t.Errorf("%s: message %q, want %q", name, last.Message, want[name].Message)
			}
		}
	}
}

// What each answer on the way amounts to.
func TestTrackerSteps(t *testing.T) {
	s := func(words ...string) (out []answer) {
		for _, w := range words {
			out = append(out, answer{Status: w})
		}
		return out
	}
	gone := answer{HTTP: 404}
	tests := []struct {
		name    string
		version int
		every   time.Duration
		pinned  bool
		answers []answer
		states  []string
	}{
		{"an older version's end is not ours", 8, time.Minute, false, s("COMPLETE", "ERROR", "QUEUED", "COMPLETE"), []string{"queued", "queued", "queued", "complete"}},
		{"pinned, a terminal answer counts at once", 8, time.Minute, true, s("COMPLETE"), []string{"complete"}},
		{"the first version has no older one", 1, time.Minute, false, s("ERROR"), []string{"error"}},
		{"a blip is not a state", 8, time.Minute, false, []answer{{Status: "RUNNING"}, {HTTP: 503}, {Network: "reset"}, {HTTP: 429}, {HTTP: 401}, {Status: "RUNNING"}}, []string{"running", "running", "running", "running", "running", "running"}},
		{"an empty answer is not a state", 8, time.Minute, false, s("RUNNING", "", "RUNNING"), []string{"running", "running", "running"}},
		{"404 early is not visible yet", 1, time.Minute, false, []answer{gone, gone, gone, gone, {Status: "running"}}, []string{"not visible yet", "not visible yet", "not visible yet", "not visible yet", "running"}},
		{"404 of one never seen, late, is missing", 2, 5 * time.Minute, false, []answer{gone, gone, gone, gone}, []string{"not visible yet", "not visible yet", "missing", "missing"}},
		{"a single 404 on the way is a blip", 8, time.Minute, false, []answer{{Status: "RUNNING"}, gone, {Status: "RUNNING"}, gone, gone, {Status: "COMPLETE"}}, []string{"running", "running", "running", "running", "running", "complete"}},
		{"missing may reappear", 8, time.Minute, false, []answer{{Status: "RUNNING"}, gone, gone, gone, {Status: "RUNNING"}}, []string{"running", "running", "running", "missing", "running"}},
		{"unknown words keep the state", 8, time.Minute, false, s("QUEUED", "PAUSED_FOR_TEA", "RUNNING", "WARPING", "COMPLETE"), []string{"queued", "queued", "running", "running", "complete"}},
		{"a late queued does not put a session back", 8, time.Minute, false, s("RUNNING", "QUEUED", "RUNNING"), []string{"running", "running", "running"}},
		{"stopping is not the end", 8, time.Minute, false, s("RUNNING", "CANCEL_REQUESTED", "CANCEL_ACKNOWLEDGED"), []string{"running", "stopping", "cancelled"}},
		{"cancelled in the queue", 8, time.Minute, false, s("QUEUED", "cancelled"), []string{"queued", "cancelled"}},
		{"the end is the end", 8, time.Minute, false, s("RUNNING", "COMPLETE", "RUNNING", "ERROR"), []string{"running", "complete", "complete", "complete"}},
		{"NEW_SCRIPT of a version that was run is the queue", 8, time.Minute, false, s("NEW_SCRIPT", "RUNNING"), []string{"queued", "running"}},
		{"numbers and other spellings", 8, time.Minute, false, s("0", "1", "KernelWorkerStatus.RUNNING", "Complete"), []string{"queued", "running", "running", "complete"}},
		{"our own words", 8, time.Minute, false, s("starting", "running", "stopping", "unknown:tea", "cancelled"), []string{"queued", "running", "stopping", "stopping", "cancelled"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for i, v := range play(NewTracker(tt.version, pushed), tt.every, tt.pinned, tt.answers...) {
				if v.State != tt.states[i] {
					t.Errorf("answer %d: %q, want %q", i, v.State, tt.states[i])
				}
				if v.Terminal != Terminal(tt.states[i]) {
					t.Errorf("answer %d: terminal %v for %q", i, v.Terminal, v.State)
				}
			}
		})
	}
}

func TestTrackerMarks(t *testing.T) {
	tr := NewTracker(8, pushed)
	v := play(tr, time.Minute, false, answer{Status: "RUNNING"}, answer{Network: "down"}, answer{HTTP: 502}, answer{Status: "RUNNING"})
	if !v[1].UnreachableSince.Equal(pushed.Add(2*time.Minute)) || v[2].UnreachableSince != v[1].UnreachableSince {
		t.Errorf("unreachable since %v then %v, want the first failure's time", v[1].UnreachableSince, v[2].UnreachableSince)
	}
	if !v[3].UnreachableSince.IsZero() {
		t.Error("an answer did not end the mark")
	}
	if !v[0].Started || !tr.Verdict().Started {
		t.Error("a running session has started")
	}
	v = play(NewTracker(8, pushed), time.Minute, false, answer{Status: "QUEUED"}, answer{Status: "Paused"})
	if v[1].Word != "Paused" || v[1].Started {
		t.Errorf("word %q started %v, want the word as it is and not started", v[1].Word, v[1].Started)
	}
	v = play(NewTracker(8, pushed), time.Minute, false, answer{Status: "RUNNING"}, answer{Status: "CANCEL_ACKNOWLEDGED"})
	if v[1].Note == "" || v[1].Asked {
		t.Error("a stop that nobody asked for has to be told")
	}
	v = play(NewTracker(8, pushed), time.Minute, false, answer{Status: "CANCEL_REQUESTED"}, answer{Status: "CANCEL_ACKNOWLEDGED"})
	if v[1].Note != "" || !v[1].Asked {
		t.Errorf("note %q for a stop that was asked for", v[1].Note)
	}
}

func TestResumeTracker(t *testing.T) {
	tests := []struct {
		state   string
		started bool
		then    answer
		want    string
	}{
		{"running", true, answer{Status: "COMPLETE"}, "complete"},
		{"queued", false, answer{Status: "COMPLETE"}, "queued"}, // may be an older version's end still
		{"stopping", true, answer{Status: "CANCEL_ACKNOWLEDGED"}, "cancelled"},
		{"queued", false, answer{Status: "RUNNING"}, "running"},
		{"complete", true, answer{Status: "RUNNING"}, "complete"},
	}
	for _, tt := range tests {
		v := ResumeTracker(8, pushed, tt.state, tt.started).Observe(Observation{At: pushed.Add(h), Status: tt.then.Status})
		if v.State != tt.want {
			t.Errorf("%s then %s: %q, want %q", tt.state, tt.then.Status, v.State, tt.want)
		}
	}
}

func TestPollEvery(t *testing.T) {
	tests := []struct {
		state   string
		in      time.Duration
		visible bool
		want    time.Duration
	}{
		{"running", time.Minute, true, 10 * time.Second},
		{"running", 5 * h, false, 30 * time.Second},
		{"queued", 10 * time.Second, false, 15 * time.Second},
		{"queued", h, false, 2 * time.Minute},
		{"queued", 12 * h, false, 5 * time.Minute},
		{"queued", 12 * h, true, time.Minute},
		{"queued", 0, true, 10 * time.Second},
		{"stopping", time.Minute, false, 10 * time.Second},
		{"pushing", 0, false, 5 * time.Second},
		{"not visible yet", 0, false, 5 * time.Second},
		{"complete", h, true, 0}, {"error", h, true, 0}, {"cancelled", h, true, 0}, {"missing", h, true, 0}, {"no run", 0, true, 0},
	}
	for _, tt := range tests {
		if got := PollEvery(tt.state, tt.in, tt.visible); got != tt.want {
			t.Errorf("%s for %v, visible %v: %v, want %v", tt.state, tt.in, tt.visible, got, tt.want)
		}
	}
	last := time.Duration(0)
	for in := time.Duration(0); in < 20*h; in += time.Minute {
		hidden, seen := PollEvery("queued", in, false), PollEvery("queued", in, true)
		if hidden < last || seen > hidden || seen < 10*time.Second {
			t.Fatalf("after %v: %v hidden (before %v), %v seen", in, hidden, last, seen)
		}
		last = hidden
	}
}
