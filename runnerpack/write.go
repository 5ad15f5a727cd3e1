package runnerpack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// indented is JSON for a file that people read.
func indented(v any) ([]byte, error) {
	raw, err := plainJSON(v)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	if err := json.Indent(&buf, raw, "", "  "); err != nil {
		return nil, err
	}
	buf.WriteByte('\n')
	return buf.Bytes(), nil
}

// hideFromGit makes dir with a .gitignore of its own, so that builds never end
// up in the person's repository.
func hideFromGit(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, ".gitignore"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString("*\n")
	return errors.Join(err, f.Close())
}

// replaceFolder writes files as the folder dir. They are written beside it and
// moved into place when all are there; until then an earlier build stays as it
// is. A folder that holds anything but an earlier build is not touched.
func replaceFolder(dir string, files map[string][]byte) error {
	if err := onlyBuild(dir); err != nil {
		return err
	}
	fail := func(err error) error {
		return fmt.Errorf("the build cannot be written, an earlier one is untouched: %w", err)
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return fail(err)
	}
	temp, err := os.MkdirTemp(parent, "."+filepath.Base(dir)+".new-*")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(temp) // what is left of it: nothing after a good build
	fresh := filepath.Join(temp, "build")
	if err := os.Mkdir(fresh, 0o755); err != nil {
		return fail(err)
	}
	for name, data := range files {
		if err := writeSynced(filepath.Join(fresh, name), data); err != nil {
			return fail(err)
		}
	}
	old := filepath.Join(temp, "old")
	err = os.Rename(dir, old)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail(err)
	}
	had := err == nil
	if err := os.Rename(fresh, dir); err != nil {
		if had {
			err = errors.Join(err, os.Rename(old, dir))
		}
		return fail(err)
	}
	return nil
}

// writeSynced writes a file and waits until it is on the disk.
func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// NotesFile is a file that a caller may keep beside a build; a new build of the folder drops it.
const NotesFile = "build-notes.json"

// onlyBuild refuses a folder with files that no build wrote.
func onlyBuild(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return newPathError(dir, err)
	}
	own := map[string]bool{MetadataFile: true, RecordFile: true, NotesFile: true, "__pycache__": true, ".DS_Store": true}
	if raw, err := readFile(filepath.Join(dir, MetadataFile), 1<<20); err == nil {
		if m, _, err := ParseMetadata(raw); err == nil {
			own[m.CodeFile] = true
		}
	}
	for _, e := range entries {
		if !own[e.Name()] {
			return &SpecError{"out", fmt.Sprintf("%s has %s in it, which no build wrote, and a build replaces the whole folder; choose another", dir, e.Name())}
		}
	}
	return nil
}
