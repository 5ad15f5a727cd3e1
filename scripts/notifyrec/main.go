// Command notifyrec is a notification service for tests: it owns org.freedesktop.Notifications on the session bus and prints one
// JSON line for each notification it is given, after a first line {"ready":true}. With -click it answers each notification with a
// click, as a person would.
//
//	dbus-run-session -- sh -c 'go run ./scripts/notifyrec > got.jsonl & ...'
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/godbus/dbus/v5"
)

const name = "org.freedesktop.Notifications"

type server struct {
	conn  *dbus.Conn
	click bool
	id    atomic.Uint32
}

func (s *server) Notify(app string, replaces uint32, icon, title, body string, actions []string, hints map[string]dbus.Variant, timeout int32) (uint32, *dbus.Error) {
	id := replaces
	if id == 0 {
		id = s.id.Add(1)
	}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"app": app, "id": id, "replaces": replaces, "title": title, "body": body, "actions": actions})
	if s.click && len(actions) > 0 {
		go func() { _ = s.conn.Emit("/org/freedesktop/Notifications", name+".ActionInvoked", id, actions[0]) }()
	}
	return id, nil
}

func (s *server) CloseNotification(uint32) *dbus.Error { return nil }

func (s *server) GetCapabilities() ([]string, *dbus.Error) { return []string{"body", "actions"}, nil }

func (s *server) GetServerInformation() (string, string, string, string, *dbus.Error) {
	return "notifyrec", "sandglass", "1", "1.2", nil
}

func main() {
	click := flag.Bool("click", false, "answer each notification with a click on its first action")
	flag.Parse()
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		fmt.Fprintln(os.Stderr, "notifyrec:", err)
		os.Exit(1)
	}
	if err := conn.Export(&server{conn: conn, click: *click}, "/org/freedesktop/Notifications", name); err != nil {
		fmt.Fprintln(os.Stderr, "notifyrec:", err)
		os.Exit(1)
	}
	if r, err := conn.RequestName(name, dbus.NameFlagDoNotQueue); err != nil || r != dbus.RequestNameReplyPrimaryOwner {
		fmt.Fprintln(os.Stderr, "notifyrec: another notification service owns the name")
		os.Exit(1)
	}
	fmt.Println(`{"ready":true}`)
	<-conn.Context().Done()
}
