package app

import "slices"

// FillOffer is a way to use a device that the last round of tasks leaves idle: a sentence without flags, the flags that add it to
// the build, and the same for [FillOffer.Apply]. JobCommand is a further job to add, else Launcher trains Folds of the first job
// over all cards; with neither only a person can fill it in.
type FillOffer struct {
	Text       string `json:"text"`
	Flag       string `json:"flag"`
	JobName    string `json:"job_name"`
	JobCommand string `json:"job_command"`
	Folds      []int  `json:"folds"`
	Launcher   string `json:"launcher"`
}

// CanApply says that nothing has to be filled in by a person.
func (o FillOffer) CanApply() bool { return o.JobCommand != "" || o.Launcher != "" }

// Apply is s with the offer taken. An offer that only a person can fill in changes nothing.
func (o FillOffer) Apply(s BuildSpec) BuildSpec {
	switch {
	case o.JobCommand != "":
		s.ExtraJobs = append(slices.Clone(s.ExtraJobs), JobSpec{Name: o.JobName, Command: o.JobCommand, Folds: slices.Clone(o.Folds)})
	case o.Launcher != "":
		s.Launcher, s.WideFolds = o.Launcher, slices.Clone(o.Folds)
	}
	return s
}
