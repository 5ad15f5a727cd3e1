package charts

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
)

func sampleFidelity() Fidelity {
	return Fidelity{Ink: InkGPU, Metric: "AUC", Gains: true, Note: "Yes: signs agree in 5 of 6, rank correlation 0.94, over 6 ideas.", Points: []FidelityPoint{
		{"aug-b", .0074, .0052, "1 fold against 5"}, {"mixup", -.028, -.017, ""}, {"ema", .0021, .0034, ""}, {"res448", .0048, -.0016, ""}, {"cnx384", .0125, .0230, ""}, {"swa", -.004, -.0065, ""}}}
}

func sampleScores() Fidelity {
	f := Fidelity{Ink: InkTPU, Metric: "log loss", Lower: true}
	for i := range 24 {
		x := .62 + .011*float64(i) + .008*math.Sin(float64(i)*2.3)
		f.Points = append(f.Points, FidelityPoint{fmt.Sprintf("idea-%02d", i), x, .41 + .009*float64(i) + .012*math.Cos(float64(i)*1.7), ""})
	}
	return f
}

func TestFidelityPictures(t *testing.T) {
	for _, c := range []struct {
		name  string
		w, h  int
		chart Fidelity
	}{
		{"fidelity", 340, 260, sampleFidelity()},
		{"fidelity-scores", 520, 300, sampleScores()},
		{"fidelity-one", 300, 200, Fidelity{Gains: true, Points: []FidelityPoint{{"aug-b", .0074, .0052, ""}}}},
	} {
		for _, theme := range []struct {
			name string
			make func(float64) Style
		}{{"light", lightStyle}, {"dark", darkStyle}} {
			for _, scale := range []int{1, 2} {
				name := fmt.Sprintf("%s-%s-%dx", c.name, theme.name, scale)
				t.Run(name, func(t *testing.T) {
					compare(t, name, c.chart.Draw(c.w*scale, c.h*scale, theme.make(float64(scale))).Image)
				})
			}
		}
	}
}

func TestFidelity(t *testing.T) {
	c := sampleFidelity()
	for _, scale := range []float64{1, 2} {
		pic := c.Draw(int(340*scale), int(260*scale), lightStyle(scale))
		x, y := pic.ToPixel(.0125, .023)
		if h, ok := pic.Nearest(x-6, y+4); !ok || h.Series != "cnx384" || h.XText != "screen +0.0125" || h.YText != "full +0.0230" {
			t.Errorf("at %vx under the pointer: %+v", scale, h)
		}
		x, y = pic.ToPixel(.0074, .0052)
		if h, ok := pic.Nearest(x, y); !ok || h.Series != "aug-b, 1 fold against 5" {
			t.Errorf("at %vx: %+v", scale, h)
		}
		if _, ok := pic.Nearest(1, 1); ok {
			t.Error("beside the plot there is data")
		}
	}
	if got := c.Describe(); got != "Screens against full runs of 6 ideas, gain in AUC; the screen got the sign wrong for 1. Yes: signs agree in 5 of 6, rank correlation 0.94, over 6 ideas." {
		t.Errorf("told as %q", got)
	}
	if got := sampleScores().Describe(); got != "Screens against full runs of 24 ideas, score in log loss, lower is better." {
		t.Errorf("told as %q", got)
	}
	var b bytes.Buffer
	if err := c.CSV(&b); err != nil || !strings.HasPrefix(b.String(), "idea,screen_gain,full_gain,note\naug-b,0.0074,0.0052,1 fold against 5\n") || strings.Count(b.String(), "\n") != 7 {
		t.Errorf("%v: %s", err, b.String())
	}
}

// Nothing, what is no number, ideas that are all alike, values of any size, small and tiny pictures: all are normal days.
func TestFidelityOfAnyShape(t *testing.T) {
	empty := Fidelity{Points: []FidelityPoint{{"x", math.NaN(), 1, ""}, {"y", 1, math.Inf(-1), ""}}}
	if !empty.Empty() || !empty.Draw(300, 200, lightStyle(1)).Empty || empty.Describe() != "Screens against full runs: no idea has both yet." {
		t.Errorf("an idea without figures is drawn: %q", empty.Describe())
	}
	for name, points := range map[string][]FidelityPoint{
		"one at zero": {{"x", 0, 0, ""}}, "all alike": {{"x", .8, .8, ""}, {"y", .8, .8, ""}}, "huge": {{"x", 1e200, -1e200, ""}, {"y", 3, 4, ""}},
		"tiny": {{"x", 1e-12, 2e-12, ""}, {"y", -1e-12, 1e-12, ""}}, "a name that is longer than the picture": {{strings.Repeat("long-", 40), .1, .2, ""}},
	} {
		for _, gains := range []bool{true, false} {
			for _, size := range [][2]int{{300, 200}, {900, 700}, {20, 10}, {1, 1}} {
				pic := Fidelity{Gains: gains, Points: points}.Draw(size[0], size[1], darkStyle(1))
				if pic.Image == nil || pic.Empty != (size[0] < 100) {
					t.Errorf("%s at %v: empty %v", name, size, pic.Empty)
				}
			}
		}
	}
}
