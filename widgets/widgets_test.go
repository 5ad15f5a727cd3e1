package widgets

import (
	"fmt"
	"image"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"sandglass/charts"
)

func app(t *testing.T) {
	t.Helper()
	test.NewTempApp(t).Settings().SetTheme(NewTheme(ModeLight, 1))
}

func show(t *testing.T, o fyne.CanvasObject, w, h float32) fyne.Window {
	t.Helper()
	win := test.NewTempWindow(t, o)
	win.SetPadded(false)
	win.Resize(fyne.NewSize(w, h))
	return win
}

func key(name fyne.KeyName) *fyne.KeyEvent { return &fyne.KeyEvent{Name: name} }

func TestTextWrapsAtWords(t *testing.T) {
	measure := func(s string) float32 { return float32(len([]rune(s))) }
	for _, c := range []struct {
		text  string
		width float32
		want  string
	}{
		{"one two three", 7, "one two|three"}, {"abcdefghij", 4, "abcd|efgh|ij"}, {"a bbbbbb c", 3, "a|bbb|bbb|c"}, {"", 5, ""}, {"x\ny", 5, "x|y"}, {"ééé", 1, "é|é|é"}, {"éé", 0.5, "é|é"},
	} {
		if got := strings.Join(wrap(c.text, c.width, measure), "|"); got != c.want {
			t.Errorf("wrap(%q, %g) = %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestTextShortensBeforeItCuts(t *testing.T) {
	app(t)
	x := Body("").Truncated()
	x.SetShort("resets Sat 01:00, in 2 d 4 h (00:00 UTC)", "resets Sat 01:00")
	x.Resize(fyne.NewSize(600, 20))
	if got := x.split()[0]; got != x.Text {
		t.Errorf("wide: %q", got)
	}
	x.Resize(fyne.NewSize(130, 20))
	if got := x.split()[0]; got != "resets Sat 01:00" {
		t.Errorf("narrow: %q", got)
	}
	x.Resize(fyne.NewSize(60, 20))
	if got := x.split()[0]; !strings.HasSuffix(got, "…") {
		t.Errorf("very narrow: %q", got)
	}
}

func TestWrappedTextGrowsWhenItGetsNarrow(t *testing.T) {
	app(t)
	x := Body("a sentence that needs some room to stand in").Wrapped()
	x.Resize(fyne.NewSize(500, 20))
	one := x.MinSize().Height
	x.Resize(fyne.NewSize(100, 20))
	if many := x.MinSize().Height; many < 2*one {
		t.Errorf("height %g at 100 units, %g at 500", many, one)
	}
}

func TestButtonsTakeEnterAndSpace(t *testing.T) {
	app(t)
	n := 0
	add := func() { n++ }
	for _, o := range []interface{ TypedKey(*fyne.KeyEvent) }{NewButton("b", nil, add), NewPrimary("b", IconPlus.Resource(), add), NewSidebarItem(IconWeek, "Week", add), NewTapRow(Body("x"), add)} {
		before := n
		o.TypedKey(key(fyne.KeyReturn))
		o.TypedKey(key(fyne.KeySpace))
		if n != before+2 {
			t.Errorf("%T: %d presses, want 2", o, n-before)
		}
	}
	off := NewButton("b", nil, add)
	off.Disable()
	before := n
	off.TypedKey(key(fyne.KeyReturn))
	if n != before {
		t.Error("a disabled button was pressed")
	}
}

func TestQuotaBarParts(t *testing.T) {
	app(t)
	b := NewQuotaBar()
	b.Set(30, Segment{9, ColorGPU, 1}, Segment{6, ColorGPU, 0.35}, Segment{100, ColorBad, 1})
	r := test.WidgetRenderer(b).(*barRenderer)
	b.Resize(fyne.NewSize(300, 12))
	var got []float32
	for _, p := range r.parts {
		got = append(got, p.Position().X, p.Size().Width)
	}
	if want := []float32{0, 90, 90, 60, 150, 150}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("parts at %v, want %v", got, want)
	}
	b.Set(0, Segment{9, ColorGPU, 1})
	if w := r.parts[0].Size().Width; w != 0 {
		t.Errorf("a part %g wide of an unknown total", w)
	}
}

func TestTabsByClickAndKey(t *testing.T) {
	app(t)
	a, b := Body("A"), Body("B")
	tabs := NewTabs(Tab{"First", a}, Tab{"Second", b})
	var seen []int
	tabs.OnSelected = func(i int) { seen = append(seen, i) }
	show(t, tabs, 400, 200)
	tabs.strip.TypedKey(key(fyne.KeyRight))
	tabs.strip.TypedKey(key(fyne.KeyRight))
	if tabs.Selected() != 1 || a.Visible() || !b.Visible() {
		t.Errorf("after Right: tab %d, visible %v %v", tabs.Selected(), a.Visible(), b.Visible())
	}
	tabs.strip.Tapped(&fyne.PointEvent{Position: fyne.NewPos(5, 10)})
	if tabs.Selected() != 0 || fmt.Sprint(seen) != "[1 0]" {
		t.Errorf("after a click: tab %d, told %v", tabs.Selected(), seen)
	}
}

func sampleTable(n int) *Table {
	return NewTable([]Column{{Title: "Run", Width: 100, Weight: 1}, {Title: "Extra", Width: 100, Below: 500}, {Title: "Score", Width: 60, Right: true}},
		func() int { return n }, func(i int) []Cell { return []Cell{{Text: fmt.Sprint("run ", i)}, {Text: "x"}, {Text: "0.5"}} })
}

func TestTableOpensByClickAndByEnter(t *testing.T) {
	app(t)
	tab := sampleTable(10000)
	var opened []int
	tab.OnOpen = func(i int) { opened = append(opened, i) }
	show(t, tab, 600, 300)
	tab.list.Select(3)
	tab.list.Select(3)
	tab.list.TypedKey(key(fyne.KeyDown))
	tab.list.TypedKey(key(fyne.KeyEnter))
	tab.list.TypedKey(key(fyne.KeyUp))
	tab.list.TypedKey(key(fyne.KeyUp))
	tab.list.TypedKey(key(fyne.KeyReturn))
	if fmt.Sprint(opened) != "[3 3 4 2]" {
		t.Errorf("opened %v, want [3 3 4 2]", opened)
	}
}

func TestTableLeavesColumnsOutWhenNarrow(t *testing.T) {
	app(t)
	l := &rowLayout{t: sampleTable(1)}
	wide, narrow := l.widths(600), l.widths(400)
	if wide[1] == 0 || narrow[1] != 0 {
		t.Errorf("widths %v and %v", wide, narrow)
	}
	for _, w := range [][]float32{wide, narrow} {
		if w[2] != 60 {
			t.Errorf("a column without weight grew to %g", w[2])
		}
	}
	if sum := wide[0] + wide[1] + wide[2] + 2*cellGap + 2*Gap12; sum != 600 {
		t.Errorf("columns fill %g of 600", sum)
	}
}

func TestLogViewIsARing(t *testing.T) {
	app(t)
	v := NewLogView("nothing")
	for from := 0; from < LogKeep+500; from += 500 {
		var lines []LogLine
		for i := from; i < from+500; i++ {
			lines = append(lines, LogLine{N: i, Text: fmt.Sprint("line ", i)})
		}
		v.Append(lines...)
	}
	if v.Len() != LogKeep || v.Line(0).N != 500 || v.Line(v.Len()-1).N != LogKeep+499 || v.End() != LogKeep+500 {
		t.Errorf("%d lines from %d to %d, end %d", v.Len(), v.Line(0).N, v.Line(v.Len()-1).N, v.End())
	}
	v.Append(LogLine{N: LogKeep + 499, Text: "grown"}, LogLine{N: LogKeep + 500, Text: "new"})
	if v.Line(v.Len()-2).Text != "grown" || v.Line(v.Len()-1).Text != "new" {
		t.Errorf("the last lines are %q and %q", v.Line(v.Len()-2).Text, v.Line(v.Len()-1).Text)
	}
}

func TestLogViewFindsAndStopsFollowing(t *testing.T) {
	app(t)
	v := NewLogView("nothing")
	show(t, v, 700, 300)
	v.Append(LogLine{N: 0, Text: "epoch 1", Warn: false}, LogLine{N: 1, Text: "WARNING: nan", Warn: true}, LogLine{N: 2, Text: "epoch 2", Warn: false}, LogLine{N: 3, Text: "done", Warn: false})
	v.find.SetText("EPOCH")
	if v.count.Text != "1 of 2" || v.chosen != 0 || v.Following() {
		t.Errorf("count %q, chosen %d, following %v", v.count.Text, v.chosen, v.Following())
	}
	v.Next()
	v.Next()
	if v.count.Text != "1 of 2" || v.detail.Text != "epoch 1" {
		t.Errorf("after the last match: %q, %q", v.count.Text, v.detail.Text)
	}
	v.find.SetText("absent")
	if v.count.Text != "not found" {
		t.Errorf("count %q", v.count.Text)
	}
	v.SetFollow(true)
	v.Copy()
	if got := fyne.CurrentApp().Clipboard().Content(); !v.Following() || got != "epoch 1\nWARNING: nan\nepoch 2\ndone\n" {
		t.Errorf("copied %q", got)
	}
	v.Replace(nil)
	if v.Len() != 0 || !v.empty.Visible() {
		t.Error("an emptied log shows no sentence")
	}
}

func TestToastsLeaveAndFailuresStay(t *testing.T) {
	app(t)
	ts := NewToasts()
	var after []func()
	ts.After = func(_ time.Duration, f func()) { after = append(after, f) }
	show(t, ts, 800, 600)
	ts.Say("Saved.")
	ts.Fail("It failed.", "Details", func() {})
	if ts.Count() != 2 || len(after) != 1 {
		t.Fatalf("%d toasts, %d timers", ts.Count(), len(after))
	}
	after[0]()
	if ts.Count() != 1 {
		t.Errorf("%d toasts after the success has gone, want the failure", ts.Count())
	}
	for range 5 {
		ts.Say("more")
	}
	if ts.Count() > 3 {
		t.Errorf("%d toasts cover the window", ts.Count())
	}
}

func TestStepProgressTellsTheTimeLeft(t *testing.T) {
	app(t)
	start := time.Unix(1000, 0)
	stopped := 0
	p := NewStepProgress(start, func() { stopped++ })
	show(t, p, 500, 60)
	p.Set("Downloading", 25, 100)
	p.Tick(start.Add(30 * time.Second))
	if p.time.Text != "30 s, about 1 min 30 s left" {
		t.Errorf("time = %q", p.time.Text)
	}
	p.Set("Waiting", 0, 0)
	p.Tick(start.Add(90 * time.Second))
	if p.time.Text != "1 min 30 s" {
		t.Errorf("time = %q", p.time.Text)
	}
	test.Tap(p.cancel)
	test.Tap(p.cancel)
	if stopped != 1 || p.cancel.Text != "Cancelling…" {
		t.Errorf("cancelled %d times, button says %q", stopped, p.cancel.Text)
	}
}

func TestChipsChooseOne(t *testing.T) {
	app(t)
	f := NewFilterChips(Chip{"all", "All", ""}, Chip{"gpu", "GPU", ""})
	var got []string
	f.OnSelected = func(k string) { got = append(got, k) }
	show(t, f, 300, 40)
	f.box.Objects[1].(*chip).TypedKey(key(fyne.KeySpace))
	f.box.Objects[1].(*chip).Tapped(nil)
	if f.Selected() != "gpu" || len(got) != 1 {
		t.Errorf("selected %q, told %v", f.Selected(), got)
	}
}

func TestColumnsStackWhenNarrow(t *testing.T) {
	app(t)
	a, b := NewCard("A", nil, Body("a")), NewCard("B", nil, Body("b"))
	c := Columns(12, 500, []float32{2, 1}, a, b)
	c.Resize(fyne.NewSize(612, 200))
	if a.Size().Width != 400 || b.Position().X != 412 || b.Size().Height != 200 {
		t.Errorf("side by side: %v, %v at %v", a.Size(), b.Size(), b.Position())
	}
	c.Resize(fyne.NewSize(400, 400))
	if b.Position().X != 0 || b.Position().Y != a.Size().Height+12 || b.Size().Width != 400 {
		t.Errorf("stacked: %v, %v at %v", a.Size(), b.Size(), b.Position())
	}
}

func TestHeaderGivesHiddenActionsNoRoom(t *testing.T) {
	app(t)
	one, two := NewButton("One", nil, nil), NewButton("Two", nil, nil)
	h := NewPageHeader("Title", one, two)
	show(t, h, 600, 40)
	h.SetStatus(Status{Word: "Running", Shape: ShapePlay})
	two.Hide()
	h.Refresh()
	if right := one.Position().X + one.Size().Width; right != one.MinSize().Width {
		t.Errorf("the visible action ends at %g of its own line", right)
	}
	if !h.Badge.Visible() {
		t.Error("the status is not shown")
	}
}

func testCurves() charts.LearningCurves {
	c := charts.LearningCurves{Metric: "AUC", Ink: charts.InkGPU, Name: "idea", Greater: true}
	for f := range 3 {
		cv := charts.Curve{Name: fmt.Sprint("fold ", f)}
		for e := range 20 {
			x := float64(e+1) / 20
			cv.Points = append(cv.Points, charts.CurvePoint{Epoch: float64(e + 1), Frac: x, Score: 0.6 + 0.25*x/(x+0.3) + float64(f)*0.02})
		}
		c.Curves = append(c.Curves, cv)
	}
	return c
}

func TestChartDrawsAtDevicePixelsOnce(t *testing.T) {
	defer DrawInline()()
	app(t)
	c := NewChart("empty")
	c.SetData(testCurves())
	c.Resize(fyne.NewSize(400, 200))
	a, b := c.image(800, 400), c.image(800, 400)
	if a.Bounds() != image.Rect(0, 0, 800, 400) || a != b {
		t.Errorf("%v; the same picture twice: %v", a.Bounds(), a == b)
	}
	if c.image(400, 200).Bounds().Dx() != 400 {
		t.Error("another size gave the same picture")
	}
	before := c.image(400, 200)
	fyne.CurrentApp().Settings().SetTheme(NewTheme(ModeDark, 1))
	if c.image(400, 200) == before {
		t.Error("another theme gave the same picture")
	}
}

func TestChartHoversPinsAndWalks(t *testing.T) {
	defer DrawInline()()
	app(t)
	c := NewChart("empty")
	var pinned []charts.Hit
	c.OnPin = func(h charts.Hit) { pinned = append(pinned, h) }
	c.SetData(testCurves())
	win := show(t, c, 500, 300)
	win.Canvas().Capture()
	pic := c.picture()
	px, py := pic.ToPixel(0.5, testCurves().Curves[1].Points[9].Score)
	s := c.pixelScale(pic)
	at := fyne.NewPos(float32(px/s), float32(py/s))
	c.MouseIn(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: at}})
	if h, _, ok := c.hit(); !ok || h.Series != "fold 1" || h.X != 0.5 {
		t.Errorf("under the pointer: %+v, %v", h, ok)
	}
	c.Tapped(&fyne.PointEvent{Position: at})
	c.MouseOut()
	if h, _, ok := c.hit(); !ok || h.X != 0.5 || len(pinned) != 1 {
		t.Errorf("a pinned point left with the pointer: %+v, %v", h, ok)
	}
	c.TypedKey(key(fyne.KeyEscape))
	if _, _, ok := c.hit(); ok {
		t.Error("Escape does not let go")
	}
	c.FocusGained()
	h1, _, ok := c.hit()
	for range 8 {
		c.TypedKey(key(fyne.KeyLeft))
	}
	h2, _, ok2 := c.hit()
	if !ok || !ok2 || h2.X >= h1.X {
		t.Errorf("Left went from %g to %g (%v, %v)", h1.X, h2.X, ok, ok2)
	}
}

func TestChartSaysWhatFillsIt(t *testing.T) {
	defer DrawInline()()
	app(t)
	c := NewChart("The first evaluation starts a curve.")
	show(t, c, 500, 300)
	c.SetData(charts.LearningCurves{})
	r := test.WidgetRenderer(c).(*chartRenderer)
	if !r.empty.Visible() || c.Description() != c.Empty || c.Menu() != nil {
		t.Errorf("empty: sentence %v, %q", r.empty.Visible(), c.Description())
	}
	c.SetData(testCurves())
	if r.empty.Visible() || !strings.HasPrefix(c.Description(), "Learning curves of idea") {
		t.Errorf("with data: sentence %v, %q", r.empty.Visible(), c.Description())
	}
}

// Live data that changes faster than it can be drawn must still be seen.
func TestChartDrawsOneAtATimeAndShowsEach(t *testing.T) {
	app(t)
	c := NewChart("")
	c.SetData(testCurves())
	c.Resize(fyne.NewSize(200, 100))
	c.drawing = true // as if a goroutine were drawing
	c.image(200, 100)
	older := testCurves().Draw(200, 100, charts.Style{})
	c.finish(chartKey{w: 200, h: 100}, older)
	if c.picture() != older || c.drawing {
		t.Error("a picture of older data was thrown away while newer data waits")
	}
	defer DrawInline()()
	if got := c.image(200, 100); got == older.Image {
		t.Error("the newer data was not drawn after the older")
	}
}

func TestChartDoesNotRedrawEqualData(t *testing.T) {
	app(t)
	c := NewChart("")
	c.SetData(testCurves())
	before := c.version
	c.SetData(testCurves())
	if c.version != before {
		t.Error("equal data is drawn anew")
	}
	other := testCurves()
	other.Curves[0].Points[3].Score = 0.1
	c.SetData(other)
	if c.version == before {
		t.Error("other data is not drawn")
	}
}

func TestLooksOfSmallWidgets(t *testing.T) {
	for mode, name := range map[Mode]string{ModeLight: "light", ModeDark: "dark"} {
		test.NewTempApp(t).Settings().SetTheme(NewTheme(mode, 1))
		bar := NewQuotaBar()
		bar.Set(30, Segment{9.6, ColorGPU, 1}, Segment{3, ColorGPU, .35})
		badges := VBox(8, NewBadge(Status{"Running", ShapePlay, ColorGPU}), NewBadge(Status{"Queued", ShapeClock, ColorTPU}), NewBadge(Status{"Collected", ShapeCheck, ColorGood}),
			NewBadge(Status{"Failed", ShapeCross, ColorBad}), NewBadge(Status{"Stopped by its cap", ShapeSquare, ColorWarning}), NewBadge(Status{"Pruned", ShapeRing, ""}))
		card := NewCard("Cost", Caption("hours"), VBox(0, NewStatRow("burned so far", "2.7 h"), NewStatRow("cap", "7.0 h"), Pad(8, 0, 8, 0, bar), badges))
		win := show(t, NewPanel(ColorBackground, Pad(8, 8, 8, 8, card)), 260, 320)
		test.AssertRendersToImage(t, "small-"+name+".png", win.Canvas())
	}
}
