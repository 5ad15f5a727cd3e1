package desktop

import (
	"context"
	"encoding/xml"
	"log/slog"
	"os"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"github.com/godbus/dbus/v5"

	"sandglass/app"
)

func TestAnErrorInANotificationIsNoMarkup(t *testing.T) {
	const words = `fold 1: TypeError: '<' not supported between <class 'str'> & 3`
	if got := bodyText(words, false); got != words {
		t.Errorf("without markup: %q", got)
	}
	var back string
	if err := xml.Unmarshal([]byte("<b>"+bodyText(words, true)+"</b>"), &back); err != nil || back != words {
		t.Errorf("with markup the server reads %q (%v)", back, err)
	}
}

func TestWithoutABusFyneTells(t *testing.T) {
	var got []string
	n := &notifier{fallback: func(n *fyne.Notification) { got = append(got, n.Title+": "+n.Content) }, log: slog.New(slog.DiscardHandler)}
	n.Notify(app.Notice{Title: "Finished: idea", Body: "auc 0.9"})
	n.Close()
	if len(got) != 1 || got[0] != "Finished: idea: auc 0.9" {
		t.Errorf("told %q", got)
	}
}

// bubbles is a notification service that keeps what it is told.
type bubbles struct {
	told chan string
	last uint32
}

func (b *bubbles) Notify(_ string, replaces uint32, _, title, body string, actions []string, _ map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
	b.last++
	b.told <- title + "|" + body + "|" + strings.Join(actions, ",")
	if replaces != 0 {
		return replaces, nil
	}
	return b.last, nil
}

func (b *bubbles) GetCapabilities() ([]string, *dbus.Error) {
	return []string{"body", "body-markup", "actions"}, nil
}

// A click on a bubble opens its run, or the window; a later notice about the same run takes the place of the earlier one.
func TestAClickOpensTheRun(t *testing.T) {
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") == "" {
		t.Skip("no session bus")
	}
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		t.Skip("no session bus: ", err)
	}
	defer conn.Close()
	b := &bubbles{told: make(chan string, 9)}
	if err := conn.Export(b, notifyPath, notifyName); err != nil {
		t.Fatal(err)
	}
	if r, err := conn.RequestName(notifyName, dbus.NameFlagDoNotQueue); err != nil || r != dbus.RequestNameReplyPrimaryOwner {
		t.Skip("a notification service is there already")
	}
	opened := make(chan int64, 9)
	n := newNotifier(nil, func(run int64) { opened <- run }, slog.New(slog.DiscardHandler))
	defer n.Close()
	n.Notify(app.Notice{Title: "Near its cap: idea", Body: "a < b", Run: 7})
	n.Notify(app.Notice{Title: "Finished: idea", Run: 7})
	n.Notify(app.Notice{Title: "The week's hours are back"})
	for _, want := range []string{"Near its cap: idea|a &lt; b|default,Open", "Finished: idea||default,Open", "The week's hours are back||default,Open"} {
		if got := <-b.told; got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20e9)
	defer cancel()
	for id, want := range map[uint32]int64{1: 7, 3: 0} {
		if err := conn.Emit(notifyPath, notifyName+".ActionInvoked", id, "default"); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-opened:
			if got != want {
				t.Errorf("a click on bubble %d opened run %d, want %d", id, got, want)
			}
		case <-ctx.Done():
			t.Fatalf("a click on bubble %d did nothing", id)
		}
	}
}
