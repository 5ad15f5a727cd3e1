// Package cli is Sandglass without a window: the verbs, for scripts and for ssh. It parses, asks and prints; every rule
// lives in package app.
package cli

import "io"

// Main runs one command line (without the program's name) and returns the exit code: 0 done, 1 the thing asked for
// failed, 2 the call was wrong, 3 refused by a guard, 4 Kaggle could not be reached.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	return 2
}

// Version is the version the verbs report; the linker or main sets it.
var Version = "dev"
