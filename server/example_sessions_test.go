package server_test

import (
	"context"
	"fmt"
	"log"
	"sync"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/frames"
)

// cart is what a session of a client has collected.
type cart struct {
	mu    sync.Mutex
	items []string
}

func (c *cart) add(item string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items = append(c.items, item)
	return len(c.items)
}

// The cart of a session is there until the session ends. A client of 2026-07-28 has no
// session: it gets the error, and would pass the name of a cart as an argument.
func ExampleSessionState() {
	carts := server.SessionState[cart]{End: func(c *cart) { fmt.Println("freed:", c.items) }}
	srv := server.New(mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "add"}, func(ctx context.Context, call *server.Call, in struct {
		Item string `json:"item"`
	},
	) (int, error) {
		c, err := carts.Of(ctx, call.Session())
		if err != nil {
			return 0, err
		}
		return c.add(in.Item), nil
	})
	ctx := context.Background()
	c, err := client.Connect(ctx, frames.InProcess(srv, nil), &client.Options{Revisions: []mcp.Revision{mcp.Revision20251125}})
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range []string{"apples", "pears"} {
		fmt.Println(client.Call[int](ctx, c, "add", map[string]string{"item": item}))
	}
	_ = c.Close()
	// Output:
	// 1 <nil>
	// 2 <nil>
	// freed: [apples pears]
}

// How many sessions there are, and whose.
func ExampleServer_OnSession() {
	srv := server.New(mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil)
	srv.OnSession(func(_ context.Context, s *mcp.Session) {
		client := s.Peer().Info.Name
		fmt.Println(client, "has come")
		s.OnEnd(func() { fmt.Println(client, "has gone") })
	})
	ctx := context.Background()
	c, err := client.Connect(ctx, frames.InProcess(srv, nil), &client.Options{
		Info: mcp.Implementation{Name: "browser", Version: "1.0.0"}, Revisions: []mcp.Revision{mcp.Revision20251125},
	})
	if err != nil {
		log.Fatal(err)
	}
	_ = c.Close()
	// Output:
	// browser has come
	// browser has gone
}
