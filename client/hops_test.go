package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/streamable"
)

// hop is a connection from a client to a server: a revision of either era, over
// standard input and output or over HTTP.
type hop struct {
	revision mcp.Revision
	http     bool
}

func (h hop) String() string {
	if h.http {
		return "http/" + h.revision.String()
	}
	return "stdio/" + h.revision.String()
}

func (h hop) stateless() bool { return h.revision == mcp.Revision20260728 }

var hops = []hop{
	{mcp.Revision20251125, false},
	{mcp.Revision20251125, true},
	{mcp.Revision20260728, false},
	{mcp.Revision20260728, true},
}

// overHops runs a test once for each hop.
func overHops(t *testing.T, body func(t *testing.T, h hop)) {
	for _, h := range hops {
		t.Run(h.String(), func(t *testing.T) { body(t, h) })
	}
}

// connect connects to a handler; both ends end with the test.
func connect(t *testing.T, handler mcp.Handler, h hop, o *client.Options) *client.Client {
	t.Helper()
	if o == nil {
		o = &client.Options{}
	}
	if !h.http {
		return mcptest.Connect(t, handler, mcptest.Mode{Revision: h.revision, Transport: "lines"}, o)
	}
	web, err := streamable.New(handler, &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(web)
	t.Cleanup(s.Close)
	opts := *o
	opts.Revisions, opts.Logger = []mcp.Revision{h.revision}, mcptest.Quiet()
	c, err := client.Connect(t.Context(), &streamable.Client{URL: s.URL, Logger: mcptest.Quiet()}, &opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return c
}

// serving returns a server that gives every request and notification of its
// features to serve.
func serving(serve mcp.ServeFunc) *server.Server {
	s := newServer(&server.Options{Logging: true, Announce: server.Features{Tools: true, Prompts: true, Resources: true}})
	s.Use(func(next mcp.ServeFunc) mcp.ServeFunc {
		return func(ctx context.Context, x *mcp.Exchange) (any, error) {
			if x.Watch != nil {
				return next(ctx, x)
			}
			return serve(ctx, x)
		}
	})
	return s
}

// within fails the test when nothing comes from a channel in time.
func within[T any](t *testing.T, what string, ch <-chan T) T {
	t.Helper()
	timer := time.NewTimer(2 * time.Minute)
	defer timer.Stop()
	select {
	case v := <-ch:
		return v
	case <-timer.C:
		t.Fatalf("%s did not come", what)
	}
	panic("unreachable")
}

// everything returns the capabilities of a client that answers everything.
func everything() *mcp.ClientCapabilities {
	return &mcp.ClientCapabilities{
		Roots:       &mcp.RootsCapability{ListChanged: true},
		Sampling:    &mcp.SamplingCapability{Tools: &mcp.Empty{}},
		Elicitation: &mcp.ElicitationCapability{Form: &mcp.Empty{}, URL: &mcp.Empty{}},
	}
}

func raw(format string, args ...any) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(format, args...))
}

type userKey struct{}

// as returns a context for a user.
func as(ctx context.Context, user string) context.Context {
	return context.WithValue(ctx, userKey{}, user)
}

// userOf returns the user that a context is for, or "nobody".
func userOf(ctx context.Context) string {
	if user, ok := ctx.Value(userKey{}).(string); ok {
		return user
	}
	return "nobody"
}
