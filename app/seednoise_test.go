package app

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"sandglass/runnerpack"
)

// writeCurve writes a fold's curve with these scores.
func writeCurve(t *testing.T, dir string, fold int, scores ...float64) string {
	t.Helper()
	text := ""
	for e, s := range scores {
		if e > 0 {
			text += ","
		}
		text += fmt.Sprintf(`{"epoch":%d,"score":%g,"seconds":1}`, e, s)
	}
	text = fmt.Sprintf(`{"fold":%d,"epochs":%d,"greater_is_better":true,"points":[%s]}`, fold, len(scores), text)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("curve_fold%d.json", fold)), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestSeedMargins(t *testing.T) {
	root := t.TempDir()
	a, b, c := filepath.Join(root, "a"), filepath.Join(root, "b"), filepath.Join(root, "c")
	// Fold 0 under three seeds: after half of the schedule their best is .5, .9 and .7; later it is the same for two of them.
	writeCurve(t, a, 0, .1, .5, .8, .8)
	writeCurve(t, b, 0, .9, .6, .8, .7) // its best is early
	writeCurve(t, c, 0, .1, .7, .8, .8)
	// Fold 1 under two: its own noise is .02*sqrt(.5); it takes that of all folds.
	writeCurve(t, a, 1, .5, .5, .60)
	writeCurve(t, b, 1, .5, .5, .62)
	// Fold 2 under one only.
	writeCurve(t, a, 2, .5)
	got, err := seedMargins([]string{a, b, c}, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	// At half of it fold 0 has .5, .9 and .7: variance .04.
	v0, v1 := .04, .0002
	pooled := (2*v0 + v1) / 3
	want := map[int]float64{0: 2 * math.Sqrt(2*v0), 1: 2 * math.Sqrt(2*pooled), 2: 2 * math.Sqrt(2*pooled)}
	if len(got) != len(want) {
		t.Fatalf("%v", got)
	}
	for k := range want {
		if math.Abs(got[k]-want[k]) > 1e-12 {
			t.Errorf("fold %d: %v, want %v", k, got[k], want[k])
		}
	}
	var wrong *runnerpack.SpecError
	if _, err := seedMargins([]string{writeCurve(t, filepath.Join(root, "d"), 0, .5), writeCurve(t, filepath.Join(root, "e"), 0, .6)}, 0.3); !errors.As(err, &wrong) || wrong.Field != "prune-seeds" {
		t.Errorf("two numbers are no noise: %v", err)
	}
	if _, err := seedMargins([]string{a, t.TempDir()}, 0.3); !errors.As(err, &wrong) {
		t.Errorf("a folder without curves: %v", err)
	}
}

// TestPruneRuleTakesSeedNoise: the second rule reaches the packer, fold by fold, and needs no margin of the person's.
func TestPruneRuleTakesSeedNoise(t *testing.T) {
	project := t.TempDir()
	for n, dir := range []string{"base", "base_s1", "base_s2"} {
		for k := range 2 {
			writeCurve(t, filepath.Join(project, "artifacts", dir), k, .5, .6+.01*float64(n), .7+.01*float64(n)*float64(k+1))
		}
	}
	p, err := packSpec(BuildSpec{Project: project, Name: "idea", Command: "python src/train.py", PruneAgainst: "base", PruneSeeds: []string{"base_s1", "base_s2"}}, "sam-roe")
	if err != nil {
		t.Fatal(err)
	}
	if m := p.Baseline.FoldMargins; len(m) != 2 || math.Abs(m[0]-2*math.Sqrt2*.01) > 1e-12 || math.Abs(m[1]-2*math.Sqrt2*.02) > 1e-12 {
		t.Errorf("margins %v", m)
	}
	if p.Baseline.Margin != p.Baseline.FoldMargins[1] {
		t.Errorf("a fold without a margin of its own has %v, want the widest", p.Baseline.Margin)
	}
	if _, err := packSpec(BuildSpec{Project: project, Name: "idea", PruneSeeds: []string{"base_s1"}}, "sam-roe"); err == nil {
		t.Error("seeds without a reference were accepted")
	}
	if _, err := packSpec(BuildSpec{Project: project, Name: "idea", PruneAgainst: "base", PruneSeeds: []string{"nowhere"}}, "sam-roe"); err == nil {
		t.Error("a folder that is not there was accepted")
	}
}
