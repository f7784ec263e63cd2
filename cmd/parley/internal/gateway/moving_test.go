package gateway_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/policy"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// moving is a gateway whose setups change, in front of one server with two resources.
type moving struct {
	t *testing.T
	g *gateway.Gateway
	s *server.Server

	mu      sync.Mutex
	clients []*client.Client // of the server: the gateway's
	heard   []string         // by subscribers
}

func newMoving(t *testing.T) *moving {
	t.Helper()
	m := &moving{t: t, g: gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})}
	m.s = server.New(mcp.Implementation{Name: "one", Version: "1"}, &server.Options{Logger: mcptest.Quiet(), Subscriptions: true})
	for _, name := range []string{"a", "b"} {
		m.s.AddResource(mcp.Resource{URI: "test://" + name, Name: name}, func(_ context.Context, _ *server.Call, uri string) (*mcp.ReadResourceResult, error) {
			return server.Contents(mcp.TextResource(uri, "text/plain", name)), nil
		})
	}
	return m
}

// reached returns the server as it is reached in a way, which takes some time. It is waited
// for at the end of the test, so all of them are to be there before the gateway begins.
func (m *moving) reached(way string, takes time.Duration) gateway.Server {
	m.t.Helper()
	srv := behind(m.t, "one", m.s, modes[2], bridge.SharePrincipal)
	connect := srv.Backend.Connect
	srv.Same = way
	srv.Backend.Connect = func(ctx context.Context, p *mcp.Peer, o *client.Options) (*client.Client, error) {
		timer := time.NewTimer(takes)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		c, err := connect(ctx, p, o)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.clients = append(m.clients, c)
		return c, err
	}
	return srv
}

func (m *moving) load(next gateway.Setup) {
	m.t.Helper()
	if err := m.g.Load(next); err != nil {
		m.t.Fatal(err)
	}
}

func (m *moving) only(srv gateway.Server) { m.load(gateway.Setup{Servers: []gateway.Server{srv}}) }

// begins loads the first setup. Nothing ends before those who connect from then on.
func (m *moving) begins(first gateway.Setup) {
	m.t.Helper()
	m.t.Cleanup(func() { _ = m.g.Close() })
	m.load(first)
}

// subscribes connects a client that subscribes to resources.
func (m *moving) subscribes(front mcptest.Mode, principal string, names ...string) {
	m.t.Helper()
	c := mcptest.Connect(m.t, namedAs{m.g.View(""), principal}, front, nil)
	var filter mcp.SubscriptionFilter
	for _, name := range names {
		filter.ResourceSubscriptions = append(filter.ResourceSubscriptions, "mcp:one:test://"+name)
	}
	_, err := c.Listen(m.t.Context(), filter, func(_ context.Context, e client.Event) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.heard = append(m.heard, principal+" hears of "+e.Change.URI)
	})
	if err != nil {
		m.t.Fatal(err)
	}
}

// hears lets everything settle, has the resources updated, and returns who hears of what.
func (m *moving) hears() []string {
	pass(10 * time.Second)
	m.mu.Lock()
	m.heard = nil
	m.mu.Unlock()
	for _, name := range []string{"a", "b"} {
		m.s.ResourceUpdated("test://" + name)
	}
	pass(time.Second)
	m.mu.Lock()
	defer m.mu.Unlock()
	slices.Sort(m.heard)
	return slices.Clone(m.heard)
}

// bubbles runs a test in a bubble for clients of both eras.
func bubbles(t *testing.T, body func(t *testing.T, front mcptest.Mode)) {
	t.Helper()
	for _, front := range []mcptest.Mode{modes[0], modes[2]} {
		t.Run(front.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { body(t, front) })
		})
	}
}

// A subscription follows to the latest setup, also from one to which it is still on its way.
func TestLoadWhileFollowing(t *testing.T) {
	bubbles(t, func(t *testing.T, front mcptest.Mode) {
		m := newMoving(t)
		first, next, last := m.reached("first", 2*time.Second), m.reached("next", 2*time.Second), m.reached("last", 0)
		m.begins(gateway.Setup{Servers: []gateway.Server{first}})
		go func() { // ends long before the test
			pass(200 * time.Millisecond)
			m.only(next) // while the subscription waits for the first
			pass(300 * time.Millisecond)
			m.only(last) // while it waits for the next
		}()
		m.subscribes(front, "ann", "a")
		if heard := m.hears(); !slices.Equal(heard, []string{"ann hears of mcp:one:test://a"}) {
			t.Errorf("after an update: %q", heard)
		}
	})
}

// A subscription whose server is missing from a setup has it again with the next one.
func TestLoadAfterMistake(t *testing.T) {
	bubbles(t, func(t *testing.T, front mcptest.Mode) {
		m := newMoving(t)
		only := gateway.Setup{Servers: []gateway.Server{m.reached("first", 0)}}
		m.begins(only)
		m.subscribes(front, "ann", "a")
		m.load(gateway.Setup{})
		if heard := m.hears(); len(heard) > 0 {
			t.Errorf("without the server: %q", heard)
		}
		m.load(only)
		if heard := m.hears(); !slices.Equal(heard, []string{"ann hears of mcp:one:test://a"}) {
			t.Errorf("with the server: %q", heard)
		}
	})
}

// A server that is replaced does not wait longer than once for its successor, however many
// have subscribed, and nobody is left behind.
func TestManyFollow(t *testing.T) {
	bubbles(t, func(t *testing.T, front mcptest.Mode) {
		const many = gateway.Following + 6
		m := newMoving(t)
		first, next, last := m.reached("first", 0), m.reached("next", time.Hour), m.reached("last", 0)
		m.begins(gateway.Setup{Servers: []gateway.Server{first}})
		var want []string
		for i := range many {
			who := fmt.Sprintf("p%d", i)
			m.subscribes(front, who, "a")
			want = append(want, who+" hears of mcp:one:test://a")
		}
		slices.Sort(want)
		begun := time.Now()
		m.only(next)
		for _, c := range m.clients {
			<-c.Done()
		}
		if took := time.Since(begun); took != gateway.Waiting {
			t.Errorf("the server that is replaced ends after %s, and not after %s", took, gateway.Waiting)
		}
		m.only(last)
		if heard := m.hears(); !slices.Equal(heard, want) {
			t.Errorf("%d of %d hear of an update: %q", len(heard), many, heard)
		}
	})
}

// subscribing is a guard that counts subscriptions, as those do that limit or record.
type subscribing struct{ n atomic.Int64 }

func (*subscribing) Sees(context.Context, *mcp.Peer, *guard.Definition) bool { return true }

func (s *subscribing) Serve(ctx context.Context, op *guard.Operation, next guard.Next) (any, error) {
	if op.Method.Name == mcp.MethodSubscribe {
		s.n.Add(1)
	}
	return next(ctx, op)
}

// A subscription has no more than the setup lets the client subscribe to, and has it again
// when the setup does.
func TestSubscriptionsAreRevoked(t *testing.T) {
	forbids := func(m *moving, resources string) guard.Guard {
		p, err := policy.New([]policy.Source{{Name: "p", Text: `permit(principal, action, resource); forbid(principal, action, ` + resources + `);`}}, policy.Options{Logger: mcptest.Quiet()})
		if err != nil {
			m.t.Fatal(err)
		}
		return p
	}
	for name, change := range map[string]func(m *moving, s *gateway.Setup) (left []string){
		"by a policy about one": func(m *moving, s *gateway.Setup) []string {
			s.Guards = append(s.Guards, forbids(m, `resource == Resource::"mcp:one:test://b"`))
			return []string{"ann hears of mcp:one:test://a"}
		},
		"by a policy about all": func(m *moving, s *gateway.Setup) []string {
			s.Guards = append(s.Guards, forbids(m, `resource`))
			return nil
		},
		"by the selection of a view": func(_ *moving, s *gateway.Setup) []string {
			s.Views = map[string]gateway.Part{"ann's": {DefaultFor: []string{"ann"}, Resources: naming.Selection{Exclude: []string{"*b"}}}}
			return []string{"ann hears of mcp:one:test://a"}
		},
		"by the principals of a view": func(_ *moving, s *gateway.Setup) []string {
			s.Views = map[string]gateway.Part{"ann's": {DefaultFor: []string{"ann"}, Backends: []string{}}}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubbles(t, func(t *testing.T, front mcptest.Mode) {
				m, counted := newMoving(t), new(subscribing)
				first := gateway.Setup{Servers: []gateway.Server{m.reached("first", 0)}, Guards: []guard.Guard{counted}}
				m.begins(first)
				m.subscribes(front, "ann", "a", "b")
				both := []string{"ann hears of mcp:one:test://a", "ann hears of mcp:one:test://b"}
				if heard := m.hears(); !slices.Equal(heard, both) {
					t.Errorf("at first: %q", heard)
				}
				next := first
				left := change(m, &next)
				m.load(next)
				if heard := m.hears(); !slices.Equal(heard, left) {
					t.Errorf("after the change: %q", heard)
				}
				m.load(first)
				if heard := m.hears(); !slices.Equal(heard, both) {
					t.Errorf("as before: %q", heard)
				}
				if n := counted.n.Load(); n != 2 {
					t.Errorf("guards that count have seen %d subscriptions, and the client has made 2", n)
				}
			})
		})
	}
}
