package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// What can be had of a sandbox without one that runs: its executor, and the folders behind its data.

// Local is the executor of a sandbox: sessions as Python processes of this machine. python is the interpreter's path, "" for what
// FindPython finds when the first session runs.
func Local(python string, log *slog.Logger) Executor {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &pythonExecutor{path: python, log: log}
}

// ProbePython asks the interpreter at path who it is: its own path and its version, e.g. "3.11.7".
func ProbePython(ctx context.Context, path string) (real, version string, err error) {
	return probePython(ctx, []string{path})
}

// MountTarget is where a source is mounted below the input folder, with slashes. layout is LayoutNew or LayoutOld, kind "dataset",
// "competition", "kernel" or "model".
func MountTarget(layout, kind, ref string) string { return target(layout, kind, ref) }

// FakeDevices is what a session on a machine shape pretends to have. "" and "none" are a CPU session.
func FakeDevices(shape string) (gpus, tpuChips int) {
	switch low := strings.ToLower(shape); {
	case low == "" || low == "none":
		return 0, 0
	case strings.HasPrefix(low, "tpu"):
		return 0, 8
	}
	return gpuOf(shape).count, 0
}

// SourceFolder is the folder behind a source that the sandbox in home has, as its own account sees it; "" when it has none. The
// sandbox may be running, here or in another process: its state is only read. A kernel's folder is the newest run's output.
func SourceFolder(home, kind, ref string) (string, error) {
	s := &Sandbox{home: home, st: &state{}, now: time.Now}
	raw, err := os.ReadFile(s.statePath())
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil {
		err = json.Unmarshal(raw, s.st)
	}
	if err != nil {
		return "", fmt.Errorf("read the sandbox's state: %w", err)
	}
	s.st.fill()
	return s.sourceDir(kind, strings.ToLower(ref)), nil
}

func (s *Sandbox) sourceDir(kind, ref string) string {
	switch kind {
	case "dataset":
		if d, n := s.findDataset(s.st.Username, ref); d != nil {
			if v := d.version(n); v != nil {
				return v.Dir
			}
		}
	case "competition":
		if c := s.st.Competitions[ref]; c != nil && c.Entered {
			return c.Dir
		}
	case "kernel":
		owner, slug, _ := strings.Cut(ref, "/")
		if k := s.visibleKernel(s.st.Username, owner, slug); k != nil {
			if x := s.newestOutput(k); x != nil {
				return filepath.Clean(s.workingDir(x.ID))
			}
		}
	case "model":
		if m := s.findModel(ref); m != nil {
			return m.Dir
		}
	}
	return ""
}
