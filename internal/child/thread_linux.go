package child

import "syscall"

// endWithThread has a process killed when the thread ends that has started it, and so when
// this program is killed. It does not go for processes that it starts in turn: to them, their
// standard input ends.
func endWithThread(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
