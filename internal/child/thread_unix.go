//go:build unix && !linux

package child

import "syscall"

// endWithThread does nothing: where this program is killed, the standard input of its child
// ends, and nothing else.
func endWithThread(*syscall.SysProcAttr) {}
