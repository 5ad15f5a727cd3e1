package runnerpack

import (
	"path"
	"strings"
)

// ignoreFile lists, in the manner of .gitignore, what stays at home.
const ignoreFile = ".sandglassignore"

// ignoreRules are the patterns of a .sandglassignore, the last match deciding.
type ignoreRules []ignoreRule

type ignoreRule struct {
	segments []string // of the path, "**" for any number of them
	folder   bool     // matches folders only
	keep     bool     // begins with !
	text     string
}

// parseIgnore reads the patterns of gitignore(5): # comments, ! to keep, a
// trailing / for folders, ** across folders; a pattern with a / before its end
// counts from the project folder, any other matches a name at any depth.
func parseIgnore(text string) ignoreRules {
	var rules ignoreRules
	for line := range strings.Lines(strings.TrimPrefix(text, string(bom))) {
		p := strings.TrimRight(line, "\r\n")
		for strings.HasSuffix(p, " ") && !strings.HasSuffix(p, `\ `) {
			p = p[:len(p)-1]
		}
		if p == "" || p[0] == '#' {
			continue
		}
		r := ignoreRule{text: p}
		if p[0] == '!' {
			r.keep, p = true, p[1:]
		}
		if trimmed := strings.TrimRight(p, "/"); trimmed != p {
			r.folder, p = true, trimmed
		}
		if p == "" {
			continue
		}
		if !strings.Contains(p, "/") {
			p = "**/" + p
		}
		r.segments = strings.Split(strings.TrimPrefix(p, "/"), "/")
		rules = append(rules, r)
	}
	return rules
}

// match finds the last rule for a slash-separated path under the project.
func (rules ignoreRules) match(name string, folder bool) (rule ignoreRule, found bool) {
	segments := strings.Split(name, "/")
	for i := len(rules) - 1; i >= 0; i-- {
		if r := rules[i]; (folder || !r.folder) && matchSegments(r.segments, segments) {
			return r, true
		}
	}
	return ignoreRule{}, false
}

func matchSegments(pattern, name []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			if len(pattern) == 1 {
				return len(name) > 0 // everything inside, not the folder itself
			}
			for i := range name {
				if matchSegments(pattern[1:], name[i:]) {
					return true
				}
			}
			return false
		}
		if len(name) == 0 {
			return false
		}
		// path.Match knows * ? [a-z] and \; git also writes [!a-z].
		if ok, err := path.Match(strings.ReplaceAll(pattern[0], "[!", "[^"), name[0]); err != nil || !ok {
			return false
		}
		pattern, name = pattern[1:], name[1:]
	}
	return len(name) == 0
}
