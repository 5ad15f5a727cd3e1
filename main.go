// Sandglass spends Kaggle's free weekly GPU and TPU hours so that none is wasted. Called without a verb it is a desktop
// program, called with one (sandglass quota) it is the same core in a terminal.
package main

import (
	"os"
	"strings"

	"sandglass/app/cli"
)

// version is set by the linker: -ldflags "-X main.version=v1.2.3".
var version = "dev"

// hiddenFlag is how the system starts Sandglass at login: in the tray. It is app.HiddenFlag.
const hiddenFlag = "--hidden"

func main() { os.Exit(run(os.Args[1:])) }

// run decides between window and verb. The process number that macOS passes to a program started from the Finder is no verb.
func run(args []string) int {
	if len(args) == 0 || (len(args) == 1 && strings.HasPrefix(args[0], "-psn_")) {
		return window(version, false)
	}
	if len(args) == 1 && args[0] == hiddenFlag {
		return window(version, true)
	}
	attachConsole()
	cli.Version = version
	return cli.Main(args, os.Stdin, os.Stdout, os.Stderr, os.Getenv)
}
