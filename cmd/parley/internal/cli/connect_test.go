package cli

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/jsonrpc"
)

// A server that refuses to be connected to has no list to look into.
func TestHintForARefusedConnection(t *testing.T) {
	refused := fmt.Errorf("cannot connect: initialize: %w", jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "no thanks"))
	a := new(app)
	var f *failure
	if err := a.failed(notConnected(target.Target{}, refused), target.Target{}); !errors.As(err, &f) || f.code != codeRefused {
		t.Fatalf("got %v, want that the server refused", err)
	}
	if strings.Contains(f.hint, "parley list") || !strings.Contains(f.hint, "--revision") {
		t.Errorf("hint: %s", f.hint)
	}
	if err := a.failed(refused, target.Target{}); !errors.As(err, &f) || !strings.Contains(f.hint, "parley list") {
		t.Errorf("hint for a call: %s", f.hint)
	}
}
