package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"sandglass/app/keychain"
	"sandglass/app/runlog"
	"sandglass/kaggle"
	"sandglass/kaggle/sandbox"
)

// crashEnv makes the test binary a program that pushes or collects and kills
// itself at one step: "push", "push --queue", "launch", "launch cut" or "collect".
const crashEnv = "SANDGLASS_TEST_CRASH"

func TestMain(m *testing.M) {
	if what := os.Getenv(crashEnv); what != "" {
		crashChild(what)
		return
	}
	os.Exit(m.Run())
}

// crashChild exits 0 when the work was done before the step was reached.
func crashChild(what string) {
	ctx := context.Background()
	a, err := Open(ctx, Options{Home: os.Getenv("CRASH_HOME"), Keychain: keychain.Memory(), Getenv: os.Getenv})
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
	}
	fail(err)
	a.limiter = kaggle.NewLimiter(1000, 100)
	at, err := strconv.Atoi(os.Getenv("CRASH_STEP"))
	fail(err)
	steps := make(chan int, 1)
	steps <- 0
	a.step = func(name string) {
		n := <-steps + 1
		steps <- n
		if n == at {
			fmt.Fprintf(os.Stdout, "killed at %s\n", name)
			p, _ := os.FindProcess(os.Getpid())
			p.Kill()
			select {}
		}
	}
	switch what {
	case "push", "push --queue":
		plan, err := a.PlanPush(ctx, os.Getenv("CRASH_DIR"), PushOptions{Hours: 1, QueueIfFull: what == "push --queue"})
		fail(err)
		_, err = a.Push(ctx, plan, Consent{By: "test"})
		fail(err)
	case "launch", "launch cut":
		shorter := map[string]time.Duration{"launch cut": crashCut}[what]
		acc, err := a.Account(ctx)
		fail(err)
		runs, err := a.store.Runs(ctx, runlog.Filter{States: []string{StateWaiting}})
		fail(err)
		_, err = a.launchOne(ctx, acc, runs[0], shorter)
		fail(err)
	case "collect":
		_, err := a.Collect(ctx, os.Getenv("CRASH_DIR"), CollectOptions{}, nil)
		fail(err)
	}
	os.Exit(0)
}

// crash runs the child until it kills itself at step n; ended says that the work
// was done before.
func crash(t *testing.T, what string, n int, home, dir, url string, w *world) (ended bool, where string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashEnv+"="+what, "CRASH_HOME="+home, "CRASH_DIR="+dir, fmt.Sprint("CRASH_STEP=", n),
		"SANDGLASS_ENDPOINT="+url, "KAGGLE_USERNAME="+w.user, "KAGGLE_KEY="+w.box.Key(), "KAGGLE_API_TOKEN=")
	var errOut strings.Builder
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 0 {
		return true, ""
	}
	if cmd.ProcessState == nil || cmd.ProcessState.Exited() {
		t.Fatalf("child: %v %s", err, errOut.String())
	}
	return false, strings.TrimSpace(string(out))
}

// served is a world over HTTP, for children and parent alike.
func served(t *testing.T, run func(context.Context, sandbox.Job) sandbox.Result) (*world, string) {
	w := newWorld(t, sandbox.Options{GPUTotal: 1000 * time.Hour}, run)
	srv := httptest.NewServer(w.box.Handler())
	t.Cleanup(srv.Close)
	return w, srv.URL
}

// reopen opens the home a child left behind. Its clock is minutes later, so that
// a push that cannot be seen counts as not arrived.
func reopen(t *testing.T, w *world, url, home string) *App {
	a := w.open(t, home, func(o *Options) {
		o.Transport = nil
		o.Now = func() time.Time { return time.Now().Add(3 * time.Minute) }
		env := map[string]string{"SANDGLASS_ENDPOINT": url, "KAGGLE_USERNAME": w.user, "KAGGLE_KEY": w.box.Key()}
		o.Getenv = envOf(env)
	})
	a.limiter = kaggle.NewLimiter(1000, 100)
	return a
}

// Killed at every step of a push: after a restart the run is there and runs once,
// or nothing was sent. Only a push that was allowed to wait goes out by itself
// then; after any other the person is told, and pushes again.
func TestKilledAtEveryStepOfPush(t *testing.T) {
	for _, what := range []string{"push", "push --queue"} {
		for n, done := 1, false; !done; n++ {
			var where string
			w, url := served(t, works(10*time.Millisecond))
			home := t.TempDir()
			slug := fmt.Sprintf("crash-push-%02d", n)
			dir := kernelFolder(t, slug, "NvidiaTeslaT4", nil)
			done, where = crash(t, what, n, home, dir, url, w)
			a := reopen(t, w, url, home)
			settlePush(t, a, what, where, slug, dir)
			if v := versionAt(t, a, slug); v != 1 || w.count("SaveKernel") > 2 {
				t.Errorf("%s, %s: version %d, want 1", what, where, v)
			}
			closeApp(t, a)
			if done && n < 6 {
				t.Errorf("a push has only %d steps: the hook is not called", n-1)
			}
		}
	}
}

// settlePush takes a push that was killed to its one version, by the person's hand
// where nobody else may.
func settlePush(t *testing.T, a *App, what, where, slug, dir string) {
	t.Helper()
	runs, err := a.store.Runs(t.Context(), runlog.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) > 1 {
		t.Errorf("%s, %s: %d runs in the log", what, where, len(runs))
	}
	if len(runs) == 0 {
		if v := versionAt(t, a, slug); v != 0 {
			t.Errorf("%s, %s: Kaggle has version %d and the log has no run", what, where, v)
		}
		pushDir(t, a, dir, PushOptions{Hours: 1}) // the person does it again, and it works
	}
	settleHome(t, a, what+", "+where)
	if len(runs) == 0 {
		return
	}
	r := getRun(t, a, runs[0].ID)
	if r.State != StateRefused {
		return
	}
	if v := versionAt(t, a, slug); v != 0 || what != "push" || r.Failure != notArrivedWords {
		t.Errorf("%s, %s: version %d, called %q", what, where, v, r.Failure)
	}
	pushDir(t, a, dir, PushOptions{Hours: 1})
	settleHome(t, a, what+", "+where)
}

// crashCut is the shorter cap of "launch cut", which is less than that of the run.
const crashCut = 30 * time.Minute

// The same for a run that waited for its slot, with its own cap and with a shorter
// one. What the log then says of the run is what Kaggle has.
func TestKilledAtEveryStepOfLaunch(t *testing.T) {
	for _, what := range []string{"launch", "launch cut"} {
		cut := 0
		for n, done := 1, false; !done; n++ {
			var where string
			w, url := served(t, works(10*time.Millisecond))
			home := t.TempDir()
			slug := fmt.Sprintf("crash-launch-%02d", n)
			a := reopen(t, w, url, home)
			dir, opt := kernelFolder(t, slug, "NvidiaTeslaT4", nil), PushOptions{Hours: 1, QueueIfFull: true}
			if what == "launch cut" {
				dir, opt.LeastHours = packedFolder(t, a, slug, 1), 0.4
			}
			row := queueRun(t, a, dir, opt)
			closeApp(t, a)
			done, where = crash(t, what, n, home, dir, url, w)
			a = reopen(t, w, url, home)
			settleHome(t, a, where)
			if v := versionAt(t, a, slug); v != 1 {
				t.Errorf("%s, %s: pushed %d times, want once", what, where, v)
			}
			k, err := mustClient(t, a).GetKernel(t.Context(), kaggleRef("sam-roe/"+slug), 0)
			if r := getRun(t, a, row.ID); err != nil || r.SourceSHA256 != textSHA256(k.Source) || what == "launch cut" && !strings.Contains(k.Source, fmt.Sprintf("at most %g hours", r.Cap.Hours())) {
				t.Errorf("%s, %s: the log has a cap of %s and another source, %v", what, where, r.Cap, err)
			} else if r.Cap == crashCut {
				cut++
			}
			closeApp(t, a)
		}
		if what == "launch cut" && cut < 3 {
			t.Errorf("only %d of these launches were with the shorter cap: this proves little", cut)
		}
	}
}

// queueRun writes a waiting run as a push with full slots does.
func queueRun(t *testing.T, a *App, dir string, opt PushOptions) RunRow {
	t.Helper()
	ctx := t.Context()
	acc, err := a.Account(ctx)
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.readPushFolder(ctx, acc, dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	row, err := a.pushNow(ctx, acc, p, opt, Consent{By: "test"}, &waitFor{Code: "slots", Why: "a GPU slot"})
	if err != nil {
		t.Fatal(err)
	}
	return row
}

func versionAt(t *testing.T, a *App, slug string) int {
	t.Helper()
	v, err := a.versionBefore(t.Context(), "sam-roe/"+slug)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// settleHome watches until every run of the home is collected.
func settleHome(t *testing.T, a *App, where string) {
	t.Helper()
	if err := a.StartWatcher(t.Context()); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		runs, err := a.store.Runs(t.Context(), runlog.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		open := 0
		for _, r := range runs {
			if r.CollectedAt.IsZero() && r.State != StateRefused {
				open++
			}
		}
		if len(runs) > 0 && open == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: not settled: %+v", where, runs)
		}
		a.Nudge()
	}
}

// sessionFiles is what the packed run of the collect test saves.
func sessionFiles() map[string]string {
	files := map[string]string{
		"artifacts/leaf/curve_fold0.json": `{"fold":0,"epochs":2,"greater_is_better":true,"points":[{"epoch":0,"score":0.5,"seconds":1},{"epoch":1,"score":0.7,"seconds":2}]}`,
		"artifacts/leaf/score.json":       `{"score":0.7,"metric":"accuracy","greater_is_better":true,"fold_scores":{"0":0.7}}`,
		"artifacts/leaf/big.csv":          strings.Repeat("some,row,of,numbers\n", 30_000),
		"artifacts/leaf/fold0.pt":         "weights",
		"run.json": `{"schema":1,"build_id":"b","name":"leaf","kernel":"sam-roe/leaf","started_utc":"` + time.Now().UTC().Format(time.RFC3339) + `","elapsed_s":1.5,"budget_h":1,
			"accelerator":"NvidiaTeslaT4","hardware":{"gpus":[],"tpu_chips":0,"cpus":2,"python":"3"},"times":{},
			"jobs":[{"name":"leaf","cmd":"c","folds":[0],"complete":true,"assembled":true,"score":0.7,"metric":"accuracy","greater":true}],
			"tasks":[{"job":"leaf","fold":0,"state":"done","seconds":1,"device":"gpu0","best":0.7,"epochs":2,"error":"","log":""}],
			"findings":[],"util":[],"outcome":"complete","deadline_hit":false}`,
	}
	files["telemetry.jsonl"] = `{"k":"util","t":1,"dev":[{"d":"gpu0","util":90,"mem":1000,"power":60}]}` + "\n"
	type entry struct {
		Path   string `json:"path"`
		Size   int    `json:"size"`
		SHA256 string `json:"sha256"`
	}
	var list []entry
	for p, text := range files {
		sum := sha256.Sum256([]byte(text))
		list = append(list, entry{p, len(text), hex.EncodeToString(sum[:])})
	}
	raw, _ := json.Marshal(map[string]any{"schema": 1, "files": list})
	files["manifest.json"] = string(raw)
	return files
}

// saves is a session that writes files.
func saves(files map[string]string) func(context.Context, sandbox.Job) sandbox.Result {
	return func(_ context.Context, job sandbox.Job) sandbox.Result {
		job.Log("stdout", "::sandglass "+`{"k":"task","t":1,"job":"leaf","fold":0,"state":"done","device":"gpu0","seconds":1,"best":0.7,"epochs":2,"error":""}`+"\n")
		for p, text := range files {
			path := filepath.Join(job.Working, filepath.FromSlash(p))
			os.MkdirAll(filepath.Dir(path), 0o755)
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				return sandbox.Result{Status: sandbox.StatusError, Message: err.Error()}
			}
		}
		return sandbox.Result{Status: sandbox.StatusComplete}
	}
}

// project writes a small project and builds it.
func buildProject(t *testing.T, a *App, project, slug string) BuildResult {
	t.Helper()
	writeAll(t, project, map[string]string{"src/train.py": "print('train')\n", "data/folds.csv": "id,fold\n1,0\n2,0\n"})
	b, err := a.Build(t.Context(), BuildSpec{Project: project, Name: "leaf", Slug: slug, Command: "python src/train.py --folds {fold}", Hours: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Killed at every step of a collect: collecting again completes it, no file is
// half, and what was in the artifacts folder before is not lost.
func TestKilledAtEveryStepOfCollect(t *testing.T) {
	files := sessionFiles()
	step := 1
	if testing.Short() { // the race detector's turn, which makes each child take seconds
		step = 6
	}
	for n := 1; ; n += step {
		w, url := served(t, saves(files))
		home, project := t.TempDir(), t.TempDir()
		writeAll(t, project, map[string]string{"artifacts/leaf/score.json": "mine, from before"})
		a := reopen(t, w, url, home)
		if err := a.SetSetting(t.Context(), "collect.auto", "off"); err != nil {
			t.Fatal(err)
		}
		row := pushDir(t, a, buildProject(t, a, project, fmt.Sprintf("crash-collect-%02d", n)).Dir, PushOptions{})
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			if v, err := a.Refresh(t.Context(), row.Kernel); err == nil && v.Ended {
				break
			} else if time.Now().After(end) {
				t.Fatalf("not ended: %v", err)
			}
		}
		closeApp(t, a)
		done, where := crash(t, "collect", n, home, row.Kernel, url, w)
		a = reopen(t, w, url, home)
		if r := getRun(t, a, row.ID); !done && !r.CollectedAt.IsZero() && !strings.Contains(where, "done") {
			t.Errorf("%s: called collected", where)
		}
		checkWhole(t, where, filepath.Join(project, ".sandglass", "runs", fmt.Sprintf("crash-collect-%02d-v1", n)), files, false)
		c, err := a.Collect(t.Context(), row.Kernel, CollectOptions{}, nil)
		if err != nil || len(c.Problems) > 0 {
			t.Errorf("%s: collect again: %v %v", where, err, c.Problems)
		}
		if v := c.Run; !v.Collected || v.Outcome != OutcomeComplete || v.Score == nil || *v.Score != 0.7 || len(v.Curves) != 1 || len(v.Curves[0].Points) != 2 || len(v.Tasks) != 1 {
			t.Errorf("%s: settled as %+v", where, v)
		}
		checkWhole(t, where, c.Dir, files, true)
		checkWhole(t, where, project, map[string]string{"artifacts/leaf/score.json": files["artifacts/leaf/score.json"], "artifacts/leaf/big.csv": files["artifacts/leaf/big.csv"]}, true)
		old, err := os.ReadFile(filepath.Join(project, ".sandglass", "replaced", fmt.Sprintf("crash-collect-%02d-v1", n), "artifacts", "leaf", "score.json"))
		if err != nil || string(old) != "mine, from before" {
			t.Errorf("%s: the earlier artifact: %q %v", where, old, err)
		}
		closeApp(t, a)
		if done {
			if n < 15 {
				t.Errorf("a collect has only %d steps: the hook is not called", n-1)
			}
			return
		}
	}
}

// checkWhole compares files that have their name already; with all they must be there.
func checkWhole(t *testing.T, where, dir string, want map[string]string, all bool) {
	t.Helper()
	for p, text := range want {
		if isWeights(p) {
			if _, err := os.Stat(filepath.Join(dir, p)); err == nil {
				t.Errorf("%s: weights were fetched: %s", where, p)
			}
			continue
		}
		got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(p)))
		if os.IsNotExist(err) && !all {
			continue
		}
		if err != nil || string(got) != text {
			t.Errorf("%s: %s is not whole: %d of %d bytes, %v", where, p, len(got), len(text), err)
		}
	}
}
