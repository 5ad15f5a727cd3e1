package app

import "time"

// WaitOptions says how to wait for a run.
type WaitOptions struct {
	Collect  bool          // fetch the outputs when it has ended
	Weights  bool          // with Collect: model weights too
	Interval time.Duration // between two looks at Kaggle; 0 = adaptive
	Max      time.Duration // give up after this long; 0 = never
}

// CollectOptions says what to fetch and where to put it.
type CollectOptions struct {
	Weights bool   // model weights too (left out by default, by suffix)
	Dir     string // everything below this folder, instead of into the project
	Pattern string // only paths that match this regular expression
}
