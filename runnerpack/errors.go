package runnerpack

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// SpecError is a request that cannot be built as it stands.
type SpecError struct {
	Field  string // the field of Spec, as its flag is named: hours, folds, name …
	Reason string
}

func (e *SpecError) Error() string { return e.Field + ": " + e.Reason }

// MetadataError is a kernel-metadata.json that cannot be used.
type MetadataError struct {
	Field  string // the JSON key; "" when the file is no JSON object
	Reason string
}

func (e *MetadataError) Error() string {
	if e.Field == "" {
		return "kernel-metadata.json: " + e.Reason
	}
	return "kernel-metadata.json: " + e.Field + ": " + e.Reason
}

// IdentityError is a title and id that Kaggle would refuse or turn into another kernel.
type IdentityError struct {
	Title, ID string
	Reason    string
	Suggest   string // a title that would do, or ""
}

func (e *IdentityError) Error() string {
	s := fmt.Sprintf("title %q and id %q: %s", e.Title, e.ID, e.Reason)
	if e.Suggest != "" {
		s += fmt.Sprintf("; try the title %q", e.Suggest)
	}
	return s
}

// AcceleratorError is a request for hardware that contradicts itself.
type AcceleratorError struct {
	Reason  string
	Suggest string // a machine_shape that would do, or ""
}

func (e *AcceleratorError) Error() string {
	if e.Suggest == "" {
		return e.Reason
	}
	return e.Reason + "; set machine_shape to " + e.Suggest
}

// FoldsError is a folds file that cannot be trusted.
type FoldsError struct {
	Row    int    // line of the table, the header is 1; 0 when no one row is to blame
	Reason string // names the row
}

func (e *FoldsError) Error() string { return e.Reason }

// SecretError is a build that would have carried a secret to Kaggle. It names
// places, never what was found there.
type SecretError struct {
	Places []string // "path:line: kind of secret"
}

func (e *SecretError) Error() string {
	return "refused, because a kernel's source is stored at Kaggle and this looks like a secret: " +
		strings.Join(e.Places, "; ") +
		"; take it out (read it from the environment or from a Kaggle secret), or list the file in .sandglassignore"
}

// SizeError is a script over Kaggle's limit.
type SizeError struct {
	Bytes int
	Parts []Part // biggest first
	Files []Part // the biggest files of the person's own, before compression
	// Unpacked: the code was too much to even begin; Bytes is its size before compression.
	Unpacked bool
}

func (e *SizeError) Error() string {
	if e.Unpacked {
		return fmt.Sprintf("the included files have more than %d bytes and a script holds %d; %s; "+
			"put data into a dataset and attach it, or keep files back with .sandglassignore",
			maxCodeBytes, MaxScriptBytes, biggest(nil, e.Files))
	}
	advice := "put data into a dataset and attach it, or keep files back with .sandglassignore"
	if len(e.Parts) > 0 && e.Parts[0].Name == partFolds {
		advice = "upload " + FoldsFile + " as a private dataset and build with --split-from owner/slug"
	}
	return fmt.Sprintf("the script would be %d bytes and Kaggle refuses %d and more; %s; %s",
		e.Bytes, MaxScriptBytes, biggest(e.Parts, e.Files), advice)
}

// PathError is a file or folder of the project that could not be read.
type PathError struct {
	Path string
	Err  error
}

func (e *PathError) Error() string {
	return fmt.Sprintf("cannot read %s: %v", e.Path, e.Err)
}

// newPathError takes the path out of the system's own error, which names it too.
func newPathError(path string, err error) *PathError {
	var sys *fs.PathError
	if errors.As(err, &sys) {
		err = sys.Err
	}
	return &PathError{path, err}
}

func (e *PathError) Unwrap() error { return e.Err }

// biggest puts the parts and files that take the most space into words.
func biggest(parts, files []Part) string {
	words := func(list []Part, n int) string {
		var out []string
		for _, p := range list[:min(n, len(list))] {
			out = append(out, fmt.Sprintf("%s %d", p.Name, p.Bytes))
		}
		return strings.Join(out, ", ")
	}
	var out []string
	if len(parts) > 0 {
		out = append(out, "biggest parts: "+words(parts, 3))
	}
	if len(files) > 0 {
		out = append(out, "biggest files before compression: "+words(files, 3))
	}
	return strings.Join(out, "; ")
}
