package sandbox

import (
	"bytes"
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// loopback.py is run first in a network namespace of its own: it brings up "lo" (on Kaggle a kernel without internet
// still has it), gives up the right to do so and becomes the kernel.
//
//go:embed loopback.py
var loopback []byte

// start starts the process in a session of its own and, when the kernel asked for no internet, in a network namespace
// that has none. Where the system does not permit that, the log says so.
func (t *tree) start(job Job, say func(string, ...any)) error {
	t.end = func() { killAll(t.cmd.Process.Pid, t.mark) }
	attr := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if job.Internet {
		t.cmd.SysProcAttr = attr
		return t.cmd.Start()
	}
	boot := filepath.Join(job.Dir, "src", "loopback.py")
	if err := os.WriteFile(boot, loopback, 0o644); err != nil {
		return err
	}
	plain := t.cmd.Args
	isolated := *attr
	isolated.Cloneflags = syscall.CLONE_NEWNET
	if os.Geteuid() != 0 {
		isolated.Cloneflags |= syscall.CLONE_NEWUSER
		isolated.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		isolated.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
		isolated.AmbientCaps = []uintptr{12} // CAP_NET_ADMIN, for loopback.py
	}
	t.cmd.SysProcAttr = &isolated
	t.cmd.Args = append([]string{plain[0], boot}, plain[1:]...)
	err := t.cmd.Start()
	if err == nil {
		return nil
	}
	say("this kernel has no internet on Kaggle; this system does not let the sandbox enforce that (%v), so here it has", err)
	// A command that failed to start cannot be started again; the pipes can be used again.
	t.cmd = &exec.Cmd{Path: t.cmd.Path, Args: plain, Env: t.cmd.Env, Dir: t.cmd.Dir, Stdout: t.cmd.Stdout, Stderr: t.cmd.Stderr, SysProcAttr: attr}
	return t.cmd.Start()
}

// killMarked ends what a session of an earlier process left running.
func killMarked(mark string) { killAll(0, mark) }

// killAll ends a process group, every descendant, and every process that carries the session's mark, whatever it did
// to get away (own session, ignored signals, orphaned), and returns when they are gone.
func killAll(pid int, mark string) {
	needle := []byte("SANDGLASS_SESSION_MARK=" + mark)
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); {
		left := family(pid, needle)
		if len(left) == 0 {
			return
		}
		for _, p := range left {
			syscall.Kill(p, syscall.SIGKILL)
		}
		time.Sleep(2 * time.Millisecond) // for the system to reap; new children of the race are found on the next round
	}
}

// family lists the living processes that belong to the tree of pid or carry the mark.
func family(pid int, mark []byte) []int {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	parent := map[int]int{}
	member := map[int]bool{}
	for _, d := range dirs {
		p, err := strconv.Atoi(filepath.Base(d))
		if err != nil || p == os.Getpid() {
			continue
		}
		st, err := os.ReadFile(d + "/stat")
		if err != nil {
			continue
		}
		// pid (comm) state ppid pgrp session …; comm may hold anything, so cut after the last ")".
		i := bytes.LastIndexByte(st, ')')
		f := strings.Fields(string(st[i+1:]))
		if len(f) < 4 || f[0] == "Z" || f[0] == "X" {
			continue
		}
		parent[p], _ = strconv.Atoi(f[1])
		group, _ := strconv.Atoi(f[2])
		leader, _ := strconv.Atoi(f[3])
		member[p] = pid > 0 && (p == pid || group == pid || leader == pid)
		if !member[p] {
			env, _ := os.ReadFile(d + "/environ")
			member[p] = hasEnv(env, mark)
		}
	}
	for changed := true; changed; {
		changed = false
		for p, pp := range parent {
			if !member[p] && member[pp] {
				member[p], changed = true, true
			}
		}
	}
	var out []int
	for p, in := range member {
		if in {
			out = append(out, p)
		}
	}
	return out
}

// hasEnv looks for one whole NAME=value in a process's environment block.
func hasEnv(env, want []byte) bool {
	for kv := range bytes.SplitSeq(env, []byte{0}) {
		if bytes.Equal(kv, want) {
			return true
		}
	}
	return false
}
