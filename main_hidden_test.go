package main

import (
	"testing"

	"sandglass/app"
)

func TestTheStartAtLoginIsUnderstood(t *testing.T) {
	if hiddenFlag != app.HiddenFlag {
		t.Errorf("the system calls us with %s, we understand %s", app.HiddenFlag, hiddenFlag)
	}
}
