package main

import (
	"os"
	"syscall"
)

// replaced keeps the first streams from being collected, which would close their handles.
var replaced [3]*os.File

// attachConsole joins the terminal that called a verb. The program is linked for windows (so that a double click opens no
// terminal) and would otherwise print into nothing. Streams that were redirected to a file or a pipe stay where they are.
// A terminal does not wait for such a program; scripts/console is what waits for it and hands its exit status on.
func attachConsole() {
	const parent = ^uintptr(0) // ATTACH_PARENT_PROCESS, (DWORD)-1
	attach := syscall.NewLazyDLL("kernel32.dll").NewProc("AttachConsole")
	if ok, _, _ := attach.Call(parent); ok == 0 {
		return
	}
	streams := [3]**os.File{&os.Stdin, &os.Stdout, &os.Stderr}
	for i, name := range [3]string{"CONIN$", "CONOUT$", "CONOUT$"} {
		if f := *streams[i]; leadsNowhere(f) || isConsole(f) {
			// Both ways, also for output: only a handle that can be read tells its mode, and without the mode Go would take a
			// console for a file and write UTF-8 into its code page. A console that was handed down is opened anew for the same
			// reason: Go looked at it before this process belonged to it.
			if opened, err := os.OpenFile(name, os.O_RDWR, 0); err == nil {
				*streams[i], replaced[i] = opened, f
			}
		}
	}
}

func leadsNowhere(f *os.File) bool {
	if f == nil {
		return true
	}
	kind, err := syscall.GetFileType(syscall.Handle(f.Fd()))
	return err != nil || kind == syscall.FILE_TYPE_UNKNOWN
}

func isConsole(f *os.File) bool {
	var mode uint32
	return syscall.GetConsoleMode(syscall.Handle(f.Fd()), &mode) == nil
}
