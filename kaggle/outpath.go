package kaggle

import (
	"fmt"
	"path"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CleanOutputPath makes a file name chosen by a run safe to join to a folder: relative, with slashes, inside. It refuses
// what leads outside (absolute, "..", backslashes, drive letters), control characters, and names Windows reserves for
// devices; on Windows also characters and endings that a file there cannot have. The result is stable under itself.
func CleanOutputPath(name string) (string, error) { return cleanOutputPath(name, runtime.GOOS) }

func cleanOutputPath(name, goos string) (string, error) {
	bad := func(why string) (string, error) {
		return "", fmt.Errorf("the output file %q is not saved: %s", snippet([]byte(name)), why)
	}
	switch {
	case name == "":
		return bad("it has no name")
	case !utf8.ValidString(name):
		return bad("its name is not UTF-8")
	case len(name) > 2000:
		return bad("its name is too long")
	case strings.Contains(name, `\`):
		return bad("its name contains a backslash")
	case strings.HasPrefix(name, "/"):
		return bad("its path is absolute")
	case strings.ContainsFunc(name, unicode.IsControl):
		return bad("its name contains a control character")
	}
	for part := range strings.SplitSeq(name, "/") {
		if why := badPart(part, goos); why != "" {
			return bad(why)
		}
	}
	clean := path.Clean(name)
	if clean == "." {
		return bad("it has no name")
	}
	return clean, nil
}

func badPart(part, goos string) string {
	switch {
	case part == "" || part == ".":
		return ""
	case part == "..":
		return "its path leads out of the folder"
	case len(part) > 255:
		return "its name is too long"
	case len(part) >= 2 && part[1] == ':' && (part[0]|0x20 >= 'a' && part[0]|0x20 <= 'z'):
		return "its path begins with a drive letter"
	case reservedName(part):
		return "Windows reserves its name for a device"
	case goos == "windows" && strings.ContainsAny(part, `<>:"|?*`):
		return "Windows does not allow a character of its name"
	case goos == "windows" && strings.HasSuffix(part, "."), goos == "windows" && strings.HasSuffix(part, " "):
		return "Windows does not allow a name that ends in a dot or a blank"
	}
	return ""
}

// reservedName knows the devices, with any extension: CON, nul.txt, com1.log, LPT¹.
func reservedName(part string) bool {
	base, _, _ := strings.Cut(part, ".")
	base, _, _ = strings.Cut(base, ":")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	for _, dev := range []string{"COM", "LPT"} {
		if n, ok := strings.CutPrefix(base, dev); ok && utf8.RuneCountInString(n) == 1 && strings.Contains("0123456789¹²³", n) {
			return true
		}
	}
	return false
}
