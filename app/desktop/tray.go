package desktop

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/lang"
	"github.com/godbus/dbus/v5"

	"sandglass/app"
)

// tray is the menu beside the clock. It exists only where a tray host does: Fyne's tray code needs a session bus, and a window
// hidden into a tray that nobody draws could not be brought back.
type tray struct {
	menu  *fyne.Menu
	hours *fyne.MenuItem
	count *fyne.MenuItem
}

// hasTrayHost asks the bus whether something draws tray icons (stock GNOME has nothing that does). ok is false too when there
// is no bus at all.
func hasTrayHost() (bus, host bool) {
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		return false, false
	}
	defer func() { _ = conn.Close() }()
	var owned bool
	err = conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, "org.kde.StatusNotifierWatcher").Store(&owned)
	return true, err == nil && owned
}

// newTray installs the menu. It returns nil where the platform has no tray.
func newTray(a fyne.App, icon fyne.Resource, open, quit func()) *tray {
	d, ok := a.(desktop.App)
	if !ok {
		return nil
	}
	t := &tray{
		hours: fyne.NewMenuItem(lang.L("Hours left: not read yet"), nil),
		count: fyne.NewMenuItem(lang.L("Nothing is running"), nil),
	}
	t.hours.Disabled, t.count.Disabled = true, true
	quitItem := fyne.NewMenuItem(lang.L("Quit"), quit)
	quitItem.IsQuit = true
	t.menu = fyne.NewMenu("Sandglass", t.hours, t.count, fyne.NewMenuItemSeparator(),
		fyne.NewMenuItem(lang.L("Open Sandglass"), open), fyne.NewMenuItemSeparator(), quitItem)
	d.SetSystemTrayMenu(t.menu)
	d.SetSystemTrayIcon(icon)
	return t
}

// update writes the week into the menu. It runs on the UI thread.
func (t *tray) update(week app.WeekView) {
	if t == nil {
		return
	}
	hours, count := trayText(week)
	if hours == t.hours.Label && count == t.count.Label {
		return
	}
	t.hours.Label, t.count.Label = hours, count
	t.menu.Refresh()
}

func trayText(week app.WeekView) (hours, count string) {
	pool := func(name string, p app.PoolView) string {
		if !p.Known {
			return name + " " + lang.L("unknown")
		}
		return fmt.Sprintf("%s %.1f h", name, p.Left)
	}
	hours = lang.L("Left this week:") + " " + pool("GPU", week.Quota.GPU) + ", " + pool("TPU", week.Quota.TPU)
	switch n := len(week.InFlight); n {
	case 0:
		count = lang.L("Nothing is running")
	case 1:
		count = lang.L("1 run in flight")
	default:
		count = fmt.Sprintf(lang.L("%d runs in flight"), n)
	}
	return hours, count
}
