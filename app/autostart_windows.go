package app

import (
	"errors"
	"strings"

	"golang.org/x/sys/windows/registry"
)

// What starts at login is listed under the first key; the second is where the task
// manager and the system's settings switch an entry off, with an odd first byte.
const (
	runKey      = `Software\Microsoft\Windows\CurrentVersion\Run`
	approvedKey = `Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run`
	runValue    = "Sandglass"
)

func readAutostart(func(string) string) (autostartEntry, error) {
	k, err := registry.OpenKey(registry.CURRENT_USER, runKey, registry.QUERY_VALUE)
	if errors.Is(err, registry.ErrNotExist) {
		return autostartEntry{}, nil
	}
	if err != nil {
		return autostartEntry{}, err
	}
	defer k.Close()
	line, _, err := k.GetStringValue(runValue)
	if errors.Is(err, registry.ErrNotExist) {
		return autostartEntry{}, nil
	}
	if err != nil {
		return autostartEntry{}, err
	}
	e := autostartEntry{On: true}
	if rest, ok := strings.CutPrefix(line, `"`); ok {
		e.Exe, _, _ = strings.Cut(rest, `"`) // no file name holds a quotation mark here
	}
	approved, err := registry.OpenKey(registry.CURRENT_USER, approvedKey, registry.QUERY_VALUE)
	if err == nil {
		defer approved.Close()
		if state, _, err := approved.GetBinaryValue(runValue); err == nil && len(state) > 0 {
			e.On = state[0]&1 == 0
		}
	}
	return e, nil
}

func writeAutostart(_ func(string) string, exe string) error {
	k, _, err := registry.CreateKey(registry.CURRENT_USER, runKey, registry.SET_VALUE)
	if err != nil {
		return err
	}
	defer k.Close()
	if err := k.SetStringValue(runValue, `"`+exe+`" `+HiddenFlag); err != nil {
		return err
	}
	return forgetApproval()
}

func removeAutostart(func(string) string) error {
	k, err := registry.OpenKey(registry.CURRENT_USER, runKey, registry.SET_VALUE)
	if errors.Is(err, registry.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer k.Close()
	if err := k.DeleteValue(runValue); err != nil && !errors.Is(err, registry.ErrNotExist) {
		return err
	}
	return forgetApproval()
}

// forgetApproval takes back what the system's settings said about the entry.
func forgetApproval() error {
	k, err := registry.OpenKey(registry.CURRENT_USER, approvedKey, registry.SET_VALUE)
	if errors.Is(err, registry.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer k.Close()
	if err := k.DeleteValue(runValue); err != nil && !errors.Is(err, registry.ErrNotExist) {
		return err
	}
	return nil
}
