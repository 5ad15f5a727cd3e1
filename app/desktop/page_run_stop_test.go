package desktop

import (
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"sandglass/app"
)

func TestStoppingNeedsTheName(t *testing.T) {
	s, _, _ := openShell(t, t.TempDir())
	p := newRunPage(s, 1)
	r := sampleRun()
	r.State = app.StateQueued
	p.last, p.have = r, true
	p.stopRun()
	if s.dialogs != 1 {
		t.Fatalf("%d dialogs", s.dialogs)
	}
	name := s.state.marks["stop.name"].(*entry)
	gone := s.state.marks["stop.delete"].(interface{ Disabled() bool })
	if !gone.Disabled() {
		t.Error("deleting must wait for the name")
	}
	test.Type(name, r.Name)
	if gone.Disabled() {
		t.Error("the name was typed and the button is still off")
	}
	test.Type(name, "x")
	if !gone.Disabled() {
		t.Error("another name must not do")
	}
	if v := newStopView(r); !strings.Contains(v.Words, "queue") || !strings.Contains(v.Words, "cannot be undone") {
		t.Errorf("a queued run: %q", v.Words)
	}
	r.State = app.StateRunning
	if v := newStopView(r); !strings.Contains(v.Words, "Stop button") {
		t.Errorf("a running one: %q", v.Words)
	}
}

func TestRunPagesFitIntoTheSmallestWindow(t *testing.T) {
	s, _, _ := openShell(t, t.TempDir())
	p := newRunPage(s, 1)
	p.Update(sampleRun(), time.Now())
	runs := newRunsPage(s)
	runs.show(runsView{Counts: map[string]string{"flight": "12", "needs": "120"}, Summary: "10000 runs · 1234.5 GPU-h · 400.0 TPU-h", Empty: "x"})
	if min := runs.Object().MinSize(); min.Width > 900-sidebarWidth-1 {
		t.Errorf("the Runs page with counts needs %v", min)
	}
	if min := p.Object().MinSize(); min.Width > 900-sidebarWidth-1 || min.Height > 600 {
		t.Errorf("smallest size %v; header %v, tabs %v, overview %v", min, p.head.MinSize(), p.tabs.MinSize(), p.overview.object.MinSize())
	}
}
