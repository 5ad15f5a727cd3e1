//go:build unix

package runnerpack

import (
	"errors"
	"net"
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

// What is neither a file nor a folder stays at home, and the build says so; a device behind a link is no table.
func TestSpecialFilesAreLeftOut(t *testing.T) {
	spec := project(t, nil)
	if err := syscall.Mkfifo(filepath.Join(spec.Project, "src/pipe.py"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(spec.Project, "src")) // the path of a socket may have 100 bytes
	l, err := net.Listen("unix", "sock")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	left := strings.Join(pack(t, spec).LeftOut, "\n")
	for _, want := range []string{"src/pipe.py: neither a file nor a folder", "src/sock: neither a file nor a folder"} {
		if !strings.Contains(left, want) {
			t.Errorf("no %q in %q", want, left)
		}
	}
	folds := filepath.Join(spec.Project, filepath.FromSlash(FoldsFile))
	if err := os.Remove(folds); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", folds); err != nil {
		t.Fatal(err)
	}
	if _, err := Pack(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("folds from a device: %v", err)
	}
}
