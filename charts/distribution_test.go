package charts

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

func hump() Distribution {
	d := Distribution{Ink: InkGPU, Expected: 5.7, Cap: 7, CapNote: "stopped in about 2 of 100 runs", Runs: []float64{5.4, 5.6, 5.8, 6.1}, Limit: 12}
	for x := 4.0; x <= 7.4; x += 0.03 {
		d.Points = append(d.Points, Point{x, math.Exp(-math.Pow((x-5.7)/0.6, 2) / 2)})
	}
	return d
}

func TestDistributionIsDrawnAndTold(t *testing.T) {
	d := hump()
	for _, size := range [][2]int{{480, 190}, {960, 380}, {260, 130}, {20, 10}} {
		pic := d.Draw(size[0], size[1], lightStyle(float64(max(1, size[0]/480))))
		if pic == nil || pic.Image == nil || size[0] > 100 && pic.Empty {
			t.Errorf("%v: %+v", size, pic)
		}
	}
	pic := d.Draw(480, 190, lightStyle(1))
	x, y := pic.ToPixel(5.7, 0.99)
	if hit, ok := pic.Nearest(x, y); !ok || !strings.Contains(hit.XText, "5.7 h") {
		t.Errorf("under the pointer: %+v", hit)
	}
	if got := d.Describe(); !strings.Contains(got, "Expected 5.7 h, cap 7.0 h: stopped in about 2 of 100 runs; 4 measured") {
		t.Errorf("told as %q", got)
	}
	var out bytes.Buffer
	if err := d.CSV(&out); err != nil || !strings.HasPrefix(out.String(), "hours,likelihood\n4,") {
		t.Errorf("%v: %.40q", err, out.String())
	}
	if !(Distribution{}).Empty() || !(Distribution{}).Draw(100, 100, lightStyle(1)).Empty {
		t.Error("without points there is a hump")
	}
}

func TestTicksInsideARange(t *testing.T) {
	for _, r := range [][2]float64{{4, 7.4}, {0, 200}, {0.3, 0.5}, {5, 12.4}} {
		_, in := insideTicks(r[0], r[1])
		if len(in) < 2 || len(in) > MaxTicks+1 || in[0] < r[0] || in[len(in)-1] > r[1] {
			t.Errorf("%v: %v", r, in)
		}
	}
}
