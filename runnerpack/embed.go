package runnerpack

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// session is the Python that travels. all: because embedding a folder otherwise
// leaves out every __init__.py; what must not travel is kept out by supportFile.
//
//go:embed all:session
var session embed.FS

const (
	scriptTemplate = "session/bootstrap.py"
	runnerFolder   = "_sandglass/" // of the runner's modules in the payload
)

// supportFolders are the packages that a training script may import.
var supportFolders = []string{"sandglass", "kgkit"}

// member is one file of the payload.
type member struct {
	name string // slash-separated
	data []byte
	part string
}

// Parts of a script, as Build.Parts names them.
const (
	partRunner   = "runner"
	partScript   = "script" // the readable head of the script
	partConfig   = "config"
	partSupport  = "support"
	partCode     = "code"
	partFolds    = "folds"
	partBaseline = "baseline"
)

// runnerMembers are the modules of the program that a script carries and runs,
// sorted by name. needs says of one whether this session can come to use it.
func runnerMembers(needs func(module string) bool) ([]member, error) {
	names, err := fs.Glob(session, "session/*.py")
	if err != nil {
		return nil, fmt.Errorf("the runner in this program: %w", err)
	}
	var out []member
	for _, name := range names {
		base := path.Base(name)
		if name == scriptTemplate || !needs(strings.TrimSuffix(base, ".py")) {
			continue
		}
		data, err := session.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("the runner in this program: %w", err)
		}
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
		if !isASCII(strings.ReplaceAll(string(data), "\n", "")) {
			return nil, fmt.Errorf("%s of the runner in this program is not ASCII", base)
		}
		out = append(out, member{runnerFolder + base, data, partRunner})
	}
	return out, nil
}

// needsModule: what only a follow-up or only a TPU uses stays at home otherwise.
func (p *plan) needsModule(module string) bool {
	switch module {
	case "resume":
		return len(p.ResumeFrom) > 0
	case "tpu":
		return p.shape.pool == poolTPU
	}
	return true
}

// supportMembers are the support packages, sorted by name.
func supportMembers() ([]member, error) {
	var out []member
	err := fs.WalkDir(session, "session", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(name, "session/")
		if d.IsDir() || !supportFile(rel) {
			return nil
		}
		data, err := session.ReadFile(name)
		if err != nil {
			return err
		}
		out = append(out, member{rel, data, partSupport})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("the support packages in this program: %w", err)
	}
	return out, nil
}

// supportFile: Python modules of the support packages, without tests and caches.
func supportFile(rel string) bool {
	first, rest, inFolder := strings.Cut(rel, "/")
	if !inFolder || (first != supportFolders[0] && first != supportFolders[1]) {
		return false
	}
	for _, dir := range strings.Split(path.Dir(rest), "/") {
		if dir == "tests" || dir == "test" || dir == "__pycache__" {
			return false
		}
	}
	base := path.Base(rel)
	return path.Ext(base) == ".py" && !strings.HasPrefix(base, "test_") && !strings.HasSuffix(base, "_test.py")
}
