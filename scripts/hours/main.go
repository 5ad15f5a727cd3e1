// Command hours prints what a year of weekly hours becomes under each way of planning: package yearsim's table.
package main

import (
	"flag"
	"fmt"
	"time"

	"sandglass/planner"
	"sandglass/planner/yearsim"
)

func main() {
	seeds := flag.Int("seeds", 1000, "years to play of the three ways of planning; a tenth of it for their variants")
	configs := flag.Int("configs", 1000, "configurations to try the caps on")
	flag.Parse()
	began := time.Now()
	p := yearsim.Default()
	fmt.Printf("%d weeks x %d seeds (%d for the variants); share of the allowance in %%, mean (5th to 95th percentile of the years)\n", p.Weeks, *seeds, max(*seeds/10, 1))
	for _, pool := range []planner.Pool{planner.GPU, planner.TPU} {
		fmt.Printf("\n%-42s %-20s %-20s %6s %9s %-16s %7s %-18s %5s  %s\n", pool.PoolName(), "used", "kept work", "idle", "start-up", "killed", "failed", "expired", "/week", "cap held (stated)")
		for i, pol := range yearsim.Published() {
			n := *seeds
			if i >= yearsim.Headline {
				n = max(n/10, 1)
			}
			f := pol.Play(p, pool, n)
			held := "-"
			if f.Sized > 0 {
				held = fmt.Sprintf("%.1f (%.1f)", 100*f.Holding(), 100*(1-f.Stated))
			}
			fmt.Printf("%-42s %-20s %-20s %6.2f %9.2f %-16s %7.2f %-18s %5.1f  %s\n", pol.Name, wide(f.Used), wide(f.Kept),
				100*f.Idle.Mean, 100*f.Overhead.Mean, wide(f.Killed), 100*f.Failed.Mean, wide(f.Expired), f.SessionsAWeek, held)
		}
	}
	fmt.Printf("\n%.0f s so far\n", time.Since(began).Seconds())
	if *configs > 0 {
		calibration(p, *configs)
	}
	fmt.Printf("\n%.0f s\n", time.Since(began).Seconds())
}

func wide(s yearsim.Spread) string {
	return fmt.Sprintf("%5.2f (%.1f-%.1f)", 100*s.Mean, 100*s.P5, 100*s.P95)
}

func calibration(p yearsim.Params, n int) {
	fmt.Printf("\nSizeCap at 95 %%: sessions of five folds, %d configurations, what held in %%, by the number of earlier sessions\n%-42s", n, "(+s: told which session a fold is from; +u: start-ups measured)")
	for _, head := range []string{"one fold's bound", "session's bound, tasks alone", "cap, not stopped", "cap, as stated"} {
		fmt.Printf(" %-36s |", head)
	}
	fmt.Printf("\n%-32s", "")
	for range 4 {
		fmt.Printf(" %5s %5d %5d %5d %5d %5d  |", "fold", 1, 2, 3, 5, 10)
	}
	fmt.Println()
	worlds := []struct {
		name           string
		shared, single float64
	}{{"noise 8 % shared, 10 % own", 0.08, 0.10}, {"noise 3 %, 5 %", 0.03, 0.05}, {"noise 15 %, 5 %", 0.15, 0.05}, {"noise 15 %, 20 %", 0.15, 0.20}}
	for i, world := range worlds {
		for _, k := range []yearsim.Knows{{}, {Sessions: true}, {Sessions: true, StartUp: true}} {
			for _, pool := range []planner.Pool{planner.GPU, planner.TPU} {
				if i > 0 && (!k.Sessions || k.StartUp || pool == planner.TPU) {
					continue
				}
				p := p
				p.SessionSigma, p.FoldNoise = world.shared, world.single
				fmt.Printf("%-4s%-28s", pool.PoolName(), world.name+told(k))
				rows := yearsim.Calibrate(p, pool, 0.95, k, n)
				for _, part := range []func(yearsim.Calibration) float64{
					func(c yearsim.Calibration) float64 { return c.Task },
					func(c yearsim.Calibration) float64 { return c.Bound },
					func(c yearsim.Calibration) float64 { return c.Cap },
					func(c yearsim.Calibration) float64 { return c.Stated },
				} {
					for _, c := range rows {
						fmt.Printf(" %5.1f", 100*part(c))
					}
					fmt.Print("  |")
				}
				fmt.Println()
			}
		}
	}
}

func told(k yearsim.Knows) string {
	switch {
	case k.StartUp:
		return " +s+u"
	case k.Sessions:
		return " +s"
	}
	return ""
}
