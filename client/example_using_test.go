package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// library serves what the examples use, in this process.
func library() *server.Server {
	s := server.New(mcp.Implementation{Name: "library", Version: "1"}, &server.Options{
		Subscriptions: true,
		Cache:         map[string]server.CacheHint{mcp.MethodListTools: {TTL: time.Hour, Scope: mcp.CachePublic}},
	})
	server.AddTool(s, mcp.Tool{Name: "lend"}, func(ctx context.Context, call *server.Call, in struct {
		Title string `json:"title" enum:"Emma,Persuasion"`
	},
	) (string, error) {
		if in.Title == "Emma" {
			return "", errors.New("Emma is lent; it comes back on Friday")
		}
		reader, err := server.Elicit[struct {
			Card int `json:"card"`
		}](ctx, call, "card", "The number of your card?")
		if err != nil {
			return "", err
		}
		call.Progress(ctx, 1, 1, "noted")
		return fmt.Sprintf("%s is lent to %d", in.Title, reader.Card), nil
	})
	s.AddResource(mcp.Resource{URI: "library:///hours", Name: "hours"}, func(_ context.Context, _ *server.Call, uri string) (*mcp.ReadResourceResult, error) {
		return server.Contents(mcp.TextResource(uri, "text/plain", "9 to 5")), nil
	})
	type review struct {
		Title string `json:"title" enum:"Emma,Persuasion"`
	}
	server.AddPrompt(s, mcp.Prompt{Name: "review"}, func(_ context.Context, _ *server.Call, in review) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{mcp.UserMessage(mcp.Text("Review " + in.Title + "."))}}, nil
	})
	return s
}

func use(h mcp.Handler, opts *client.Options) *client.Client {
	c, err := client.Connect(context.Background(), &mcptest.Transport{Handler: h}, opts)
	if err != nil {
		log.Fatal(err)
	}
	return c
}

// The questions of a server are answered by functions.
func ExampleOptions() {
	c := use(library(), &client.Options{
		Elicit: func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			fmt.Println(p.Message) // here the user is asked
			return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: json.RawMessage(`{"card":17}`)}, nil
		},
	})
	defer func() { _ = c.Close() }()
	text, err := client.Call[string](context.Background(), c, "lend", map[string]string{"title": "Persuasion"},
		client.WithProgress(func(p *mcp.ProgressParams) { fmt.Println("progress:", p.Message) }))
	fmt.Println(text, err)
	// Output:
	// The number of your card?
	// progress: noted
	// Persuasion is lent to 17 <nil>
}

// A tool that failed says why in words for the model. That is no failure of the call.
func ExampleClient_CallTool() {
	c := use(library(), nil)
	defer func() { _ = c.Close() }()
	ctx := context.Background()
	result, err := c.CallTool(ctx, "lend", map[string]string{"title": "Emma"})
	fmt.Println(result.IsError, result.Content[0].(*mcp.TextContent).Text, err)

	_, err = client.Call[string](ctx, c, "lend", map[string]string{"title": "Emma"})
	var failed *client.ToolError
	fmt.Println(errors.As(err, &failed))
	// Output:
	// true Emma is lent; it comes back on Friday <nil>
	// true
}

func ExampleClient_ReadResource() {
	c := use(library(), nil)
	defer func() { _ = c.Close() }()
	ctx := context.Background()
	hours, err := c.ReadResource(ctx, "library:///hours")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(*hours.Contents[0].Text)
	_, err = c.ReadResource(ctx, "library:///cellar")
	fmt.Println(errors.Is(err, client.ErrNotFound))
	// Output:
	// 9 to 5
	// true
}

// A prompt is filled in; its argument is completed before.
func ExampleClient_GetPrompt() {
	c := use(library(), nil)
	defer func() { _ = c.Close() }()
	ctx := context.Background()
	titles, err := c.CompletePrompt(ctx, "review", "title", "pers", nil)
	if err != nil {
		log.Fatal(err)
	}
	prompt, err := c.GetPrompt(ctx, "review", map[string]string{"title": titles.Values[0]})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range prompt.Messages {
		fmt.Println(m.Role, m.Content.(*mcp.TextContent).Text)
	}
	// Output: user Review Persuasion.
}

// Changes are reported until the subscription is closed, over a connection that was
// lost, too.
func ExampleClient_Listen() {
	srv := library()
	c := use(srv, nil)
	defer func() { _ = c.Close() }()
	changed := make(chan string, 1)
	sub, err := c.Listen(context.Background(), mcp.SubscriptionFilter{ResourceSubscriptions: []string{"library:///hours"}}, func(_ context.Context, e client.Event) {
		changed <- e.Change.URI
	})
	if err != nil {
		log.Fatal(err)
	}
	srv.ResourceUpdated("library:///hours")
	fmt.Println(<-changed, sub.Close())
	// Output: library:///hours <nil>
}

// Middleware sees every call.
func ExampleClient_Use() {
	c := use(library(), nil)
	defer func() { _ = c.Close() }()
	c.Use(func(next client.CallFunc) client.CallFunc {
		return func(ctx context.Context, req *client.Request) (json.RawMessage, error) {
			fmt.Println(req.Method, string(req.Params))
			return next(ctx, req)
		}
	})
	_, err := c.ReadResource(context.Background(), "library:///hours")
	fmt.Println(err)
	// Output:
	// resources/read {"uri":"library:///hours"}
	// <nil>
}

// Clients of the same server share what it allows them to share.
func ExampleNewCache() {
	transport := &mcptest.Transport{Handler: library()}
	cache := client.NewCache(1 << 20)
	var frames int
	for range 2 {
		c, err := client.Connect(context.Background(), transport, &client.Options{Cache: cache, Tap: func(e mcp.TapEvent) {
			if e.Direction == mcp.Sent {
				frames++
			}
		}})
		if err != nil {
			log.Fatal(err)
		}
		tools, err := client.Collect(c.Tools(context.Background()))
		fmt.Println(len(tools), err)
		_ = c.Close()
	}
	fmt.Println(frames, "requests") // server/discover twice, tools/list once
	// Output:
	// 1 <nil>
	// 1 <nil>
	// 3 requests
}
