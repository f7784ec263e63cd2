package bridge_test

import (
	"errors"
	"testing"

	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcptest"
)

// A resource that does not exist is refused with the code of the client's
// revision, whatever the server's is.
func TestAbsentResource(t *testing.T) {
	overPairs(t, func(t *testing.T, front, back mcptest.Mode) {
		c := mcptest.Connect(t, bridged(t, newServer(), back), front, nil)
		_, err := c.ReadResource(t.Context(), "test://absent")
		var rpc *jsonrpc.Error
		if !errors.As(err, &rpc) || rpc.Code != revision.Of(front.Revision).ResourceNotFound {
			t.Errorf("the error is %v, want the code %d", err, revision.Of(front.Revision).ResourceNotFound)
		}
	})
}
