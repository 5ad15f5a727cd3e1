package planner

// PoolState is what is known of one pool of quota. nil is unknown.
type PoolState struct {
	LeftH      *float64 // hours a new run can count on this week
	TotalH     *float64 // hours of a week
	ResetInH   *float64
	Busy       int      // sessions that hold a slot now, queued ones included
	FreeInH    *float64 // when all slots are taken: hours until one is free at the latest
	QueueHours []float64
	LimitH     float64 // session limit in hours; 0 = SessionLimit
}

// AcceleratorAsk is what a person knows of a job.
type AcceleratorAsk struct {
	Memory     MemoryAsk // Kind, model, batch, precision, method
	HoursT4    float64   // hours of one task on one T4; 0 = unknown
	Tasks      int       // folds or seeds; 0 = 1
	Framework  string    // torch, jax, tensorflow, sklearn, lightgbm, xgboost, catboost, …; "" = unknown
	Dynamic    bool      // shapes change from batch to batch, or gathers, nonzero, custom CUDA
	Tiny       bool      // a small model, bound by launches or by input
	DICOM      bool      // reads DICOM files in the session
	OneProcess bool      // the command uses one device however many there are
	Own        []SpeedMeasurement
	OwnTasks   map[string][]float64 // hours a task took in own runs of the same job, by shape
	GPU, TPU   PoolState
	Offered    []string // further shapes that Kaggle's answer still offers
}

// AcceleratorOption is one machine, judged.
type AcceleratorOption struct {
	Shape       string // "NvidiaTeslaT4", "TpuV5E8", "none"
	Title       string
	Pool        Pool
	Fits        bool   // nothing that is known says that it does not run or does not fit
	Fit         string // "yes", "tight", "no", "unknown"
	Memory      MemoryEstimate
	UsableGiB   float64 // of one device; 0 = unknown
	Devices     int
	Workers     int // tasks at a time
	Speed       SpeedRatio
	HoursBasis  string         // "given", "history", "unknown"
	QuotaH      *HoursRange    // hours burned of the pool
	Sessions    int            // 0 = unknown
	Queue       *HoursRange    // wait before the session
	Finish      *HoursRange    // hours from now
	LeftAfterH  *float64       // below zero: that much is missing
	Affordable  *bool          // nil unknown
	Recommended bool           // the first, if it can be recommended at all
	Changes     []MemoryChange // what would make it fit, the gentlest first
	Reasons     []string
	Doubts      []string
}

// HoursRange is hours as a range.
type HoursRange struct{ Low, Likely, High float64 }

// MemoryChange is a change that makes a job fit.
type MemoryChange struct {
	Text            string
	LowGiB, HighGiB float64
	Ask             MemoryAsk
}

// RankAccelerators judges every machine there is for a job, the best first.
func RankAccelerators(ask AcceleratorAsk) []AcceleratorOption { return nil }
