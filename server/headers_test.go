package server

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/mcp"
)

// Spec: 2026-07-28 basic/transports/streamable-http#server-validation.
// Spec: 2026-07-28 server/tools#x-mcp-header.
func TestMirroredIntegers(t *testing.T) {
	s, _ := newServer(Options{})
	s.AddRawTool(mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object","properties":{"o":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}}`)},
		func(context.Context, *Call, json.RawMessage) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: mcp.Contents{mcp.Text("served")}}, nil
		})
	const mismatch, refused = "does not match the body", `invalid arguments for tool \"t\": \"o.n\": it is mirrored in a header, so it must be from -9007199254740991 to 9007199254740991`
	for _, c := range []struct{ header, body, want string }{
		{"100", "100", "served"},
		{"100", "1e2", "served"},
		{"1e2", "100", "served"},
		{"42", "42.0", "served"},
		{"42.0", "42", "served"},
		{"9007199254740991", "9007199254740991", "served"},
		{"100", "1e3", mismatch},
		{"100", "1e99999", mismatch},
		{"9007199254740992", "9007199254740993", mismatch},
		{"9007199254740992", "9007199254740992", refused},
		{"-9007199254740992", "-9007199254740992", refused},
		{"", "9007199254740992", refused}, // on a transport without headers
		{"", "1e2", "served"},
		{"", "9.007199254740992e15", refused},
	} {
		x := request(mcp.MethodCallTool, `{"name":"t","arguments":{"o":{"n":`+c.body+`}}}`)
		if c.header != "" {
			x.Mirrored = func(string) (string, bool, error) { return c.header, true, nil }
		}
		if got := serveExchange(t, s, x); !strings.Contains(strings.ReplaceAll(got, `\\\"`, `\"`), c.want) {
			t.Errorf("header %q, body %s: got %s, want %s", c.header, c.body, got, c.want)
		}
	}
	same(t, call(t, s, "t", `{}`), `{"content":[{"type":"text","text":"served"}]}`)
}
