package app

import (
	"bytes"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// zoneFile is where Unix systems say which zone the person is in. Go reads it once
// a process; a window that stays open for weeks travels.
const zoneFile = "/etc/localtime"

// zone is where the person is. Without a value it is time.Local.
var zone atomic.Pointer[time.Location]

// Zone is where the person is, for everything that is shown.
func Zone() *time.Location {
	if z := zone.Load(); z != nil {
		return z
	}
	return time.Local
}

// Local is a time in the person's own zone.
func Local(t time.Time) time.Time { return t.In(Zone()) }

// zoneWatch remembers what the zone file said last.
type zoneWatch struct {
	mu   sync.Mutex
	path string // "" = zoneFile
	seen os.FileInfo
	data []byte
}

// changed reads the zone anew when its file is another one than at the last call,
// and says whether the person is somewhere else now. The first call only remembers.
// Under TZ the environment says the zone for good; Windows has no such file, so
// there a new zone is seen by the next start.
func (w *zoneWatch) changed(getenv func(string) string) bool {
	if runtime.GOOS == "windows" || getenv("TZ") != "" {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	path := w.path
	if path == "" {
		path = zoneFile
	}
	info, err := os.Stat(path) // of the file that the link leads to
	if err != nil || w.seen != nil && os.SameFile(info, w.seen) && info.ModTime().Equal(w.seen.ModTime()) {
		return false
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	first := w.seen == nil
	same := bytes.Equal(data, w.data)
	w.seen, w.data = info, data
	if first || same {
		return false
	}
	loc, err := time.LoadLocationFromTZData("Local", data)
	if err != nil {
		return false
	}
	zone.Store(loc)
	return true
}

// followZone makes everything be shown anew when the person is in another zone.
func (a *App) followZone() {
	if a.zone.changed(a.getenv) {
		a.log.Info("another time zone")
		a.hub.emit(Event{Kind: EventReload})
	}
}
