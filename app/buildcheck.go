package app

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"sandglass/runnerpack"
)

// checkScripts refuses a spec one of whose commands starts a script that will not be in the session: it would fail there, after
// the queue, and nothing else would be said before. Only what is certain is refused. A script that an input brings, or that a
// command before it in the same line may make, is not looked for.
func checkScripts(s BuildSpec) error {
	if !utf8.ValidString(s.Project) { // it is written down as JSON, and the results would come home to a folder of another name
		return &runnerpack.SpecError{Field: "project", Reason: fmt.Sprintf("the name of the folder %q is not UTF-8; rename it", s.Project)}
	}
	if st, err := os.Stat(s.Project); err != nil || !st.IsDir() {
		return &runnerpack.SpecError{Field: "project", Reason: "there is no folder " + s.Project}
	}
	type command struct{ field, text string }
	all := []command{{"cmd", s.Command}, {"assemble-cmd", s.Assemble}}
	for _, j := range s.ExtraJobs {
		all = append(all, command{"extra-job", j.Command}, command{"extra-job", j.Assemble})
	}
	for _, text := range s.Post {
		all = append(all, command{"post-cmd", text})
	}
	for _, c := range all {
		script := scriptOf(c.text)
		if script == "" || fromInput(s, script) {
			continue
		}
		if why := notShipped(s, script); why != "" {
			return &runnerpack.SpecError{Field: c.field, Reason: why}
		}
	}
	return nil
}

var (
	pythonWord = regexp.MustCompile(`^(?:\S*/)?python[\d.]*$`)
	assignment = regexp.MustCompile(`^\w+=`)
)

// scriptOf is the script that a command line starts first, as a clean path relative to the project; "" when that cannot be told.
func scriptOf(command string) string {
	words := shellWords(command)
	for len(words) > 0 && (assignment.MatchString(words[0]) || slices.Contains([]string{"env", "exec", "nohup", "time"}, words[0])) {
		words = words[1:]
	}
	if len(words) < 2 {
		return ""
	}
	python := pythonWord.MatchString(words[0])
	if shell := slices.Contains([]string{"sh", "bash", "/bin/sh", "/bin/bash"}, words[0]); !python && !shell {
		return ""
	}
	for i := 1; i < len(words); i++ {
		switch w := words[i]; {
		case python && (w == "-X" || w == "-W"):
			i++ // its value
		case w == "-" || strings.HasPrefix(w, "-m") || strings.HasPrefix(w, "-c"):
			return ""
		case strings.HasPrefix(w, "-"):
		case strings.ContainsAny(w, "$`*?{}~\\\x00") || path.IsAbs(w) || filepath.IsAbs(w):
			return ""
		default:
			return path.Clean(w)
		}
	}
	return ""
}

// shellWords splits the first simple command of a line as a POSIX shell would. A word with something to be filled in keeps its
// dollar; what cannot be told gets a NUL.
func shellWords(line string) []string {
	var out []string
	var word strings.Builder
	open, quote := false, rune(0)
	end := func() {
		if open {
			out = append(out, word.String())
			word.Reset()
			open = false
		}
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, open = r, true
		case r == ' ' || r == '\t':
			end()
		case strings.ContainsRune(";&|<>()#", r):
			end()
			return out
		case r == '\\':
			word.WriteByte(0)
			open = true
		default:
			word.WriteRune(r)
			open = true
		}
	}
	end()
	return out
}

// fromInput says whether a path may come from what is attached: flat inputs land in data/, a target is a folder of its own, and
// results of earlier runs are under artifacts/.
func fromInput(s BuildSpec, script string) bool {
	folders := []string{}
	for _, refs := range [][]string{s.Datasets, s.Kernels, s.Competitions, s.Models} {
		for _, ref := range refs {
			folder := "data"
			if _, target, ok := strings.Cut(ref, "="); ok {
				folder = path.Clean(filepath.ToSlash(target))
			}
			folders = append(folders, folder)
		}
	}
	if len(s.ResumeFrom) > 0 {
		folders = append(folders, "artifacts")
	}
	return slices.ContainsFunc(folders, func(f string) bool { return within(script, f) })
}

func within(name, folder string) bool {
	return folder == "." || name == folder || strings.HasPrefix(name, folder+"/")
}

// notShipped says why a script of the project will not be in the session; "" when it will.
func notShipped(s BuildSpec, script string) string {
	if !filepath.IsLocal(filepath.FromSlash(script)) {
		return fmt.Sprintf("it starts %s, which is outside the project and will not be in the session; move it under src/", script)
	}
	at := filepath.Join(s.Project, filepath.FromSlash(script))
	switch st, err := os.Stat(at); {
	case err != nil && !os.IsNotExist(err):
		return "" // the packer says why it cannot be read
	case err != nil:
		return fmt.Sprintf("it starts %s, and there is no such file in %s; correct the command%s", script, s.Project, similar(s.Project, script))
	case st.IsDir() && !isFile(filepath.Join(at, "__main__.py")):
		return fmt.Sprintf("it starts %s, which is a folder without a __main__.py; name the script", script)
	}
	if real := spelled(s.Project, script); real != "" && real != script {
		return fmt.Sprintf("it starts %s and the file is called %s: a session tells capitals from small letters; correct the command", script, real)
	}
	include := s.Include
	if include == nil {
		include = []string{"src"}
	}
	if !slices.ContainsFunc(include, func(p string) bool { return within(script, path.Clean(filepath.ToSlash(p))) }) {
		return fmt.Sprintf("it starts %s, which does not travel: only %s does; move the script there, or add it with --include %s --include %s",
			script, strings.Join(include, ", "), strings.Join(include, " --include "), script)
	}
	return ""
}

func isFile(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.Mode().IsRegular()
}

// spelled is a path as the disk spells it: on a Mac and under Windows train.py opens Train.py. "" when it cannot be told.
func spelled(root, name string) string {
	at, out := root, ""
	for _, part := range strings.Split(name, "/") {
		entries, err := os.ReadDir(at)
		if err != nil {
			return ""
		}
		i := slices.IndexFunc(entries, func(e fs.DirEntry) bool { return e.Name() == part })
		if i < 0 {
			i = slices.IndexFunc(entries, func(e fs.DirEntry) bool { return strings.EqualFold(e.Name(), part) })
		}
		if i < 0 {
			return ""
		}
		at, out = filepath.Join(at, entries[i].Name()), path.Join(out, entries[i].Name())
	}
	return out
}

// similar names the scripts that are where the missing one was looked for.
func similar(root, script string) string {
	entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(path.Dir(script))))
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && path.Ext(e.Name()) == path.Ext(script) {
			names = append(names, path.Join(path.Dir(script), e.Name()))
		}
	}
	if len(names) == 0 || len(names) > 5 {
		return ""
	}
	return " (there is " + strings.Join(names, ", ") + ")"
}
