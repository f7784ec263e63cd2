//go:build unix

package child

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes the child the leader of a process group. The processes that it
// starts then end with it, and an interrupt at the terminal reaches only this
// process, which can shut down the child gracefully.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithThread(cmd.SysProcAttr)
}

// wasKilled reports whether a signal other than that of terminate has ended a process:
// those that it had started have heard nothing then.
func wasKilled(s *os.ProcessState) bool {
	if s == nil {
		return false
	}
	status, ok := s.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() != syscall.SIGTERM
}

// terminate sends SIGTERM to the group, and reports whether that succeeded.
func terminate(cmd *exec.Cmd) bool { return signal(cmd, syscall.SIGTERM) }

func kill(cmd *exec.Cmd) { signal(cmd, syscall.SIGKILL) }

func signal(cmd *exec.Cmd, s syscall.Signal) bool {
	return syscall.Kill(-cmd.Process.Pid, s) == nil
}
