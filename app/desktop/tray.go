package desktop

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/lang"
	"github.com/godbus/dbus/v5"

	"sandglass/app"
)

// The service that tells programs whether somebody draws tray icons,
// https://www.freedesktop.org/wiki/Specifications/StatusNotifierItem/StatusNotifierWatcher/.
const trayWatcher = "org.kde.StatusNotifierWatcher"

// tray is the menu beside the clock. It exists only where a tray host does: Fyne's tray code needs a session bus, and a window
// hidden into a tray that nobody draws could not be brought back.
type tray struct {
	menu  *fyne.Menu
	hours *fyne.MenuItem
	count *fyne.MenuItem
	pause *fyne.MenuItem
}

// trayHost says whether something draws tray icons. Windows and macOS always do; elsewhere the bus is asked (stock GNOME has
// nothing that does).
func trayHost() bool {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return true
	}
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	return hasOwner(conn, trayWatcher)
}

func hasOwner(conn *dbus.Conn, name string) bool {
	var owned bool
	err := conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, name).Store(&owned)
	return err == nil && owned
}

// trayWait is how long a start at login waits for the desktop to draw its tray, which it does at about the same time.
const trayWait = 30 * time.Second

// awaitTrayHost says whether something draws tray icons before ctx ends or stop is closed.
func awaitTrayHost(ctx context.Context, stop <-chan struct{}) bool {
	if trayHost() {
		return true
	}
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	if err := conn.AddMatchSignal(dbus.WithMatchInterface("org.freedesktop.DBus"), dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, trayWatcher)); err != nil {
		return false
	}
	signals := make(chan *dbus.Signal, 8)
	conn.Signal(signals)
	for {
		if hasOwner(conn, trayWatcher) { // also between the first look and the match
			return true
		}
		select {
		case _, ok := <-signals:
			if !ok {
				return false
			}
		case <-stop:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// newTray installs the menu. It returns nil where the platform has no tray.
func newTray(a fyne.App, icon fyne.Resource, open, pause, quit func()) *tray {
	d, ok := a.(desktop.App)
	if !ok {
		return nil
	}
	t := &tray{
		hours: fyne.NewMenuItem(lang.L("Hours left: not read yet"), nil),
		count: fyne.NewMenuItem(lang.L("Nothing is running"), nil),
		pause: fyne.NewMenuItem(lang.L("Pause notifications for today"), pause),
	}
	t.hours.Disabled, t.count.Disabled = true, true
	quitItem := fyne.NewMenuItem(lang.L("Quit"), quit)
	quitItem.IsQuit = true
	t.menu = fyne.NewMenu("Sandglass", t.hours, t.count, fyne.NewMenuItemSeparator(),
		fyne.NewMenuItem(lang.L("Open Sandglass"), open), t.pause, fyne.NewMenuItemSeparator(), quitItem)
	d.SetSystemTrayMenu(t.menu)
	d.SetSystemTrayIcon(icon)
	return t
}

// update writes the week and the pause into the menu. It runs on the UI thread.
func (t *tray) update(week app.WeekView, paused bool) {
	if t == nil {
		return
	}
	hours, count := trayText(week)
	pause := lang.L("Pause notifications for today")
	if paused {
		pause = lang.L("Resume notifications")
	}
	if hours == t.hours.Label && count == t.count.Label && pause == t.pause.Label {
		return
	}
	t.hours.Label, t.count.Label, t.pause.Label = hours, count, pause
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

// togglePause pauses the notifications until midnight, or ends the pause. It is the tray's.
func (s *shell) togglePause() {
	s.spawn(func(ctx context.Context) {
		c, err := s.core.NoticeChoices(ctx)
		if err == nil {
			err = s.core.PauseNotices(ctx, c.PausedUntil.IsZero())
		}
		if err != nil {
			s.log.Warn("notifications not paused", "err", err)
		}
		s.refreshSide()
		s.Reload()
	})
}

// paused says whether notifications are paused, for the tray.
func (s *shell) paused(ctx context.Context) bool {
	c, err := s.core.NoticeChoices(ctx)
	return err == nil && !c.PausedUntil.IsZero()
}
