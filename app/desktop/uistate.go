package desktop

import (
	"encoding/json"
	"os"
	"sync"

	"fyne.io/fyne/v2"
)

// uiState is what a script that drives the window may read: with SANDGLASS_UI_STATE naming a file, the shell writes where each
// marked control is, in device pixels of the window, whenever something was redrawn. It carries nothing secret.
type uiState struct {
	path string

	mu    sync.Mutex
	marks map[string]fyne.CanvasObject
	last  string
}

type uiSnapshot struct {
	Page    string            `json:"page"`
	Run     int64             `json:"run"`
	Status  string            `json:"status"`
	Toast   string            `json:"toast"`
	Dialog  bool              `json:"dialog"`
	Objects map[string][4]int `json:"objects"` // x, y, width, height
}

func newUIState(path string) *uiState {
	return &uiState{path: path, marks: map[string]fyne.CanvasObject{}}
}

func (u *uiState) mark(name string, o fyne.CanvasObject) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.marks[name] = o
}

// write puts the snapshot into the file, by rename, when it differs from the last one. It runs on the UI thread.
func (u *uiState) write(win fyne.Window, snap uiSnapshot) {
	if u.path == "" {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	driver, scale := fyne.CurrentApp().Driver(), win.Canvas().Scale()
	snap.Objects = map[string][4]int{}
	for name, o := range u.marks {
		if driver.CanvasForObject(o) != win.Canvas() || !o.Visible() {
			continue
		}
		at, size := driver.AbsolutePositionForObject(o), o.Size()
		if at.X <= 0 && at.Y <= 0 || size.Width == 0 { // not in the window now
			continue
		}
		snap.Objects[name] = [4]int{int(at.X * scale), int(at.Y * scale), int(size.Width * scale), int(size.Height * scale)}
	}
	b, err := json.Marshal(snap)
	if err != nil || string(b) == u.last {
		return
	}
	if os.WriteFile(u.path+".tmp", b, 0o600) == nil && os.Rename(u.path+".tmp", u.path) == nil {
		u.last = string(b)
	}
}
