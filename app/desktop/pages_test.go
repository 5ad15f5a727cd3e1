package desktop

import (
	"context"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"sandglass/app"
	"sandglass/widgets"
)

// stage is a host without a shell: what a page asks for is noted.
type stage struct {
	win    fyne.Window
	opened []int64
	from   []int64
	went   []string
	loads  int
	failed []error
	toasts []string
	urls   []string
}

func (s *stage) Core() *app.App                       { return nil }
func (s *stage) Window() fyne.Window                  { return s.win }
func (s *stage) OpenRun(id int64)                     { s.opened = append(s.opened, id) }
func (s *stage) NewRun(from int64)                    { s.from = append(s.from, from) }
func (s *stage) Go(page string)                       { s.went = append(s.went, page) }
func (s *stage) OpenURL(url string)                   { s.urls = append(s.urls, url) }
func (s *stage) Toast(text string)                    { s.toasts = append(s.toasts, text) }
func (s *stage) Fail(err error)                       { s.failed = append(s.failed, err) }
func (s *stage) Do(f func())                          { f() }
func (s *stage) Background(func(ctx context.Context)) {}
func (s *stage) Reload()                              { s.loads++ }
func (s *stage) Mark(string, fyne.CanvasObject)       {}

var testNow = time.Date(2026, 12, 2, 19, 47, 0, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

func sampleCurve(job string, fold int, top, reach float64) app.CurveView {
	c := app.CurveView{Job: job, Fold: fold}
	for e := 1; e <= 30 && float64(e)/30 <= reach; e++ {
		x := float64(e) / 30
		wobble := 0.004 * math.Sin(float64(e*(fold+3))*1.7)
		c.Points = append(c.Points, app.CurvePoint{Epoch: e, Frac: x, Seconds: x * 2800, Score: top + float64(fold)*0.003 - (top-0.6)*math.Exp(-3.6*x) + wobble})
	}
	return c
}

func sampleRun() app.RunView {
	r := app.RunView{
		RunRow: app.RunRow{ID: 7, Kernel: "mara/cnx384-r2-train", Version: 3, Name: "cnx384-r2", Project: "/home/mara/knee", State: app.StateRunning,
			Accelerator: "NvidiaTeslaT4", Pool: app.PoolGPU, CapHours: 7, Hours: 2.7, Metric: "AUC", URL: "https://www.kaggle.com/code/mara/cnx384-r2-train",
			PushedAt: testNow.Add(-3 * time.Hour), StartedAt: testNow.Add(-161 * time.Minute), Origin: "push"},
		Command: "python src/train.py --name cnx384-r2 --folds {fold} --model convnext_tiny --size 384", Folds: []int{0, 1, 2, 3, 4}, Jobs: []string{"cnx384-r2"},
		BaselineName: "baseline", BaselineScore: ptr(0.828), Greater: true, PruneMargin: 0.03, PruneMinFrac: 0.3, LogLines: 3,
		BuildDir: "/home/mara/knee/.sandglass/build/cnx384-r2-train", ArtifactsDir: "/home/mara/knee/artifacts", EndsBy: testNow.Add(259 * time.Minute),
		Parts: []app.SizePart{{Name: "src/", Bytes: 41200}, {Name: "data/folds.csv", Bytes: 3100}, {Name: "runner", Bytes: 58400}}, Inputs: []string{"dataset mara/knee-512"},
		Findings: []app.FindingView{{Code: "trend", Level: "good", Text: "Trending above the baseline on all folds.", Detail: "z 2.3 on finished folds, promote at 2.0"},
			{Code: "idle", Level: "warn", Text: "Fifth fold leaves GPU 0 idle for about 20 min.", Fix: "Fill it with a second seed: adds 0 quota-hours"}},
	}
	for f, top := range []float64{0.848, 0.855, 0.850, 0.842, 0.839} {
		t := app.TaskView{Job: "cnx384-r2", Fold: ptr(f), State: "done", Seconds: 2760 + float64(f)*20, Best: ptr(top), Epochs: 30, Of: 30, Device: "gpu0"}
		reach := 1.0
		if f > 2 {
			t.State, t.Epochs, t.Seconds, reach = "running", 18-f, 1700, float64(18-f)/30
		}
		r.Tasks = append(r.Tasks, t)
		r.Curves = append(r.Curves, sampleCurve("cnx384-r2", f, top+0.015, reach))
		r.Baseline = append(r.Baseline, sampleCurve("baseline", f, 0.83, 1))
	}
	for i := range 240 {
		for d := range 2 {
			u := 93 + 4*math.Sin(float64(i*(d+2)))
			if i > 100 && i < 110 {
				u = 5
			}
			r.Util = append(r.Util, app.UtilPoint{Device: fmt.Sprintf("gpu%d", d), T: float64(i) * 40, Util: u, Mem: 9300})
		}
	}
	return r
}

func sampleWeek() app.WeekView {
	from := time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
	queued := sampleRun()
	queued.ID, queued.Name, queued.State, queued.Pool, queued.CapHours = 8, "vit-xla", app.StateQueued, app.PoolTPU, 9
	queued.Tasks, queued.Util, queued.StartedAt, queued.EndsBy, queued.QueuedFor = nil, nil, time.Time{}, time.Time{}, 312*time.Minute
	w := app.WeekView{
		Quota: app.QuotaView{GPU: app.PoolView{Known: true, Used: 9.6, Reserved: 3, Total: 30, Left: 17.4, Holders: []string{"cnx384-r2"}},
			TPU: app.PoolView{Known: true, Held: 9, Total: 20, Left: 11, Holders: []string{"vit-xla"}}, RefreshAt: from.AddDate(0, 0, 7), FetchedAt: testNow.Add(-40 * time.Second), Live: true},
		WeekFrom: from, WeekTo: from.AddDate(0, 0, 7), InFlight: []app.RunView{sampleRun(), queued},
		Waiting:  []app.RunRow{{ID: 9, Name: "cnx384-seed2", Pool: app.PoolGPU, CapHours: 7}, {ID: 10, Name: "stack-cpu", Pool: app.PoolCPU, CapHours: 2}},
		NeedsYou: []app.RunRow{{ID: 11, Name: "aug-b-screen", State: app.StateComplete, Pool: app.PoolGPU, EndedAt: testNow.Add(-3 * time.Hour), Ended: true}},
	}
	for i, v := range [][5]float64{{14, 3, 5}, {19, 2, 3, 2}, {22, 1, 2, 1}, {17, 4, 2}, {26, 1, 1}, {24, 2, 0, 1}, {27, 1}, {9.1, .5, 0, 0, 3}} {
		w.GPU = append(w.GPU, app.BurnWeek{Start: from.AddDate(0, 0, 7*(i-7)), Kept: v[0], Failed: v[1], Killed: v[2], Elsewhere: v[3], Reserved: v[4], Current: i == 7})
	}
	for _, v := range [][2]float64{{0, 0}, {26, 3.1}, {60, 6.2}, {112, 9.6}} {
		w.Pace = append(w.Pace, app.PacePoint{At: from.Add(time.Duration(v[0] * float64(time.Hour))), Hours: v[1]})
	}
	return w
}

// capture shows an object in a window and, when SANDGLASS_LOOK names a folder, leaves a picture of it there to be looked at.
func capture(t *testing.T, name string, o fyne.CanvasObject, mode widgets.Mode, size fyne.Size, scale float32) {
	t.Helper()
	w := test.NewWindow(widgets.NewPanel(widgets.ColorBackground, o))
	defer w.Close()
	w.SetPadded(false)
	w.Canvas().(test.WindowlessCanvas).SetScale(scale)
	w.Resize(size)
	w.Resize(size.AddWidthHeight(1, 0)) // a second pass: wrapped text knows its height only after the first
	w.Resize(size)
	img := w.Canvas().Capture()
	if dir := os.Getenv("SANDGLASS_LOOK"); dir != "" {
		f, err := os.Create(filepath.Join(dir, name+".png"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var out io.Writer = f
		if err := png.Encode(out, img); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPagesInEveryStateAndSize(t *testing.T) {
	defer widgets.DrawInline()()
	for _, mode := range []widgets.Mode{widgets.ModeLight, widgets.ModeDark} {
		a := test.NewTempApp(t)
		a.Settings().SetTheme(widgets.NewTheme(mode, 1))
		for _, size := range []fyne.Size{{Width: 980, Height: 760}, {Width: 700, Height: 600}} {
			tag := fmt.Sprintf("%d-%.0f", mode, size.Width)
			h := &stage{}
			week := newWeekPage(h)
			capture(t, "week-loading-"+tag, week.Object(), mode, size, 1)
			week.Update(sampleWeek(), testNow)
			capture(t, "week-full-"+tag, week.Object(), mode, size, 1)
			week.Update(app.WeekView{Quota: app.QuotaView{Why: "Kaggle could not be reached."}}, testNow)
			capture(t, "week-empty-"+tag, week.Object(), mode, size, 1)
			week.failed(app.Explained{Title: "The run log cannot be read", Sentence: "The disk is full.", Action: "Free some space."})
			capture(t, "week-failed-"+tag, week.Object(), mode, size, 1)
			for i, name := range []string{"overview", "curves", "util", "log", "files", "shipped"} {
				run := newRunPage(h, 7)
				run.showLog([]app.LogLine{{N: 0, Text: "fold 0 epoch 1 auc 0.61", Stream: "stdout"}, {N: 1, Text: "UserWarning: lr_scheduler.step() before optimizer.step()", Stream: "stderr"}}, 2)
				r := sampleRun()
				r.Files = []app.FileView{{Path: "artifacts/cnx384-r2/oof.npy", Size: 412300, State: "here"}, {Path: "run.json", Size: 9120, State: "damaged"}}
				run.Update(r, testNow)
				run.tabs.Select(i)
				capture(t, "run-"+name+"-"+tag, run.Object(), mode, size, 1)
				if size.Width > 900 && i == 0 {
					capture(t, "run-"+name+"-2x-"+tag, run.Object(), mode, size, 2)
				}
			}
			queued := newRunPage(h, 8)
			capture(t, "run-loading-"+tag, queued.Object(), mode, size, 1)
			queued.Update(sampleWeek().InFlight[1], testNow)
			capture(t, "run-queued-"+tag, queued.Object(), mode, size, 1)
			failed := newRunPage(h, 12)
			failed.Update(app.RunView{RunRow: app.RunRow{Name: "effv2-s", State: app.StateError, Ended: true, EndedAt: testNow.Add(-time.Hour), Failure: "ModuleNotFoundError: No module named 'timm'", Pool: app.PoolGPU, CapHours: 5, Hours: .2}}, testNow)
			capture(t, "run-failed-"+tag, failed.Object(), mode, size, 1)
		}
	}
}
