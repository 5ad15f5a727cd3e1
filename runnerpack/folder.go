package runnerpack

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Names of the files in a kernel folder.
const (
	MetadataFile = "kernel-metadata.json"
	RecordFile   = "sandglass.json"
)

// maxSourceBytes bounds what ReadFolder reads: a notebook may carry pictures and
// outputs that normalising removes, so far more than Kaggle's limit.
const maxSourceBytes = 200 << 20

// Folder is a kernel folder made fit to push.
type Folder struct {
	Dir      string
	Metadata Metadata
	Source   string       // the script, or the normalised notebook as JSON
	Record   *BuildRecord // of a folder that Pack wrote, else nil
	Identity Identity
	// IdentityErr says why Kaggle would refuse the title and id or make another
	// kernel of them; nil when they are fine. Not an error of reading, because an
	// existing kernel may have been renamed: who pushes decides.
	IdentityErr error
	Warnings    []string
	Fixed       []string // what was changed on the way, each a sentence
}

// ReadFolder reads a kernel folder, one of ours or any other, and makes it fit
// to push. Nothing in the folder is changed. Errors: *MetadataError,
// *AcceleratorError, *PathError and, for a notebook, what is wrong with it.
func ReadFolder(dir string) (*Folder, error) {
	raw, err := readFile(filepath.Join(dir, MetadataFile), 1<<20)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s has no %s, so it is no kernel folder: %w", dir, MetadataFile, err)
	}
	if err != nil {
		return nil, err
	}
	f := &Folder{Dir: dir}
	if f.Metadata, f.Warnings, err = ParseMetadata(raw); err != nil {
		return nil, err
	}
	fixed, warnings, err := CheckAccelerator(&f.Metadata)
	if err != nil {
		return nil, err
	}
	f.Fixed, f.Warnings = append(f.Fixed, fixed...), append(f.Warnings, warnings...)
	f.checkIdentity()
	if err := f.readSource(); err != nil {
		return nil, err
	}
	f.readRecord()
	return f, nil
}

func (f *Folder) checkIdentity() {
	if f.Metadata.IDNo != 0 && f.Metadata.Title == "" {
		return // an existing kernel, by its number, that keeps its title
	}
	f.Identity, f.IdentityErr = CheckIdentity(f.Metadata.Title, f.Metadata.ID)
	if f.IdentityErr == nil {
		f.Metadata.ID = f.Identity.ID()
		f.Fixed = append(f.Fixed, f.Identity.Notes...)
	}
}

func (f *Folder) readSource() error {
	name := filepath.FromSlash(f.Metadata.CodeFile)
	if !filepath.IsLocal(name) {
		return &MetadataError{Field: "code_file", Reason: fmt.Sprintf("%q is not in this folder", f.Metadata.CodeFile)}
	}
	raw, err := readFile(filepath.Join(f.Dir, name), maxSourceBytes)
	if errors.Is(err, os.ErrNotExist) {
		return &MetadataError{Field: "code_file", Reason: fmt.Sprintf("there is no %s in this folder", f.Metadata.CodeFile)}
	}
	if err != nil {
		return err
	}
	if f.Metadata.KernelType == "notebook" && f.Metadata.Language != "rmarkdown" {
		out, notes, err := NormaliseNotebook(raw)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Metadata.CodeFile, err)
		}
		raw, f.Fixed = out, append(f.Fixed, notes...)
	} else if strings.EqualFold(filepath.Ext(name), ".ipynb") {
		return &MetadataError{Field: "kernel_type", Reason: f.Metadata.CodeFile + " is a notebook and kernel_type says script"}
	}
	if !utf8.Valid(raw) {
		return fmt.Errorf("%s is not UTF-8, and Kaggle takes text only; save it as UTF-8", f.Metadata.CodeFile)
	}
	f.Source = string(raw)
	if len(raw) >= WarnScriptBytes {
		f.Warnings = append(f.Warnings, fmt.Sprintf("the source has %d bytes; Kaggle refuses %d and more", len(raw), MaxScriptBytes))
	}
	return nil
}

// readRecord takes the build record if the folder has one. It is a convenience:
// a broken one costs a warning.
func (f *Folder) readRecord() {
	raw, err := readFile(filepath.Join(f.Dir, RecordFile), 1<<20)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	var r BuildRecord
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err != nil {
		f.Warnings = append(f.Warnings, RecordFile+" cannot be read and is left out of account: "+err.Error())
		return
	}
	f.Record = &r
	if r.SHA256 != "" && r.SHA256 != hexSHA256([]byte(f.Source)) {
		f.Warnings = append(f.Warnings, "the script was changed after it was built; what is pushed is the changed one")
	}
}

// readFile is os.ReadFile for regular files of at most limit bytes.
func readFile(path string, limit int64) ([]byte, error) {
	f, _, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(raw)) > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	if err != nil {
		return nil, newPathError(path, err)
	}
	return raw, nil
}

// openRegular is os.Open for regular files. It looks before it opens: a pipe would wait for a writer for ever.
func openRegular(path string) (*os.File, os.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil, newPathError(path, orElse(err, "not a regular file"))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, newPathError(path, err)
	}
	return f, info, nil
}
