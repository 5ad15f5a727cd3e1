package app

import (
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sandglass/kaggle/sandbox"
)

// A program lies where people put it.
var oddPlaces = []string{"/usr/bin/sandglass", "/home/mara/My Programs/sandglass", `/home/mara/a"b$c` + "`d" + `/sand\glass`, "/home/mara/100%/sandglass", "/home/mära/ünï=日/sandglass", "/tmp/<&>'/sandglass"}

func TestTheDesktopEntryNamesTheProgram(t *testing.T) {
	for _, exe := range oddPlaces {
		for _, home := range []string{"", "/data/my sand"} {
			text := desktopEntry(exe, home)
			if got := readDesktopEntry(text); !got.On || got.Exe != exe {
				t.Errorf("%s: read back as %+v from\n%s", exe, got, text)
			}
			_, line, _ := strings.Cut(text, "\nExec=")
			line, _, _ = strings.Cut(line, "\n")
			want := []string{exe, HiddenFlag}
			if home != "" {
				want = []string{"env", "SANDGLASS_HOME=" + home, exe, HiddenFlag}
			}
			if got := execArgs(line); !slices.Equal(got, want) {
				t.Errorf("%s: arguments %q, want %q", exe, got, want)
			}
		}
	}
	off := desktopEntry("/usr/bin/sandglass", "")
	for _, text := range []string{off + "Hidden=true\n", strings.Replace(off, "enabled=true", "enabled=false", 1)} {
		if readDesktopEntry(text).On {
			t.Errorf("a desktop switched it off, and it counts as on:\n%s", text)
		}
	}
}

func TestTheLaunchAgentNamesTheProgram(t *testing.T) {
	for _, exe := range oddPlaces {
		text := launchAgent(exe, "/data/my <sand>")
		if got := agentProgram(text); got != exe {
			t.Errorf("%s: read back as %q", exe, got)
		}
		d := xml.NewDecoder(strings.NewReader(text))
		for {
			_, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: no XML: %v", exe, err)
			}
		}
	}
}

func TestAutostartIsSetKeptAndRemoved(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it would write into this computer's own settings")
	}
	config := t.TempDir()
	w := newWorld(t, sandbox.Options{}, works(0))
	a := w.open(t, "", func(o *Options) {
		o.Getenv = envOf(map[string]string{"XDG_CONFIG_HOME": config, "APPIMAGE": "/home/mara/Sandglass.AppImage"})
	})
	defer closeApp(t, a)
	on := func() bool {
		t.Helper()
		on, err := a.Autostart()
		if err != nil {
			t.Fatal(err)
		}
		return on
	}
	if on() {
		t.Error("it is on before anybody asked for it")
	}
	for range 2 {
		if err := a.SetAutostart(false); err != nil { // of what is not there
			t.Fatal(err)
		}
	}
	if err := a.SetAutostart(true); err != nil || !on() {
		t.Fatalf("it is not on (%v)", err)
	}
	path := filepath.Join(config, "autostart", autostartName+".desktop")
	text, err := os.ReadFile(path)
	if err != nil || readDesktopEntry(string(text)).Exe != "/home/mara/Sandglass.AppImage" {
		t.Errorf("%s (%v)", text, err)
	}
	if err := os.WriteFile(path, []byte(desktopEntry(filepath.Join(config, "gone"), "")), 0o644); err != nil {
		t.Fatal(err)
	}
	a.KeepAutostart()
	if e, err := readAutostart(a.getenv); err != nil || e.Exe != "/home/mara/Sandglass.AppImage" {
		t.Errorf("a program that moved stays lost: %+v (%v)", e, err)
	}
	here := filepath.Join(config, "other-copy")
	writeAll(t, config, map[string]string{"other-copy": ""})
	if err := os.WriteFile(path, []byte(desktopEntry(here, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	a.KeepAutostart()
	if e, _ := readAutostart(a.getenv); e.Exe != here {
		t.Errorf("another copy's entry was taken over: %+v", e)
	}
	if err := a.SetAutostart(false); err != nil || on() {
		t.Errorf("it is still on (%v)", err)
	}
}
