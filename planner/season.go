package planner

import (
	"fmt"
	"math"
	"time"
)

// PlanAsk is everything a plan until a deadline rests on.
type PlanAsk struct {
	Now, Deadline time.Time
	RefreshAt     time.Time // any one reset; zero = Saturday 00:00 UTC
	GPU, TPU      PlanPool
	Items         []PlanItem // what could be started
}

// PlanPool is one pool at Now, in hours.
type PlanPool struct {
	Known   bool
	LeftH   float64   // what a new run can count on this week
	WeekH   float64   // what a reset brings
	Slots   int       // sessions at once; 0 = Slots(pool)
	Devices int       // tasks at a time in one session; 0 = 2 on GPU, 8 on TPU
	LimitH  float64   // longest session; 0 = SessionLimit(pool)
	QueueH  float64   // wait of a session before it starts
	BusyH   []float64 // until each session in flight is over at the latest
	Costs   RunCosts  // measured; zero = not known
}

// RunCosts are measured costs of a project's runs, in hours of one task on one device.
type RunCosts struct {
	FoldH    float64 // a fold at full settings; 0 = not known
	ScreenH  float64 // one fold at reduced settings; 0 = FoldH
	Folds    int     // of a promotion; 0 = not known
	Runs     int     // measured runs that they rest on
	Pruned   float64 // share of screens that are pruned, 0 to 1
	PrunedAt float64 // share of its run that a pruned one has cost, 0 to 1
}

// SeasonPlan is what the hours until the deadline are for.
type SeasonPlan struct {
	Now, Deadline time.Time
	Resets        []time.Time // after now and before the deadline
	Windows       []PlanWindow
	GPU, TPU      PoolPlan
	Start         []Suggestion // what to start now so that nothing expires, in this order
	Leave         []Suggestion // what not to start, and why
	Advice        []string
}

// PlanWindow is the time between two resets, or to the deadline.
type PlanWindow struct {
	From, To time.Time
	GPU, TPU PlanShare
}

// PlanShare is one pool in one window, in hours. UsableH + LostH = QuotaH and ReserveH + ExploreH = UsableH.
type PlanShare struct {
	QuotaH, UsableH, LostH float64
	ReserveH, ExploreH     float64
	SlackH                 float64 // part of ReserveH
	Blocks                 []PlanBlock
}

// PlanBlock is a piece of a window's hours for a chart. The blocks of a share sum to its UsableH.
type PlanBlock struct {
	Kind  string // "start", "screens", "promotion", "final", "slack", "free"
	Label string
	Hours float64
}

// PoolPlan is one pool until the deadline, in hours.
type PoolPlan struct {
	Known       bool
	NowH        float64 // left now
	TotalH      float64 // now and from every reset
	UsableH     float64 // of them burnable with the sessions there are
	ReserveH    float64 // kept for the final training and the inference: the last week's worth of usable hours
	SlackH      float64 // part of ReserveH: one or two sessions for what goes wrong
	ExploreH    float64 // UsableH - ReserveH
	ExpiringH   float64 // of NowH, lost at the next reset (or the deadline) whatever is started
	FreeH       float64 // of NowH, burnable before that and not filled by Start
	LatestStart time.Time
	Budget      *ExploreBudget // nil: what a run costs is not known
}

// ExploreBudget is ExploreH in screens and promotions.
type ExploreBudget struct {
	Screens, Promotions int
	ScreenH, PromotionH float64 // quota hours of one
	Waves               int     // of a promotion
	Runs                int     // measured runs that the costs rest on
}

// PlanUntil plans the hours until the deadline.
//
// Resets are counted strictly before the deadline, in steps of seven days from the one that Kaggle tells; one at the
// deadline brings nothing any more. What a window can burn is bounded by its sessions: two on GPU, one on TPU, where every
// session waits in a queue first. The last week's worth of what can be burnt is kept for final training and inference, one
// or two sessions of it as slack; the rest is for exploring. What to start now is the exact optimum over the ready items
// (see fill); which week is charged for a session across a reset is not documented, so nothing is planned across one.
func PlanUntil(ask PlanAsk) SeasonPlan {
	p := SeasonPlan{Now: ask.Now.UTC(), Deadline: ask.Deadline.UTC()}
	next := nextReset(ask.RefreshAt, ask.Now)
	for range ResetsBefore(ask.RefreshAt, ask.Now, ask.Deadline) {
		p.Resets = append(p.Resets, next)
		next = next.Add(week)
	}
	if !ask.Deadline.After(ask.Now) {
		return p
	}
	edges := append(append([]time.Time{p.Now}, p.Resets...), p.Deadline)
	for i := range edges[1:] {
		p.Windows = append(p.Windows, PlanWindow{From: edges[i], To: edges[i+1]})
	}
	p.GPU = p.pool(GPU, ask.GPU, ask.Items, func(w *PlanWindow) *PlanShare { return &w.GPU })
	p.TPU = p.pool(TPU, ask.TPU, ask.Items, func(w *PlanWindow) *PlanShare { return &w.TPU })
	return p
}

// pool plans one pool over the windows.
func (p *SeasonPlan) pool(pool Pool, in PlanPool, items []PlanItem, share func(*PlanWindow) *PlanShare) PoolPlan {
	out := PoolPlan{Known: in.Known}
	if !in.Known {
		for _, it := range items {
			if it.Pool == pool {
				p.Leave = append(p.Leave, it.leave("the "+pool.PoolName()+" quota is not known"))
			}
		}
		return out
	}
	in = in.filled(pool)
	shares := make([]*PlanShare, len(p.Windows))
	for i := range p.Windows {
		w := &p.Windows[i]
		s := share(w)
		shares[i] = s
		s.QuotaH = in.WeekH
		hours, busy := w.To.Sub(w.From).Hours(), []float64(nil)
		if i == 0 {
			s.QuotaH, busy = in.LeftH, in.BusyH
		}
		s.UsableH = min(s.QuotaH, in.burnable(hours, busy))
		s.LostH = s.QuotaH - s.UsableH
		out.TotalH += s.QuotaH
		out.UsableH += s.UsableH
	}
	out.NowH, out.ExpiringH = in.LeftH, shares[0].LostH
	out.ReserveH = min(out.UsableH, in.WeekH)
	out.ExploreH = out.UsableH - out.ReserveH
	out.SlackH = slackOf(out.ReserveH, in.promotionH())
	out.LatestStart = p.latestStart(in, shares[0].UsableH)
	out.Budget = in.budget(out.ExploreH)
	reserve(shares, out.ReserveH, out.SlackH)

	started := p.fill(pool, in, items, shares[0].UsableH)
	out.FreeH = max(0, shares[0].UsableH-hoursOfAll(started))
	for i, s := range shares {
		if i == 0 {
			s.blocks(in, started)
		} else {
			s.blocks(in, nil)
		}
	}
	p.advise(pool, in, out, shares[0].UsableH)
	return out
}

// filled gives what was left open its default, and what is below zero nothing.
func (in PlanPool) filled(pool Pool) PlanPool {
	if in.Slots <= 0 {
		in.Slots = Slots(pool)
	}
	if in.Devices <= 0 {
		in.Devices = map[Pool]int{GPU: 2, TPU: 8}[pool]
	}
	if in.LimitH <= 0 {
		in.LimitH = SessionLimit(pool).Hours()
	}
	in.LeftH, in.WeekH, in.QueueH = max(in.LeftH, 0), max(in.WeekH, 0), max(in.QueueH, 0)
	return in
}

// burnable is what the sessions there are can burn within h hours when each waits in the queue first. The ones in flight
// take their slots until they are over.
func (in PlanPool) burnable(h float64, busy []float64) float64 {
	sum := 0.0
	for i := range in.Slots {
		free := h
		if i < len(busy) {
			free -= max(busy[i], 0)
		}
		sum += in.oneSlot(free)
	}
	return sum
}

func (in PlanPool) oneSlot(h float64) float64 {
	if h <= 0 {
		return 0
	}
	if in.QueueH <= 0 {
		return h
	}
	cycle := in.QueueH + in.LimitH
	whole := math.Floor(h / cycle)
	return whole*in.LimitH + max(0, h-whole*cycle-in.QueueH)
}

// latestStart is when all sessions have to be under way at the latest to burn what is usable of the first window; zero
// when that is over already or nothing is left.
func (p *SeasonPlan) latestStart(in PlanPool, usableH float64) time.Time {
	if usableH <= 0 || len(p.Windows) == 0 {
		return time.Time{}
	}
	perSlot := usableH / float64(in.Slots)
	wait := in.QueueH * math.Ceil(perSlot/in.LimitH-weightSlack)
	at := p.Windows[0].To.Add(-hoursLong(perSlot + wait)).Truncate(time.Minute)
	if at.Before(p.Now) {
		return p.Now
	}
	return at
}

// slackOf is one or two sessions of the reserve, a fifth of it when that lies between.
func slackOf(reserveH, promotionH float64) float64 {
	s := reserveH / 5
	if promotionH > 0 {
		s = min(max(s, promotionH), 2*promotionH)
	}
	return min(s, reserveH)
}

// reserve takes the reserve from the last windows backwards, the slack from the very last.
func reserve(shares []*PlanShare, reserveH, slackH float64) {
	for i := len(shares) - 1; i >= 0; i-- {
		s := shares[i]
		s.ReserveH = min(s.UsableH, reserveH)
		s.SlackH = min(s.ReserveH, slackH)
		s.ExploreH = s.UsableH - s.ReserveH
		reserveH -= s.ReserveH
		slackH -= s.SlackH
	}
}

// The mix of exploring: so many screens for each promotion (the protocol has 4 to 6).
const (
	screensPerPromotion     = 5
	mostScreensPerPromotion = 6
)

// screenH and promotionH are quota hours. Screens share a session, so one costs its part of the devices; the folds of a
// promotion run in waves, and the last wave is paid whole: ceil(K/2) c on two cards and not c K/2.
func (in PlanPool) screenH() float64 {
	c := in.Costs.ScreenH
	if c <= 0 {
		c = in.Costs.FoldH
	}
	return c / float64(in.Devices) * PrunedCost(in.Costs.Pruned, in.Costs.PrunedAt)
}

func (in PlanPool) promotionH() float64 { return float64(in.waves()) * in.Costs.FoldH }

func (in PlanPool) waves() int {
	return (in.Costs.Folds + in.Devices - 1) / in.Devices
}

// budget is nil when costs are not known.
func (in PlanPool) budget(exploreH float64) *ExploreBudget {
	b := &ExploreBudget{ScreenH: in.screenH(), PromotionH: in.promotionH(), Waves: in.waves(), Runs: in.Costs.Runs}
	if b.ScreenH <= 0 || b.PromotionH <= 0 {
		return nil
	}
	b.Promotions = int((exploreH + weightSlack) / (screensPerPromotion*b.ScreenH + b.PromotionH))
	b.Screens = min(mostScreensPerPromotion*max(b.Promotions, 1), int((exploreH-float64(b.Promotions)*b.PromotionH+weightSlack)/b.ScreenH))
	return b
}

// mostPromotionBlocks is how many promotions a week shows one by one; more, of a project whose folds take seconds, are one piece.
const mostPromotionBlocks = 12

// blocks cuts a share into the pieces of the chart.
func (s *PlanShare) blocks(in PlanPool, started []Suggestion) {
	left := s.UsableH
	add := func(kind, label string, h float64) {
		if h = min(h, left); h > weightSlack {
			s.Blocks = append(s.Blocks, PlanBlock{kind, label, h})
			left -= h
		}
	}
	for _, x := range started {
		add("start", x.Name, x.Hours)
	}
	if len(started) == 0 {
		if b := in.budget(s.ExploreH); b != nil && s.ExploreH > 0 {
			add("screens", countOf(b.Screens, "screen"), float64(b.Screens)*b.ScreenH)
			if b.Promotions > mostPromotionBlocks {
				add("promotion", countOf(b.Promotions, "promotion"), float64(b.Promotions)*b.PromotionH)
			} else {
				for range b.Promotions {
					add("promotion", "promotion", b.PromotionH)
				}
			}
		}
		add("final", "final models and inference", s.ReserveH-s.SlackH)
		add("slack", "slack", s.SlackH)
	}
	add("free", "free", left)
}

// advise adds what a person should do about one pool beyond the suggestions.
func (p *SeasonPlan) advise(pool Pool, in PlanPool, out PoolPlan, usableH float64) {
	say := func(format string, args ...any) { p.Advice = append(p.Advice, fmt.Sprintf(format, args...)) }
	end := "the reset on " + resetText(p.Windows[0].To)
	if len(p.Resets) == 0 {
		end = "the deadline"
	}
	if out.ExpiringH >= 0.05 {
		say("%.1f of the %s left now cannot be burnt before %s any more, whatever is started.", out.ExpiringH, plural(pool), end)
	}
	if usableH >= ExpiringLeastH && out.LatestStart.After(p.Now) {
		wait := ""
		if in.QueueH > 0 {
			wait = fmt.Sprintf(", with about %s in the queue", hours1(in.QueueH))
		}
		say("To burn all of the %.1f %s before %s, every session has to be under way or queued by %s%s.", usableH, plural(pool), end, resetText(out.LatestStart), wait)
	}
	if days := p.Deadline.Sub(p.Now); days <= week {
		say("It is the last week: %s for final training and inference, %s of them as slack.", hoursOf(hoursLong(out.ReserveH), pool), hours1(out.SlackH))
	}
}
