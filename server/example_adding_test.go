package server_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// A resource is at one URI, and its handler runs each time somebody reads it. AddTemplate is
// for many URIs of one form, and ResourceUpdated tells clients that a resource has changed.
func ExampleServer_AddResource() {
	srv := newServer()
	srv.AddResource(mcp.Resource{URI: "library:///hours", Name: "hours", MIMEType: "text/plain"},
		func(_ context.Context, _ *server.Call, uri string) (*mcp.ReadResourceResult, error) {
			return server.Contents(mcp.TextResource(uri, "text/plain", "9 to 5")), nil
		})

	ctx := context.Background()
	c, end := connect(srv, nil)
	defer end()
	for r, err := range c.Resources(ctx) {
		fmt.Println(r.URI, r.Name, err)
	}
	hours, err := c.ReadResource(ctx, "library:///hours")
	if err != nil {
		log.Print(err)
		return
	}
	fmt.Println(*hours.Contents[0].Text)
	_, err = c.ReadResource(ctx, "library:///cellar")
	fmt.Println(errors.Is(err, client.ErrNotFound))
	// Output:
	// library:///hours hours <nil>
	// 9 to 5
	// true
}

// A tool whose schema comes from elsewhere, such as a file or another service. The
// arguments satisfy it, and have its defaults, before the handler runs.
func ExampleServer_AddRawTool() {
	srv := newServer()
	srv.AddRawTool(mcp.Tool{
		Name: "move",
		InputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {"to": {"enum": ["left", "right"]}, "steps": {"type": "integer", "default": 1}},
			"required": ["to"]
		}`),
	}, func(_ context.Context, _ *server.Call, args json.RawMessage) (*mcp.CallToolResult, error) {
		var in struct {
			To    string
			Steps int
		}
		if err := json.Unmarshal(args, &in); err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{Content: mcp.Contents{mcp.Textf("%d to the %s", in.Steps, in.To)}}, nil
	})

	c, end := connect(srv, nil)
	defer end()
	for _, to := range []string{"left", "up"} {
		result, err := c.CallTool(context.Background(), "move", map[string]string{"to": to})
		fmt.Println(result.IsError, result.Content[0].(*mcp.TextContent).Text, err)
	}
	// Output:
	// false 1 to the left <nil>
	// true invalid arguments for tool "move": "to": must be one of "left", "right", got "up" <nil>
}

// A prompt whose arguments are known at run time only. AddPrompt takes them from a Go
// type instead.
func ExampleServer_AddRawPrompt() {
	srv := newServer()
	srv.AddRawPrompt(mcp.Prompt{Name: "translate", Arguments: []*mcp.PromptArgument{{Name: "text", Required: true}, {Name: "into"}}},
		func(_ context.Context, _ *server.Call, args map[string]string) (*mcp.GetPromptResult, error) {
			into := cmp.Or(args["into"], "English")
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{
				mcp.UserMessage(mcp.Textf("Translate into %s: %s", into, args["text"])),
			}}, nil
		})

	ctx := context.Background()
	c, end := connect(srv, nil)
	defer end()
	prompt, err := c.GetPrompt(ctx, "translate", map[string]string{"text": "Guten Tag"})
	if err != nil {
		log.Print(err)
		return
	}
	fmt.Println(prompt.Messages[0].Content.(*mcp.TextContent).Text)
	_, err = c.GetPrompt(ctx, "translate", nil)
	fmt.Println(err)
	// Output:
	// Translate into English: Guten Tag
	// prompts/get: prompt "translate": missing required argument "text" (-32602)
}

// At the end of a program, jobs are told to stop, and have the time of a context to do so.
func ExampleServer_Close() {
	srv := newServer()
	server.AddTool(srv, mcp.Tool{Name: "watch"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		err := call.StartJob(ctx, "watch", func(ctx context.Context, _ *server.Job) error {
			<-ctx.Done()
			fmt.Println("the job cleans up:", errors.Is(context.Cause(ctx), server.ErrServerClosed))
			return nil
		})
		return "watching", err
	})
	ctx := context.Background()
	c, end := connect(srv, nil)
	defer end()
	fmt.Println(client.Call[string](ctx, c, "watch", nil))

	fmt.Println("closed:", srv.Close(ctx)) // in a program, ctx has a deadline
	// Output:
	// watching <nil>
	// the job cleans up: true
	// closed: <nil>
}
