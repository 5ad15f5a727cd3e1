package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// target is where a source is mounted below the input folder.
func target(layout, kind, ref string) string {
	parts := strings.Split(ref, "/")
	if layout == LayoutOld {
		switch kind {
		case "dataset", "kernel":
			return parts[len(parts)-1]
		case "model":
			return path.Join(parts[1:]...)
		}
		return ref
	}
	switch kind {
	case "dataset":
		return path.Join("datasets", ref)
	case "kernel":
		return path.Join("notebooks", ref)
	case "model":
		return path.Join("models", ref)
	}
	return path.Join("competitions", ref)
}

// mountInputs puts the job's inputs below its input folder, as links where the system lets us and as copies where not.
// It returns what a person should read about it.
func mountInputs(job Job) (notices []string, err error) {
	taken := map[string]string{}
	for _, in := range job.Inputs {
		if other, clash := taken[in.Target]; clash {
			notices = append(notices, fmt.Sprintf("input %s %s is not mounted: %s is already at %s", in.Kind, in.Ref, other, in.Target))
			continue
		}
		taken[in.Target] = in.Ref
		if _, err := os.ReadDir(in.Dir); err != nil {
			return notices, fmt.Errorf("input %s %s cannot be read: %w", in.Kind, in.Ref, err)
		}
		to := filepath.Join(job.Input, filepath.FromSlash(in.Target))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return notices, fmt.Errorf("mount input %s: %w", in.Ref, err)
		}
		if os.Symlink(in.Dir, to) == nil {
			continue
		}
		if err := copyTree(in.Dir, to); err != nil {
			return notices, fmt.Errorf("copy input %s: %w", in.Ref, err)
		}
	}
	return notices, nil
}

// copyTree copies the regular files below from; links are followed when they stay inside it.
func copyTree(from, to string) error {
	files, err := listFiles(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		if err := copyFile(f.path, filepath.Join(to, filepath.FromSlash(f.name))); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	return writeFrom(src, to)
}

// writeFrom puts all of src into a new file, making its folder.
func writeFrom(src io.Reader, to string) (err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	dst, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	_, err = io.Copy(dst, src)
	return err
}

// fileInfo is one file of an output or a dataset.
type fileInfo struct {
	name string // with slashes, relative to the folder
	path string
	info fs.FileInfo
}

// listFiles walks a folder in name order. Links count when they lead to a file inside the folder: others would hand
// out whatever the machine holds.
func listFiles(dir string) ([]fileInfo, error) {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	var out []fileInfo
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return nil
		}
		real := p
		if d.Type()&fs.ModeSymlink != 0 {
			real, err = filepath.EvalSymlinks(p)
			if err != nil || !within(root, real) {
				return nil
			}
		}
		info, err := os.Stat(real)
		if err != nil || !info.Mode().IsRegular() {
			return nil
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		out = append(out, fileInfo{name: filepath.ToSlash(rel), path: real, info: info})
		return nil
	})
	return out, err
}

// within says whether p is root or below it. Both are absolute and clean.
func within(root, p string) bool {
	rel, err := filepath.Rel(root, p)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
