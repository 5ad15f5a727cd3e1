package planner

import "time"

// PlanAsk is everything a plan until a deadline rests on.
type PlanAsk struct {
	Now, Deadline time.Time
	RefreshAt     time.Time // any one reset; zero = Saturday 00:00 UTC
	GPU, TPU      PlanPool
	Items         []PlanItem
}

// PlanPool is one pool at Now. Hours.
type PlanPool struct {
	Known  bool
	LeftH  float64  // what a new run can count on this week
	WeekH  float64  // what a reset brings
	Slots  int      // sessions at once; 0 = Slots(pool)
	LimitH float64  // longest session; 0 = SessionLimit(pool)
	QueueH float64  // wait of a session before it starts
	Costs  RunCosts // measured; zero = not known
}

// RunCosts are measured costs of a project's runs. Hours of one task on one device.
type RunCosts struct {
	FoldH    float64 // a fold at full settings; 0 = not known
	ScreenH  float64 // one fold at reduced settings; 0 = FoldH
	Folds    int     // of a promotion; 0 = not known
	Runs     int     // measured runs that they rest on
	Pruned   float64 // share of screens that are pruned, 0 to 1
	PrunedAt float64 // share of its run that a pruned one has cost, 0 to 1
}

// PlanItem is one run that could be started.
type PlanItem struct {
	ID        string // of the caller
	Name      string
	Pool      Pool
	Hours     float64 // it will probably burn
	CapH      float64 // 0 = Hours
	SD        float64 // of the logarithm of Hours; 0 = certain
	Gain      float64 // expected gain in score, positive is better
	GainSD    float64
	Validated bool   // ready to start: the script ran, the idea is worth its hours
	Resume    bool   // goes on with a run that has work left
	WhyNot    string // a reason to leave it alone
}

// SeasonPlan is what the hours until the deadline are for.
type SeasonPlan struct {
	Now, Deadline time.Time
	Resets        []time.Time // after now and before the deadline
	Windows       []PlanWindow
	GPU, TPU      PoolPlan
	Start         []Suggestion // what to start now, in this order
	Leave         []Suggestion // what not to start, and why
}

// PlanWindow is the time between two resets, or to the deadline.
type PlanWindow struct {
	From, To time.Time
	Final    bool // the last one
	GPU, TPU PlanShare
}

// PlanShare is one pool in one window. Hours.
type PlanShare struct {
	QuotaH, UsableH, LostH     float64
	ReserveH, SlackH, ExploreH float64
	Blocks                     []PlanBlock
}

// PlanBlock is a piece of a window's hours for a chart.
type PlanBlock struct {
	Kind  string // "start", "screens", "promotion", "final", "slack", "free", "lost"
	Label string
	Hours float64
}

// PoolPlan is one pool until the deadline. Hours.
type PoolPlan struct {
	Known     bool
	NowH      float64 // left now
	TotalH    float64 // now and from every reset
	UsableH   float64 // of them burnable with the sessions there are
	ReserveH  float64 // kept for the final week
	SlackH    float64 // part of ReserveH: one or two sessions for what goes wrong
	ExploreH  float64 // UsableH - ReserveH
	ExpiringH float64 // of NowH, lost at the next reset whatever is started
	FreeH     float64 // of NowH, burnable before the reset and not filled by Start
	Budget    *ExploreBudget
}

// ExploreBudget is ExploreH in screens and promotions.
type ExploreBudget struct {
	Screens, Promotions int
	ScreenH, PromotionH float64 // quota hours of one
}

// Suggestion is one thing to do or to leave.
type Suggestion struct {
	ID    string
	Name  string
	Pool  Pool
	Do    string // "start", "resume", "leave"
	Hours float64
	Gain  float64 // expected improvement, weighted with the chance to be done in time
	Why   string
}

// PlanUntil plans the hours until the deadline.
func PlanUntil(ask PlanAsk) SeasonPlan { return SeasonPlan{Now: ask.Now, Deadline: ask.Deadline} }
