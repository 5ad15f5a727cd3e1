package main

import (
	"os"
	"syscall"
)

// attachConsole joins the terminal that called a verb. The program is linked for windows (so that a double click opens no
// terminal) and would otherwise print into nothing. Streams that were redirected to a file or a pipe stay where they are.
// A terminal does not wait for such a program; scripts/console is what waits for it and hands its exit status on.
func attachConsole() {
	const parent = ^uintptr(0) // ATTACH_PARENT_PROCESS, (DWORD)-1
	given := [3]bool{usable(os.Stdin), usable(os.Stdout), usable(os.Stderr)}
	attach := syscall.NewLazyDLL("kernel32.dll").NewProc("AttachConsole")
	if ok, _, _ := attach.Call(parent); ok == 0 {
		return
	}
	if !given[0] {
		reopen(&os.Stdin, "CONIN$", os.O_RDONLY)
	}
	if !given[1] {
		reopen(&os.Stdout, "CONOUT$", os.O_WRONLY)
	}
	if !given[2] {
		reopen(&os.Stderr, "CONOUT$", os.O_WRONLY)
	}
}

func usable(f *os.File) bool {
	if f == nil {
		return false
	}
	kind, err := syscall.GetFileType(syscall.Handle(f.Fd()))
	return err == nil && kind != syscall.FILE_TYPE_UNKNOWN
}

func reopen(f **os.File, name string, flag int) {
	if opened, err := os.OpenFile(name, flag, 0); err == nil {
		*f = opened
	}
}
