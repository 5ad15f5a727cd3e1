package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/gofrs/flock"
	"golang.org/x/sync/errgroup"

	"sandglass/app/runlog"
	"sandglass/kaggle"
	"sandglass/runnerpack"
)

// Places of collected files, relative to the project.
const (
	runsFolder     = ".sandglass/runs"     // everything a version saved, one folder a version
	replacedFolder = ".sandglass/replaced" // artifacts that a collected file took the place of
)

// downloadsAtOnce is how many files are fetched side by side.
const downloadsAtOnce = 3

// errNotEnded is the answer to a collect of a run that is still going.
var errNotEnded = errors.New("it has not ended: Kaggle keeps no files before")

// Collect fetches what an ended run saved, reads it, and settles the run: tasks,
// curves, score, hours, findings, outcome. It may be repeated and interrupted:
// whole files are kept, half ones continued.
//
// Everything goes to <project>/.sandglass/runs/<slug>-v<n>/ as the session laid
// it out, and artifacts/** is copied to the project's artifacts. A file there
// that differs is not lost: it moves to <project>/.sandglass/replaced/<slug>-v<n>/
// first. Weights (by suffix) stay at Kaggle unless asked for.
func (a *App) Collect(ctx context.Context, kernel string, opt CollectOptions, progress func(Progress)) (Collected, error) {
	acc, err := a.Account(ctx)
	if err != nil {
		return Collected{}, err
	}
	r, err := a.findRun(ctx, acc, kernel)
	if err != nil {
		return Collected{}, err
	}
	return a.collect(ctx, acc, r, opt, progress)
}

// collect is Collect for one row.
func (a *App) collect(ctx context.Context, acc Account, r runlog.Run, opt CollectOptions, progress func(Progress)) (Collected, error) {
	if progress == nil {
		progress = func(Progress) {}
	}
	unlock, err := a.lockCollect(ctx, r.ID)
	if err != nil {
		return Collected{}, err
	}
	defer unlock()
	if r, err = a.collectable(ctx, acc, r); err != nil {
		return Collected{}, fmt.Errorf("collect %s: %w", r.Kernel, err)
	}
	j, err := newCollectJob(a, acc, r, opt, progress)
	if err != nil {
		return Collected{}, fmt.Errorf("collect %s: %w", r.Kernel, err)
	}
	if err := j.run(ctx); err != nil {
		return j.result(ctx), &CollectError{Kernel: r.Kernel, Dir: j.dir, Here: j.fetched + j.here, Err: err}
	}
	return j.result(ctx), nil
}

// collectable makes sure that there is something to collect, asking Kaggle for a
// run whose end was not seen yet.
func (a *App) collectable(ctx context.Context, acc Account, r runlog.Run) (runlog.Run, error) {
	r, err := a.store.Run(ctx, r.ID)
	if err != nil {
		return r, err
	}
	if atKaggle(r.State) {
		if r, err = a.ask(ctx, acc, r, newWatched(r, a.now())); err != nil {
			return r, err
		}
	}
	switch {
	case ended(r.State):
		return r, nil
	case r.State == StateNoRun:
		return r, errors.New("it was saved without running, so there is nothing to collect")
	case r.State == StateMissing:
		return r, errors.New("it is no longer at Kaggle; what was collected before is still here")
	case r.State == StateRefused:
		return r, errors.New("its push was refused, so there is nothing to collect")
	}
	return r, errNotEnded
}

// lockCollect makes this the only collect of a run in all processes.
func (a *App) lockCollect(ctx context.Context, id int64) (func(), error) {
	dir := filepath.Join(a.home, "locks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	l := flock.New(filepath.Join(dir, fmt.Sprintf("collect-%d.lock", id)))
	if ok, err := l.TryLockContext(ctx, lockPoll); err != nil || !ok {
		return nil, fmt.Errorf("another collect of this run did not end: %w", err)
	}
	return func() { l.Unlock() }, nil
}

// collectJob is one collect.
type collectJob struct {
	a        *App
	acc      Account
	r        runlog.Run
	opt      CollectOptions
	progress func(Progress)
	pattern  *regexp.Regexp
	c        *kaggle.Client
	dir      string // where everything goes
	place    string // project whose artifacts folder takes artifacts/**; "" = none

	log     string
	items   []*collectItem
	done    int64 // bytes, under mu
	total   int64
	fetched int
	here    int
	mu      sync.Mutex
	problem []string
}

// collectItem is one output file.
type collectItem struct {
	path    string // here: cleaned, with slashes
	name    string // the same at Kaggle; another one only where the disk cannot have it, see partClashes
	url     string
	size    int64 // -1 = not known
	sha     string
	dest    string
	skip    bool // stays at Kaggle
	weights bool // stays there only because weights were not asked for
	have    bool // whole on this disk
	fetched bool
	err     error
}

func newCollectJob(a *App, acc Account, r runlog.Run, opt CollectOptions, progress func(Progress)) (*collectJob, error) {
	j := &collectJob{a: a, acc: acc, r: r, opt: opt, progress: progress}
	if opt.Pattern != "" {
		var err error
		if j.pattern, err = regexp.Compile(opt.Pattern); err != nil {
			return nil, &CallError{Reason: "the pattern is no regular expression: " + err.Error(), Action: `"\.npy$" fits names that end in .npy`}
		}
	}
	switch {
	case opt.Dir != "":
		abs, err := filepath.Abs(opt.Dir)
		if err != nil {
			return nil, err
		}
		j.dir = abs
	default:
		project := a.projectOf(r)
		j.dir = filepath.Join(project, filepath.FromSlash(runsFolder), versionName(r))
		switch {
		case r.Project != "" && project != r.Project: // moved, or on a disk that is not there: it is not made anew
			j.problem = append(j.problem, fmt.Sprintf("the project folder %s is not there, so everything is in %s; put the folder back and collect again to have artifacts/ in it", r.Project, j.dir))
		case r.Origin == originPush:
			j.place = r.Project
		}
	}
	return j, nil
}

// projectOf is the folder a run's files go below: its project, else our home.
func (a *App) projectOf(r runlog.Run) string {
	if r.Project != "" {
		if st, err := os.Stat(r.Project); err == nil && st.IsDir() {
			return r.Project
		}
	}
	return a.home
}

// versionName names a version's folder: "<slug>-v<n>".
func versionName(r runlog.Run) string {
	return fmt.Sprintf("%s-v%d", kaggleRef(r.Kernel).Slug, r.Version)
}

// run does the collect, step by step; each step finds the work of an earlier,
// interrupted one and goes on from there.
func (j *collectJob) run(ctx context.Context) error {
	a := j.a
	var err error
	if j.c, err = a.client(ctx); err != nil {
		return err
	}
	j.progress(Progress{Stage: "Listing", Item: j.r.Kernel})
	incomplete, err := j.list(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(j.dir, 0o755); err != nil {
		return err
	}
	a.at("collect: before the files are listed in the log")
	if err := j.storeFiles(ctx); err != nil {
		return err
	}
	a.at("collect: before the downloads")
	if err := j.download(ctx); err != nil {
		return err
	}
	a.at("collect: before the log")
	if err := j.saveLog(ctx); err != nil {
		return err
	}
	a.at("collect: before artifacts are placed")
	if err := j.placeArtifacts(); err != nil {
		return err
	}
	a.at("collect: before the outputs are read")
	if err := j.settle(ctx, incomplete == nil); err != nil {
		return err
	}
	a.at("collect: done")
	return incomplete
}

// list asks for every page of files and, for progress and checks, their sizes.
// A listing that breaks off is used as far as it goes: incomplete says why, and
// the run is not called collected.
func (j *collectJob) list(ctx context.Context) (incomplete, err error) {
	ref := kaggleRef(j.r.Kernel)
	l, err := j.c.Outputs(ctx, ref, j.r.Version)
	if err != nil && !l.Incomplete {
		return nil, err
	}
	if l.Incomplete {
		incomplete = fmt.Errorf("the list of files broke off: %w", err)
	}
	j.log = l.Log
	sizes := map[string]int64{}
	if fs, err := j.c.KernelFiles(ctx, ref, j.r.Version); err == nil {
		for _, f := range fs {
			sizes[f.Name] = f.Size
		}
	} else {
		j.a.log.Info("sizes of the outputs not known", "run", j.r.ID, "err", err)
	}
	taken := map[string]bool{}
	for _, f := range l.Files {
		name, err := kaggle.CleanOutputPath(f.Name)
		if err == nil && taken[strings.ToLower(name)] {
			err = errors.New("another file has the same name on a disk that ignores letter case")
		}
		if err != nil {
			j.problem = append(j.problem, fmt.Sprintf("%q was left at Kaggle: %v", f.Name, err))
			continue
		}
		taken[strings.ToLower(name)] = true
		it := &collectItem{path: name, name: name, url: f.URL, size: -1, dest: filepath.Join(j.dir, filepath.FromSlash(name))}
		if n, ok := sizes[f.Name]; ok {
			it.size = n
		}
		outside := j.pattern != nil && !j.pattern.MatchString(name)
		it.weights = isWeights(name) && !j.opt.Weights && !outside
		it.skip = it.weights || outside
		j.items = append(j.items, it)
	}
	return incomplete, j.partClashes(taken)
}

// partClashes gives a file that has the name of another one's folder a name of its own: Kaggle's store holds "a" and "a/b.txt" side
// by side, no disk does. taken are the paths of all items, in lower case.
func (j *collectJob) partClashes(taken map[string]bool) error {
	folders := map[string]bool{}
	for _, it := range j.items {
		for dir := path.Dir(strings.ToLower(it.name)); dir != "."; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	for _, it := range j.items {
		if !folders[strings.ToLower(it.name)] {
			continue
		}
		free := it.name + ".file"
		for n := 2; taken[strings.ToLower(free)] || folders[strings.ToLower(free)]; n++ {
			free = fmt.Sprintf("%s.file.%d", it.name, n)
		}
		taken[strings.ToLower(free)] = true
		plain := it.dest
		it.path, it.dest = free, filepath.Join(j.dir, filepath.FromSlash(free))
		j.problem = append(j.problem, fmt.Sprintf("%s is a file and a folder at Kaggle, and a disk can have one of them; the file is here as %s", it.name, it.path))
		// A list that broke off once may have brought the file before anybody knew of the folder.
		if st, err := os.Lstat(plain); err != nil || !st.Mode().IsRegular() || j.opt.Dir != "" {
			continue
		}
		if err := os.Rename(plain, it.dest); err != nil {
			return err
		}
	}
	return nil
}

// download fetches the manifest first, because it tells the digests of the rest.
func (j *collectJob) download(ctx context.Context) error {
	first := func(it *collectItem) bool { return it.path == "manifest.json" || it.path == "run.json" }
	for _, it := range j.items {
		if first(it) && !it.skip {
			// These two are rewritten by each version and small: fetched anew unless digest and size say otherwise.
			if err := j.fetch(ctx, it); err != nil {
				return err
			}
		}
	}
	j.readManifest()
	j.total, j.done = 0, 0
	for _, it := range j.items {
		if !it.skip && !it.have && it.size > 0 {
			j.total += it.size
		}
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(downloadsAtOnce)
	for _, it := range j.items {
		if it.skip || it.have {
			continue
		}
		if gctx.Err() != nil {
			break
		}
		g.Go(func() error { return j.fetch(gctx, it) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return j.failed()
}

// readManifest takes digests and sizes from what the session says it saved.
func (j *collectJob) readManifest() {
	raw, err := os.ReadFile(filepath.Join(j.dir, "manifest.json"))
	if err != nil {
		return
	}
	var m runnerpack.Manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		return // said by ReadOutputs
	}
	by := map[string]runnerpack.ManifestFile{}
	for _, f := range m.Files {
		by[f.Path] = f
	}
	for _, it := range j.items {
		if f, ok := by[it.name]; ok {
			it.sha = f.SHA256
			if it.size < 0 {
				it.size = f.Size
			}
		}
	}
}

// fetch brings one file here unless it is here whole. An error that concerns this
// file alone is kept with it; one that would meet every other file is returned.
func (j *collectJob) fetch(ctx context.Context, it *collectItem) error {
	if j.whole(it) {
		it.have = true
		j.mu.Lock()
		j.here++
		j.mu.Unlock()
		return nil
	}
	j.a.at("collect: before the download of a file")
	if err := os.MkdirAll(filepath.Dir(it.dest), 0o755); err != nil {
		return err
	}
	var last int64
	res, err := j.c.Download(ctx, it.url, it.dest, kaggle.DownloadOptions{
		Progress: func(done, _ int64) {
			j.mu.Lock()
			j.done += done - last
			last = done
			p := Progress{Stage: "Downloading", Item: it.path, Done: j.done, Total: j.total}
			j.mu.Unlock()
			j.a.at("collect: inside a download")
			j.progress(p)
		},
		Refresh: func(ctx context.Context) (string, error) { return j.freshURL(ctx, it.name) },
		SHA256:  it.sha,
	})
	j.a.at("collect: after the download of a file")
	if err != nil {
		if ctx.Err() != nil || isFull(err) || isUnreachable(err) || errors.Is(err, kaggle.ErrUnauthorized) || errors.Is(err, os.ErrPermission) {
			return fmt.Errorf("fetch %s: %w", it.path, err)
		}
		it.err = err
		return nil
	}
	it.have, it.fetched = true, true
	if it.size < 0 || it.size != res.Bytes {
		it.size = res.Bytes
	}
	j.mu.Lock()
	j.fetched++
	j.mu.Unlock()
	return nil
}

// whole says whether the file on this disk is the one Kaggle has: by digest where
// the session told it, else by size and by the fact that a download only gets its
// name when it is complete.
func (j *collectJob) whole(it *collectItem) bool {
	st, err := os.Stat(it.dest)
	if err != nil || !st.Mode().IsRegular() {
		return false
	}
	if it.sha != "" {
		sum, err := fileSHA256(it.dest)
		return err == nil && sum == it.sha
	}
	switch it.path {
	case "manifest.json", "run.json":
		return false // small, and an older state of them would mislead
	}
	return it.size >= 0 && st.Size() == it.size && j.opt.Dir == ""
}

// freshURL lists again: signed addresses expire.
func (j *collectJob) freshURL(ctx context.Context, name string) (string, error) {
	l, err := j.c.Outputs(ctx, kaggleRef(j.r.Kernel), j.r.Version)
	if err != nil && !l.Incomplete {
		return "", err
	}
	for _, f := range l.Files {
		if p, err := kaggle.CleanOutputPath(f.Name); err == nil && p == name {
			return f.URL, nil
		}
	}
	return "", fmt.Errorf("%s is no longer listed at Kaggle", name)
}

// failed is an error when a file could not be fetched.
func (j *collectJob) failed() error {
	var names []string
	var first error
	for _, it := range j.items {
		if it.err != nil {
			names = append(names, it.path)
			if first == nil {
				first = it.err
			}
		}
	}
	if first == nil {
		return nil
	}
	return fmt.Errorf("%d of %d files did not come (%s): %w", len(names), len(j.items), strings.Join(names[:min(3, len(names))], ", "), first)
}

func (j *collectJob) result(ctx context.Context) Collected {
	out := Collected{Dir: j.dir, New: j.fetched, Kept: j.here, Problems: slices.Clone(j.problem)}
	for _, it := range j.items {
		if it.weights {
			out.Left++
			out.LeftSize += max(it.size, 0)
		}
	}
	v, err := j.a.runView(context.WithoutCancel(ctx), j.r.ID)
	if err != nil {
		out.Problems = append(out.Problems, "the run log could not be read: "+err.Error())
	}
	out.Run = v
	return out
}

// storeFiles puts the list of files into the run log as far as it stands.
func (j *collectJob) storeFiles(ctx context.Context) error {
	var rows []runlog.File
	for _, it := range j.items {
		f := runlog.File{Path: it.path, Size: max(it.size, 0), SHA256: it.sha, State: "remote"}
		if it.have {
			f.State, f.Local = "here", it.dest
		}
		rows = append(rows, f)
	}
	return j.a.store.SetFiles(ctx, j.r.ID, rows)
}

// isFull says whether an error is a full disk.
func isFull(err error) bool {
	const windowsDiskFull, windowsHandleDiskFull = syscall.Errno(112), syscall.Errno(39)
	var no syscall.Errno
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, runlog.ErrFull) {
		return true
	}
	return filepath.Separator == '\\' && errors.As(err, &no) && (no == windowsDiskFull || no == windowsHandleDiskFull)
}
