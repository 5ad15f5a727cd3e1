//go:build linux

package keychain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The tests in this file talk to a real Secret Service. scripts/test provides one
// on a private bus and says so by this variable.
const realService = "SANDGLASS_TEST_SECRET_SERVICE"

func needService(t *testing.T) {
	t.Helper()
	if os.Getenv(realService) == "" {
		t.Skip("needs a Secret Service on a private bus: run scripts/test")
	}
}

func TestRealServiceHoldsTheCredential(t *testing.T) {
	needService(t)
	if !inChild() {
		child(t, os.Environ())
		return
	}
	s := OS(0)
	ctx := t.Context()
	account := fmt.Sprintf("sam-roe-%d@www.kaggle.com", os.Getpid())
	const secret = "KGAT_0123456789abcdef-é"
	if err := s.Set(ctx, account, secret); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Delete(context.WithoutCancel(ctx), account) })
	if got, err := s.Get(ctx, account); err != nil || got != secret {
		t.Fatalf("got %q, %v; want what was stored", got, err)
	}
	// Another program, with another library, finds it under the documented name.
	out, err := exec.CommandContext(ctx, "secret-tool", "lookup", "service", Service, "username", account).Output()
	if errors.Is(err, exec.ErrNotFound) {
		t.Log("secret-tool is not installed; only our own reading was checked")
	} else if err != nil || string(out) != secret {
		t.Errorf("secret-tool gave %q, %v; want the secret", out, err)
	}
	if err := s.Set(ctx, account, strings.Repeat("k", MaxSecret)); err != nil {
		t.Errorf("the largest secret: %v", err)
	}
	if err := s.Set(ctx, account, ""); err != nil {
		t.Errorf("emptying: %v", err)
	}
	if got, err := s.Get(ctx, account); !errors.Is(err, ErrNotFound) {
		t.Errorf("after emptying: got %q, %v; want ErrNotFound", got, err)
	}
}

// TestRealServiceThatIsLocked starts a bus of its own, on which the system starts
// a Secret Service in a fresh home: it has a keyring that nobody unlocked.
func TestRealServiceThatIsLocked(t *testing.T) {
	needService(t)
	if !inChild() {
		home := t.TempDir()
		env := append(without(os.Environ(), "DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"),
			"HOME="+home, "XDG_DATA_HOME="+home, "XDG_RUNTIME_DIR="+home)
		child(t, env, "dbus-run-session", "--")
		return
	}
	refused(t, "locked")
}

// TestRealBusWithoutService starts a bus that knows no service to start.
func TestRealBusWithoutService(t *testing.T) {
	needService(t)
	if !inChild() {
		conf := filepath.Join(t.TempDir(), "bus.conf")
		const text = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`
		if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		child(t, without(os.Environ(), "DBUS_SESSION_BUS_ADDRESS"), "dbus-run-session", "--config-file="+conf, "--")
		return
	}
	refused(t, "no Secret Service")
}

// TestNoBusAtAll is a login over ssh.
func TestNoBusAtAll(t *testing.T) {
	if !inChild() {
		empty := t.TempDir()
		child(t, append(without(os.Environ(), "DISPLAY", "DBUS_SESSION_BUS_ADDRESS"), "XDG_RUNTIME_DIR="+empty, "PATH="+empty))
		return
	}
	refused(t, "no session bus")
}

// refused checks that every operation says in time and in words that there is no keychain.
func refused(t *testing.T, says string) {
	t.Helper()
	s := OS(0)
	ctx := t.Context()
	start := time.Now()
	_, getErr := s.Get(ctx, "sam-roe")
	for verb, err := range map[string]error{"get": getErr, "set": s.Set(ctx, "sam-roe", "KGAT_hidden"), "delete": s.Delete(ctx, "sam-roe")} {
		if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "KGAT") {
			t.Errorf("%s: got %v, want ErrUnavailable with %q", verb, err, says)
		}
	}
	if d := time.Since(start); d > 3*defaultTimeout {
		t.Errorf("it took %v to say so", d)
	}
}

func inChild() bool { return os.Getenv(childMark) != "" }

const childMark = "SANDGLASS_KEYCHAIN_CHILD"

// child runs this very test again in a process of its own, behind a prefix:
// other tests of this package replace go-keyring's one provider for good.
func child(t *testing.T, env []string, prefix ...string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := append(prefix, exe, "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1")
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(env, childMark+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("in a process of its own: %v\n%s", err, out)
	}
}

// without is an environment less some variables.
func without(env []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(names, name)
	})
}
