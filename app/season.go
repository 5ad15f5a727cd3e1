package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sandglass/app/runlog"
	"sandglass/planner"
)

// SeasonAsk asks for a plan until a deadline. Hours that are given here win over the account's; with them nobody has to be
// signed in.
type SeasonAsk struct {
	Deadline           time.Time
	Zoneless           bool      // the person named no time zone with it, see NamesZone
	Now                time.Time // zero = now
	Live               bool      // ask Kaggle for the quota first
	GPULeft, TPULeft   *float64  // hours left of this week
	GPUTotal, TPUTotal *float64  // hours that a reset brings
	RefreshAt          time.Time // any one reset; zero = as Kaggle says, else Saturday 00:00 UTC
}

// SeasonView is what the hours until the deadline are for.
type SeasonView struct {
	Now         time.Time      `json:"now"`
	Deadline    time.Time      `json:"deadline"`
	Resets      []time.Time    `json:"resets"`
	GPU         SeasonPool     `json:"gpu"`
	TPU         SeasonPool     `json:"tpu"`
	Windows     []SeasonWindow `json:"windows"`     // between the resets, for a calendar
	Suggestions []Suggestion   `json:"suggestions"` // what to start now, then what to leave
	Advice      []string       `json:"advice"`
	Assumed     []string       `json:"assumed"` // what Kaggle did not say and is taken for granted
	Quota       QuotaView      `json:"-"`       // the reading that it rests on; FetchedAt zero = none
}

// SeasonPool is one pool until the deadline, in hours; nil when the pool is not known.
type SeasonPool struct {
	Known       bool          `json:"known"`
	NowH        *float64      `json:"now_h"`
	TotalH      *float64      `json:"total_h"`    // now and from every reset
	UsableH     *float64      `json:"usable_h"`   // of them burnable with the sessions there are
	ReserveH    *float64      `json:"reserve_h"`  // kept for final training and inference
	SlackH      *float64      `json:"slack_h"`    // part of the reserve, for what goes wrong
	ExploreH    *float64      `json:"explore_h"`  // usable_h - reserve_h
	ExpiringH   *float64      `json:"expiring_h"` // of now_h, lost at the next reset whatever is started
	FreeH       *float64      `json:"free_h"`     // of now_h, burnable before that and not filled by a suggestion
	LatestStart *time.Time    `json:"latest_start"`
	Budget      *SeasonBudget `json:"budget"`
}

// SeasonBudget is explore_h in screens and promotions, from measured costs.
type SeasonBudget struct {
	Screens    int     `json:"screens"`
	Promotions int     `json:"promotions"`
	ScreenH    float64 `json:"screen_h"`
	PromotionH float64 `json:"promotion_h"` // in whole waves
	Waves      int     `json:"waves"`
	Runs       int     `json:"runs"` // measured
}

// SeasonWindow is the time between two resets, or to the deadline.
type SeasonWindow struct {
	From  time.Time   `json:"from"`
	To    time.Time   `json:"to"`
	Hours float64     `json:"hours"`
	GPU   SeasonShare `json:"gpu"`
	TPU   SeasonShare `json:"tpu"`
}

// SeasonShare is one pool in one window, in hours.
type SeasonShare struct {
	QuotaH   float64       `json:"quota_h"`
	UsableH  float64       `json:"usable_h"`
	LostH    float64       `json:"lost_h"`
	ReserveH float64       `json:"reserve_h"`
	SlackH   float64       `json:"slack_h"`
	ExploreH float64       `json:"explore_h"`
	Blocks   []SeasonBlock `json:"blocks"` // they sum to usable_h
}

// SeasonBlock is a piece of a window: start, screens, promotion, final, slack, free.
type SeasonBlock struct {
	Kind  string  `json:"kind"`
	Label string  `json:"label"`
	Hours float64 `json:"hours"`
}

// Suggestion is one thing to do (start, resume) or to leave.
type Suggestion struct {
	Do      string   `json:"do"`
	Name    string   `json:"name"`
	Pool    string   `json:"pool"`
	Hours   *float64 `json:"hours"`   // to spend on it now
	Partial bool     `json:"partial"` // hours are a part of it
	Gain    *float64 `json:"gain"`    // expected improvement; null = not known
	Why     string   `json:"why"`
	Backlog int64    `json:"backlog"` // number in the backlog; 0 = none
	Run     int64    `json:"run"`     // to resume; 0 = none
	Kernel  string   `json:"kernel"`
}

// Season plans the hours until the deadline (planner.PlanUntil).
func (a *App) Season(ctx context.Context, ask SeasonAsk) (SeasonView, error) {
	now := ask.Now
	if now.IsZero() {
		now = a.now()
	}
	switch {
	case ask.Deadline.IsZero():
		return SeasonView{}, &CallError{Reason: "a plan needs a deadline", Action: "Give a date such as 2026-10-22, which is the end of that day in UTC, or a time such as 2026-10-22T18:00Z."}
	case !ask.Deadline.After(now):
		return SeasonView{}, &CallError{Reason: fmt.Sprintf("the deadline, %s, has passed", stamp(ask.Deadline)), Action: "Give a deadline that is still to come."}
	case ask.Deadline.Sub(now) > 10*366*24*time.Hour:
		return SeasonView{}, &CallError{Reason: "the deadline is more than ten years away", Action: "Check its year."}
	}
	acc, err := a.Account(ctx)
	if err != nil && !errors.Is(err, ErrNoAccount) {
		return SeasonView{}, err
	}
	p := planner.PlanAsk{Now: now, Deadline: ask.Deadline, RefreshAt: ask.RefreshAt}
	var v SeasonView
	if ask.Zoneless {
		v.Assumed = append(v.Assumed, "the deadline names no time zone and is "+stamp(ask.Deadline))
	}
	if acc.ID != 0 {
		if v.Quota, err = a.seasonQuota(ctx, acc, ask.Live, now); err != nil {
			return v, err
		}
		if err := a.seasonFacts(ctx, acc, &p, now); err != nil {
			return v, err
		}
	}
	v.assume(ask, &p)
	rows, err := a.store.Backlog(ctx)
	if err != nil {
		return v, err
	}
	p.Items = append(backlogItems(rows), p.Items...)
	v.fill(planner.PlanUntil(p))
	return v, nil
}

// seasonQuota is the quota at a time; with live it is asked for first, and the last reading stands in when there is no answer.
func (a *App) seasonQuota(ctx context.Context, acc Account, live bool, now time.Time) (QuotaView, error) {
	var asked error
	if live {
		a.catchUp(ctx, acc)
		asked = a.readQuota(ctx, acc)
	}
	q, err := a.quotaAt(ctx, acc, now)
	if err != nil {
		return q, err
	}
	if q.Live = live && asked == nil; !q.Live {
		q.Why = "not asked again"
	}
	if asked != nil {
		q.Why = asked.Error()
	}
	return q, nil
}

// assume puts the hours together: given, else read, else what Kaggle usually gives, and then it says so.
func (v *SeasonView) assume(ask SeasonAsk, p *planner.PlanAsk) {
	if p.RefreshAt.IsZero() {
		p.RefreshAt = v.Quota.RefreshAt
	}
	if p.RefreshAt.IsZero() {
		v.Assumed = append(v.Assumed, "the hours reset on Saturday 00:00 UTC")
	}
	for _, x := range []struct {
		name        string
		read        PoolView
		left, total *float64
		week        float64
		to          *planner.PlanPool
	}{{"GPU", v.Quota.GPU, ask.GPULeft, ask.GPUTotal, 30, &p.GPU}, {"TPU", v.Quota.TPU, ask.TPULeft, ask.TPUTotal, 20, &p.TPU}} {
		x.to.Known = x.read.Known || x.left != nil
		x.to.LeftH, x.to.WeekH = x.read.Left, x.read.Total
		if x.left != nil {
			x.to.LeftH = *x.left
		}
		switch {
		case x.total != nil:
			x.to.WeekH = *x.total
		case x.to.Known && !x.read.Known:
			x.to.WeekH = x.week
			v.Assumed = append(v.Assumed, fmt.Sprintf("a week has %.0f %s-hours", x.week, x.name))
		}
	}
	if p.TPU.QueueH == 0 {
		p.TPU.QueueH = planner.EstimateQueue(planner.TPU, nil).Median
	}
}

// fill takes over the planner's plan.
func (v *SeasonView) fill(p planner.SeasonPlan) {
	v.Now, v.Deadline, v.Resets, v.Advice = p.Now, p.Deadline, p.Resets, p.Advice
	v.GPU, v.TPU = seasonPool(p.GPU), seasonPool(p.TPU)
	for _, w := range p.Windows {
		v.Windows = append(v.Windows, SeasonWindow{From: w.From, To: w.To, Hours: w.To.Sub(w.From).Hours(), GPU: seasonShare(w.GPU), TPU: seasonShare(w.TPU)})
	}
	for _, s := range p.Start {
		v.Suggestions = append(v.Suggestions, suggestion(s))
	}
	for _, s := range p.Leave {
		v.Suggestions = append(v.Suggestions, suggestion(s))
	}
}

func seasonPool(p planner.PoolPlan) SeasonPool {
	out := SeasonPool{Known: p.Known}
	if !p.Known {
		return out
	}
	out.NowH, out.TotalH, out.UsableH, out.ReserveH = &p.NowH, &p.TotalH, &p.UsableH, &p.ReserveH
	out.SlackH, out.ExploreH, out.ExpiringH, out.FreeH = &p.SlackH, &p.ExploreH, &p.ExpiringH, &p.FreeH
	if !p.LatestStart.IsZero() {
		out.LatestStart = &p.LatestStart
	}
	if b := p.Budget; b != nil {
		out.Budget = &SeasonBudget{Screens: b.Screens, Promotions: b.Promotions, ScreenH: b.ScreenH, PromotionH: b.PromotionH, Waves: b.Waves, Runs: b.Runs}
	}
	return out
}

func seasonShare(s planner.PlanShare) SeasonShare {
	out := SeasonShare{QuotaH: s.QuotaH, UsableH: s.UsableH, LostH: s.LostH, ReserveH: s.ReserveH, SlackH: s.SlackH, ExploreH: s.ExploreH, Blocks: []SeasonBlock{}}
	for _, b := range s.Blocks {
		out.Blocks = append(out.Blocks, SeasonBlock(b))
	}
	return out
}

func suggestion(s planner.Suggestion) Suggestion {
	out := Suggestion{Do: s.Do, Name: s.Name, Pool: string(s.Pool), Partial: s.Partial, Why: s.Why}
	if s.Hours > 0 {
		out.Hours = &s.Hours
	}
	if s.Gain > 0 {
		out.Gain = &s.Gain
	}
	kind, rest, _ := strings.Cut(s.ID, " ")
	switch kind {
	case "backlog":
		_, _ = fmt.Sscan(rest, &out.Backlog) // written by backlogItems
	case "run":
		_, _ = fmt.Sscan(rest, &out.Run, &out.Kernel) // written by unfinished
	}
	return out
}

// backlogItems are the open items as the planner sees them.
func backlogItems(rows []runlog.BacklogItem) []planner.PlanItem {
	var out []planner.PlanItem
	for _, r := range rows {
		if r.State != BacklogTodo || r.Pool == PoolCPU {
			continue
		}
		it := planner.PlanItem{ID: fmt.Sprintf("backlog %d", r.ID), Name: r.Name, Pool: planner.Pool(r.Pool), Hours: r.Hours, Validated: r.Validated, Divisible: r.Divisible}
		if r.Gain != nil {
			it.Gain = *r.Gain
		}
		if r.GainSD != nil {
			it.GainSD = *r.GainSD
		}
		out = append(out, it)
	}
	return out
}

// deadlineForms are the ways to write a deadline with a time.
var deadlineForms = []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02 15:04Z07:00", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04 Z07:00", "2006-01-02 15:04:05 Z07:00"}

// zonelessForms are times without a zone: UTC, as Kaggle's own, or the zone that follows.
var zonelessForms = []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04"}

// ParseTime reads a time as a person writes it: a date alone (the end of that day in UTC when end is set, else its
// beginning), or a date and a time with an offset, Z, the name of a zone ("2026-10-22 18:00 Europe/Berlin") or nothing,
// which is UTC as at Kaggle.
func ParseTime(text string, end bool) (time.Time, error) {
	text = strings.TrimSpace(text)
	zone := time.UTC
	if head, name, ok := cutZone(text); ok {
		z, err := time.LoadLocation(name)
		if err != nil {
			return time.Time{}, &CallError{Reason: fmt.Sprintf("%s is not a time zone that this computer knows", name), Action: "Write the offset instead, such as 2026-10-22T18:00+02:00."}
		}
		text, zone = head, z
	} else {
		for _, f := range deadlineForms {
			if t, err := time.Parse(f, text); err == nil {
				return t.UTC(), nil
			}
		}
	}
	if t, err := time.ParseInLocation(time.DateOnly, text, zone); err == nil {
		if end {
			t = time.Date(t.Year(), t.Month(), t.Day(), 23, 59, 59, 0, zone)
		}
		return t.UTC(), nil
	}
	for _, f := range zonelessForms {
		if t, err := time.ParseInLocation(f, text, zone); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, &CallError{Reason: fmt.Sprintf("%q is not a time", text), Action: "Write a date such as 2026-10-22, or a time such as 2026-10-22T18:00Z."}
}

// NamesZone says that a time that ParseTime reads has an offset, Z or a zone's name in it.
func NamesZone(text string) bool {
	text = strings.TrimSpace(text)
	if _, _, ok := cutZone(text); ok {
		return true
	}
	for _, f := range deadlineForms {
		if _, err := time.Parse(f, text); err == nil {
			return true
		}
	}
	return false
}

// cutZone cuts the name of a zone off a time.
func cutZone(text string) (head, zone string, ok bool) {
	i := strings.LastIndexByte(text, ' ')
	if i < 0 {
		return text, "", false
	}
	zone = text[i+1:]
	if zone == "UTC" || zone == "GMT" || strings.Contains(zone, "/") {
		return strings.TrimSpace(text[:i]), zone, true
	}
	return text, "", false
}

func stamp(t time.Time) string { return t.UTC().Format("Mon 2 Jan 2006 15:04") + " UTC" }
