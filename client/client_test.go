package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var stateless = []mcp.Revision{mcp.Revision20260728}

// bothEras runs a test in a synctest bubble, once for each era. It is for tests that
// depend on time; mcptest.Run is for all others.
func bothEras(t *testing.T, body func(t *testing.T, revisions []mcp.Revision)) {
	for _, r := range []mcp.Revision{mcp.Revision20251125, mcp.Revision20260728} {
		t.Run(r.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { body(t, []mcp.Revision{r}) })
		})
	}
}

// dial connects inside a bubble; stop must be called before the bubble ends.
func dial(t *testing.T, h mcp.Handler, o *client.Options) (c *client.Client, tr *mcptest.Transport, stop func()) {
	t.Helper()
	o.Logger = mcptest.Quiet()
	tr = &mcptest.Transport{Handler: h, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
	c, err := client.Connect(t.Context(), tr, o)
	if err != nil {
		t.Fatal(err)
	}
	return c, tr, func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		tr.Wait()
	}
}

func newServer(o *server.Options) *server.Server {
	if o == nil {
		o = &server.Options{}
	}
	o.Logger = mcptest.Quiet()
	return server.New(mcp.Implementation{Name: "test", Version: "1"}, o)
}

// slow has a tool that takes a minute for each step.
func slow() *server.Server {
	s := newServer(nil)
	server.AddTool(s, mcp.Tool{Name: "slow"}, func(ctx context.Context, call *server.Call, in struct {
		Steps    int  `json:"steps"`
		Progress bool `json:"progress,omitempty"`
	},
	) (string, error) {
		for i := range in.Steps {
			timer := time.NewTimer(time.Minute)
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				return "", ctx.Err()
			}
			if in.Progress {
				call.Progress(ctx, float64(i+1), float64(in.Steps), "")
			}
		}
		return "done", nil
	})
	return s
}

func TestTimeouts(t *testing.T) {
	tests := []struct {
		name     string
		steps    int
		progress bool
		opts     []client.CallOption
		after    time.Duration
		ok       bool
	}{
		{"in time", 1, false, []client.CallOption{client.WithTimeout(2 * time.Minute)}, time.Minute, true},
		{"too late", 3, false, []client.CallOption{client.WithTimeout(90 * time.Second)}, 90 * time.Second, false},
		{"progress extends", 5, true, []client.CallOption{client.WithTimeout(90 * time.Second)}, 5 * time.Minute, true},
		{"but not for ever", 50, true, []client.CallOption{client.WithTimeout(90 * time.Second), client.WithMaxTimeout(4*time.Minute + time.Second)}, 4*time.Minute + time.Second, false},
		{"no limit", 50, false, []client.CallOption{client.WithTimeout(-1), client.WithMaxTimeout(-1)}, 50 * time.Minute, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bothEras(t, func(t *testing.T, revisions []mcp.Revision) {
				c, _, stop := dial(t, slow(), &client.Options{Revisions: revisions})
				defer stop()
				start := time.Now()
				opts := append(tt.opts, client.WithProgress(func(*mcp.ProgressParams) {}))
				_, err := c.CallTool(t.Context(), "slow", map[string]any{"steps": tt.steps, "progress": tt.progress}, opts...)
				if tt.ok != (err == nil) || !tt.ok && !errors.Is(err, client.ErrTimeout) {
					t.Errorf("error = %v, want ok %v", err, tt.ok)
				}
				if took := time.Since(start); took != tt.after {
					t.Errorf("it took %v, want %v", took, tt.after)
				}
			})
		})
	}
}

type answer struct {
	City string `json:"city"`
}

// The time in which the user thinks does not count.
func TestThinkingUserStopsTheClock(t *testing.T) {
	bothEras(t, func(t *testing.T, revisions []mcp.Revision) {
		s := newServer(nil)
		server.AddTool(s, mcp.Tool{Name: "ask"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
			a, err := server.Elicit[answer](ctx, call, "city", "Where?")
			return a.City, err
		})
		c, _, stop := dial(t, s, &client.Options{
			Revisions: revisions, Timeout: time.Second, MaxTimeout: 2 * time.Second,
			Elicit: func(ctx context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				timer := time.NewTimer(10 * time.Minute)
				defer timer.Stop()
				select {
				case <-timer.C:
				case <-ctx.Done():
					return nil, ctx.Err()
				}
				return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: json.RawMessage(`{"city":"Rome"}`)}, nil
			},
		})
		defer stop()
		got, err := client.Call[string](t.Context(), c, "ask", nil)
		if err != nil || got != "Rome" {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

func TestKeepAliveGivesUp(t *testing.T) {
	bothEras(t, func(t *testing.T, revisions []mcp.Revision) {
		var dead atomic.Bool
		tr := &mcptest.Transport{Handler: slow(), Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
		c, err := client.Connect(t.Context(), &deaf{Transport: tr, dead: &dead}, &client.Options{Revisions: revisions, Logger: mcptest.Quiet(), KeepAlive: time.Minute, KeepAliveFailures: 2})
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Wait()
		defer c.Close()
		<-time.NewTimer(10 * time.Minute).C
		if c.Err() != nil {
			t.Fatalf("given up while the server answers: %v", c.Err())
		}
		dead.Store(true)
		start := time.Now()
		<-c.Done()
		if !errors.Is(c.Err(), client.ErrKeepAlive) {
			t.Errorf("Err = %v, want ErrKeepAlive", c.Err())
		}
		if took := time.Since(start); took > 4*time.Minute {
			t.Errorf("it took %v to notice", took)
		}
	})
}

// deaf is a transport whose answers stop coming.
type deaf struct {
	mcp.Transport
	dead *atomic.Bool
}

type deafConn struct {
	mcp.Conn
	dead *atomic.Bool
}

func (d *deaf) Connect(ctx context.Context, r mcp.Receiver) (mcp.Conn, error) {
	conn, err := d.Transport.Connect(ctx, r)
	return &deafConn{conn, d.dead}, err
}

func (d *deafConn) RoundTrip(ctx context.Context, m *jsonrpc.Message) (*jsonrpc.Message, error) {
	if d.dead.Load() {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	return d.Conn.RoundTrip(ctx, m)
}

func TestCacheKeepsWhatServersAllow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(&server.Options{Cache: map[string]server.CacheHint{mcp.MethodListTools: {TTL: time.Minute, Scope: mcp.CachePublic}}})
		add := func(name string) {
			server.AddTool(s, mcp.Tool{Name: name}, func(context.Context, *server.Call, struct{}) (string, error) { return "", nil })
		}
		add("one")
		var lists atomic.Int64
		s.Use(func(next mcp.ServeFunc) mcp.ServeFunc {
			return func(ctx context.Context, x *mcp.Exchange) (any, error) {
				if x.Method == mcp.MethodListTools {
					lists.Add(1)
				}
				return next(ctx, x)
			}
		})
		shared := client.NewCache(0)
		a, _, stopA := dial(t, s, &client.Options{Revisions: stateless, Cache: shared})
		defer stopA()
		b, _, stopB := dial(t, s, &client.Options{Revisions: stateless, Cache: shared})
		defer stopB()
		expect := func(c *client.Client, tools int, served int64, why string) {
			t.Helper()
			got, err := client.Collect(c.Tools(t.Context()))
			if err != nil || len(got) != tools || lists.Load() != served {
				t.Errorf("%s: %d tools, %d served, %v; want %d, %d", why, len(got), lists.Load(), err, tools, served)
			}
		}
		expect(a, 1, 1, "first")
		expect(a, 1, 1, "again")
		expect(b, 1, 1, "another client, because the list is public")
		got, _ := client.Collect(a.Tools(t.Context()))
		got[0].Name = "spoilt"
		if again, _ := client.Collect(a.Tools(t.Context())); again[0].Name != "one" {
			t.Error("a caller could change what is cached")
		}
		<-time.NewTimer(time.Minute).C
		expect(a, 1, 2, "expired")

		events := make(chan client.Event, 4)
		sub, err := a.Listen(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true}, func(_ context.Context, e client.Event) { events <- e })
		if err != nil {
			t.Fatal(err)
		}
		add("two")
		<-events
		expect(a, 2, 3, "changed")
		if err := sub.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestPrivateResultsAreNotShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(&server.Options{Cache: map[string]server.CacheHint{mcp.MethodListTools: {TTL: time.Minute}}})
		server.AddTool(s, mcp.Tool{Name: "one"}, func(context.Context, *server.Call, struct{}) (string, error) { return "", nil })
		shared := client.NewCache(0)
		for range 2 {
			c, _, stop := dial(t, s, &client.Options{Revisions: stateless, Cache: shared})
			if _, err := client.Collect(c.Tools(t.Context())); err != nil {
				t.Error(err)
			}
			stop()
		}
		if shared.Len() != 2 {
			t.Errorf("the cache holds %d results, want one for each client", shared.Len())
		}
	})
}

func TestCacheIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(nil)
		server.AddTemplate(s, mcp.ResourceTemplate{URITemplate: "x://{name}", Name: "x"}, func(_ context.Context, _ *server.Call, uri string, _ map[string]string) (*mcp.ReadResourceResult, error) {
			r := server.Contents(mcp.TextResource(uri, "", strings.Repeat("x", 1000)))
			ttl := int64(60_000)
			r.TTLMs = &ttl
			return r, nil
		})
		cache := client.NewCache(10_000)
		c, _, stop := dial(t, s, &client.Options{Revisions: stateless, Cache: cache})
		defer stop()
		for i := range 100 {
			if _, err := c.ReadResource(t.Context(), "x://"+string(rune('a'+i%26))+strings.Repeat("z", i)); err != nil {
				t.Fatal(err)
			}
		}
		if n := cache.Len(); n == 0 || n > 9 {
			t.Errorf("the cache holds %d results of 1,000 bytes, its bound is 10,000", n)
		}
	})
}

// A subscription survives its connection, and says that there was a gap.
func TestListenAgainAfterALoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(nil)
		server.AddTool(s, mcp.Tool{Name: "one"}, func(context.Context, *server.Call, struct{}) (string, error) { return "", nil })
		c, tr, stop := dial(t, s, &client.Options{Revisions: stateless})
		defer stop()
		events := make(chan client.Event, 4)
		sub, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true}, func(_ context.Context, e client.Event) { events <- e })
		if err != nil {
			t.Fatal(err)
		}
		tr.Break()
		if e := <-events; !e.Gap {
			t.Errorf("first event = %+v, want a gap", e)
		}
		s.RemoveTools("one")
		if e := <-events; e.Change.Kind != mcp.ToolsChanged {
			t.Errorf("second event = %+v, want a change of tools", e)
		}
		if err := sub.Close(); err != nil {
			t.Error(err)
		}
	})
}

// flaky is a transport that cannot connect while it is down.
type flaky struct {
	*mcptest.Transport

	down atomic.Bool
}

func (f *flaky) Connect(ctx context.Context, r mcp.Receiver) (mcp.Conn, error) {
	if f.down.Load() {
		return nil, errors.New("nobody is there")
	}
	return f.Transport.Connect(ctx, r)
}

// A subscription whose server cannot be reached says so at its first attempt, and
// once, not only when it gives up.
func TestListenSaysThatTheServerIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(nil)
		server.AddTool(s, mcp.Tool{Name: "one"}, func(context.Context, *server.Call, struct{}) (string, error) { return "", nil })
		tr := &flaky{Transport: &mcptest.Transport{Handler: s, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}}
		var logged bytes.Buffer
		o := &client.Options{Revisions: stateless, MaxRestarts: 100, Logger: slog.New(slog.NewTextHandler(&logged, nil))}
		c, err := client.Connect(t.Context(), tr, o)
		if err != nil {
			t.Fatal(err)
		}
		sub, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true}, func(context.Context, client.Event) {})
		if err != nil {
			t.Fatal(err)
		}
		tr.down.Store(true)
		tr.Break()
		<-time.NewTimer(time.Second).C
		synctest.Wait()
		if n := strings.Count(logged.String(), "a subscription is interrupted; trying to open it again"); n != 1 || !strings.Contains(logged.String(), "nobody is there") {
			t.Errorf("said so %d times within a second:\n%s", n, logged.String())
		}
		if err := errors.Join(sub.Close(), c.Close()); err != nil {
			t.Error(err)
		}
		tr.Wait()
	})
}

func TestRestartsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tr, stop := dial(t, slow(), &client.Options{Revisions: stateless, MaxRestarts: 2})
		defer stop()
		var err error
		for range 4 {
			tr.Break()
			synctest.Wait()
			if err = c.Ping(t.Context()); err != nil {
				break
			}
		}
		if err == nil || !strings.Contains(err.Error(), "too often") {
			t.Errorf("error = %v, want that it went away too often", err)
		}
		<-time.NewTimer(2 * time.Minute).C
		if err := c.Ping(t.Context()); err != nil {
			t.Errorf("after a while: %v", err)
		}
	})
}

// Of several subscriptions, each gets what it asked for, and ending one leaves the
// other.
func TestSubscriptionsAreIndependent(t *testing.T) {
	mcptest.Run(t, func() mcp.Handler {
		return newServer(&server.Options{Subscriptions: true, Announce: server.Features{Tools: true, Resources: true}})
	}, nil,
		func(t *testing.T, c *client.Client) {
			one, two := make(chan client.Event, 8), make(chan client.Event, 8)
			a, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ResourceSubscriptions: []string{"x://1"}}, func(_ context.Context, e client.Event) { one <- e })
			if err != nil {
				t.Fatal(err)
			}
			b, err := c.Listen(t.Context(), mcp.SubscriptionFilter{ResourceSubscriptions: []string{"x://2"}, PromptsListChanged: true}, func(_ context.Context, e client.Event) { two <- e })
			if err != nil {
				t.Fatal(err)
			}
			if b.Honoured().PromptsListChanged {
				t.Error("the server agreed to tell of prompts, which it does not have")
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		})
}

func TestErasAreRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		eras := new(client.Eras)
		var probes atomic.Int64
		for range 2 {
			tr := &mcptest.Transport{Handler: slow(), Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
			count := func(e mcp.TapEvent) {
				if e.Direction == mcp.Sent && strings.Contains(string(e.Frame), `"method":"server/discover"`) {
					probes.Add(1)
				}
			}
			c, err := client.Connect(t.Context(), tr, &client.Options{Tap: count, Eras: eras, Logger: mcptest.Quiet(), Revisions: []mcp.Revision{mcp.Revision20251125, mcp.Revision20260728}})
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			tr.Wait()
			// The second client starts with the memory that the server has only sessions.
			eras = client.RememberedSession("in memory")
		}
		if probes.Load() != 1 {
			t.Errorf("%d probes, want 1: the second client knows", probes.Load())
		}
	})
}

// The client falls back to a session when the server does not know
// server/discover, unless the options rule that out.
func TestFallBack(t *testing.T) {
	old := func() mcp.Handler {
		return newServer(&server.Options{Revisions: []mcp.Revision{mcp.Revision20250618}})
	}
	synctest.Test(t, func(t *testing.T) {
		c, _, stop := dial(t, old(), &client.Options{})
		defer stop()
		if c.Revision() != mcp.Revision20250618 {
			t.Errorf("revision = %s", c.Revision())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		tr := &mcptest.Transport{Handler: old(), Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
		_, err := client.Connect(t.Context(), tr, &client.Options{Revisions: stateless, Logger: mcptest.Quiet()})
		if err == nil || !strings.Contains(err.Error(), "no revision in common") {
			t.Errorf("error = %v", err)
		}
		tr.Wait()
	})
}

func TestMiddlewareWrapsCalls(t *testing.T) {
	mcptest.Run(t, func() mcp.Handler { return slow() }, nil, func(t *testing.T, c *client.Client) {
		var seen []string
		for _, name := range []string{"outer", "inner"} {
			c.Use(func(next client.CallFunc) client.CallFunc {
				return func(ctx context.Context, req *client.Request) (json.RawMessage, error) {
					seen = append(seen, name+" "+req.Method)
					return next(ctx, req)
				}
			})
		}
		if _, err := client.Collect(c.Tools(t.Context())); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(seen, ", "); got != "outer tools/list, inner tools/list" {
			t.Errorf("seen %s", got)
		}
	})
}

func TestCloseEndsCallsInFlight(t *testing.T) {
	bothEras(t, func(t *testing.T, revisions []mcp.Revision) {
		c, _, stop := dial(t, slow(), &client.Options{Revisions: revisions})
		failed := make(chan error, 1)
		go func() {
			_, err := c.CallTool(t.Context(), "slow", map[string]any{"steps": 5})
			failed <- err
		}()
		synctest.Wait()
		stop()
		if err := <-failed; !errors.Is(err, client.ErrClosed) {
			t.Errorf("error = %v, want ErrClosed", err)
		}
		if err := c.Ping(t.Context()); !errors.Is(err, client.ErrClosed) {
			t.Errorf("after Close: %v, want ErrClosed", err)
		}
	})
}

// A server cannot send the user to a script or a file.
func TestVisitsAreToTheWeb(t *testing.T) {
	for address, ok := range map[string]bool{"https://example.com/x": true, "javascript:alert(1)": false, "file:///etc/passwd": false, "https:": false} {
		h := func() mcp.Handler {
			s := newServer(nil)
			s.AddRawTool(mcp.Tool{Name: "visit", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, call *server.Call, _ json.RawMessage) (*mcp.CallToolResult, error) {
				if call.Exchange().Answers["u"] != nil {
					return &mcp.CallToolResult{}, nil
				}
				return nil, &mcp.InputRequired{Requests: []mcp.InputRequest{{Key: "u", Method: mcp.MethodElicit, Params: &mcp.ElicitParams{Mode: mcp.ElicitURL, Message: "m", URL: address}}}}
			})
			return s
		}
		visited := false
		c := mcptest.Connect(t, h(), mcptest.Mode{Revision: mcp.Revision20260728, Transport: "memory"}, &client.Options{
			VisitURL: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				visited = true
				return &mcp.ElicitResult{Action: mcp.ActionAccept}, nil
			},
		})
		if _, err := c.CallTool(t.Context(), "visit", nil); visited != ok || (err == nil) != ok {
			t.Errorf("%q: visited %v, %v", address, visited, err)
		}
	}
}

func TestConnectToNothing(t *testing.T) {
	if _, err := client.Connect(t.Context(), nil, nil); err == nil || !strings.Contains(err.Error(), "transport is nil") {
		t.Errorf("got %v", err)
	}
}
