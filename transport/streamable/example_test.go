package streamable_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// A server is an http.Handler, at whatever path it is mounted; a client needs
// its URL.
func Example() {
	srv := server.New(mcp.Implementation{Name: "adder", Version: "1"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "add"}, func(_ context.Context, _ *server.Call, in struct {
		A int `json:"a"`
		B int `json:"b"`
	},
	) (string, error) {
		return fmt.Sprint(in.A + in.B), nil
	})
	h, err := streamable.New(srv, nil)
	if err != nil {
		log.Fatal(err)
	}
	web := httptest.NewServer(h)
	defer web.Close()

	ctx := context.Background()
	c, err := client.Connect(ctx, &streamable.Client{URL: web.URL}, nil)
	if err != nil {
		log.Print(err)
		return
	}
	defer func() { _ = c.Close() }()
	sum, err := client.Call[string](ctx, c, "add", map[string]int{"a": 2, "b": 3})
	fmt.Println(sum, err, c.Revision())
	// Output: 5 <nil> 2026-07-28
}
