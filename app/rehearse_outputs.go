package app

import (
	"fmt"
	"math"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sandglass/runnerpack"
)

// What Kaggle keeps of a session's working folder.
const (
	// maxOutputBytes: "20 GB class", 20.9 GB measured by others in 2026. Beyond it files are lost.
	maxOutputBytes = 20_000_000_000
	// maxOutputFiles: about 500 are kept; the runner packs what is more than this.
	maxKeptFiles = 480
)

// runnersOwn are the files that every session leaves.
var runnersOwn = regexp.MustCompile(`^(run\.json|manifest\.json|telemetry\.jsonl|logs/.*)$`)

// checkOutputs looks at what the tasks left against what the contract asks of them.
func (j *judgement) checkOutputs() {
	run := j.ev.out.Run
	if run == nil {
		return
	}
	before, looked := len(j.checks), 0
	for _, job := range run.Jobs {
		var done []int
		whole := false
		for _, t := range run.Tasks {
			if t.Job == job.Name && t.State == "done" {
				if t.Fold != nil {
					done = append(done, *t.Fold)
				} else {
					whole = true
				}
			}
		}
		switch {
		case len(done) > 0:
			looked += len(done)
			j.checkFolds(job.Name, done)
		case whole:
			looked++
			j.checkWhole(job.Name)
		}
	}
	switch {
	case looked == 0:
		j.say("outputs", CheckSkipped, "No task came as far as leaving its outputs.", "", "")
	case len(j.checks) == before:
		j.say("outputs", CheckOK, "What the tasks left is complete and of the right shape.", "", "")
	}
}

// checkWhole: a command without {fold} leaves something.
func (j *judgement) checkWhole(job string) {
	if !slices.ContainsFunc(j.ev.out.Files, func(f runnerpack.FileInfo) bool { return !runnersOwn.MatchString(f.Path) }) {
		j.say("outputs", CheckBad, fmt.Sprintf("%s ended well and left nothing.", job), "", "Write results to artifacts/"+job+"/, subs/ or reports/; nothing else is kept.")
	}
}

// foldShape is what a fold left.
type foldShape struct {
	fold           int
	rows, cols     int
	testRows       int
	hasOOF, hasIdx bool
}

func (j *judgement) checkFolds(job string, folds []int) {
	folder := "artifacts/" + job
	say := func(state, text, fix string) { j.say("outputs", state, text, "", fix) }
	var empty, noCurve, noStatus, noOOF []string
	var shapes []foldShape
	for _, k := range folds {
		has := func(name string) bool {
			_, ok := j.r.output(folder, name)
			return ok
		}
		name := strconv.Itoa(k)
		if !j.leftAnything(job, k) {
			empty = append(empty, name)
			continue
		}
		if !has(fmt.Sprintf("curve_fold%d.json", k)) {
			noCurve = append(noCurve, name)
		}
		if !has(fmt.Sprintf("fold%d_status.json", k)) {
			noStatus = append(noStatus, name)
		}
		s := j.checkFold(job, k)
		if !s.hasOOF {
			noOOF = append(noOOF, name)
		}
		shapes = append(shapes, s)
	}
	if len(empty) > 0 {
		text := fmt.Sprintf("Fold %s of %s ended well and left nothing in %s/.", someOf(empty, 5), job, folder)
		fix := "Write the fold's files to " + folder + "/ (the folder's name is the job's name)."
		if other := j.otherFolder(job); other != "" {
			text = fmt.Sprintf("%s wrote to artifacts/%s/, and the session looks in %s/.", job, other, folder)
			fix = fmt.Sprintf("Make the names agree: --name %s in the command.", job)
		}
		say(CheckBad, text, fix)
	}
	if len(noOOF) > 0 {
		say(CheckWarn, fmt.Sprintf("Fold %s of %s left no fold<k>_oof.npy: it can neither be joined nor be compared.", someOf(noOOF, 5), job), "Save the validation predictions of each fold, and their rows as fold<k>_idx.npy.")
	}
	if len(noCurve) > 0 {
		say(CheckWarn, fmt.Sprintf("Fold %s of %s left no curve_fold<k>.json: no live curve, and nothing can be pruned.", someOf(noCurve, 5), job), "Use sandglass.budget.TrainBudget: end_epoch writes it.")
	}
	if len(noStatus) > 0 && len(noOOF) > 0 {
		say(CheckWarn, fmt.Sprintf("Fold %s of %s left no fold<k>_status.json: a follow-up cannot tell whether it is finished.", someOf(noStatus, 5), job), "Call budget.write_status(\"done\") last.")
	}
	j.compareFolds(job, shapes)
}

// leftAnything says whether a fold has files of its own.
func (j *judgement) leftAnything(job string, fold int) bool {
	mine := regexp.MustCompile(fmt.Sprintf(`fold_?0*%d(\D|$)`, fold))
	prefix := "artifacts/" + job + "/"
	return slices.ContainsFunc(j.ev.out.Files, func(f runnerpack.FileInfo) bool {
		name, ok := strings.CutPrefix(f.Path, prefix)
		return ok && (mine.MatchString(path.Base(name)) || path.Base(name) == "folds.zip" || path.Base(name) == "files.zip")
	})
}

// otherFolder is a folder under artifacts/ that no job has the name of.
func (j *judgement) otherFolder(job string) string {
	for _, f := range j.ev.out.Files {
		parts := strings.Split(f.Path, "/")
		if len(parts) > 2 && parts[0] == "artifacts" && parts[1] != job && !slices.ContainsFunc(j.r.jobs, func(r runnerpack.RecordJob) bool { return r.Name == parts[1] }) {
			return parts[1]
		}
	}
	return ""
}

// checkFold reads a fold's arrays and says what is wrong with them.
func (j *judgement) checkFold(job string, k int) foldShape {
	s := foldShape{fold: k, testRows: -1}
	folder := "artifacts/" + job
	array := func(kind string) (runnerpack.Array, bool) {
		name := fmt.Sprintf("fold%d_%s.npy", k, kind)
		file, ok := j.r.output(folder, name)
		if !ok {
			return runnerpack.Array{}, false
		}
		a, err := runnerpack.ReadNpy(file)
		if err != nil {
			j.say("outputs", CheckBad, fmt.Sprintf("%s/%s cannot be used.", folder, name), err.Error(), "Save a numeric array of one or two dimensions with numpy.save.")
			return a, false
		}
		return a, true
	}
	oof, hasOOF := array("oof")
	_, s.hasOOF = j.r.output(folder, fmt.Sprintf("fold%d_oof.npy", k))
	if hasOOF {
		s.rows, s.cols = arrayShape(oof)
		if n := notNumbers(oof); n > 0 {
			j.say("outputs", CheckWarn, fmt.Sprintf("%s/fold%d_oof.npy: %d of %d predictions are no number.", folder, k, n, len(oof.Values)), "", "A diverged loss, or a division by zero.")
		}
	}
	idx, hasIdx := array("idx")
	s.hasIdx = hasIdx
	if hasOOF && hasIdx {
		j.checkRows(job, k, s.rows, idx)
	} else if want, ok := j.ev.rows[k]; hasOOF && ok && s.rows != want && s.rows != j.ev.allRows {
		state := CheckBad
		if len(j.r.smoke) > 0 {
			state = CheckWarn
		}
		j.say("outputs", state, fmt.Sprintf("%s/fold%d_oof.npy has %s, and fold %d of %s has %d.", folder, k, plural(s.rows, "row"), k, runnerpack.FoldsFile, want), "",
			"One prediction a validation row, in the split's order; or say which rows they are: fold<k>_idx.npy.")
	}
	if test, ok := array("test"); ok {
		s.testRows, _ = arrayShape(test)
	}
	return s
}

// checkRows: idx says which rows of the split the predictions are of.
func (j *judgement) checkRows(job string, k, rows int, idx runnerpack.Array) {
	where := fmt.Sprintf("artifacts/%s/fold%d", job, k)
	say := func(text, fix string) { j.say("outputs", CheckBad, text, "", fix) }
	if n := len(idx.Values); n != rows {
		say(fmt.Sprintf("%s_oof.npy has %s and %s_idx.npy %d.", where, plural(rows, "row"), where, n), "Save one row position a prediction.")
		return
	}
	seen := map[int]bool{}
	for _, v := range idx.Values {
		i := int(v)
		switch {
		case float64(i) != v || i < 0 || j.ev.allRows > 0 && i >= j.ev.allRows:
			say(fmt.Sprintf("%s_idx.npy holds %g, which is no row of %s (%d rows, counted from 0).", where, v, runnerpack.FoldsFile, j.ev.allRows), "Save positions in the split, not ids.")
			return
		case seen[i]:
			say(fmt.Sprintf("%s_idx.npy names row %d twice.", where, i), "One prediction a row.")
			return
		case j.ev.foldOf != nil && j.ev.foldOf[i] != k:
			say(fmt.Sprintf("%s_idx.npy names row %d, which is of fold %d.", where, i, j.ev.foldOf[i]), "Validate on the rows of the fold alone: training on them leaks.")
			return
		}
		seen[i] = true
	}
	want, ok := j.ev.rows[k]
	switch {
	case !ok || rows == want:
	case len(j.r.smoke) > 0:
		j.notRehearsed("%s fold %d predicted %d of %d validation rows with --smoke.", job, k, rows, want)
	default:
		say(fmt.Sprintf("%s_oof.npy has %s, and fold %d of %s has %d.", where, plural(rows, "row"), k, runnerpack.FoldsFile, want), "Predict every validation row of the fold.")
	}
}

func arrayShape(a runnerpack.Array) (rows, cols int) {
	rows, cols = 1, 1
	if len(a.Shape) > 0 {
		rows = a.Shape[0]
	}
	if len(a.Shape) > 1 {
		cols = a.Shape[1]
	}
	return rows, cols
}

func notNumbers(a runnerpack.Array) int {
	n := 0
	for _, v := range a.Values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			n++
		}
	}
	return n
}

// compareFolds: arrays of one kind have one shape over the folds.
func (j *judgement) compareFolds(job string, shapes []foldShape) {
	for i, s := range shapes {
		if i == 0 {
			continue
		}
		first := shapes[0]
		if s.hasOOF && first.hasOOF && s.cols != first.cols {
			j.say("outputs", CheckBad, fmt.Sprintf("%s: fold %d has %s of predictions and fold %d %d.", job, first.fold, plural(first.cols, "column"), s.fold, s.cols), "", "A class that is in one fold only still needs its column.")
			return
		}
		if s.testRows >= 0 && first.testRows >= 0 && s.testRows != first.testRows {
			j.say("outputs", CheckBad, fmt.Sprintf("%s: fold %d predicted %s of the test set and fold %d %d.", job, first.fold, plural(first.testRows, "row"), s.fold, s.testRows), "", "Predict the same test rows in every fold.")
			return
		}
	}
}

// checkAssembly looks at how the folds were joined, and at the commands after it.
func (j *judgement) checkAssembly() {
	run := j.ev.out.Run
	if run == nil {
		return
	}
	failures := j.findings("assemble-failed")
	for i, job := range run.Jobs {
		if i >= len(j.r.jobs) || j.r.jobs[i].Assemble == nil || *j.r.jobs[i].Assemble == "" {
			continue
		}
		switch {
		case job.Assembled == nil:
			j.say("assemble", CheckSkipped, fmt.Sprintf("%s was not joined: not every fold was finished.", job.Name), "", "")
		case *job.Assembled && job.Score != nil:
			j.say("assemble", CheckOK, fmt.Sprintf("%s was joined and its score.json read.", job.Name), "", "")
		case *job.Assembled:
			j.say("assemble", CheckWarn, fmt.Sprintf("%s was joined, and artifacts/%s/score.json has no score.", job.Name, job.Name), strings.Join(j.ev.out.Problems, "\n"),
				`Write {"score": …, "metric": "…", "greater_is_better": true} there.`)
		default:
			text := ""
			for _, f := range failures {
				if strings.Contains(f, "Assembling "+job.Name+" ") {
					text = f
				}
			}
			j.sayJoin(job.Name, text)
		}
	}
	for _, text := range j.findings("post-failed") {
		j.say("post", CheckWarn, "A command after the folds failed.", text, "")
	}
}

// sayJoin tells of a join that failed. A script may refuse to join what --smoke left, in its own words; that is no fault.
func (j *judgement) sayJoin(job, text string) {
	if len(j.r.smoke) > 0 && !strings.Contains(text, "Traceback") && !strings.Contains(text, "usage:") {
		j.say("assemble", CheckSkipped, fmt.Sprintf("%s does not join the results of a smoke test: %s", job, lastError(text)), text, "")
		j.notRehearsed("Joining the folds of %s: its script does not do it for a smoke test.", job)
		return
	}
	j.say("assemble", CheckBad, fmt.Sprintf("The folds of %s could not be joined: %s", job, lastError(text)), text, "Run the assembly command by hand on the folder that was left: "+filepath.Join(j.r.dir, "working"))
}

var (
	packedFiles = regexp.MustCompile(`^(\d+) output files were packed into (\d+)`)
	byEpoch     = regexp.MustCompile(`(?i)(epoch|step|iter|ckpt|checkpoint)[-_=]?\d+`)
)

// checkSize compares what was left, and what a whole run would leave, with what Kaggle keeps.
func (j *judgement) checkSize(res *Rehearsal) {
	files := j.ev.out.Files
	out := &res.Output
	out.Files = len(files)
	var shared, perFold int64
	var nShared, nFold int
	var epochs []string
	for _, f := range files {
		out.Bytes += f.Size
		if byEpoch.MatchString(path.Base(f.Path)) && strings.HasPrefix(f.Path, "artifacts/") {
			epochs = append(epochs, f.Path)
		}
		if _, ofFold := foldInName(path.Base(f.Path)); ofFold {
			perFold, nFold = perFold+f.Size, nFold+1
		} else {
			shared, nShared = shared+f.Size, nShared+1
		}
	}
	packed := 0
	for _, text := range j.findings("too-many-files") {
		if m := packedFiles.FindStringSubmatch(text); m != nil {
			out.Files, _ = strconv.Atoi(m[1])
			packed, _ = strconv.Atoi(m[2])
		}
	}
	done, planned := 0, len(res.Tasks)
	for _, t := range res.Tasks {
		if t.State == "done" {
			done++
		}
	}
	if done > 0 && len(epochs) == 0 {
		ratio := float64(planned) / float64(done)
		bytes := shared + int64(math.Round(float64(perFold)*ratio))
		count := int(math.Round(float64(nShared) + float64(nFold)*ratio))
		if packed > 0 {
			count = int(math.Round(float64(out.Files) * ratio))
		}
		out.PredictedBytes, out.PredictedFiles = &bytes, &count
	}
	j.saySize(*out)
	j.sayCount(*out, packed, epochs)
}

var foldName = regexp.MustCompile(`fold_?(\d+)`)

func foldInName(name string) (int, bool) {
	m := foldName.FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	k, err := strconv.Atoi(m[1])
	return k, err == nil
}

func gigabytes(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%d kB", (n+999)/1000)
}

func (j *judgement) saySize(out RehearsalOutput) {
	most := out.Bytes
	if out.PredictedBytes != nil {
		most = max(most, *out.PredictedBytes)
	}
	text := fmt.Sprintf("The output takes %s", gigabytes(out.Bytes))
	if out.PredictedBytes != nil {
		text += fmt.Sprintf(", a whole run's about %s", gigabytes(*out.PredictedBytes))
	}
	text += fmt.Sprintf("; Kaggle keeps about %s.", gigabytes(maxOutputBytes))
	switch {
	case most > maxOutputBytes:
		j.say("output-size", CheckBad, text, "", "Keep the best weights of a fold only, in half precision.")
	case most > maxOutputBytes/2:
		j.say("output-size", CheckWarn, text, "", "Keep the best weights of a fold only, in half precision.")
	default:
		j.say("output-size", CheckOK, text, "", "")
	}
}

func (j *judgement) sayCount(out RehearsalOutput, packed int, epochs []string) {
	most := out.Files
	if out.PredictedFiles != nil {
		most = max(most, *out.PredictedFiles)
	}
	switch {
	case packed > maxKeptFiles:
		j.say("output-files", CheckBad, fmt.Sprintf("%d files were left, and packing brought them to %d only; Kaggle keeps about 500.", out.Files, packed), "", "Write fewer files: one archive, or one array.")
	case most > maxKeptFiles:
		j.say("output-files", CheckWarn, fmt.Sprintf("%d files would be left and Kaggle keeps about 500; the session packs them into archives, a fold each.", most), "", "Write fewer files: one archive, or one array.")
	case len(epochs) > 0:
		j.say("output-files", CheckWarn, fmt.Sprintf("Files are named by epoch or step (%s): a whole run may leave one for each, and how many is not known from here.", someOf(epochs, 2)), "", "Replace the last one instead, or keep the best.")
	default:
		j.say("output-files", CheckOK, fmt.Sprintf("%s left; Kaggle keeps about 500.", capitalPlural(out.Files, "file")), "", "")
	}
}
