package specimen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// addChanges adds what makes lists and resources change, and change back.
func addChanges(s *server.Server) {
	server.AddTool(s, tool("change_lists", "Adds a tool, a resource and a prompt, and takes them away again."), func(context.Context, *server.Call, struct{}) (string, error) {
		s.AddRawTool(withSchema(tool("passing", "Is there for a moment."), `{"type":"object","additionalProperties":false}`), func(context.Context, *server.Call, json.RawMessage) (*mcp.CallToolResult, error) {
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
	server.AddTool(s, tool(TouchResource, "Says that test://static has changed."), func(context.Context, *server.Call, struct{}) (string, error) {
		s.ResourceUpdated(Touched)
		return "touched", nil
	})
}

func readText(_ context.Context, _ *server.Call, uri string) (*mcp.ReadResourceResult, error) {
	return server.Contents(mcp.TextResource(uri, "text/plain", "hello")), nil
}

func addResources(s *server.Server) {
	size := int64(5)
	s.AddResource(mcp.Resource{
		URI: Touched, Name: "static", Title: "Static", Description: "A text.", MIMEType: "text/plain",
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
	server.AddTemplate(s, mcp.ResourceTemplate{URITemplate: "file:///project/{name}", Name: "project", Description: "Files of a project.", MIMEType: "text/plain"},
		func(_ context.Context, _ *server.Call, uri string, vars map[string]string) (*mcp.ReadResourceResult, error) {
			if vars["name"] != "README" {
				return nil, mcp.ErrResourceNotFound
			}
			return server.Contents(mcp.TextResource(uri, "text/plain", "read me")), nil
		})
	s.CompleteTemplate("file:///project/{name}", "name", server.CompleteFrom("README"))
	s.AddResource(mcp.Resource{URI: "test://asking", Name: "asking", Description: "Asks who reads it."},
		func(ctx context.Context, call *server.Call, uri string) (*mcp.ReadResourceResult, error) {
			p, err := server.Elicit[Person](ctx, call, "person", "Who are you?")
			if err != nil {
				return nil, err
			}
			return server.Contents(mcp.TextResource(uri, "text/plain", p.Name)), nil
		})
	s.AddResource(mcp.Resource{URI: "test://broken", Name: "broken", Description: "Fails inside the server."},
		func(context.Context, *server.Call, string) (*mcp.ReadResourceResult, error) { return nil, errBroken })
}

var errBroken = errors.New("it is broken")

func addPrompts(s *server.Server) {
	s.AddRawPrompt(mcp.Prompt{
		Name: "greet", Title: "Greet", Description: "Greets somebody.", Icons: icons(), Meta: meta(),
		Arguments: []*mcp.PromptArgument{{Name: "name", Title: "Name", Description: "who", Required: true}, {Name: "tone"}},
	}, func(_ context.Context, _ *server.Call, arguments map[string]string) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Description: "A greeting.", Messages: []*mcp.PromptMessage{
			mcp.UserMessage(&mcp.TextContent{Text: "Greet " + arguments["name"], Annotations: notes()}),
			mcp.AssistantMessage(&mcp.EmbeddedResource{Resource: mcp.TextResource("test://static", "text/plain", "hello")}),
			mcp.UserMessage(&mcp.EmbeddedResource{Resource: mcp.BlobResource("test://binary", "image/png", []byte{1, 2, 3})}),
			mcp.UserMessage(&mcp.ImageContent{Data: []byte{1}, MIMEType: "image/png"}),
			mcp.UserMessage(&mcp.AudioContent{Data: []byte{1}, MIMEType: "audio/wav"}),
		}}, nil
	})
	s.CompletePrompt("greet", "tone", server.CompleteFrom("formal", "friendly"))
	s.AddRawPrompt(mcp.Prompt{Name: "ask", Description: "Asks who gets it."}, func(ctx context.Context, call *server.Call, _ map[string]string) (*mcp.GetPromptResult, error) {
		p, err := server.Elicit[Person](ctx, call, "person", "Who are you?")
		if err != nil {
			return nil, err
		}
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{mcp.UserMessage(mcp.Text(p.Name))}}, nil
	})
	s.AddRawPrompt(mcp.Prompt{Name: "broken", Description: "Fails inside the server.", Arguments: []*mcp.PromptArgument{{Name: "how"}, {Name: "many"}}},
		func(context.Context, *server.Call, map[string]string) (*mcp.GetPromptResult, error) {
			return nil, errBroken
		})
	s.CompletePrompt("broken", "how", func(context.Context, *server.Call, server.Completing) (mcp.Completion, error) {
		return mcp.Completion{}, errBroken
	})
	s.CompletePrompt("broken", "many", server.CompleteFrom(many()...))
	for _, name := range []string{"first", "second", "third"} {
		s.AddRawPrompt(mcp.Prompt{Name: name}, func(context.Context, *server.Call, map[string]string) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{mcp.UserMessage(mcp.Text(name))}}, nil
		})
	}
}

// many are more words than one answer may have.
func many() []string {
	var all []string
	for n := range 150 {
		all = append(all, fmt.Sprintf("word%03d", n))
	}
	return all
}
