package cli

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Who answers a question of a configuration file with Ctrl-C interrupts the command.
func TestRefusedInputInterrupts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(path, []byte(`{"mcpServers":{"s":{"command":"${input:key}"}},"inputs":[{"id":"key","type":"promptString"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	a, _ := newTestApp("", true)
	a.flags.config = path
	_, err := a.entry(t.Context(), "s")
	if f, ok := errors.AsType[*failure](err); !ok || f.code != codeInterrupted || f.code.exit() != exitInterrupted {
		t.Errorf("error = %v (%T), want that the command was interrupted", err, err)
	}
}
