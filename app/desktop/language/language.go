// Package language tells Fyne's translations, before they look, that the locale C.UTF-8 is English. They take its name for a
// language that cannot be parsed and write three lines of error to every verb's standard error (fyne-io/fyne issue 5271); it is the
// locale of containers, of WSL and of many servers.
//
// It must import nothing but os and strings: Go initialises packages in the order of their paths as soon as what they import is
// ready, so that this one comes before text/template, which Fyne's package waits for.
package language

import (
	"os"
	"strings"
)

func init() {
	if os.Getenv("LANGUAGE") != "" {
		return
	}
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if v := os.Getenv(name); v != "" {
			if strings.HasPrefix(v, "C.") {
				os.Setenv("LANGUAGE", "en")
			}
			return
		}
	}
}
