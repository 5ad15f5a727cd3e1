//go:build !headless

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Every verb of a build with a window wrote three lines of a toolkit's error where the locale is C.UTF-8.
func TestTheLocaleOfContainersIsNoError(t *testing.T) {
	for _, set := range []string{"LANG=C.UTF-8", "LC_ALL=C.UTF-8", "LANG=POSIX", "LANG="} {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		for _, v := range os.Environ() {
			if !strings.HasPrefix(v, "LC_") && !strings.HasPrefix(v, "LANG") {
				cmd.Env = append(cmd.Env, v)
			}
		}
		cmd.Env = append(cmd.Env, set)
		if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "locale") {
			t.Errorf("%s: %v\n%s", set, err, out)
		}
	}
}
