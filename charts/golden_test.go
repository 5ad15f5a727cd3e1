package charts

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden pictures anew")

func rgb(v uint32) color.NRGBA {
	return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 255}
}

func lightStyle(scale float64) Style {
	return Style{Scale: scale, FontSize: 11.5, Background: rgb(0xFFFFFF), Text: rgb(0x1D1F23), Muted: rgb(0x62666D), Grid: rgb(0xE4E2DC),
		Shade: rgb(0xFAFAF7), Baseline: rgb(0x62666D), Accent: rgb(0x96610F), GPU: rgb(0x2A66D0), TPU: rgb(0x7B4FD0), CPU: rgb(0x5F6B7A),
		Good: rgb(0x23784A), Warning: rgb(0xA05F00), Bad: rgb(0xC23B3B)}
}

func darkStyle(scale float64) Style {
	return Style{Scale: scale, FontSize: 11.5, Background: rgb(0x1E2126), Text: rgb(0xE8E6E1), Muted: rgb(0x9AA0A8), Grid: rgb(0x2E333B),
		Shade: rgb(0x262A31), Baseline: rgb(0x9AA0A8), Accent: rgb(0xE0A84A), GPU: rgb(0x6EA0FF), TPU: rgb(0xB08CFF), CPU: rgb(0x93A0B0),
		Good: rgb(0x5CC28C), Warning: rgb(0xF0A040), Bad: rgb(0xF07070)}
}

// learning makes n curves that rise to about top; the first done of them reach the end, the others stop at reach.
func learning(n, epochs, done int, top, reach float64, seed uint64) []Curve {
	r := rand.New(rand.NewPCG(seed, 1))
	var out []Curve
	for f := range n {
		c := Curve{Name: fmt.Sprintf("fold %d", f), Done: f < done}
		shift := (r.Float64() - 0.5) * 0.02
		for e := 1; e <= epochs; e++ {
			frac := float64(e) / float64(epochs)
			if !c.Done && frac > reach {
				break
			}
			score := top + shift - (top-0.58)*math.Exp(-3.4*frac) + (r.Float64()-0.5)*0.008
			c.Points = append(c.Points, CurvePoint{Epoch: float64(e), Frac: frac, Hours: frac * 0.78, Score: score})
		}
		out = append(out, c)
	}
	return out
}

func sampleCurves() LearningCurves {
	return LearningCurves{Metric: "AUC", Ink: InkGPU, Name: "cnx384-r2", Curves: learning(5, 30, 3, 0.862, 0.6, 7),
		Baseline: learning(5, 30, 5, 0.838, 1, 3), Greater: true, PruneMargin: 0.03, PruneMinFrac: 0.3}
}

var saturday = time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)

func sampleBurn() WeeklyBurn {
	w := WeeklyBurn{Ink: InkGPU, Allowance: 30}
	for i, v := range [][5]float64{{14, 3, 5}, {19, 2, 3, 2}, {22, 1, 2, 1}, {17, 4, 2}, {26, 1, 1}, {24, 2, 0, 1}, {27, 1}, {9.6, .5, 0, 0, 3}} {
		w.Weeks = append(w.Weeks, BurnWeek{Start: saturday.AddDate(0, 0, 7*(i-7)), Kept: v[0], Failed: v[1], Killed: v[2], Elsewhere: v[3], Reserved: v[4], Current: i == 7})
	}
	return w
}

func samplePace() Pace {
	p := Pace{Ink: InkGPU, From: saturday, To: saturday.AddDate(0, 0, 7), Now: saturday.Add(4*24*time.Hour + 19*time.Hour), Allowance: 30, Reserved: 3}
	for _, v := range [][2]float64{{0, 0}, {19, 0}, {26, 3.1}, {54, 3.1}, {60, 6.2}, {104, 6.2}, {112, 9.6}} {
		p.Points = append(p.Points, PacePoint{saturday.Add(time.Duration(v[0] * float64(time.Hour))), v[1]})
	}
	return p
}

func sampleLanes() Utilisation {
	r := rand.New(rand.NewPCG(5, 5))
	u := Utilisation{Ink: InkGPU}
	for d := range 2 {
		l := Lane{Name: fmt.Sprintf("GPU %d", d)}
		for t := 0.0; t < 7200; t += 20 {
			v := 90 + r.Float64()*8
			if t > 3100 && t < 3300 {
				v = 4
			}
			l.Points = append(l.Points, Point{t, v})
		}
		u.Lanes = append(u.Lanes, l)
	}
	return u
}

func sampleSpark() Sparkline {
	s := Sparkline{Ink: InkGPU, Name: "utilisation", Hi: 100}
	r := rand.New(rand.NewPCG(9, 5))
	for range 60 {
		s.Values = append(s.Values, 60+r.Float64()*30)
	}
	return s
}

func TestGoldenPictures(t *testing.T) {
	lone := sampleCurves()
	lone.Curves = learning(1, 30, 0, 0.86, 0.04, 7)
	gaps := sampleCurves()
	gaps.Curves[1].Points[9].Score = math.NaN()
	gaps.Curves[3].Points[4].Score = math.Inf(1)
	gaps.X = ByHours
	huge := LearningCurves{Metric: "loss", X: ByEpoch, Ink: InkTPU, Name: "diverged", Curves: []Curve{{Name: "fold 0", Points: []CurvePoint{
		{Epoch: 1, Score: 1}, {Epoch: 2, Score: 5e11}, {Epoch: 3, Score: math.Inf(1)}, {Epoch: 4, Score: 1.1e12}}}}}
	flat := LearningCurves{Metric: "accuracy", X: ByEpoch, Ink: InkGPU, Name: "flat", Curves: []Curve{{Name: "fold 0", Done: true, Points: []CurvePoint{
		{Epoch: 1, Score: 0.5}, {Epoch: 2, Score: 0.5}, {Epoch: 3, Score: 0.5}}}}}
	for _, c := range []struct {
		name  string
		w, h  int
		chart Chart
	}{
		{"curves", 570, 350, sampleCurves()},
		{"curves-small", 300, 180, sampleCurves()},
		{"curves-one-point", 400, 240, lone},
		{"curves-gaps-hours", 400, 240, gaps},
		{"curves-huge", 400, 240, huge},
		{"curves-flat", 400, 240, flat},
		{"burn", 430, 180, sampleBurn()},
		{"pace", 430, 180, samplePace()},
		{"spark", 100, 24, sampleSpark()},
		{"lanes", 500, 110, sampleLanes()},
		{"calendar", 880, 300, sampleCalendar()},
		{"calendar-small", 420, 220, sampleCalendar()},
		{"queue-waits", 430, 180, sampleWaits()},
		{"empty", 60, 20, LearningCurves{}},
	} {
		for _, theme := range []struct {
			name string
			make func(float64) Style
		}{{"light", lightStyle}, {"dark", darkStyle}} {
			for _, scale := range []int{1, 2} {
				name := fmt.Sprintf("%s-%s-%dx", c.name, theme.name, scale)
				t.Run(name, func(t *testing.T) {
					pic := c.chart.Draw(c.w*scale, c.h*scale, theme.make(float64(scale)))
					compare(t, name, pic.Image)
				})
			}
		}
	}
}

// compare checks a picture against testdata. Outside amd64 the compiler may fuse multiply and add, so that edges differ a little.
func compare(t *testing.T, name string, got *image.RGBA) {
	t.Helper()
	path := filepath.Join("testdata", name+".png")
	if *update {
		var b bytes.Buffer
		if err := png.Encode(&b, got); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if want.Bounds() != got.Bounds() {
		t.Fatalf("size %v, want %v", got.Bounds(), want.Bounds())
	}
	tolerance := 0
	if runtime.GOARCH != "amd64" {
		tolerance = 40
	}
	for y := range got.Rect.Dy() {
		for x := range got.Rect.Dx() {
			g, w := got.RGBAAt(x, y), color.RGBAModel.Convert(want.At(x, y)).(color.RGBA)
			for _, d := range []int{int(g.R) - int(w.R), int(g.G) - int(w.G), int(g.B) - int(w.B)} {
				if d > tolerance || d < -tolerance {
					t.Fatalf("pixel %d,%d is %v, want %v (write the pictures anew with -update and look at them)", x, y, g, w)
				}
			}
		}
	}
}
