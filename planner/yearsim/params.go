package yearsim

import "sandglass/planner"

// Charge is the rule by which a session that crosses the reset is paid. Kaggle documents none.
type Charge int

const (
	// ByEnd charges all of it to the week it ends in: the hours of the old week expire although a session ran. The
	// pessimistic one; all published figures use it.
	ByEnd Charge = iota
	// ByStart charges all of it to the week it starts in.
	ByStart
	// Split charges each week what ran in it.
	Split
)

// Params is the world. Hours unless the name says otherwise; shares and chances are 0 to 1; Sigma is the standard
// deviation of a logarithm. All of it is ours, chosen and not measured, except limits, quota and the TPU queue's two
// points (themselves a prior between contradicting reports).
type Params struct {
	Weeks  int
	Charge Charge

	// The person is awake 16 h a day in a time zone of their own (drawn by seed) and looks at the laptop at
	// exponential intervals while awake. Every look can authorise pushes.
	LookEveryH float64
	AlwaysOn   bool    // the laptop stays on at night; else it is on, with the app in the tray, while the person is awake
	LateH      float64 // nothing is pushed in the first LateH hours of a week: the person has other things to do

	// Work. A configuration (one script, one machine, one data set) has a true median time per fold and comes back in
	// several jobs; its runs so far are the history that a cap is sized from.
	NewShare   float64 // chance that a job is of a new configuration
	Recent     int     // otherwise it is one of so many last ones
	OwnShare   float64 // share of configurations that save no checkpoints: a fold that is stopped is lost
	FoldH      map[planner.Pool]float64
	FoldSigma  map[planner.Pool]float64
	GuessSigma float64 // of the estimate before the first run (a rehearsal), as a factor on the true median

	// Run-time noise of a fold: true median x exp(session) x exp(fold). The first is shared by all folds of a session
	// (another machine, a slower disk), the second is each fold's own.
	SessionSigma float64
	FoldNoise    float64

	// Start-up, charged: a part before the script runs, and a part in it (inputs, installs, first compile).
	BootH, StartH map[planner.Pool]float64
	StartSigma    float64
	TailH         float64 // assembly, manifest

	// Failures.
	EarlyCrash float64 // chance that a session dies of its own within its first ten minutes
	FoldCrash  float64 // chance that a fold fails on the way; it begins again in the next session
	InfraPerH  float64 // rate at which a session dies with all it had

	QueueMedianH, QueueP90H float64 // the TPU's
	GPUStartH               float64 // from push to running on a GPU

	CheckpointH float64 // between two saves; what a kill at the cap costs of work that saves
}

// Default is the world of the published figures.
func Default() Params {
	return Params{
		Weeks:      52,
		LookEveryH: 2,
		NewShare:   0.2, Recent: 6, OwnShare: 0.25,
		FoldH:        map[planner.Pool]float64{planner.GPU: 1.2, planner.TPU: 1.5},
		FoldSigma:    map[planner.Pool]float64{planner.GPU: 0.6, planner.TPU: 0.5},
		GuessSigma:   0.3,
		SessionSigma: 0.08, FoldNoise: 0.10,
		BootH:      map[planner.Pool]float64{planner.GPU: 0.02, planner.TPU: 0.08},
		StartH:     map[planner.Pool]float64{planner.GPU: 0.06, planner.TPU: 0.25},
		StartSigma: 0.3, TailH: 0.04,
		EarlyCrash: 0.01, FoldCrash: 0.003, InfraPerH: 0.002,
		QueueMedianH: planner.TPUQueueMedianH, QueueP90H: planner.TPUQueueP90H,
		GPUStartH:   0.01,
		CheckpointH: 1.0 / 3,
	}
}

// allowance is a week's hours of a pool, devices what one session of it has.
func allowance(pool planner.Pool) float64 {
	if pool == planner.TPU {
		return 20
	}
	return 30
}

func devices(pool planner.Pool) int {
	if pool == planner.TPU {
		return 8
	}
	return 2
}
