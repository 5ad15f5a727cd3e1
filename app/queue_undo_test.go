package app

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/kaggle/sandbox"
)

// A run taken out of the queue comes back into its old place, and is pushed under the authorisation it had.
func TestQueueTakeAndBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a := queueWorld(t, sandbox.Options{}, 90*time.Minute)
		defer closeApp(t, a)
		var ids []int64
		for _, slug := range []string{"third-run", "fourth-run"} {
			ids = append(ids, pushDir(t, a, kernelFolder(t, slug, "NvidiaTeslaT4", nil), PushOptions{Hours: 2, QueueIfFull: true}).ID)
		}
		before := queueOf(t, a)
		back, err := a.QueueTake(t.Context(), ids[0])
		if err != nil || back == nil {
			t.Fatalf("no way back: %v", err)
		}
		if q := queueOf(t, a); len(q) != 1 || getRun(t, a, ids[0]).State != StateCancel {
			t.Fatalf("it is still there: %+v", q)
		}
		if err := back(t.Context()); err != nil {
			t.Fatal(err)
		}
		q := queueOf(t, a)
		if len(q) != 2 || q[0].ID != ids[0] || q[0].Since != before[0].Since || q[0].Consent != before[0].Consent || q[0].Position != 1 || !q[0].EndedAt.IsZero() {
			t.Errorf("back as %+v, was %+v", q, before[0])
		}
		if err := back(t.Context()); err == nil || !strings.Contains(err.Error(), "waiting by now") {
			t.Errorf("back twice: %v", err)
		}
		until(t, 4*time.Hour, "it goes out", func() bool { return getRun(t, a, ids[0]).Version == 1 })
		until(t, 4*time.Hour, "both are over", func() bool { return getRun(t, a, ids[1]).State == StateComplete })
	})
}

// What was pushed again meanwhile is not pushed a second time.
func TestQueueBackAfterAnotherPush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a := queueWorld(t, sandbox.Options{}, 90*time.Minute)
		defer closeApp(t, a)
		dir := kernelFolder(t, "third-run", "NvidiaTeslaT4", nil)
		first := pushDir(t, a, dir, PushOptions{Hours: 2, QueueIfFull: true})
		back, err := a.QueueTake(t.Context(), first.ID)
		if err != nil {
			t.Fatal(err)
		}
		pushDir(t, a, dir, PushOptions{Hours: 2, QueueIfFull: true})
		if err := back(t.Context()); err == nil || !strings.Contains(err.Error(), "pushed again since") {
			t.Errorf("got %v", err)
		}
		if q := queueOf(t, a); len(q) != 1 {
			t.Errorf("queue %+v", q)
		}
	})
}

func TestQueueHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sandbox.Options{TPUQueue: 13 * time.Hour}, works(time.Hour))
		a := w.open(t, "")
		defer closeApp(t, a)
		if h, err := a.QueueHistory(t.Context(), PoolTPU); err != nil || h.Runs != 0 || len(h.Waits) != 0 {
			t.Errorf("before the first run: %+v, %v", h, err)
		}
		if err := a.StartWatcher(t.Context()); err != nil {
			t.Fatal(err)
		}
		row := pushDir(t, a, kernelFolder(t, "cnx-tpu", "TpuV5E8", nil), PushOptions{Hours: 5})
		time.Sleep(5 * time.Hour)
		h, err := a.QueueHistory(t.Context(), PoolTPU)
		if err != nil || h.Runs != 1 || len(h.Waits) != 1 || !h.Waits[0].Waiting || h.Waits[0].Hours < 4.9 || h.Waits[0].Hours > 5 {
			t.Errorf("while it waits: %+v, %v", h, err)
		}
		until(t, 24*time.Hour, "over", func() bool { return getRun(t, a, row.ID).State == StateComplete })
		h, err = a.QueueHistory(t.Context(), PoolTPU)
		if err != nil || len(h.Waits) != 1 || h.Waits[0].Waiting || h.Waits[0].Hours < 12.9 || h.Waits[0].Hours > 13.2 {
			t.Errorf("after it: %+v, %v", h, err)
		}
		if h, err := a.QueueHistory(t.Context(), PoolGPU); err != nil || h.Runs != 0 {
			t.Errorf("another pool: %+v, %v", h, err)
		}
	})
}

func TestDeadlineIsKept(t *testing.T) {
	a := newWorld(t, sandbox.Options{}, nil).open(t, "")
	defer closeApp(t, a)
	if d, err := a.Deadline(t.Context()); err != nil || !d.IsZero() {
		t.Errorf("before it was said: %v, %v", d, err)
	}
	want := time.Date(2026, 12, 22, 23, 59, 0, 0, time.FixedZone("", 3600))
	if err := a.SetDeadline(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	if d, err := a.Deadline(t.Context()); err != nil || !d.Equal(want) {
		t.Errorf("got %v, %v", d, err)
	}
	if err := a.SetSetting(t.Context(), deadlineKey, "soon"); err != nil {
		t.Fatal(err)
	}
	if d, err := a.Deadline(t.Context()); err != nil || !d.IsZero() {
		t.Errorf("one that cannot be read: %v, %v", d, err)
	}
}
