package runnerpack

import (
	"bytes"
	"fmt"
	"sort"
	"strings"
)

// config is CONFIG of the script. Field by field in this order, one line each,
// so that a person who opens the script can read it.
type config struct {
	Schema             int                `json:"schema"`
	Name               string             `json:"name"`
	Kernel             string             `json:"kernel"`
	BuildID            string             `json:"build_id"`
	Accelerator        string             `json:"accelerator"`
	Hours              float64            `json:"hours"`
	Jobs               []RecordJob        `json:"jobs"`
	Post               []string           `json:"post"`
	Pip                []string           `json:"pip"`
	Wheels             []string           `json:"wheels"`
	Inputs             []configInput      `json:"inputs"`
	Layout             string             `json:"layout"`
	Resume             []string           `json:"resume"`
	Prune              *RecordPrune       `json:"prune"`
	AllowAnyDevice     bool               `json:"allow_any_device"`
	AllowMissingInputs bool               `json:"allow_missing_inputs"`
	Retry              int                `json:"retry"`
	StallSeconds       *float64           `json:"stall_s,omitempty"`
	Durations          map[string]float64 `json:"durations"`
	Splits             []Split            `json:"splits"`
}

type configInput struct {
	Kind   string  `json:"kind"`
	Ref    string  `json:"ref"`
	Target *string `json:"target"`
}

func (p *plan) config(pl *payload) config {
	c := config{
		Schema: 1, Name: p.Name, Kernel: p.identity.ID(), Accelerator: p.Accelerator, Hours: p.Hours,
		Jobs: p.recordJobs(), Post: orEmpty(p.Post), Pip: orEmpty(p.Pip), Wheels: orEmpty(p.Wheels), Inputs: []configInput{},
		Layout: p.Layout, Resume: orEmpty(p.ResumeFrom), AllowAnyDevice: p.AllowAnyDevice,
		AllowMissingInputs: p.AllowMissingInputs, Retry: p.Retry, Durations: p.Durations, Splits: pl.splits,
	}
	if c.Durations == nil {
		c.Durations = map[string]float64{}
	}
	if c.Splits == nil {
		c.Splits = []Split{}
	}
	for _, in := range p.Inputs {
		ci := configInput{Kind: in.Kind, Ref: in.Ref}
		if in.Target != "" {
			ci.Target = &in.Target
		}
		c.Inputs = append(c.Inputs, ci)
	}
	if b := p.Baseline; b != nil {
		c.Prune = &RecordPrune{Margin: b.Margin, MinFrac: b.MinFrac, FoldMargins: b.FoldMargins}
	}
	if p.StallMinutes != 0 {
		s := 60 * max(p.StallMinutes, 0)
		c.StallSeconds = &s
	}
	return c
}

func (p *plan) recordJobs() []RecordJob {
	var out []RecordJob
	for _, j := range p.jobs {
		r := RecordJob{Name: j.Name, Command: j.Command, Folds: j.Folds, Launcher: j.Launcher, Wide: j.WideFolds}
		if j.Assemble != "" {
			r.Assemble = &j.Assemble
		}
		out = append(out, r)
	}
	return out
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// text writes the config with one key a line and, in lists of objects, one
// element a line; ASCII, without apostrophes, for a raw Python literal.
func (c config) text() ([]byte, error) {
	raw, err := plainJSON(c)
	if err != nil {
		return nil, err
	}
	return asciiJSON(spread(raw)), nil
}

// spread breaks compact JSON at the commas of the outer object and of arrays of
// objects directly in it.
func spread(raw []byte) []byte {
	var out bytes.Buffer
	depth, quoted := 0, false
	list := false // in an array of objects at depth 2
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if quoted {
			out.WriteByte(c)
			if c == '\\' {
				i++
				out.WriteByte(raw[i])
			}
			quoted = c != '"'
			continue
		}
		switch c {
		case '"':
			quoted = true
		case '{', '[':
			depth++
			list = list || depth == 2 && c == '[' && raw[i+1] == '{'
		case '}', ']':
			depth--
			if depth == 0 {
				out.WriteByte('\n')
			}
			if depth == 1 && list {
				out.WriteString("\n ")
				list = false
			}
		}
		out.WriteByte(c)
		switch {
		case depth == 1 && (c == '{' || c == ','):
			out.WriteString("\n ")
		case depth == 2 && list && (c == '[' || c == ','):
			out.WriteString("\n  ")
		case c == ',' || c == ':':
			out.WriteByte(' ')
		}
	}
	return out.Bytes()
}

// doc is the head of the script, for whoever opens it at Kaggle.
func (p *plan) doc(buildID string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: a training session built by Sandglass.\n\n", p.Name)
	fmt.Fprintf(&b, "Kernel  %s, build %s\n", p.identity.ID(), buildID)
	for _, j := range p.jobs {
		fmt.Fprintf(&b, "Job     %s: %s\n", j.Name, j.Command)
		if j.Folds != nil {
			fmt.Fprintf(&b, "        folds %s\n", joinInts(j.Folds))
		}
	}
	b.WriteString(limitLine(p.Accelerator, p.Hours) + "\n")
	b.WriteString("What it does: unpacks the code that it carries, links the inputs, runs one process for\n" +
		"each job and fold, saves state before the time is up, and writes what it found to run.json.\n" +
		"To stop it: open the session at kaggle.com (View Active Events) and choose Stop session;\n" +
		"what is in the output folder by then is kept.\n\n" +
		"The program that does all this is in the payload: python this_file.py --show _sandglass/runner.py")
	return docText(b.String())
}

// docText makes text safe within a Python docstring of an ASCII file.
func docText(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r >= ' ' && r < 0x7f && r != '\\':
			return r
		case r == '\\':
			return '/'
		}
		return '?'
	}, s)
	return strings.ReplaceAll(s, `"""`, `'''`)
}

// template is the script, cut at its marks.
type template struct{ text string }

var templateMarks = []string{"@@DOC@@", "@@CONFIG@@", "@@PAYLOAD@@", "@@PAYLOAD_SHA256@@"}

func readTemplate() (template, error) {
	raw, err := session.ReadFile(scriptTemplate)
	if err != nil {
		return template{}, fmt.Errorf("the script in this program: %w", err)
	}
	text := strings.ReplaceAll(string(raw), "\r\n", "\n")
	for _, mark := range templateMarks {
		if n := strings.Count(text, mark); n != 1 {
			return template{}, fmt.Errorf("the script in this program has the mark %s %d times", mark, n)
		}
	}
	if !isASCII(strings.ReplaceAll(text, "\n", "")) {
		return template{}, fmt.Errorf("the script in this program is not ASCII")
	}
	return template{text}, nil
}

// fill puts the values at their marks. A value may hold a mark's text itself, so
// the template is cut first.
func (t template) fill(doc string, config, payload []byte, sha string) []byte {
	values := map[string][]byte{
		templateMarks[0]: []byte(doc), templateMarks[1]: config,
		templateMarks[2]: payload, templateMarks[3]: []byte(sha),
	}
	marks := append([]string(nil), templateMarks...)
	sort.Slice(marks, func(i, j int) bool { return strings.Index(t.text, marks[i]) < strings.Index(t.text, marks[j]) })
	out := make([]byte, 0, len(t.text)+len(config)+len(payload)+len(doc)+64)
	rest := t.text
	for _, mark := range marks {
		before, after, _ := strings.Cut(rest, mark)
		out = append(append(out, before...), values[mark]...)
		rest = after
	}
	return append(out, rest...)
}
