//go:build headless

package main

import (
	"fmt"
	"os"
)

// window says that this build has none. Exit code 2: the call was wrong.
func window(string, bool) int {
	fmt.Fprintln(os.Stderr, "error: this build of Sandglass has no window")
	fmt.Fprintln(os.Stderr, "hint: call it with a verb (sandglass --help), or build it without the tag headless")
	return 2
}
