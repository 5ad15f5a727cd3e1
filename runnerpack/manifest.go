package runnerpack

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// CheckManifest compares the files of an output folder with its manifest.json:
// there, of the right size, of the right content. No problem is an empty list.
// A manifest that is missing or broken is an error; a path in it that leads out
// of the folder is a problem and is not looked at.
func CheckManifest(dir string) ([]ManifestProblem, error) {
	raw, err := readRegular(filepath.Join(dir, ManifestName), maxRecordBytes)
	if err != nil {
		return nil, err
	}
	var m Manifest
	if err := unmarshalPython(raw, &m); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", ManifestName, err)
	}
	var problems []ManifestProblem
	for _, f := range m.Files {
		if p := checkFile(dir, f); p != "" {
			problems = append(problems, ManifestProblem{f.Path, p})
		}
	}
	return problems, nil
}

// checkFile says what is wrong with one file, "" for nothing.
func checkFile(dir string, f ManifestFile) string {
	if !localPath(f.Path) {
		return "the path leads out of the folder; not looked at"
	}
	full := filepath.Join(dir, filepath.FromSlash(f.Path))
	info, err := os.Lstat(full)
	switch {
	case isMissing(err):
		return "missing"
	case err != nil:
		return newPathError(full, err).Error()
	case !info.Mode().IsRegular():
		return "not a regular file"
	case info.Size() != f.Size:
		return fmt.Sprintf("%d bytes, %d expected", info.Size(), f.Size)
	}
	file, err := os.Open(full)
	if err != nil {
		return newPathError(full, err).Error()
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return newPathError(full, err).Error()
	}
	if hex.EncodeToString(sum.Sum(nil)) != strings.ToLower(f.SHA256) {
		return "the content differs"
	}
	return ""
}

// localPath: a slash-separated path that stays in its folder on every system.
func localPath(p string) bool {
	return p != "" && p == path.Clean(p) && p != "." && !strings.ContainsAny(p, "\\:\x00") && filepath.IsLocal(filepath.FromSlash(p))
}
