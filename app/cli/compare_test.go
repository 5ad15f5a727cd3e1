package cli

import (
	"github.com/rogpeppe/go-internal/testscript"
)

// train NAME EPOCHS FOLDS builds a run of proj on the CPU, pushes it, waits for its end and collects it.
func trainCommand(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(ts.Exec("sandglass", "build", "--project", "proj", "--name", args[0], "--hours", "0.3", "--folds", args[2], "--accelerator", "none", "--json",
		"--cmd", "python src/train.py --name "+args[0]+" --epochs "+args[1]+" --folds {fold}"))
	dir, ok := lookUp(ts, "dir")
	if !ok {
		ts.Fatalf("no folder was built")
	}
	ts.Check(ts.Exec("sandglass", "push", dir, "--yes"))
	ts.Check(ts.Exec("sandglass", "wait", args[0]+"-train", "--interval", "0.3", "--collect"))
}
