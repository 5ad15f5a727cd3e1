package desktop

import (
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"sandglass/app"
	"sandglass/widgets"
)

func TestWeekViewTellsTheHours(t *testing.T) {
	v := newWeekView(sampleWeek(), app.QueueView{}, app.PoolGPU, testNow)
	g := v.GPU
	if g.Title != "GPU · T4 ×2" || g.Number != "17.4" || g.Unit != "h left of 30 h" {
		t.Errorf("GPU card = %q %q %q", g.Title, g.Number, g.Unit)
	}
	if want := "9.6 h used · 3.0 h held by cnx384-r2 · live, 40 s ago"; g.Note != want {
		t.Errorf("GPU note = %q, want %q", g.Note, want)
	}
	if !strings.Contains(g.Reset, "in 2 d 4 h (00:00 UTC)") || strings.Contains(g.ResetShort, "UTC") {
		t.Errorf("reset = %q, short %q", g.Reset, g.ResetShort)
	}
	if v.TPU.Used != 0 || v.TPU.Held != 9 || v.TPU.Title != "TPU · v5e-8" {
		t.Errorf("TPU card = %+v", v.TPU)
	}
	if v.Banner != nil {
		t.Errorf("banner %+v two days before the reset, want none", v.Banner)
	}
}

func TestWeekViewWordsRunsInFlight(t *testing.T) {
	v := newWeekView(sampleWeek(), app.QueueView{}, app.PoolGPU, testNow)
	if len(v.InFlight) != 2 || v.Idle != "" {
		t.Fatalf("%d in flight, idle %q", len(v.InFlight), v.Idle)
	}
	run, queued := v.InFlight[0], v.InFlight[1]
	if run.What != "T4 ×2 · fold 3 and 4" || run.Time != "2 h 41 min of 7.0 h" || !strings.HasPrefix(run.UtilText, "GPU ") || len(run.Util) != 60 {
		t.Errorf("running = %+v", run)
	}
	if queued.What != "TPU v5e-8 · 5 folds" || queued.Time != "waiting 5 h 12 min" || queued.UtilText != "notifies when it starts" {
		t.Errorf("queued = %+v", queued)
	}
	if len(v.NeedsYou) != 1 || v.NeedsYou[0].Why != "collect its files" {
		t.Errorf("needs %+v", v.NeedsYou)
	}
}

func TestWeekNotices(t *testing.T) {
	w := sampleWeek()
	w.Quota.RefreshAt = testNow.Add(5 * time.Hour)
	w.ExpiringGPU = &app.Expiring{LeftH: 17.4, BurnableH: 10, LostH: 7.4, LongestH: 5}
	n := newWeekView(w, app.QueueView{}, app.PoolGPU, testNow).Banner
	if n == nil || !strings.HasPrefix(n.Strong, "17.4 GPU-hours expire") || !strings.Contains(n.Text, "up to 5.0 h") || n.Action != "New run" {
		t.Errorf("before the reset: %+v", n)
	}
	w.Quota.Live, w.Quota.Why = false, "Kaggle could not be reached."
	n = newWeekView(w, app.QueueView{}, app.PoolGPU, testNow).Banner
	if n == nil || n.Action != "Try again" || !strings.Contains(n.Text, "Kaggle could not be reached.") || !strings.Contains(n.Text, "just now") && !strings.Contains(n.Text, "40 s ago") {
		t.Errorf("not live: %+v", n)
	}
	w = sampleWeek()
	w.Quota.RefreshAt = testNow.Add(5 * time.Hour)
	w.ExpiringGPU = &app.Expiring{LeftH: 17.4, LostH: 17.4}
	if n := newWeekView(w, app.QueueView{}, app.PoolGPU, testNow).Banner; n != nil {
		t.Errorf("both sessions are taken until the reset: %+v, want none", n)
	}
}

func TestWeekViewWithoutAnything(t *testing.T) {
	v := newWeekView(app.WeekView{}, app.QueueView{}, app.PoolGPU, testNow)
	if v.Idle != "Nothing is running." || v.GPU.Note != "not read yet" || v.GPU.Number != "" || !v.Burn.Empty() || !v.Pace.Empty() {
		t.Errorf("empty week = %+v", v)
	}
}

func TestWeekPageOpensRunsAndSwitchesPools(t *testing.T) {
	defer widgets.DrawInline()()
	test.NewTempApp(t).Settings().SetTheme(widgets.NewTheme(widgets.ModeLight, 1))
	h := &stage{}
	p := newWeekPage(h)
	p.Update(sampleWeek(), testNow)
	p.rows[1].row.Tapped(nil)
	if len(h.opened) != 1 || h.opened[0] != 8 {
		t.Errorf("opened %v, want the second run", h.opened)
	}
	p.pools.Select(app.PoolTPU)
	if p.legend.Items[0].Color != widgets.ColorTPU {
		t.Error("the charts still show the GPU")
	}
	empty := sampleWeek()
	empty.InFlight = nil
	p.Update(empty, testNow)
	if p.rows[0].object.Visible() || !p.idle.Visible() {
		t.Error("an ended run is still in flight")
	}
}

func TestWeekPageKeepsItsSnapshotWhenTheNextOneFails(t *testing.T) {
	defer widgets.DrawInline()()
	test.NewTempApp(t)
	p := newWeekPage(&stage{})
	p.failed(app.Explained{Title: "No", Sentence: "It failed.", Action: "Retry."})
	if p.ready.Visible() || p.wait.Title.Text != "No" {
		t.Error("a first failure must be the page")
	}
	p.Update(sampleWeek(), testNow)
	p.failed(app.Explained{Title: "No", Sentence: "It failed.", Action: "Retry."})
	if !p.ready.Visible() || !p.banner.Visible() || p.banner.Strong.Text != "No" {
		t.Error("a later failure must stand above the snapshot")
	}
}
