package runnerpack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxCodeBytes bounds what is read of a project before compression: twenty
// times of it would not fit, so reading on only costs time.
const maxCodeBytes = 32 << 20

// skippedFolders never travel unless .sandglassignore keeps them.
var skippedFolders = []string{
	"__pycache__", ".git", ".hg", ".svn", ".ipynb_checkpoints", "wandb", "mlruns", "lightning_logs",
	".venv", "venv", "site-packages", "node_modules", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".tox",
	".idea", ".vscode", ".cache", ".sandglass", ".kaggle-gm",
}

// skippedEndings are weights, arrays, pictures, archives and machine code: they
// belong into a dataset.
var skippedEndings = strings.Fields(`.pyc .pyo .pt .pth .bin .ckpt .safetensors .onnx .tflite .h5 .hdf5 .npy .npz
 .pkl .pickle .joblib .parquet .feather .arrow .db .sqlite .zip .tar .gz .tgz .bz2 .xz .7z .rar .whl .egg
 .png .jpg .jpeg .gif .bmp .tif .tiff .webp .ico .dcm .nii .mp4 .avi .mov .wav .mp3 .flac .pdf .so .dll .dylib .exe .o .a .log`)

// collector gathers the person's files.
type collector struct {
	root     string
	skip     string // the folder that is being written, if it is in the project
	rules    ignoreRules
	members  map[string]member
	bytes    int
	leftOut  map[string]string
	secrets  []string // explicit includes that are secrets by name
	withheld []string
}

// collect reads the included paths of a project. leftOut says what stayed at
// home and why; withheld are those of them that stayed because of their name.
func collect(ctx context.Context, root, skip string, include []string) (*collector, error) {
	c := &collector{root: root, skip: skip, members: map[string]member{}, leftOut: map[string]string{}}
	raw, err := readFile(filepath.Join(root, ignoreFile), 1<<20)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	c.rules = parseIgnore(string(raw))
	for _, p := range include {
		if err := c.include(ctx, p); err != nil {
			return nil, err
		}
	}
	if c.secrets != nil {
		return nil, &SecretError{Places: c.secrets}
	}
	return c, nil
}

// include takes one path that was asked for. A single file is taken whatever
// its ending, because it was named.
func (c *collector) include(ctx context.Context, p string) error {
	name := path.Clean(filepath.ToSlash(p))
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return &SpecError{"include", fmt.Sprintf("%q is not inside the project", p)}
	}
	info, err := os.Stat(filepath.Join(c.root, filepath.FromSlash(name)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &SpecError{"include", fmt.Sprintf("there is no %s in %s", p, c.root)}
	case err != nil:
		return newPathError(filepath.Join(c.root, p), err)
	case info.IsDir():
		return c.walk(ctx, name)
	case secretName(name):
		c.secrets = append(c.secrets, name+": its name")
		return nil
	}
	return c.take(name)
}

// walk takes a folder, sorted, as os.ReadDir gives it.
func (c *collector) walk(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	full := filepath.Join(c.root, filepath.FromSlash(dir))
	if c.skip != "" && full == c.skip {
		return nil
	}
	entries, err := os.ReadDir(full)
	if err != nil {
		return newPathError(full, err)
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		folder, why, err := c.judge(name, e)
		if err != nil {
			return err
		}
		switch {
		case why != "":
			c.leftOut[name] = why
		case folder:
			err = c.walk(ctx, name)
		default:
			err = c.take(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// judge says whether an entry is a folder, and why it stays at home if it does.
func (c *collector) judge(name string, e fs.DirEntry) (folder bool, why string, err error) {
	mode := e.Type()
	if mode&fs.ModeSymlink != 0 {
		if mode, why = c.target(name); why != "" {
			return false, why, nil
		}
	}
	if !mode.IsDir() && !mode.IsRegular() {
		return false, "neither a file nor a folder", nil
	}
	base := strings.ToLower(path.Base(name))
	if mode.IsDir() && slices.Contains(secretFolders, base) || !mode.IsDir() && secretName(name) {
		c.withheld = append(c.withheld, name)
		return mode.IsDir(), "looks like a secret", nil
	}
	if rule, ok := c.rules.match(name, mode.IsDir()); ok {
		if rule.keep {
			return mode.IsDir(), "", nil
		}
		return mode.IsDir(), fmt.Sprintf("%s: %s", ignoreFile, rule.text), nil
	}
	if mode.IsDir() {
		if slices.Contains(skippedFolders, base) || strings.HasSuffix(base, ".egg-info") {
			return true, "a folder of tools or caches", nil
		}
		return true, "", nil
	}
	if slices.Contains(skippedEndings, path.Ext(base)) || base == ".ds_store" || base == "thumbs.db" {
		return false, "weights, data, pictures and logs do not travel in a script", nil
	}
	return false, "", nil
}

// target follows a link to a file inside the project; other links stay.
func (c *collector) target(name string) (fs.FileMode, string) {
	full := filepath.Join(c.root, filepath.FromSlash(name))
	to, err := filepath.EvalSymlinks(full)
	if err != nil {
		return 0, "a link to nothing"
	}
	root, err := filepath.EvalSymlinks(c.root)
	if err != nil {
		return 0, "a link that cannot be followed"
	}
	if rel, err := filepath.Rel(root, to); err != nil || !filepath.IsLocal(rel) {
		return 0, "a link out of the project"
	}
	info, err := os.Stat(to)
	if err != nil || !info.Mode().IsRegular() {
		return 0, "a link to a folder" // might lead back to where we are
	}
	return info.Mode().Type(), ""
}

// take reads one file.
func (c *collector) take(name string) error {
	if name == FoldsFile {
		return nil // travels packed
	}
	if _, again := c.members[name]; again {
		return nil
	}
	for _, own := range []string{"_sandglass", "sandglass", "kgkit"} {
		if name == own || strings.HasPrefix(name, own+"/") {
			return &SpecError{"include", fmt.Sprintf("%s would replace the %s package that travels with every run; rename it", name, own)}
		}
	}
	data, err := readFile(filepath.Join(c.root, filepath.FromSlash(name)), maxCodeBytes)
	if err != nil {
		return err
	}
	c.members[name] = member{name, data, partCode}
	if c.bytes += len(data); c.bytes > maxCodeBytes {
		return &SizeError{Bytes: c.bytes, Files: biggestFiles(c.members), Unpacked: true}
	}
	return nil
}

// biggestFiles are the person's files by size, for the words of a SizeError.
func biggestFiles(members map[string]member) []Part {
	var out []Part
	for _, m := range members {
		if m.part == partCode {
			out = append(out, Part{m.name, len(m.data)})
		}
	}
	sortParts(out)
	return out[:min(5, len(out))]
}

// sortParts sorts by size, biggest first, then by name.
func sortParts(parts []Part) {
	slices.SortFunc(parts, func(a, b Part) int {
		if a.Bytes != b.Bytes {
			return b.Bytes - a.Bytes
		}
		return strings.Compare(a.Name, b.Name)
	})
}
