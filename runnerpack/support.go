package runnerpack

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
)

// coreSupport travels with every run: the budget, which scripts written for
// another runner import as well, and what it needs.
var coreSupport = []string{"__init__", "atomic", "budget"}

// neededSupport are the support modules that a run can import: the core, what
// the project's code and commands name, and what those modules import in turn.
// The others would be a third of a small script. Code that does not travel (a
// command that starts a script out of a dataset) may import any of them.
func neededSupport(support, runner, own []member, commands []string) []member {
	needed := map[string]bool{}
	queue := []string{}
	for _, m := range support {
		name := supportModule(m)
		if strings.HasPrefix(m.name, "kgkit/") || slices.Contains(coreSupport, name) ||
			startsForeignCode(commands, own) || namesModule(own, commands, name) || slices.ContainsFunc(runner, func(m member) bool { return importsModule(m.data, name) }) {
			queue = append(queue, m.name)
		}
	}
	for len(queue) > 0 {
		at := slices.IndexFunc(support, func(m member) bool { return m.name == queue[0] })
		queue = queue[1:]
		if needed[support[at].name] {
			continue
		}
		needed[support[at].name] = true
		for _, m := range support {
			if importsModule(support[at].data, supportModule(m)) {
				queue = append(queue, m.name)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(support), func(m member) bool { return !needed[m.name] })
}

func supportModule(m member) string { return strings.TrimSuffix(path.Base(m.name), ".py") }

// namesModule: the person's code or commands have the module's name in them as a
// word, and that of the package. Wide on purpose: a mention too many costs a few
// kilobytes, one too few a session.
func namesModule(own []member, commands []string, name string) bool {
	word := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
	pack, module := false, false
	look := func(text []byte) {
		pack = pack || bytes.Contains(text, []byte("sandglass")) || bytes.Contains(text, []byte("kgkit"))
		module = module || word.Match(text)
	}
	for _, m := range own {
		look(m.data)
	}
	for _, c := range commands {
		look([]byte(c))
	}
	return pack && (module || name == "callbacks" && usesDeadline(own))
}

// deadlineCallback is a callback of a Deadline, which hands it on to the module
// callbacks without naming it.
var deadlineCallback = regexp.MustCompile(`\.\s*(?:lightgbm|xgboost|catboost|lightning|keras|transformers)\s*\(`)

func usesDeadline(own []member) bool {
	return slices.ContainsFunc(own, func(m member) bool {
		return bytes.Contains(m.data, []byte("Deadline")) && deadlineCallback.Match(m.data)
	})
}

// importsModule: Python of ours imports, or starts, the module.
func importsModule(text []byte, name string) bool {
	name = regexp.QuoteMeta(name)
	use := regexp.MustCompile(`^\s*from sandglass import [^#]*\b` + name + `\b|^\s*(?:from|import) sandglass\.` + name + `\b|-m",? "?sandglass\.` + name + `\b`)
	for line := range bytes.Lines(text) {
		if bytes.Contains(line, []byte("sandglass")) && use.Match(line) {
			return true
		}
	}
	return false
}

var scriptWord = regexp.MustCompile(`[^\s"'=;&|]+\.py\b`)

// startsForeignCode: a command starts a Python file that does not travel.
func startsForeignCode(commands []string, own []member) bool {
	for _, c := range commands {
		for _, word := range scriptWord.FindAllString(c, -1) {
			if !slices.ContainsFunc(own, func(m member) bool { return m.name == path.Clean(word) }) {
				return true
			}
		}
	}
	return false
}
