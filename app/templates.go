package app

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// templateFiles are the projects that a person can start from. A project is some
// folders laid over each other: what several share is there once.
//
//go:embed all:templates
var templateFiles embed.FS

// template is one entry of templates/templates.json.
type template struct {
	About  string   `json:"about"`
	Layers []string `json:"layers"`
	Next   []string `json:"next"`
}

// NewProject is a project that WriteTemplate wrote.
type NewProject struct {
	Template string
	Dir      string   // absolute
	Files    []string // slash-separated under Dir, sorted
	Next     []string // commands to try, in Dir, in this order
}

// TemplateUnknownError is a name that no template has.
type TemplateUnknownError struct{ Name string }

func (e *TemplateUnknownError) Error() string {
	return fmt.Sprintf("there is no template %q; there are %s", e.Name, strings.Join(Templates(), ", "))
}

// FilesExistError names files that a template would have replaced.
type FilesExistError struct {
	Dir   string
	Files []string // slash-separated under Dir
}

func (e *FilesExistError) Error() string {
	names := e.Files
	if len(names) > 3 {
		names = append(slices.Clone(names[:3]), fmt.Sprintf("%d more", len(e.Files)-3))
	}
	return fmt.Sprintf("%s has %s already; nothing was written: choose a folder without them", e.Dir, strings.Join(names, ", "))
}

// Templates names the projects that a person can start from, sorted.
func Templates() []string {
	all, err := readTemplates()
	if err != nil {
		return nil // a program with a broken embedded list; WriteTemplate tells it
	}
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// TemplateAbout says in half a sentence what a template is for; "" for none.
func TemplateAbout(name string) string {
	all, err := readTemplates()
	if err != nil {
		return ""
	}
	return all[name].About
}

func readTemplates() (map[string]template, error) {
	raw, err := templateFiles.ReadFile("templates/templates.json")
	var all map[string]template
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("the project templates in this program: %w", err)
	}
	return all, nil
}

// WriteTemplate writes a template's project into dir, which is made if it is
// missing. It replaces nothing: when a file of the project is there already the
// answer is a *FilesExistError and nothing is written. When writing itself fails
// the files written so far are removed again.
func WriteTemplate(name, dir string) (NewProject, error) {
	all, err := readTemplates()
	if err != nil {
		return NewProject{}, err
	}
	t, ok := all[name]
	if !ok {
		return NewProject{}, &TemplateUnknownError{name}
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return NewProject{}, fmt.Errorf("write the project: %w", err)
	}
	files, err := t.files()
	if err != nil {
		return NewProject{}, err
	}
	p := NewProject{Template: name, Dir: abs, Next: t.Next}
	for file := range files {
		p.Files = append(p.Files, file)
	}
	slices.Sort(p.Files)
	if err := refuseExisting(abs, p.Files); err != nil {
		return NewProject{}, err
	}
	for i, file := range p.Files {
		if err := writeFile(filepath.Join(abs, filepath.FromSlash(file)), files[file]); err != nil {
			for _, written := range p.Files[:i] {
				err = errors.Join(err, os.Remove(filepath.Join(abs, filepath.FromSlash(written))))
			}
			return NewProject{}, fmt.Errorf("write the project into %s: %w", abs, err)
		}
	}
	return p, nil
}

// files are the layers' files; a later layer's file goes over an earlier one's.
func (t template) files() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, layer := range t.Layers {
		root := path.Join("templates", layer)
		err := fs.WalkDir(templateFiles, root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && d.Name() != "__pycache__" {
				return err
			}
			if d.IsDir() {
				return fs.SkipDir
			}
			files[strings.TrimPrefix(name, root+"/")], err = templateFiles.ReadFile(name)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("the project templates in this program: %w", err)
		}
	}
	return files, nil
}

func refuseExisting(dir string, files []string) error {
	var there []string
	for _, file := range files {
		_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(file)))
		switch {
		case err == nil:
			there = append(there, file)
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("write the project into %s: %w", dir, err)
		}
	}
	if there != nil {
		return &FilesExistError{Dir: dir, Files: there}
	}
	return nil
}
