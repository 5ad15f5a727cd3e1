package main

import (
	"os"
	"regexp"
	"testing"
)

// What scripts/package reads out of FyneApp.toml is said elsewhere too.
func TestPackageSaysWhatTheProgramSays(t *testing.T) {
	find := func(file, pattern string) string {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got := regexp.MustCompile("(?m)" + pattern).FindSubmatch(raw)
		if got == nil {
			t.Fatalf("%s has no line like %s", file, pattern)
		}
		return string(got[1])
	}
	if about, log := find("FyneApp.toml", `^\s*Version = "(.+)"$`), find("CHANGELOG.md", `^## (\S+)`); about != log {
		t.Errorf("FyneApp.toml has version %s, CHANGELOG.md begins with %s", about, log)
	}
	// The desktop finds icon, notifications and window of the program by this name.
	if about, program := find("FyneApp.toml", `^\s*ID = "(.+)"$`), find("app/desktop/shell.go", `^const appID = "(.+)"$`); about != program {
		t.Errorf("FyneApp.toml has ID %s, the program %s", about, program)
	}
	if title, desktop := find("app/desktop/run.go", `NewWindow\("(.+)"\)`), find("scripts/package", `^StartupWMClass=(.+)$`); title != desktop {
		t.Errorf("the window's class comes from its title %s, the desktop entry waits for %s", title, desktop)
	}
}
