// Package desktop is the window: the shell, its pages, the tray and the notifications. It holds no rules; it asks package app and
// shows what it is told. Start at run.go, which opens the core and the window, and shell.go, which places the pages.
//
// A page is a pure function from a snapshot to a view (tested without pixels) and the widgets that show it. It never polls: the
// pump tells it that something changed, the page reads one snapshot off the UI thread and hands back one function that shows it.
package desktop

import (
	"context"

	"fyne.io/fyne/v2"

	"sandglass/app"
)

// host is what a page may ask of the shell.
type host interface {
	Core() *app.App
	Window() fyne.Window
	// OpenRun shows a run's page.
	OpenRun(id int64)
	// NewRun opens the form; project and command of an earlier run may be given as its defaults (0: none).
	NewRun(from int64)
	// Go shows a page by its name: "week", "runs", "settings".
	Go(page string)
	// Toast shows the result of something the person just did.
	Toast(text string)
	// Fail shows an error in the words of app.Explain.
	Fail(err error)
	// OpenURL shows a page or a folder with the program the system has for it.
	OpenURL(url string)
	// Do runs f on the UI thread, soon.
	Do(f func())
	// Background runs f on a goroutine that ends with the window.
	Background(f func(ctx context.Context))
	// Reload asks the visible page for a fresh snapshot.
	Reload()
	// Mark names a control, so that a script can find it on the screen (see uistate.go).
	Mark(name string, o fyne.CanvasObject)
}

// page is one screen inside the shell. All methods but Load run on the UI thread.
type page interface {
	Object() fyne.CanvasObject
	// Wants says whether an event makes the page's snapshot stale.
	Wants(ev app.Event) bool
	// Load reads one snapshot, off the UI thread, and returns the function that shows it on the UI thread.
	// An error is shown by the page itself through the returned function; a nil function means nothing changed.
	Load(ctx context.Context) (show func())
	Shown()
	Hidden()
}
