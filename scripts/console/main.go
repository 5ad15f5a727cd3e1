// Console is sandglass.com of the Windows package: what a terminal finds when a person types sandglass. Windows looks for .com
// before .exe. The program itself is linked for windows, so a terminal would neither wait for it nor learn its exit status:
// this starts sandglass.exe with the same arguments and streams, waits, and ends as it ended. Without a verb a window opens,
// and nothing is waited for.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
)

func main() {
	signal.Ignore(os.Interrupt) // Ctrl+C reaches the program too: it decides, and we report what it decided
	self, err := os.Executable()
	if err != nil {
		fail(err)
	}
	os.Exit(start(filepath.Join(filepath.Dir(self), "sandglass.exe"), os.Args[1:]))
}

// start runs the program and returns its exit status.
func start(program string, args []string) int {
	cmd := exec.Command(program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Start()
	if err == nil && len(args) > 0 {
		err = cmd.Wait()
	}
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return ended.ExitCode()
	}
	if err != nil {
		fail(err)
	}
	return 0
}

func fail(err error) {
	fmt.Fprintf(os.Stderr, "sandglass.com could not start sandglass.exe, which must be in the same folder: %v\n", err)
	os.Exit(2)
}
