//go:build unix

package stdio

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the child the leader of a process group: what it starts in
// its turn ends with it, and an interrupt at the terminal goes to this
// process alone, which then ends the child in good order.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// terminate asks the group to end, and reports whether that could be asked.
func terminate(cmd *exec.Cmd) bool { return signal(cmd, syscall.SIGTERM) }

func kill(cmd *exec.Cmd) { signal(cmd, syscall.SIGKILL) }

func signal(cmd *exec.Cmd, s syscall.Signal) bool {
	return syscall.Kill(-cmd.Process.Pid, s) == nil
}
