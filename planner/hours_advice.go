package planner

import (
	"fmt"
	"math"
	"strings"
)

// unknown is the advice without any measurement.
func (a *HoursAdvice) unknown(ask HoursAsk) {
	a.Warnings = append(a.Warnings, "How long a task takes is not known: there is no measured run of this job, no fold and no rehearsal, so no number is given.")
	a.Options = append(a.Options, HoursOption{Code: "bench", Tasks: []int{1}, CapH: benchCapH,
		Text: fmt.Sprintf("Run one bench session first: one task with a cap of %s. It tells the time of an epoch and of a batch, and its task goes on in the real run.", hours1(benchCapH))})
	if ask.LeftH != nil && *ask.LeftH < benchCapH {
		a.Warnings = append(a.Warnings, fmt.Sprintf("Only %s of the week are left for it.", hours1(*ask.LeftH)))
	}
}

// benchCapH is the cap of a session that only measures.
const benchCapH = 0.5

// idle reckons the devices without work in the last wave.
func (a *HoursAdvice) idle(ask HoursAsk) {
	tasks := make([]float64, 0, ask.Tasks)
	total := 0.0
	for _, s := range ask.scales() {
		tasks, total = append(tasks, s*a.TaskMedianH), total+s*a.TaskMedianH
	}
	a.IdleH = max(0, float64(ask.Devices)*Makespan(tasks, ask.Devices)-total)
	if rest := ask.Tasks % ask.Devices; rest > 0 {
		a.IdleDevices = ask.Devices - rest
	}
}

// quota compares the cap with what is left and with the reset.
func (a *HoursAdvice) quota(ask HoursAsk) {
	if ask.Pool == CPU {
		return // not metered
	}
	if ask.LeftH != nil {
		fits, after := a.CapH <= *ask.LeftH+weightSlack, *ask.LeftH-a.ExpectedH
		a.FitsQuota, a.LeftAfterH = &fits, &after
	}
	if ask.ResetIn > 0 {
		crosses := ask.QueueH+a.CapH > ask.ResetIn.Hours()
		a.Crosses = &crosses
	}
}

// advise says what a person should know, and the other ways to run the same work.
func (a *HoursAdvice) advise(ask HoursAsk) {
	warn := func(format string, args ...any) { a.Warnings = append(a.Warnings, fmt.Sprintf(format, args...)) }
	switch {
	case a.Basis == BasisOneFold:
		warn("The bound rests on a single measured task; a second one would narrow it.")
	case a.Basis == BasisRehearsal:
		warn("The bound rests on a rehearsal and a relative speed, so it is wide: between %s and %s for one task. A bench session would narrow it.",
			hours1(a.TaskMedianH*a.TaskMedianH/a.TaskUpperH), hours1(a.TaskUpperH))
	}
	if a.Clipped {
		warn("%s would be needed and a %s session may run %s: the cap is clipped, and the chance to be stopped is %s. Finished tasks are kept; the rest is resumed in %s, at about %s more each.",
			hours1(a.WantedH), ask.Pool.PoolName(), hours1(a.LimitH), percent(a.PKilled), countOf(a.Sessions-1, "further session"), hours1(a.ResumeH))
	}
	if least := a.StartUpH + a.TailH; ask.CapH > 0 && a.CapH <= least {
		warn("A cap of %s is used up by start-up and saving: no task would be done.", hours1(a.CapH))
	} else if ask.CapH > 0 && !a.Clipped && a.PKilled > 2*(1-a.Confidence) {
		warn("With this cap the session is stopped in %s of the cases; %s would hold.", percent(a.PKilled), hours1(a.WantedH))
	}
	if a.FitsQuota != nil && !*a.FitsQuota {
		warn("The cap of %s is above the %.1f %s left this week: the push would be refused.", hours1(a.CapH), *ask.LeftH, plural(ask.Pool))
	}
	if a.Crosses != nil && *a.Crosses {
		a.warnReset(ask, warn)
	}
	a.options(ask)
}

// warnReset shows both weeks: which of them Kaggle charges for a session that crosses the reset is not documented.
func (a *HoursAdvice) warnReset(ask HoursAsk, warn func(string, ...any)) {
	text := fmt.Sprintf("It may still run at the reset in %s, and which week Kaggle charges then is not documented: ", hours1(ask.ResetIn.Hours()))
	if ask.LeftH == nil {
		warn("%s%s of this week's hours, or of the next one's.", text, hours1(a.ExpectedH))
		return
	}
	warn("%sif this one, %s of %s left now; if the next one, %s of the new hours, and what is left now expires.", text, hours1(a.ExpectedH), hours1(*ask.LeftH), hours1(a.ExpectedH))
}

// options are the other ways, the one that helps most first.
func (a *HoursAdvice) options(ask HoursAsk) {
	room := a.LimitH
	if ask.LeftH != nil && ask.Pool != CPU {
		room = min(room, *ask.LeftH)
	}
	if a.WantedH > a.LimitH {
		if o, ok := splitOption(ask, *a); ok {
			a.Options = append(a.Options, o)
		}
	}
	if a.WantedH > room && room < a.LimitH { // it is the quota that binds
		if o, ok := fewerOption(ask, room); ok {
			a.Options = append(a.Options, o)
		}
	}
	if a.IdleDevices > 0 && a.IdleH > 0 {
		text := fmt.Sprintf("%s idle in the last wave, %s in all: %s of the same length (another seed, another fold) would cost no further quota.",
			countOf(a.IdleDevices, "device")+map[bool]string{true: " is", false: " are"}[a.IdleDevices == 1], hours1(a.IdleH), countOf(a.IdleDevices, "more task"))
		a.Options = append(a.Options, HoursOption{Code: "fill", Tasks: []int{ask.Tasks + a.IdleDevices}, CapH: a.CapH, Text: text})
	}
	if a.Basis == BasisRehearsal {
		a.Options = append(a.Options, HoursOption{Code: "bench", Tasks: []int{1}, CapH: benchCapH,
			Text: fmt.Sprintf("A bench session of %s replaces the relative speed by a measurement.", hours1(benchCapH))})
	}
}

// capOf is the cap of the n longest tasks alone.
func capOf(ask HoursAsk, n int) float64 {
	b, ok := ask.belief()
	if !ok {
		return 0
	}
	part := ask
	part.TaskScale, part.Tasks = ask.scales()[:n], n
	m := newSessionModel(part, b)
	upper := listMakespan(part.scales(), part.Devices, b.upper(ask.Confidence))
	return wholeSeconds(max(m.start+upper+m.tail, m.capFor(m.quantile(ask.Confidence))))
}

// splitOption spreads the tasks over as few sessions as each can finish, in whole waves where possible.
func splitOption(ask HoursAsk, a HoursAdvice) (HoursOption, bool) {
	most := 0
	for n := ask.Tasks - 1; n >= 1 && most == 0; n-- {
		if capOf(ask, n) <= a.LimitH {
			most = n
		}
	}
	if most == 0 {
		return HoursOption{Code: "split", CapH: a.LimitH, Text: fmt.Sprintf("Even one task does not fit into a session of %s: it has to save checkpoints and be resumed, %s in all.",
			hours1(a.LimitH), countOf(a.Sessions, "session"))}, true
	}
	if whole := most / ask.Devices * ask.Devices; whole > 0 {
		most = whole
	}
	o := HoursOption{Code: "split"}
	for left := ask.Tasks; left > 0; left -= most {
		o.Tasks = append(o.Tasks, min(most, left))
	}
	o.CapH = capOf(ask, o.Tasks[0])
	parts := make([]string, len(o.Tasks))
	for i, n := range o.Tasks {
		parts[i] = fmt.Sprint(n)
	}
	o.Text = fmt.Sprintf("Split it over %d sessions with %s tasks, a cap of %s each at most; a second start-up costs about %s.",
		len(o.Tasks), strings.Join(parts, " + "), hours1(o.CapH), hours1(a.StartUpH))
	return o, true
}

// fewerOption is the largest part of the tasks that fits into room.
func fewerOption(ask HoursAsk, room float64) (HoursOption, bool) {
	for n := ask.Tasks - 1; n >= 1; n-- {
		if c := capOf(ask, n); c <= room {
			return HoursOption{Code: "fewer", Tasks: []int{n}, CapH: c, Text: fmt.Sprintf("%d of the %d tasks fit: a cap of %s.", n, ask.Tasks, hours1(c))}, true
		}
	}
	return HoursOption{}, false
}

// sessionsFor is how many sessions of the limit the work takes when tasks go on from checkpoints.
func sessionsFor(a HoursAdvice, m *sessionModel) int {
	room := m.room(a.LimitH)
	if room <= 0 {
		return 1
	}
	return max(2, int(math.Ceil(m.quantile(a.Confidence)/room-weightSlack)))
}

func hours1(h float64) string { return fmt.Sprintf("%.1f h", h) }

func percent(p float64) string {
	switch {
	case p > 0 && p < 0.01:
		return "under 1 %"
	case p < 1 && p > 0.99:
		return "over 99 %"
	}
	return fmt.Sprintf("%.0f %%", 100*p)
}

func countOf(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
