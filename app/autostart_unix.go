//go:build !windows

package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// autostartFile is where the entry lies: a launch agent on macOS, a desktop entry
// elsewhere.
func autostartFile(getenv func(string) string) (string, error) {
	home := getenv("HOME")
	if runtime.GOOS == "darwin" {
		if home == "" {
			return "", errors.New("HOME is not set")
		}
		return filepath.Join(home, "Library", "LaunchAgents", autostartName+".plist"), nil
	}
	config := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) { // as its specification says: relative ones are ignored
		if home == "" {
			return "", errors.New("neither XDG_CONFIG_HOME nor HOME is set")
		}
		config = filepath.Join(home, ".config")
	}
	return filepath.Join(config, "autostart", autostartName+".desktop"), nil
}

func readAutostart(getenv func(string) string) (autostartEntry, error) {
	path, err := autostartFile(getenv)
	if err != nil {
		return autostartEntry{}, err
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return autostartEntry{}, nil
	}
	if err != nil {
		return autostartEntry{}, err
	}
	if runtime.GOOS == "darwin" {
		return autostartEntry{On: true, Exe: agentProgram(string(text))}, nil
	}
	return readDesktopEntry(string(text)), nil
}

func writeAutostart(getenv func(string) string, exe string) error {
	path, err := autostartFile(getenv)
	if err != nil {
		return err
	}
	text := desktopEntry(exe, getenv("SANDGLASS_HOME"))
	if runtime.GOOS == "darwin" {
		text = launchAgent(exe, getenv("SANDGLASS_HOME"))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func removeAutostart(getenv func(string) string) error {
	path, err := autostartFile(getenv)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
