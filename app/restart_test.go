package app

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/app/runlog"
	"sandglass/kaggle"
	"sandglass/kaggle/sandbox"
)

// Twelve hours away: what had ended is collected, what had arrived is attached,
// what had not goes out once, other people's kernels and versions are left alone.
func TestCaseRestartReconcile(t *testing.T) {
	var local struct {
		Jobs []struct {
			Job, Kernel, State string
			Version            *int
			SHA                string `json:"source_sha256"`
		}
	}
	type kernel struct {
		Ref     string
		Version int `json:"currentVersionNumber"`
		Status  string
		GPU     bool   `json:"enableGpu"`
		SHA     string `json:"source_sha256"`
	}
	var remote struct{ Kernels []kernel }
	readCase(t, "20-restart-reconcile/local-jobs.json", &local)
	readCase(t, "20-restart-reconcile/remote-kernels.json", &remote)
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sandbox.Options{}, works(time.Hour))
		at := map[string]*kernel{}
		for i := range remote.Kernels {
			at[remote.Kernels[i].Ref] = &remote.Kernels[i]
		}
		source := func(sha string) string { return "print('" + sha + "')\n" }
		away := time.Now()
		var free atomic.Bool // leaf-fold-1 and leaf-fold-3 version 6 have ended
		pushed := map[string]int{}
		var touched []string
		w.answer = func(method string, body []byte) (int, string, error) {
			var q struct{ UserName, KernelSlug, VersionLabel, Slug string }
			if json.Unmarshal(body, &q) != nil {
				return 0, "", nil
			}
			ref := q.UserName + "/" + q.KernelSlug
			k := at[ref]
			reply := func(v any) (int, string, error) {
				raw, _ := json.Marshal(v)
				return 200, string(raw), nil
			}
			meta := func(k *kernel) map[string]any {
				return map[string]any{"ref": k.Ref, "currentVersionNumber": k.Version, "enableGpu": k.GPU, "lastRunTime": away.Add(time.Minute).UTC().Format(time.RFC3339)}
			}
			switch method {
			case "ListKernels":
				var list []map[string]any
				for _, k := range at {
					list = append(list, meta(k))
				}
				return reply(map[string]any{"kernels": list})
			case "SaveKernel":
				pushed[q.Slug]++
				at[q.Slug] = &kernel{Ref: q.Slug, Version: 1, Status: "RUNNING", GPU: true, SHA: "new"}
				return reply(map[string]any{"ref": "/code/" + q.Slug, "url": "https://www.kaggle.com/code/" + q.Slug, "versionNumber": 1, "kernelId": 7})
			case "GetKernel", "GetKernelSessionStatus", "ListKernelSessionOutput", "ListKernelFiles", "DeleteKernel":
			default:
				return 0, "", nil
			}
			if strings.HasSuffix(ref, "holiday-photos") && method != "GetKernelSessionStatus" && method != "GetKernel" {
				touched = append(touched, method+" "+ref)
			}
			if k == nil {
				return 404, `{"error":{"code":404,"message":"Not found"}}`, nil
			}
			switch method {
			case "GetKernel":
				return reply(map[string]any{"metadata": meta(k), "blob": map[string]any{"source": source(k.SHA)}})
			case "GetKernelSessionStatus":
				status := k.Status
				if q.VersionLabel != "" && q.VersionLabel != fmt.Sprintf("v%d", k.Version) || free.Load() && k.SHA != "new" {
					status = "COMPLETE" // an older version, or later
				}
				return reply(map[string]any{"status": status})
			}
			return reply(map[string]any{})
		}
		a := w.open(t, "")
		defer closeApp(t, a)
		acc, err := a.Account(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		id := map[string]int64{}
		for i, j := range local.Jobs {
			r := runlog.Run{Account: acc.ID, Kernel: j.Kernel, Name: j.Job, Project: t.TempDir(), State: j.State, Accelerator: "NvidiaTeslaT4",
				Origin: originFolder, Cap: time.Hour, SourceSHA256: textSHA256(source(j.Job)), CreatedAt: away.Add(time.Duration(i) * time.Second), PushedAt: away}
			if j.SHA != "" {
				r.SourceSHA256 = textSHA256(source(j.SHA))
			}
			switch j.State {
			case "queued-here":
				r.State, r.PushedAt = StateWaiting, time.Time{}
			case "collecting":
				r.State, r.EndedAt = StateComplete, away
			}
			if j.Version != nil {
				r.Version, r.QueuedAt, r.StartedAt = *j.Version, away, away
			}
			r.CreatedAt = r.CreatedAt.UTC().Truncate(time.Millisecond)
			text := source(j.Job)
			if j.SHA != "" {
				text = source(j.SHA)
			}
			if j.Version == nil {
				if err := a.keepPush(r, keptPush{Request: kaggle.SaveKernelRequest{Slug: j.Kernel, Text: text, EnableGPU: true}, Base: -1}); err != nil {
					t.Fatal(err)
				}
			}
			if j.Version == nil { // all three were authorised for the queue
				r, err = a.store.CreateQueued(t.Context(), r, runlog.QueueEntry{Since: away, Cap: r.Cap, Accelerator: r.Accelerator, SourceSHA256: r.SourceSHA256})
			} else {
				r, err = a.store.CreateRun(t.Context(), r)
			}
			if err != nil {
				t.Fatal(err)
			}
			id[j.Job] = r.ID
		}
		time.Sleep(12 * time.Hour)
		if err := a.StartWatcher(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		got := func(job string) runlog.Run { return getRun(t, a, id[job]) }
		for _, job := range []string{"j1", "j4", "j5"} {
			if got(job).CollectedAt.IsZero() {
				t.Errorf("%s is %s and not collected", job, got(job).State)
			}
		}
		if r := got("j2"); r.State != StateRunning || r.Version != 1 {
			t.Errorf("j2: %s version %d, want running, 1", r.State, r.Version)
		}
		if r := got("j3"); r.State != StateWaiting {
			t.Errorf("j3: %s, want waiting", r.State)
		}
		if r := got("j4"); r.Version != 5 || !strings.Contains(r.Note, "ersion 6") {
			t.Errorf("j4: version %d, note %q", r.Version, r.Note)
		}
		if r := got("j6"); r.State != StateWaiting {
			t.Errorf("j6: %s, want waiting", r.State)
		}
		if len(pushed) != 0 {
			t.Errorf("pushed at the start: %v", pushed)
		}
		free.Store(true)
		time.Sleep(20 * time.Minute)
		if len(pushed) != 2 || pushed["sam-roe/leaf-fold-2"] != 1 || pushed["sam-roe/leaf-fold-5"] != 1 {
			t.Errorf("pushed %v, want leaf-fold-2 and leaf-fold-5 once each", pushed)
		}
		if len(touched) != 0 {
			t.Errorf("a foreign kernel was touched: %v", touched)
		}
	})
}

// A second process on the same home watches nothing, tells what the first one
// finds, and takes over when it ends.
func TestSecondProcessFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sandbox.Options{}, works(time.Hour))
		home := t.TempDir()
		a := w.open(t, home)
		if err := a.StartWatcher(t.Context()); err != nil {
			t.Fatal(err)
		}
		row := pushDir(t, a, kernelFolder(t, "shared-run", "NvidiaTeslaT4", nil), PushOptions{Hours: 2})
		synctest.Wait()
		b := w.open(t, home)
		defer closeApp(t, b)
		sub := b.Subscribe()
		defer sub.Close()
		if err := b.StartWatcher(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Minute)
		if owns(b) || !owns(a) {
			t.Error("the second process watches too")
		}
		seen := false
		for len(sub.C()) > 0 {
			e := <-sub.C()
			seen = seen || e.Run == row.ID || e.Kind == EventReload
		}
		if !seen {
			t.Error("the second process told nothing of the run")
		}
		closeApp(t, a)
		until(t, 2*time.Hour, "collected by the second process", func() bool { return !getRun(t, b, row.ID).CollectedAt.IsZero() })
	})
}

// Network failures change no state; a sleep makes everything be asked again, and
// what ended meanwhile is told as one notice.
func TestSleepAndCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sandbox.Options{}, works(time.Hour))
		var asleep atomic.Int64
		a := w.open(t, "", func(o *Options) { o.Now = func() time.Time { return time.Now().Add(time.Duration(asleep.Load())) } })
		defer closeApp(t, a)
		if err := a.StartWatcher(t.Context()); err != nil {
			t.Fatal(err)
		}
		one := pushDir(t, a, kernelFolder(t, "night-one", "NvidiaTeslaT4", nil), PushOptions{Hours: 2})
		two := pushDir(t, a, kernelFolder(t, "night-two", "NvidiaTeslaT4", nil), PushOptions{Hours: 2})
		time.Sleep(10 * time.Minute)
		w.setDown(true)
		time.Sleep(30 * time.Minute)
		if r := getRun(t, a, one.ID); r.State != StateRunning || r.UnreachableSince.IsZero() {
			t.Errorf("without network: %s, unreachable since %v", r.State, r.UnreachableSince)
		}
		sub := a.Subscribe()
		defer sub.Close()
		time.Sleep(time.Hour) // both end while nothing is reached
		w.setDown(false)
		asleep.Store(int64(3 * time.Hour)) // and the clock says that we slept
		until(t, 10*time.Minute, "both collected", func() bool {
			return !getRun(t, a, one.ID).CollectedAt.IsZero() && !getRun(t, a, two.ID).CollectedAt.IsZero()
		})
		time.Sleep(time.Minute)
		if ns := notices(sub); len(ns) != 1 || ns[0].Title != "2 runs changed" || !strings.Contains(ns[0].Body, "night-two") {
			t.Errorf("notices: %+v", ns)
		}
		if r := getRun(t, a, one.ID); r.State != StateComplete || !r.UnreachableSince.IsZero() || w.count("SaveKernel") != 2 {
			t.Errorf("state %s, unreachable since %v, %d pushes", r.State, r.UnreachableSince, w.count("SaveKernel"))
		}
	})
}

func owns(a *App) bool {
	a.watch.mu.Lock()
	defer a.watch.mu.Unlock()
	return a.watch.owner
}
