package oauth

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"unsafe"
)

// lockFileEx is not in package syscall. kernel32.dll is mapped into every
// process, so no other file of this name can be loaded in its place.
var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

// tryLock locks a file until it is closed, unless another process has locked
// it.
func tryLock(f *os.File) (bool, error) {
	const (
		failImmediately   = 0x1               // LOCKFILE_FAIL_IMMEDIATELY
		exclusive         = 0x2               // LOCKFILE_EXCLUSIVE_LOCK
		lockViolation     = syscall.Errno(33) // ERROR_LOCK_VIOLATION
		reserved, low, hi = 0, 1, 0           // one byte, at the offset in start
	)
	var start syscall.Overlapped
	locked, _, err := lockFileEx.Call(f.Fd(), exclusive|failImmediately, reserved, low, hi, uintptr(unsafe.Pointer(&start)))
	switch {
	case locked != 0:
		return true, nil
	case errors.Is(err, lockViolation):
		return false, nil
	}
	return false, fmt.Errorf("locking %s: %w", f.Name(), err)
}

// checkOwn has nothing to check: folders of a user are protected by the
// permissions that they inherit, which file modes do not show.
func checkOwn(string, fs.FileInfo) error { return nil }
