package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// nowhere is the transport to a server that demands visits, and does not say where to.
// Servers of this module do not.
type nowhere struct {
	mcp.Transport

	data json.RawMessage
}

// Connect implements mcp.Transport.
func (n *nowhere) Connect(ctx context.Context, r mcp.Receiver) (mcp.Conn, error) {
	c, err := n.Transport.Connect(ctx, r)
	return &nowhereConn{c, n.data}, err
}

type nowhereConn struct {
	mcp.Conn

	data json.RawMessage
}

// RoundTrip implements mcp.Conn.
func (c *nowhereConn) RoundTrip(ctx context.Context, m *jsonrpc.Message) (*jsonrpc.Message, error) {
	if m.Method != mcp.MethodCallTool {
		return c.Conn.RoundTrip(ctx, m)
	}
	return &jsonrpc.Message{Kind: jsonrpc.Response, ID: m.ID, Error: &jsonrpc.Error{Code: mcp.CodeURLElicitation, Message: "go there", Data: c.data}}, nil
}

// An error that demands visits, and does not say where to, is an error like any other.
func TestVisitNowhere(t *testing.T) {
	for name, data := range map[string]string{
		"no visit": `{"elicitations":[]}`,
		"no URL":   `{"elicitations":[{"mode":"url","message":"Go","url":"","elicitationId":"e1"}]}`,
	} {
		for who, o := range map[string]*client.Options{"with URLs": new(bank).user(), "without URLs": nil} {
			for _, front := range modes {
				t.Run(name+" for a client "+who+" over "+front.String(), func(t *testing.T) {
					tr := &nowhere{&mcptest.Transport{Handler: newServer(), Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}, json.RawMessage(data)}
					b, err := bridge.New(t.Context(), bridge.Options{Logger: mcptest.Quiet(), Connect: func(ctx context.Context, _ *mcp.Peer, c *client.Options) (*client.Client, error) {
						c.Revisions = []mcp.Revision{mcp.Revision20251125}
						return client.Connect(ctx, tr, c)
					}})
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = b.Close() })
					_, err = mcptest.Connect(t, b, front, o).CallTool(t.Context(), "pay", nil)
					if rpc, ok := errors.AsType[*jsonrpc.Error](err); !ok || rpc.Message != "go there" {
						t.Errorf("the error is %v", err)
					}
				})
			}
		}
	}
}
