package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// What is in other languages is built when it is asked for, with the versions
// that its lock files pin.

func rustServer(*peer) ([]string, error) {
	if _, err := exec.LookPath("cargo"); err != nil {
		return nil, errors.New("cargo is not installed")
	}
	target, err := filepath.Abs(filepath.Join(binDir, "rust"))
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("cargo", "build", "--release", "--locked", "--quiet", "--target-dir", target)
	cmd.Dir = "servers/rust"
	return []string{filepath.Join(target, "release", "parley-bench-rust")}, quietly(cmd)
}

func nodeServer(*peer) ([]string, error) {
	dir, err := nodeFolder("servers/typescript")
	return []string{"node", filepath.Join(dir, "server.mjs")}, err
}

// nodeFolder installs what a folder's lock file names, and returns the folder.
func nodeFolder(dir string) (string, error) {
	if _, err := exec.LookPath("npm"); err != nil {
		return "", errors.New("npm is not installed")
	}
	// npm writes this copy of the lock file last.
	if !newer(dir+"/node_modules/.package-lock.json", dir+"/package-lock.json") {
		cmd := exec.Command("npm", "ci", "--loglevel=error")
		cmd.Dir = dir
		if err := quietly(cmd); err != nil {
			return "", err
		}
	}
	return filepath.Abs(dir)
}

func pythonServer(*peer) ([]string, error) {
	bin, err := pythonFolder("python", "servers/python/requirements.txt")
	if err != nil {
		return nil, err
	}
	main, err := filepath.Abs("servers/python/server.py")
	return []string{filepath.Join(bin, "python"), main}, err
}

// pythonFolder installs what a file names into an environment of its own, and
// returns the folder of its programs.
func pythonFolder(name, requirements string) (string, error) {
	if _, err := exec.LookPath("python3"); err != nil {
		return "", errors.New("python3 is not installed")
	}
	venv, err := filepath.Abs(filepath.Join(binDir, name))
	if err != nil {
		return "", err
	}
	stamp := filepath.Join(venv, "installed")
	if !newer(stamp, requirements) {
		if err := install(venv, requirements); err != nil {
			return "", err
		}
		if err := os.WriteFile(stamp, nil, 0o600); err != nil {
			return "", err
		}
	}
	return filepath.Join(venv, "bin"), nil
}

func install(venv, requirements string) error {
	if err := quietly(exec.Command("python3", "-m", "venv", "--clear", venv)); err != nil {
		return err
	}
	pip := filepath.Join(venv, "bin", "pip")
	return quietly(exec.Command(pip, "install", "--quiet", "--disable-pip-version-check", "--requirement", requirements))
}

// newer reports whether a file exists and is not older than another.
func newer(file, other string) bool {
	f, err := os.Stat(file)
	o, err2 := os.Stat(other)
	return err == nil && err2 == nil && !f.ModTime().Before(o.ModTime())
}
