package main

import (
	"os"
	"testing"
)

// The test's own program plays sandglass.exe: with "exit" it ends with 3, as a guard's refusal does.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "exit" {
		os.Exit(3)
	}
	os.Exit(m.Run())
}

func TestExitStatusIsHandedOn(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if got := start(self, []string{"exit"}); got != 3 {
		t.Errorf("the terminal is told %d, want the 3 of the program", got)
	}
}
