package planner

// Kind is what a person calls the model.
type Kind string

// The kinds.
const (
	KindTransformer Kind = "transformer"
	KindCNN         Kind = "cnn"
	KindTabular     Kind = "tabular"
	KindOther       Kind = "other"
)

// WorkClass is what decides how fast a machine is for a job.
type WorkClass string

// The classes.
const (
	WorkFP32        WorkClass = "fp32"        // cannot use 16 bits
	WorkConv        WorkClass = "conv"        // convolutions or ViT, static shapes, AMP
	WorkTransformer WorkClass = "transformer" // fine-tuning, padded to a fixed length
	WorkTiny        WorkClass = "tiny"        // launch- or input-bound
	WorkDynamic     WorkClass = "dynamic"     // dynamic shapes, gathers, custom CUDA
	WorkTrees       WorkClass = "trees"       // gradient-boosted trees
	WorkOther       WorkClass = "other"       // unknown
)

// Bases of a SpeedRatio.
const (
	BasisMeasured = "measured" // own step times
	BasisHistory  = "history"  // own runs of the same job
	BasisPrior    = "prior"
	BasisNone     = "none" // does not run there at all
)

// SpeedMeasurement is how long the same piece of work took on one device of a shape.
type SpeedMeasurement struct {
	Shape   string
	Seconds float64 // of a step (Step) or of a whole task
	Step    bool
	N       int // how many it is the median of; 0 = 1
}

// SpeedRatio is how much faster one device of a shape is than one T4 with AMP. 0 = does not run.
type SpeedRatio struct {
	Ratio, Low, High float64
	Basis            string
	Source           string
}

// SpeedOf compares one device of a shape (one T4, one TPU chip, a CPU session) with one T4.
func SpeedOf(class WorkClass, shape string, own []SpeedMeasurement) SpeedRatio {
	return SpeedRatio{Basis: BasisNone}
}

// QueueOf gives the wait for a TPU session; see QueueHistory.
type QueueEstimate struct {
	Median, Mean, Low, High float64 // hours; Low and High are the 10 % and 90 % quantiles
	N                       int     // own observations
	Basis                   string  // "prior", "history", "prior and history"
	mu, sigma               float64
}

// EstimateQueue reckons the wait for a session of a pool from a person's own waits in hours, newest first or in any order.
func EstimateQueue(pool Pool, ownHours []float64) QueueEstimate { return QueueEstimate{} }
