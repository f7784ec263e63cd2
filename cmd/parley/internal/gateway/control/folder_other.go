//go:build !unix

package control

import (
	"io/fs"
	"os"
)

// temporary is a folder with a short name. It belongs to the user.
func temporary() string { return os.TempDir() }

// isOurs reports whether a folder belongs to this user. What is in the user's own folders
// inherits who may enter it.
func isOurs(fs.FileInfo) bool { return true }
