package desktop

import (
	"fmt"
	"testing"
	"time"

	"sandglass/app"
)

func TestRunsViewFiltersCountsAndSums(t *testing.T) {
	now := time.Date(2026, 12, 2, 15, 0, 0, 0, time.UTC)
	s := 0.851
	all := []app.RunRow{
		{ID: 3, Name: "vit-xla", State: app.StateQueued, Pool: app.PoolTPU, CapHours: 9, PushedAt: now.Add(-5 * time.Hour)},
		{ID: 2, Name: "cnx384", State: app.StateComplete, Outcome: app.OutcomeComplete, Ended: true, Collected: true, Pool: app.PoolGPU, CapHours: 7, Hours: 4.8, Score: &s, Metric: "AUC"},
		{ID: 1, Name: "effv2", State: app.StateError, Ended: true, Pool: app.PoolGPU, CapHours: 5, Hours: 0.2},
	}
	needs := map[int64]bool{1: true}
	for chip, want := range map[string][]int64{"all": {3, 2, 1}, "flight": {3}, "needs": {1}, "gpu": {2, 1}, "tpu": {3}, "cpu": nil} {
		v := newRunsView(all, needs, chip, "", now)
		if fmt.Sprint(v.IDs) != fmt.Sprint(want) || (v.Empty != "") != (want == nil) {
			t.Errorf("%s: %v, want %v; empty %q", chip, v.IDs, want, v.Empty)
		}
		if v.Summary != "3 runs · 5.0 GPU-h · 0.0 TPU-h" || v.Counts["flight"] != "1" || v.Counts["needs"] != "1" {
			t.Errorf("%s: summary %q, counts %v", chip, v.Summary, v.Counts)
		}
	}
	cells := newRunsView(all, needs, "all", "", now).Rows[1]
	if cells[5].Text != "AUC 0.851" || cells[3].Text != "7.0" || cells[4].Text != "4.8" || cells[1].Status.Word != "Collected" {
		t.Errorf("cells %+v", cells)
	}
	if v := newRunsView(nil, nil, "all", "", now); !v.First {
		t.Error("no run at all must offer the first step")
	}
	if v := newRunsView(nil, nil, "all", "xyz", now); v.First || v.Empty == "" {
		t.Error("a search without a hit is not the same as having no runs")
	}
}
