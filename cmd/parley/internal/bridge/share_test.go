package bridge_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// Who shares a connection counts together.
func TestShares(t *testing.T) {
	for name, test := range map[string]struct {
		share       bridge.Share
		two, others int64 // what the second session counts, and one with other capabilities
	}{
		"session":   {bridge.ShareSession, 1, 1},
		"principal": {bridge.SharePrincipal, 2, 1},
		"all":       {bridge.ShareAll, 2, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var open atomic.Int64
				b := processes(t, &open, bridge.Options{Share: test.share, OnDemand: true})
				defer b.Close()
				if open.Load() != 0 || b.Describe(t.Context(), nil) != nil {
					t.Error("there is a connection that nobody demands")
				}
				one, stopOne := connectTo(t, b, client.Options{})
				defer stopOne()
				two, stopTwo := connectTo(t, b, client.Options{})
				defer stopTwo()
				other, stopOther := connectTo(t, b, client.Options{Roots: []*mcp.Root{}})
				defer stopOther()
				if a, b, c := count(t, one), count(t, two), count(t, other); a != 1 || b != test.two || c != test.others {
					t.Errorf("they count %d, %d and %d", a, b, c)
				}
			})
		})
	}
}

// connectTo connects, in a session, to a bridge that cannot be described yet.
func connectTo(t *testing.T, b *bridge.Bridge, o client.Options) (c *client.Client, stop func()) {
	t.Helper()
	tr := &mcptest.Transport{Handler: described{b}, Over: mcptest.HTTP, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
	o.Revisions, o.Logger = []mcp.Revision{mcp.Revision20251125}, mcptest.Quiet()
	c, err := client.Connect(t.Context(), tr, &o)
	if err != nil {
		t.Fatal(err)
	}
	return c, func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		tr.Wait()
	}
}

// described says of a bridge what it offers before it knows, and opens its connections
// only on demand.
type described struct{ *bridge.Bridge }

func (d described) Describe(context.Context, *mcp.Peer) *mcp.Description {
	return &mcp.Description{Capabilities: mcp.ServerCapabilities{
		Tools: &mcp.ListCapability{ListChanged: true}, Resources: &mcp.ResourcesCapability{Subscribe: true, ListChanged: true},
	}}
}

func (d described) Serve(ctx context.Context, x *mcp.Exchange) (any, error) {
	if x.Method == mcp.NoteInitialized {
		return &mcp.Watching{Stop: func() {}}, nil
	}
	return d.Bridge.Serve(ctx, x)
}

// A subscription goes on when the connection it shares is lost, and the client learns
// that it may have missed something.
func TestSubscriptionOutlivesItsConnection(t *testing.T) {
	for _, front := range modes {
		t.Run(front.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := featured()
				tr := &mcptest.Transport{Handler: s, Over: mcptest.Lines, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
				b, err := bridge.New(t.Context(), bridge.Options{Share: bridge.SharePrincipal, Replace: true, Logger: mcptest.Quiet(), Connect: func(ctx context.Context, _ *mcp.Peer, c *client.Options) (*client.Client, error) {
					c.Revisions = []mcp.Revision{mcp.Revision20251125}
					return client.Connect(ctx, tr, c)
				}})
				if err != nil {
					t.Fatal(err)
				}
				c, stop := connect(t, b, front, client.Options{})
				events := make(chan client.Event, 10)
				sub, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ResourceSubscriptions: []string{"note://7"}}, func(_ context.Context, e client.Event) { events <- e })
				if err != nil {
					t.Fatal(err)
				}
				want := mcp.Change{Kind: mcp.ResourceUpdated, URI: "note://7"}
				tr.Break()
				if e := within(t, "news of the gap", events); e.Change != want {
					t.Errorf("the client learns of %+v", e)
				}
				s.ResourceUpdated("note://7")
				if e := within(t, "the change", events); e.Change != want {
					t.Errorf("the client learns of %+v", e)
				}
				_ = sub.Close()
				stop()
				_ = b.Close()
				tr.Wait()
			})
		})
	}
}

// Lists that change on a connection are told to who has opened the bridge, too.
func TestOverheardChanges(t *testing.T) {
	overPairs(t, func(t *testing.T, front, back mcptest.Mode) {
		s := newServer()
		tr := &mcptest.Transport{Handler: s, Over: back.Transport, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
		t.Cleanup(tr.Wait)
		heard := make(chan mcp.ChangeKind, 10)
		b, err := bridge.New(t.Context(), bridge.Options{
			Logger:  mcptest.Quiet(),
			Changed: func(_ *mcp.Peer, kind mcp.ChangeKind) { heard <- kind },
			Connect: func(ctx context.Context, _ *mcp.Peer, c *client.Options) (*client.Client, error) {
				c.Revisions = []mcp.Revision{back.Revision}
				return client.Connect(ctx, tr, c)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Close() })
		c := mcptest.Connect(t, b, front, nil)
		if _, err := c.Do(t.Context(), mcp.MethodListTools, nil); err != nil {
			t.Fatal(err)
		}
		server.AddTool(s, mcp.Tool{Name: "new"}, func(context.Context, *server.Call, struct{}) (string, error) { return "", nil })
		if kind := within(t, "the change", heard); kind != mcp.ToolsChanged {
			t.Errorf("the change is %v", kind)
		}
	})
}

// An error says whether the other server can have seen the request.
func TestUnanswered(t *testing.T) {
	down := errors.New("down")
	b, err := bridge.New(t.Context(), bridge.Options{OnDemand: true, Logger: mcptest.Quiet(), Connect: func(context.Context, *mcp.Peer, *client.Options) (*client.Client, error) {
		return nil, down
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	_, err = b.Serve(t.Context(), &mcp.Exchange{Method: mcp.MethodListTools})
	if err != nil {
		t.Errorf("a notification to nobody: %v", err)
	}
	_, err = b.Serve(t.Context(), &mcp.Exchange{ID: jsonrpc.IntID(1), Method: mcp.MethodListTools})
	if unanswered, ok := errors.AsType[*bridge.UnansweredError](err); !ok || !unanswered.Unsent || !errors.Is(err, down) {
		t.Errorf("the error is %v", err)
	}
}
