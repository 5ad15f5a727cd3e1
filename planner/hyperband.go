package planner

import "math"

// Rung is one step of successive halving: N configurations, each with budget R.
type Rung struct {
	N int
	R float64
}

// Hyperband lists the brackets of Hyperband for a largest budget R and a reduction factor eta (2 or more), the one that
// starts most configurations first: bracket s starts ceil((s_max+1)/(s+1) eta^s) of them with R eta^-s each and keeps the
// best 1/eta at every rung.
func Hyperband(r, eta float64) [][]Rung {
	if !(r >= 1) || !(eta >= 2) || math.IsInf(r, 1) || math.IsInf(eta, 1) {
		return nil
	}
	most := int(math.Floor(math.Log(r)/math.Log(eta) + 1e-9))
	var out [][]Rung
	for s := most; s >= 0; s-- {
		n := math.Ceil(float64(most+1)/float64(s+1)*math.Pow(eta, float64(s)) - 1e-9)
		var bracket []Rung
		for i := 0; i <= s; i++ {
			bracket = append(bracket, Rung{N: int(math.Floor(n*math.Pow(eta, -float64(i)) + 1e-9)), R: r * math.Pow(eta, float64(i-s))})
		}
		out = append(out, bracket)
	}
	return out
}

// BracketCost is the budget that a bracket takes when every rung trains its configurations from the start.
func BracketCost(bracket []Rung) float64 {
	sum := 0.0
	for _, g := range bracket {
		sum += float64(g.N) * g.R
	}
	return sum
}
