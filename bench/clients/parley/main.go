// Parley is our client in the comparison.
package main

import (
	"context"
	"fmt"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"

	"github.com/parley-mcp/parley/bench/clients/driver"
	"github.com/parley-mcp/parley/bench/payload"
)

func main() {
	driver.Main(func(ctx context.Context, c driver.Config) (driver.Call, error) {
		revision, ok := mcp.ParseRevision(c.Era.Revision())
		if !ok {
			return nil, fmt.Errorf("unknown revision %s", c.Era.Revision())
		}
		conn, err := client.Connect(ctx, transport(c), &client.Options{Revisions: []mcp.Revision{revision}})
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, args payload.Echo) (payload.Echo, error) {
			return client.Call[payload.Echo](ctx, conn, "echo", args)
		}, nil
	})
}

func transport(c driver.Config) mcp.Transport {
	if c.URL != "" {
		return &streamable.Client{URL: c.URL}
	}
	s := server.New(mcp.Implementation{Name: "bench", Version: "1.0.0"}, nil)
	server.AddTool(s, mcp.Tool{Name: "echo"}, func(_ context.Context, _ *server.Call, in payload.Echo) (payload.Echo, error) { return in, nil })
	return &mcptest.Transport{Handler: s}
}
