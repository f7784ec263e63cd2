package sse_test

import (
	"context"
	"fmt"
	"log"
	"net/http"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/sse"
	"github.com/parley-mcp/parley/transport/streamable"
)

// One server for clients of every age: HTTP+SSE has a path of its own.
func Example() {
	srv := server.New(mcp.Implementation{Name: "greeter", Version: "1"}, nil)
	server.AddTool(srv, mcp.Tool{Name: "greet"}, func(context.Context, *server.Call, struct{}) (string, error) { return "Hello.", nil })
	newer, err := streamable.New(srv, nil)
	if err != nil {
		log.Fatal(err)
	}
	older, err := sse.New(srv, nil)
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", newer)
	mux.Handle("/sse", older)
	site := mcptest.NewSite(mux)
	defer site.Close()

	ctx := context.Background()
	for _, t := range []mcp.Transport{
		&streamable.Client{URL: site.URL + "/mcp", HTTP: site.Client},
		&sse.Client{URL: site.URL + "/sse", HTTP: site.Client},
	} {
		c, err := client.Connect(ctx, t, nil)
		if err != nil {
			log.Print(err)
			return
		}
		text, err := client.Call[string](ctx, c, "greet", nil)
		fmt.Println(c.Revision(), text, err)
		_ = c.Close()
	}
	// Output:
	// 2026-07-28 Hello. <nil>
	// 2025-11-25 Hello. <nil>
}
