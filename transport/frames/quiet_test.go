package frames_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/frames"
)

// A client that leaves with a subscription open is no failure of the server.
func TestLeavingIsNoFailure(t *testing.T) {
	for _, r := range mcp.Revisions() {
		t.Run(r.String(), func(t *testing.T) {
			var log bytes.Buffer
			transport := frames.InProcess(greeter(), &frames.Options{ServeOptions: mcp.ServeOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))}})
			c, err := client.Connect(t.Context(), transport, &client.Options{Revisions: []mcp.Revision{r}, Logger: mcptest.Quiet()})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true}, func(context.Context, client.Event) {}); err != nil {
				t.Fatal(err)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if log.Len() > 0 {
				t.Errorf("the server logged %s", log.String())
			}
		})
	}
}
