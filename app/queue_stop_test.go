package app

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/app/runlog"
	"sandglass/kaggle/sandbox"
)

// queueWorld opens an App that watches a sandbox, with both GPU sessions taken for
// the time given.
func queueWorld(t *testing.T, opt sandbox.Options, busy time.Duration) (*world, *App) {
	t.Helper()
	w := newWorld(t, opt, works(busy))
	a := w.open(t, "")
	if err := a.StartWatcher(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, slug := range []string{"cnx384", "wide-run"} {
		pushDir(t, a, kernelFolder(t, slug, "NvidiaTeslaT4", nil), PushOptions{Hours: 3})
	}
	return w, a
}

func queueOf(t *testing.T, a *App) []QueueRow {
	t.Helper()
	q, err := a.Queue(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// stoppedNotices are the notices about the queue among what was told.
func stoppedNotices(sub *Subscription) []Notice {
	var out []Notice
	for _, n := range notices(sub) {
		if n.Kind == "queue-stopped" {
			out = append(out, n)
		}
	}
	return out
}

// When what was agreed to is no longer so, nothing is pushed and the person is told
// once: a folder that changed or went, a request that is gone or is another one, an
// allowance that shrank, an input that was deleted.
func TestQueueStopsWhenTheWorldChanged(t *testing.T) {
	cases := map[string]struct {
		why    string
		change func(t *testing.T, w *world, a *App, dir string, r runlog.Run)
	}{
		"the source changed": {"changed since it was authorised", func(t *testing.T, _ *world, _ *App, dir string, _ runlog.Run) {
			writeAll(t, dir, map[string]string{"main.py": "print('other')\n"})
		}},
		"an input was added": {"changed since it was authorised", func(t *testing.T, _ *world, _ *App, dir string, _ runlog.Run) {
			other := kernelFolder(t, "third-run", "NvidiaTeslaT4", map[string]any{"dataset_sources": []string{"sam-roe/else"}})
			raw, err := os.ReadFile(other + "/kernel-metadata.json")
			if err != nil {
				t.Fatal(err)
			}
			writeAll(t, dir, map[string]string{"kernel-metadata.json": string(raw)})
		}},
		"the folder went": {"is gone", func(t *testing.T, _ *world, _ *App, dir string, _ runlog.Run) {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}},
		"the request went": {"no longer on this computer", func(t *testing.T, _ *world, a *App, _ string, r runlog.Run) { a.dropPush(r) }},
		"the request is another one": {"not the one that was agreed to", func(t *testing.T, _ *world, a *App, _ string, r runlog.Run) {
			kept, err := a.keptPush(r)
			if err != nil {
				t.Fatal(err)
			}
			kept.Request.SessionTimeoutSeconds *= 3
			if err := a.keepPush(r, kept); err != nil {
				t.Fatal(err)
			}
		}},
		"the allowance shrank": {"a whole week has", func(t *testing.T, w *world, _ *App, _ string, _ runlog.Run) {
			w.setAnswer(func(method string, _ []byte) (int, string, error) {
				if method != "GetAcceleratorQuotaStatistics" {
					return 0, "", nil
				}
				return 200, `{"gpuQuota":{"timeUsed":"0s","timeReserved":"0s","totalTimeAllowed":"3600s"},"quotaRefreshTime":"2000-01-08T00:00:00Z"}`, nil
			})
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hold, long := time.Hour, 5*time.Hour
				if testing.Short() {
					hold, long = 20*time.Minute, 20*time.Minute
				}
				w, a := queueWorld(t, sandbox.Options{}, hold)
				defer closeApp(t, a)
				sub := a.Subscribe()
				defer sub.Close()
				dir := kernelFolder(t, "third-run", "NvidiaTeslaT4", nil)
				row := pushDir(t, a, dir, PushOptions{Hours: 2, QueueIfFull: true})
				time.Sleep(10 * time.Minute)
				c.change(t, w, a, dir, getRun(t, a, row.ID))
				time.Sleep(long) // the slots free meanwhile
				r := getRun(t, a, row.ID)
				if n := w.count("SaveKernel"); n != 2 || r.State != StateRefused || !strings.Contains(r.Failure, c.why) {
					t.Errorf("%d pushes, state %s, %q; want 2, refused, %q", n, r.State, r.Failure, c.why)
				}
				if ns := stoppedNotices(sub); len(ns) != 1 || ns[0].Title != "Left the queue: third-run" || !strings.Contains(ns[0].Body, c.why) {
					t.Errorf("told %+v", ns)
				}
				q := queueOf(t, a)
				if len(q) != 1 || !q[0].Stopped || q[0].Position != 0 || q[0].Advice == "" {
					t.Errorf("the queue shows %+v", q)
				}
				if err := a.QueueRemove(t.Context(), row.ID); err != nil || len(queueOf(t, a)) != 0 {
					t.Errorf("removed: %v, %+v", err, queueOf(t, a))
				}
			})
		})
	}
}

// A run waits for its quota until the reset, and says so; one that fits and is over
// before the reset goes ahead of it, one that is not does not.
func TestQueueWaitsForQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sandbox.Options{GPUTotal: 10 * time.Hour}, works(4*time.Hour))
		if testing.Short() { // else the whole week is watched
			time.Sleep(6*24*time.Hour + 11*time.Hour)
		}
		a := w.open(t, "")
		defer closeApp(t, a)
		if err := a.StartWatcher(t.Context()); err != nil {
			t.Fatal(err)
		}
		pushDir(t, a, kernelFolder(t, "first-run", "NvidiaTeslaT4", nil), PushOptions{Hours: 6})
		time.Sleep(5 * time.Hour) // it used 4 h, 6 are left; the clock of the bubble starts on a Saturday
		big := pushDir(t, a, kernelFolder(t, "big-run", "NvidiaTeslaT4", nil), PushOptions{Hours: 7, QueueIfFull: true})
		time.Sleep(time.Minute)
		if q := queueOf(t, a); len(q) != 1 || q[0].Why != "quota: needs 7.0 h, 6.0 h left until Sat 00:00 UTC" || q[0].Code != "quota" {
			t.Fatalf("waits for %+v", q)
		}
		small := pushDir(t, a, kernelFolder(t, "small-run", "NvidiaTeslaT4", nil), PushOptions{Hours: 5, QueueIfFull: true})
		until(t, time.Hour, "the small one passed", func() bool { return getRun(t, a, small.ID).Version == 1 })
		if r := getRun(t, a, big.ID); r.State != StateWaiting {
			t.Errorf("the big one is %s", r.State)
		}
		until(t, 8*24*time.Hour, "the big one went out after the reset", func() bool { return getRun(t, a, big.ID).Version == 1 })
		if at := getRun(t, a, big.ID).PushedAt; at.Weekday() != time.Saturday || at.Hour() != 0 || at.Minute() > 10 {
			t.Errorf("it went out at %s", at)
		}
		if n := w.count("SaveKernel"); n != 3 {
			t.Errorf("%d pushes", n)
		}
	})
}

// The order holds, can be changed, and can be paused; a run that was taken out is
// not pushed; pools do not wait for each other.
func TestQueueOrderAndPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, a := queueWorld(t, sandbox.Options{GPUTotal: 100 * time.Hour}, time.Hour)
		defer closeApp(t, a)
		ctx := t.Context()
		var row []RunRow
		for i := range 4 {
			row = append(row, pushDir(t, a, kernelFolder(t, fmt.Sprint("queued-", i), "NvidiaTeslaT4", nil), PushOptions{Hours: 2, QueueIfFull: true}))
		}
		time.Sleep(time.Minute)
		q := queueOf(t, a)
		if len(q) != 4 || q[0].Why != "a GPU slot: cnx384 and wide-run hold both" && q[0].Why != "a GPU slot: wide-run and cnx384 hold both" || q[1].Why != "behind queued-0" {
			t.Fatalf("queue %+v", q)
		}
		if err := errors.Join(a.QueueMove(ctx, row[3].ID, -99), a.QueueMove(ctx, row[0].ID, 1), a.QueueRemove(ctx, row[1].ID), a.QueuePause(ctx, true)); err != nil {
			t.Fatal(err)
		}
		if err := a.QueueMove(ctx, row[1].ID, 1); !errors.Is(err, ErrNotQueued) {
			t.Errorf("moved a run that left: %v", err)
		}
		tpu := pushDir(t, a, kernelFolder(t, "tpu-run", "TpuV5E8", nil), PushOptions{Hours: 2, QueueIfFull: true})
		if tpu.State == StateWaiting {
			t.Errorf("a free pool waits: %+v", tpu)
		}
		time.Sleep(3 * time.Hour)
		if n := w.count("SaveKernel"); n != 3 {
			t.Errorf("%d pushes while it is paused, want 3", n)
		}
		if q := queueOf(t, a); len(q) != 3 || q[0].Why != "the queue is paused" || q[0].ID != row[3].ID {
			t.Errorf("paused queue %+v", q)
		}
		if err := a.QueuePause(ctx, false); err != nil {
			t.Fatal(err)
		}
		until(t, 12*time.Hour, "all went out", func() bool { return len(queueOf(t, a)) == 0 })
		at := func(i int) time.Time { return getRun(t, a, row[i].ID).PushedAt }
		if r := getRun(t, a, row[1].ID); r.State != StateCancel || r.Version != 0 {
			t.Errorf("the removed one is %s", r.State)
		}
		if !at(3).Before(at(2)) && !at(3).Before(at(0)) || at(0).Before(at(3)) {
			t.Errorf("order: 3 at %s, 2 at %s, 0 at %s", at(3), at(2), at(0))
		}
		if n := w.count("SaveKernel"); n != 6 {
			t.Errorf("%d pushes, want 6", n)
		}
	})
}

// A run that waits for its input lets the one behind it go first, and goes when the
// input is there; when the input fails it leaves the queue.
func TestQueueWaitsForInputs(t *testing.T) {
	for _, fails := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, sandbox.Options{GPUTotal: 100 * time.Hour}, nil)
			a := w.open(t, "")
			defer closeApp(t, a)
			if err := a.StartWatcher(t.Context()); err != nil {
				t.Fatal(err)
			}
			sub := a.Subscribe()
			defer sub.Close()
			var status atomic.Value
			status.Store("RUNNING")
			w.setAnswer(func(method string, body []byte) (int, string, error) {
				if strings.Contains(string(body), "prep-run") && method == "GetKernelSessionStatus" {
					return 200, fmt.Sprintf(`{"status":%q}`, status.Load()), nil
				}
				if method == "SaveKernel" { // a session takes no slot here: this is about inputs
					return 200, `{"ref":"/code/sam-roe/x","url":"u","versionNumber":1,"kernelId":3}`, nil
				}
				return 0, "", nil
			})
			needs := pushDir(t, a, kernelFolder(t, "needs-run", "NvidiaTeslaT4", map[string]any{"kernel_sources": []string{"sam-roe/prep-run"}}), PushOptions{Hours: 2, QueueIfFull: true})
			other := pushDir(t, a, kernelFolder(t, "other-run", "NvidiaTeslaT4", nil), PushOptions{Hours: 2, QueueIfFull: true})
			until(t, time.Hour, "the other one passed", func() bool { return getRun(t, a, other.ID).Version == 1 })
			if q := queueOf(t, a); len(q) != 1 || !strings.HasPrefix(q[0].Why, "input sam-roe/prep-run still running") {
				t.Errorf("queue %+v", q)
			}
			status.Store("COMPLETE")
			if fails {
				status.Store("ERROR")
			}
			time.Sleep(time.Hour)
			switch r := getRun(t, a, needs.ID); {
			case !fails && r.Version != 1:
				t.Errorf("its input is there: %s, %s", r.State, r.Note)
			case fails && (r.State != StateRefused || !strings.Contains(r.Failure, "failed or was stopped")):
				t.Errorf("its input failed: %s, %s", r.State, r.Failure)
			}
			if n := len(stoppedNotices(sub)); fails != (n == 1) {
				t.Errorf("%d notices", n)
			}
		})
	}
}

// An input that is deleted while a run waits ends the run's authorisation.
func TestQueueInputDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, a := queueWorld(t, sandbox.Options{GPUTotal: 100 * time.Hour}, time.Hour)
		defer closeApp(t, a)
		var gone atomic.Bool
		w.setAnswer(func(method string, body []byte) (int, string, error) {
			switch {
			case method != "GetDatasetStatus":
				return 0, "", nil
			case gone.Load():
				return http.StatusNotFound, `{"error":{"code":404,"message":"Not found"}}`, nil
			}
			return 200, `{"status":"READY"}`, nil
		})
		row := pushDir(t, a, kernelFolder(t, "third-run", "NvidiaTeslaT4", map[string]any{"dataset_sources": []string{"sam-roe/leaves"}}), PushOptions{Hours: 2, QueueIfFull: true})
		time.Sleep(10 * time.Minute)
		gone.Store(true)
		time.Sleep(5 * time.Hour)
		if r := getRun(t, a, row.ID); r.State != StateRefused || !strings.Contains(r.Failure, "sam-roe/leaves is gone") || w.count("SaveKernel") != 2 {
			t.Errorf("%s %q, %d pushes", r.State, r.Failure, w.count("SaveKernel"))
		}
	})
}
