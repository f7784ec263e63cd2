package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"

	"github.com/parley-mcp/parley/client/host"
	"github.com/parley-mcp/parley/client/host/anthropic"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/frames"
)

// list is a server with a shopping list, in this process; one in a configuration is
// reached in the same way.
func list() mcp.Transport {
	s := server.New(mcp.Implementation{Name: "list", Version: "1"}, nil)
	server.AddTool(s, mcp.Tool{Name: "read", Description: "Reads the list", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(context.Context, *server.Call, struct{}) (string, error) { return "milk", nil })
	server.AddTool(s, mcp.Tool{Name: "clear", Description: "Clears the list"},
		func(context.Context, *server.Call, struct{}) (string, error) { return "cleared", nil })
	return frames.InProcess(s, nil)
}

// model stands in for a model: it reads the list, and then says what it has read.
func model(messages []anthropic.Message, _ []anthropic.Tool) anthropic.Message {
	if len(messages) == 1 {
		call := host.Call{ID: "call_1", Name: "list__read"}
		return anthropic.Message{Role: "assistant", Content: anthropic.Content{anthropic.Use(call)}}
	}
	read := messages[2].Content[0].Content[0].Text
	return anthropic.Message{Role: "assistant", Content: anthropic.Content{{Type: "text", Text: "You need " + read + "."}}}
}

// The loop of every agent: ask the model, make the calls that it wants, and tell it what
// has come of them, until it wants no more.
func Example() {
	ctx := context.Background()
	servers := map[string]host.Server{"list": {Transport: list()}}
	h, err := host.Open(ctx, servers, &host.Options{Approve: host.ApproveAll})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	if err := h.Ready(ctx); err != nil {
		log.Print(err) // what is up can be used
	}

	tools, _ := anthropic.Tools(h.Tools())
	messages := []anthropic.Message{anthropic.User("What do I need?")}
	for {
		reply := model(messages, tools)
		messages = append(messages, reply)
		calls := reply.Calls()
		if len(calls) == 0 {
			fmt.Println(reply.Text())
			break
		}
		messages = append(messages, anthropic.Results(h.Answer(ctx, calls)))
	}
	// Output: You need milk.
}

// A configuration is that of most programs. What is wrong with one of its servers costs
// only that one.
func ExampleParseConfig() {
	servers, err := host.ParseConfig([]byte(`{
		"mcpServers": {
			"files": {"command": "files-server", "args": ["--root", "${ROOT:-/srv}"]},
			"shop": {"url": "https://shop.example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}
		}
	}`), func(name string) (string, bool) { return "secret", name == "TOKEN" })
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(servers["files"].Command, servers["files"].Args)
	fmt.Println(servers["shop"].URL, servers["shop"].Headers)
	// Output:
	// files-server [--root /srv]
	// https://shop.example.com/mcp map[Authorization:Bearer secret]
}

// One function decides about every call. What it denies, the model reads.
func ExampleApproveFunc() {
	ctx := context.Background()
	approve := func(_ context.Context, r *host.Request) error {
		if r.ReadOnly() {
			return nil
		}
		fmt.Printf("%s wants to %s %s\n", r.Server, r.Tool.Name, r.Arguments)
		return errors.New("the user has said no")
	}
	servers := map[string]host.Server{"list": {Transport: list(), TrustAnnotations: true}}
	h, err := host.Open(ctx, servers, &host.Options{Approve: approve})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	if err := h.Ready(ctx); err != nil {
		log.Print(err)
	}
	for _, name := range []string{"list__read", "list__clear"} {
		answer := h.Answer(ctx, []host.Call{{ID: "1", Name: name, Arguments: json.RawMessage(`{}`)}})[0]
		fmt.Println(answer.Result.Content[0].(*mcp.TextContent).Text)
	}
	// Output:
	// milk
	// list wants to clear {}
	// The tool "list__clear" was not called: the call was not approved: the user has said no.
}

// One server that does not start costs only its own tools.
func ExampleHost_Servers() {
	ctx := context.Background()
	h, err := host.Open(ctx, map[string]host.Server{
		"list":    {Transport: list()},
		"My Shop": {URL: "shop.example.com"},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	fmt.Println(h.Ready(ctx))
	for _, s := range h.Servers() {
		fmt.Println(s.Server, s.State, s.Tools)
	}
	for _, tool := range h.Tools() {
		fmt.Println(tool.Name)
	}
	// Output:
	// the server "My Shop" is down: its URL is none that begins with http:// or https://
	// My Shop down 0
	// list up 2
	// list__clear
	// list__read
}

// Questions of servers are answered in one place, which is told who asks.
func ExampleOptions() {
	ctx := context.Background()
	s := server.New(mcp.Implementation{Name: "deploy", Version: "1"}, nil)
	server.AddTool(s, mcp.Tool{Name: "deploy"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		form, err := server.Elicit[struct {
			Region string `json:"region"`
		}](ctx, call, "region", "Which region?")
		if err != nil {
			return "", err
		}
		return "deployed to " + form.Region, nil
	})
	h, err := host.Open(ctx, map[string]host.Server{"ops": {Transport: frames.InProcess(s, nil)}}, &host.Options{
		Approve: host.ApproveAll,
		Elicit: func(_ context.Context, server string, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			fmt.Println(server, "asks:", p.Message)
			return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: json.RawMessage(`{"region":"eu"}`)}, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	if err := h.Ready(ctx); err != nil {
		log.Print(err)
	}
	fmt.Println(host.ForModel(h.Call(ctx, "ops__deploy", nil)).Content[0].(*mcp.TextContent).Text)
	// Output:
	// ops asks: Which region?
	// deployed to eu
}
