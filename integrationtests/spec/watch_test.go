package spec_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// A client that may not read a resource is not notified of its changes: its URI
// is not acknowledged when it is one of several, and not found when it is the
// only one. It cannot be told apart from one that does not exist.
//
// Spec: 2026-07-28 basic/patterns/subscriptions#acknowledgment.
// Spec: 2025-11-25 server/resources#subscriptions.
func TestHiddenResourcesAreNotWatched(t *testing.T) {
	mcptest.Run(t, func() mcp.Handler { return hiding(nil) }, nil, func(t *testing.T, c *client.Client) {
		wanted := mcp.SubscriptionFilter{ToolsListChanged: true, ResourceSubscriptions: []string{"x:shown", "x:hidden", "x:absent"}}
		s, err := c.Listen(t.Context(), wanted, func(context.Context, client.Event) {})
		if c.Revision() != mcp.Revision20260728 {
			if !errors.Is(err, client.ErrNotFound) {
				t.Errorf("subscribing to a hidden resource returned %v", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		if got := s.Honoured(); !slices.Equal(got.ResourceSubscriptions, []string{"x:shown"}) || !got.ToolsListChanged {
			t.Errorf("the server agreed to watch %+v", got)
		}
	})
}

// A server that cannot watch a resource does not say that it does.
//
// Spec: 2026-07-28 basic/patterns/subscriptions#acknowledgment.
func TestUnwatchableResourcesAreNotAcknowledged(t *testing.T) {
	h := func() mcp.Handler {
		return server.New(mcp.Implementation{Name: "s", Version: "1"}, &server.Options{
			Logger: mcptest.Quiet(),
			WatchResource: func(uri string) (func(), error) {
				if uri == "x:outside" {
					return nil, errors.New("not below the root")
				}
				return nil, nil
			},
		})
	}
	mcptest.Run(t, h, nil, func(t *testing.T, c *client.Client) {
		s, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ResourceSubscriptions: []string{"x:outside", "x:inside"}}, func(context.Context, client.Event) {})
		if c.Revision() != mcp.Revision20260728 {
			if !errors.Is(err, client.ErrNotFound) {
				t.Errorf("subscribing to what cannot be watched returned %v", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		if got := s.Honoured().ResourceSubscriptions; !slices.Equal(got, []string{"x:inside"}) {
			t.Errorf("the server agreed to watch %v", got)
		}
	})
}

// The opening of a subscription passes through middleware, which may refuse it.
func TestMiddlewareSeesSubscriptions(t *testing.T) {
	var seen atomic.Int32
	refusal := mcp.InvalidParams("not today")
	refusing := func(next mcp.ServeFunc) mcp.ServeFunc {
		return func(ctx context.Context, x *mcp.Exchange) (any, error) {
			if x.Watch != nil && len(x.Watch.Filter.ResourceSubscriptions) > 0 {
				seen.Add(1)
				return nil, refusal
			}
			return next(ctx, x)
		}
	}
	mcptest.Run(t, func() mcp.Handler { return hiding(refusing) }, nil, func(t *testing.T, c *client.Client) {
		before := seen.Load()
		_, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ResourceSubscriptions: []string{"x:shown"}}, func(context.Context, client.Event) {})
		if err == nil || seen.Load() != before+1 {
			t.Errorf("subscribing returned %v, and middleware saw %d", err, seen.Load()-before)
		}
	})
}

// hiding returns a server that shows one of its two resources.
func hiding(mw server.Middleware) *server.Server {
	s := server.New(mcp.Implementation{Name: "s", Version: "1"}, &server.Options{
		Subscriptions: true,
		Logger:        mcptest.Quiet(),
		Announce:      server.Features{Tools: true},
		Visible: func(_ context.Context, _ *mcp.Exchange, _ mcp.FeatureKind, name string) bool {
			return name != "x:hidden"
		},
	})
	for _, uri := range []string{"x:shown", "x:hidden"} {
		s.AddResource(mcp.Resource{URI: uri, Name: uri}, func(context.Context, *server.Call, string) (*mcp.ReadResourceResult, error) {
			return server.Contents(), nil
		})
	}
	if mw != nil {
		s.Use(mw)
	}
	return s
}
