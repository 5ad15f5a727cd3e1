package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNewProject(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "project")
	code, stdout, stderr := call(t, &fake{}, "", "new", "--template", "tabular", dir, "--json")
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var got newJSON
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	if got.Dir != dir || got.Template != "tabular" || len(got.Files) < 4 || len(got.Next) < 3 {
		t.Errorf("got %+v", got)
	}
	for _, file := range got.Files {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(file))); err != nil {
			t.Error(err)
		}
	}
	code, _, stderr = call(t, &fake{}, "", "new", "--template", "tabular", dir)
	if code != exitFailed || !strings.Contains(stderr, "nothing was written") {
		t.Errorf("a second time: exit %d, %s", code, stderr)
	}
	code, stdout, stderr = call(t, &fake{}, "", "new", "--template=preprocess", filepath.Join(dir, "other"))
	if code != exitDone || !strings.Contains(stdout, "sandglass build --project . --name compact") {
		t.Errorf("in words: exit %d, %s%s", code, stdout, stderr)
	}
}

func TestNewWrongCalls(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "project")
	for line, say := range map[string]string{
		"new " + dir:                     "image, preprocess, tabular, text",
		"new --template tabular":         "needs the folder",
		"new --template audio " + dir:    "no template audio",
		"new --template text a b " + dir: "too many arguments",
	} {
		code, _, stderr := call(t, &fake{}, "", strings.Fields(line)...)
		if code != exitUsage || !strings.Contains(stderr, say) {
			t.Errorf("%q: exit %d, %s", line, code, stderr)
		}
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("a wrong call made the folder: %v", err)
	}
}

// The next commands that a template prints are calls of this program, and are understood.
func TestNewNextBuilds(t *testing.T) {
	for _, template := range []string{"tabular", "image", "text", "preprocess"} {
		_, stdout, _ := call(t, &fake{}, "", "new", "--template", template, filepath.Join(t.TempDir(), "p"), "--json")
		var made newJSON
		if err := json.Unmarshal([]byte(stdout), &made); err != nil {
			t.Fatal(err)
		}
		line, ok := strings.CutPrefix(made.Next[len(made.Next)-1], "sandglass ")
		before, command, quoted := strings.Cut(line, ` --cmd "`)
		if !ok || !quoted {
			t.Fatalf("%s: %q", template, made.Next)
		}
		f := &fake{}
		if code, _, stderr := call(t, f, "", append(strings.Fields(before), "--cmd", strings.TrimSuffix(command, `"`))...); code != exitDone {
			t.Errorf("%s: exit %d: %s", template, code, stderr)
		}
		if f.spec.Project != "." || f.spec.Hours == 0 || len(f.spec.Include) == 0 {
			t.Errorf("%s: %+v", template, f.spec)
		}
	}
}
