package planner

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

var back = time.Date(2026, 9, 5, 21, 0, 0, 0, time.UTC)

func TestCase20(t *testing.T) {
	var in struct {
		StoppedAt time.Time `json:"app_stopped_at"`
		Jobs      []struct {
			Job, Kernel, State string
			Version            *int
			SHA                string `json:"source_sha256"`
			Done               int    `json:"files_done"`
			Total              int    `json:"files_total"`
		}
	}
	var there struct {
		Kernels []struct {
			Ref     string
			Version int `json:"currentVersionNumber"`
			Status  string
			GPU     bool   `json:"enableGpu"`
			SHA     string `json:"source_sha256"`
		}
	}
	var want struct {
		Slots struct {
			Cap, Taken int
			By         []string
		} `json:"gpu_slots"`
	}
	readJSON(t, "testdata/20-restart-reconcile/local-jobs.json", &in)
	readJSON(t, "testdata/20-restart-reconcile/remote-kernels.json", &there)
	readJSON(t, "testdata/20-restart-reconcile/expected.json", &want)
	var local []LocalRun
	for _, j := range in.Jobs {
		l := LocalRun{Run: j.Job, Kernel: j.Kernel, State: j.State, SourceSHA256: j.SHA, FilesDone: j.Done, FilesTotal: j.Total, Pool: GPU}
		if j.Version != nil {
			l.Version = *j.Version
		}
		local = append(local, l)
	}
	var remote []RemoteKernel
	for _, k := range there.Kernels {
		remote = append(remote, RemoteKernel{Kernel: k.Ref, Version: k.Version, Status: k.Status, GPU: k.GPU, SourceSHA256: k.SHA})
	}
	acts := Reconcile(local, remote, back)
	wantActs := []string{"j1 collect 3", "j2 attach 1", "j3 requeue 0", "j4 foreign-version 5", "j5 continue-collect 2", "j6 push-when-free 0"}
	if len(acts) != len(wantActs) {
		t.Fatalf("%d actions, want %d: %+v", len(acts), len(wantActs), acts)
	}
	pushes := 0
	for i, a := range acts {
		if got := fmt.Sprintf("%s %s %d", a.Run, a.Do, a.Version); got != wantActs[i] {
			t.Errorf("got %q, want %q (%s)", got, wantActs[i], a.Note)
		}
		if a.Do == ActRequeue || a.Do == ActPushWhenFree {
			pushes++
		}
	}
	if pushes != 2 {
		t.Errorf("%d pushes to come in total, want 2", pushes)
	}
	if !strings.Contains(acts[3].Note, "6") || !strings.Contains(acts[4].Note, "4 to 7") {
		t.Errorf("the notes name neither the other version nor the files: %q, %q", acts[3].Note, acts[4].Note)
	}
	var by []string
	for _, s := range SlotsTaken(local, remote)[GPU] {
		by = append(by, s.Label)
	}
	if len(by) != want.Slots.Taken || strings.Join(by, ",") != strings.Join(want.Slots.By, ",") || Slots(GPU) != want.Slots.Cap {
		t.Errorf("slots are taken by %v, want %v", by, want.Slots.By)
	}
}

func TestReconcileOthers(t *testing.T) {
	const a, b = "aaaa", "bbbb"
	long, just := back.Add(-12*h), back.Add(-20*time.Second)
	k := func(version int, status, sha string) []RemoteKernel {
		return []RemoteKernel{{Kernel: "sam-roe/x", Version: version, Status: status, SourceSHA256: sha, GPU: true}}
	}
	ran := func(at time.Time, k []RemoteKernel) []RemoteKernel { k[0].LastRun = at; return k }
	l := func(state string, version int, sha string, at time.Time) LocalRun {
		return LocalRun{Run: "r", Kernel: "Sam-Roe/X", State: state, Version: version, SourceSHA256: sha, PushedAt: at}
	}
	tests := []struct {
		name   string
		local  []LocalRun
		remote []RemoteKernel
		want   string
	}{
		{"still running", []LocalRun{l("running", 3, a, long)}, k(3, "RUNNING", ""), "keep-watching 3"},
		{"left the queue", []LocalRun{l("queued", 3, a, long)}, k(3, "RUNNING", ""), "keep-watching 3"},
		{"failed while away", []LocalRun{l("running", 3, a, long)}, k(3, "ERROR", ""), "collect 3"},
		{"cancelled while away", []LocalRun{l("stopping", 3, a, long)}, k(3, "CANCEL_ACKNOWLEDGED", ""), "collect 3"},
		{"a word nobody knows", []LocalRun{l("running", 3, a, long)}, k(3, "PAUSED_FOR_TEA", ""), "keep-watching 3"},
		{"gone", []LocalRun{l("running", 3, a, long)}, nil, "missing 3"},
		{"just pushed and not listed yet", []LocalRun{l("queued", 3, a, just)}, nil, "keep-watching 3"},
		{"the list lags behind our version", []LocalRun{l("queued", 3, a, just)}, k(2, "COMPLETE", ""), "keep-watching 3"},
		{"ours was covered from elsewhere after it ended", []LocalRun{l("running", 3, a, long)}, k(5, "COMPLETE", ""), "foreign-version 3"},
		{"covered by a later push of ours", []LocalRun{l("running", 3, a, long), {Run: "s", Kernel: "sam-roe/x", State: "running", Version: 4}}, k(4, "RUNNING", ""), "collect 3, keep-watching 4"},
		{"covered by a later push of ours, seen only now", []LocalRun{l("running", 3, a, long), l("pushing", 0, b, back.Add(-h))}, k(4, "RUNNING", b), "collect 3, attach 4"},
		{"a push that arrived and ended", []LocalRun{l("pushing", 0, a, long)}, k(1, "COMPLETE", a), "attach 1"},
		{"an unclear push that arrived", []LocalRun{l("unclear", 0, a, long)}, k(9, "QUEUED", strings.ToUpper(a)), "attach 9"},
		{"an unclear push that did not", []LocalRun{l("unclear", 0, a, long)}, k(8, "COMPLETE", b), "requeue 0"},
		{"the same source ran before: that version is an earlier run's", []LocalRun{l("complete", 8, a, long.Add(-24*h)), l("pushing", 0, a, long)}, k(8, "COMPLETE", a), "requeue 0"},
		{"the same source ran before our push", []LocalRun{l("pushing", 0, a, long)}, ran(long.Add(-h), k(8, "COMPLETE", a)), "requeue 0"},
		{"the same source ran since our push", []LocalRun{l("pushing", 0, a, long)}, ran(long.Add(time.Minute), k(8, "COMPLETE", a)), "attach 8"},
		{"another source ran since our push", []LocalRun{l("pushing", 0, a, long)}, ran(long.Add(h), k(8, "RUNNING", b)), "foreign-version 8"},
		{"the source was not pulled yet", []LocalRun{l("pushing", 0, a, long)}, k(8, "RUNNING", ""), "keep-watching 8"},
		{"a push of seconds ago may still appear", []LocalRun{l("pushing", 0, a, just)}, nil, "keep-watching 0"},
		{"two pushes of one source, one arrived", []LocalRun{l("pushing", 0, a, long.Add(time.Minute)), l("pushing", 0, a, long)}, k(1, "RUNNING", a), "requeue 0, attach 1"},
		{"collecting a kernel that is gone", []LocalRun{l("collecting", 2, a, long)}, nil, "missing 2"},
		{"collecting one that was covered from elsewhere", []LocalRun{l("collecting", 2, a, long)}, k(3, "RUNNING", ""), "foreign-version 2"},
		{"waiting here stays, whatever is there", []LocalRun{l("waiting", 0, a, long)}, k(1, "RUNNING", b), "push-when-free 0"},
		{"settled runs need nothing", []LocalRun{l("complete", 3, a, long), l("missing", 3, a, long), l("refused", 0, a, long), l("no run", 1, a, long)}, k(3, "COMPLETE", ""), ""},
		{"other people's kernels need nothing", nil, k(3, "RUNNING", ""), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, x := range Reconcile(tt.local, tt.remote, back) {
				got = append(got, fmt.Sprintf("%s %d", x.Do, x.Version))
				if x.Note == "" && x.Do != ActKeepWatching {
					t.Errorf("%s has no words", x.Do)
				}
			}
			if s := strings.Join(got, ", "); s != tt.want {
				t.Errorf("got %q, want %q", s, tt.want)
			}
		})
	}
}

func TestSlotsTaken(t *testing.T) {
	remote := []RemoteKernel{
		{Kernel: "me/a", Version: 2, Status: "QUEUED", TPU: true},
		{Kernel: "me/b", Version: 1, Status: "CANCEL_REQUESTED", GPU: true},
		{Kernel: "me/b", Version: 1, Status: "CANCEL_REQUESTED", GPU: true}, // listed on two pages
		{Kernel: "me/c", Version: 1, Status: "COMPLETE", GPU: true},
		{Kernel: "me/d", Version: 1, Status: "WARPING", GPU: true}, // not finished as far as we know
		{Kernel: "me/e", Version: 1, Status: "RUNNING"},
		{Kernel: "me/f", Version: 1, Status: "NEW_SCRIPT", GPU: true},
	}
	local := []LocalRun{{Run: "1", Kernel: "me/A", Version: 2, State: "queued"}}
	got := SlotsTaken(local, remote)
	if len(got[GPU]) != 2 || len(got[TPU]) != 1 || len(got[CPU]) != 1 {
		t.Fatalf("GPU %v, TPU %v, CPU %v; want 2, 1, 1", got[GPU], got[TPU], got[CPU])
	}
	if !got[TPU][0].Ours || got[GPU][0].Ours || got[GPU][0].Label != "b version 1" || got[TPU][0].Label != "a" {
		t.Errorf("whose is whose: %+v %+v", got[TPU], got[GPU])
	}
}
