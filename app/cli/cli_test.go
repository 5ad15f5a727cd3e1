package cli

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"sandglass/app"
)

func TestSpread(t *testing.T) {
	tests := []struct{ in, want string }{
		{"build --folds 0 1 2 --name n", "build --folds=0 --folds=1 --folds=2 --name n"},
		{"build --folds=0,1 --dataset a/b c/d=x", "build --folds=0,1 --dataset=a/b --dataset=c/d=x"},
		{"build --extra-job other cmd --name n", "build --extra-job=other=cmd --name n"},
		{"build --extra-job other=cmd --name n", "build --extra-job other=cmd --name n"},
		{"build --folds --name n", "build --folds --name n"},
		{"push dir -- --folds 1 2", "push dir -- --folds 1 2"},
		{"wait k --collect", "wait k --collect"},
	}
	for _, tt := range tests {
		if got := strings.Join(spread(strings.Fields(tt.in)), " "); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestBuildFlags(t *testing.T) {
	base := []string{"build", "--name", "n", "--cmd", "python t.py --folds {fold}", "--hours", "2.5"}
	with := func(more ...string) []string { return append(base[:len(base):len(base)], more...) }
	want := func(change func(s *app.BuildSpec)) app.BuildSpec {
		s := app.BuildSpec{Project: ".", Name: "n", Command: "python t.py --folds {fold}", Hours: 2.5}
		change(&s)
		return s
	}
	tests := []struct {
		name string
		args []string
		want app.BuildSpec
	}{
		{"the least", base, want(func(s *app.BuildSpec) {})},
		{"folds one after the other", with("--folds", "0", "1", "4"), want(func(s *app.BuildSpec) { s.Folds = []int{0, 1, 4} })},
		{"folds with commas and repeated", with("--folds", "0,1", "--folds", "3"), want(func(s *app.BuildSpec) { s.Folds = []int{0, 1, 3} })},
		{"a range of folds", with("--folds", "0-3"), want(func(s *app.BuildSpec) { s.Folds = []int{0, 1, 2, 3} })},
		{"inputs", with("--dataset", "a/b", "c/d=x", "--kernel", "e/f,g/h", "--competition", "cc", "--model", "m/m/f/v/1"), want(func(s *app.BuildSpec) {
			s.Datasets, s.Kernels, s.Competitions, s.Models = []string{"a/b", "c/d=x"}, []string{"e/f", "g/h"}, []string{"cc"}, []string{"m/m/f/v/1"}
		})},
		{"an extra job in two words", with("--extra-job", "other", "python o.py"), want(func(s *app.BuildSpec) {
			s.ExtraJobs = []app.JobSpec{{Name: "other", Command: "python o.py"}}
		})},
		{"two extra jobs, a command with =", with("--extra-job", "a", "python o.py --lr=1", "--extra-job", "b=python p.py"), want(func(s *app.BuildSpec) {
			s.ExtraJobs = []app.JobSpec{{Name: "a", Command: "python o.py --lr=1"}, {Name: "b", Command: "python p.py"}}
		})},
		{"extra jobs with folds, assembly and launcher of their own", with("--extra-job", "a", "python o.py --folds {fold}", "--extra-job", "b=python p.py",
			"--job-folds", "a=0,2-3", "--job-assemble", "a=python j.py --x=1", "--job-launcher", "b=torchrun"), want(func(s *app.BuildSpec) {
			s.ExtraJobs = []app.JobSpec{{Name: "a", Command: "python o.py --folds {fold}", Folds: []int{0, 2, 3}, Assemble: "python j.py --x=1"}, {Name: "b", Command: "python p.py", Launcher: "torchrun"}}
		})},
		{"wide folds and a watchdog", with("--launcher", "torchrun", "--wide-folds", "4", "--stall", "7.5"), want(func(s *app.BuildSpec) {
			s.Launcher, s.WideFolds, s.StallMinutes = "torchrun", []int{4}, 7.5
		})},
		{"no watchdog", with("--stall", "-1"), want(func(s *app.BuildSpec) { s.StallMinutes = -1 })},
		{"pruning by seed noise", with("--prune-against", "baseline", "--prune-seeds", "s1", "s2"), want(func(s *app.BuildSpec) {
			s.PruneAgainst, s.PruneSeeds = "baseline", []string{"s1", "s2"}
		})},
		{"requirements keep their commas", with("--pip", "timm>=1,<2", "einops", "--post-cmd", "python a.py --x 1,2"), want(func(s *app.BuildSpec) {
			s.Pip, s.Post = []string{"timm>=1,<2", "einops"}, []string{"python a.py --x 1,2"}
		})},
		{"pruning", with("--prune-against", "baseline", "--prune-margin", "0.01", "--prune-min-frac", ".4", "--baseline", "b"), want(func(s *app.BuildSpec) {
			s.PruneAgainst, s.PruneMargin, s.PruneMinFrac, s.Baseline = "baseline", .01, .4, "b"
		})},
		{"the rest", with("--project", "p", "--accelerator", "TpuV5E8", "--slug", "s", "--out", "o", "--input-layout", "nested", "--resume-from", "a/b", "--include", "src", "conf",
			"--assemble-cmd", "x", "--wheels", "a/w", "--no-internet", "--public", "--allow-any-device", "--allow-missing-inputs", "--retry", "1", "--split-from", "a/s"), want(func(s *app.BuildSpec) {
			s.Project, s.Accelerator, s.Slug, s.Out, s.Layout = "p", "TpuV5E8", "s", "o", "nested"
			s.ResumeFrom, s.Include, s.Assemble, s.Wheels = []string{"a/b"}, []string{"src", "conf"}, "x", []string{"a/w"}
			s.NoInternet, s.Public, s.AllowAny, s.AllowMissing, s.Retry, s.SplitFrom = true, true, true, true, 1, "a/s"
		})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &fake{}
			if code, _, stderr := call(t, f, "", tt.args...); code != 0 {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			if !reflect.DeepEqual(f.spec, tt.want) {
				t.Errorf("got  %+v\nwant %+v", f.spec, tt.want)
			}
		})
	}
}

func TestResumeVerb(t *testing.T) {
	f := &fake{}
	code, stdout, stderr := call(t, f, "", "resume", "idea-train", "--hours", "1.5", "--json")
	if code != 0 || len(f.asked) != 1 || f.asked[0] != "idea-train" || f.spec.Hours != 1.5 {
		t.Fatalf("exit %d, asked %v for %g h: %s", code, f.asked, f.spec.Hours, stderr)
	}
	var got buildJSON
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || got.Kernel != "sam-roe/idea-train-r2" || strings.Join(got.Next, " ") != "sandglass push d2" {
		t.Errorf("%v: %s", err, stdout)
	}
}

func TestWrongCalls(t *testing.T) {
	tests := []struct {
		args string
		say  string
	}{
		{"quotta", "did you mean: sandglass quota"},
		{"frobnicate", "no verb frobnicate"},
		{"quota --nope", "--nope"},
		{"quota extra", "too many arguments"},
		{"build --name n --hours 2", "needs --cmd"},
		{"build --cmd c --hours 2", "needs --name"},
		{"build --name n --cmd c", "needs --hours"},
		{"build --name n --cmd c --hours two", "hours"},
		{"build --name n --cmd c --hours 2 --folds x", "not a fold number"},
		{"build --name n --cmd c --hours 2 --folds=-1", "not a fold number"},
		{"build --name n --cmd c --hours 2 --folds 4-1", "not a fold number"},
		{"build --name n --cmd c --hours 2 --folds", "needs an argument"},
		{"build --name n --cmd c --hours 2 --extra-job alone", "needs a name and a command"},
		{"push", "needs the kernel's folder"},
		{"push d", "--yes"},
		{"wait", "needs the run's kernel"},
		{"wait k --interval soon", "soon"},
		{"collect", "needs the run's kernel"},
		{"delete k", "--yes"},
		{"demo", "needs --dir"},
		{"sandbox", "serve or faults"},
		{"sandbox serve --layout mixed", "mixed"},
		{"sandbox faults", "no sandbox is named"},
		{"log --pool npu", "npu"},
		{"signin", "no secret"},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			f := &fake{plan: app.PushPlan{Kernel: "sam-roe/x"}}
			code, stdout, stderr := call(t, f, "", strings.Fields(tt.args)...)
			if code != exitUsage {
				t.Errorf("exit %d, want 2", code)
			}
			if !strings.HasPrefix(stderr, "error: ") || !strings.Contains(stderr, tt.say) {
				t.Errorf("said %q, want %q", stderr, tt.say)
			}
			if stdout != "" {
				t.Errorf("a wrong call printed a result: %q", stdout)
			}
			if len(f.consent) > 0 || len(f.deleted) > 0 {
				t.Error("a wrong call did something")
			}
			code, stdout, _ = call(t, &fake{plan: app.PushPlan{Kernel: "sam-roe/x"}}, "", append([]string{"--json"}, strings.Fields(tt.args)...)...)
			var doc failure
			if err := json.Unmarshal([]byte(stdout), &doc); err != nil || doc.Exit != exitUsage || doc.Error == "" || code != exitUsage {
				t.Errorf("with --json: exit %d, %q (%v)", code, stdout, err)
			}
		})
	}
}

func TestPushAsksAndObeys(t *testing.T) {
	plan := app.PushPlan{Kernel: "sam-roe/x", CostText: "up to 5.0 GPU-hours", Pool: app.PoolGPU, Accelerator: "NvidiaTeslaT4", CapHours: 5, Warnings: []string{"look out"},
		Quota: app.QuotaView{GPU: app.PoolView{Known: true, Left: 12, Total: 30}}, LeftAfter: 7}
	guarded := plan
	guarded.Guards = []app.Guard{{Code: "quota", Reason: "Too much.", Override: "--force"}}
	tests := []struct {
		name, answer string
		plan         app.PushPlan
		args         []string
		code         int
		by           string // consent; "" = nothing was pushed
	}{
		{"yes on the terminal", "y\n", plan, nil, 0, "terminal"},
		{"no on the terminal", "n\n", plan, nil, 1, ""},
		{"just enter is no", "\n", plan, nil, 1, ""},
		{"--yes without a terminal", "", plan, []string{"--yes"}, 0, "--yes"},
		{"neither", "", plan, nil, 2, ""},
		{"a guard refuses", "", guarded, []string{"--yes"}, 3, "--yes"},
		{"a guard is overridden", "", guarded, []string{"--yes", "--force"}, 0, "--yes"},
		{"a look only", "", guarded, []string{"--dry-run"}, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &fake{plan: tt.plan}
			code, _, stderr := call(t, f, tt.answer, append([]string{"push", "dir"}, tt.args...)...)
			by := ""
			if len(f.consent) == 1 {
				by = f.consent[0].By
			}
			if code != tt.code || by != tt.by {
				t.Errorf("exit %d with consent %q, want %d with %q (%s)", code, by, tt.code, tt.by, stderr)
			}
			if tt.answer != "" && !strings.Contains(stderr, "up to 5.0 GPU-hours") {
				t.Errorf("the question does not name the cost: %q", stderr)
			}
			if !f.closed {
				t.Error("the core was left open")
			}
		})
	}
	f := &fake{plan: plan}
	_, stdout, stderr := call(t, f, "", "push", "dir", "--yes", "--json", "--hours", "3", "--accelerator", "TpuV5E8", "--queue", "--no-run", "--force")
	if want := (app.PushOptions{Hours: 3, Accelerator: "TpuV5E8", QueueIfFull: true, NoRun: true, Force: true}); f.pushOpt != want {
		t.Errorf("options %+v, want %+v", f.pushOpt, want)
	}
	var doc map[string]any
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"run", "kernel", "version", "url", "cap_h"} {
		if _, ok := doc[field]; !ok {
			t.Errorf("push --json has no %s", field)
		}
	}
	if doc["run"] != 7.0 || doc["version"] != 3.0 || doc["cap_h"] != 5.0 {
		t.Errorf("%v", doc)
	}
	if !strings.Contains(stderr, "warning: look out") {
		t.Errorf("the warning was not told: %q", stderr)
	}
}

func TestGuardUnderJSON(t *testing.T) {
	f := &fake{plan: app.PushPlan{Kernel: "sam-roe/x", Guards: []app.Guard{{Code: "slots", Reason: "Full.", Override: "--queue"}}}}
	code, stdout, stderr := call(t, f, "", "push", "dir", "--yes", "--json")
	var doc failure
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatalf("%v in %q", err, stdout)
	}
	if code != exitGuard || doc.Exit != exitGuard || len(doc.Guards) != 1 || doc.Guards[0].Override != "--queue" {
		t.Errorf("exit %d, document %+v", code, doc)
	}
	if !strings.Contains(stderr, "--queue") || !strings.Contains(stderr, "Full") {
		t.Errorf("the refusal names neither the reason nor the flag: %q", stderr)
	}
}

func TestRunVerbs(t *testing.T) {
	best, fold := .91, 0
	done := app.RunView{RunRow: app.RunRow{ID: 7, Kernel: "sam-roe/x", Version: 3, State: app.StateComplete, Status: "complete", Outcome: app.OutcomeComplete, Hours: 1.5, CapHours: 5, Ended: true},
		Tasks: []app.TaskView{{Job: "x", Fold: &fold, State: "done", Seconds: 60, Best: &best}}, Findings: []app.FindingView{{Code: "cost", Level: "info", Text: "A fold took a minute.", Fix: "none"}}}
	failed := done
	failed.State, failed.Status, failed.Outcome = app.StateError, "error", app.OutcomeFailed
	killed := done
	killed.State, killed.Status, killed.Outcome = app.StateCancel, "cancelled", app.OutcomeKilled
	partial := done
	partial.Outcome = app.OutcomePartial
	crashed := done // as Kaggle has it, before it is collected
	crashed.Outcome, crashed.Tasks = "", append([]app.TaskView{{Job: "x", State: "failed"}}, done.Tasks...)
	tests := []struct {
		verb string
		view app.RunView
		code int
	}{
		{"wait", done, 0}, {"wait", partial, 0}, {"wait", failed, 1}, {"wait", killed, 1}, {"wait", crashed, 1},
		{"status", done, 0}, {"status", failed, 0},
		{"collect", done, 0}, {"collect", partial, 0}, {"collect", killed, 0}, {"collect", failed, 1},
	}
	for _, tt := range tests {
		f := &fake{view: tt.view}
		code, stdout, _ := call(t, f, "", tt.verb, "x", "--json")
		if code != tt.code {
			t.Errorf("%s of a %s run: exit %d, want %d", tt.verb, tt.view.Outcome, code, tt.code)
		}
		var doc struct {
			Kernel, Status, Outcome string
			Version                 int
			Hours                   float64
			Tasks                   []map[string]any
			Files, Findings         []any
		}
		if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
			t.Fatal(err)
		}
		if doc.Kernel != "sam-roe/x" || doc.Version != 3 || doc.Status != tt.view.Status || doc.Outcome != tt.view.Outcome || doc.Hours != 1.5 || doc.Files == nil || len(doc.Findings) != 1 {
			t.Errorf("%s: %+v", tt.verb, doc)
		}
		for _, field := range []string{"job", "fold", "state", "seconds", "best"} {
			if _, ok := doc.Tasks[0][field]; !ok {
				t.Errorf("%s: a task has no %s", tt.verb, field)
			}
		}
		if _, text, _ := call(t, f, "", tt.verb, "x"); !strings.Contains(text, "A fold took a minute.") || !strings.Contains(text, "0.91") {
			t.Errorf("%s in words: %q", tt.verb, text)
		}
	}
}

func TestWaitOptions(t *testing.T) {
	tests := []struct {
		args string
		want app.WaitOptions
	}{
		{"wait k", app.WaitOptions{}},
		{"wait k --interval 90 --max-hours 13 --collect", app.WaitOptions{Interval: 90 * time.Second, Max: 13 * time.Hour, Collect: true}},
		{"wait k --interval 2m", app.WaitOptions{Interval: 2 * time.Minute}},
		{"wait k --interval=0.5", app.WaitOptions{Interval: 500 * time.Millisecond}},
	}
	for _, tt := range tests {
		f := &fake{view: app.RunView{RunRow: app.RunRow{Kernel: "a/b", State: app.StateComplete}}}
		_, _, stderr := call(t, f, "", strings.Fields(tt.args)...)
		if f.waitOpt != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.args, f.waitOpt, tt.want)
		}
		if n := strings.Count(stderr, "running"); n != 1 {
			t.Errorf("a state that did not change was told %d times: %q", n, stderr)
		}
	}
}

// Whatever is empty or unknown has its field: lists are [], the rest is null.
func TestEmptyJSON(t *testing.T) {
	tests := []struct {
		args string
		want string
	}{
		{"status", "[]"}, {"log", "[]"}, {"logs k", "[]"},
	}
	for _, tt := range tests {
		if _, stdout, stderr := call(t, &fake{}, "", append(strings.Fields(tt.args), "--json")...); strings.TrimSpace(stdout) != tt.want {
			t.Errorf("%s: %q, want %q (%s)", tt.args, stdout, tt.want, stderr)
		}
	}
	for _, line := range []string{"build --name n --cmd c --hours 1", "status k", "push d --yes", "push d --dry-run", "collect k", "quota"} {
		_, stdout, _ := call(t, &fake{view: app.RunView{RunRow: app.RunRow{State: app.StateComplete}}}, "", append(strings.Fields(line), "--json")...)
		var doc map[string]any
		if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
			t.Fatalf("%s: %v in %q", line, err, stdout)
		}
		for _, field := range []string{"parts", "jobs", "folds", "warnings", "tasks", "files", "findings", "guards"} {
			if v, ok := doc[field]; ok && v == nil {
				t.Errorf("%s: %s is null, want []", line, field)
			}
		}
		if strings.Contains(stdout, "0001-01-01") {
			t.Errorf("%s shows a time that is not known: %s", line, stdout)
		}
	}
}

func TestQuota(t *testing.T) {
	f := &fake{quota: app.QuotaView{GPU: app.PoolView{Known: true, Used: 10, Reserved: 2, Held: 3, Total: 30, Left: 15, Holders: []string{"cnx"}},
		RefreshAt: testNow.Add(51 * time.Hour), FetchedAt: testNow.Add(-3 * time.Hour), Why: "no network"}}
	code, stdout, _ := call(t, f, "", "quota")
	for _, s := range []string{"GPU  15.0 h left of 30.0 h (10.0 h used, 5.0 h held by what is in flight: cnx)", "TPU  not reported", "in 2 d 3 h", "NOT LIVE, read 3 h 0 min ago: no network"} {
		if !strings.Contains(stdout, s) {
			t.Errorf("%q is not in\n%s", s, stdout)
		}
	}
	if code != 0 || !f.live {
		t.Errorf("exit %d, live %v", code, f.live)
	}
	_, stdout, _ = call(t, f, "", "quota", "--json", "--cached")
	var doc struct {
		GPU, TPU  map[string]any
		RefreshAt string `json:"refresh_at"`
		FetchedAt string `json:"fetched_at"`
		Live      *bool
	}
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]float64{"used_h": 10, "reserved_h": 2, "held_h": 3, "total_h": 30, "left_h": 15} {
		if doc.GPU[field] != want {
			t.Errorf("gpu.%s is %v, want %v", field, doc.GPU[field], want)
		}
		if v, ok := doc.TPU[field]; !ok || v != nil {
			t.Errorf("tpu.%s is %v, want null", field, v)
		}
	}
	if doc.RefreshAt != "2026-12-03T15:00:00Z" || doc.FetchedAt != "2026-12-01T09:00:00Z" || doc.Live == nil || *doc.Live || f.live {
		t.Errorf("%+v, asked live %v", doc, f.live)
	}
}

func TestLogs(t *testing.T) {
	f := &fake{view: app.RunView{RunRow: app.RunRow{ID: 7, Kernel: "a/b"}}}
	for i := range 4500 { // more than two pages
		f.lines = append(f.lines, app.LogLine{N: i, Text: "line " + strings.Repeat("x", i%3), Stream: "stdout"})
	}
	_, stdout, _ := call(t, f, "", "logs", "b")
	if n := strings.Count(stdout, "\n"); n != 4500 {
		t.Errorf("%d lines, want 4500", n)
	}
	_, stdout, _ = call(t, f, "", "logs", "b", "-n", "2", "--json")
	var doc []lineJSON
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || len(doc) != 2 || doc[0].N != 4498 || doc[1].N != 4499 {
		t.Errorf("%v %+v", err, doc)
	}
}

func TestSecretsComeFromStandardInput(t *testing.T) {
	var f fake
	code, stdout, stderr := callWith(t, &f, "sam-roe:0123456789abcdef0123456789abcdef\n", false, "signin", "--store", "memory")
	if code != 0 || f.signIn.Text != "sam-roe:0123456789abcdef0123456789abcdef" || f.signIn.Store != "memory" {
		t.Errorf("exit %d, %+v", code, f.signIn)
	}
	if strings.Contains(stdout+stderr, "0123456789abcdef") {
		t.Error("the secret was printed")
	}
	if code, _, _ := call(t, &fake{}, "", "signin", "KGAT_secret"); code != exitUsage {
		t.Errorf("a secret was taken from an argument: exit %d", code)
	}
	f = fake{}
	callWith(t, &f, "k", false, "signin", "--username", "sam-roe")
	if f.signIn.Username != "sam-roe" || f.signIn.Secret != "k" || f.signIn.Text != "" {
		t.Errorf("%+v", f.signIn)
	}
}

func TestImport(t *testing.T) {
	found := []app.Found{{Kind: "token", Where: "KAGGLE_API_TOKEN", Problem: "Kaggle no longer accepts it"}, {Username: "sam-roe", Kind: "key", Where: "/home/sam/.kaggle/kaggle.json"}}
	tests := []struct {
		name, answer string
		found        []app.Found
		args         []string
		code         int
		took         string
	}{
		{"agreed by flag: the first that works", "", found, []string{"--yes"}, 0, found[1].Where},
		{"asked, yes", "y\n", found, nil, 0, found[1].Where},
		{"asked, no", "n\n", found, nil, 1, ""},
		{"no terminal: a list only", "", found, nil, 0, ""},
		{"named", "", found, []string{"--from", found[1].Where, "--yes"}, 0, found[1].Where},
		{"named and not there", "", found, []string{"--from", "elsewhere", "--yes"}, 2, ""},
		{"nothing here", "", nil, []string{"--yes"}, 1, ""},
		{"nothing that works", "", found[:1], []string{"--yes"}, 1, ""},
	}
	for _, tt := range tests {
		f := &fake{found: tt.found}
		code, stdout, stderr := call(t, f, tt.answer, append([]string{"import"}, tt.args...)...)
		took := ""
		if len(f.imports) == 1 {
			took = f.imports[0].Where
		}
		if code != tt.code || took != tt.took {
			t.Errorf("%s: exit %d took %q, want %d and %q\n%s%s", tt.name, code, took, tt.code, tt.took, stdout, stderr)
		}
	}
}

func TestDeleteAsksForTheName(t *testing.T) {
	view := app.RunView{RunRow: app.RunRow{Kernel: "sam-roe/idea-train"}}
	tests := []struct {
		answer string
		args   []string
		code   int
	}{
		{"idea-train\n", nil, 0}, {"sam-roe/idea-train\n", nil, 0}, {"yes\n", nil, 1}, {"\n", nil, 1}, {"", []string{"--yes"}, 0}, {"", nil, 2},
	}
	for _, tt := range tests {
		f := &fake{view: view}
		code, _, _ := call(t, f, tt.answer, append([]string{"delete", "idea-train"}, tt.args...)...)
		if code != tt.code || (len(f.deleted) == 1) != (tt.code == 0) {
			t.Errorf("answer %q %v: exit %d, deleted %v", tt.answer, tt.args, code, f.deleted)
		}
	}
}

func TestServe(t *testing.T) {
	f := &fake{}
	code, stdout, _ := call(t, f, "", "sandbox", "serve", "--addr", "127.0.0.1:0", "--speed", "60", "--home", "h", "--tpu-queue", "3h", "--start-delay", "5s", "--layout", "old")
	want := app.SandboxServe{Addr: "127.0.0.1:0", Speed: 60, Home: "h", TPUQueue: 3 * time.Hour, StartDelay: 5 * time.Second, Layout: "old"}
	f.serve.Ready = nil
	if code != 0 || !reflect.DeepEqual(f.serve, want) {
		t.Errorf("exit %d, %+v", code, f.serve)
	}
	if strings.Count(stdout, "\n") != 1 || stdout != `{"url":"http://127.0.0.1:1","username":"sandy","key":"k"}`+"\n" {
		t.Errorf("%q is not one line with url, username and key", stdout)
	}
}

// Every verb teaches: a sentence, an example that parses, and its JSON fields.
func TestHelp(t *testing.T) {
	p := &program{progress: newProgress(nil)}
	for _, cmd := range append(p.root().Commands(), p.sandboxCmd().Commands()...) {
		if cmd.Hidden || cmd.Name() == "help" || cmd.Name() == "completion" {
			continue
		}
		if cmd.Short == "" || cmd.Example == "" || !strings.Contains(cmd.Example, "sandglass ") {
			t.Errorf("%s has no sentence or no example", cmd.Name())
		}
		code, stdout, _ := call(t, &fake{}, "", strings.Fields(strings.TrimPrefix(cmd.CommandPath(), "sandglass ")+" --help")...)
		if code != 0 || !strings.Contains(stdout, "Usage:") {
			t.Errorf("%s --help: exit %d, %q", cmd.Name(), code, stdout)
		}
	}
	code, stdout, _ := call(t, &fake{}, "", "--help")
	if code != 0 || !strings.Contains(stdout, "Exit codes") {
		t.Errorf("--help: exit %d, %q", code, stdout)
	}
}

func TestErrorsAreOneSentence(t *testing.T) {
	code, stdout, stderr := call(t, &fake{err: errBroken}, "", "log")
	if code != exitFailed || stdout != "" || !strings.HasPrefix(stderr, "error: ") || !strings.Contains(stderr, "broken") {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
}

func TestWords(t *testing.T) {
	for d, want := range map[time.Duration]string{-time.Hour: "0 s", 40 * time.Second: "40 s", 12 * time.Minute: "12 min", 200 * time.Minute: "3 h 20 min", 51 * time.Hour: "2 d 3 h"} {
		if got := span(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 bytes", 999: "999 bytes", 42_000: "42 kB", 1_500_000: "1.5 MB", 2_000_000_000: "2.0 GB"} {
		if got := size(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	for s, want := range map[string]string{"plain": "plain", "a b": "'a b'", "": "''", "it's": `'it'\''s'`, "{fold}": "'{fold}'", "$HOME": "'$HOME'"} {
		if got := quoted(s); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
}
