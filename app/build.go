package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sandglass/runnerpack"
)

// notesName is the file beside a packed kernel that remembers what only this
// machine needs: what took the space, and which curves to show beside the run.
const notesName = runnerpack.NotesFile

// buildNotes is the content of notesName.
type buildNotes struct {
	BuildID  string     `json:"build_id"`
	Parts    []SizePart `json:"parts"`
	Warnings []string   `json:"warnings"`
	Baseline string     `json:"baseline"` // absolute folder, "" = none
	Spec     BuildSpec  `json:"spec"`     // what was asked for, so that the next run can start from it
	Split    string     `json:"split"`    // SHA-256 of the project's split, "" = it had none
}

// Build writes a kernel folder for the account that is signed in. Nothing is
// sent. The same project, spec and known durations of earlier runs give the same
// bytes.
func (a *App) Build(ctx context.Context, spec BuildSpec, progress func(Progress)) (BuildResult, error) {
	acc, err := a.Account(ctx)
	if err != nil {
		return BuildResult{}, err
	}
	return a.buildFor(ctx, acc, spec, progress)
}

// buildFor is Build for an account; one without an ID has no earlier runs.
func (a *App) buildFor(ctx context.Context, acc Account, spec BuildSpec, progress func(Progress)) (BuildResult, error) {
	if progress == nil {
		progress = func(Progress) {}
	}
	project, err := filepath.Abs(spec.Project)
	if err != nil {
		return BuildResult{}, fmt.Errorf("build %s: %w", spec.Name, err)
	}
	spec.Project = project
	if err := checkScripts(spec); err != nil {
		return BuildResult{}, fmt.Errorf("build %s: %w", spec.Name, err)
	}
	ps, err := packSpec(spec, acc.Username)
	if err != nil {
		return BuildResult{}, err
	}
	if ps.Durations, err = a.knownDurations(ctx, acc.ID, spec, ps.Accelerator); err != nil {
		return BuildResult{}, fmt.Errorf("build %s: %w", spec.Name, err)
	}
	progress(Progress{Stage: "Packing", Item: spec.Name})
	b, err := runnerpack.Pack(ctx, ps)
	if err != nil {
		return BuildResult{}, fmt.Errorf("build %s: %w", spec.Name, err)
	}
	res := buildResult(b, ps)
	notes := buildNotes{BuildID: b.BuildID, Parts: res.Parts, Warnings: res.Warnings, Baseline: shownBaseline(spec), Spec: spec, Split: splitSHA256(project)}
	if err := writeJSON(filepath.Join(b.Dir, notesName), notes); err != nil {
		return BuildResult{}, fmt.Errorf("build %s: %w", spec.Name, err)
	}
	progress(Progress{Stage: "Packed", Item: b.Kernel, Done: int64(b.ScriptBytes), Total: int64(b.ScriptBytes)})
	return res, nil
}

// splitSHA256 is the SHA-256 of a project's data/folds.csv, "" when it has none.
func splitSHA256(project string) string {
	sum, err := fileSHA256(filepath.Join(project, filepath.FromSlash(runnerpack.FoldsFile)))
	if err != nil {
		return "" // only compared; the packer reads the file and says what is wrong with it
	}
	return sum
}

// packSpec turns the person's words into the packer's.
func packSpec(s BuildSpec, owner string) (runnerpack.Spec, error) {
	p := runnerpack.Spec{
		Project: s.Project, Name: s.Name, Command: s.Command, Hours: s.Hours, Folds: s.Folds,
		Accelerator: s.Accelerator, Owner: owner, Slug: s.Slug, Layout: s.Layout,
		ResumeFrom: s.ResumeFrom, Include: s.Include, Assemble: s.Assemble, Post: s.Post,
		Pip: s.Pip, Wheels: s.Wheels, NoInternet: s.NoInternet, Public: s.Public,
		AllowAnyDevice: s.AllowAny, AllowMissingInputs: s.AllowMissing, Retry: s.Retry, SplitFrom: s.SplitFrom, Out: s.Out,
		Launcher: s.Launcher, WideFolds: s.WideFolds, StallMinutes: s.StallMinutes,
	}
	if p.Accelerator == "" {
		p.Accelerator = runnerpack.AcceleratorT4
	}
	for _, in := range []struct {
		kind string
		refs []string
	}{{"competition", s.Competitions}, {"dataset", s.Datasets}, {"kernel", s.Kernels}, {"model", s.Models}} {
		for _, ref := range in.refs {
			ref, target, _ := strings.Cut(ref, "=")
			p.Inputs = append(p.Inputs, runnerpack.Input{Kind: in.kind, Ref: ref, Target: target})
		}
	}
	for _, j := range s.ExtraJobs {
		p.ExtraJobs = append(p.ExtraJobs, runnerpack.Job{Name: j.Name, Command: j.Command, Folds: j.Folds, Assemble: j.Assemble, Launcher: j.Launcher})
	}
	if s.PruneAgainst == "" {
		if len(s.PruneSeeds) > 0 {
			return p, &runnerpack.SpecError{Field: "prune-seeds", Reason: "name the run to prune against (--prune-against); these are the same run with other seeds"}
		}
		return p, nil
	}
	prune, err := pruneRule(s)
	if err != nil {
		return p, err
	}
	p.Baseline = prune
	return p, nil
}

// pruneRule finds the reference curves and, without a margin of the person's,
// takes the spread of the reference over its folds: what two equal ideas may
// differ by on different data is no reason to stop one.
func pruneRule(s BuildSpec) (*runnerpack.Prune, error) {
	dir, ok := artifactFolder(s.Project, s.PruneAgainst)
	if !ok {
		return nil, &runnerpack.SpecError{Field: "prune-against", Reason: fmt.Sprintf("no folder artifacts/%s in the project and no folder of that path; collect the baseline first", s.PruneAgainst)}
	}
	p := &runnerpack.Prune{Reference: dir, Margin: s.PruneMargin, MinFrac: s.PruneMinFrac}
	if len(s.PruneSeeds) > 0 {
		if err := seedRule(s, p); err != nil {
			return nil, err
		}
	}
	if p.Margin > 0 {
		return p, nil
	}
	curves, err := runnerpack.ReadCurves(dir)
	if err != nil {
		return nil, fmt.Errorf("read the baseline's curves in %s: %w", dir, err)
	}
	p.Margin = curveSpread(curves)
	if p.Margin == 0 {
		return nil, &runnerpack.SpecError{Field: "prune-margin", Reason: "the baseline has fewer than two folds, so its spread is not known; give a margin in score units"}
	}
	return p, nil
}

// seedRule is the second rule: each fold's own noise between seeds is its margin,
// and a fold of which nothing is known gets the widest of them.
func seedRule(s BuildSpec, p *runnerpack.Prune) error {
	dirs := []string{p.Reference}
	for _, ref := range s.PruneSeeds {
		dir, ok := artifactFolder(s.Project, ref)
		if !ok {
			return &runnerpack.SpecError{Field: "prune-seeds", Reason: fmt.Sprintf("no folder artifacts/%s in the project and no folder of that path", ref)}
		}
		if slices.Contains(dirs, dir) {
			return &runnerpack.SpecError{Field: "prune-seeds", Reason: ref + " is given twice; the reference is one of the seeds already"}
		}
		dirs = append(dirs, dir)
	}
	minFrac := p.MinFrac
	if minFrac == 0 {
		minFrac = runnerpack.DefaultMinFrac
	}
	margins, err := seedMargins(dirs, minFrac)
	if err != nil {
		return err
	}
	p.FoldMargins = margins
	if p.Margin == 0 {
		p.Margin = slices.Max(slices.Collect(maps.Values(margins)))
	}
	return nil
}

// curveSpread is the standard deviation over folds of the best scores, in score
// units; 0 with fewer than two folds.
func curveSpread(curves []runnerpack.Curve) float64 {
	var best []float64
	for _, c := range curves {
		if b, ok := bestOf(c); ok {
			best = append(best, b)
		}
	}
	if len(best) < 2 {
		return 0
	}
	return math.Sqrt(variance(best))
}

// bestOf is the best score of a curve.
func bestOf(c runnerpack.Curve) (float64, bool) {
	var best float64
	ok := false
	for _, p := range c.Points {
		if math.IsNaN(p.Score) {
			continue
		}
		if !ok || (p.Score > best) == c.Greater {
			best, ok = p.Score, true
		}
	}
	return best, ok
}

// artifactFolder is the folder meant by ref: under the project's artifacts, under
// the project, or a path.
func artifactFolder(project, ref string) (string, bool) {
	for _, dir := range []string{filepath.Join(project, "artifacts", ref), filepath.Join(project, ref), ref} {
		if st, err := os.Stat(dir); err == nil && st.IsDir() {
			if abs, err := filepath.Abs(dir); err == nil {
				return abs, true
			}
		}
	}
	return "", false
}

// shownBaseline is the folder whose curves are shown beside the run: the one
// asked for, else what the run is pruned against, else artifacts/baseline.
func shownBaseline(s BuildSpec) string {
	for _, ref := range []string{s.Baseline, s.PruneAgainst, "baseline"} {
		if ref == "" {
			continue
		}
		if dir, ok := artifactFolder(s.Project, ref); ok && filepath.Base(dir) != "" {
			if ref == "baseline" && dir != filepath.Join(s.Project, "artifacts", "baseline") {
				continue
			}
			return dir
		}
	}
	return ""
}

func buildResult(b *runnerpack.Build, s runnerpack.Spec) BuildResult {
	r := BuildResult{
		Kernel: b.Kernel, Dir: b.Dir, Script: b.Script, ScriptBytes: b.ScriptBytes, Folds: b.Folds,
		Warnings: append([]string{}, b.Warnings...), LeftOut: append([]string{}, b.LeftOut...), BuildID: b.BuildID, Accelerator: s.Accelerator, CapHours: s.Hours,
		Parts: []SizePart{}, Jobs: []string{}, Fill: []FillOffer{},
	}
	for _, o := range b.Fill {
		r.Fill = append(r.Fill, FillOffer(o))
	}
	for _, p := range b.Parts {
		r.Parts = append(r.Parts, SizePart(p))
	}
	for _, j := range b.Jobs {
		r.Jobs = append(r.Jobs, j.Name)
	}
	return r
}

// readNotes reads the notes beside a packed kernel; none is no error.
func readNotes(dir string) (buildNotes, error) {
	var n buildNotes
	raw, err := os.ReadFile(filepath.Join(dir, notesName))
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil
	}
	if err != nil {
		return n, err
	}
	return n, json.Unmarshal(raw, &n)
}
