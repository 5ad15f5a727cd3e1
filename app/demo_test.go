package app

import (
	"os/exec"
	"testing"
	"time"

	"sandglass/app/keychain"
)

// The demo from nothing to a collected run with curves against its baseline, in
// the embedded sandbox with a real Python.
func TestDemo(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3")
	}
	if testing.Short() {
		t.Skip("takes a minute")
	}
	a, err := Open(t.Context(), Options{Home: t.TempDir(), Getenv: envOf(nil), Keychain: keychain.Memory(), Log: testLog(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer closeApp(t, a)
	began := time.Now()
	row, err := a.StartDemo(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := a.Wait(t.Context(), row.Kernel, WaitOptions{Collect: true, Max: 2 * time.Minute}, nil)
	if err != nil {
		t.Fatalf("%v; state %s %s %s", err, v.State, v.Failure, v.Status)
	}
	t.Logf("the demo took %s", time.Since(began).Round(time.Second))
	if v.Outcome != OutcomeComplete || !v.Collected || v.Score == nil {
		t.Fatalf("outcome %q, collected %v, score %v, failure %q, findings %+v", v.Outcome, v.Collected, v.Score, v.Failure, v.Findings)
	}
	if v.BaselineScore == nil || *v.Score <= *v.BaselineScore {
		t.Errorf("score %v against the baseline's %v: the idea should beat it", *v.Score, v.BaselineScore)
	}
	if len(v.Curves) != 5 || len(v.Baseline) != 5 || len(v.Tasks) != 5 {
		t.Errorf("%d curves, %d of the baseline, %d tasks, want 5 each", len(v.Curves), len(v.Baseline), len(v.Tasks))
	}
	if v.Hours <= 0 || v.LogLines == 0 || len(v.Parts) == 0 || len(v.Files) == 0 {
		t.Errorf("hours %.2f, %d log lines, %d parts, %d files", v.Hours, v.LogLines, len(v.Parts), len(v.Files))
	}
	week, err := a.Week(t.Context())
	if err != nil || len(week.GPU) != weeksShown || week.GPU[weeksShown-1].Kept <= 0 {
		t.Errorf("week: %+v %v", week.GPU, err)
	}
}
