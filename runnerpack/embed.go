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
	runnerSource   = "session/runner.py"
	runnerMember   = "_sandglass/runner.py"
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

// runnerFile is the program that a script carries and runs.
func runnerFile() (member, error) {
	data, err := session.ReadFile(runnerSource)
	if err != nil {
		return member{}, fmt.Errorf("the runner in this program: %w", err)
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	if !isASCII(strings.ReplaceAll(string(data), "\n", "")) {
		return member{}, fmt.Errorf("the runner in this program is not ASCII")
	}
	return member{runnerMember, data, partRunner}, nil
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
