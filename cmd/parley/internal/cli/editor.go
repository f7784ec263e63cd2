package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// edit lets the user change a text in the editor that VISUAL or EDITOR names.
// suffix is the end of the file's name, which tells editors what it holds.
func (a *app) edit(ctx context.Context, text, suffix string) (string, error) {
	dir, err := os.MkdirTemp("", "parley-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "edit"+suffix)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", err
	}
	defer a.think()()
	cmd := a.editor(ctx, file)
	if in, ok := a.io.In.(*os.File); ok {
		cmd.Stdin = in
	}
	cmd.Stdout, cmd.Stderr = a.io.Err, a.io.Err
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("the editor %q: %w; EDITOR names another", cmd.Args[0], err)
	}
	changed, err := os.ReadFile(file) //nolint:gosec // it was made above
	return string(changed), err
}

// editor returns the command that edits a file. EDITOR may have arguments, so a
// shell reads it, as other programs have it read.
func (a *app) editor(ctx context.Context, file string) *exec.Cmd {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if editor, ok := a.io.LookupEnv(name); ok && editor != "" {
			if runtime.GOOS == "windows" {
				return exec.CommandContext(ctx, "cmd", "/c", editor, file) //nolint:gosec // the user's editor
			}
			return exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, editor, file) //nolint:gosec // the user's editor
		}
	}
	if runtime.GOOS == "windows" {
		return exec.CommandContext(ctx, "notepad", file) //nolint:gosec // the file was made here
	}
	return exec.CommandContext(ctx, "vi", file) //nolint:gosec // the file was made here
}
