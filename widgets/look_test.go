package widgets

import (
	"image/png"
	"os"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"sandglass/charts"
)

func lookCurves() charts.LearningCurves {
	c := charts.LearningCurves{Metric: "AUC", Ink: charts.InkGPU, Name: "cnx384-r2", Greater: true}
	for f := range 3 {
		cv := charts.Curve{Name: "fold"}
		for e := range 20 {
			x := float64(e+1) / 20
			cv.Points = append(cv.Points, charts.CurvePoint{Epoch: float64(e), Frac: x, Score: 0.6 + 0.25*x/(x+0.3) + float64(f)*0.004})
		}
		c.Curves = append(c.Curves, cv)
	}
	return c
}

func TestLook(t *testing.T) {
	defer DrawInline()()
	for _, mode := range []Mode{ModeLight, ModeDark} {
		a := test.NewTempApp(t)
		a.Settings().SetTheme(NewTheme(mode, 1))
		chart := NewChart("nothing yet")
		chart.SetData(lookCurves())
		h := NewPageHeader("cnx384-r2", NewButton("Open on Kaggle", IconExternal.Resource(), nil), NewButton("Stop…", IconStop.Resource(), nil))
		h.OnBack = func() {}
		h.Note.Set("T4 ×2 · version 3 · 2 h 41 min of 7.0 h · ends about 07:40")
		h.SetStatus(Status{"Running", ShapePlay, ColorGPU})
		bar := NewQuotaBar()
		bar.Set(30, Segment{9.6, ColorGPU, 1}, Segment{3, ColorGPU, .35})
		stats := NewCard("Cost", Caption("hours"), VBox(0, NewStatRow("burned so far", "2.7 h"), NewStatRow("cap", "7.0 h"), Pad(8, 0, 8, 0, bar), NewMeter(.6, ColorGood)))
		badges := HBox(8, NewBadge(Status{"Queued", ShapeClock, ColorTPU}), NewBadge(Status{"Collected", ShapeCheck, ColorGood}), NewBadge(Status{"Failed: fold 0", ShapeCross, ColorBad}), NewBadge(Status{"Stopped by its cap", ShapeSquare, ColorWarning}), NewBadge(Status{"Pruned", ShapeRing, ""}), NewBadge(Status{"Warn", ShapeBang, ColorWarning}))
		table := NewTable([]Column{{Title: "Run", Width: 120, Weight: 1}, {Title: "Status", Width: 150}, {Title: "Cap, h", Width: 60, Right: true}, {Title: "Score", Width: 70, Right: true}},
			func() int { return 5 }, func(i int) []Cell {
				return []Cell{{Text: "cnx384-with-a-very-long-name-that-is-cut", Strong: true}, {Status: &Status{"Collected", ShapeCheck, ColorGood}}, {Text: "7.0"}, {Text: "0.8512"}}
			})
		banner := NewBanner("11.2 GPU-hours will expire on Saturday.", "Two validated runs fit if they start before Fri 14:00.", "Fill the week…", nil)
		logv := NewLogView("No log yet.")
		logv.Append(LogLine{0, "epoch 1 auc 0.71", false}, LogLine{1, "warning: something", true})
		prog := NewStepProgress(time.Unix(0, 0), func() {})
		prog.Set("Downloading artifacts/idea/oof.npy", 3, 10)
		prog.Tick(time.Unix(10, 0))
		chips := NewFilterChips(Chip{"all", "All", ""}, Chip{"f", "In flight", "2"})
		side := NewPanel(ColorSidebar, FixedHeight(300, VBox(4, NewPrimary("New run", IconPlus.Resource(), nil), NewSidebarItem(IconWeek, "Week", nil), sel(NewSidebarItem(IconRuns, "Runs", nil)), NewSidebarItem(IconPlan, "Plan", nil), NewSidebarItem(IconExperiments, "Experiments", nil), NewSidebarItem(IconSettings, "Settings", nil), NewIcon(IconHourglass, ColorAccent, 40))))
		tabs := NewTabs(Tab{"Overview", Columns(12, 500, []float32{2, 1}, NewCard("AUC against the baseline", Caption("live, 8 s ago"), chart), VBox(12, stats, badges))}, Tab{"Log", logv})
		page := VBox(12, h, banner, FixedHeight(330, tabs), FixedHeight(200, NewCard("", nil, table)), FixedHeight(120, NewCard("", nil, logv)), prog, chips)
		root := NewPanel(ColorBackground, Columns(16, 0, []float32{1, 5}, side, Pad(16, 16, 16, 0, page)))
		w := test.NewTempWindow(t, root)
		w.SetPadded(false)
		w.Resize(fyne.NewSize(1180, 1000))
		if dir := os.Getenv("LOOK"); dir != "" {
			f, _ := os.Create(dir + "/look" + string(rune('0'+mode)) + ".png")
			_ = png.Encode(f, w.Canvas().Capture())
			f.Close()
		}
	}
}

func sel(s *SidebarItem) *SidebarItem { s.SetSelected(true); s.SetCount("3"); return s }
