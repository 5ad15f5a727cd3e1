package desktop

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"fyne.io/fyne/v2/lang"

	"sandglass/app"
)

// newForm is what a person has typed into the New run wizard, as text, so that nothing they typed is ever lost or corrected
// behind their back.
type newForm struct {
	Project, Name, Command                 string
	Datasets, Competition, Kernels, Models string // one a line, or separated by commas or spaces
	Shape                                  string
	Hours                                  string // "" = as advised
	Folds                                  string // "" = all of data/folds.csv
	Baseline                               string
	Include                                string // files and folders that travel; "" = src
	Nested                                 bool   // each input in a folder of its own
	Internet                               bool
}

// field names an answer of the wizard: the place of a hint, and the key under which a draft keeps it.
type field string

const (
	fieldProject  field = "project"
	fieldName     field = "name"
	fieldCommand  field = "command"
	fieldInputs   field = "inputs"
	fieldHours    field = "hours"
	fieldFolds    field = "folds"
	fieldBaseline field = "baseline"
	fieldInclude  field = "include"
)

var (
	jobName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	source  = regexp.MustCompile(`^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)+(=.+)?$`)
)

// list splits a box that holds several names; nil for an empty one, which leaves it to the core's default.
func list(s string) []string {
	out := strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == '\n' || r == ' ' || r == ';' || r == '\t' })
	if len(out) == 0 {
		return nil
	}
	return out
}

// parseHours reads hours as people write them: "2", "2,5 h".
func parseHours(s string) (float64, bool) {
	s = strings.Replace(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), "h")), ",", ".", 1)
	h, err := strconv.ParseFloat(s, 64)
	return h, err == nil && h > 0 && h < 1e4
}

// spec reads the form over base, which keeps what the form does not ask for. problems names each field that cannot be read, in a
// sentence; it is empty when the form can be built. Only the form's own grammar is judged here: whether a run is allowed is the
// core's business, and what is wrong with the folder comes from app.LookAt.
func (f newForm) spec(base app.BuildSpec) (spec app.BuildSpec, problems map[field]string) {
	problems = map[field]string{}
	spec = base
	spec.Project, spec.Name, spec.Command = strings.TrimSpace(f.Project), strings.TrimSpace(f.Name), strings.TrimSpace(f.Command)
	spec.Accelerator, spec.NoInternet, spec.Baseline = f.Shape, !f.Internet, strings.TrimSpace(f.Baseline)
	spec.Datasets, spec.Competitions, spec.Kernels, spec.Models = list(f.Datasets), list(f.Competition), list(f.Kernels), list(f.Models)
	spec.Include, spec.Layout = list(f.Include), ""
	if f.Nested {
		spec.Layout = "nested"
	}
	if spec.Project == "" {
		problems[fieldProject] = lang.L("Choose the folder that holds your training code.")
	}
	if !jobName.MatchString(spec.Name) {
		problems[fieldName] = lang.L("A short name of letters, digits, dots and hyphens; results go to artifacts/<name>.")
	}
	if spec.Command == "" {
		problems[fieldCommand] = lang.L("The command that trains, with {fold} where the fold number goes.")
	}
	spec.Hours = 0
	if strings.TrimSpace(f.Hours) != "" {
		h, ok := parseHours(f.Hours)
		if !ok {
			problems[fieldHours] = lang.L("Hours as a number, for example 2 or 0.5.")
		} else {
			spec.Hours = h
		}
	}
	for _, s := range slices.Concat(spec.Datasets, spec.Kernels, spec.Models) {
		if !source.MatchString(s) {
			problems[fieldInputs] = fmt.Sprintf(lang.L("%q is not owner/name (or owner/name=folder)."), s)
		}
	}
	spec.Folds = nil
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
		Kernels: strings.Join(s.Kernels, " "), Models: strings.Join(s.Models, " "), Shape: s.Accelerator, Hours: hoursText(s.Hours), Baseline: s.Baseline,
		Include: strings.Join(s.Include, " "), Nested: s.Layout == "nested", Internet: !s.NoInternet}
	var folds []string
	for _, k := range s.Folds {
		folds = append(folds, strconv.Itoa(k))
	}
	f.Folds = strings.Join(folds, " ")
	return f
}

// hoursText is a cap as the field shows it; "" for none.
func hoursText(h float64) string {
	if h == 0 {
		return ""
	}
	return strconv.FormatFloat(h, 'g', -1, 64)
}

// suggest fills what a folder tells by itself, and leaves what the person typed.
func (f newForm) suggest(s app.BuildSpec) newForm {
	for _, c := range []struct {
		have *string
		told string
	}{{&f.Name, s.Name}, {&f.Command, s.Command}, {&f.Baseline, s.Baseline}} {
		if strings.TrimSpace(*c.have) == "" {
			*c.have = c.told
		}
	}
	return f
}

// answers are the form's words by field, for a draft.
func (f newForm) answers() map[string]string {
	yes := func(on bool) string {
		if on {
			return "yes"
		}
		return ""
	}
	return map[string]string{"project": f.Project, "name": f.Name, "command": f.Command, "datasets": f.Datasets, "competition": f.Competition, "kernels": f.Kernels,
		"models": f.Models, "shape": f.Shape, "hours": f.Hours, "folds": f.Folds, "baseline": f.Baseline, "include": f.Include, "nested": yes(f.Nested), "internet": yes(f.Internet)}
}

// formFrom reads a draft's words back.
func formFrom(a map[string]string) newForm {
	return newForm{Project: a["project"], Name: a["name"], Command: a["command"], Datasets: a["datasets"], Competition: a["competition"], Kernels: a["kernels"],
		Models: a["models"], Shape: a["shape"], Hours: a["hours"], Folds: a["folds"], Baseline: a["baseline"], Include: a["include"], Nested: a["nested"] != "", Internet: a["internet"] != ""}
}

// attach adds an input, and says whether it was not there yet.
func (f *newForm) attach(kind, ref string) bool {
	box := f.box(kind)
	if box == nil || slices.Contains(list(*box), ref) {
		return false
	}
	*box = strings.Join(append(list(*box), ref), " ")
	return true
}

// detach takes an input away, with its folder or without.
func (f *newForm) detach(kind, ref string) {
	if box := f.box(kind); box != nil {
		*box = strings.Join(slices.DeleteFunc(list(*box), func(s string) bool { return refOnly(s) == ref }), " ")
	}
}

// place gives an input a folder of its own under the project; "" = where the layout puts it.
func (f *newForm) place(kind, ref, folder string) {
	box := f.box(kind)
	if box == nil {
		return
	}
	all := list(*box)
	for i, s := range all {
		if refOnly(s) == ref {
			all[i] = ref
			if folder != "" {
				all[i] += "=" + folder
			}
		}
	}
	*box = strings.Join(all, " ")
}

func refOnly(s string) string {
	ref, _, _ := strings.Cut(s, "=")
	return ref
}

func (f *newForm) box(kind string) *string {
	switch kind {
	case app.InputCompetition:
		return &f.Competition
	case app.InputDataset:
		return &f.Datasets
	case app.InputKernel:
		return &f.Kernels
	case app.InputModel:
		return &f.Models
	}
	return nil
}
