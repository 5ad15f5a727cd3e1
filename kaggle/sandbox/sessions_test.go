package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/kaggle"
)

var (
	tpu = map[string]any{"machineShape": "TpuV5E8"}
	gpu = map[string]any{"machineShape": "NvidiaTeslaT4", "enableGpu": true}
)

// pools reads the quota as used, reserved and total of both pools.
func (w web) pools() (gpu, tpu [3]time.Duration, refresh time.Time) {
	w.t.Helper()
	q := into[kaggle.QuotaResponse](w, kaggle.PathQuota, "{}")
	read := func(p *kaggle.QuotaPoolDoc) (out [3]time.Duration) {
		for i, raw := range [][]byte{p.TimeUsed, p.TimeReserved, p.TotalTimeAllowed} {
			d, err := kaggle.ParseDuration(raw)
			if err != nil {
				w.t.Fatalf("duration %s: %v", raw, err)
			}
			out[i] = d
		}
		return out
	}
	return read(q.GPUQuota), read(q.TPUQuota), q.QuotaRefreshTime.Time
}

// A TPU job waits thirteen hours, runs eight, is charged for those alone, and the week's reset gives them back.
func TestTPUQueueAndWeeklyReset(t *testing.T) {
	home := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		// The bubble starts on Saturday 2000-01-01 00:00 UTC: the first minute of a week.
		s := open(t, Options{Home: home, TPUQueue: 13 * time.Hour, StartDelay: time.Minute, Executor: lasts(8 * time.Hour)})
		w := use(t, s)
		w.pushed("tpu-fold-0", tpu)
		code, raw := w.call(kaggle.PathStatus, kaggle.StatusRequest{UserName: "sam-roe", KernelSlug: "tpu-fold-0"})
		want(t, "queued is an empty object", fmt.Sprintf("%d %s", code, raw), "200 {}")
		want(t, "a second TPU run", w.push("tpu-fold-1", tpu).Error, "Maximum batch TPU session count of 1 reached.")
		time.Sleep(13*time.Hour + 59*time.Second)
		want(t, "a second before", w.status("tpu-fold-0", "v1"), StatusQueued)
		_, use, _ := w.pools()
		want(t, "a queued session burns nothing", use, [3]time.Duration{0, 0, 20 * time.Hour})
		time.Sleep(time.Second)
		synctest.Wait()
		want(t, "after the queue", w.status("tpu-fold-0", "v1"), StatusRunning)
		time.Sleep(3 * time.Hour)
		_, use, _ = w.pools()
		want(t, "while it runs", use, [3]time.Duration{3 * time.Hour, 6 * time.Hour, 20 * time.Hour})
		time.Sleep(5*time.Hour + time.Second)
		synctest.Wait()
		want(t, "after eight hours", w.status("tpu-fold-0", ""), StatusComplete)
		_, use, refresh := w.pools()
		want(t, "after it ended", use, [3]time.Duration{8 * time.Hour, 0, 20 * time.Hour})
		want(t, "next reset", refresh, time.Date(2000, 1, 8, 0, 0, 0, 0, time.UTC))
		time.Sleep(time.Until(refresh))
		_, use, refresh = w.pools()
		want(t, "after the reset", use, [3]time.Duration{0, 0, 20 * time.Hour})
		want(t, "the reset after", refresh, time.Date(2000, 1, 15, 0, 0, 0, 0, time.UTC))
		w.pushed("tpu-fold-1", tpu)
	})
}

// A session that is running at the reset is charged to each week for its part in it.
func TestChargeAcrossTheReset(t *testing.T) {
	home := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, Options{Home: home, Executor: lasts(10 * time.Hour)})
		w := use(t, s)
		time.Sleep(7*24*time.Hour - 4*time.Hour)
		w.pushed("gpu-fold-0", gpu)
		synctest.Wait()
		time.Sleep(4*time.Hour - time.Second)
		use, _, _ := w.pools()
		want(t, "just before the reset", use[0], 4*time.Hour-time.Second)
		time.Sleep(11 * time.Hour)
		use, _, _ = w.pools()
		want(t, "used in the new week", use, [3]time.Duration{6 * time.Hour, 0, 30 * time.Hour})
	})
}

// Quota and queue go at the sandbox's speed, the process and its limit at the wall's.
func TestSpeed(t *testing.T) {
	home := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, Options{Home: home, Speed: 600, TPUQueue: time.Hour, Executor: scripted(func(ctx context.Context, job Job) Result {
			<-ctx.Done()
			return Result{Status: StatusComplete}
		})})
		w := use(t, s)
		limited := map[string]any{"machineShape": "TpuV5E8", "sessionTimeoutSeconds": 1800}
		w.pushed("tpu-fold-0", limited)
		time.Sleep(6*time.Second + time.Millisecond) // an hour of the sandbox
		synctest.Wait()
		want(t, "after the queue", w.status("tpu-fold-0", ""), StatusRunning)
		time.Sleep(2 * time.Second)
		_, use, _ := w.pools()
		if used := use[0]; used < 20*time.Minute || used > 20*time.Minute+time.Second {
			t.Errorf("two seconds at 600 times: used %v, want 20m", used)
		}
		want(t, "used and reserved are the cap", use[0]+use[1], 30*time.Minute)
		time.Sleep(10 * time.Second)
		want(t, "the process has its own half hour", w.status("tpu-fold-0", ""), StatusRunning)
		_, use, _ = w.pools()
		want(t, "never charged more than the cap", use, [3]time.Duration{30 * time.Minute, 0, 20 * time.Hour})
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		want(t, "at its limit", w.status("tpu-fold-0", ""), StatusCancelled)
	})
}

func TestSlotsAndVersions(t *testing.T) {
	home := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, Options{Home: home, Executor: lasts(time.Hour)})
		w := use(t, s)
		w.pushed("gpu-fold-0", gpu)
		time.Sleep(time.Minute)
		again := w.pushed("gpu-fold-0", gpu)
		want(t, "pushing again makes a version", again.VersionNumber, 2)
		synctest.Wait()
		want(t, "the earlier run goes on", w.status("gpu-fold-0", "v1")+w.status("gpu-fold-0", "v2"), StatusRunning+StatusRunning)
		refused := w.push("gpu-fold-1", gpu)
		want(t, "third GPU run", refused.Error, "Maximum batch GPU session count of 2 reached.")
		want(t, "nothing was saved", int(refused.VersionNumber), 0)
		w.pushed("gpu-fold-1", map[string]any{"machineShape": "NvidiaTeslaT4", "kernelExecutionType": kaggle.ExecQuickSave})
		for i := range 5 {
			w.pushed(fmt.Sprintf("cpu-fold-%d", i), nil)
		}
		want(t, "sixth CPU run", w.push("cpu-fold-5", nil).Error, "Maximum batch CPU session count of 5 reached.")

		into[struct{}](w, kaggle.PathDeleteKernel, kaggle.DeleteKernelRequest{UserName: "sam-roe", KernelSlug: "gpu-fold-0"})
		use, _, _ := w.pools()
		want(t, "deleting ends the charge and keeps what was used", use, [3]time.Duration{time.Minute, 0, 30 * time.Hour})
		w.pushed("gpu-fold-2", gpu)
		w.pushed("gpu-fold-3", gpu)
		code, _ := w.call(kaggle.PathDeleteKernel, kaggle.DeleteKernelRequest{UserName: "sam-roe", KernelSlug: "gpu-fold-0"})
		want(t, "deleting again", code, 404)
	})
}

func TestQuotaUsedUp(t *testing.T) {
	home := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, Options{Home: home, GPUTotal: 90 * time.Minute, Executor: lasts(time.Hour)})
		w := use(t, s)
		for i := range 2 {
			w.pushed(fmt.Sprintf("gpu-fold-%d", i), gpu)
			time.Sleep(61 * time.Minute)
		}
		want(t, "the week is used up", w.push("gpu-fold-2", gpu).Error, "Maximum weekly GPU quota of 1.50 hours reached.")
		w.pushed("cpu-fold-0", nil)
	})
}

func TestCancelSession(t *testing.T) {
	home := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		released := make(chan struct{})
		s := open(t, Options{Home: home, TPUQueue: time.Hour, Executor: scripted(func(ctx context.Context, job Job) Result {
			os.WriteFile(filepath.Join(job.Working, "half.txt"), []byte("half"), 0o600)
			<-ctx.Done()
			<-released // a slow end: the stop was asked for and is not there yet
			return Result{Status: StatusError}
		})})
		w := use(t, s)
		w.pushed("gpu-fold-0", gpu)
		w.pushed("tpu-fold-0", tpu)
		synctest.Wait()
		ids := map[string]int64{}
		s.mu.Lock()
		for id, x := range s.st.Sessions {
			ids[x.Pool] = id
		}
		s.mu.Unlock()
		cancel := func(id int64) (int, string) {
			return w.call(kaggle.PathCancelSession, kaggle.CancelSessionRequest{KernelSessionID: id})
		}
		code, raw := cancel(ids[poolGPU])
		want(t, "cancel", fmt.Sprintf("%d %s", code, raw), "200 {}")
		want(t, "asked for", w.status("gpu-fold-0", ""), StatusCancelRequested)
		want(t, "the slot is still taken", w.s.busy(poolGPU), 1)
		close(released)
		synctest.Wait()
		want(t, "stopped", w.status("gpu-fold-0", ""), StatusCancelled)
		want(t, "files are kept", w.file("gpu-fold-0", "half.txt"), "half")
		cancel(ids[poolTPU])
		synctest.Wait()
		want(t, "a queued one", w.status("tpu-fold-0", ""), StatusCancelled)
		_, raw = cancel(ids[poolTPU])
		want(t, "again", raw, `{"errorMessage":"Session is not active"}`)
		code, _ = cancel(1)
		want(t, "a version number is no session id", code, 403)
	})
}
