package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"sandglass/runnerpack"
)

// keptRehearsals is how many rehearsals of a project are kept, with what came out of them.
const keptRehearsals = 3

const rehearsalFile = "rehearsal.json"

// keptRehearsal is rehearsal.json in a rehearsal's folder.
type keptRehearsal struct {
	Rehearsal
	Spec  BuildSpec `json:"spec"`
	About string    `json:"about"` // what was rehearsed: see rehearsedWhat
}

// rehearsedWhat names what a rehearsal speaks of: the code and folds, the commands, the machine. Hours and account do not matter.
func rehearsedWhat(payload, accelerator string, jobs []runnerpack.RecordJob) string {
	what := payload + " " + accelerator
	for _, j := range jobs {
		what += fmt.Sprintf(" %q %q %v", j.Name, j.Command, j.Launcher)
	}
	return what
}

// keep moves what came out beside the build, writes the record last, and drops the oldest rehearsals.
func (r *rehearsing) keep(res *Rehearsal) error {
	if err := writeFile(filepath.Join(r.dir, "log.txt"), []byte(r.log.whole.String())); err != nil {
		return err
	}
	if err := os.Rename(r.working(), filepath.Join(r.dir, "working")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	k := keptRehearsal{Rehearsal: *res, Spec: r.spec, About: rehearsedWhat(r.payload, r.build.Accelerator, r.jobs)}
	if err := writeJSON(filepath.Join(r.dir, rehearsalFile), k); err != nil {
		return err
	}
	r.kept = true
	dirs := r.a.rehearsalDirs(r.spec.Project)
	for _, old := range dirs[min(keptRehearsals, len(dirs)):] {
		if err := os.RemoveAll(old); err != nil {
			r.a.log.Warn("an old rehearsal was left behind", "dir", old, "err", err)
		}
	}
	return nil
}

// rehearsalDirs are the folders of a project's finished rehearsals, newest first.
func (a *App) rehearsalDirs(project string) []string {
	found, err := filepath.Glob(filepath.Join(a.rehearsalsOf(project), "*", rehearsalFile))
	if err != nil {
		return nil // the pattern is ours
	}
	for i := range found {
		found[i] = filepath.Dir(found[i])
	}
	slices.Sort(found) // their names are times
	slices.Reverse(found)
	return found
}

func readRehearsal(dir string) (keptRehearsal, error) {
	var k keptRehearsal
	raw, err := os.ReadFile(filepath.Join(dir, rehearsalFile))
	if err == nil {
		err = json.Unmarshal(raw, &k)
	}
	if err != nil {
		return k, fmt.Errorf("read the rehearsal in %s: %w", dir, err)
	}
	k.Rehearsal.Spec = k.Spec
	return k, nil
}

// LastRehearsal is the newest rehearsal of a project; false when it was never rehearsed.
func (a *App) LastRehearsal(ctx context.Context, project string) (Rehearsal, bool, error) {
	return a.findRehearsal(project, func(keptRehearsal) bool { return true })
}

// RehearsalOf is the newest rehearsal of what a kernel folder holds: the same code, folds, commands and machine, whatever its hours
// and its account; false when that was never rehearsed, or the folder is none that Build wrote.
func (a *App) RehearsalOf(ctx context.Context, dir string) (Rehearsal, bool, error) {
	f, err := runnerpack.ReadFolder(dir)
	if err != nil {
		return Rehearsal{}, false, err
	}
	if f.Record == nil {
		return Rehearsal{}, false, nil
	}
	about := rehearsedWhat(payloadOf(f.Source), f.Record.Accelerator, f.Record.Jobs)
	return a.findRehearsal(f.Record.Project, func(k keptRehearsal) bool { return k.About == about })
}

func (a *App) findRehearsal(project string, fits func(keptRehearsal) bool) (Rehearsal, bool, error) {
	project, err := filepath.Abs(project)
	if err != nil {
		return Rehearsal{}, false, err
	}
	var bad error
	for _, dir := range a.rehearsalDirs(project) {
		k, err := readRehearsal(dir)
		if err != nil {
			bad = errors.Join(bad, err)
			continue
		}
		if fits(k) {
			return k.Rehearsal, true, nil
		}
	}
	return Rehearsal{}, false, bad
}
