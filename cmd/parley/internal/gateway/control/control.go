// Package control lets commands speak to a gateway that runs: JSON over HTTP, on a Unix
// socket in a folder that only the user can enter. That is all that protects it, and it
// is enough: whoever can open the socket could end the gateway, too.
//
// A socket's name begins with a hash of the path of the configuration, so that all
// gateways of one file can be found; each program on this machine starts its own.
package control

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	suffix = ".sock"
	// longest is how long the address of a socket may be, in bytes, wherever there are
	// any: 108 in most systems and 104 in some, with a zero at the end.
	longest = 103
	// room is kept for the name of a socket.
	room = len("/") + 2*hashSize + len("-4294967295-99") + len(suffix)

	hashSize = 8
)

// folder returns where the sockets are that belong into dir: there, or, if an address
// would be too long, in a folder of the same name for everybody of this user.
func folder(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if len(dir)+room <= longest {
		return dir, nil
	}
	short := filepath.Join(temporary(), "parley-"+hash(dir))
	if len(short)+room > longest {
		return "", fmt.Errorf("%s is too long for the address of a socket, and so is %s", dir, short)
	}
	return short, nil
}

// private makes a folder that only this user can enter, or checks that it is one.
func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir() || !isOurs(info):
		return fmt.Errorf("%s is not a folder of this user", dir)
	}
	return os.Chmod(dir, 0o700) //nolint:gosec // a folder must be entered
}

// hash shortens a text to a part of a name.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:hashSize])
}

// prefix is how the sockets of a configuration begin; those of all if file is "". Links
// to the file itself are not followed: some systems point them elsewhere to change it.
func prefix(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	return hash(path) + "-", nil
}

// pidOf returns the process in the name of a socket, or 0 if it is none.
func pidOf(name string) int {
	parts := strings.Split(strings.TrimSuffix(name, suffix), "-")
	if !strings.HasSuffix(name, suffix) || len(parts) < 2 {
		return 0
	}
	pid, err := strconv.Atoi(parts[1])
	if err != nil {
		return 0
	}
	return pid
}

// sockets returns the names of the sockets in a folder that begin like this.
func sockets(dir, prefix string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && pidOf(e.Name()) != 0 {
			names = append(names, e.Name())
		}
	}
	return names, err
}
