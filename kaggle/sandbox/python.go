package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// ErrNoPython is what FindPython returns, wrapped with what to install, when there is none.
var ErrNoPython = errors.New("no Python 3.8 or later was found")

const pythonProbe = `import sys
v = sys.version_info
print("%d.%d.%d" % v[:3] if v >= (3, 8) else "old %d.%d" % v[:2])
print(sys.executable)`

// FindPython looks for python3, python and (on Windows) py -3 on the PATH and returns the interpreter's own path (not
// a version manager's shim) and version, e.g. "3.11.7". The error wraps ErrNoPython and says what to install.
func FindPython(ctx context.Context) (path, version string, err error) {
	tries := [][]string{{"python3"}, {"python"}}
	if runtime.GOOS == "windows" {
		tries = [][]string{{"python3"}, {"python"}, {"py", "-3"}}
	}
	var seen []string
	for _, try := range tries {
		path, version, err := probePython(ctx, try)
		if err == nil {
			return path, version, nil
		}
		if ctx.Err() != nil {
			return "", "", ctx.Err()
		}
		if !errors.Is(err, exec.ErrNotFound) {
			seen = append(seen, strings.Join(try, " ")+" "+err.Error())
		}
	}
	found := ""
	if len(seen) > 0 {
		found = " (" + strings.Join(seen, "; ") + ")"
	}
	return "", "", fmt.Errorf("%w%s: %s", ErrNoPython, found, installHint())
}

// probePython asks one interpreter who it is.
func probePython(ctx context.Context, argv []string) (path, version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if _, err := exec.LookPath(argv[0]); err != nil {
		return "", "", exec.ErrNotFound
	}
	cmd := exec.CommandContext(ctx, argv[0], append(argv[1:], "-c", pythonProbe)...)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		// Windows' app-store stub and broken version managers end up here.
		return "", "", fmt.Errorf("does not start: %w", err)
	}
	lines := strings.Split(strings.ReplaceAll(strings.TrimSpace(string(out)), "\r", ""), "\n")
	if old, ok := strings.CutPrefix(lines[0], "old "); ok {
		return "", "", fmt.Errorf("is version %s", old)
	}
	if len(lines) != 2 || lines[1] == "" {
		return "", "", errors.New("does not say where it is")
	}
	return lines[1], lines[0], nil
}

func installHint() string {
	switch runtime.GOOS {
	case "windows":
		return "install Python 3 from https://www.python.org/downloads/ with \"Add python.exe to PATH\" ticked, then try again"
	case "darwin":
		return "install it with `xcode-select --install`, `brew install python3`, or from https://www.python.org/downloads/, then try again"
	}
	return "install it with the system's packages (Debian, Ubuntu: `sudo apt install python3`; Fedora: `sudo dnf install python3`), then try again"
}
