package toolresult

import (
	"encoding/json"
	"testing"

	"github.com/parley-mcp/parley/mcp"
)

func TestFailed(t *testing.T) {
	for _, failed := range []any{mcp.ToolError("x"), json.RawMessage(`{"content":[],"isError" : true}`)} {
		if !Failed(failed) {
			t.Errorf("%s is not taken for a failure", failed)
		}
	}
	for _, fine := range []any{
		nil, (*mcp.CallToolResult)(nil), &mcp.CallToolResult{}, &mcp.EmptyResult{}, json.RawMessage(nil),
		json.RawMessage(`{}`), json.RawMessage(`{"isError":false,"structuredContent":{"isError":true}}`), json.RawMessage(`{"isError":tru`),
	} {
		if Failed(fine) {
			t.Errorf("%s is taken for a failure", fine)
		}
	}
}
