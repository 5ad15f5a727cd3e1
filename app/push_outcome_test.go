package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/app/runlog"
	"sandglass/kaggle/sandbox"
	"sandglass/runnerpack"
)

// A push by hand that never arrived ends as not pushed, whoever watches; nothing is
// sent by itself. Meanwhile the guard says to wait, and the slot it might hold is
// given back when it is known that it holds none. One that was authorised for the
// queue goes out once more.
func TestUnclearPushByHandIsNotRepeated(t *testing.T) {
	for _, queue := range []bool{false, true} {
		t.Run(fmt.Sprint("queue=", queue), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, sandbox.Options{}, works(time.Hour))
				lost := 0
				w.answer = func(method string, _ []byte) (int, string, error) {
					if method == "SaveKernel" && lost == 0 {
						lost++
						return 0, "", errors.New("read: connection reset by peer")
					}
					return 0, "", nil
				}
				a := w.open(t, "")
				defer closeApp(t, a)
				if err := a.StartWatcher(t.Context()); err != nil {
					t.Fatal(err)
				}
				sub := a.Subscribe()
				defer sub.Close()
				dir := kernelFolder(t, "leaf-run", "none", nil)
				_, err := tryPush(a, dir, PushOptions{Hours: 1, QueueIfFull: queue})
				e := Explain(err)
				if e.Title != "The push may have arrived" || !strings.Contains(e.Action, "about 2 minutes") {
					t.Errorf("said %+v", e)
				}
				_, err = tryPush(a, dir, PushOptions{Hours: 1, Force: true})
				if e := Explain(err); e.Exit != ExitRefused || strings.Contains(e.Action, "change it") || !strings.Contains(e.Action, "Wait about 2 minutes") {
					t.Errorf("a second push meanwhile: %+v", e)
				}
				row, err := a.Resolve(t.Context(), "leaf-run")
				if err != nil || row.State != StateUnclear || !strings.Contains(row.Note, "looked up") {
					t.Errorf("meanwhile %+v, %v", row, err)
				}
				time.Sleep(24 * time.Hour)
				r := getRun(t, a, row.ID)
				if queue {
					if w.count("SaveKernel") != 2 || r.Version != 1 {
						t.Errorf("%d requests, %s version %d; want one more that ran", w.count("SaveKernel"), r.State, r.Version)
					}
					return
				}
				if w.count("SaveKernel") != 1 || r.State != StateRefused || r.Failure != "not pushed: Kaggle has no such version; push again" {
					t.Errorf("%d requests, %s %q", w.count("SaveKernel"), r.State, r.Failure)
				}
				if ns := notices(sub); len(ns) != 1 || ns[0].Title != "Not pushed: leaf-run" {
					t.Errorf("told %+v", ns)
				}
				pushDir(t, a, dir, PushOptions{Hours: 1})
			})
		})
	}
}

// Unclear pushes hold CPU sessions only as long as they may have arrived, and one
// that did arrive counts once.
func TestUnclearPushesAndSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sandbox.Options{}, works(10*time.Hour))
		a := w.open(t, "")
		defer closeApp(t, a)
		acc, err := a.Account(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		busy := func() []string {
			t.Helper()
			b, err := a.busySessions(t.Context(), acc, PoolCPU)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		for i := range 5 {
			if _, err := w.box.Faults().Add(sandbox.Fault{Match: "SaveKernel", Kind: sandbox.FaultCutBefore}); err != nil {
				t.Fatal(err)
			}
			if _, err := tryPush(a, kernelFolder(t, fmt.Sprint("lost-run-", i), "none", nil), PushOptions{Hours: 1}); err == nil {
				t.Fatal("a cut push was accepted")
			}
		}
		if b := busy(); len(b) != 5 {
			t.Errorf("at first %v may hold a session", b)
		}
		time.Sleep(3 * time.Minute)
		if b := busy(); len(b) != 0 {
			t.Errorf("later %v hold one still", b)
		}
		if _, err := w.box.Faults().Add(sandbox.Fault{Match: "SaveKernel", Kind: sandbox.FaultCutAfter}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.box.Faults().Add(sandbox.Fault{Match: "GetKernel", Kind: sandbox.Fault500, Times: 8, After: 1}); err != nil {
			t.Fatal(err)
		}
		_, err = tryPush(a, kernelFolder(t, "there-run", "none", nil), PushOptions{Hours: 1})
		var p *PushError
		if !errors.As(err, &p) || p.State != StateUnclear {
			t.Fatalf("got %v", err)
		}
		w.box.Faults().Clear()
		if b := busy(); len(b) != 1 {
			t.Errorf("one that arrived counts as %v", b)
		}
	})
}

// A pause that Kaggle asks for is not a matter of sessions, and no connection is no
// refusal: both say so, send nothing and end with exit status 4.
func TestPushWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sandbox.Options{}, works(time.Hour))
		a := w.open(t, "")
		defer closeApp(t, a)
		dir := kernelFolder(t, "leaf-run", "NvidiaTeslaT4", nil)
		if _, err := w.box.Faults().Add(sandbox.Fault{Match: "SaveKernel", Kind: sandbox.Fault429, RetryAfter: "37"}); err != nil {
			t.Fatal(err)
		}
		_, err := tryPush(a, dir, PushOptions{Hours: 1})
		e := Explain(err)
		if e.Exit != ExitUnreachable || !strings.HasPrefix(e.Sentence, "Kaggle is rate limiting: retry in 37 s") || strings.Contains(e.Sentence+e.Action, "--queue") {
			t.Errorf("429: %+v", e)
		}
		time.Sleep(time.Minute)
		w.setDown(true)
		begun := time.Now()
		sent := w.count("SaveKernel")
		_, err = tryPush(a, dir, PushOptions{Hours: 1})
		e = Explain(err)
		if e.Exit != ExitUnreachable || !strings.HasPrefix(e.Sentence, "Kaggle could not be reached; nothing of sam-roe/leaf-run was sent") || strings.Contains(e.Sentence+e.Title, "refused") {
			t.Errorf("offline: %+v", e)
		}
		if d := time.Since(begun); d > 6*time.Second || w.count("SaveKernel") != sent {
			t.Errorf("after %s and %d requests", d, w.count("SaveKernel")-sent)
		}
		runs, err := a.store.Runs(t.Context(), runlog.Filter{States: unsettled})
		if err != nil || len(runs) != 0 {
			t.Errorf("in flight: %+v %v", runs, err)
		}
		// Authorised for the queue it goes out when the connection is back.
		row := pushDir(t, a, dir, PushOptions{Hours: 1, QueueIfFull: true})
		if row.State != StateWaiting || row.Note != "Kaggle could not be reached" {
			t.Errorf("queued offline: %+v", row)
		}
		if err := a.StartWatcher(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if q := queueOf(t, a); len(q) != 1 {
			t.Errorf("queue %+v", q)
		}
		w.setDown(false)
		until(t, time.Hour, "it went out", func() bool { return getRun(t, a, row.ID).Version == 1 })
	})
}

// A pause asked of the queue's own push leaves the run where it waited.
func TestQueuePushIsRateLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, a := queueWorld(t, sandbox.Options{}, time.Hour)
		defer closeApp(t, a)
		row := pushDir(t, a, kernelFolder(t, "third-run", "NvidiaTeslaT4", nil), PushOptions{Hours: 2, QueueIfFull: true})
		if _, err := w.box.Faults().Add(sandbox.Fault{Match: "SaveKernel", Kind: sandbox.Fault429, RetryAfter: "900"}); err != nil {
			t.Fatal(err)
		}
		until(t, 2*time.Hour, "Kaggle asked for a pause", func() bool { q := queueOf(t, a); return len(q) == 1 && q[0].Code == waitPace })
		asked := time.Now()
		if q := queueOf(t, a); q[0].Why != "Kaggle is rate limiting: retry in 900 s" || q[0].NextTry.Sub(asked) > 15*time.Minute {
			t.Errorf("queue %+v", q)
		}
		until(t, time.Hour, "it went out", func() bool { return getRun(t, a, row.ID).Version == 1 })
		if d := getRun(t, a, row.ID).PushedAt.Sub(asked); d < 14*time.Minute || w.count("SaveKernel") != 4 {
			t.Errorf("after %s, %d requests", d, w.count("SaveKernel"))
		}
	})
}

// Saving without running: nothing is capped, waits, or can fail to end.
func TestNoRunHasNoCapAndNoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sandbox.Options{}, works(time.Hour))
		a := w.open(t, "")
		defer closeApp(t, a)
		dir := kernelFolder(t, "draft-run", "NvidiaTeslaT4", nil)
		plan, err := a.PlanPush(t.Context(), dir, PushOptions{NoRun: true})
		if err != nil || plan.CapHours != 0 || plan.LeftAfter != 30 {
			t.Errorf("plan: cap %.1f, %.1f left after, %v", plan.CapHours, plan.LeftAfter, err)
		}
		row := pushDir(t, a, dir, PushOptions{NoRun: true})
		time.Sleep(5 * time.Hour)
		v, err := a.Wait(t.Context(), "draft-run", WaitOptions{Collect: true}, nil)
		if err != nil || v.State != StateNoRun || v.QueuedFor != 0 || v.CapHours != 0 || row.CapHours != 0 {
			t.Errorf("%v %s queued for %s, cap %.1f", err, v.State, v.QueuedFor, v.CapHours)
		}
		if row.URL != "" {
			t.Errorf("a run of the sandbox has the page %s", row.URL)
		}
	})
}

// What a session recorded of its own end is when it ended; without a record it is
// said that the time is only when the end was seen.
func TestEndIsTheSessionsOwn(t *testing.T) {
	ended := time.Now().UTC().Add(-time.Hour).Truncate(time.Second)
	r := runlog.Run{StartedAt: ended.Add(-30 * time.Minute), EndedAt: ended.Add(3 * time.Minute), EndedFrom: endObserved}
	at, from := endOf(runlog.Run{StartedAt: r.StartedAt, Cap: time.Hour}, r.EndedAt, false)
	if !at.Equal(r.EndedAt) || from != endObserved {
		t.Errorf("seen to end: %s from %s", at, from)
	}
	at, from = endOf(runlog.Run{StartedAt: r.StartedAt, Cap: time.Hour}, r.StartedAt.Add(9*time.Hour), true)
	if !at.Equal(r.StartedAt.Add(time.Hour)) || from != endCap {
		t.Errorf("ended while nobody looked: %s from %s", at, from)
	}
	applyRecord(&r, outputsEndedAt(ended, 29*time.Minute), 1)
	if !r.EndedAt.Equal(ended) || r.EndedFrom != endSession {
		t.Errorf("ended %s from %s, want %s from its record", r.EndedAt, r.EndedFrom, ended)
	}
	late := runlog.Run{StartedAt: ended.Add(-30 * time.Minute), EndedAt: ended.Add(-time.Minute), EndedFrom: endObserved}
	applyRecord(&late, outputsEndedAt(ended, 29*time.Minute), 1) // its clock is ahead: it cannot have ended after we saw the end
	if !late.EndedAt.Equal(ended.Add(-time.Minute)) || late.EndedFrom != endObserved {
		t.Errorf("a clock that is ahead moved the end to %s", late.EndedAt)
	}
}

// Two programs push the same folder at the same time: one version comes of it,
// whatever the order of their steps.
func TestTwoPushesAtOnce(t *testing.T) {
	w, url := served(t, works(time.Hour))
	home := t.TempDir()
	dir := kernelFolder(t, "same-run", "NvidiaTeslaT4", nil)
	var wg sync.WaitGroup
	codes := make([]int, 4)
	for i := range codes {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), crashEnv+"=push", "CRASH_HOME="+home, "CRASH_DIR="+dir, "CRASH_STEP=0",
			"SANDGLASS_ENDPOINT="+url, "KAGGLE_USERNAME="+w.user, "KAGGLE_KEY="+w.box.Key(), "KAGGLE_API_TOKEN=")
		wg.Go(func() { cmd.Run(); codes[i] = cmd.ProcessState.ExitCode() }) //nolint:errcheck // the exit code tells
	}
	wg.Wait()
	a := reopen(t, w, url, home)
	defer closeApp(t, a)
	done := 0
	for _, c := range codes {
		if c == 0 {
			done++
		}
	}
	runs, err := a.store.Runs(t.Context(), runlog.Filter{})
	if v := versionAt(t, a, "same-run"); err != nil || v != 1 || done != 1 || len(runs) != 1 {
		t.Errorf("version %d, %d pushed, exit codes %v, %d runs, %v", v, done, codes, len(runs), err)
	}
}

// A push that was planned before another one of the same kernel went out is
// refused, whoever made that one.
func TestPushPlannedBeforeAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sandbox.Options{}, works(time.Hour))
		home := t.TempDir()
		a, b := w.open(t, home), w.open(t, home)
		defer closeApp(t, a)
		defer closeApp(t, b)
		dir := kernelFolder(t, "same-run", "NvidiaTeslaT4", nil)
		late, err := b.PlanPush(t.Context(), dir, PushOptions{Hours: 1})
		if err != nil {
			t.Fatal(err)
		}
		pushDir(t, a, dir, PushOptions{Hours: 1})
		time.Sleep(10 * time.Minute)
		_, err = b.Push(t.Context(), late, Consent{By: "test"})
		var guard *GuardError
		if !errors.As(err, &guard) || guard.Guards[0].Code != guardTwice {
			t.Errorf("got %v", err)
		}
		_, err = tryPush(b, dir, PushOptions{Hours: 1})
		if !errors.As(err, &guard) || guard.Guards[0].Code != guardRunning || guard.Guards[0].Override != "--force" {
			t.Errorf("the same source in flight: %v", err)
		}
		time.Sleep(time.Hour)
		if row := pushDir(t, b, dir, PushOptions{Hours: 1}); row.Version != 2 { // once more, after the first is over
			t.Errorf("version %d", row.Version)
		}
	})
}

// A real program is killed from outside while Kaggle has the push and has not
// answered: after a restart the run is there, once.
func TestKilledWhileTheAnswerIsHeld(t *testing.T) {
	for _, what := range []string{"push", "launch"} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t, sandbox.Options{GPUTotal: 1000 * time.Hour}, works(10*time.Millisecond))
			took := make(chan struct{}, 10)
			held := true
			var mu sync.Mutex
			srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				mu.Lock()
				hold := held && strings.HasSuffix(r.URL.Path, "/SaveKernel")
				mu.Unlock()
				if !hold {
					w.box.Handler().ServeHTTP(rw, r)
					return
				}
				w.box.Handler().ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithoutCancel(r.Context())))
				took <- struct{}{}
				<-r.Context().Done() // it took effect, and the answer never comes
			}))
			t.Cleanup(srv.Close)
			home := t.TempDir()
			dir := kernelFolder(t, "held-run", "NvidiaTeslaT4", nil)
			a := reopen(t, w, srv.URL, home)
			if what == "launch" {
				queueRun(t, a, dir, PushOptions{Hours: 1, QueueIfFull: true})
			}
			closeApp(t, a)
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), crashEnv+"="+what, "CRASH_HOME="+home, "CRASH_DIR="+dir, "CRASH_STEP=0",
				"SANDGLASS_ENDPOINT="+srv.URL, "KAGGLE_USERNAME="+w.user, "KAGGLE_KEY="+w.box.Key(), "KAGGLE_API_TOKEN=")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			select {
			case <-took:
			case <-time.After(2 * time.Minute):
				t.Fatal("the push did not come")
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			cmd.Wait() //nolint:errcheck // killed
			mu.Lock()
			held = false
			mu.Unlock()
			a = reopen(t, w, srv.URL, home)
			defer closeApp(t, a)
			runs, err := a.store.Runs(t.Context(), runlog.Filter{})
			if err != nil || len(runs) != 1 || runs[0].State != StatePushing {
				t.Fatalf("after the kill: %+v %v", runs, err)
			}
			settleHome(t, a, what)
			r := getRun(t, a, runs[0].ID)
			if v := versionAt(t, a, "held-run"); v != 1 || r.Version != 1 || r.State != StateComplete || w.count("SaveKernel") > 1 {
				t.Errorf("version %d at Kaggle, %d and %s here", v, r.Version, r.State)
			}
			if q := queueOf(t, a); len(q) != 0 {
				t.Errorf("it is in the queue still: %+v", q)
			}
		})
	}
}

// outputsEndedAt is what a session left that ended then, after that long.
func outputsEndedAt(end time.Time, elapsed time.Duration) *runnerpack.Outputs {
	return &runnerpack.Outputs{Run: &runnerpack.RunRecord{StartedUTC: end.Add(-elapsed).Format(time.RFC3339), ElapsedS: elapsed.Seconds(), Outcome: "complete"}}
}
