package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// goSources builds a Go program that no registry has, from a commit of its
// repository. Its modules come from the module proxy, also those of which the
// repository has copies.
func goSources(name, repository, commit string) func() ([]string, error) {
	return func() ([]string, error) {
		dir, err := filepath.Abs(filepath.Join(binDir, "gateways", "sources", name))
		if err != nil {
			return nil, err
		}
		program := filepath.Join(dir, "bin", commit)
		if _, err := os.Stat(program); err == nil {
			return []string{program}, nil
		}
		tree := filepath.Join(dir, "tree")
		if err := checkout(tree, repository, commit); err != nil {
			return nil, err
		}
		cmd := exec.Command("go", "build", "-mod=mod", "-trimpath", "-ldflags=-s -w", "-o", program, ".")
		cmd.Dir, cmd.Env = tree, append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
		return []string{program}, quietly(cmd)
	}
}

// checkout has a folder hold a commit of a repository.
func checkout(tree, repository, commit string) error {
	if err := errors.Join(os.RemoveAll(tree), os.MkdirAll(tree, 0o750)); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"fetch", "--quiet", "--depth=1", repository, commit},
		{"checkout", "--quiet", "FETCH_HEAD", "--", "."},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = tree
		if err := quietly(cmd); err != nil {
			return err
		}
	}
	return nil
}
