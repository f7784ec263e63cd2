package spec_test

import (
	"context"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/frames"
)

// views is a handler that shows each principal its own features.
type views struct{ *server.Server }

// Describe implements mcp.Handler.
func (v views) Describe(ctx context.Context, peer *mcp.Peer) *mcp.Description {
	d := *v.Server.Describe(ctx, peer)
	if peer == nil || peer.Principal != "ann" {
		d.Capabilities.Tools = nil
		d.Instructions = "There is nothing for you."
	}
	return &d
}

// A server's description may depend on who asks, in both eras.
func TestDescriptionDependsOnWhoAsks(t *testing.T) {
	for _, r := range mcp.Revisions() {
		for principal, hasTools := range map[string]bool{"ann": true, "bob": false, "": false} {
			t.Run(r.String()+"/"+principal, func(t *testing.T) {
				s := server.New(mcp.Implementation{Name: "s", Version: "1"}, &server.Options{Announce: server.Features{Tools: true}, Logger: mcptest.Quiet()})
				opts := &frames.Options{Principal: principal}
				opts.Logger = mcptest.Quiet()
				c, err := client.Connect(t.Context(), frames.InProcess(views{s}, opts), &client.Options{Revisions: []mcp.Revision{r}, Logger: mcptest.Quiet()})
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = c.Close() }()
				if got := c.ServerCapabilities().Tools != nil; got != hasTools {
					t.Errorf("tools are offered: %t, want %t (%q)", got, hasTools, c.Instructions())
				}
			})
		}
	}
}
