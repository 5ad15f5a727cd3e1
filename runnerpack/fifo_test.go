//go:build unix

package runnerpack

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipeIsNotWaitedFor: a pipe where a table should be is refused at once; opening it would wait for a writer for ever.
func TestPipeIsNotWaitedFor(t *testing.T) {
	for _, rel := range []string{"data/folds.csv", "src/model.py"} {
		spec := project(t, nil)
		path := filepath.Join(spec.Project, filepath.FromSlash(rel))
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Pack(t.Context(), spec)
		if err != nil {
			if !strings.Contains(err.Error(), "not a regular file") {
				t.Errorf("%s: %v", rel, err)
			}
		} else if rel == "data/folds.csv" {
			t.Errorf("%s: built", rel)
		}
	}
	pipe := filepath.Join(t.TempDir(), "oof.npy")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	var path *PathError
	if _, err := ReadNpy(pipe); !errors.As(err, &path) {
		t.Errorf("an array in a pipe: %v", err)
	}
}
