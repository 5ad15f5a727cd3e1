package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"sandglass/app/runlog"
	"sandglass/runnerpack"
)

// Project is a folder that runs were built from.
type Project struct {
	Dir     string
	Name    string    // the folder's own name
	LastRun string    // name of the newest run that this account pushed; "" = none yet
	LastAt  time.Time // when it was pushed; zero with LastRun ""
	Runs    int       // how many this account pushed
	Draft   *Draft    // a new run left half-way, nil = none
	Missing bool      // the folder is not there now
}

// Projects lists the folders that runs came from, and those with a draft: first
// what the signed-in account did last, then what only other accounts (the sandbox)
// ran. It reads this computer only.
func (a *App) Projects(ctx context.Context) ([]Project, error) {
	acc, err := a.Account(ctx)
	if err != nil && !errors.Is(err, ErrNoAccount) {
		return nil, err
	}
	runs, err := a.store.Runs(ctx, runlog.Filter{})
	if err != nil {
		return nil, err
	}
	drafts, err := a.Drafts(ctx)
	if err != nil {
		return nil, err
	}
	byDir := map[string]*Project{}
	var order []*Project
	at := func(dir string) *Project {
		p := byDir[dir]
		if p == nil {
			p = &Project{Dir: dir, Name: filepath.Base(dir)}
			byDir[dir] = p
			order = append(order, p)
		}
		return p
	}
	for _, r := range runs {
		if r.Project == "" {
			continue
		}
		p := at(r.Project)
		if r.Origin != originPush || acc.ID != 0 && r.Account != acc.ID {
			continue
		}
		p.Runs++
		if p.LastRun == "" {
			p.LastRun, p.LastAt = r.Name, r.CreatedAt
		}
	}
	for i := range drafts {
		if drafts[i].Project != "" {
			at(drafts[i].Project).Draft = &drafts[i]
		}
	}
	list := []Project{}
	for _, p := range order {
		if st, err := os.Stat(p.Dir); err != nil || !st.IsDir() {
			p.Missing = true
		}
		list = append(list, *p)
	}
	slices.SortStableFunc(list, func(x, y Project) int { return y.touched().Compare(x.touched()) })
	return list, nil
}

// touched is when the person last did something with the project.
func (p Project) touched() time.Time {
	if p.Draft != nil && p.Draft.SavedAt.After(p.LastAt) {
		return p.Draft.SavedAt
	}
	return p.LastAt
}

// LastSpec is what the next run of a project starts from: the words of the newest
// run that was pushed from it, by this account or else by another one. What tied
// that run to an earlier one (a follow-up's slug and the outputs it continued) is
// left out: the next run begins afresh. ok is false when nothing was pushed from
// the folder yet.
func (a *App) LastSpec(ctx context.Context, project string) (spec BuildSpec, ok bool, err error) {
	acc, err := a.Account(ctx)
	if err != nil && !errors.Is(err, ErrNoAccount) {
		return BuildSpec{}, false, err
	}
	f := runlog.Filter{Account: acc.ID, Project: draftProject(project), Origins: []string{originPush}, Limit: 1}
	runs, err := a.store.Runs(ctx, f)
	if err == nil && len(runs) == 0 && acc.ID != 0 {
		f.Account = 0
		runs, err = a.store.Runs(ctx, f)
	}
	if err != nil || len(runs) == 0 {
		return BuildSpec{}, false, err
	}
	spec, err = a.SpecOf(ctx, runs[0].ID)
	if err != nil {
		return BuildSpec{}, false, err
	}
	spec.Project = runs[0].Project
	spec.Slug, spec.ResumeFrom, spec.Out = "", nil, ""
	return spec, true, nil
}

// ProjectFacts is what a folder tells by itself.
type ProjectFacts struct {
	Dir       string
	Exists    bool
	Suggested BuildSpec // a run to begin with: name, command and baseline as far as the folder tells them
	Folds     []int     // of data/folds.csv; nil = it has none, or it cannot be read
	Problem   string    // why the folder cannot be used, or what is wrong with its folds; "" = nothing
}

var notInName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// LookAt reads a project folder. It changes nothing, and what cannot be read is a
// fact, not an error.
func LookAt(dir string) ProjectFacts {
	f := ProjectFacts{Dir: strings.TrimSpace(dir)}
	if f.Dir == "" {
		f.Problem = "Choose the folder that holds your training code."
		return f
	}
	f.Dir = draftProject(f.Dir)
	st, err := os.Stat(f.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Problem = "There is no such folder."
	case err != nil:
		f.Problem = "The folder cannot be read: " + err.Error() + "."
	case !st.IsDir():
		f.Problem = "This is a file. Choose the folder it is in."
	default:
		f.Exists = true
	}
	if !f.Exists {
		return f
	}
	s := BuildSpec{Project: f.Dir, Name: strings.Trim(notInName.ReplaceAllString(filepath.Base(f.Dir), "-"), "-.")}
	if raw, err := os.Open(filepath.Join(f.Dir, filepath.FromSlash(runnerpack.FoldsFile))); err == nil {
		folds, err := runnerpack.ReadFolds(raw)
		raw.Close()
		if err != nil {
			f.Problem = runnerpack.FoldsFile + " cannot be used: " + err.Error() + "."
		}
		f.Folds = folds.Folds
	}
	if there(f.Dir, "src/train.py") {
		s.Command = "python src/train.py --name " + s.Name
		if f.Folds != nil {
			s.Command += " --folds {fold}"
		}
	}
	if there(f.Dir, "artifacts/baseline") {
		s.Baseline = "baseline"
	}
	f.Suggested = s
	return f
}

func there(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
	return err == nil
}
