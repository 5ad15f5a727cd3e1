package yearsim

import (
	"testing"

	"sandglass/planner"
)

// benchSeeds are few enough for a look; scripts/bench hours plays a thousand.
const benchSeeds = 50

// BenchmarkYear prints what becomes of a week's hours, in percent of the allowance, and the cap's chance to hold.
func BenchmarkYear(b *testing.B) {
	for _, pool := range pools {
		for _, pol := range []Policy{Peer(), Planner("planner", 0.95, Without{}), Omniscient()} {
			b.Run(pool.PoolName()+"/"+pol.Name, func(b *testing.B) {
				var f Figures
				for b.Loop() {
					f = pol.Play(Default(), pool, benchSeeds)
				}
				report(b, f)
			})
		}
	}
}

func report(b *testing.B, f Figures) {
	b.ReportMetric(100*f.Used.Mean, "%used")
	b.ReportMetric(100*f.Kept.Mean, "%kept")
	b.ReportMetric(100*f.Idle.Mean, "%idle")
	b.ReportMetric(100*f.Overhead.Mean, "%startup")
	b.ReportMetric(100*f.Killed.Mean, "%killed")
	b.ReportMetric(100*f.Failed.Mean, "%failed")
	b.ReportMetric(100*f.Expired.Mean, "%expired")
	if f.Sized > 0 {
		b.ReportMetric(100*f.Holding(), "%capheld")
		b.ReportMetric(100*(1-f.Stated), "%capstated")
	}
}

// BenchmarkCalibration prints how often the 95 % bound held after three measured sessions.
func BenchmarkCalibration(b *testing.B) {
	for _, pool := range []planner.Pool{planner.GPU, planner.TPU} {
		b.Run(pool.PoolName(), func(b *testing.B) {
			var c []Calibration
			for b.Loop() {
				c = Calibrate(Default(), pool, 0.95, Knows{}, 200)
			}
			b.ReportMetric(100*c[3].Bound, "%boundheld")
			b.ReportMetric(100*c[3].Cap, "%capheld")
		})
	}
}
