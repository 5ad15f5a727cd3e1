// Command hello is the smallest Fyne window: the yardstick that scripts/bench measures Sandglass's start and memory against.
package main

import (
	"fyne.io/fyne/v2"
	fyneapp "fyne.io/fyne/v2/app"
	"fyne.io/fyne/v2/widget"
)

func main() {
	w := fyneapp.NewWithID("io.github.sandglass.hello").NewWindow("Hello")
	w.SetContent(widget.NewLabel("Hello"))
	w.Resize(fyne.NewSize(1180, 760))
	w.ShowAndRun()
}
