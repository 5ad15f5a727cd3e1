package sandbox

import (
	"os/exec"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// start starts the process in a job object, which ends with its last handle: nothing outlives the sandbox either.
func (t *tree) start(job Job, say func(string, ...any)) error {
	t.cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW}
	if !job.Internet {
		say("this kernel has no internet on Kaggle; Windows does not let the sandbox enforce that, so here it has")
	}
	if err := t.cmd.Start(); err != nil {
		return err
	}
	h, err := newJobObject(uint32(t.cmd.Process.Pid))
	t.end = func() { windows.TerminateJobObject(h, 1) }
	t.free = func() { windows.CloseHandle(h) }
	if err != nil {
		// Without a job object (a very old or locked-down system) taskkill has to do.
		t.free = nil
		t.end = func() { exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(t.cmd.Process.Pid)).Run() }
	}
	return nil
}

func newJobObject(pid uint32) (windows.Handle, error) {
	h, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(h, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err == nil {
		var p windows.Handle
		if p, err = windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, pid); err == nil {
			err = windows.AssignProcessToJobObject(h, p)
			windows.CloseHandle(p)
		}
	}
	if err != nil {
		windows.CloseHandle(h)
		return 0, err
	}
	return h, nil
}

// killMarked has nothing to do: the job object died with the process that held it.
func killMarked(string) {}
