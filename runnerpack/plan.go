package runnerpack

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// plan is a Spec with every default filled in and every field checked.
type plan struct {
	Spec
	root     string // absolute
	out      string // absolute
	identity Identity
	shape    shape
	jobs     []Job
	folds    []int
	table    *table // data/folds.csv, nil when there is none
	warnings []string
}

func (p *plan) warn(format string, args ...any) {
	p.warnings = append(p.warnings, fmt.Sprintf(format, args...))
}

// newPlan checks a Spec, in the order in which a person would read it.
func newPlan(spec Spec) (*plan, error) {
	p := &plan{Spec: spec}
	for _, step := range []func() error{
		p.checkProject, p.checkName, p.checkHours, p.checkIdentity, p.checkInputs,
		p.checkBaseline, p.checkTexts, p.readFolds, p.checkJobs, p.checkDurations,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	p.remarks()
	return p, nil
}

func (p *plan) checkProject() error {
	if p.Project == "" {
		return &SpecError{"project", "name the project's folder"}
	}
	root, err := filepath.Abs(p.Project)
	if err != nil {
		return &SpecError{"project", err.Error()}
	}
	p.root = root
	if p.Include == nil {
		p.Include = []string{"src"}
	}
	return nil
}

// checkName: the name is a folder under artifacts/, here and in the session.
func checkJobName(field, name string) error {
	switch {
	case name == "":
		return &SpecError{field, "is missing"}
	case len(name) > 80:
		return &SpecError{field, "has more than 80 characters"}
	case !isASCII(name) || strings.ContainsAny(name, `/\:*?"<>|'`+"`$;&") || strings.Trim(name, ". ") != name || name[0] == '-':
		return &SpecError{field, fmt.Sprintf("%q becomes a folder and part of a command; use letters, digits, - _ and .", name)}
	}
	return nil
}

func (p *plan) checkName() error { return checkJobName("name", p.Name) }

func (p *plan) checkHours() error {
	if p.Accelerator == "" {
		p.Accelerator = AcceleratorT4
	}
	if strings.EqualFold(p.Accelerator, AcceleratorNone) {
		p.Accelerator = AcceleratorNone
	}
	s, known := knownShape(p.Accelerator)
	if !known || !slices.Contains([]string{AcceleratorT4, AcceleratorTPU, ""}, s.name) {
		reason := fmt.Sprintf("%q is none that a build can use; use %s, %s or %s", p.Accelerator, AcceleratorT4, AcceleratorTPU, AcceleratorNone)
		if s.retired != "" {
			reason += fmt.Sprintf(" (%s is retired: Kaggle runs %s instead)", s.name, s.retired)
		}
		return &SpecError{"accelerator", reason}
	}
	if p.shape = s; s.name != "" {
		p.Accelerator = s.name
	}
	limit := MaxHours
	if s.pool == poolTPU {
		limit = MaxHoursTPU
	}
	if math.IsNaN(p.Hours) || p.Hours <= 0 || p.Hours > limit {
		return &SpecError{"hours", fmt.Sprintf("%g is not above 0 and at most %g, Kaggle's session limit on %s", p.Hours, limit, p.Accelerator)}
	}
	if p.Retry < 0 || p.Retry > 1 {
		return &SpecError{"retry", fmt.Sprintf("%d is neither 0 nor 1", p.Retry)}
	}
	if math.IsNaN(p.StallMinutes) || math.IsInf(p.StallMinutes, 0) || p.StallMinutes > 60*p.Hours {
		return &SpecError{"stall", fmt.Sprintf("%g minutes are not within the cap of %g hours", p.StallMinutes, p.Hours)}
	}
	switch p.Layout {
	case "":
		p.Layout = "flat"
	case "flat", "nested":
	default:
		return &SpecError{"layout", fmt.Sprintf("%q is neither flat nor nested", p.Layout)}
	}
	return nil
}

func (p *plan) checkIdentity() error {
	slug := p.Slug
	if slug == "" {
		slug = Slugify(p.Name)
		slug = strings.Trim(slug[:min(len(slug), MaxTitle-len("-train"))], "-") + "-train"
	}
	id, err := CheckIdentity(strings.ReplaceAll(slug, "-", " "), strings.ToLower(p.Owner)+"/"+slug)
	if err != nil {
		return err
	}
	p.identity = id
	if p.Out == "" {
		p.out = filepath.Join(p.root, ".sandglass", "build", id.Slug)
		return nil
	}
	if p.out, err = filepath.Abs(p.Out); err != nil {
		return &SpecError{"out", err.Error()}
	}
	return nil
}

func (p *plan) checkBaseline() error {
	b := p.Baseline
	if b == nil {
		return nil
	}
	c := *b
	switch {
	case c.Reference == "":
		return &SpecError{"prune-against", "name the folder with the earlier run's curves"}
	case math.IsNaN(c.Margin) || math.IsInf(c.Margin, 0) || c.Margin < 0:
		return &SpecError{"prune-margin", fmt.Sprintf("%g is no margin", c.Margin)}
	case math.IsNaN(c.MinFrac) || c.MinFrac < 0 || c.MinFrac >= 1:
		return &SpecError{"prune-min-frac", fmt.Sprintf("%g is not between 0 and 1", c.MinFrac)}
	case c.MinFrac == 0:
		c.MinFrac = DefaultMinFrac
	}
	for k, m := range c.FoldMargins {
		if k < 0 || math.IsNaN(m) || math.IsInf(m, 0) || m < 0 {
			return &SpecError{"prune-seeds", fmt.Sprintf("fold %d: %g is no margin", k, m)}
		}
	}
	if !filepath.IsAbs(c.Reference) {
		c.Reference = filepath.Join(p.root, c.Reference)
	}
	p.Baseline = &c
	return nil
}

// checkTexts: what goes into the config in clear must hold no secret and no
// line breaks.
func (p *plan) checkTexts() error {
	var places []string
	check := func(field string, texts ...string) error {
		for _, text := range texts {
			if strings.ContainsAny(text, "\n\r\x00") {
				return &SpecError{field, "is more than one line"}
			}
			for _, s := range findSecrets(field, []byte(text)) {
				places = append(places, strings.Replace(s, ":1:", ":", 1))
			}
		}
		return nil
	}
	err := errors.Join(check("cmd", p.Command), check("assemble", p.Assemble), check("post", p.Post...), check("pip", p.Pip...))
	for _, j := range p.ExtraJobs {
		err = errors.Join(err, check("extra-job "+j.Name, j.Command, j.Assemble))
	}
	if err != nil {
		return err
	}
	if places != nil {
		return &SecretError{Places: places}
	}
	return nil
}

func (p *plan) readFolds() error {
	data, err := readFile(filepath.Join(p.root, filepath.FromSlash(FoldsFile)), maxTableBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return p.foldsWithoutFile()
	}
	if err != nil {
		return err
	}
	t, f, err := readFoldsTable(data)
	if err != nil {
		return fmt.Errorf("%s: %w", FoldsFile, err)
	}
	p.table = t
	for _, w := range f.Warnings {
		p.warn("%s: %s", FoldsFile, w)
	}
	if n := len(f.HeldOut); n > 0 {
		p.warn("%s: %d rows have a negative fold: held out, never validated on and never a task (%s%s)", FoldsFile, n,
			strings.Join(f.HeldOut[:min(3, n)], ", "), map[bool]string{true: ", …"}[n > 3])
	}
	p.folds = f.Folds
	return nil
}

// commands are all that the session runs.
func (p *plan) commands() []string {
	out := slices.Clone(p.Post)
	for _, j := range p.jobs {
		out = append(out, j.Command, j.Assemble)
	}
	return out
}

func (p *plan) foldsWithoutFile() error {
	if p.SplitFrom != "" {
		return &SpecError{"split-from", fmt.Sprintf("there is no %s here to compare the dataset's with; put the file into the project, it does not travel", FoldsFile)}
	}
	if p.Folds == nil {
		return nil
	}
	p.warn("there is no %s; the folds are taken as given", FoldsFile)
	return nil
}

func (p *plan) checkDurations() error {
	for task, s := range p.Durations {
		if math.IsNaN(s) || math.IsInf(s, 0) || s < 0 {
			return &SpecError{"durations", fmt.Sprintf("%s: %g seconds", task, s)}
		}
	}
	return nil
}

// workers is how many tasks run at once.
func (p *plan) workers() int {
	switch p.shape.pool {
	case poolGPU:
		return 2
	case poolTPU:
		return 8
	}
	return 1
}

// remarks says what would be paid for and not used.
func (p *plan) remarks() {
	load, w, device := p.work(), p.workers(), p.devices()
	if idle := (w - load.tasks%w) % w; load.tasks > 0 && idle > 0 {
		p.warn("%d tasks on %d %s: %d of them idle in the last round, though paid for; %s there cost nothing more",
			load.tasks, w, device, idle, plural(idle, "further task"))
	}
	if load.alone > 0 && w > 1 {
		hint := ""
		if p.shape.pool == poolGPU {
			hint = "; --launcher torchrun or accelerate starts a script written for them once a card"
		}
		p.warn("a command without {fold} is one process that has all %d %s to itself: it uses one unless it spreads its own work%s", w, device, hint)
	}
}

// checkInputs checks what is attached and takes references to lower case.
func (p *plan) checkInputs() error {
	seen := map[string]bool{}
	inputs := slices.Clone(p.Inputs)
	for i := range inputs {
		in := &inputs[i]
		in.Ref = strings.ToLower(strings.TrimSpace(in.Ref))
		if err := checkRef(in.Kind, in.Kind, in.Ref); err != nil {
			return err
		}
		if seen[in.Kind+in.Ref] {
			return &SpecError{in.Kind, in.Ref + " is given twice"}
		}
		seen[in.Kind+in.Ref] = true
		if in.Target != "" {
			target := path.Clean(filepath.ToSlash(in.Target))
			if !filepath.IsLocal(filepath.FromSlash(target)) || target == "." || strings.Contains(target, `\`) {
				return &SpecError{in.Kind, fmt.Sprintf("%s=%s: the folder has to be inside the project", in.Ref, in.Target)}
			}
			in.Target = target
		}
	}
	p.Inputs = inputs
	if p.SplitFrom = strings.ToLower(strings.TrimSpace(p.SplitFrom)); p.SplitFrom != "" {
		if err := checkRef("split-from", "kernel", p.SplitFrom); err != nil { // no version: the newest is mounted
			return err
		}
	}
	for field, refs := range map[string]*[]string{"resume-from": &p.ResumeFrom, "wheels": &p.Wheels} {
		list := slices.Clone(*refs)
		for i := range list {
			list[i] = strings.ToLower(strings.TrimSpace(list[i]))
			if err := checkRef(field, "kernel", list[i]); err != nil {
				return err
			}
		}
		*refs = slices.Compact(list)
	}
	if slices.Contains(p.ResumeFrom, p.identity.ID()) {
		return &SpecError{"resume-from", p.identity.ID() + " is this very kernel; give the follow-up a slug of its own"}
	}
	return nil
}

// checkRef checks the form of a reference; field is how the person knows it.
func checkRef(field, kind, ref string) error {
	parts := strings.Split(ref, "/")
	for _, part := range parts {
		if part == "" || strings.Trim(part, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" || strings.Trim(part, ".") == "" {
			return &SpecError{field, fmt.Sprintf("%q is no reference of Kaggle's", ref)}
		}
	}
	isNumber := func(s string) bool { n, err := strconv.Atoi(s); return err == nil && n > 0 }
	switch kind {
	case "dataset":
		if len(parts) == 2 || len(parts) == 3 && isNumber(parts[2]) {
			return nil
		}
		return &SpecError{field, fmt.Sprintf("%q is not owner/slug", ref)}
	case "kernel":
		if len(parts) == 2 {
			return nil
		}
		return &SpecError{field, fmt.Sprintf("%q is not owner/slug", ref)}
	case "competition":
		if len(parts) == 1 {
			return nil
		}
		return &SpecError{field, fmt.Sprintf("%q is not a competition's slug", ref)}
	case "model":
		if len(parts) == 5 && isNumber(parts[4]) {
			return nil
		}
		return &SpecError{field, fmt.Sprintf("%q is not owner/model/framework/variation/version", ref)}
	}
	return &SpecError{"inputs", fmt.Sprintf("%q is no kind of input; dataset, competition, kernel and model are", kind)}
}
