//go:build !unix

package child

import (
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

// terminate reports that there is no gentle way to end a process here.
func terminate(*exec.Cmd) bool { return false }

func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

// wasKilled reports false: there are no groups to end here.
func wasKilled(*os.ProcessState) bool { return false }
