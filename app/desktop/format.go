package desktop

import (
	"fmt"
	"math"
	"time"

	"fyne.io/fyne/v2/lang"

	"sandglass/app"
)

// One helper a kind of number, so that every screen writes it the same way.

// hours writes an amount of quota: always one decimal, always the unit.
func hours(h float64) string { return fmt.Sprintf("%.1f h", h) }

// poolHours writes an amount with the pool it is taken from: "7.0 GPU-hours".
func poolHours(h float64, pool string) string {
	switch pool {
	case app.PoolGPU:
		return fmt.Sprintf(lang.L("%.1f GPU-hours"), h)
	case app.PoolTPU:
		return fmt.Sprintf(lang.L("%.1f TPU-hours"), h)
	default:
		return fmt.Sprintf(lang.L("%.1f h of CPU, no quota"), h)
	}
}

// span writes a length of time in its two largest units: "2 d 4 h", "2 h 41 min", "46 min", "12 s".
func span(d time.Duration) string {
	if d < 0 {
		d = 0
	}
	switch s := int(d.Round(time.Second) / time.Second); {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min", s/60)
	case s < 86400:
		if m := s % 3600 / 60; m != 0 {
			return fmt.Sprintf("%d h %d min", s/3600, m)
		}
		return fmt.Sprintf("%d h", s/3600)
	default:
		if h := s % 86400 / 3600; h != 0 {
			return fmt.Sprintf("%d d %d h", s/86400, h)
		}
		return fmt.Sprintf("%d d", s/86400)
	}
}

// when writes a moment in the person's zone, as near as it needs to be: "just now", "12 min ago", "14:05", "yesterday 09:20",
// "Sat 28 Nov", "28 Nov 2025".
func when(t, now time.Time) string {
	if t.IsZero() {
		return "-"
	}
	t, now = app.Local(t), app.Local(now)
	age := now.Sub(t)
	day := func(t time.Time) time.Time { y, m, d := t.Date(); return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	days := int(day(now).Sub(day(t)).Hours() / 24)
	switch {
	case age >= 0 && age < 10*time.Second:
		return lang.L("just now")
	case age >= 0 && age < 6*time.Hour:
		return fmt.Sprintf(lang.L("%s ago"), span(age))
	case days == 0:
		return t.Format("15:04")
	case days == 1:
		return lang.L("yesterday") + t.Format(" 15:04")
	case days == -1:
		return lang.L("tomorrow") + t.Format(" 15:04")
	case t.Year() == now.Year():
		return dates(t.Format("Mon 2 Jan"))
	default:
		return dates(t.Format("2 Jan 2006"))
	}
}

// clock writes a moment to come: "07:40", "Sat 01:00".
func clock(t, now time.Time) string {
	t, now = app.Local(t), app.Local(now)
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04")
	}
	return dates(t.Format("Mon 15:04"))
}

// score writes a metric with the digits that tell runs apart, or a dash.
func score(s *float64) string {
	if s == nil || math.IsNaN(*s) {
		return "—"
	}
	if a := math.Abs(*s); a >= 100 {
		return fmt.Sprintf("%.1f", *s)
	} else if a >= 10 {
		return fmt.Sprintf("%.2f", *s)
	}
	return fmt.Sprintf("%.3f", *s)
}

// bytesText writes a size: "812 B", "40.1 kB", "1.2 MB". kB is 1,000 bytes, as in Kaggle's limit of 1,000,000.
func bytesText(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 1_000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	default:
		return fmt.Sprintf("%.2f GB", float64(n)/1e9)
	}
}

// poolLabel names a pool by the hardware it is today.
func poolLabel(pool string) string {
	switch pool {
	case app.PoolGPU:
		return "T4 ×2"
	case app.PoolTPU:
		return "TPU v5e-8"
	default:
		return "CPU"
	}
}

// tone is the meaning of a status, from which its colour and shape follow.
type tone int

const (
	toneNeutral tone = iota
	toneBusy
	toneQueued
	toneGood
	toneWarn
	toneBad
)

// statusOf is a run's status as a word and a tone. Outcome beats state once there is one.
func statusOf(r app.RunRow) (word string, t tone) {
	switch r.Outcome {
	case app.OutcomeKilled:
		return lang.L("Stopped by its cap"), toneWarn
	case app.OutcomeFailed:
		return lang.L("Failed"), toneBad
	case app.OutcomePartial:
		return lang.L("Partly kept"), toneWarn
	case app.OutcomeComplete:
		if r.Origin == "recorded" {
			return lang.L("Recorded"), toneNeutral
		}
		return lang.L("Collected"), toneGood
	}
	switch r.State {
	case app.StatePushing:
		return lang.L("Pushing"), toneBusy
	case app.StateUnclear:
		return lang.L("Checking the push"), toneWarn
	case app.StateWaiting:
		return lang.L("Waiting for a slot"), toneQueued
	case app.StateRefused:
		return lang.L("Refused"), toneBad
	case app.StateQueued:
		return lang.L("Queued"), toneQueued
	case app.StateRunning:
		return lang.L("Running"), toneBusy
	case app.StateStopping:
		return lang.L("Stopping"), toneWarn
	case app.StateComplete:
		return lang.L("Finished"), toneGood
	case app.StateError:
		return lang.L("Failed"), toneBad
	case app.StateCancel:
		return lang.L("Stopped"), toneWarn
	case app.StateMissing:
		return lang.L("Gone from Kaggle"), toneBad
	case app.StateNoRun:
		return lang.L("Saved, not run"), toneNeutral
	}
	return r.State, toneNeutral
}
