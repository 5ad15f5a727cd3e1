package desktop

import "sandglass/app"

// status is the run's state in one word for a driving script: "collected" once its files are here.
func (p *runPage) status() string {
	if !p.have {
		return ""
	}
	if p.last.Collected {
		return "collected"
	}
	if p.last.State == app.StateComplete && p.last.Origin == "recorded" {
		return "recorded"
	}
	return p.last.State
}
