package charts

import (
	"bytes"
	"encoding/csv"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/quick"
	"time"

	chart "github.com/wcharczuk/go-chart/v2"
)

func TestTicksCoverWithFewRoundValues(t *testing.T) {
	check := func(a, b float64, ea, eb int8) bool {
		lo, hi := math.Mod(a, 1)*math.Pow(10, float64(ea%80)), math.Mod(b, 1)*math.Pow(10, float64(eb%80))
		ticks := Ticks(lo, hi, MaxTicks)
		lo, hi = min(lo, hi), max(lo, hi)
		if len(ticks) < 2 || len(ticks) > MaxTicks {
			t.Logf("Ticks(%g, %g) = %v", lo, hi, ticks)
			return false
		}
		step := ticks[1] - ticks[0]
		if ticks[0] > lo+step*1e-6 || ticks[len(ticks)-1] < hi-step*1e-6 {
			t.Logf("Ticks(%g, %g) = %v does not cover", lo, hi, ticks)
			return false
		}
		mantissa := step / math.Pow(10, math.Floor(math.Log10(step)+1e-9))
		round := false
		for _, m := range []float64{1, 2, 2.5, 5, 10} {
			round = round || math.Abs(mantissa-m) < 1e-6
		}
		if !round {
			t.Logf("Ticks(%g, %g) = %v: step %g", lo, hi, ticks, step)
		}
		return round
	}
	if err := quick.Check(check, &quick.Config{MaxCount: 20000}); err != nil {
		t.Error(err)
	}
}

func TestSnugTicksAreInside(t *testing.T) {
	check := func(a, b float64, ea, eb int8) bool {
		lo, hi := math.Mod(a, 1)*math.Pow(10, float64(ea%80)), math.Mod(b, 1)*math.Pow(10, float64(eb%80))
		ticks, y0, y1 := snug(min(lo, hi), max(lo, hi))
		ok := len(ticks) >= 2 && len(ticks) <= MaxTicks && y0 <= min(lo, hi) && y1 >= max(lo, hi)
		slack := (y1 - y0) * 1e-6
		for _, v := range ticks {
			ok = ok && v >= y0-slack && v <= y1+slack
		}
		if !ok {
			t.Logf("snug(%g, %g) = %v in %g to %g", lo, hi, ticks, y0, y1)
		}
		return ok
	}
	if err := quick.Check(check, &quick.Config{MaxCount: 20000}); err != nil {
		t.Error(err)
	}
}

func TestTicksOfOddRanges(t *testing.T) {
	for _, r := range [][2]float64{{0, 0}, {1, 1}, {-3, -3}, {1e15, 1e15 + 1}, {math.NaN(), 1}, {0, math.Inf(1)}, {-huge / 2, huge / 2}, {5, 1}, {1e-300, 2e-300}} {
		ticks := Ticks(r[0], r[1], MaxTicks)
		if len(ticks) < 2 || len(ticks) > MaxTicks {
			t.Errorf("Ticks(%g, %g) = %v, want 2 to %d values", r[0], r[1], ticks, MaxTicks)
		}
		for i := 1; i < len(ticks); i++ {
			if !(ticks[i] > ticks[i-1]) {
				t.Errorf("Ticks(%g, %g) = %v does not rise", r[0], r[1], ticks)
			}
		}
	}
}

func TestFormatTick(t *testing.T) {
	for _, c := range []struct {
		v, step float64
		want    string
	}{{0.5, 0.1, "0.5"}, {0.75, 0.25, "0.75"}, {30, 10, "30"}, {-2.5, 2.5, "-2.5"}, {0, 5, "0"}, {1e12, 5e11, "1e12"}, {1.5e12, 5e11, "1.5e12"},
		{2e-7, 1e-7, "2e-7"}, {1e-18, 0.1, "0"}, {1200, 400, "1200"}} {
		if got := FormatTick(c.v, c.step); got != c.want {
			t.Errorf("FormatTick(%g, %g) = %q, want %q", c.v, c.step, got, c.want)
		}
	}
}

func TestDecimateKeepsWhatIsSeen(t *testing.T) {
	check := func(seed uint64, n uint16, px uint8) bool {
		r := rand.New(rand.NewPCG(seed, 2))
		pts := make([]Point, int(n)%9000+2)
		for i := range pts {
			pts[i] = Point{float64(i), r.NormFloat64()}
			if r.IntN(300) == 0 {
				pts[i].Y = math.NaN()
			}
		}
		width := int(px)%200 + 1
		out := Decimate(pts, 0, float64(len(pts)-1), width)
		gaps := 0
		for _, p := range out {
			if math.IsNaN(p.Y) {
				gaps++
			}
		}
		a, b := boundsOf([][]Point{pts}), boundsOf([][]Point{out})
		if a != b {
			t.Logf("bounds %v became %v", a, b)
			return false
		}
		for i := 1; i < len(out); i++ {
			if out[i].X < out[i-1].X {
				t.Logf("order lost at %d", i)
				return false
			}
		}
		return len(out) <= len(pts) && (len(out) <= 4*(width+1)+6*gaps || len(out) == len(pts))
	}
	if err := quick.Check(check, nil); err != nil {
		t.Error(err)
	}
}

func TestDecimateKeepsGaps(t *testing.T) {
	pts := make([]Point, 1000)
	for i := range pts {
		pts[i] = Point{float64(i), 1}
	}
	for i := 400; i < 600; i++ {
		pts[i].Y = math.Inf(1)
	}
	runs := 0
	eachRun(Decimate(pts, 0, 999, 20), func([]Point) { runs++ })
	if runs != 2 {
		t.Errorf("%d stretches, want 2: the gap was closed", runs)
	}
}

func TestPixelsAndDataAreInverse(t *testing.T) {
	for name, c := range map[string]Chart{"curves": sampleCurves(), "pace": samplePace(), "burn": sampleBurn()} {
		pic := c.Draw(600, 300, lightStyle(1))
		for _, at := range [][2]float64{{100, 100}, {333, 50}, {500.5, 199.25}} {
			x, y := pic.ToData(at[0], at[1])
			px, py := pic.ToPixel(x, y)
			if math.Abs(px-at[0]) > 1e-6 || math.Abs(py-at[1]) > 1e-6 {
				t.Errorf("%s: %v came back as %g, %g", name, at, px, py)
			}
		}
	}
}

func TestNearestFindsThePointUnderThePointer(t *testing.T) {
	c := sampleCurves()
	pic := c.Draw(1140, 700, lightStyle(2))
	want := c.Curves[2].Points[20]
	px, py := pic.ToPixel(want.Frac, want.Score)
	h, ok := pic.Nearest(px+0.3, py-0.3)
	if !ok || h.Series != "fold 2" || h.Y != want.Score || h.YText != "AUC "+formatValue(want.Score) || h.XText != "70 % of the schedule" {
		t.Errorf("Nearest = %+v, %v; want fold 2 at %+v", h, ok, want)
	}
	if _, ok := pic.Nearest(1, 1); ok {
		t.Error("a pixel on the axis labels found data")
	}
	if _, ok := (LearningCurves{}).Draw(100, 100, lightStyle(1)).Nearest(50, 50); ok {
		t.Error("an empty picture found data")
	}
}

func TestNearestOnABarTellsItsParts(t *testing.T) {
	pic := sampleBurn().Draw(430, 180, lightStyle(1))
	px, _ := pic.ToPixel(7.5, 0)
	h, ok := pic.Nearest(px, float64(pic.Plot.Max.Y)-5)
	if !ok || h.Series != "week of 28 Nov" || h.XText != "kept 9.6 h, failed 0.5 h, held 3.0 h" || h.YText != "13.1 h" {
		t.Errorf("Nearest = %+v, %v", h, ok)
	}
}

func TestNothingToDrawIsEmptyNotAnError(t *testing.T) {
	nan := []Curve{{Name: "fold 0", Points: []CurvePoint{{Epoch: 1, Frac: 1, Score: math.NaN()}}}}
	for name, c := range map[string]Chart{
		"no curves": LearningCurves{}, "only NaN": LearningCurves{Curves: nan}, "no weeks": WeeklyBurn{Allowance: 30},
		"nothing burned": WeeklyBurn{Weeks: []BurnWeek{{Kept: math.NaN()}}}, "no week": Pace{Allowance: 30}, "no values": Sparkline{}, "no lanes": Utilisation{},
	} {
		for _, size := range [][2]int{{400, 200}, {1, 1}, {0, 0}} {
			pic := c.Draw(size[0], size[1], lightStyle(1))
			if !c.Empty() || !pic.Empty || pic.Image == nil {
				t.Errorf("%s at %v: Empty %v, Image %v", name, size, pic.Empty, pic.Image != nil)
			}
		}
		if c.Describe() == "" {
			t.Errorf("%s: no words", name)
		}
	}
}

func TestTinySizesAreEmptyNotAPanic(t *testing.T) {
	for name, c := range map[string]Chart{"curves": sampleCurves(), "burn": sampleBurn(), "pace": samplePace(), "lanes": sampleLanes(), "spark": sampleSpark()} {
		for w := range 40 {
			if pic := c.Draw(w, 40-w, darkStyle(2)); pic.Image == nil {
				t.Errorf("%s %dx%d: no image", name, w, 40-w)
			}
		}
	}
}

func TestEndLabelsDoNotOverlap(t *testing.T) {
	check := func(ys []uint8) bool {
		if len(ys) > 6 {
			ys = ys[:6]
		}
		var ls []label
		for _, y := range ys {
			ls = append(ls, label{y: float64(y), name: "a", detail: "b"})
		}
		spread(ls, 14, 0, 400)
		for i := range ls {
			if ls[i].y < 14-1e-9 || ls[i].y > 386+1e-9 || i > 0 && ls[i].y-ls[i-1].y < 28-1e-9 {
				return false
			}
		}
		return true
	}
	if err := quick.Check(check, nil); err != nil {
		t.Error(err)
	}
}

func TestMeanStopsWhereACurveStops(t *testing.T) {
	mean, lo, hi := spreadOf([][]Point{{{0, 1}, {1, 2}}, {{0, 3}, {0.5, 4}}})
	last := mean[len(mean)-1]
	if last.X != 0.5 || math.Abs(last.Y-2.75) > 1e-9 {
		t.Errorf("mean ends at %v, want 0.5, 2.75", last)
	}
	if w := hi[0].Y - lo[0].Y; math.Abs(w-2*math.Sqrt2) > 1e-9 {
		t.Errorf("band %g wide, want two sample deviations of {1, 3}", w)
	}
}

func TestIdleNeedsTwoSamplesInARow(t *testing.T) {
	got := Idle([]Point{{0, 90}, {1, 3}, {2, 95}, {3, 0}, {4, 9}, {5, math.NaN()}, {6, 2}, {7, 1}, {8, 1}})
	want := [][2]float64{{3, 4}, {6, 8}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("Idle = %v, want %v", got, want)
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct {
		chart Chart
		want  string
	}{
		{samplePace(), "This week: 9.6 h burned, 3.0 h held, against 20.5 h at an even pace to 30 h."},
		{sampleBurn(), "Weekly burn over 8 weeks. The latest week: 10.1 h used (kept 9.6 h, failed 0.5 h, held 3.0 h) of 30 h."},
		{sampleLanes(), "Utilisation: GPU 0 median 94 %, idle in 1 stretches; GPU 1 median 94 %, idle in 1 stretches."},
	} {
		if got := c.chart.Describe(); got != c.want {
			t.Errorf("Describe = %q\nwant       %q", got, c.want)
		}
	}
	if got := clock(5400); got != "1 h 30" {
		t.Errorf("clock(5400) = %q", got)
	}
}

func TestCSVReadsBack(t *testing.T) {
	c := sampleCurves()
	c.Curves[0].Points[0].Score = math.NaN()
	var b bytes.Buffer
	if err := c.CSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if want := 1 + 3*30 + 2*18 + 5*30; len(rows) != want || rows[1][5] != "" || rows[2][5] == "" {
		t.Errorf("%d rows, want %d; a gap must be empty: %v", len(rows), want, rows[1])
	}
	for _, c := range []Chart{sampleBurn(), samplePace(), sampleLanes(), sampleSpark()} {
		b.Reset()
		if err := c.CSV(&b); err != nil || strings.Count(b.String(), "\n") < 3 {
			t.Errorf("%T: %v, %q", c, err, b.String())
		}
	}
}

func noisy(n int) []Point {
	r := rand.New(rand.NewPCG(1, 1))
	pts := make([]Point, n)
	for i := range pts {
		pts[i] = Point{float64(i), r.NormFloat64()}
	}
	return pts
}

// rawChart times go-chart itself on the same points, once, so that a benchmark can say how much the reduction saves on this machine.
func rawChart(b *testing.B, pts []Point, w, h int) time.Duration {
	xs, ys := make([]float64, len(pts)), make([]float64, len(pts))
	for i, p := range pts {
		xs[i], ys[i] = p.X, p.Y
	}
	c := chart.Chart{Width: w, Height: h, Series: []chart.Series{chart.ContinuousSeries{XValues: xs, YValues: ys}}}
	start := time.Now()
	var iw chart.ImageWriter
	if err := c.Render(chart.PNG, &iw); err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}

func benchmarkAgainstRaw(b *testing.B, n int) {
	pts := noisy(n)
	curve := Curve{Name: "noise", Done: true}
	for _, p := range pts {
		curve.Points = append(curve.Points, CurvePoint{Epoch: p.X, Score: p.Y})
	}
	c := LearningCurves{X: ByEpoch, Name: "noise", Curves: []Curve{curve}}
	var raw time.Duration
	if n <= 5000 { // go-chart alone takes two minutes for 50,000 points of noise
		raw = rawChart(b, pts, 1000, 400)
	}
	for b.Loop() {
		c.Draw(1000, 400, lightStyle(1))
	}
	if raw == 0 {
		return
	}
	b.ReportMetric(float64(raw)/(float64(b.Elapsed())/float64(b.N)), "x-faster-than-go-chart")
}

func BenchmarkCurves300(b *testing.B)   { benchmarkAgainstRaw(b, 300) }
func BenchmarkCurves5000(b *testing.B)  { benchmarkAgainstRaw(b, 5000) }
func BenchmarkCurves50000(b *testing.B) { benchmarkAgainstRaw(b, 50000) }

func BenchmarkNearest50000(b *testing.B) {
	curve := Curve{Name: "noise", Done: true}
	for _, p := range noisy(50000) {
		curve.Points = append(curve.Points, CurvePoint{Epoch: p.X, Score: p.Y})
	}
	pic := LearningCurves{X: ByEpoch, Name: "noise", Curves: []Curve{curve}}.Draw(1000, 400, lightStyle(1))
	for b.Loop() {
		pic.Nearest(500, 200)
	}
}
