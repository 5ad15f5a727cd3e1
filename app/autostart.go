package app

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"strings"
)

// HiddenFlag is the argument of a start at login: the window stays in the tray
// until it is asked for.
const HiddenFlag = "--hidden"

// autostartName is what the entry is called where the system keeps it.
const autostartName = "io.github.sandglass"

// autostartEntry is the start at login as the system has it.
type autostartEntry struct {
	On  bool   // it is there and nobody switched it off in the system's own settings
	Exe string // the program it starts, "" = not known
}

// Autostart says whether Sandglass starts when the person logs in.
func (a *App) Autostart() (bool, error) {
	e, err := readAutostart(a.getenv)
	if err != nil {
		return false, fmt.Errorf("look whether Sandglass starts at login: %w", err)
	}
	return e.On, nil
}

// SetAutostart makes this program start when the person logs in, or not any more.
// It needs no rights but the person's own.
func (a *App) SetAutostart(on bool) error {
	if !on {
		if err := removeAutostart(a.getenv); err != nil {
			return fmt.Errorf("take Sandglass out of what starts at login: %w", err)
		}
		return nil
	}
	exe, err := startedFrom(a.getenv)
	if err == nil {
		err = writeAutostart(a.getenv, exe)
	}
	if err != nil {
		return fmt.Errorf("make Sandglass start at login: %w", err)
	}
	return nil
}

// KeepAutostart repairs a start at login whose program is not there any more: the
// person moved it, and started it from where it is now.
func (a *App) KeepAutostart() {
	e, err := readAutostart(a.getenv)
	if err != nil || !e.On || e.Exe == "" {
		return
	}
	if _, err := os.Stat(e.Exe); !os.IsNotExist(err) {
		return
	}
	if err := a.SetAutostart(true); err != nil {
		a.log.Warn("the start at login names a program that is gone", "err", err)
	}
}

// startedFrom is the file to start. An AppImage runs from a folder that is gone
// when it ends, and says where it really is.
func startedFrom(getenv func(string) string) (string, error) {
	if image := getenv("APPIMAGE"); image != "" {
		return image, nil
	}
	return os.Executable()
}

// desktopEntry is a file of https://specifications.freedesktop.org/autostart-spec/.
// home is SANDGLASS_HOME, which a session that begins knows nothing of; "" = unset.
func desktopEntry(exe, home string) string {
	line := execArg(exe) + " " + HiddenFlag
	if home != "" {
		line = "env " + execArg("SANDGLASS_HOME="+home) + " " + line
	}
	return "[Desktop Entry]\nType=Application\nName=Sandglass\nComment=Watches runs at Kaggle\nExec=" + line +
		"\nIcon=" + autostartName + "\nTerminal=false\nX-GNOME-Autostart-enabled=true\n"
}

// execArg quotes one argument of an Exec line: between double quotes a backslash
// stands before ", `, $ and \; backslashes are doubled once more as in every value
// of the file, and a percent sign is written twice.
func execArg(s string) string {
	s = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", `$`, `\$`, `%`, `%%`).Replace(s)
	return strings.ReplaceAll(`"`+s+`"`, `\`, `\\`)
}

// readDesktopEntry takes the program back out of what desktopEntry wrote, and sees
// what desktops write into it to switch it off.
func readDesktopEntry(text string) autostartEntry {
	e := autostartEntry{On: true}
	for _, line := range strings.Split(text, "\n") {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch value = strings.TrimSpace(value); strings.TrimSpace(key) {
		case "Hidden":
			e.On = e.On && value != "true"
		case "X-GNOME-Autostart-enabled":
			e.On = e.On && value != "false"
		case "Exec":
			args := execArgs(value)
			if len(args) > 2 && args[0] == "env" {
				args = args[2:] // of desktopEntry
			}
			if len(args) > 0 {
				e.Exe = args[0]
			}
		}
	}
	return e
}

// execArgs undoes execArg for a line of arguments.
func execArgs(line string) []string {
	line = strings.ReplaceAll(line, `\\`, `\`)
	var args []string
	var arg strings.Builder
	quoted, open := false, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"':
			quoted, open = !quoted, true
		case quoted && c == '\\' && i+1 < len(line):
			i++
			arg.WriteByte(line[i])
		case c == '%' && i+1 < len(line) && line[i+1] == '%':
			i++
			arg.WriteByte('%')
		case c == ' ' && !quoted:
			if open {
				args = append(args, arg.String())
			}
			arg.Reset()
			open = false
		default:
			arg.WriteByte(c)
			open = true
		}
	}
	if open {
		args = append(args, arg.String())
	}
	return args
}

// launchAgent is a property list for macOS, see launchd.plist(5).
func launchAgent(exe, home string) string {
	var b bytes.Buffer
	text := func(s string) string {
		var e bytes.Buffer
		_ = xml.EscapeText(&e, []byte(s)) // to memory: cannot fail
		return "<string>" + e.String() + "</string>"
	}
	b.WriteString(xml.Header)
	b.WriteString(`<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">` + "\n")
	b.WriteString("<plist version=\"1.0\"><dict>\n<key>Label</key>" + text(autostartName) + "\n")
	b.WriteString("<key>ProgramArguments</key><array>" + text(exe) + text(HiddenFlag) + "</array>\n")
	if home != "" {
		b.WriteString("<key>EnvironmentVariables</key><dict><key>SANDGLASS_HOME</key>" + text(home) + "</dict>\n")
	}
	b.WriteString("<key>RunAtLoad</key><true/>\n<key>ProcessType</key><string>Interactive</string>\n</dict></plist>\n")
	return b.String()
}

// agentProgram is the first program argument of a launch agent, "" when there is none.
func agentProgram(text string) string {
	_, after, ok := strings.Cut(text, "<key>ProgramArguments</key>")
	if !ok {
		return ""
	}
	var list struct {
		Strings []string `xml:"string"`
	}
	if xml.NewDecoder(strings.NewReader(after)).Decode(&list) != nil || len(list.Strings) == 0 {
		return ""
	}
	return list.Strings[0]
}
