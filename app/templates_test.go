package app

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTemplates(t *testing.T) {
	if got, want := strings.Join(Templates(), " "), "image preprocess tabular text"; got != want {
		t.Fatalf("templates %q, want %q", got, want)
	}
	wants := map[string][]string{
		"tabular":    {"src/train.py", "src/make_data.py", "src/common.py"},
		"image":      {"src/train.py", "src/make_data.py", "src/common.py", "src/neural.py", "src/pictures.py"},
		"text":       {"src/train.py", "src/make_data.py", "src/common.py", "src/neural.py"},
		"preprocess": {"src/preprocess.py", "src/compact.py", "src/common.py"},
	}
	for _, name := range Templates() {
		dir := filepath.Join(t.TempDir(), "new", name)
		p, err := WriteTemplate(name, dir)
		if err != nil {
			t.Fatal(err)
		}
		if p.Dir != dir || len(p.Next) == 0 || TemplateAbout(name) == "" {
			t.Errorf("%s: %+v, about %q", name, p, TemplateAbout(name))
		}
		var got []string
		err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(dir, path)
			got = append(got, filepath.ToSlash(rel))
			raw, readErr := os.ReadFile(path)
			if strings.HasSuffix(path, ".py") && strings.ContainsFunc(string(raw), func(r rune) bool { return r > 126 }) {
				t.Errorf("%s/%s is not ASCII", name, rel)
			}
			return errors.Join(err, readErr)
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := append(wants[name], "README.md"); !slices.Equal(got, p.Files) || !containsAll(got, want) || len(got) != len(want) {
			t.Errorf("%s: on disk %q, told %q, want %q", name, got, p.Files, want)
		}
	}
}

func containsAll(have, want []string) bool {
	return !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(have, w) })
}

func TestTemplateReplacesNothing(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, "src", "train.py")
	if err := writeFile(mine, []byte("mine")); err != nil {
		t.Fatal(err)
	}
	_, err := WriteTemplate("tabular", dir)
	var exist *FilesExistError
	if !errors.As(err, &exist) || !slices.Equal(exist.Files, []string{"src/train.py"}) {
		t.Fatalf("error %v", err)
	}
	if raw, err := os.ReadFile(mine); err != nil || string(raw) != "mine" {
		t.Errorf("the file is now %q, %v", raw, err)
	}
	if names, err := os.ReadDir(filepath.Join(dir, "src")); err != nil || len(names) != 1 {
		t.Errorf("written all the same: %v, %v", names, err)
	}
	if err := os.Remove(mine); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(filepath.Join(dir, "notes.md"), []byte("beside it")); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteTemplate("tabular", dir); err != nil {
		t.Errorf("a folder with other files: %v", err)
	}
}

func TestTemplateErrors(t *testing.T) {
	var unknown *TemplateUnknownError
	if _, err := WriteTemplate("audio", t.TempDir()); !errors.As(err, &unknown) || !strings.Contains(err.Error(), "image, preprocess, tabular, text") {
		t.Errorf("unknown template: %v", err)
	}
	dir := t.TempDir()
	if err := writeFile(filepath.Join(dir, "src"), []byte("a file where the folder belongs")); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteTemplate("text", dir); err == nil {
		t.Error("a file in place of the folder was accepted")
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("left behind: %v, %v", names, err)
	}
}
