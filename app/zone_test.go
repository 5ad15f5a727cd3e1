package app

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// zoneData is a zone as the system keeps it: one offset, no summer time.
func zoneData(name string, offset int32) []byte {
	b := append([]byte("TZif"), make([]byte, 16)...)
	count := func(n int) { b = append(b, byte(n>>24), byte(n>>16), byte(n>>8), byte(n)) }
	for _, n := range []int{0, 0, 0, 0, 1, len(name) + 1} { // no leap seconds, no changes, one kind of time
		count(n)
	}
	count(int(offset))
	b = append(b, 0, 0)
	return append(append(b, name...), 0)
}

// Who travels with the window open is shown the times of where they are.
func TestTheZoneIsFollowed(t *testing.T) {
	t.Cleanup(func() { zone.Store(nil) })
	dir := t.TempDir()
	link := filepath.Join(dir, "localtime")
	for name, offset := range map[string]int32{"east": 9 * 3600, "west": -8 * 3600} {
		if err := os.WriteFile(filepath.Join(dir, name), zoneData(name, offset), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	move := func(to string) {
		_ = os.Remove(link)
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	none := func(string) string { return "" }
	w := zoneWatch{path: link}
	move("east")
	for range 2 {
		if w.changed(none) {
			t.Error("neither the first look nor one without a change is a journey")
		}
	}
	move("west")
	if !w.changed(none) {
		t.Fatal("a journey went unseen")
	}
	noon := time.Date(2026, 12, 2, 20, 0, 0, 0, time.UTC)
	if got := Local(noon).Format("15:04"); got != "12:00" {
		t.Errorf("20:00 UTC is shown as %s, want 12:00", got)
	}
	move("east")
	if w.changed(func(k string) string { return map[string]string{"TZ": "UTC"}[k] }) {
		t.Error("TZ says the zone for good")
	}
	_ = os.Remove(link)
	if w.changed(none) {
		t.Error("no file is no journey")
	}
}
