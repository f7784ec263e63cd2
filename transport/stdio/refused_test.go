package stdio_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/stdio"
)

// A program that prints without end is given up, and ended.
func TestCommandFloods(t *testing.T) {
	_, err := client.Connect(t.Context(), &stdio.Command{Args: []string{"yes"}}, &client.Options{Logger: mcptest.Quiet()})
	if err == nil || !strings.Contains(err.Error(), "the server sends what is no message") {
		t.Errorf("connecting to a flood: %v", err)
	}
}

// Where the folder is missing, it is not the program that is blamed.
func TestCommandWithoutFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	_, err := client.Connect(t.Context(), &stdio.Command{Args: []string{"sh"}, Dir: dir}, &client.Options{Logger: mcptest.Quiet()})
	if err == nil || !strings.Contains(err.Error(), "chdir "+dir+": no such file or directory") || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a folder that is not there: %v", err)
	}
}
