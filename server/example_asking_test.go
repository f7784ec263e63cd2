package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/frames"
)

// connect connects a client to a server in this process. end closes both.
func connect(srv *server.Server, opts *client.Options) (c *client.Client, end func()) {
	c, err := client.Connect(context.Background(), frames.InProcess(srv, nil), opts)
	if err != nil {
		log.Fatal(err)
	}
	return c, func() {
		_ = c.Close()
		_ = srv.Close(context.Background())
	}
}

// Two questions are put at once, and the user sees them together.
func ExampleCall_Ask() {
	type trip struct {
		To string `json:"to"`
	}
	srv := newServer()
	server.AddTool(srv, mcp.Tool{Name: "plan"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		answers, err := call.Ask(ctx, server.Form[trip]("trip", "Where to?"), server.RootsQuestion())
		if err != nil {
			return "", err
		}
		where, err := server.Answer[trip](answers, "trip")
		if err != nil {
			return "", err // the user declined
		}
		folders, err := server.Answer[[]*mcp.Root](answers, server.RootsKey)
		return fmt.Sprintf("the plan for %s is in %s", where.To, folders[0].URI), err
	})

	c, end := connect(srv, &client.Options{
		Elicit: func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: json.RawMessage(`{"to":"Rome"}`)}, nil
		},
		Roots: []*mcp.Root{{URI: "file:///travels"}},
	})
	defer end()
	fmt.Println(client.Call[string](context.Background(), c, "plan", nil))
	// Output: the plan for Rome is in file:///travels <nil>
}

// The handler runs twice, because it asks; it charges once.
func ExampleOnce() {
	type approval struct {
		Approved bool `json:"approved"`
	}
	srv := newServer()
	server.AddTool(srv, mcp.Tool{Name: "pay"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		number, err := server.Once(ctx, call, "number", func(context.Context) (int, error) {
			fmt.Println("a number is drawn")
			return 17, nil
		})
		if err != nil {
			return "", err
		}
		answer, err := server.Elicit[approval](ctx, call, fmt.Sprint("order ", number), fmt.Sprintf("Pay order %d?", number))
		return fmt.Sprintf("order %d is paid: %t", number, answer.Approved), err
	})

	c, end := connect(srv, &client.Options{Elicit: func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		fmt.Println(p.Message)
		return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: json.RawMessage(`{"approved":true}`)}, nil
	}})
	defer end()
	fmt.Println(client.Call[string](context.Background(), c, "pay", nil))
	// Output:
	// a number is drawn
	// Pay order 17?
	// order 17 is paid: true <nil>
}

// The user agrees to visit a page, where secrets are entered.
func ExampleElicitURL() {
	srv := newServer()
	server.AddTool(srv, mcp.Tool{Name: "connect"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		err := server.ElicitURL(ctx, call, "page", "Enter your key there.", "https://example.com/keys")
		return "the user is on the way", err
	})
	c, end := connect(srv, &client.Options{VisitURL: func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		fmt.Println(p.Message, p.URL)
		return &mcp.ElicitResult{Action: mcp.ActionAccept}, nil
	}})
	defer end()
	fmt.Println(client.Call[string](context.Background(), c, "connect", nil))
	// Output:
	// Enter your key there. https://example.com/keys
	// the user is on the way <nil>
}

// The client's model is asked, which costs the server nothing.
func ExampleSampleText() {
	srv := newServer()
	server.AddTool(srv, mcp.Tool{Name: "sum_up"}, func(ctx context.Context, call *server.Call, in struct {
		Text string `json:"text"`
	},
	) (string, error) {
		return server.SampleText(ctx, call, "sum", "In three words: "+in.Text, 20)
	})
	c, end := connect(srv, &client.Options{Sample: func(_ context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
		return &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Model: "small", Content: mcp.OneOrMany{mcp.Text("It was fine.")}}, nil
	}})
	defer end()
	fmt.Println(client.Call[string](context.Background(), c, "sum_up", map[string]string{"text": "…"}))
	// Output: It was fine. <nil>
}
