package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// allowed says what each package may import of ours. A package that is not named may import nothing of ours, and every
// package of the tree has to be named here: a new room needs a place in the house.
var allowed = map[string][]string{
	"sandglass":                      {"sandglass/app/desktop", "sandglass/app/desktop/language", "sandglass/app/cli"},
	"sandglass/app/desktop":          {"sandglass/app", "sandglass/widgets", "sandglass/charts", "sandglass/docs"},
	"sandglass/app/cli":              {"sandglass/app"},
	"sandglass/app":                  {"sandglass/kaggle", "sandglass/kaggle/sandbox", "sandglass/planner", "sandglass/runnerpack", "sandglass/app/runlog", "sandglass/app/keychain"},
	"sandglass/kaggle/sandbox":       {"sandglass/kaggle"},
	"sandglass/widgets":              {"sandglass/charts"},
	"sandglass/app/keychain":         nil,
	"sandglass/app/desktop/language": nil,
	"sandglass/app/runlog":           nil,
	"sandglass/charts":               nil,
	"sandglass/docs":                 nil,
	"sandglass/kaggle":               nil,
	"sandglass/planner":              nil,
	"sandglass/planner/yearsim":      {"sandglass/planner"},
	"sandglass/runnerpack":           nil,
}

// withFyne may know the window toolkit.
var withFyne = []string{"sandglass/app/desktop", "sandglass/widgets"}

type pkg struct {
	ImportPath string
	Imports    []string
	GoFiles    []string
	Standard   bool
}

func goList(t *testing.T, args ...string) []pkg {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,GoFiles,Standard"}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	raw, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	var out []pkg
	for dec := json.NewDecoder(strings.NewReader(string(raw))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
}

func ours(path string) bool { return path == "sandglass" || strings.HasPrefix(path, "sandglass/") }

func isFyne(path string) bool {
	return strings.HasPrefix(path, "fyne.io/") || strings.Contains(path, "/go-gl/")
}

func TestArrows(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range goList(t, "-deps", "./...") {
		if !ours(p.ImportPath) || strings.HasPrefix(p.ImportPath, "sandglass/scripts/") {
			continue
		}
		seen[p.ImportPath] = true
		may, known := allowed[p.ImportPath]
		if !known {
			t.Errorf("%s has no place among the arrows", p.ImportPath)
		}
		for _, i := range p.Imports {
			if ours(i) && !slices.Contains(may, i) {
				t.Errorf("%s imports %s, which is not one of its arrows", p.ImportPath, i)
			}
			if isFyne(i) && !slices.Contains(withFyne, p.ImportPath) {
				t.Errorf("%s imports %s; only %s may", p.ImportPath, i, strings.Join(withFyne, " and "))
			}
		}
	}
	for path := range allowed {
		if !seen[path] {
			t.Errorf("%s is among the arrows and not in the tree", path)
		}
	}
}

// The build without a window must need no display libraries.
func TestHeadlessHasNoFyne(t *testing.T) {
	deps := goList(t, "-deps", "-tags", "headless", ".")
	if len(deps) < 50 {
		t.Fatalf("only %d packages were listed", len(deps))
	}
	for _, p := range deps {
		if isFyne(p.ImportPath) || p.ImportPath == "sandglass/app/desktop" || p.ImportPath == "sandglass/widgets" {
			t.Errorf("the headless build contains %s", p.ImportPath)
		}
	}
}

// fyne.io/fyne/v2/app drags in the display libraries: one file imports it, and not in the build without a window.
func TestOneFileOpensTheWindow(t *testing.T) {
	const driver = `"fyne.io/fyne/v2/app"`
	files, err := filepath.Glob("app/desktop/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files of the desktop: %v", err)
	}
	var found []string
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(f, "_test.go") || !strings.Contains(string(raw), driver) {
			continue
		}
		found = append(found, f)
		if !strings.HasPrefix(string(raw), "//go:build !headless") {
			t.Errorf("%s imports %s and is not behind !headless", f, driver)
		}
	}
	if len(found) != 1 {
		t.Errorf("%s is imported by %v, want one file", driver, found)
	}
}

// The verbs alone, whatever the tags, know no window.
func TestVerbsHaveNoFyne(t *testing.T) {
	for _, p := range goList(t, "-deps", "./app/cli") {
		if isFyne(p.ImportPath) {
			t.Errorf("app/cli needs %s", p.ImportPath)
		}
	}
}

// planner and charts get now and data as arguments.
func TestPureRooms(t *testing.T) {
	for _, p := range goList(t, "./planner", "./charts") {
		for _, i := range p.Imports {
			switch i {
			case "os", "net", "net/http", "io/fs", "database/sql", "os/exec", "log/slog", "log":
				t.Errorf("%s imports %s and is to be pure", p.ImportPath, i)
			}
		}
	}
}
