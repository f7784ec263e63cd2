//go:build unix

package control

import (
	"io/fs"
	"os"
	"syscall"
)

// temporary is a folder with a short name. That of the environment may be a long one, or
// another for the gateway than for a command.
func temporary() string { return "/tmp" }

// isOurs reports whether a folder belongs to this user.
func isOurs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
