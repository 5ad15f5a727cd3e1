package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/term"

	"sandglass/app"
)

// Rules of the output: one result on standard output, as text or as one JSON document; everything else on standard error.
// A failure is "error: " with one sentence, then "hint: " with the next step. Hours have one decimal and their unit.

// failure is an error under --json.
type failure struct {
	Error  string      `json:"error"`
	Hint   string      `json:"hint"`
	Exit   int         `json:"exit"`
	Guards []app.Guard `json:"guards,omitempty"`
}

// finish says what went wrong and gives the exit code.
func (p *program) finish(ctx context.Context, err error) int {
	var (
		code  exitError
		usage *usageError
		stop  *stoppedError
		guard *app.GuardError
		f     failure
	)
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &usage):
		f = failure{Error: usage.Text, Hint: usage.Hint, Exit: exitUsage}
	case errors.As(err, &stop):
		f = failure{Error: stop.Text, Hint: stop.Hint, Exit: exitFailed}
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		f = failure{Error: "stopped before it was done; what was under way is as it was", Exit: exitFailed}
	default:
		e := app.Explain(err)
		f = failure{Error: e.Sentence, Hint: e.Action, Exit: e.Exit}
		if f.Error == "" {
			f.Error = e.Title
		}
		if f.Exit == exitDone {
			f.Exit = exitFailed
		}
		if errors.As(err, &guard) {
			f.Guards = guard.Guards
		}
		if p.verbose && e.Details != "" {
			fmt.Fprintln(p.stderr, "details:", e.Details)
		}
	}
	fmt.Fprintln(p.stderr, "error:", oneLine(f.Error))
	if f.Hint != "" {
		fmt.Fprintln(p.stderr, "hint:", oneLine(f.Hint))
	}
	if p.json {
		_ = p.writeJSON(f)
	}
	return f.Exit
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// result prints v as JSON, or calls text.
func (p *program) result(v any, text func(w io.Writer)) error {
	p.progress.clear()
	var err error
	if p.json {
		err = p.writeJSON(v)
	} else {
		var b bytes.Buffer
		text(&b)
		_, err = p.stdout.Write(b.Bytes())
	}
	if err != nil {
		return fmt.Errorf("the result could not be printed: %w", err)
	}
	return nil
}

func (p *program) writeJSON(v any) error {
	enc := json.NewEncoder(p.stdout)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// progress is the line that says what is under way. On a terminal it rewrites itself; elsewhere each new stage is a line. Work that
// goes on side by side may report at once.
type progress struct {
	w     io.Writer
	tty   bool
	mu    sync.Mutex
	last  string
	said  map[string]bool // steps that were told, where nothing can be rewritten
	drawn bool
}

func newProgress(w io.Writer) *progress {
	return &progress{w: w, tty: isTerminal(w), said: map[string]bool{}}
}

// report takes a step of long work.
func (g *progress) report(x app.Progress) {
	line := x.Stage
	if x.Item != "" {
		line += " " + x.Item
	}
	if !g.tty { // files that come side by side report by turns: each is said once
		g.mu.Lock()
		defer g.mu.Unlock()
		if !g.said[line] {
			g.said[line] = true
			g.write(line)
		}
		return
	}
	switch {
	case x.Total > 0 && x.Total < 1<<16:
		line += fmt.Sprintf(" (%d of %d)", x.Done, x.Total)
	case x.Total > 0:
		line += fmt.Sprintf(" (%s of %s)", size(x.Done), size(x.Total))
	case x.Done > 0:
		line += " (" + size(x.Done) + ")"
	}
	g.show(line)
}

// line says something that stays.
func (g *progress) line(s string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.write(s)
}

func (g *progress) write(s string) {
	if s == g.last {
		return
	}
	g.wipe()
	g.last = s
	fmt.Fprintln(g.w, s)
}

// show says something that the next step replaces; on a terminal only.
func (g *progress) show(s string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.tty || s == g.last {
		return
	}
	g.last, g.drawn = s, true
	fmt.Fprint(g.w, "\r\x1b[K"+s)
}

func (g *progress) clear() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wipe()
}

func (g *progress) wipe() {
	if g.drawn {
		fmt.Fprint(g.w, "\r\x1b[K")
		g.drawn = false
	}
}

func isTerminal(x any) bool {
	f, ok := x.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// plain takes out of words that come from a session or from Kaggle what a terminal would obey: they may be colours, or worse.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return '\ufffd'
		}
		return r
	}, s)
}

// count writes a number of things: "1 file", "3 files".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// machine names an accelerator on a terminal.
func machine(shape string) string {
	if shape == "none" || shape == "" {
		return "CPU"
	}
	return shape
}

// hours writes a length or an amount of quota: one decimal, two where a quarter of an hour would be rounded away.
func hours(h float64) string {
	if math.Abs(h) < .995 && math.Abs(h*10-math.Round(h*10)) > .05 {
		return fmt.Sprintf("%.2f h", h)
	}
	return fmt.Sprintf("%.1f h", h)
}

func size(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d bytes", n)
}

// span writes a duration in the two units that suit it: "2 d 3 h", "3 h 20 min", "12 min", "40 s".
func span(d time.Duration) string {
	d = max(d, 0)
	day, h, m := int(d.Hours())/24, int(d.Hours())%24, int(d.Minutes())%60
	switch {
	case day > 0:
		return fmt.Sprintf("%d d %d h", day, h)
	case h > 0:
		return fmt.Sprintf("%d h %d min", h, m)
	case m > 0:
		return fmt.Sprintf("%d min", m)
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// dated writes the day of t in its own zone, with the year when it is not this one.
func dated(t time.Time, form string) string {
	if t.Year() != time.Now().Year() {
		form += " 2006"
	}
	return t.Format(form)
}

// moment writes a time in the person's zone and in UTC.
func moment(t time.Time) string {
	s := dated(t.Local(), "Mon 2 Jan") + t.Local().Format(" 15:04 MST")
	if _, offset := t.Local().Zone(); offset != 0 {
		s += " (" + t.UTC().Format("15:04") + " UTC)"
	}
	return s
}
