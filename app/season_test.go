package app

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/app/runlog"
	"sandglass/kaggle/sandbox"
)

var wednesday = time.Date(2026, 9, 30, 12, 0, 0, 0, time.UTC)

func putQuota(t *testing.T, a *App, r runlog.QuotaReading) {
	t.Helper()
	acc, err := a.Account(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := a.store.AddQuota(t.Context(), acc.ID, r); err != nil {
		t.Fatal(err)
	}
}

func TestSeasonOfAnAccount(t *testing.T) {
	a, r := resumeWorld(t, nil, timedTask("idea", 0, "done", 2), timedTask("idea", 1, "timeout", 1))
	saturday := wednesday.Add(60 * time.Hour)
	putQuota(t, a, runlog.QuotaReading{At: a.now(), RefreshAt: saturday, GPU: &runlog.PoolReading{Used: 24*time.Hour + 30*time.Minute, Total: 42 * time.Hour}})
	gain, sd := .003, .002
	for _, it := range []BacklogItem{{Name: "seed2", Hours: 5.7, Gain: &gain, GainSD: &sd, Validated: true}, {Name: "raw", Hours: 1}, {Name: "on a CPU", Hours: 1, Pool: PoolCPU, Validated: true}} {
		if _, err := a.AddBacklog(t.Context(), it); err != nil {
			t.Fatal(err)
		}
	}
	failed := r
	failed.ID, failed.Kernel, failed.Name, failed.Outcome = 0, "sam-roe/effv2-train", "effv2", OutcomeFailed
	if _, err := a.store.CreateRun(t.Context(), failed); err != nil {
		t.Fatal(err)
	}
	v, err := a.Season(t.Context(), SeasonAsk{Now: wednesday, Deadline: time.Date(2026, 10, 22, 23, 59, 0, 0, time.UTC)})
	if err != nil || len(v.Resets) != 3 || !v.Resets[0].Equal(saturday) || len(v.Windows) != 4 {
		t.Fatalf("resets %v, %d windows, %v", v.Resets, len(v.Windows), err)
	}
	wantNear(t, "now", v.GPU.NowH, 17.5, 1e-9) // the reading is of that week, whatever the clock said when it came
	wantNear(t, "total with 42 h a week", v.GPU.TotalH, 17.5+3*42, 1e-9)
	if v.TPU.Known || v.TPU.NowH != nil {
		t.Errorf("a TPU out of nothing: %+v", v.TPU)
	}
	if b := v.GPU.Budget; b == nil || b.PromotionH != 2 || b.ScreenH != 1 || b.Runs != 1 {
		t.Errorf("budget %+v", b)
	}
	by := map[string]Suggestion{}
	for _, s := range v.Suggestions {
		by[s.Name] = s
	}
	rest := by["idea, the rest"]
	if len(by) != 4 || by["seed2"].Do != "start" || by["seed2"].Backlog == 0 || rest.Do != "resume" || rest.Run != r.ID || rest.Kernel != r.Kernel ||
		by["raw"].Do != "leave" || !strings.Contains(by["effv2"].Why, "failed") {
		t.Errorf("suggestions %+v", v.Suggestions)
	}
	wantNear(t, "the rest", rest.Hours, .25+2+.1, 1e-9)
	wantNear(t, "free", v.GPU.FreeH, 17.5-5.7-2.35, 1e-9)
}

// Hours that the person gives win, and nobody has to be signed in.
func TestSeasonWithoutAnAccount(t *testing.T) {
	w := newWorld(t, sandbox.Options{}, nil)
	a := w.open(t, "", func(o *Options) { o.Getenv = envOf(nil) })
	defer closeApp(t, a)
	left, week := 17.5, 40.0
	v, err := a.Season(t.Context(), SeasonAsk{Now: wednesday, Deadline: wednesday.Add(10 * 24 * time.Hour), GPULeft: &left, GPUTotal: &week, Live: true})
	if err != nil || len(v.Resets) != 2 || v.TPU.Known || len(v.Assumed) != 1 {
		t.Fatalf("got %+v, %v", v, err)
	}
	wantNear(t, "total", v.GPU.TotalH, 97.5, 1e-9)
	if none, err := a.Season(t.Context(), SeasonAsk{Now: wednesday, Deadline: wednesday.Add(time.Hour)}); err != nil || none.GPU.Known || none.GPU.TotalH != nil {
		t.Errorf("without anything known: %+v, %v", none, err)
	}
}

func TestSeasonRefusesADeadlineThatHasPassed(t *testing.T) {
	a := newWorld(t, sandbox.Options{}, nil).open(t, "")
	defer closeApp(t, a)
	for _, d := range []time.Time{{}, wednesday, wednesday.Add(-time.Hour), wednesday.AddDate(50, 0, 0)} {
		_, err := a.Season(t.Context(), SeasonAsk{Now: wednesday, Deadline: d})
		var call *CallError
		if !errors.As(err, &call) || Explain(err).Exit != ExitUsage || call.Action == "" {
			t.Errorf("%v: %v", d, err)
		}
	}
}

func TestParseTime(t *testing.T) {
	for text, want := range map[string]string{
		"2026-10-22":                  "2026-10-22T23:59:59Z",
		"2026-10-22T23:59Z":           "2026-10-22T23:59:00Z",
		"2026-10-22T23:59":            "2026-10-22T23:59:00Z",
		" 2026-10-22 18:00 ":          "2026-10-22T18:00:00Z",
		"2026-10-22 18:00:30":         "2026-10-22T18:00:30Z",
		"2026-10-22T18:00:00+02:00":   "2026-10-22T16:00:00Z",
		"2026-10-22T18:00-05:30":      "2026-10-22T23:30:00Z",
		"2026-10-22 18:00 UTC":        "2026-10-22T18:00:00Z",
		"2026-10-22 18:00 +02:00":     "2026-10-22T16:00:00Z",
		"2026-10-24 18:00 Asia/Tokyo": "2026-10-24T09:00:00Z",
		"2026-10-22 Asia/Tokyo":       "2026-10-22T14:59:59Z",
	} {
		got, err := ParseTime(text, true)
		if err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%q: %v, %v; want %s", text, got, err, want)
		}
	}
	// The clocks change on 25 October 2026 in Berlin.
	for text, want := range map[string]int{"2026-10-24 12:00 Europe/Berlin": 10, "2026-10-26 12:00 Europe/Berlin": 11} {
		if got, err := ParseTime(text, true); err != nil || got.Hour() != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	if got, err := ParseTime("2026-10-22", false); err != nil || got.Hour() != 0 {
		t.Errorf("a day's beginning: %v, %v", got, err)
	}
	for _, bad := range []string{"", "tomorrow", "2026-13-01", "22.10.2026", "2026-10-22 18:00 Europe/Nowhere", "2026-10-22T25:00Z"} {
		if got, err := ParseTime(bad, true); err == nil {
			t.Errorf("%q is %v", bad, got)
		}
	}
}

func TestWeekSaysWhatExpires(t *testing.T) {
	a, _ := resumeWorld(t, nil)
	now := a.now()
	putQuota(t, a, runlog.QuotaReading{At: now, RefreshAt: now.Add(5 * time.Hour), GPU: &runlog.PoolReading{Used: 12*time.Hour + 30*time.Minute, Total: 30 * time.Hour}})
	v, err := a.Week(t.Context())
	if err != nil || v.ExpiringGPU == nil || v.ExpiringTPU != nil {
		t.Fatalf("got %+v, %v", v.ExpiringGPU, err)
	}
	e := v.ExpiringGPU
	wantNear(t, "left", &e.LeftH, 17.5, 1e-3)
	wantNear(t, "burnable", &e.BurnableH, 10, .01)
	wantNear(t, "lost", &e.LostH, 7.5, .01)
	wantNear(t, "longest run", &e.LongestH, 5, .01)
	putQuota(t, a, runlog.QuotaReading{At: now.Add(time.Second), RefreshAt: now.Add(72 * time.Hour), GPU: &runlog.PoolReading{Total: 30 * time.Hour}})
	if v, err := a.Week(t.Context()); err != nil || v.ExpiringGPU != nil {
		t.Errorf("three days before: %+v, %v", v.ExpiringGPU, err)
	}
}

// A cached reading names what went out after it.
func TestQuotaNamesWhatStartedSince(t *testing.T) {
	now := time.Now()
	a, _ := resumeWorld(t, func(r *runlog.Run) { r.State, r.StartedAt = StateRunning, now.Add(-time.Minute) })
	putQuota(t, a, runlog.QuotaReading{At: now.Add(-time.Hour), RefreshAt: now.Add(50 * time.Hour), GPU: &runlog.PoolReading{Total: 30 * time.Hour}})
	q, err := a.Quota(t.Context(), false)
	if err != nil || fmt.Sprint(q.StartedSince) != "[idea]" || q.GPU.Held != 2 {
		t.Errorf("got %+v, %v", q, err)
	}
}

func TestBacklogRefuses(t *testing.T) {
	a := newWorld(t, sandbox.Options{}, nil).open(t, "")
	defer closeApp(t, a)
	first, err := a.AddBacklog(t.Context(), BacklogItem{Name: " the  idea ", Project: "p"})
	if err != nil || first.Name != "the idea" || first.Pool != PoolGPU || first.State != BacklogTodo || !strings.HasSuffix(first.Project, "p") || first.Project == "p" {
		t.Fatalf("got %+v, %v", first, err)
	}
	bad := -1.0
	for _, in := range []BacklogItem{{}, {Name: "THE idea", Project: "p"}, {Name: "x", Pool: "moon"}, {Name: "x", Hours: -1}, {Name: "x", GainSD: &bad}} {
		var call *CallError
		if _, err := a.AddBacklog(t.Context(), in); !errors.As(err, &call) {
			t.Errorf("%+v: %v", in, err)
		}
	}
	if _, err := a.AddBacklog(t.Context(), BacklogItem{Name: "the idea"}); err != nil {
		t.Errorf("the same name in another project: %v", err)
	}
	if _, err := a.MarkBacklog(t.Context(), "the idea", BacklogDone); err == nil || !strings.Contains(Explain(err).Action, "1, 2") {
		t.Errorf("two items of one name: %v", err)
	}
	if done, err := a.MarkBacklog(t.Context(), fmt.Sprint(first.ID), BacklogDone); err != nil || done.State != BacklogDone {
		t.Errorf("got %+v, %v", done, err)
	}
	if _, err := a.MarkBacklog(t.Context(), "the idea", "lost"); err == nil {
		t.Error("an item is lost")
	}
	if open, err := a.Backlog(t.Context(), false); err != nil || len(open) != 1 {
		t.Errorf("open: %+v, %v", open, err)
	}
}
