package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// forgetful is a transport whose server can be made to forget its session.
type forgetful struct {
	*mcptest.Transport
	mu      sync.Mutex
	conns   []*session
	refuses string // the method that connections made from now on refuse
}

func (f *forgetful) Connect(ctx context.Context, r mcp.Receiver) (mcp.Conn, error) {
	conn, err := f.Transport.Connect(ctx, r)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &session{Conn: conn, refuses: f.refuses, gone: make(chan struct{})}
	f.conns = append(f.conns, s)
	return s, nil
}

// last returns the latest connection, and how many there have been.
func (f *forgetful) last() (*session, int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.conns[len(f.conns)-1], len(f.conns)
}

// session is a connection that ends as one over HTTP does: when a request, or the
// standing stream, is refused.
type session struct {
	mcp.Conn
	refuses string
	gone    chan struct{}

	mu     sync.Mutex
	forgot bool
	sent   []string
}

// forget makes the server refuse the next message.
func (s *session) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgot = true
}

// notice ends the connection.
func (s *session) notice() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.gone:
	default:
		close(s.gone)
	}
}

func (s *session) RoundTrip(ctx context.Context, m *jsonrpc.Message) (*jsonrpc.Message, error) {
	s.mu.Lock()
	forgot := s.forgot
	s.sent = append(s.sent, m.Method+" "+string(m.Params))
	s.mu.Unlock()
	if forgot {
		s.notice()
		return nil, s.Err()
	}
	if m.Method == s.refuses {
		return jsonrpc.NewError(m.ID, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "no")), nil
	}
	return s.Conn.RoundTrip(ctx, m)
}

func (s *session) Done() <-chan struct{} { return s.gone }

func (s *session) Err() error { return fmt.Errorf("here: %w", mcp.ErrSessionGone) }

func (s *session) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent)
}

func counting() *server.Server {
	s := newServer(&server.Options{Logging: true, Subscriptions: true, PageSize: 200})
	n := 0
	server.AddTool(s, mcp.Tool{Name: "count"}, func(context.Context, *server.Call, struct{}) (int, error) {
		n++
		return n, nil
	})
	s.AddResource(mcp.Resource{URI: "file:///a", Name: "a"}, func(context.Context, *server.Call, string) (*mcp.ReadResourceResult, error) {
		return nil, errors.New("not read here")
	})
	return s
}

// forgetting connects to a server with sessions, in a bubble.
func forgetting(t *testing.T, o *client.Options, body func(t *testing.T, f *forgetful, s *server.Server, c *client.Client),
) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := counting()
		f := &forgetful{Transport: &mcptest.Transport{Handler: s, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}}
		o.Logger = mcptest.Quiet()
		o.Revisions = []mcp.Revision{mcp.Revision20251125}
		c, err := client.Connect(t.Context(), f, o)
		if err != nil {
			t.Fatal(err)
		}
		body(t, f, s, c)
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		f.Wait()
	})
}

// A server that has forgotten the session refuses a call without processing it: the
// call is repeated, once, in a new session of the same kind.
func TestForgottenSession(t *testing.T) {
	o := &client.Options{LogLevel: mcp.LevelWarning, Log: func(context.Context, *mcp.LogParams) {}}
	forgetting(t, o, func(t *testing.T, f *forgetful, _ *server.Server, c *client.Client) {
		for i := range 3 {
			got, err := client.Call[int](t.Context(), c, "count", nil)
			if err != nil || got != i+1 {
				t.Errorf("got %d, %v; want %d", got, err, i+1)
			}
			conn, n := f.last()
			if n != i+1 {
				t.Errorf("%d connections, want %d", n, i+1)
			}
			if !slices.Contains(conn.requests(), `logging/setLevel {"level":"warning"}`) {
				t.Errorf("the level was not set again: %q", conn.requests())
			}
			conn.forget()
		}
		if c.Err() != nil {
			t.Errorf("Err = %v", c.Err())
		}
	})
}

// Concurrent calls share one new session, instead of opening one each.
func TestForgottenSessionIsReplacedOnce(t *testing.T) {
	forgetting(t, &client.Options{}, func(t *testing.T, f *forgetful, _ *server.Server, c *client.Client) {
		conn, _ := f.last()
		conn.forget()
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if err := c.Ping(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if _, n := f.last(); n != 2 {
			t.Errorf("%d connections, want 2", n)
		}
	})
}

// A cursor does not outlive its session: a list is begun again in the new one, and what
// was yielded before is left out.
//
// Spec: 2025-11-25 server/utilities/pagination#implementation-guidelines (3).
func TestCursorsEndWithTheSession(t *testing.T) {
	forgetting(t, &client.Options{}, func(t *testing.T, f *forgetful, s *server.Server, c *client.Client) {
		for i := range 300 {
			server.AddTool(s, mcp.Tool{Name: fmt.Sprintf("tool-%03d", i)}, func(context.Context, *server.Call, struct{}) (int, error) { return i, nil })
		}
		old, _ := f.last()
		names := map[string]int{}
		for tool, err := range c.Tools(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if len(names) == 0 {
				old.forget()
			}
			names[tool.Name]++
		}
		if len(names) != 301 || names["tool-299"] != 1 {
			t.Errorf("%d tools, want 301, each once", len(names))
		}
		fresh, n := f.last()
		if n != 2 {
			t.Fatalf("%d connections, want 2: the list has too few pages", n)
		}
		for _, sent := range fresh.requests() {
			if strings.HasPrefix(sent, mcp.MethodListTools+" ") {
				if strings.Contains(sent, "cursor") {
					t.Errorf("the new session begins with %s", sent)
				}
				break
			}
		}
	})
}

// A server that forgets every session immediately is not retried forever.
func TestSessionsForgottenForEver(t *testing.T) {
	forgetting(t, &client.Options{MaxRestarts: 2}, func(t *testing.T, f *forgetful, _ *server.Server, c *client.Client) {
		for i := range 3 {
			conn, _ := f.last()
			conn.forget()
			err := c.Ping(t.Context())
			if (err == nil) != (i < 2) || err != nil && !errors.Is(err, mcp.ErrSessionGone) {
				t.Errorf("ping %d: %v", i+1, err)
			}
		}
	})
}

// Subscriptions continue in the new session, and report the gap, even if nobody
// makes a call.
func TestSubscriptionsOutliveTheSession(t *testing.T) {
	forgetting(t, &client.Options{}, func(t *testing.T, f *forgetful, s *server.Server, c *client.Client) {
		events := make(chan client.Event, 10)
		listen := func(filter mcp.SubscriptionFilter) *client.Subscription {
			sub, err := c.Listen(t.Context(), filter, func(_ context.Context, e client.Event) { events <- e })
			if err != nil {
				t.Fatal(err)
			}
			return sub
		}
		a := listen(mcp.SubscriptionFilter{ResourceSubscriptions: []string{"file:///a"}})
		b := listen(mcp.SubscriptionFilter{ResourceSubscriptions: []string{"file:///a"}, ToolsListChanged: true})
		conn, _ := f.last()
		conn.notice()
		for range 2 {
			if e := <-events; !e.Gap {
				t.Errorf("told of %+v, want a gap", e)
			}
		}
		conn, n := f.last()
		if n != 2 {
			t.Errorf("%d connections, want 2", n)
		}
		again := slices.DeleteFunc(conn.requests(), func(r string) bool { return r != `resources/subscribe {"uri":"file:///a"}` })
		if len(again) != 1 {
			t.Errorf("subscribed again %d times, want once", len(again))
		}
		s.ResourceUpdated("file:///a")
		for range 2 {
			if e := <-events; e.Change.URI != "file:///a" {
				t.Errorf("told of %+v", e)
			}
		}
		for _, sub := range []*client.Subscription{a, b} {
			if err := sub.Close(); err != nil || sub.Err() != nil {
				t.Errorf("%v, %v", err, sub.Err())
			}
		}
	})
}

// A subscription that the new session does not allow ends.
func TestSubscriptionRefusedInTheNewSession(t *testing.T) {
	forgetting(t, &client.Options{}, func(t *testing.T, f *forgetful, _ *server.Server, c *client.Client) {
		sub, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ResourceSubscriptions: []string{"file:///a"}}, func(context.Context, client.Event) {})
		if err != nil {
			t.Fatal(err)
		}
		f.mu.Lock()
		f.refuses = mcp.MethodSubscribe
		f.mu.Unlock()
		conn, _ := f.last()
		conn.notice()
		<-sub.Done()
		var rpc *jsonrpc.Error
		if !errors.As(sub.Err(), &rpc) {
			t.Errorf("Err = %v", sub.Err())
		}
		if err := c.Ping(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A session that ends in another way still ends the client.
func TestLostSessionEndsTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tr, stop := dial(t, counting(), &client.Options{Revisions: []mcp.Revision{mcp.Revision20251125}})
		defer stop()
		tr.Break()
		synctest.Wait()
		if _, err := c.Do(t.Context(), mcp.MethodPing, json.RawMessage(`{}`)); err == nil {
			t.Error("the session was remade")
		}
		<-c.Done()
	})
}
