package runnerpack

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const foldMark = "{fold}"

var (
	// nearFold is what was probably meant as {fold}.
	nearFold = regexp.MustCompile(`(?i)\{\s*folds?\s*\}|\$\{?folds?\b`)
	// foldFlag is a flag that takes the fold: --folds {fold}, --fold={fold}, -f "{fold}" …
	foldFlag = regexp.MustCompile(`(^|\s)(?:--?[A-Za-z_-]*[Ff]olds?[A-Za-z_-]*|-[fk])(?:=|\s+)("?|'?)\{fold\}("?|'?)(\s|$)`)
	// launchable is the form of command that the session can hand to a launcher.
	launchable = regexp.MustCompile(`^(?:\w+=\S*\s+)*(?:\S*/)?python[\d.]*\s+(?:-[uBEsS]+\s+)*(?:-m\s|[^-\s])`)
	nameFlag   = regexp.MustCompile(`(?:^|\s)--name(?:=|\s+)(?:"([^"]*)"|'([^']*)'|(\S+))`)
)

// checkJobs settles each job's folds and assembly.
func (p *plan) checkJobs() error {
	all := p.folds
	run, err := p.wantedFolds("folds", p.Folds)
	if err != nil {
		return err
	}
	jobs := append([]Job{{Name: p.Name, Command: p.Command, Assemble: p.Assemble, Launcher: p.Launcher, WideFolds: p.WideFolds}}, slices.Clone(p.ExtraJobs)...)
	used := map[string]bool{}
	var union []int
	for i := range jobs {
		if err := p.checkJob(&jobs[i], i, run, all); err != nil {
			return err
		}
		// Two names that differ by case only would share a folder on a Mac or under Windows.
		if low := strings.ToLower(jobs[i].Name); used[low] {
			return &SpecError{"extra-job", fmt.Sprintf("two jobs are named %s", jobs[i].Name)}
		} else {
			used[low] = true
		}
		union = append(union, jobs[i].Folds...)
	}
	if p.Folds != nil && union == nil {
		return &SpecError{"folds", "folds were asked for, and no command has {fold} in it"}
	}
	slices.Sort(union)
	p.jobs, p.folds = jobs, slices.Compact(union)
	return nil
}

// wantedFolds checks a list of folds against data/folds.csv.
func (p *plan) wantedFolds(field string, want []int) ([]int, error) {
	if want == nil {
		return p.folds, nil
	}
	out := slices.Clone(want)
	slices.Sort(out)
	out = slices.Compact(out)
	if len(out) == 0 {
		return nil, &SpecError{field, "the list is empty"}
	}
	for _, k := range out {
		switch {
		case k < 0:
			return nil, &SpecError{field, fmt.Sprintf("%d is negative: such rows are held out and never a task", k)}
		case k > maxFold:
			return nil, &SpecError{field, fmt.Sprintf("%d is no fold", k)}
		case p.table != nil && !slices.Contains(p.folds, k):
			return nil, &SpecError{field, fmt.Sprintf("no row of %s has fold %d; it has %s", FoldsFile, k, joinInts(p.folds))}
		}
	}
	return out, nil
}

func joinInts(list []int) string {
	var words []string
	for _, k := range list {
		words = append(words, strconv.Itoa(k))
	}
	return strings.Join(words, ", ")
}

// checkJob settles job number i of the session.
func (p *plan) checkJob(j *Job, i int, run, all []int) error {
	field, flag := "cmd", "assemble"
	if i > 0 {
		field = "extra-job"
		flag = field
		if err := checkJobName(field, j.Name); err != nil {
			return err
		}
	}
	j.Command = strings.TrimSpace(j.Command)
	if j.Command == "" {
		return &SpecError{field, "there is no command"}
	}
	if strings.Contains(j.Assemble, foldMark) {
		return &SpecError{flag, "the folds are joined once, so the command has no {fold}"}
	}
	if err := p.checkLauncher(j); err != nil {
		return err
	}
	p.checkNameFlag(j)
	if !strings.Contains(j.Command, foldMark) {
		if near := nearFold.FindString(j.Command); near != "" {
			return &SpecError{field, fmt.Sprintf("%s is not filled in; write {fold}", near)}
		}
		if j.Folds != nil || j.WideFolds != nil {
			return &SpecError{field, fmt.Sprintf("job %s has folds, and its command no {fold}", j.Name)}
		}
		return nil
	}
	folds, err := p.wantedFolds(field, j.Folds)
	if err != nil {
		return err
	}
	if j.Folds == nil {
		folds = run
	}
	if folds == nil {
		return &SpecError{"folds", fmt.Sprintf("the command has {fold}, and there is no %s to say which; write one or name the folds", FoldsFile)}
	}
	j.Folds = folds
	if j.WideFolds != nil {
		if j.WideFolds, err = p.wantedFolds("wide-folds", j.WideFolds); err != nil {
			return err
		}
		for _, k := range j.WideFolds {
			if !slices.Contains(folds, k) {
				return &SpecError{"wide-folds", fmt.Sprintf("job %s does not run fold %d; it runs %s", j.Name, k, joinInts(folds))}
			}
		}
	}
	if j.Assemble == "" && slices.Equal(folds, all) {
		j.Assemble = p.deriveAssemble(j)
	}
	return nil
}

// checkLauncher: torchrun and accelerate take a Python script or module and
// start it once a card.
func (p *plan) checkLauncher(j *Job) error {
	switch j.Launcher {
	case "", "none":
		j.Launcher = ""
		if len(j.WideFolds) > 0 {
			return &SpecError{"wide-folds", fmt.Sprintf("folds of job %s get all cards through a launcher; name torchrun or accelerate", j.Name)}
		}
		return nil
	case "torchrun", "accelerate":
	default:
		return &SpecError{"launcher", fmt.Sprintf("%q is none of torchrun, accelerate and none", j.Launcher)}
	}
	switch {
	case strings.Contains(j.Command, foldMark) && len(j.WideFolds) == 0:
		return &SpecError{"launcher", fmt.Sprintf("job %s has {fold}: its folds share the cards out already, one each; a launcher is for a command that trains on all of them at once, or for single folds that do (--wide-folds)", j.Name)}
	case p.shape.pool != poolGPU:
		return &SpecError{"launcher", fmt.Sprintf("%s starts one process a GPU, and %s has none", j.Launcher, p.Accelerator)}
	case !launchable.MatchString(j.Command):
		return &SpecError{"launcher", fmt.Sprintf("%s starts a command of the form `python script.py …` or `python -m module …`", j.Launcher)}
	}
	return nil
}

// deriveAssemble turns the fold's flag into --assemble. Only a run of all folds
// has something to join.
func (p *plan) deriveAssemble(j *Job) string {
	cmd := foldFlag.ReplaceAllString(j.Command, "$1--assemble$4")
	if strings.Contains(cmd, foldMark) || cmd == j.Command {
		p.warn("job %s: no flag such as --folds {fold} that could become --assemble, so its folds are not joined; name the command that does with --assemble", j.Name)
		return ""
	}
	return cmd
}

// checkNameFlag: the runner looks for a job's files in the folder of its name,
// the script writes them to that of its --name.
func (p *plan) checkNameFlag(j *Job) {
	m := nameFlag.FindStringSubmatch(j.Command)
	if m == nil {
		return
	}
	if given := m[1] + m[2] + m[3]; given != j.Name {
		p.warn("job %s runs a command with --name %s: it will write to artifacts/%s, and the session looks in artifacts/%s; make them agree", j.Name, given, given, j.Name)
	}
}
