//go:build !windows

package main

// attachConsole is for Windows, where a program with a window starts without a terminal. Here every program has its own.
func attachConsole() {}
