package app

import (
	"testing"
	"testing/synctest"
	"time"

	"sandglass/kaggle/sandbox"
)

// Hours that nobody plans to use are told of a day before they expire, and the new
// week's once they are there; each once, also over a restart.
func TestQuotaNotices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sandbox.Options{TPUTotal: time.Hour}, works(time.Hour))
		home := t.TempDir()
		time.Sleep(6*24*time.Hour - 2*time.Hour) // the bubble begins at a reset: 26 h to the next one
		var told []Notice
		for range 2 {
			a := w.open(t, home)
			sub := a.Subscribe()
			if err := a.StartWatcher(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(14 * time.Hour)
			told = append(told, notices(sub)...)
			sub.Close()
			closeApp(t, a)
		}
		if len(told) != 2 || told[0].Kind != "expiring" || told[0].Title != "GPU-hours about to expire: 30.0 h left" || told[1].Kind != "quota-reset" {
			t.Errorf("told %+v", told)
		}
	})
}
