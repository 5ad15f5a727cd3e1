//go:build unix && !linux

package sandbox

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func (t *tree) start(job Job, say func(string, ...any)) error {
	t.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	t.end = func() { killGroup(t.cmd.Process.Pid) }
	if !job.Internet {
		say("this kernel has no internet on Kaggle; this system does not let the sandbox enforce that, so here it has")
	}
	return t.cmd.Start()
}

// killGroup ends a process group and every descendant, and returns when they are gone.
func killGroup(pid int) {
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); {
		left := family(func(p, parent, group int) bool { return p == pid || group == pid })
		if len(left) == 0 {
			return
		}
		for _, p := range left {
			syscall.Kill(p, syscall.SIGKILL)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// killMarked ends what a session of an earlier process left running: ps shows the mark in the environment.
func killMarked(mark string) {
	out, err := exec.Command("ps", "-axEww", "-o", "pid=,command=").Output()
	if err != nil {
		return
	}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) > 0 && strings.Contains(line, "SANDGLASS_SESSION_MARK="+mark+" ") {
			if p, err := strconv.Atoi(f[0]); err == nil && p > 1 {
				syscall.Kill(p, syscall.SIGKILL)
			}
		}
	}
}

// family lists living processes that are members, and their descendants.
func family(member func(pid, parent, group int) bool) []int {
	out, err := exec.Command("ps", "-axo", "pid=,ppid=,pgid=,stat=").Output()
	if err != nil {
		return nil
	}
	parent, in := map[int]int{}, map[int]bool{}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 4 || strings.HasPrefix(f[3], "Z") {
			continue
		}
		p, _ := strconv.Atoi(f[0])
		parent[p], _ = strconv.Atoi(f[1])
		group, _ := strconv.Atoi(f[2])
		in[p] = member(p, parent[p], group)
	}
	for changed := true; changed; {
		changed = false
		for p, pp := range parent {
			if !in[p] && in[pp] {
				in[p], changed = true, true
			}
		}
	}
	var list []int
	for p, ok := range in {
		if ok {
			list = append(list, p)
		}
	}
	return list
}
