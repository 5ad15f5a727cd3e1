package app

import (
	"fmt"
	"math"
	"path/filepath"

	"sandglass/runnerpack"
)

// seedMargins gives each fold a margin of its own: what two runs of the same idea may differ by on that fold because their seeds
// differ. dirs are folders with curves of one idea, the reference first; one seed a folder.
//
// The margin is two standard deviations of such a difference, 2*sqrt(2)*sigma. sigma is the fold's own with three runs of it and
// more; with fewer it is that of all folds together, since a deviation of two numbers says next to nothing. It is taken where the
// best score so far differs most at and after minFrac of the schedule, because that is where folds are pruned.
func seedMargins(dirs []string, minFrac float64) (map[int]float64, error) {
	byFold := map[int][]runnerpack.Curve{}
	for _, dir := range dirs {
		curves, err := runnerpack.ReadCurves(dir)
		if err != nil {
			return nil, fmt.Errorf("read the curves of another seed in %s: %w", dir, err)
		}
		if len(curves) == 0 {
			return nil, &runnerpack.SpecError{Field: "prune-seeds", Reason: fmt.Sprintf("%s has no curve_fold<k>.json", filepath.Base(dir))}
		}
		for _, c := range curves {
			byFold[c.Fold] = append(byFold[c.Fold], c)
		}
	}
	own := map[int]float64{} // variances
	var sum, freedom float64
	for k, curves := range byFold {
		if len(curves) < 2 {
			continue
		}
		own[k] = seedVariance(curves, minFrac)
		sum += own[k] * float64(len(curves)-1)
		freedom += float64(len(curves) - 1)
	}
	if freedom < 2 {
		return nil, &runnerpack.SpecError{Field: "prune-seeds", Reason: "the noise between seeds needs one fold under three seeds, or two folds under two, in the reference and in these folders together"}
	}
	out := map[int]float64{}
	for k, curves := range byFold {
		v := sum / freedom
		if len(curves) >= 3 {
			v = own[k]
		}
		out[k] = 2 * math.Sqrt(2*v)
	}
	return out, nil
}

// seedVariance is the largest variance, over the schedule from minFrac on, of the best score so far under several seeds.
func seedVariance(curves []runnerpack.Curve, minFrac float64) float64 {
	var largest float64
	for _, p := range curves[0].Points {
		frac := float64(p.Epoch+1) / schedule(curves[0])
		if frac < minFrac {
			continue
		}
		var scores []float64
		for _, c := range curves {
			if b, ok := bestUntil(c, frac); ok {
				scores = append(scores, b)
			}
		}
		if len(scores) == len(curves) {
			largest = max(largest, variance(scores))
		}
	}
	return largest
}

// schedule is the length of a curve's schedule in epochs.
func schedule(c runnerpack.Curve) float64 { return float64(max(c.Epochs, len(c.Points), 1)) }

// bestUntil is the best score of a curve up to a share of its schedule.
func bestUntil(c runnerpack.Curve, frac float64) (float64, bool) {
	cut := c
	cut.Points = nil
	for _, p := range c.Points {
		if float64(p.Epoch+1)/schedule(c) <= frac+1e-9 {
			cut.Points = append(cut.Points, p)
		}
	}
	return bestOf(cut)
}

// variance of at least two values, with n-1.
func variance(values []float64) float64 {
	var mean, ss float64
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		ss += (v - mean) * (v - mean)
	}
	return ss / float64(len(values)-1)
}
