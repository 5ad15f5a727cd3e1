package desktop

import (
	"log/slog"
	"strings"
	"sync"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"
	"github.com/godbus/dbus/v5"

	"sandglass/app"
)

// The freedesktop notification service, https://specifications.freedesktop.org/notification-spec/latest/.
const (
	notifyName = "org.freedesktop.Notifications"
	notifyPath = "/org/freedesktop/Notifications"
)

// notifier shows native notifications. On a system with a D-Bus notification service a later notice about the same run replaces
// the earlier one, and where the server supports actions a click opens the run. Elsewhere Fyne's own sender is used, which
// offers neither.
type notifier struct {
	fallback func(*fyne.Notification)
	open     func(run int64)
	log      *slog.Logger

	mu      sync.Mutex
	conn    *dbus.Conn
	actions bool
	markup  bool
	byRun   map[int64]uint32
	byID    map[uint32]int64
}

// newNotifier connects to the session bus when there is one. open is called, on any goroutine, when a notification is clicked;
// run is 0 for one that is not about a single run.
func newNotifier(fallback func(*fyne.Notification), open func(run int64), log *slog.Logger) *notifier {
	n := &notifier{fallback: fallback, open: open, log: log, byRun: map[int64]uint32{}, byID: map[uint32]int64{}}
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		log.Info("no session bus for notifications", "err", err)
		return n
	}
	var caps []string
	obj := conn.Object(notifyName, notifyPath)
	if err := obj.Call(notifyName+".GetCapabilities", 0).Store(&caps); err != nil {
		log.Info("no notification service on the session bus", "err", err)
		_ = conn.Close()
		return n
	}
	for _, c := range caps {
		n.actions = n.actions || c == "actions"
		n.markup = n.markup || c == "body-markup"
	}
	n.conn = conn
	if n.actions {
		n.listen()
	}
	return n
}

func (n *notifier) listen() {
	if err := n.conn.AddMatchSignal(dbus.WithMatchInterface(notifyName), dbus.WithMatchMember("ActionInvoked")); err != nil {
		n.log.Warn("cannot hear clicks on notifications", "err", err)
		return
	}
	signals := make(chan *dbus.Signal, 8)
	n.conn.Signal(signals)
	go func() {
		for sig := range signals { // closed with the connection
			if sig.Name != notifyName+".ActionInvoked" || len(sig.Body) < 1 {
				continue
			}
			id, ok := sig.Body[0].(uint32)
			if !ok {
				continue
			}
			n.mu.Lock()
			run, known := n.byID[id]
			n.mu.Unlock()
			if known {
				n.open(run)
			}
		}
	}()
}

// Notify shows one notice.
func (n *notifier) Notify(notice app.Notice) {
	notice.Title, notice.Body = said(notice.Title), said(notice.Body)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.conn == nil {
		n.fallback(fyne.NewNotification(notice.Title, notice.Body))
		return
	}
	var actions []string
	if n.actions {
		actions = []string{"default", lang.L("Open")}
	}
	hints := map[string]dbus.Variant{"desktop-entry": dbus.MakeVariant(appID)}
	var id uint32
	err := n.conn.Object(notifyName, notifyPath).Call(notifyName+".Notify", 0,
		"Sandglass", n.byRun[notice.Run], "", notice.Title, bodyText(notice.Body, n.markup), actions, hints, int32(-1)).Store(&id)
	if err != nil {
		n.log.Warn("the notification service did not take a notification", "err", err)
		n.fallback(fyne.NewNotification(notice.Title, notice.Body))
		return
	}
	if notice.Run != 0 {
		n.byRun[notice.Run] = id
	}
	n.byID[id] = notice.Run
}

// bodyText is the text of a notification. A server that takes markup would swallow what an error says between < and >.
func bodyText(s string, markup bool) string {
	if !markup {
		return s
	}
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// Close leaves the bus. Notifications already shown stay.
func (n *notifier) Close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.conn != nil {
		_ = n.conn.Close()
		n.conn = nil
	}
}
