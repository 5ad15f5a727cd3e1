//go:build !headless

package main

import (
	_ "embed"

	"sandglass/app/desktop"
	_ "sandglass/app/desktop/language"
)

//go:embed Icon.png
var icon []byte

// window opens the desktop and returns when it has been closed for good.
func window(version string, hidden bool) int { return desktop.Main(version, icon, hidden) }
