package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// Progress arrives while the tool works.
func ExampleCall_Progress() {
	srv := newServer()
	server.AddTool(srv, mcp.Tool{Name: "copy"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		call.Progress(ctx, 2, 2, "all files")
		return "copied", nil
	})
	c, end := connect(srv, nil)
	defer end()
	text, err := client.Call[string](context.Background(), c, "copy", nil, client.WithProgress(func(p *mcp.ProgressParams) {
		fmt.Println(p.Progress, p.Message)
	}))
	fmt.Println(text, err)
	// Output:
	// 2 all files
	// copied <nil>
}

// An error is for the model, which can try something else.
func ExampleAddTool_errors() {
	srv := newServer()
	server.AddTool(srv, mcp.Tool{Name: "book"}, func(_ context.Context, _ *server.Call, in struct {
		Seat int `json:"seat" minimum:"1" maximum:"40"`
	},
	) (string, error) {
		return "", fmt.Errorf("seat %d is taken; 7 and 8 are free", in.Seat)
	})
	c, end := connect(srv, nil)
	defer end()
	for _, seat := range []int{12, 99} {
		result, err := c.CallTool(context.Background(), "book", map[string]int{"seat": seat})
		fmt.Println(result.IsError, result.Content[0].(*mcp.TextContent).Text, err)
	}
	// Output:
	// true seat 12 is taken; 7 and 8 are free <nil>
	// true invalid arguments for tool "book": "seat": must be at most 40, got 99 <nil>
}

// A resource that changes, and a client that watches it.
func ExampleServer_ResourceUpdated() {
	var degrees atomic.Int64
	srv := server.New(mcp.Implementation{Name: "example", Version: "1.0.0"}, &server.Options{Subscriptions: true})
	srv.AddResource(mcp.Resource{URI: "weather:///rome", Name: "rome"}, func(_ context.Context, _ *server.Call, uri string) (*mcp.ReadResourceResult, error) {
		return server.Contents(mcp.TextResource(uri, "text/plain", fmt.Sprint(degrees.Load(), " degrees"))), nil
	})

	ctx := context.Background()
	c, end := connect(srv, nil)
	defer end()
	changed := make(chan string, 1)
	_, err := c.Listen(ctx, mcp.SubscriptionFilter{ResourceSubscriptions: []string{"weather:///rome"}}, func(_ context.Context, e client.Event) {
		changed <- e.Change.URI
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	degrees.Store(21)
	srv.ResourceUpdated("weather:///rome")
	now, err := c.ReadResource(ctx, <-changed)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(*now.Contents[0].Text)
	// Output: 21 degrees
}

// Values are completed from what is known already.
func ExampleServer_CompleteTemplate() {
	streets := map[string][]string{"Rome": {"Via Appia", "Via Veneto"}, "Paris": {"Rue de Rivoli"}}
	srv := newServer()
	type place struct {
		City   string `uri:"city"`
		Street string `uri:"street"`
	}
	const template = "map:///{city}/{street}"
	server.AddTemplate(srv, mcp.ResourceTemplate{URITemplate: template, Name: "map"}, func(_ context.Context, _ *server.Call, uri string, at place) (*mcp.ReadResourceResult, error) {
		return server.Contents(mcp.TextResource(uri, "text/plain", at.Street+" in "+at.City)), nil
	})
	srv.CompleteTemplate(template, "city", server.CompleteFrom("Rome", "Paris"))
	srv.CompleteTemplate(template, "street", func(_ context.Context, _ *server.Call, c server.Completing) (mcp.Completion, error) {
		return mcp.Completion{Values: streets[c.Context["city"]]}, nil
	})

	ctx := context.Background()
	c, end := connect(srv, nil)
	defer end()
	cities, err := c.CompleteTemplate(ctx, template, "city", "ro", nil)
	fmt.Println(cities.Values, err)
	found, err := c.CompleteTemplate(ctx, template, "street", "", map[string]string{"city": "Paris"})
	fmt.Println(found.Values, err)
	// Output:
	// [Rome] <nil>
	// [Rue de Rivoli] <nil>
}

// Middleware sees every exchange, with its method, its sender and its outcome.
func ExampleServer_Use() {
	srv := newServer()
	srv.Use(func(next mcp.ServeFunc) mcp.ServeFunc {
		return func(ctx context.Context, x *mcp.Exchange) (any, error) {
			result, err := next(ctx, x)
			fmt.Println(x.Method, err)
			return result, err
		}
	})
	server.AddTool(srv, mcp.Tool{Name: "hello"}, func(context.Context, *server.Call, struct{}) (string, error) { return "hello", nil })
	c, end := connect(srv, nil)
	defer end()
	_, _ = client.Call[string](context.Background(), c, "hello", nil)
	_, _ = client.Call[string](context.Background(), c, "bye", nil)
	// Output:
	// tools/call <nil>
	// tools/call unknown tool: "bye"
}

// A tool comes while the server serves. Clients that listen are told.
func ExampleTryAddTool() {
	srv := server.New(mcp.Implementation{Name: "example", Version: "1.0.0"}, &server.Options{Announce: server.Features{Tools: true}})
	c, end := connect(srv, nil)
	defer end()
	changed := make(chan mcp.ChangeKind, 1)
	_, err := c.Listen(context.Background(), mcp.SubscriptionFilter{ToolsListChanged: true}, func(_ context.Context, e client.Event) { changed <- e.Change.Kind })
	if err != nil {
		fmt.Println(err)
		return
	}
	upper := func(_ context.Context, _ *server.Call, in map[string]string) (string, error) {
		return strings.ToUpper(in["text"]), nil
	}
	fmt.Println(server.TryAddTool(srv, mcp.Tool{Name: "not a name"}, upper))
	fmt.Println(server.TryAddTool(srv, mcp.Tool{Name: "upper"}, upper))
	fmt.Println(<-changed == mcp.ToolsChanged)
	fmt.Println(client.Call[string](context.Background(), c, "upper", map[string]string{"text": "loud"}))
	// Output:
	// tool "not a name": a name has 1 to 128 characters: letters, digits, and any of -._
	// <nil>
	// true
	// LOUD <nil>
}

// A method of an extension of one's own.
func ExampleHandle() {
	type ask struct {
		Word string `json:"word"`
	}
	srv := server.New(mcp.Implementation{Name: "example", Version: "1.0.0"}, &server.Options{Extensions: map[string]any{"com.example/words": nil}})
	server.Handle(srv, "com.example/length", func(_ context.Context, _ *server.Call, p ask) (map[string]int, error) {
		return map[string]int{"length": len(p.Word)}, nil
	})
	c, end := connect(srv, nil)
	defer end()
	raw, err := c.Do(context.Background(), "com.example/length", ask{"parley"})
	if err != nil {
		fmt.Println(err)
		return
	}
	var length struct{ Length int }
	fmt.Println(json.Unmarshal(raw, &length), length.Length)
	// Output: <nil> 6
}
