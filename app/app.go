// Package app is the core of Sandglass: what the program does, told without a screen.
package app
