//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package oauth

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// tryLock locks a file until it is closed, unless another process has locked
// it.
func tryLock(f *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, syscall.EINTR):
			return false, fmt.Errorf("locking %s: %w", f.Name(), err)
		}
	}
}

// checkOwn refuses what another user owns or can read.
func checkOwn(path string, info fs.FileInfo) error {
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("token store: others have access to %s (%#o); take it from them with chmod go= %q", path, mode, path)
	}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok && int64(sys.Uid) != int64(os.Geteuid()) {
		return fmt.Errorf("token store: %s belongs to somebody else", path)
	}
	return nil
}
