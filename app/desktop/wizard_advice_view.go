package desktop

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2/lang"

	"sandglass/charts"
)

// modelForm is what a person knows of the model, as text: all of it may be empty, and the core then says what it cannot tell.
type modelForm struct {
	Kind      string // transformer, cnn, tabular, other; "" = not said
	Arch      string // by name: convnext_tiny
	Params    string // millions
	Layers    string
	Hidden    string
	Heads     string
	Seq       string // tokens, or pixels of a side
	Batch     string
	Precision string // in the core's words, as the three below; "" = the usual one
	Optimizer string
	Method    string // full, lora, qlora, inference
	LoRARank  string
	HoursT4   string // of one task
	Rows      string // of a table
	Columns   string

	Checkpointing string // "yes" with gradient checkpointing
}

func (m modelForm) answers() map[string]string {
	return map[string]string{"kind": m.Kind, "params": m.Params, "layers": m.Layers, "hidden": m.Hidden, "heads": m.Heads, "seq": m.Seq, "batch": m.Batch,
		"precision": m.Precision, "method": m.Method, "optimizer": m.Optimizer, "checkpointing": m.Checkpointing, "lora rank": m.LoRARank, "hours": m.HoursT4, "arch": m.Arch, "rows": m.Rows, "columns": m.Columns}
}

func modelFrom(a map[string]string) modelForm {
	return modelForm{Kind: a["kind"], Params: a["params"], Layers: a["layers"], Hidden: a["hidden"], Heads: a["heads"], Seq: a["seq"], Batch: a["batch"],
		Precision: a["precision"], Method: a["method"], Optimizer: a["optimizer"], Checkpointing: a["checkpointing"], LoRARank: a["lora rank"], HoursT4: a["hours"], Arch: a["arch"], Rows: a["rows"], Columns: a["columns"]}
}

// number reads a figure of the model form: "86", "86 M", "1.5e3"; 0 for what is empty or no number, which is then simply not known.
func number(s string) float64 {
	s = strings.TrimSpace(strings.Replace(s, ",", ".", 1))
	s = strings.TrimSpace(strings.TrimRight(s, "mMkKgGbBpPxXhH "))
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0
	}
	return v
}

// option is one machine as the wizard shows it.
type option struct {
	Shape, Title, Pool string
	Recommended        bool
	Fits               bool
	Fit                string // "" = nothing to add; else a word: "tight", "does not run"
	Memory             string // "9.1 – 11.0 of 15 GiB"
	Burns              string // "5.1 – 6.3 h"
	Done               string // "today 23:10 – Tue 00:20"
	Leaves             string // "11.1 h GPU"
	LeftAfterH         *float64
	Reasons, Doubts    []string
}

// chosen is the option of the machine in the form.
func (w *wizard) chosen() (option, bool) {
	if !w.advice.fresh(w.adviceKey()) {
		return option{}, false
	}
	for _, o := range w.advice.got {
		if o.Shape == w.form.Shape {
			return o, true
		}
	}
	return option{}, false
}

// recommended is the best option, "" when none can be recommended.
func (w *wizard) recommended() string {
	for _, o := range w.advice.got {
		if o.Recommended {
			return o.Shape
		}
	}
	return ""
}

// rangeText writes an amount as a range: "5.1 – 6.3", or one number when both round to the same.
func rangeText(low, high float64) string {
	a, b := fmt.Sprintf("%.1f", low), fmt.Sprintf("%.1f", high)
	if a == b {
		return a
	}
	return a + " – " + b
}

// finishText writes when a run may be done, from hours after now: "23:10 – Tue 00:20"; far away, in days.
func finishText(low, high float64, now time.Time) string {
	at := func(h float64) time.Time { return now.Add(time.Duration(h * float64(time.Hour))) }
	if low > 6*24 {
		return fmt.Sprintf(lang.L("in about %.0f days"), math.Round((low+high)/48))
	}
	a, b := clock(at(low), now), clock(at(high), now)
	if a == b {
		return a
	}
	return a + " – " + b
}

// hoursView is the advice on a cap as the wizard shows it.
type hoursView struct {
	job               string // the wizard's jobKey it was asked for
	shape             string // the machine it is about
	Known             bool
	Basis             string // in words: "Bound from your 4 runs of this job, 95 %."
	Parts             string // "Start-up 0.3 h, 3 waves of up to 2.1 h each, 0.1 h to save."
	CapH, ExpectedH   float64
	BoundH            float64
	PKilled           float64 // at the cap asked for
	LimitH            float64
	LeftAfterH        *float64
	Runs              []float64 // measured sessions' hours, for the dots
	Stopped, ThisWeek string    // the two cards below
	Warnings          []string
	Options           []string // other ways to run it
	KilledAt          func(capH float64) float64
}

// chart draws how long the session may take, with the cap; nil when nothing is known.
func (h hoursView) chart(cap float64, pool string) charts.Chart {
	if !h.Known || h.KilledAt == nil {
		return nil
	}
	d := charts.Distribution{Ink: poolInk(pool), Expected: h.ExpectedH, Cap: cap, Runs: h.Runs, Limit: h.LimitH}
	if cap > 0 {
		d.CapNote = stoppedText(h.KilledAt(cap))
	}
	d.Points = h.density(cap)
	return d
}

// density is how likely each length is, from the chances to be over by then: a slope, so that the hump and the stated chances are
// one and the same thing.
func (h hoursView) density(cap float64) []charts.Point {
	lo, hi := h.ExpectedH, math.Max(h.BoundH, h.ExpectedH)
	for range 60 {
		if lo <= 0.02 || 1-h.KilledAt(lo) < 0.002 {
			break
		}
		lo *= 0.94
	}
	most := math.Max(math.Max(h.LimitH, cap), h.BoundH) // nothing runs longer than a session may, however long the tail
	for hi < most && h.KilledAt(hi) > 0.004 {
		hi *= 1.05
	}
	hi = math.Max(math.Min(hi, most), cap) * 1.04
	lo = math.Max(0, lo-0.1*(hi-lo))
	const n = 120
	var out []charts.Point
	step := (hi - lo) / n
	if step <= 0 {
		return nil
	}
	for i := range n + 1 {
		x := lo + float64(i)*step
		d := (h.KilledAt(math.Max(0.001, x-step)) - h.KilledAt(x+step)) / (2 * step)
		out = append(out, charts.Point{X: x, Y: math.Max(0, d)})
	}
	return out
}

// stoppedText is the chance to be stopped, in runs of a hundred.
func stoppedText(p float64) string {
	switch n := math.Round(100 * p); {
	case p < 0.005:
		return lang.L("stopped in under 1 of 100 runs")
	case n >= 100:
		return lang.L("stopped for sure")
	default:
		return fmt.Sprintf(lang.L("stopped in about %.0f of 100 runs"), n)
	}
}
