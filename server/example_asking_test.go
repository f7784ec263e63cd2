package server_test

import (
	"context"
	"encoding/json"
	"errors"
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

// What takes long and changes nothing is a Step: when the handler runs again because it
// has asked, the work is not done again.
func ExampleStep() {
	type choice struct {
		Flight int `json:"flight"`
	}
	srv := newServer()
	server.AddTool(srv, mcp.Tool{Name: "find_flight"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		found, err := server.Step(ctx, call, "search", func(context.Context) ([]string, error) {
			fmt.Println("searching")
			return []string{"8:15", "12:40"}, nil
		})
		if err != nil {
			return "", err
		}
		answer, err := server.Elicit[choice](ctx, call, "choice", fmt.Sprint("Which of ", found, "?"))
		if err != nil {
			return "", err
		}
		return "the flight at " + found[answer.Flight-1], nil
	})

	c, end := connect(srv, &client.Options{Elicit: func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		fmt.Println(p.Message)
		return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: json.RawMessage(`{"flight":2}`)}, nil
	}})
	defer end()
	fmt.Println(client.Call[string](context.Background(), c, "find_flight", nil))
	// Output:
	// searching
	// Which of [8:15 12:40]?
	// the flight at 12:40 <nil>
}

// Roots are deprecated: a tool takes the folder as an argument, and asks for the roots only
// where it gets none and its client has them.
func ExampleRoots() {
	srv := newServer()
	server.AddTool(srv, mcp.Tool{Name: "count_files"}, func(ctx context.Context, call *server.Call, in struct {
		Folder string `json:"folder,omitempty"`
	},
	) (string, error) {
		if in.Folder != "" {
			return "counting in " + in.Folder, nil
		}
		roots, err := server.Roots(ctx, call)
		var missing *mcp.MissingCapabilityError
		switch {
		case errors.As(err, &missing):
			return "", errors.New("say which folder")
		case err != nil:
			return "", err // also the question itself, in revisions that answer with one
		case len(roots) == 0:
			return "", errors.New("the user has opened no folder")
		}
		return "counting in " + roots[0].URI, nil
	})

	for _, roots := range [][]*mcp.Root{{{URI: "file:///work"}}, nil} {
		c, end := connect(srv, &client.Options{Roots: roots})
		result, err := c.CallTool(context.Background(), "count_files", nil)
		fmt.Println(result.Content[0].(*mcp.TextContent).Text, err)
		end()
	}
	// Output:
	// counting in file:///work <nil>
	// say which folder <nil>
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
