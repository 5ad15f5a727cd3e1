package runnerpack

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Files that a session writes.
const (
	RunFile       = "run.json"
	ManifestName  = "manifest.json"
	TelemetryName = "telemetry.jsonl"
	artifactsDir  = "artifacts"
)

const (
	maxRecordBytes = 32 << 20
	maxOutputFiles = 100_000
	maxTelemetry   = 256 << 20
	maxUtilSamples = 2_000_000
)

// ReadOutputs reads the folder of a finished, killed or running session. Only a
// folder that cannot be read at all is an error; a part that is missing, cut
// short or broken is named in Problems, and the rest is there.
func ReadOutputs(dir string) (*Outputs, error) {
	o := &Outputs{Scores: map[string]Score{}}
	if err := o.list(dir); err != nil {
		return nil, err
	}
	o.Run = readPart[RunRecord](o, dir, RunFile)
	o.Manifest = readPart[Manifest](o, dir, ManifestName)
	if o.Run != nil && o.Run.Schema > 1 {
		o.problem("%s is of schema %d and this program knows 1; what is new in it is not shown", RunFile, o.Run.Schema)
	}
	o.readArtifacts(dir)
	o.readTelemetry(filepath.Join(dir, TelemetryName))
	return o, nil
}

func (o *Outputs) problem(format string, args ...any) {
	o.Problems = append(o.Problems, fmt.Sprintf(format, args...))
}

// list finds the regular files. Links are not followed: a downloaded folder has
// none of ours, and they could lead anywhere.
func (o *Outputs) list(dir string) error {
	return filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			if p == dir {
				return newPathError(dir, err)
			}
			o.problem("%v", newPathError(p, err))
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return nil
		}
		if len(o.Files) == maxOutputFiles {
			o.problem("more than %d files; the rest is not listed", maxOutputFiles)
			return fs.SkipAll
		}
		info, err := d.Info()
		if err != nil {
			o.problem("%v", newPathError(p, err))
			return nil
		}
		o.Files = append(o.Files, FileInfo{filepath.ToSlash(rel), info.Size()})
		return nil
	})
}

// readPart reads a JSON file of the session into a T, or names the problem.
func readPart[T any](o *Outputs, dir, name string) *T {
	raw, err := readRegular(filepath.Join(dir, name), maxRecordBytes)
	if isMissing(err) {
		o.problem("%s is missing: the session ended before it was written, or this is not the output of a Sandglass session", name)
		return nil
	}
	v := new(T)
	if err == nil {
		err = unmarshalPython(raw, v)
	}
	if err != nil {
		o.problem("%s cannot be read: %v", name, err)
		return nil
	}
	return v
}

// readRegular is readFile for a path that must not be a link.
func readRegular(path string, limit int64) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, newPathError(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, newPathError(path, errors.New("not a regular file"))
	}
	return readFile(path, limit)
}

// readArtifacts reads curves and scores, job by job.
func (o *Outputs) readArtifacts(dir string) {
	root := filepath.Join(dir, artifactsDir)
	entries, err := os.ReadDir(root)
	if err != nil {
		o.problem("%s/ is missing: no task got as far as writing a file", artifactsDir)
		return
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		job := filepath.Join(root, e.Name())
		curves, err := ReadCurves(job)
		if err != nil {
			o.problem("%v", err)
		}
		o.Curves = append(o.Curves, curves...)
		score, err := readScore(filepath.Join(job, "score.json"))
		switch {
		case err == nil:
			o.Scores[e.Name()] = score
		case !isMissing(err):
			o.problem("%v", err)
		}
	}
	slices.SortFunc(o.Curves, func(a, b Curve) int { return cmp.Or(strings.Compare(a.Job, b.Job), a.Fold-b.Fold) })
}

func readScore(path string) (Score, error) {
	raw, err := readRegular(path, maxRecordBytes)
	if err != nil {
		return Score{}, err
	}
	var file struct {
		Score      *float64            `json:"score"`
		Metric     string              `json:"metric"`
		Greater    *bool               `json:"greater_is_better"`
		FoldScores map[string]*float64 `json:"fold_scores"`
	}
	if err := unmarshalPython(raw, &file); err != nil {
		return Score{}, fmt.Errorf("%s: %w", path, err)
	}
	if file.Score == nil {
		return Score{}, fmt.Errorf("%s: there is no score in it", path)
	}
	s := Score{Score: *file.Score, Metric: file.Metric, Greater: file.Greater == nil || *file.Greater, FoldScores: map[int]float64{}}
	for k, v := range file.FoldScores {
		if fold, err := strconv.Atoi(k); err == nil && v != nil {
			s.FoldScores[fold] = *v
		}
	}
	return s, nil
}

// readTelemetry takes utilisation and notes from telemetry.jsonl. A last line
// cut short is how a killed session ends, and no problem.
func (o *Outputs) readTelemetry(path string) {
	info, err := os.Lstat(path)
	if isMissing(err) {
		o.problem("%s is missing: there is no record of utilisation", TelemetryName)
		return
	}
	if err != nil || !info.Mode().IsRegular() {
		o.problem("%s cannot be read: %v", TelemetryName, orElse(err, "not a regular file"))
		return
	}
	f, err := os.Open(path)
	if err != nil {
		o.problem("%v", newPathError(path, err))
		return
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, maxTelemetry))
	lines.Buffer(nil, maxTelemetryLine)
	bad, pending := 0, false
	for lines.Scan() {
		if pending { // the bad line before was not the last
			bad++
			pending = false
		}
		t, ok := parseTelemetry([]byte(strings.TrimPrefix(lines.Text(), telemetryMark)))
		switch {
		case !ok:
			pending = len(strings.TrimSpace(lines.Text())) > 0
		case t.Note != nil:
			o.Notes = append(o.Notes, *t.Note)
		case len(o.Util) < maxUtilSamples:
			o.Util = append(o.Util, t.Util...)
		}
	}
	if err := lines.Err(); err != nil {
		o.problem("%s cannot be read to its end: %v", TelemetryName, err)
	}
	if bad > 0 {
		o.problem("%s: %d lines cannot be read", TelemetryName, bad)
	}
}
