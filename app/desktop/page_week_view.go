package desktop

import (
	"fmt"
	"math"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"sandglass/app"
	"sandglass/charts"
	"sandglass/widgets"
)

// weekView is what the Week page says, in strings and numbers.
type weekView struct {
	GPU, TPU poolCard
	Banner   *notice
	Burn     charts.WeeklyBurn
	Pace     charts.Pace
	Pool     string // which pool Burn and Pace are about
	InFlight []flight
	Idle     string // said instead when nothing is in flight
	Queue    queueView
	NeedsYou []nextRow
}

// parts says which parts the bars have, in the order of the legend: kept is always named.
func (v weekView) parts() []bool {
	out := []bool{true, false, false, false}
	for _, w := range v.Burn.Weeks {
		out[1] = out[1] || w.Failed > 0
		out[2] = out[2] || w.Killed > 0
		out[3] = out[3] || w.Elsewhere > 0
	}
	return out
}

// notice is a banner.
type notice struct {
	Color        fyne.ThemeColorName
	Strong, Text string
	Action       string // "" = no button
}

// poolCard is one quota card.
type poolCard struct {
	Title        string
	Reset        string // with the moment in UTC
	ResetShort   string // without, for narrow cards
	Number, Unit string // "17.4", "h left of 30 h"
	Total        float64
	Used, Held   float64
	Note         string
	Stale        bool
	Color        fyne.ThemeColorName
}

// flight is a run in flight.
type flight struct {
	ID          int64
	Name, What  string
	Status      widgets.Status
	Time, Until string
	// What fits into a narrow row.
	WhatShort, TimeShort string
	Util                 []float64
	UtilText             string
	Pool                 string
}

// nextRow is a run that waits for the person, or in the launch queue.
type nextRow struct {
	ID         int64
	Name, What string
	Why        string
}

func newWeekView(w app.WeekView, q app.QueueView, pool string, now time.Time) weekView {
	v := weekView{
		GPU:   newPoolCard("GPU", app.PoolGPU, w.Quota.GPU, w.Quota, now),
		TPU:   newPoolCard("TPU", app.PoolTPU, w.Quota.TPU, w.Quota, now),
		Pool:  pool,
		Queue: newQueueView(q, now),
	}
	v.Banner = weekNotice(w, now)
	weeks, pace, p := w.GPU, w.Pace, w.Quota.GPU
	if pool == app.PoolTPU {
		weeks, pace, p = w.TPU, w.PaceTPU, w.Quota.TPU
	}
	v.Burn = burnChart(weeks, pool, p)
	v.Pace = paceChart(w, pace, pool, p, now)
	for _, r := range w.InFlight {
		v.InFlight = append(v.InFlight, newFlight(r, now))
	}
	if len(v.InFlight) == 0 {
		v.Idle = idleWords(w.Quota)
	}
	for _, r := range w.NeedsYou {
		v.NeedsYou = append(v.NeedsYou, newNeed(r, now))
	}
	return v
}

func idleWords(q app.QuotaView) string {
	switch {
	case q.GPU.Known && q.TPU.Known:
		return fmt.Sprintf(lang.L("Nothing is running. %s and %s are free this week."), poolHours(q.GPU.Left, app.PoolGPU), poolHours(q.TPU.Left, app.PoolTPU))
	case q.GPU.Known:
		return fmt.Sprintf(lang.L("Nothing is running. %s are free this week."), poolHours(q.GPU.Left, app.PoolGPU))
	}
	return lang.L("Nothing is running.")
}

func poolColor(pool string) fyne.ThemeColorName {
	switch pool {
	case app.PoolGPU:
		return widgets.ColorGPU
	case app.PoolTPU:
		return widgets.ColorTPU
	}
	return widgets.ColorCPU
}

func poolInk(pool string) charts.Ink {
	switch pool {
	case app.PoolGPU:
		return charts.InkGPU
	case app.PoolTPU:
		return charts.InkTPU
	}
	return charts.InkCPU
}

// plainHours writes a round amount without a decimal: "30 h", "12.5 h".
func plainHours(h float64) string {
	if h == math.Trunc(h) {
		return fmt.Sprintf("%.0f h", h)
	}
	return hours(h)
}

func newPoolCard(name, pool string, p app.PoolView, q app.QuotaView, now time.Time) poolCard {
	hardware := strings.TrimPrefix(poolLabel(pool), name+" ")
	c := poolCard{Title: name + " · " + hardware, Color: poolColor(pool), Stale: !q.Live}
	if !q.RefreshAt.IsZero() {
		c.ResetShort = fmt.Sprintf(lang.L("resets %s, in %s"), dates(app.Local(q.RefreshAt).Format("Mon 15:04")), span(q.RefreshAt.Sub(now)))
		c.Reset = c.ResetShort + " (" + q.RefreshAt.UTC().Format("15:04") + " UTC)"
	}
	if !p.Known {
		c.Unit = lang.L("hours not reported")
		c.Note = ageWords(q, now)
		return c
	}
	c.Number, c.Unit = fmt.Sprintf("%.1f", p.Left), fmt.Sprintf(lang.L("h left of %s"), plainHours(p.Total))
	c.Total, c.Used, c.Held = p.Total, p.Used, p.Reserved+p.Held
	parts := []string{fmt.Sprintf(lang.L("%s used"), plainHours(math.Round(p.Used*10)/10))}
	if c.Held > 0.05 {
		parts = append(parts, heldWords(c.Held, p.Holders))
	}
	c.Note = strings.Join(append(parts, ageWords(q, now)), " · ")
	return c
}

func heldWords(h float64, holders []string) string {
	switch len(holders) {
	case 0:
		return fmt.Sprintf(lang.L("%s held"), hours(h))
	case 1:
		return fmt.Sprintf(lang.L("%s held by %s"), hours(h), holders[0])
	default:
		return fmt.Sprintf(lang.L("%s held by %d runs"), hours(h), len(holders))
	}
}

// ageWords says how far a reading can be trusted.
func ageWords(q app.QuotaView, now time.Time) string {
	switch {
	case q.FetchedAt.IsZero():
		if q.Why != "" {
			return said(q.Why)
		}
		return lang.L("not read yet")
	case q.Live:
		return lang.L("live, ") + ago(now.Sub(q.FetchedAt))
	case q.Rebased:
		return lang.L("started over at the reset, last read ") + ago(now.Sub(q.FetchedAt))
	default:
		return lang.L("as of ") + ago(now.Sub(q.FetchedAt))
	}
}

// ago writes an age; under five seconds it is now.
func ago(d time.Duration) string {
	if d < 5*time.Second {
		return lang.L("now")
	}
	return fmt.Sprintf(lang.L("%s ago"), span(d))
}

// weekNotice is the one banner of the page: first that the numbers are old, then that hours are about to be lost.
func weekNotice(w app.WeekView, now time.Time) *notice {
	q := w.Quota
	if !q.Live && q.Why != "" {
		text := said(q.Why)
		if !q.FetchedAt.IsZero() {
			text += " " + fmt.Sprintf(lang.L("These numbers are from %s and are tried again by themselves."), when(q.FetchedAt, now))
		}
		return &notice{widgets.ColorWarning, lang.L("Kaggle's quota could not be read."), text, lang.L("Try again")}
	}
	e := w.ExpiringGPU
	if e == nil || e.LongestH <= 0 {
		return nil
	}
	return &notice{widgets.ColorWarning, fmt.Sprintf(lang.L("%s expire %s."), poolHours(e.LeftH, app.PoolGPU), clock(q.RefreshAt, now)),
		fmt.Sprintf(lang.L("A run of up to %s that starts now still counts for this week."), hours(e.LongestH)), lang.L("New run")}
}

func burnChart(weeks []app.BurnWeek, pool string, p app.PoolView) charts.WeeklyBurn {
	c := charts.WeeklyBurn{Ink: poolInk(pool), Location: app.Zone()}
	if p.Known {
		c.Allowance = p.Total
	}
	for _, b := range weeks {
		c.Weeks = append(c.Weeks, charts.BurnWeek{Start: b.Start, Kept: b.Kept, Failed: b.Failed, Killed: b.Killed, Elsewhere: b.Elsewhere, Reserved: b.Reserved, Current: b.Current})
	}
	return c
}

func paceChart(w app.WeekView, points []app.PacePoint, pool string, p app.PoolView, now time.Time) charts.Pace {
	c := charts.Pace{Ink: poolInk(pool), From: w.WeekFrom, To: w.WeekTo, Now: now, Location: app.Zone()}
	if p.Known {
		c.Allowance, c.Reserved = p.Total, p.Reserved+p.Held
	}
	for _, pt := range points {
		c.Points = append(c.Points, charts.PacePoint{At: pt.At, Hours: pt.Hours})
	}
	return c
}

func newFlight(r app.RunView, now time.Time) flight {
	word, t := statusOf(r.RunRow)
	f := flight{ID: r.ID, Name: r.Name, Status: t.status(word), Pool: r.Pool, What: poolLabel(r.Pool) + " · " + tasksWords(r), WhatShort: tasksWords(r)}
	switch r.State {
	case app.StateRunning, app.StateStopping:
		f.Time = fmt.Sprintf(lang.L("%s of %s"), span(now.Sub(r.StartedAt)), hours(r.CapHours))
		f.TimeShort = span(now.Sub(r.StartedAt))
		if !r.EndsBy.IsZero() {
			f.Until = lang.L("ends by ") + clock(r.EndsBy, now)
		}
		f.Util, f.UtilText = recentUtil(r.Util)
	case app.StateQueued:
		f.Time = lang.L("waiting ") + span(r.QueuedFor)
		f.TimeShort = span(r.QueuedFor)
		f.Until = lang.L("burns nothing yet")
		f.UtilText = lang.L("notifies when it starts")
	default:
		f.Time = lang.L("since ") + when(r.CreatedAt, now)
		f.Until = lang.L("up to ") + hours(r.CapHours)
	}
	if !r.UnreachableAt.IsZero() {
		f.Until = lang.L("no news from Kaggle for ") + span(now.Sub(r.UnreachableAt))
	}
	return f
}

// tasksWords names what a run is at: "fold 3 and 4", "5 folds".
func tasksWords(r app.RunView) string {
	var busy []string
	for _, t := range r.Tasks {
		if t.State == "running" {
			busy = append(busy, taskName(t, len(r.Jobs) > 1))
		}
	}
	switch n := len(busy); {
	case n == 1:
		return busy[0]
	case n == 2:
		return busy[0] + lang.L(" and ") + strings.TrimPrefix(busy[1], strings.TrimSuffix(fmt.Sprintf(lang.L("fold %d"), 0), "0"))
	case n > 2:
		return fmt.Sprintf(lang.L("%d tasks at once"), n)
	case len(r.Folds) > 1:
		return fmt.Sprintf(lang.L("%d folds"), len(r.Folds))
	}
	return lang.L("up to ") + hours(r.CapHours)
}

func taskName(t app.TaskView, withJob bool) string {
	if t.Fold == nil {
		return t.Job
	}
	fold := fmt.Sprintf(lang.L("fold %d"), *t.Fold)
	if withJob {
		return t.Job + " " + fold
	}
	return fold
}

// recentUtil is the line of the first device's last minutes and the last value of each device.
func recentUtil(points []app.UtilPoint) (line []float64, text string) {
	const keep = 60
	last := map[string]float64{}
	var order []string
	for _, p := range points {
		if _, seen := last[p.Device]; !seen {
			order = append(order, p.Device)
		}
		last[p.Device] = p.Util
		if p.Device == order[0] {
			line = append(line, p.Util)
		}
	}
	if len(line) > keep {
		line = line[len(line)-keep:]
	}
	for i, d := range order {
		v := fmt.Sprintf("%.0f %%", last[d])
		if i == 0 {
			text = deviceKind(d) + " " + v
		} else if i < 4 {
			text += " · " + v
		}
	}
	return line, text
}

// deviceKind is a device's name without its number: "gpu0" is a GPU.
func deviceKind(d string) string { return strings.ToUpper(strings.TrimRight(d, "0123456789")) }

// deviceName is how a device is written: "gpu0" is GPU 0.
func deviceName(d string) string {
	n := strings.TrimLeft(d, "abcdefghijklmnopqrstuvwxyz_")
	return strings.TrimSpace(deviceKind(d) + " " + n)
}

func newNeed(r app.RunRow, now time.Time) nextRow {
	word, _ := statusOf(r)
	n := nextRow{ID: r.ID, Name: r.Name, What: word + " · " + when(r.EndedAt, now)}
	switch {
	case !r.Collected && r.Failure == "" && r.State == app.StateComplete:
		n.Why = lang.L("collect its files")
	case r.Failure != "":
		n.Why = said(r.Failure)
	default:
		n.Why = lang.L("look at it")
	}
	return n
}
