// Mcpgo is the client of mark3labs/mcp-go in the comparison.
package main

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/parley-mcp/parley/bench/clients/driver"
	"github.com/parley-mcp/parley/bench/payload"
)

func main() {
	driver.Main(func(ctx context.Context, c driver.Config) (driver.Call, error) {
		conn, err := connect(c)
		if err != nil {
			return nil, err
		}
		if err := conn.Start(ctx); err != nil {
			return nil, err
		}
		var open mcp.InitializeRequest
		open.Params.ProtocolVersion = c.Era.Revision()
		open.Params.ClientInfo = mcp.Implementation{Name: "bench", Version: "1.0.0"}
		if _, err := conn.Initialize(ctx, open); err != nil {
			return nil, err
		}
		return func(ctx context.Context, args payload.Echo) (payload.Echo, error) {
			var req mcp.CallToolRequest
			req.Params.Name, req.Params.Arguments = "echo", args
			r, err := conn.CallTool(ctx, req)
			if err != nil {
				return payload.Echo{}, err
			}
			return typed(r.StructuredContent)
		}, nil
	})
}

// typed does what a user of this library has to do to get a typed result.
func typed(structured any) (payload.Echo, error) {
	var e payload.Echo
	b, err := json.Marshal(structured)
	if err != nil {
		return e, err
	}
	return e, json.Unmarshal(b, &e)
}

func connect(c driver.Config) (*client.Client, error) {
	if c.URL != "" {
		return client.NewStreamableHttpClient(c.URL)
	}
	s := server.NewMCPServer("bench", "1.0.0", server.WithToolCapabilities(true), server.WithInputSchemaValidation(), server.WithOutputSchemaValidation())
	s.AddTool(mcp.NewTool("echo", mcp.WithInputSchema[payload.Echo](), mcp.WithOutputSchema[payload.Echo]()),
		mcp.NewStructuredToolHandler(func(_ context.Context, _ mcp.CallToolRequest, in payload.Echo) (payload.Echo, error) { return in, nil }))
	return client.NewInProcessClient(s)
}
