// Mcpgo is the server of mark3labs/mcp-go in the comparison, with validation of
// input and output switched on, as it is by default in the others.
package main

import (
	"context"
	"encoding/base64"
	"log"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/parley-mcp/parley/bench/payload"
	"github.com/parley-mcp/parley/bench/servers/config"
)

func main() {
	c := config.Parse()
	s := newServer(c)
	if c.HTTP == "" {
		if err := server.ServeStdio(s); err != nil {
			log.Fatal(err)
		}
		return
	}
	c.Serve(server.NewStreamableHTTPServer(s))
}

func newServer(c config.Config) *server.MCPServer {
	s := server.NewMCPServer("bench", "1.0.0", server.WithToolCapabilities(true), server.WithResourceCapabilities(false, false),
		server.WithElicitation(), server.WithInputSchemaValidation(), server.WithOutputSchemaValidation())
	echoes := mcp.NewStructuredToolHandler(echo)
	s.AddTool(tool("echo"), echoes)
	s.AddTool(tool("progress"), mcp.NewStructuredToolHandler(progress(s)))
	s.AddTool(tool("ask"), ask)
	s.AddTool(tool("change"), mcp.NewStructuredToolHandler(func(_ context.Context, _ mcp.CallToolRequest, in payload.Echo) (payload.Echo, error) {
		t := tool("changing")
		t.Description = config.Changing()
		s.AddTool(t, echoes)
		return in, nil
	}))
	var padding []server.ServerTool
	for _, name := range c.Padding() {
		padding = append(padding, server.ServerTool{Tool: tool(name), Handler: echoes})
	}
	s.AddTools(padding...)
	blob := payload.Blob()
	s.AddResource(mcp.NewResource(payload.BlobURI, "blob"), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{mcp.BlobResourceContents{
			URI: payload.BlobURI, MIMEType: "application/octet-stream", Blob: base64.StdEncoding.EncodeToString(blob),
		}}, nil
	})
	return s
}

func tool(name string) mcp.Tool {
	return mcp.NewTool(name, mcp.WithDescription(payload.PaddingText), mcp.WithInputSchema[payload.Echo](), mcp.WithOutputSchema[payload.Echo]())
}

func echo(_ context.Context, _ mcp.CallToolRequest, in payload.Echo) (payload.Echo, error) {
	return in, nil
}

func progress(s *server.MCPServer) func(context.Context, mcp.CallToolRequest, payload.Echo) (payload.Echo, error) {
	return func(ctx context.Context, req mcp.CallToolRequest, in payload.Echo) (payload.Echo, error) {
		for i := range payload.Steps {
			params := map[string]any{"progressToken": req.Params.Meta.ProgressToken, "progress": i + 1, "total": payload.Steps}
			if err := s.SendNotificationToClient(ctx, "notifications/progress", params); err != nil {
				return payload.Echo{}, err
			}
		}
		return in, nil
	}
}
