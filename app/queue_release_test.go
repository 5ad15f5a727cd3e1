package app

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/kaggle/sandbox"
)

// A session is stopped by its number, and what the run saved is collected as of any other that was stopped.
func TestCancelBySession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		session := make(chan int64, 1)
		w := newWorld(t, sandbox.Options{}, func(ctx context.Context, job sandbox.Job) sandbox.Result {
			session <- job.Session
			return works(3*time.Hour)(ctx, job)
		})
		a := w.open(t, "")
		defer closeApp(t, a)
		if err := a.StartWatcher(t.Context()); err != nil {
			t.Fatal(err)
		}
		row := pushDir(t, a, kernelFolder(t, "long-run", "NvidiaTeslaT4", nil), PushOptions{Hours: 4})
		time.Sleep(time.Hour)
		var stands *StandsError
		if _, err := a.Cancel(t.Context(), "long-run", 0); !errors.As(err, &stands) || Explain(err).Exit != ExitRefused || !strings.Contains(Explain(err).Action, "Stop session") {
			t.Errorf("without a number: %v", err)
		}
		if r := getRun(t, a, row.ID); r.State != StateRunning {
			t.Errorf("it is %s", r.State)
		}
		got, err := a.Cancel(t.Context(), "long-run", <-session)
		if err != nil || got.Did != CancelAsked || got.Run.State != StateStopping {
			t.Fatalf("%+v, %v", got, err)
		}
		until(t, time.Hour, "it is over", func() bool { return getRun(t, a, row.ID).State == StateCancel })
		time.Sleep(time.Minute)
		r := getRun(t, a, row.ID)
		if r.CollectedAt.IsZero() || r.Burned < 55*time.Minute || r.Burned > 65*time.Minute || !strings.HasPrefix(r.Note, askedToStop) {
			t.Errorf("collected %v, burned %s, %q", r.CollectedAt, r.Burned, r.Note)
		}
		if _, err := a.Cancel(t.Context(), "long-run", 0); !errors.As(err, &stands) || !strings.Contains(err.Error(), "it does not run") {
			t.Errorf("again: %v", err)
		}
	})
}

// A run that was deleted on the website gives its hours back; one that Kaggle may not show yet, or whose push may have
// arrived, keeps them until a person insists. Then it can be pushed again.
func TestRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sandbox.Options{}, works(30*time.Minute))
		a := w.open(t, "")
		defer closeApp(t, a)
		gpu := func() PoolView {
			t.Helper()
			q, err := a.Quota(t.Context(), true)
			if err != nil {
				t.Fatal(err)
			}
			return q.GPU
		}
		dir := kernelFolder(t, "deleted-run", "NvidiaTeslaT4", nil)
		row := pushDir(t, a, dir, PushOptions{Hours: 4})
		w.setAnswer(func(method string, body []byte) (int, string, error) {
			switch {
			case method == "GetAcceleratorQuotaStatistics":
				return 200, `{"gpuQuota":{"timeUsed":"0s","timeReserved":"0s","totalTimeAllowed":"108000s"},"quotaRefreshTime":"2000-01-08T00:00:00Z"}`, nil
			case strings.Contains(string(body), "deleted-run") && method != "SaveKernel":
				return 404, `{"error":{"code":404,"message":"Not found"}}`, nil
			}
			return 0, "", nil
		})
		if held := gpu().Held; held != 4 {
			t.Fatalf("held %v", held)
		}
		var stands *StandsError
		if _, err := a.Release(t.Context(), "deleted-run", false); !errors.As(err, &stands) || !strings.Contains(err.Error(), "may not show it yet") || gpu().Held != 4 {
			t.Errorf("a moment after the push: %v", err)
		}
		time.Sleep(11 * time.Minute)
		got, err := a.Release(t.Context(), "deleted-run", false)
		if err != nil || !got.Freed || got.Held != 4 || got.Left == nil || *got.Left < 29.5 || got.Run.State != StateMissing {
			t.Errorf("deleted at Kaggle: %+v, %v", got, err)
		}
		if got, err := a.Release(t.Context(), "deleted-run", false); err != nil || got.Freed || got.Held != 0 {
			t.Errorf("released again: %+v, %v", got, err)
		}
		w.setAnswer(nil)
		time.Sleep(time.Hour)
		if r := pushDir(t, a, dir, PushOptions{Hours: 2}); r.ID == row.ID || r.Version != 2 {
			t.Errorf("pushed again as %+v", r)
		}

		// One whose push nobody knows about.
		r := getRun(t, a, row.ID)
		r.ID, r.Kernel, r.Name, r.State, r.Version, r.PushedAt, r.CreatedAt = 0, "sam-roe/unclear-run", "unclear-run", StateUnclear, 0, a.now(), a.now()
		if r, err = a.store.CreateRun(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Release(t.Context(), "unclear-run", false); !errors.As(err, &stands) || !strings.Contains(err.Error(), "being looked up") {
			t.Errorf("an unclear push: %v", err)
		}
		if got, err := a.Release(t.Context(), "unclear-run", true); err != nil || !got.Freed {
			t.Errorf("by force: %+v, %v", got, err)
		}
	})
}
