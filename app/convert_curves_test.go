package app

import (
	"math"
	"testing"

	"sandglass/app/runlog"
)

// A curve file says how long each epoch took; a view says when it ended.
func TestCurveViewsAddUpTheEpochs(t *testing.T) {
	got := curveViews([]runlog.Curve{{Job: "a", Fold: 2, Epochs: 4, Points: []runlog.Point{
		{Epoch: 0, Score: .5, Seconds: 2}, {Epoch: 1, Score: .6, Seconds: 3}, {Epoch: 2, Score: .7, Seconds: math.NaN()}}}})
	p := got[0].Points
	if p[0].Seconds != 2 || p[1].Seconds != 5 || !math.IsNaN(p[2].Seconds) {
		t.Errorf("seconds %v %v %v", p[0].Seconds, p[1].Seconds, p[2].Seconds)
	}
	if p[0].Frac != .25 || p[1].Frac != .5 || got[0].Fold != 2 {
		t.Errorf("%+v", got)
	}
}
