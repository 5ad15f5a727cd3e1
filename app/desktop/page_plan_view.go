package desktop

import (
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"sandglass/app"
	"sandglass/charts"
	"sandglass/widgets"
)

// planView is what the Plan page says, in strings and numbers.
type planView struct {
	Note, NoteShort string // beside the title
	Banner          *notice
	Empty           *planEmpty // instead of the plan: no deadline, or one that is over
	GPU, TPU        planPool
	Calendar        charts.PlanCalendar
	CalendarHint    string // what will fill the calendar
	Kinds           []bool // which blocks occur, in the order of the legend
	Start           []startRow
	StartHint       string // said instead when there is nothing to start
	Leave           []leaveRow
	CostTitle       string
	Costs           []ticketLine
	CostHint        string
	Advice          []string
	Queue           queueView
	Waits           charts.QueueWaits
	WaitsHint       string
	Backlog         []backlogRow
	Assumed         string
}

// planEmpty says what to do where no plan can be.
type planEmpty struct{ Title, Text, Action string }

// planPool is the headline of one pool until the deadline.
type planPool struct {
	Title               string
	Now                 string // right of the title
	Number, Unit        string
	Explore, End, Lost  string
	Note                string
	ExploreH, EndH      float64
	SlackH, LostH, AllH float64
	Color               fyne.ThemeColorName
}

// startRow is one suggestion.
type startRow struct {
	Suggestion app.Suggestion
	Name, Why  string
	Hours      string
	Button     string
}

// leaveRow is what not to start.
type leaveRow struct{ Name, Why string }

// backlogRow is one idea.
type backlogRow struct {
	Item        app.BacklogItem
	Name, What  string
	Pool        string
	Hours, Gain string
	Status      widgets.Status
}

func newPlanView(p app.PlanView, pool string, now time.Time) planView {
	v := planView{
		Banner: weekNotice(app.WeekView{Quota: p.Quota}, now),
		Queue:  newQueueView(p.Queue, now),
		Waits:  charts.QueueWaits{Ink: charts.InkTPU, Location: app.Zone()},
		WaitsHint: lang.L("Each TPU run becomes a stem here: how long it waited at Kaggle before it started. The first TPU run that is pushed from here " +
			"adds the first one."),
	}
	for _, w := range p.Waits.Waits {
		v.Waits.Waits = append(v.Waits.Waits, charts.QueueWait{Name: w.Name, At: w.QueuedAt, Hours: w.Hours, Waiting: w.Waiting})
	}
	why := map[int64]string{}
	if p.Season != nil {
		v.plan(p, pool, now)
		for _, s := range p.Season.Suggestions {
			if s.Backlog != 0 {
				why[s.Backlog] = planWord(s)
			}
		}
	} else {
		v.Empty = noPlan(p, now)
	}
	for _, b := range p.Backlog {
		v.Backlog = append(v.Backlog, newBacklogRow(b, why[b.ID]))
	}
	return v
}

// noPlan says why there is no plan, and what to do.
func noPlan(p app.PlanView, now time.Time) *planEmpty {
	if p.Passed {
		return &planEmpty{lang.L("The deadline has passed"), fmt.Sprintf(lang.L("It was %s. With a new one the hours that are left are planned again."), deadlineText(p.Deadline, now)),
			lang.L("Set the next deadline…")}
	}
	return &planEmpty{lang.L("No deadline yet"), lang.L("Say until when you work, and Sandglass counts the resets until then, keeps hours for the end, and says what to start now so that nothing expires."),
		lang.L("Set the deadline…")}
}

// plan words the season.
func (v *planView) plan(p app.PlanView, pool string, now time.Time) {
	s := *p.Season
	resets := fmt.Sprintf(lang.L("%d resets"), len(s.Resets))
	if len(s.Resets) == 1 {
		resets = lang.L("1 reset")
	}
	left := fmt.Sprintf(lang.L("in %s"), span(s.Deadline.Sub(now))) + " · " + resets
	v.Note, v.NoteShort = lang.L("until ")+deadlineText(s.Deadline, now)+", "+left, left
	v.GPU, v.TPU = newPlanPool("GPU", app.PoolGPU, s.GPU, now), newPlanPool("TPU", app.PoolTPU, s.TPU, now)
	v.Calendar = calendarOf(s, pool)
	v.CalendarHint = lang.L("The weeks are drawn here once the quota has been read.")
	v.Kinds = blockKinds(v.Calendar)
	ready, leave := []startRow{}, []leaveRow{}
	for _, x := range s.Suggestions {
		if x.Do == "leave" {
			leave = append(leave, leaveRow{x.Name, said(x.Why)})
			continue
		}
		ready = append(ready, newStartRow(x, p.Ready(x)))
	}
	v.Start, v.Leave = ready, leave
	switch {
	case len(ready) > 0:
	case len(p.Backlog) == 0 && len(leave) == 0:
		v.StartHint = lang.L("There is nothing to start: the backlog is empty and no run has work left. Add an idea below, with the hours it will take.")
	default:
		v.StartHint = lang.L("Nothing is ready to start now; below is what stands in the way of each.")
	}
	of := s.GPU
	if pool == app.PoolTPU {
		of = s.TPU
	}
	v.costs(of, pool)
	v.Advice = saidAll(s.Advice)
	if len(s.Assumed) > 0 {
		v.Assumed = lang.L("Assumed: ") + strings.Join(saidAll(s.Assumed), "; ") + "."
	}
}

func (v *planView) costs(p app.SeasonPool, pool string) {
	v.CostTitle = fmt.Sprintf(lang.L("What a %s run costs here"), strings.ToUpper(pool))
	b := p.Budget
	if b == nil {
		v.CostHint = lang.L("Not known yet: the cost of a fold comes from runs that were measured here.")
		return
	}
	waves := fmt.Sprintf(lang.L("promotion, %d waves"), b.Waves)
	if b.Waves == 1 {
		waves = lang.L("promotion, 1 wave")
	}
	v.Costs = []ticketLine{{lang.L("screen, one fold"), hours(b.ScreenH)}, {waves, hours(b.PromotionH)},
		{lang.L("to explore buys"), fmt.Sprintf(lang.L("%d screens, %d promotions"), b.Screens, b.Promotions)}}
	v.CostHint = fmt.Sprintf(lang.L("from %d measured runs"), b.Runs)
	if b.Runs == 1 {
		v.CostHint = lang.L("from one measured run")
	}
}

// deadlineText writes a moment in UTC, as Kaggle does, and in the person's own zone where that is another time.
func deadlineText(t, now time.Time) string {
	form := "Mon 2 Jan 15:04"
	if t.Year() != now.Year() {
		form = "Mon 2 Jan 2006 15:04"
	}
	text, here := dates(t.UTC().Format(form))+" UTC", app.Local(t)
	if _, off := here.Zone(); off != 0 {
		day := "Mon "
		if here.Day() == t.UTC().Day() {
			day = ""
		}
		text += " (" + dates(here.Format(day+"15:04")) + lang.L(" here") + ")"
	}
	return text
}

func newPlanPool(name, pool string, s app.SeasonPool, now time.Time) planPool {
	v := planPool{Title: name + " · " + strings.TrimPrefix(poolLabel(pool), name+" "), Color: poolColor(pool)}
	if !s.Known {
		v.Note = lang.L("Hours not reported. The plan is made once Kaggle has said what is left.")
		return v
	}
	v.Now = fmt.Sprintf(lang.L("%s left now"), hours(*s.NowH))
	v.Number, v.Unit = fmt.Sprintf("%.1f", *s.UsableH), lang.L("h usable until the deadline")
	if *s.TotalH-*s.UsableH >= 0.05 {
		v.Unit = fmt.Sprintf(lang.L("h usable of %s"), hours(*s.TotalH))
	}
	v.ExploreH, v.EndH, v.SlackH, v.LostH, v.AllH = *s.ExploreH, *s.ReserveH-*s.SlackH, *s.SlackH, *s.ExpiringH, *s.UsableH+*s.ExpiringH
	v.Explore, v.End, v.Lost = hours(*s.ExploreH), hours(*s.ReserveH), hours(*s.ExpiringH)
	var notes []string
	if *s.SlackH >= 0.05 {
		notes = append(notes, fmt.Sprintf(lang.L("slack for the end %s"), hours(*s.SlackH)))
	}
	if *s.FreeH >= 0.05 {
		notes = append(notes, fmt.Sprintf(lang.L("free this week %s"), hours(*s.FreeH)))
	}
	if s.LatestStart != nil && s.LatestStart.After(now) {
		notes = append(notes, fmt.Sprintf(lang.L("start by %s"), clock(*s.LatestStart, now)))
	}
	v.Note = strings.Join(notes, " · ")
	return v
}

// blocks are the kinds of a calendar's blocks, in the order of the legend.
var blocks = []string{charts.BlockStart, charts.BlockScreens, charts.BlockPromotion, charts.BlockFinal, charts.BlockSlack}

func calendarOf(s app.SeasonView, pool string) charts.PlanCalendar {
	c := charts.PlanCalendar{Ink: poolInk(pool), Location: app.Zone()}
	known := s.GPU.Known
	if pool == app.PoolTPU {
		known = s.TPU.Known
	}
	if !known {
		return c
	}
	for _, w := range s.Windows {
		share := w.GPU
		if pool == app.PoolTPU {
			share = w.TPU
		}
		week := charts.CalendarWeek{From: w.From, To: w.To, Quota: share.QuotaH, Lost: share.LostH}
		for _, b := range share.Blocks {
			week.Blocks = append(week.Blocks, charts.CalendarBlock(b))
		}
		c.Weeks = append(c.Weeks, week)
	}
	return c
}

func blockKinds(c charts.PlanCalendar) []bool {
	out := make([]bool, len(blocks))
	for _, w := range c.Weeks {
		for _, b := range w.Blocks {
			for i, k := range blocks {
				out[i] = out[i] || b.Kind == k && b.Hours > 0
			}
		}
	}
	return out
}

func newStartRow(s app.Suggestion, ready bool) startRow {
	r := startRow{Suggestion: s, Name: s.Name, Why: said(s.Why), Hours: unknown}
	if s.Hours != nil {
		r.Hours = hours(*s.Hours)
	}
	r.Why = strings.ToUpper(s.Pool) + ": " + said(s.Why)
	if s.Gain != nil {
		r.Why += fmt.Sprintf(lang.L("; expected gain %s"), gainText(*s.Gain))
	}
	switch {
	case s.Run != 0:
		r.Button = lang.L("Resume…")
	case ready:
		r.Button = lang.L("Queue…")
	default:
		r.Button = lang.L("Open in New run")
	}
	return r
}

// planWord is what the plan says of an item of the backlog, in the item's own row.
func planWord(s app.Suggestion) string {
	switch {
	case s.Do == "leave":
		return said(s.Why)
	case s.Partial:
		return lang.L("a part of it is to be started now")
	}
	return lang.L("to be started now")
}

func gainText(g float64) string { return strings.Replace(fmt.Sprintf("%+.2g", g), "-", "−", 1) }

func newBacklogRow(b app.BacklogItem, why string) backlogRow {
	r := backlogRow{Item: b, Name: b.Name, Pool: strings.ToUpper(b.Pool), Hours: unknown, Gain: unknown, What: why}
	if r.What == "" {
		r.What = firstOf(b.Note, b.Command, lang.L("no command yet"))
	}
	if b.Hours > 0 {
		r.Hours = hours(b.Hours)
	}
	if b.Gain != nil {
		r.Gain = gainText(*b.Gain)
		if b.GainSD != nil && *b.GainSD > 0 {
			r.Gain += fmt.Sprintf(" ± %.2g", *b.GainSD)
		}
	}
	r.Status = widgets.Status{Word: lang.L("not validated"), Shape: widgets.ShapeRing, Color: widgets.ColorMuted}
	if b.Validated {
		r.Status = widgets.Status{Word: lang.L("validated"), Shape: widgets.ShapeCheck, Color: widgets.ColorGood}
	}
	return r
}

// firstOf is the first text that is not empty.
func firstOf(texts ...string) string {
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			return t
		}
	}
	return ""
}

// queueView is the launch queue in words, on the Plan page and, shorter, on Week.
type queueView struct {
	Rows    []queueRow
	Waiting int    // of the rows; the others left the queue
	Note    string // that it is paused, or that nobody looks after it
	Paused  bool
	Warning string
	Empty   string
}

// queueRow is one run of the launch queue.
type queueRow struct {
	ID         int64
	Place      string // "1"; "" when it left the queue
	Name, What string
	Short      string // What where there is little room
	Why        string
	Stopped    bool
	First      bool // nothing waits before it
	Last       bool // nothing waits behind it
}

func newQueueView(q app.QueueView, now time.Time) queueView {
	v := queueView{Paused: q.Paused, Warning: said(strings.Join(q.Warnings, " ")),
		Empty: lang.L("Nothing waits. A run that finds every slot taken is kept here and pushed by itself when one frees.")}
	for _, r := range q.Rows {
		row := queueRow{ID: r.ID, Name: r.Name, Stopped: r.Stopped, What: poolLabel(r.Pool) + lang.L(" · up to ") + hours(r.CapHours), Why: upper(said(r.Why))}
		row.Short = row.What
		if r.LeastH > 0 {
			row.What += fmt.Sprintf(lang.L(", from %s on"), hours(r.LeastH))
		}
		if r.Stopped {
			row.Why = strings.TrimSpace(upper(said(r.Why)) + ". " + said(r.Advice))
			row.What += lang.L(" · left the queue")
		} else {
			v.Waiting++
			row.Place, row.First = fmt.Sprint(r.Position), v.Waiting == 1
			row.What += lang.L(" · for ") + span(now.Sub(r.Since))
		}
		v.Rows = append(v.Rows, row)
	}
	if v.Waiting > 0 {
		v.Rows[v.Waiting-1].Last = true // what was stopped comes behind
	}
	switch {
	case q.Paused:
		v.Note = lang.L("Paused: nothing is pushed by itself. Every authorisation stands.")
		v.Empty = lang.L("Nothing waits.")
	case v.Waiting > 0 && !q.Served:
		v.Note = lang.L("Nothing looks after the queue at the moment; it goes on when this window does.")
	}
	return v
}

// upper writes the first letter large: the core's reasons are clauses.
func upper(s string) string {
	for i, r := range s {
		return strings.ToUpper(string(r)) + s[i+len(string(r)):]
	}
	return s
}
