// Console is sandglass.com of the Windows package: what a terminal finds when a person types sandglass. Windows looks for .com
// before .exe. The program itself is linked for windows, so a terminal would neither wait for it nor learn its exit status:
// this starts sandglass.exe with the same arguments and streams, waits, and ends as it ended.
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
	program := filepath.Join(filepath.Dir(self), "sandglass.exe")
	cmd := exec.Command(program, os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		os.Exit(ended.ExitCode())
	}
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintf(os.Stderr, "sandglass.com could not start sandglass.exe, which must be in the same folder: %v\n", err)
	os.Exit(2)
}
