package planner

import (
	"math"
	"math/rand/v2"
	"testing"
)

// near fails when got is further from want than tol.
func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tol {
		t.Errorf("%s: got %v, want %v ± %v", what, got, want, tol)
	}
}

func TestTQuantile(t *testing.T) {
	for _, c := range []struct{ p, df, want float64 }{
		{.90, 2, 1.8856}, {.95, 2, 2.9200}, {.95, 4, 2.1318}, {.90, 4, 1.5332},
		{.975, 10, 2.2281}, {.05, 4, -2.1318}, {.5, 3, 0}, {.95, 1, 6.3138},
	} {
		near(t, "t quantile", TQuantile(c.p, c.df), c.want, 5e-5)
		near(t, "and back", TCDF(TQuantile(c.p, c.df), c.df), c.p, 1e-9)
	}
	near(t, "many degrees are normal", TQuantile(.95, 1e6), NormalQuantile(.95), 1e-4)
	for _, bad := range [][2]float64{{-1, 4}, {2, 4}, {.9, 0}, {.9, math.NaN()}} {
		if q := TQuantile(bad[0], bad[1]); !math.IsNaN(q) {
			t.Errorf("quantile of %v: got %v, want NaN", bad, q)
		}
	}
}

func TestBounds(t *testing.T) {
	type bound struct{ u90, u95 float64 }
	for _, c := range []struct {
		name           string
		hours          []float64
		plain, shrunk  bound
		noPlain        bool
		shrunk95Only   bool
		shrunkNotGiven bool
	}{
		{name: "H1", hours: []float64{1.8, 2.0, 2.1}, plain: bound{2.330, 2.560}, shrunk: bound{0, 2.631}, shrunk95Only: true},
		{name: "H2", hours: []float64{1.9, 2.1}, plain: bound{2.608, 3.453}, shrunk: bound{0, 2.807}, shrunk95Only: true},
		{name: "H3", hours: []float64{1.8, 1.9, 2.0, 2.1, 2.4}, plain: bound{2.441, 2.624}, shrunk: bound{0, 2.653}, shrunk95Only: true},
		{name: "H4", hours: []float64{5.6, 6.1, 5.9, 6.4}, plain: bound{6.643, 6.948}, shrunkNotGiven: true},
		{name: "H5", hours: []float64{2.0}, noPlain: true, shrunk: bound{2.769, 3.144}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i, p := range []float64{.90, .95} {
				want := []float64{c.plain.u90, c.plain.u95}[i]
				switch got, ok := UpperBound(c.hours, p); {
				case c.noPlain && ok:
					t.Errorf("a bound of one run: %v", got)
				case !c.noPlain:
					near(t, "bound", got, want, 6e-4)
				}
				want = []float64{c.shrunk.u90, c.shrunk.u95}[i]
				if c.shrunkNotGiven || c.shrunk95Only && p < .95 {
					continue
				}
				got, _ := ShrunkUpper(c.hours, p)
				near(t, "shrunk bound", got, want, 6e-4)
			}
		})
	}
	_, _, sd := logMoments([]float64{1.8, 2.0, 2.1})
	near(t, "sd of the logarithm", sd, 0.0788, 5e-5)
	for _, bad := range [][]float64{nil, {0}, {-1}, {math.Inf(1)}} {
		if u, ok := ShrunkUpper(bad, .95); ok {
			t.Errorf("a bound of %v: %v", bad, u)
		}
	}
	if _, ok := UpperBound([]float64{1, 2}, 1); ok {
		t.Error("a bound at certainty")
	}
}

func TestCoverageAndInTime(t *testing.T) {
	near(t, "H7 n=9", MaxCoverage(9), .90, 1e-12)
	near(t, "H7 n=19", MaxCoverage(19), .95, 1e-12)
	near(t, "no runs", MaxCoverage(0), 0, 0)
	near(t, "K3 run", InTime(2.5, 2, .15), .9316, 5e-5)
	near(t, "K3 queue", InTime(5, 2, math.Log(6.5)/NormalQuantile(.9)), .7348, 5e-5)
	near(t, "certain and short", InTime(2, 2, 0), 1, 0)
	near(t, "certain and long", InTime(1.9, 2, 0), 0, 0)
	near(t, "no time", InTime(0, 2, .1), 0, 0)
}

// The bound of a log-normal holds as often as it says.
func TestBoundsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{2, 5} {
		held := 0
		const trials = 20000
		for range trials {
			x := make([]float64, n)
			for i := range x {
				x[i] = 2 * math.Exp(.15*r.NormFloat64())
			}
			if u, _ := UpperBound(x, .95); 2*math.Exp(.15*r.NormFloat64()) <= u {
				held++
			}
		}
		near(t, "share held", float64(held)/trials, .95, .006)
	}
}
