// Gosdk is the client of the official Go SDK in the comparison.
package main

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-mcp/parley/bench/clients/driver"
	"github.com/parley-mcp/parley/bench/payload"
)

func main() {
	driver.Main(func(ctx context.Context, c driver.Config) (driver.Call, error) {
		t, err := transport(ctx, c)
		if err != nil {
			return nil, err
		}
		client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1.0.0"}, nil)
		cs, err := client.Connect(ctx, t, &mcp.ClientSessionOptions{ProtocolVersion: c.Era.Revision()})
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, args payload.Echo) (payload.Echo, error) {
			r, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: "echo", Arguments: args})
			if err != nil {
				return payload.Echo{}, err
			}
			return typed(r.StructuredContent)
		}, nil
	})
}

// typed does what a user of this SDK has to do to get a typed result.
func typed(structured any) (payload.Echo, error) {
	var e payload.Echo
	b, err := json.Marshal(structured)
	if err != nil {
		return e, err
	}
	return e, json.Unmarshal(b, &e)
}

func transport(ctx context.Context, c driver.Config) (mcp.Transport, error) {
	if c.URL != "" {
		return &mcp.StreamableClientTransport{Endpoint: c.URL}, nil
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1.0.0"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, in payload.Echo) (*mcp.CallToolResult, payload.Echo, error) {
		return nil, in, nil
	})
	ct, st := mcp.NewInMemoryTransports()
	_, err := s.Connect(ctx, st, nil)
	return ct, err
}
