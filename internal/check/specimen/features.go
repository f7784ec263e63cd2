package specimen

import (
	"context"
	"encoding/json"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// addChanges adds what makes lists and resources change, and change back.
func addChanges(s *server.Server) {
	server.AddTool(s, tool("change_lists", "Adds a tool, a resource and a prompt, and takes them away again."), func(context.Context, *server.Call, struct{}) (string, error) {
		s.AddRawTool(withSchema(mcp.Tool{Name: "passing"}, `{"type":"object"}`), func(context.Context, *server.Call, json.RawMessage) (*mcp.CallToolResult, error) {
			return text("passing"), nil
		})
		s.AddResource(mcp.Resource{URI: "test://passing", Name: "passing"}, readText)
		s.AddRawPrompt(mcp.Prompt{Name: "passing"}, func(context.Context, *server.Call, map[string]string) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{mcp.UserMessage(mcp.Text("passing"))}}, nil
		})
		s.RemoveTools("passing")
		s.RemoveResources("test://passing")
		s.RemovePrompts("passing")
		return "changed", nil
	})
	server.AddTool(s, tool("touch_resource", "Says that test://static has changed."), func(context.Context, *server.Call, struct{}) (string, error) {
		s.ResourceUpdated("test://static")
		return "touched", nil
	})
}

func readText(_ context.Context, _ *server.Call, uri string) (*mcp.ReadResourceResult, error) {
	return server.Contents(mcp.TextResource(uri, "text/plain", "hello")), nil
}

func addResources(s *server.Server) {
	size := int64(5)
	s.AddResource(mcp.Resource{
		URI: "test://static", Name: "static", Title: "Static", Description: "A text.", MIMEType: "text/plain",
		Size: &size, Icons: icons(), Annotations: notes(), Meta: meta(),
	}, readText)
	s.AddResource(mcp.Resource{URI: "test://binary", Name: "binary", MIMEType: "image/png"},
		func(_ context.Context, _ *server.Call, uri string) (*mcp.ReadResourceResult, error) {
			return server.Contents(mcp.BlobResource(uri, "image/png", []byte{1, 2, 3})), nil
		})
	for _, name := range []string{"one", "two", "three"} {
		s.AddResource(mcp.Resource{URI: "test://" + name, Name: name, MIMEType: "text/plain"}, readText)
	}
	server.AddTemplate(s, mcp.ResourceTemplate{URITemplate: "test://item/{name}", Name: "item", Title: "Item", MIMEType: "text/plain", Icons: icons(), Annotations: notes()},
		func(_ context.Context, _ *server.Call, uri string, vars map[string]string) (*mcp.ReadResourceResult, error) {
			return server.Contents(mcp.TextResource(uri, "text/plain", vars["name"])), nil
		})
	s.CompleteTemplate("test://item/{name}", "name", server.CompleteFrom("apple", "apricot", "banana"))
}

func addPrompts(s *server.Server) {
	s.AddRawPrompt(mcp.Prompt{
		Name: "greet", Title: "Greet", Description: "Greets somebody.", Icons: icons(), Meta: meta(),
		Arguments: []*mcp.PromptArgument{{Name: "name", Title: "Name", Description: "who", Required: true}, {Name: "tone"}},
	}, func(_ context.Context, _ *server.Call, arguments map[string]string) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Description: "A greeting.", Messages: []*mcp.PromptMessage{
			mcp.UserMessage(&mcp.TextContent{Text: "Greet " + arguments["name"], Annotations: notes()}),
			mcp.AssistantMessage(&mcp.EmbeddedResource{Resource: mcp.TextResource("test://static", "text/plain", "hello")}),
			mcp.UserMessage(&mcp.ImageContent{Data: []byte{1}, MIMEType: "image/png"}),
		}}, nil
	})
	s.CompletePrompt("greet", "tone", server.CompleteFrom("formal", "friendly"))
	for _, name := range []string{"first", "second", "third"} {
		s.AddRawPrompt(mcp.Prompt{Name: name}, func(context.Context, *server.Call, map[string]string) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{mcp.UserMessage(mcp.Text(name))}}, nil
		})
	}
}
