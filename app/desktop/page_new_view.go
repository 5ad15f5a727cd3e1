package desktop

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"fyne.io/fyne/v2/lang"

	"sandglass/app"
)

// newForm is what a person has typed into the New run form, as text, so that nothing they typed is ever lost or corrected
// behind their back.
type newForm struct {
	Project, Name, Command         string
	Datasets, Competition, Kernels string // one a line, or separated by commas or spaces
	Shape                          string
	Hours                          string
	Folds                          string // "" = all of data/folds.csv
	Baseline                       string
	Include                        string // files and folders that travel; "" = src
	Internet                       bool
}

// field names a control of the form.
type field string

const (
	fieldProject  field = "project"
	fieldName     field = "name"
	fieldCommand  field = "command"
	fieldInputs   field = "inputs"
	fieldHours    field = "hours"
	fieldFolds    field = "folds"
	fieldBaseline field = "baseline"
)

var (
	jobName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	source  = regexp.MustCompile(`^[A-Za-z0-9_-]+/[A-Za-z0-9_-]+(=.+)?$`)
)

// list splits a box that holds several names.
func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == '\n' || r == ' ' || r == ';' || r == '\t' })
}

// spec reads the form. problems names each field that cannot be read, in a sentence; it is empty when the form can be built.
// Only the form's own grammar is judged here: whether a run is allowed is the core's business.
func (f newForm) spec() (spec app.BuildSpec, problems map[field]string) {
	problems = map[field]string{}
	spec = app.BuildSpec{
		Project: strings.TrimSpace(f.Project), Name: strings.TrimSpace(f.Name), Command: strings.TrimSpace(f.Command),
		Accelerator: f.Shape, Datasets: list(f.Datasets), Competitions: list(f.Competition), Kernels: list(f.Kernels),
		Baseline: strings.TrimSpace(f.Baseline), Include: list(f.Include), NoInternet: !f.Internet,
	}
	if spec.Project == "" {
		problems[fieldProject] = lang.L("Choose the folder that holds your training code.")
	} else if st, err := os.Stat(spec.Project); err != nil || !st.IsDir() {
		problems[fieldProject] = lang.L("There is no such folder.")
	}
	if !jobName.MatchString(spec.Name) {
		problems[fieldName] = lang.L("A short name of letters, digits, dots and hyphens; results go to artifacts/<name>.")
	}
	if spec.Command == "" {
		problems[fieldCommand] = lang.L("The command that trains, with {fold} where the fold number goes.")
	}
	h, err := strconv.ParseFloat(strings.Replace(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(f.Hours), "h")), ",", ".", 1), 64)
	if err != nil || h <= 0 {
		problems[fieldHours] = lang.L("Hours as a number, for example 2 or 0.5.")
	}
	spec.Hours = h
	for _, s := range append(append([]string{}, spec.Datasets...), spec.Kernels...) {
		if !source.MatchString(s) {
			problems[fieldInputs] = fmt.Sprintf(lang.L("%q is not owner/name (or owner/name=folder)."), s)
		}
	}
	for _, s := range list(f.Folds) {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 {
			problems[fieldFolds] = fmt.Sprintf(lang.L("%q is not a fold number; write for example 0 1 2, or leave it empty for all."), s)
			break
		}
		spec.Folds = append(spec.Folds, n)
	}
	return spec, problems
}

// formOf is the form as it was for an earlier run.
func formOf(s app.BuildSpec) newForm {
	f := newForm{Project: s.Project, Name: s.Name, Command: s.Command, Datasets: strings.Join(s.Datasets, " "), Competition: strings.Join(s.Competitions, " "),
		Kernels: strings.Join(s.Kernels, " "), Shape: s.Accelerator, Hours: strconv.FormatFloat(s.Hours, 'g', -1, 64), Baseline: s.Baseline,
		Include: strings.Join(s.Include, " "), Internet: !s.NoInternet}
	var folds []string
	for _, k := range s.Folds {
		folds = append(folds, strconv.Itoa(k))
	}
	f.Folds = strings.Join(folds, " ")
	return f
}

// suggest fills what a folder tells by itself, and leaves what the person typed.
func (f newForm) suggest() newForm {
	dir := strings.TrimSpace(f.Project)
	if dir == "" {
		return f
	}
	if f.Name == "" {
		f.Name = strings.Trim(regexp.MustCompile(`[^A-Za-z0-9._-]+`).ReplaceAllString(filepath.Base(dir), "-"), "-.")
	}
	if f.Command == "" {
		if _, err := os.Stat(filepath.Join(dir, "src", "train.py")); err == nil {
			f.Command = "python src/train.py --name " + f.Name
			if _, err := os.Stat(filepath.Join(dir, "data", "folds.csv")); err == nil {
				f.Command += " --folds {fold}"
			}
		}
	}
	if f.Baseline == "" {
		if _, err := os.Stat(filepath.Join(dir, "artifacts", "baseline")); err == nil {
			f.Baseline = "baseline"
		}
	}
	return f
}

// ticketLine is one row of the card that says what the run will be and cost.
type ticketLine struct{ Label, Value string }

// ticket is what the card beside the form shows after a build.
type ticket struct {
	Lines    []ticketLine
	Guards   []app.Guard
	Warnings []string
	Button   string // the words of the push button, cost included
	CanPush  bool   // nothing speaks against it, or what does can be overridden or queued for
	Queue    bool   // a slot is missing: the button queues instead
}

// newTicket words a build and its push plan.
func newTicket(b app.BuildResult, p app.PushPlan) ticket {
	t := ticket{Guards: p.Guards, Warnings: append(append([]string{}, b.Warnings...), p.Warnings...)}
	add := func(l, v string) { t.Lines = append(t.Lines, ticketLine{l, v}) }
	add(lang.L("kernel"), p.Kernel)
	add(lang.L("accelerator"), poolLabel(p.Pool))
	switch n := len(b.Folds) * max(1, len(b.Jobs)); {
	case len(b.Folds) == 1:
		add(lang.L("tasks"), fmt.Sprintf(lang.L("fold %d"), b.Folds[0]))
	case len(b.Folds) > 1:
		add(lang.L("tasks"), fmt.Sprintf(lang.L("%d folds"), n))
	default:
		add(lang.L("tasks"), lang.L("one, whole machine"))
	}
	add(lang.L("cap"), hours(p.CapHours))
	if pool := p.Quota.GPU; p.Pool == app.PoolGPU && pool.Known {
		add(lang.L("left now"), hours(pool.Left))
		add(lang.L("left after, at most used"), hours(p.LeftAfter))
	} else if pool := p.Quota.TPU; p.Pool == app.PoolTPU && pool.Known {
		add(lang.L("left now"), hours(pool.Left))
		add(lang.L("left after, at most used"), hours(p.LeftAfter))
	} else if p.Pool != app.PoolCPU {
		add(lang.L("left now"), lang.L("unknown"))
	}
	add(lang.L("script"), fmt.Sprintf(lang.L("%s of 1.0 MB"), bytesText(int64(b.ScriptBytes))))

	t.CanPush = true
	t.Button = lang.L("Push, ") + p.CostText
	for _, g := range p.Guards {
		switch {
		case g.Code == "slots":
			t.Queue = true
			t.Button = lang.L("Push when a slot frees, ") + p.CostText
		case g.Override == "":
			t.CanPush = false
		default:
			t.Button = lang.L("Push all the same, ") + p.CostText
		}
	}
	return t
}
