package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/kaggle"
	"sandglass/kaggle/sandbox"
)

// warped runs real sessions whose clock, and that of their processes, runs an hour in 3.6 seconds.
type warped struct{ sandbox.Executor }

func (w warped) Run(ctx context.Context, job sandbox.Job) sandbox.Result {
	pip := filepath.Join(job.Dir, "pip") // first in the session's PYTHONPATH
	if err := errors.Join(os.MkdirAll(pip, 0o755), os.WriteFile(filepath.Join(pip, "sitecustomize.py"), []byte(`import os, time
real, at = time.time, float(os.environ.setdefault("WARP_AT", repr(time.time())))
time.time = lambda: at + (real() - at) * 1000
`), 0o644)); err != nil {
		return sandbox.Result{Status: sandbox.StatusError, Message: err.Error()}
	}
	return w.Executor.Run(ctx, job)
}

// slowFolds is a trainer that keeps the contract and needs far more than three hours of the warped clock.
const slowFolds = `import argparse, os, time
from sandglass.atomic import write_text
from sandglass.budget import TrainBudget
p = argparse.ArgumentParser()
p.add_argument("--name")
p.add_argument("--folds", nargs="*", type=int, default=[])
p.add_argument("--assemble", action="store_true")
a = p.parse_args()
out = os.path.join("artifacts", a.name)
os.makedirs(out, exist_ok=True)
for k in a.folds:
    saved = os.path.join(out, "fold%d_resume.txt" % k)
    first = int(open(saved).read()) if os.path.exists(saved) else 0
    print("fold", k, "from epoch", first, flush=True)
    budget, verdict = TrainBudget(out, fold=k, epochs=1000), "continue"
    for e in range(first, 1000):
        budget.start_epoch()
        time.sleep(0.2)
        verdict = budget.end_epoch(e, 0.5)
        write_text(saved, str(e + 1))
        if verdict != "continue":
            break
    budget.write_status("timeout" if verdict == "timeout" else "done")
`

// lastHours makes Kaggle say that so many hours of 30 are left, 20 h before the reset, and keeps what is pushed.
func lastHours(w *world, left time.Duration) (pushed func() []kaggle.SaveKernelRequest) {
	var mu sync.Mutex
	var out []kaggle.SaveKernelRequest
	reset := time.Now().Add(20 * time.Hour).UTC().Format(time.RFC3339)
	w.setAnswer(func(method string, body []byte) (int, string, error) {
		switch method {
		case "GetAcceleratorQuotaStatistics":
			return 200, fmt.Sprintf(`{"gpuQuota":{"timeUsed":"%ds","timeReserved":"0s","totalTimeAllowed":"108000s"},"quotaRefreshTime":%q}`, int((30*time.Hour - left).Seconds()), reset), nil
		case "SaveKernel":
			var req kaggle.SaveKernelRequest
			json.Unmarshal(body, &req) //nolint:errcheck // ours
			mu.Lock()
			out = append(out, req)
			mu.Unlock()
		}
		return 0, "", nil
	})
	return func() []kaggle.SaveKernelRequest { mu.Lock(); defer mu.Unlock(); return out }
}

// Three hours are left of the week. A run of six that may be shortened goes out with three, its session saves and stops by
// itself before they are over, and its follow-up goes on from there; a run that may not waits.
func TestQueueShortensToWhatIsLeft(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3")
	}
	w := newWorld(t, sandbox.Options{Executor: warped{sandbox.Local("", slog.New(slog.DiscardHandler))}}, nil)
	pushed := lastHours(w, 3*time.Hour)
	a := w.open(t, "")
	defer closeApp(t, a)
	a.limiter = kaggle.NewLimiter(1000, 100)
	ctx, project := t.Context(), t.TempDir()
	writeAll(t, project, map[string]string{"src/train.py": slowFolds, "data/folds.csv": "id,fold\n1,0\n2,1\n"})
	build := func(slug string) string {
		t.Helper()
		b, err := a.Build(ctx, BuildSpec{Project: project, Name: "idea", Slug: slug, Command: "python src/train.py --name idea --folds {fold}", Hours: 6, NoInternet: true, StallMinutes: -1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return b.Dir
	}
	stiff := pushDir(t, a, build("stiff-run"), PushOptions{QueueIfFull: true})
	short := pushDir(t, a, build("short-run"), PushOptions{QueueIfFull: true, LeastHours: 2})
	if q := queueOf(t, a); len(q) != 2 || q[1].LeastH != 2 || q[0].LeastH != 0 || q[1].CapHours != 6 {
		t.Fatalf("queue %+v", q)
	}
	if err := a.StartWatcher(ctx); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(60 * time.Second); getRun(t, a, short.ID).CollectedAt.IsZero(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not collected: %s, %s", getRun(t, a, short.ID).State, getRun(t, a, short.ID).Failure)
		}
		a.Nudge()
	}
	sent := pushed()
	if len(sent) != 1 || sent[0].SessionTimeoutSeconds != 3*3600 || !strings.Contains(sent[0].Text, `"hours": 3,`) || !strings.Contains(sent[0].Text, "for at most 3 hours") {
		t.Fatalf("%d pushes, the first with %d s", len(sent), sent[0].SessionTimeoutSeconds)
	}
	r := getRun(t, a, short.ID)
	if r.Cap != 3*time.Hour || r.SourceSHA256 != textSHA256(sent[0].Text) || r.Version != 1 {
		t.Errorf("the log has a cap of %s, version %d", r.Cap, r.Version)
	}
	v, err := a.Run(ctx, short.ID)
	if err != nil {
		t.Fatal(err)
	}
	graceful := 0.92 * 3
	if v.Outcome != OutcomePartial || v.State != StateComplete || len(v.Tasks) != 2 || v.Tasks[0].State != "timeout" || v.Hours >= 3 || v.Hours < graceful/2 {
		t.Errorf("%s, %s after %.2f h, tasks %+v", v.State, v.Outcome, v.Hours, v.Tasks)
	}
	if s := getRun(t, a, stiff.ID); s.State != StateWaiting {
		t.Errorf("what may not be shortened is %s", s.State)
	}
	if q := queueOf(t, a); len(q) != 1 || !strings.HasPrefix(q[0].Why, "quota: needs 6.0 h, 3.0 h left") {
		t.Errorf("queue %+v", q)
	}

	// The follow-up is built with the whole cap again, and stands before what has not begun.
	b, err := a.Resume(ctx, "short-run", ResumeOptions{})
	if err != nil || b.CapHours != 6 {
		t.Fatalf("%+v, %v", b, err)
	}
	if err := a.QueuePause(ctx, true); err != nil {
		t.Fatal(err)
	}
	next := pushDir(t, a, b.Dir, PushOptions{QueueIfFull: true, LeastHours: 2})
	if q := queueOf(t, a); len(q) != 2 || q[0].ID != next.ID || !q[0].FollowUp {
		t.Errorf("queue %+v", q)
	}
}

// packedFolder builds a project of its own with a cap in hours.
func packedFolder(t *testing.T, a *App, slug string, hours float64) string {
	t.Helper()
	project := t.TempDir()
	writeAll(t, project, map[string]string{"src/train.py": "print('" + slug + "')\n"})
	b, err := a.Build(t.Context(), BuildSpec{Project: project, Name: slug, Slug: slug, Command: "python src/train.py", Hours: hours}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b.Dir
}

// One that may be shortened lets another one go first that fits and may not be; it fills what is left then.
func TestQueueFillsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sandbox.Options{}, works(time.Hour))
		pushed := lastHours(w, 5*time.Hour)
		a := w.open(t, "")
		defer closeApp(t, a)
		if err := a.StartWatcher(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := a.QueuePause(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		long := pushDir(t, a, packedFolder(t, a, "long-run", 8), PushOptions{QueueIfFull: true, LeastHours: 1})
		pushDir(t, a, packedFolder(t, a, "stiff-run", 3.5), PushOptions{QueueIfFull: true})
		if err := a.QueuePause(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		until(t, 10*time.Minute, "both went out", func() bool { return len(pushed()) == 2 })
		sent := pushed()
		if sent[0].Slug != "sam-roe/stiff-run" || sent[0].SessionTimeoutSeconds != 3.5*3600 || sent[1].SessionTimeoutSeconds != 1.5*3600 {
			t.Errorf("first %s with %d s, then %s with %d s", sent[0].Slug, sent[0].SessionTimeoutSeconds, sent[1].Slug, sent[1].SessionTimeoutSeconds)
		}
		// The very same again would be a second session, whatever its cap was cut to.
		var guard *GuardError
		if _, err := tryPush(a, getRun(t, a, long.ID).BuildDir, PushOptions{}); !errors.As(err, &guard) || !strings.Contains(err.Error(), "the very same source") {
			t.Errorf("pushed again: %v", err)
		}
	})
}

// What Kaggle did not take goes back to the queue as it was authorised, and is shortened anew to what is left then.
func TestQueueShortensAnewForEachTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sandbox.Options{}, works(time.Hour))
		lastHours(w, 3*time.Hour)
		a := w.open(t, "")
		defer closeApp(t, a)
		row := pushDir(t, a, packedFolder(t, a, "long-run", 8), PushOptions{QueueIfFull: true, LeastHours: 1})
		if _, err := w.box.Faults().Add(sandbox.Fault{Match: "SaveKernel", Kind: sandbox.Fault429, Times: 1}); err != nil {
			t.Fatal(err)
		}
		if err := a.StartWatcher(t.Context()); err != nil {
			t.Fatal(err)
		}
		until(t, time.Minute, "the first try", func() bool { return w.count("SaveKernel") == 1 })
		synctest.Wait()
		if r := getRun(t, a, row.ID); r.State != StateWaiting || r.Cap != 8*time.Hour {
			t.Errorf("after a refused try it is %s with a cap of %s", r.State, r.Cap)
		}
		pushed := lastHours(w, 2*time.Hour)
		until(t, time.Hour, "the second try", func() bool { return getRun(t, a, row.ID).Version == 1 })
		if r, sent := getRun(t, a, row.ID), pushed(); len(sent) != 1 || sent[0].SessionTimeoutSeconds != 7200 || r.Cap != 2*time.Hour {
			t.Errorf("%d pushes, a cap of %s", len(sent), r.Cap)
		}
	})
}

// Nothing is shortened that was not agreed to be, nor below what was agreed to.
func TestLeastHoursAreChecked(t *testing.T) {
	w := newWorld(t, sandbox.Options{}, works(time.Hour))
	lastHours(w, 3*time.Hour)
	a := w.open(t, "")
	defer closeApp(t, a)
	packed, own := packedFolder(t, a, "long-run", 8), kernelFolder(t, "own-run", "NvidiaTeslaT4", nil)
	edited := packedFolder(t, a, "edited-run", 8)
	scripts, err := filepath.Glob(edited + "/*.py")
	if err != nil || len(scripts) != 1 {
		t.Fatal(scripts, err)
	}
	text, err := os.ReadFile(scripts[0])
	if err != nil {
		t.Fatal(err)
	}
	writeAll(t, edited, map[string]string{filepath.Base(scripts[0]): strings.Replace(string(text), "def main", "def  main", 1)})
	for name, c := range map[string]struct {
		dir string
		opt PushOptions
	}{
		"not for the queue":       {packed, PushOptions{LeastHours: 2}},
		"below zero":              {packed, PushOptions{QueueIfFull: true, LeastHours: -2}},
		"too short to save":       {packed, PushOptions{QueueIfFull: true, LeastHours: 0.1}},
		"no shorter than its cap": {packed, PushOptions{QueueIfFull: true, LeastHours: 8}},
		"a folder of one's own":   {own, PushOptions{QueueIfFull: true, LeastHours: 2}},
		"an edited script":        {edited, PushOptions{QueueIfFull: true, LeastHours: 2}},
	} {
		var call *CallError
		if _, err := a.PlanPush(t.Context(), c.dir, c.opt); !errors.As(err, &call) || Explain(err).Exit != ExitUsage {
			t.Errorf("%s: %v", name, err)
		}
	}
	row := pushDir(t, a, packed, PushOptions{QueueIfFull: true, LeastHours: 2})
	acc, err := a.Account(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, cap := range []time.Duration{time.Hour, 8 * time.Hour, 9 * time.Hour} {
		if _, err := a.launchOne(t.Context(), acc, getRun(t, a, row.ID), cap); err == nil || !strings.Contains(err.Error(), "not agreed to") || w.count("SaveKernel") != 0 {
			t.Errorf("a cap of %s: %v", cap, err)
		}
	}
	kept, err := a.keptPush(getRun(t, a, row.ID))
	if err != nil {
		t.Fatal(err)
	}
	kept.Options.LeastHours = 0.5 // the two records of what was agreed to no longer say the same
	if err := a.keepPush(getRun(t, a, row.ID), kept); err != nil {
		t.Fatal(err)
	}
	q, err := a.store.Queue(context.Background(), acc.ID)
	if err != nil || len(q) != 1 {
		t.Fatal(q, err)
	}
	if _, v := a.stillAuthorised(q[0]); !v.Stop {
		t.Error("least hours that were not agreed to are taken")
	}
}
