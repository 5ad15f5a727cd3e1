package app

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"sandglass/app/runlog"
	"sandglass/kaggle/sandbox"
)

// TestSetAsideRunLog: damage in the middle of the file, which opening does not meet, is damage too; a log that another process
// watches is not moved under it.
func TestSetAsideRunLog(t *testing.T) {
	w := newWorld(t, sandbox.Options{}, works(0))
	home := t.TempDir()
	a := w.open(t, home)
	acc, err := a.Account(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		if _, err := a.store.CreateRun(t.Context(), runlog.Run{Account: acc.ID, Kernel: "sam-roe/x", Note: string(bytes.Repeat([]byte("note "), 50)), State: StateComplete}); err != nil {
			t.Fatal(err)
		}
	}
	closeApp(t, a)
	path := filepath.Join(home, runLogFile)
	opt := Options{Home: home}
	var call *CallError
	if _, err := SetAsideRunLog(t.Context(), opt); !errors.As(err, &call) {
		t.Fatalf("a log in order: %v", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	st, err := f.Stat()
	if err == nil {
		_, err = f.WriteAt(bytes.Repeat([]byte{0xff}, 4096), st.Size()/4096/2*4096)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := w.open(t, home)
	if err := other.StartWatcher(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, 1e10, "the watcher's lock", func() bool { return owns(other) })
	if s, err := SetAsideRunLog(t.Context(), opt); err == nil {
		t.Errorf("moved to %s under a process that watches", s.Aside)
	}
	_ = other.Close() // may meet the damage
	s, err := SetAsideRunLog(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(s.Aside)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("what was set aside is not what was there (%d and %d bytes, %v)", len(before), len(after), err)
	}
	closeApp(t, w.open(t, home))
}
