package app

import (
	"archive/zip"
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sandglass/runnerpack"
)

// evidence is what a rehearsal left to judge by.
type evidence struct {
	out     *runnerpack.Outputs
	seen    []seenLine // what watch.py noted
	look    lookedAt   // what kernel.py saw in the code
	shipped map[string]bool
	lost    []string    // files that the session would not keep, slash-separated
	changed []string    // files of the project or the inputs that are not as before
	whole   bool        // every one of them was compared
	rows    map[int]int // rows a fold of the split; nil without one
	allRows int
	foldOf  []int              // the fold of each row
	busy    map[string]float64 // share of a core that "job/fold" used near the end; what is missing is not known
	stack   []string           // where the first task stood that did not end
	netOpen bool               // this system does not keep a session off the network
}

// seenLine is one line of seen.jsonl.
type seenLine struct {
	Kind string `json:"kind"` // import, read-outside, write-outside, write-project, write-input
	What string `json:"what"`
	By   string `json:"by"` // "src/train.py:12", "" = a library
}

// lookedAt is look.json.
type lookedAt struct {
	Imports []seenLine `json:"imports"`
	Places  []seenLine `json:"places"`
}

// collect reads what the session left, before its folder goes.
func (r *rehearsing) collect() evidence {
	ev := evidence{shipped: map[string]bool{}}
	var err error
	if ev.out, err = runnerpack.ReadOutputs(r.working()); err != nil {
		ev.out = &runnerpack.Outputs{Problems: []string{err.Error()}}
	}
	var names []string
	r.read("shipped.json", &names)
	for _, n := range names {
		ev.shipped[n] = true
	}
	r.read("look.json", &ev.look)
	r.read("busy.json", &ev.busy)
	ev.seen = readSeen(filepath.Join(r.session, "seen.jsonl"))
	ev.lost = r.lostFiles(ev.shipped)
	after := r.marks()
	ev.changed, ev.whole = r.before.changed(after), r.before.whole && after.whole
	r.readRows(&ev)
	ev.stack = readStack(filepath.Join(r.session, "stacks"), r.scratch())
	ev.netOpen = slices.ContainsFunc(r.log.lines, func(s string) bool { return strings.Contains(s, "does not let the sandbox enforce that") })
	return ev
}

// read reads a file of kernel.py's; one that is not there leaves v as it is: the session ended before.
func (r *rehearsing) read(name string, v any) {
	raw, err := os.ReadFile(filepath.Join(r.session, name))
	if err == nil {
		err = json.Unmarshal(raw, v)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.a.log.Warn("a part of the rehearsal cannot be read", "file", name, "err", err)
	}
}

func readSeen(path string) []seenLine {
	f, err := os.Open(path)
	if err != nil {
		return nil // nothing was noted
	}
	defer f.Close()
	var out []seenLine
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() && len(out) < 10_000 {
		var s seenLine
		if json.Unmarshal(lines.Bytes(), &s) == nil && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// notLost are names that tools leave about, of no use to anybody.
var notLost = regexp.MustCompile(`(^|/)(__pycache__|\.ipynb_checkpoints|\.cache|_sandglass)(/|$)|\.pyc$|(^|/)\.[^/]*$|^submission\.csv$`)

// lostFiles are what the commands wrote beside artifacts/, subs/ and reports/, where the session does not keep it.
func (r *rehearsing) lostFiles(shipped map[string]bool) []string {
	var out []string
	root := r.scratch()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || len(out) >= 1000 {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if name := filepath.ToSlash(rel); err == nil && !shipped[name] && !notLost.MatchString(name) {
			out = append(out, name)
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return out
}

// readRows reads the split as the session had it.
func (r *rehearsing) readRows(ev *evidence) {
	f, err := os.Open(filepath.Join(r.scratch(), filepath.FromSlash(runnerpack.FoldsFile)))
	if err != nil {
		return
	}
	defer f.Close()
	raw, err := io.ReadAll(f)
	if err != nil {
		return
	}
	folds, err := runnerpack.ReadFolds(strings.NewReader(string(raw)))
	if err != nil {
		return // the build would have refused it; a mounted one is checked by the session
	}
	ev.rows, ev.allRows = folds.Counts, folds.Rows
	ev.foldOf = foldColumnOf(raw, folds.Rows)
}

var frameLine = regexp.MustCompile(`^  File "([^"]+)", line (\d+) in (.+)$`)

// readStack is where a task of the project stood shortly before the end, innermost first; nil when none was caught.
func readStack(dir, scratch string) []string {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		var out []string
		for line := range strings.Lines(string(raw)) {
			m := frameLine.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
			if m == nil {
				continue
			}
			name := m[1]
			if rel, err := filepath.Rel(scratch, name); err == nil && filepath.IsLocal(rel) {
				name = filepath.ToSlash(rel)
			}
			out = append(out, name+":"+m[2]+" in "+m[3])
		}
		if out != nil {
			return out
		}
	}
	return nil
}

// output is a file that the session left, taken out of the archive that the runner made of too many files; false when there is none.
func (r *rehearsing) output(folder, name string) (string, bool) {
	dir := filepath.Join(r.working(), filepath.FromSlash(folder))
	path := filepath.Join(dir, name)
	if isFile(path) {
		return path, true
	}
	archives, err := filepath.Glob(filepath.Join(dir, "*.zip"))
	if err != nil {
		return "", false
	}
	for _, a := range archives {
		if to, err := r.unpack(a, name); err == nil {
			return to, true
		}
	}
	return "", false
}

func (r *rehearsing) unpack(archive, name string) (string, error) {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return "", err
	}
	defer z.Close()
	in, err := z.Open(name)
	if err != nil {
		return "", err
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Join(r.session, "tmp"), "unpacked-*.npy")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(out, in)
	return out.Name(), errors.Join(err, out.Close())
}

// bench is the newest record of the trainer's own measurement, in seconds a step; nil without one.
func (r *rehearsing) bench() *float64 {
	raw, err := os.ReadFile(filepath.Join(r.working(), "reports", "bench.jsonl"))
	if err != nil {
		return nil
	}
	var last *float64
	for line := range strings.Lines(string(raw)) {
		var row struct {
			Step *float64 `json:"step_s"`
		}
		if json.Unmarshal([]byte(line), &row) == nil && row.Step != nil && *row.Step > 0 && !math.IsInf(*row.Step, 0) {
			last = row.Step
		}
	}
	return last
}

// foldColumnOf is the fold of every row of a split that ReadFolds accepted; nil when a row has quotes that a plain cut would get
// wrong, or the count differs.
func foldColumnOf(raw []byte, rows int) []int {
	text := strings.TrimPrefix(string(raw), "\ufeff")
	if strings.ContainsRune(text, '"') {
		return nil
	}
	lines := strings.Split(strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
	sep := ","
	if !strings.Contains(lines[0], ",") {
		for _, s := range []string{";", "\t"} {
			if strings.Contains(lines[0], s) {
				sep = s
			}
		}
	}
	at := slices.IndexFunc(strings.Split(lines[0], sep), func(s string) bool { return strings.TrimSpace(s) == "fold" })
	if at < 0 || len(lines) != rows+1 {
		return nil
	}
	out := make([]int, 0, rows)
	for _, line := range lines[1:] {
		cells := strings.Split(line, sep)
		if len(cells) <= at {
			return nil
		}
		k, err := strconv.Atoi(strings.TrimSpace(cells[at]))
		if err != nil {
			return nil
		}
		out = append(out, k)
	}
	return out
}
