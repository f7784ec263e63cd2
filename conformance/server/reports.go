package main

import (
	"context"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// between is the time between two notifications of a tool.
const between = 50 * time.Millisecond

// addReports adds the tools that send something before their result.
func addReports(s *server.Server) {
	addTool(s, "test_tool_with_progress", "Reports progress three times.", reportProgress)
	addTool(s, "test_tool_with_logging", "Logs three messages.", reportLogs)
	addTool(s, "test_logging_tool", "Logs a message, for clients that want it.",
		func(ctx context.Context, call *server.Call) (string, error) {
			call.Log(ctx, mcp.LevelInfo, "Logging tool called")
			return "Logged to those who want to know.", nil
		})
	addTool(s, "test_reconnection", "Ends its event stream and answers on the next one.", reconnect)
}

func reportProgress(ctx context.Context, call *server.Call) (string, error) {
	for i, done := range []float64{0, 50, 100} {
		if i > 0 {
			if err := pause(ctx, between); err != nil {
				return "", err
			}
		}
		call.Progress(ctx, done, 100, "")
	}
	return "Progress was reported three times.", nil
}

func reportLogs(ctx context.Context, call *server.Call) (string, error) {
	for i, message := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if i > 0 {
			if err := pause(ctx, between); err != nil {
				return "", err
			}
		}
		call.Log(ctx, mcp.LevelInfo, message)
	}
	return "Three messages were logged.", nil
}

// reconnect returns while the client has no stream open: its result has to wait
// until the client is back.
//
// Spec: 2025-11-25 basic/transports#sending-messages-to-the-server (6).
func reconnect(ctx context.Context, call *server.Call) (string, error) {
	if detach := call.Exchange().Detach; detach != nil {
		if err := detach(2 * between); err != nil {
			return "", err
		}
	}
	if err := pause(ctx, 2*between); err != nil {
		return "", err
	}
	return "This was sent after the stream had been closed.", nil
}
