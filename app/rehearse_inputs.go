package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sandglass/app/runlog"
	"sandglass/kaggle/sandbox"
)

// rehearsalInput is an input and where it is on this computer.
type rehearsalInput struct {
	InputRef
	Dir  string // absolute; "" = not here
	From string // how it was found, in words
}

// settingInputDir remembers where an input is on this computer.
func settingInputDir(kind, ref string) string { return "rehearse.input." + kind + "." + ref }

// findInputs decides where each input of the session comes from: the person's word, what it was the last time, usual places, what
// was downloaded or collected before, the sandbox's own data.
func (r *rehearsing) findInputs(ctx context.Context) error {
	said, err := r.saidInputs()
	if err != nil {
		return err
	}
	wanted := r.spec.Inputs()
	add := func(kind string, refs ...string) {
		for _, ref := range refs {
			if ref != "" && !slices.ContainsFunc(wanted, func(w InputRef) bool { return w.Kind == kind && strings.EqualFold(w.Ref, ref) }) {
				wanted = append(wanted, InputRef{Kind: kind, Ref: ref})
			}
		}
	}
	add(InputKernel, r.spec.ResumeFrom...)
	add(InputDataset, r.spec.SplitFrom)
	for _, w := range wanted {
		w.Ref = strings.ToLower(strings.TrimSpace(w.Ref))
		in := rehearsalInput{InputRef: w}
		if dir, ok := said[w.Ref]; ok {
			in.Dir, in.From = dir, "as told"
			delete(said, w.Ref)
			if err := r.a.SetSetting(ctx, settingInputDir(w.Kind, w.Ref), dir); err != nil {
				r.a.log.Warn("where an input is was not remembered", "input", w.Ref, "err", err)
			}
		} else {
			in.Dir, in.From = r.lookForInput(ctx, w)
		}
		r.inputs = append(r.inputs, in)
	}
	for ref := range said {
		return &CallError{Reason: fmt.Sprintf("--input %s: the run attaches no such input", ref), Action: "attach it with --dataset, --competition, --kernel or --model as well"}
	}
	return nil
}

// saidInputs are the folders that the person named, by reference.
func (r *rehearsing) saidInputs() (map[string]string, error) {
	out := map[string]string{}
	for _, text := range r.opt.Inputs {
		ref, dir, ok := strings.Cut(text, "=")
		if !ok || ref == "" || dir == "" {
			return nil, &CallError{Reason: fmt.Sprintf("--input %s: write owner/slug=FOLDER", text), Action: "for a competition write its-slug=FOLDER"}
		}
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		if st, err := os.Stat(abs); err != nil || !st.IsDir() {
			return nil, &CallError{Reason: fmt.Sprintf("--input %s: there is no folder %s", ref, abs), Action: "name the folder that holds the input's files"}
		}
		out[strings.ToLower(ref)] = abs
	}
	return out, nil
}

// lookForInput looks where an input may be on this computer; "" when it is in none of the places.
func (r *rehearsing) lookForInput(ctx context.Context, in InputRef) (dir, from string) {
	if dir := r.a.Setting(ctx, settingInputDir(in.Kind, in.Ref)); filled(dir) {
		return dir, "as the last time"
	}
	for _, dir := range r.usualPlaces(in) {
		if filled(dir) {
			return dir, "found there"
		}
	}
	if in.Kind == InputKernel {
		if dir := r.collectedRun(ctx, in.Ref); dir != "" {
			return dir, "collected before"
		}
	}
	dir, err := sandbox.SourceFolder(r.a.sandboxHome(), in.Kind, in.Ref)
	if err != nil {
		r.a.log.Warn("the sandbox's data could not be looked through", "err", err)
	}
	if filled(dir) {
		return dir, "the sandbox's"
	}
	return "", ""
}

// usualPlaces are folders that an input's files are kept in by people and by Kaggle's own download tool, the surest first.
func (r *rehearsing) usualPlaces(in InputRef) []string {
	parts := strings.Split(in.Ref, "/")
	slug := parts[len(parts)-1]
	if in.Kind == InputModel && len(parts) > 1 {
		slug = parts[1]
	}
	var out []string
	if in.Target != "" {
		out = append(out, filepath.Join(r.spec.Project, filepath.FromSlash(in.Target)))
	}
	for _, base := range []string{"data", "data/ext", "input", "../input", "data/input", "datasets"} {
		base := filepath.Join(r.spec.Project, filepath.FromSlash(base))
		out = append(out, filepath.Join(base, filepath.FromSlash(in.Ref)), filepath.Join(base, slug))
		if in.Kind == InputKernel {
			out = append(out, filepath.Join(base, "kout-"+slug))
		}
	}
	out = append(out, kagglehubFolder(r.a.getenv, in))
	if in.Kind == InputCompetition {
		// A competition's files are linked into data/ itself; here they usually are there already.
		out = append(out, competitionData(r.spec.Project))
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// kagglehubFolder is where the library kagglehub puts a download (reported: ~/.cache/kagglehub/<kind>s/<ref>/versions/<n>; a
// competition without a version).
func kagglehubFolder(getenv func(string) string, in InputRef) string {
	cache := getenv("KAGGLEHUB_CACHE")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		cache = filepath.Join(home, ".cache", "kagglehub")
	}
	switch in.Kind {
	case InputCompetition:
		return filepath.Join(cache, "competitions", in.Ref)
	case InputModel:
		return filepath.Join(cache, "models", filepath.FromSlash(in.Ref))
	case InputDataset:
	default:
		return ""
	}
	versions := filepath.Join(cache, "datasets", filepath.FromSlash(in.Ref), "versions")
	entries, err := os.ReadDir(versions)
	if err != nil {
		return ""
	}
	newest := 0
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil {
			newest = max(newest, n)
		}
	}
	return filepath.Join(versions, strconv.Itoa(newest))
}

// competitionData is the project's data folder when it holds more than the folds.
func competitionData(project string) string {
	dir := filepath.Join(project, "data")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if name := e.Name(); name != "folds.csv" && name != "README.md" && !strings.HasPrefix(name, ".") {
			return dir
		}
	}
	return ""
}

// filled says whether dir is a folder with something in it.
func filled(dir string) bool {
	if dir == "" {
		return false
	}
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) > 0
}

// collectedRun is the folder of the newest run of a kernel whose output is here.
func (r *rehearsing) collectedRun(ctx context.Context, ref string) string {
	runs, err := r.a.store.Runs(ctx, runlog.Filter{Project: r.spec.Project})
	if err != nil {
		r.a.log.Warn("earlier runs could not be looked through", "err", err)
		return ""
	}
	for _, run := range runs { // newest first
		dir := filepath.Join(r.a.projectOf(run), filepath.FromSlash(runsFolder), versionName(run))
		if strings.EqualFold(run.Kernel, ref) && !run.CollectedAt.IsZero() && filled(dir) {
			return dir
		}
	}
	return ""
}

// fileMarks say what files were like: by path, size and time of the last change.
type fileMarks struct {
	files map[string]fileMark
	whole bool // every file was looked at
}

type fileMark struct {
	size  int64
	mtime int64
}

// maxMarks bounds how many files are compared before and after.
const maxMarks = 50_000

var errEnough = errors.New("enough")

// marks looks at the project and at the inputs' folders.
func (r *rehearsing) marks() fileMarks {
	m := fileMarks{files: map[string]fileMark{}, whole: true}
	roots := []string{r.spec.Project}
	for _, in := range r.inputs {
		if in.Dir != "" {
			roots = append(roots, in.Dir)
		}
	}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				m.whole = false
				return nil
			case d.IsDir() && (path == r.a.home || slices.Contains([]string{".git", ".sandglass", "__pycache__", ".venv", "venv", ".ipynb_checkpoints"}, d.Name())):
				return fs.SkipDir
			case !d.Type().IsRegular():
				return nil
			case len(m.files) >= maxMarks:
				return errEnough
			}
			if info, err := d.Info(); err == nil {
				m.files[path] = fileMark{info.Size(), info.ModTime().UnixNano()}
			}
			return nil
		})
		m.whole = m.whole && err == nil
	}
	return m
}

// changed are the files that are new, gone or different after, by path.
func (m fileMarks) changed(after fileMarks) []string {
	var out []string
	for path, mark := range after.files {
		if m.files[path] != mark {
			out = append(out, path)
		}
	}
	for path := range m.files {
		if _, ok := after.files[path]; !ok {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}
