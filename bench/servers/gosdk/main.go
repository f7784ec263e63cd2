// Gosdk is the server of the official Go SDK in the comparison.
package main

import (
	"context"
	"log"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-mcp/parley/bench/payload"
	"github.com/parley-mcp/parley/bench/servers/config"
)

func main() {
	c := config.Parse()
	s := newServer(c)
	if c.HTTP == "" {
		if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			log.Fatal(err)
		}
		return
	}
	// A handler serves one era; 2026-07-28 requires Stateless.
	opts := &mcp.StreamableHTTPOptions{Stateless: c.Era == payload.Stateless}
	c.Serve(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, opts))
}

func newServer(c config.Config) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1.0.0"}, nil)
	mcp.AddTool(s, tool("echo"), echo)
	mcp.AddTool(s, tool("progress"), progress)
	if c.Era == payload.Stateless {
		mcp.AddTool(s, tool("ask"), askInRounds)
	} else {
		mcp.AddTool(s, tool("ask"), askInPlace)
	}
	mcp.AddTool(s, tool("change"), func(_ context.Context, _ *mcp.CallToolRequest, in payload.Echo) (*mcp.CallToolResult, payload.Echo, error) {
		mcp.AddTool(s, &mcp.Tool{Name: "changing", Description: config.Changing()}, echo)
		return nil, in, nil
	})
	for _, name := range c.Padding() {
		mcp.AddTool(s, tool(name), echo)
	}
	blob := payload.Blob()
	s.AddResource(&mcp.Resource{URI: payload.BlobURI, Name: "blob"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: payload.BlobURI, MIMEType: "application/octet-stream", Blob: blob}}}, nil
	})
	return s
}

func tool(name string) *mcp.Tool { return &mcp.Tool{Name: name, Description: payload.PaddingText} }

func echo(_ context.Context, _ *mcp.CallToolRequest, in payload.Echo) (*mcp.CallToolResult, payload.Echo, error) {
	return nil, in, nil
}

func progress(ctx context.Context, req *mcp.CallToolRequest, in payload.Echo) (*mcp.CallToolResult, payload.Echo, error) {
	for i := range payload.Steps {
		p := &mcp.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: float64(i + 1), Total: payload.Steps}
		if err := req.Session.NotifyProgress(ctx, p); err != nil {
			return nil, payload.Echo{}, err
		}
	}
	return nil, in, nil
}
