package spec_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// careless is a server whose handlers return what must not be sent.
func careless() mcp.Handler {
	s := server.New(mcp.Implementation{Name: "careless", Version: "1"}, &server.Options{Logger: mcptest.Quiet()})
	object := json.RawMessage(`{"type":"object"}`)
	returns := func(name string, r *mcp.CallToolResult) {
		s.AddRawTool(mcp.Tool{Name: name, InputSchema: object, OutputSchema: json.RawMessage(`{"type":"object","required":["n"]}`)},
			func(context.Context, *server.Call, json.RawMessage) (*mcp.CallToolResult, error) { return r, nil })
	}
	good := json.RawMessage(`{"n":1}`)
	returns("image", &mcp.CallToolResult{Content: mcp.Contents{&mcp.ImageContent{Data: []byte{1}}}, StructuredContent: good})
	returns("link", &mcp.CallToolResult{Content: mcp.Contents{&mcp.ResourceLink{URI: "not a uri", Name: "l"}}, StructuredContent: good})
	returns("key", &mcp.CallToolResult{ResultFields: mcp.ResultFields{Meta: mcp.Meta{"bad key !": object}}, StructuredContent: good})
	returns("structured", &mcp.CallToolResult{StructuredContent: good})
	returns("failed", &mcp.CallToolResult{StructuredContent: json.RawMessage(`{"reason":"full"}`), IsError: true})
	s.AddRawPrompt(mcp.Prompt{Name: "p"}, func(context.Context, *server.Call, map[string]string) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{mcp.UserMessage(&mcp.EmbeddedResource{})}}, nil
	})
	s.AddResource(mcp.Resource{URI: "test://r", Name: "r"}, func(context.Context, *server.Call, string) (*mcp.ReadResourceResult, error) {
		return server.Contents(mcp.TextResource("test://ä", "", "")), nil
	})
	return s
}

// What a handler must not send does not reach the wire, in any revision and over
// any transport, and what it has to say does.
//
// Spec: 2026-07-28 server/tools#tool-result.
// Spec: 2026-07-28 server/tools#structured-content.
func TestContentOfCarelessHandlers(t *testing.T) {
	mcptest.RunModes(t, mcptest.AllModes(), careless, nil, func(t *testing.T, c *client.Client) {
		internal := func(what string, err error) {
			t.Helper()
			var answer *jsonrpc.Error
			if !errors.As(err, &answer) || answer.Code != jsonrpc.CodeInternalError {
				t.Errorf("%s: got %v, want an internal error", what, err)
			}
		}
		for _, name := range []string{"image", "link", "key"} {
			_, err := c.CallTool(t.Context(), name, nil)
			internal(name, err)
		}
		_, err := c.GetPrompt(t.Context(), "p", nil)
		internal("prompt", err)
		_, err = c.ReadResource(t.Context(), "test://r")
		internal("resource", err)
		for name, want := range map[string]string{"structured": `{"n":1}`, "failed": `{"reason":"full"}`} {
			r, err := c.CallTool(t.Context(), name, nil)
			if err != nil || len(r.Content) != 1 {
				t.Fatalf("%s: got %+v, %v", name, r, err)
			}
			if text, ok := r.Content[0].(*mcp.TextContent); !ok || text.Text != want {
				t.Errorf("%s: got %+v, want the text %s", name, r.Content[0], want)
			}
		}
	})
}
