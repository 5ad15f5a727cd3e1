package app

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/app/runlog"
	"sandglass/kaggle/sandbox"
)

// notices drains a subscription and gives its notices.
func notices(sub *Subscription) []Notice {
	var out []Notice
	for len(sub.C()) > 0 {
		if e := <-sub.C(); e.Notice != nil {
			out = append(out, *e.Notice)
		}
	}
	return out
}

// A TPU run waits thirteen hours: nothing burns meanwhile, the start is told with
// the wait, and asking costs a few hundred questions, not thousands.
func TestTPUQueueOfThirteenHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sandbox.Options{TPUQueue: 13 * time.Hour}, works(3*time.Hour))
		a := w.open(t, "")
		defer closeApp(t, a)
		if err := a.StartWatcher(t.Context()); err != nil {
			t.Fatal(err)
		}
		row := pushDir(t, a, kernelFolder(t, "cnx-tpu", "TpuV5E8", nil), PushOptions{Hours: 5})
		time.Sleep(12 * time.Hour)
		r := getRun(t, a, row.ID)
		if r.State != StateQueued || !r.StartedAt.IsZero() {
			t.Fatalf("after 12 h: state %s, started %v", r.State, r.StartedAt)
		}
		week, err := a.Week(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if q := week.Quota.TPU; q.Used != 0 || q.Held != 5 || q.Left != 15 || len(q.Holders) != 1 {
			t.Errorf("TPU quota while it waits: %+v, want 5 h held and 15 left", q)
		}
		if v := week.InFlight[0]; v.QueuedFor < 11*time.Hour+59*time.Minute || v.Hours != 0 {
			t.Errorf("waits for %s, burned %.1f h", v.QueuedFor, v.Hours)
		}
		if n := w.count("GetKernelSessionStatus"); n > 1000 {
			t.Errorf("%d status questions in 12 hours", n)
		}
		sub := a.Subscribe()
		defer sub.Close()
		until(t, 2*time.Hour, "running", func() bool { return getRun(t, a, row.ID).State == StateRunning })
		time.Sleep(time.Second)
		ns := notices(sub)
		if len(ns) != 1 || ns[0].Title != "TPU run started: cnx-tpu" || !strings.HasPrefix(ns[0].Body, "waited 13 h 0 min, ends by ") {
			t.Errorf("notices: %+v", ns)
		}
		until(t, 4*time.Hour, "collected", func() bool { return !getRun(t, a, row.ID).CollectedAt.IsZero() })
		if r = getRun(t, a, row.ID); r.Burned < 2*time.Hour+50*time.Minute || r.Burned > 3*time.Hour+time.Minute {
			t.Errorf("burned %s, want about 3 h", r.Burned)
		}
	})
}

// Three GPU runs and two slots: the third is refused, or waits here and goes out
// by itself, once, when a slot frees.
func TestWaitingForSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sandbox.Options{}, works(90*time.Minute))
		a := w.open(t, "")
		defer closeApp(t, a)
		if err := a.StartWatcher(t.Context()); err != nil {
			t.Fatal(err)
		}
		pushDir(t, a, kernelFolder(t, "first-run", "NvidiaTeslaT4", nil), PushOptions{Hours: 2})
		pushDir(t, a, kernelFolder(t, "second-run", "NvidiaTeslaT4", nil), PushOptions{Hours: 2})
		third := kernelFolder(t, "third-run", "NvidiaTeslaT4", nil)
		_, err := tryPush(a, third, PushOptions{Hours: 2})
		var guard *GuardError
		if !errors.As(err, &guard) || guard.Guards[0].Code != "slots" {
			t.Fatalf("third push: %v, want a slots guard", err)
		}
		if n := w.count("SaveKernel"); n != 2 {
			t.Fatalf("%d requests to push, want 2: a guarded one is not sent", n)
		}
		row := pushDir(t, a, third, PushOptions{Hours: 2, QueueIfFull: true})
		if row.State != StateWaiting {
			t.Fatalf("state %s, want waiting", row.State)
		}
		until(t, 3*time.Hour, "third one pushed", func() bool { return getRun(t, a, row.ID).Version == 1 })
		until(t, 3*time.Hour, "third one ended", func() bool { return getRun(t, a, row.ID).State == StateComplete })
		if n := w.count("SaveKernel"); n != 3 {
			t.Errorf("%d requests to push, want 3", n)
		}
		r := getRun(t, a, row.ID)
		k, err := mustClient(t, a).GetKernel(t.Context(), kaggleRef(r.Kernel), 0)
		if err != nil || textSHA256(k.Source) != r.SourceSHA256 {
			t.Errorf("what was pushed is not what was authorised (%v)", err)
		}
	})
}

// A run that asks for more hours than are left is refused and can be forced.
func TestQuotaGuard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sandbox.Options{GPUTotal: 5 * time.Hour}, works(time.Hour))
		a := w.open(t, "")
		defer closeApp(t, a)
		dir := kernelFolder(t, "big-run", "NvidiaTeslaT4", nil)
		plan, err := a.PlanPush(t.Context(), dir, PushOptions{Hours: 3})
		if err != nil {
			t.Fatal(err)
		}
		if plan.CostText != "up to 3.0 GPU-hours" || plan.LeftAfter != 2 || len(plan.Guards) != 0 {
			t.Errorf("plan: %q, %.1f left after, %v", plan.CostText, plan.LeftAfter, plan.Guards)
		}
		pushDir(t, a, dir, PushOptions{Hours: 3})
		other := kernelFolder(t, "other-run", "NvidiaTeslaT4", nil)
		_, err = tryPush(a, other, PushOptions{Hours: 3})
		var guard *GuardError
		if !errors.As(err, &guard) || guard.Guards[0].Code != "quota" {
			t.Fatalf("got %v, want a quota guard: the first run holds 3 of 5 hours", err)
		}
		pushDir(t, a, other, PushOptions{Hours: 3, Force: true})
	})
}

// Nothing is sent without consent, nor from a folder that changed since the plan.
func TestPushNeedsConsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sandbox.Options{}, works(time.Hour))
		a := w.open(t, "")
		defer closeApp(t, a)
		dir := kernelFolder(t, "some-run", "none", nil)
		plan, err := a.PlanPush(t.Context(), dir, PushOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Push(t.Context(), plan, Consent{}); err == nil || !strings.Contains(err.Error(), "consent") {
			t.Errorf("without consent: %v", err)
		}
		writeAll(t, dir, map[string]string{"main.py": "print(2)\n"})
		if _, err := a.Push(t.Context(), plan, Consent{By: "test"}); err == nil || !strings.Contains(err.Error(), "changed since") {
			t.Errorf("changed folder: %v", err)
		}
		if n := w.count("SaveKernel"); n != 0 {
			t.Errorf("%d requests to push, want none", n)
		}
		rows, err := a.store.Runs(t.Context(), runlog.Filter{})
		if err != nil || len(rows) != 0 {
			t.Errorf("%d runs in the log, want none (%v)", len(rows), err)
		}
	})
}

// A kernel saved without running takes no slot and no hour.
func TestPushNoRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sandbox.Options{}, works(time.Hour))
		a := w.open(t, "")
		defer closeApp(t, a)
		row := pushDir(t, a, kernelFolder(t, "draft-run", "NvidiaTeslaT4", nil), PushOptions{NoRun: true})
		if row.State != StateNoRun || row.Version != 1 {
			t.Errorf("state %q version %d, want no run, 1", row.State, row.Version)
		}
		if _, err := a.Collect(t.Context(), "draft-run", CollectOptions{}, nil); err == nil || !strings.Contains(err.Error(), "without running") {
			t.Errorf("collect: %v", err)
		}
	})
}
