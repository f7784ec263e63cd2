package main

import (
	"context"
	"fmt"
	"net"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// serve serves a tool that notifies its client, and prints the URL. In this version
// the stream of such a call has the status 202.
func serve() error {
	s := server.NewMCPServer("old", "1", server.WithToolCapabilities(true), server.WithResourceCapabilities(true, true))
	s.AddTool(mcp.NewTool("count", mcp.WithNumber("to", mcp.Required())), count)
	s.AddTool(mcp.NewTool("plain"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("plain text"), nil
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/mcp\n", l.Addr())
	return http.Serve(l, server.NewStreamableHTTPServer(s)) //nolint:gosec // it lives as long as the suite
}

func count(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	to := req.GetInt("to", 1)
	for n := range to {
		err := server.ServerFromContext(ctx).SendNotificationToClient(ctx, "notifications/progress", map[string]any{
			"progress": n + 1, "total": to, "progressToken": req.Params.Meta.ProgressToken,
		})
		if err != nil {
			return nil, err
		}
	}
	return mcp.NewToolResultText(fmt.Sprintf("counted to %d", to)), nil
}
