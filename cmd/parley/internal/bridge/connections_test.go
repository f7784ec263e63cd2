package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
	"github.com/parley-mcp/parley/transport/frames"
)

// The server learns what the client can answer, and nothing more.
func TestCapabilitiesAreTheClients(t *testing.T) {
	overPairs(t, func(t *testing.T, front, back mcptest.Mode) {
		declared := make(chan mcp.ClientCapabilities, 10)
		b := bridged(t, serving(func(_ context.Context, x *mcp.Exchange) (any, error) {
			declared <- x.Peer.Capabilities
			return json.RawMessage(`{"content":[]}`), nil
		}), back)
		for _, roots := range [][]*mcp.Root{nil, {{URI: "file:///a"}}} {
			c := mcptest.Connect(t, b, front, &client.Options{Roots: roots})
			if _, err := c.CallTool(t.Context(), "x", nil); err != nil {
				t.Fatal(err)
			}
			got := within(t, "the call", declared)
			if (got.Roots != nil) != (roots != nil) || got.Sampling != nil || got.Elicitation != nil {
				t.Errorf("with the roots %v, the server sees %+v", roots, got)
			}
		}
	})
}

// counting returns a server with a tool that counts its calls.
func counting() *server.Server {
	var n atomic.Int64
	s := newServer()
	server.AddTool(s, mcp.Tool{Name: "count"}, func(context.Context, *server.Call, struct{}) (int64, error) { return n.Add(1), nil })
	return s
}

// processes returns a bridge to a server that has a process, with a count of its own,
// for each connection.
func processes(t *testing.T, open *atomic.Int64, o bridge.Options) *bridge.Bridge {
	t.Helper()
	o.Logger = mcptest.Quiet()
	o.Connect = func(ctx context.Context, _ *mcp.Peer, c *client.Options) (*client.Client, error) {
		quiet := &frames.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}}
		connected, err := client.Connect(ctx, frames.InProcess(counting(), quiet), c)
		if err == nil {
			open.Add(1)
			context.AfterFunc(doneContext(connected), func() { open.Add(-1) })
		}
		return connected, err
	}
	b, err := bridge.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// doneContext returns a context that ends with a client.
func doneContext(c *client.Client) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	go func() { // ends with the client
		<-c.Done()
		cancel()
	}()
	return ctx
}

func count(t *testing.T, c *client.Client) int64 {
	t.Helper()
	n, err := client.Call[int64](t.Context(), c, "count", nil)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// connect connects to a bridge inside a bubble.
func connect(t *testing.T, b *bridge.Bridge, m mcptest.Mode, o client.Options) (c *client.Client, stop func()) {
	t.Helper()
	tr := &mcptest.Transport{Handler: b, Over: m.Transport, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
	o.Revisions, o.Logger = []mcp.Revision{m.Revision}, mcptest.Quiet()
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

// A session has a connection of its own, which ends with it.
func TestSessionsHaveTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Int64
		b := processes(t, &open, bridge.Options{})
		defer b.Close()
		mode := modes[1]
		ann, stopAnn := connect(t, b, mode, client.Options{})
		bob, stopBob := connect(t, b, mode, client.Options{})
		if a, b1, a2 := count(t, ann), count(t, bob), count(t, ann); a != 1 || b1 != 1 || a2 != 2 {
			t.Errorf("Ann counts %d and %d, Bob %d", a, a2, b1)
		}
		synctest.Wait()
		if n := open.Load(); n != 2 {
			t.Errorf("%d connections are open for two sessions", n)
		}
		stopAnn()
		synctest.Wait()
		if n := open.Load(); n != 1 {
			t.Errorf("%d connections are open for one session", n)
		}
		if n := count(t, bob); n != 2 {
			t.Errorf("Bob counts %d", n)
		}
		stopBob()
	})
}

// Clients without sessions share a connection, which ends when it is idle.
func TestOthersShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Int64
		b := processes(t, &open, bridge.Options{Idle: time.Minute})
		defer b.Close()
		ann, stopAnn := connect(t, b, modes[3], client.Options{})
		defer stopAnn()
		bob, stopBob := connect(t, b, modes[3], client.Options{})
		defer stopBob()
		if a, b := count(t, ann), count(t, bob); a != 1 || b != 2 {
			t.Errorf("Ann counts %d, Bob %d", a, b)
		}
		pass(2 * time.Minute)
		synctest.Wait()
		if n := open.Load(); n != 0 {
			t.Errorf("%d idle connections are open", n)
		}
		if n := count(t, ann); n != 1 {
			t.Errorf("after the idle time, Ann counts %d", n)
		}
	})
}

func TestTooManyConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Int64
		b := processes(t, &open, bridge.Options{MaxConnections: 1})
		defer b.Close()
		ann, stopAnn := connect(t, b, modes[1], client.Options{})
		defer stopAnn()
		bob, stopBob := connect(t, b, modes[1], client.Options{})
		defer stopBob()
		count(t, ann)
		_, err := client.Call[int64](t.Context(), bob, "count", nil)
		if err == nil || !strings.Contains(err.Error(), "all 1 connections are in use") {
			t.Errorf("the error is %v", err)
		}
	})
}

// Servers ask for the roots as soon as they can, which is before any call.
func TestQuestionsBeforeAnyCall(t *testing.T) {
	for _, front := range modes {
		t.Run(front.String(), func(t *testing.T) {
			roots := make(chan string, 1)
			s := newServer()
			server.AddTool(s, mcp.Tool{Name: "roots"}, func(ctx context.Context, _ *server.Call, _ struct{}) (string, error) {
				select {
				case r := <-roots:
					return r, nil
				case <-ctx.Done():
					return "", ctx.Err()
				}
			})
			hasty := newHasty(s, roots)
			b, err := bridge.New(t.Context(), bridge.Options{Single: true, Logger: mcptest.Quiet(), Connect: func(ctx context.Context, _ *mcp.Peer, c *client.Options) (*client.Client, error) {
				c.Revisions = []mcp.Revision{mcp.Revision20251125}
				return client.Connect(ctx, hasty, c)
			}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = b.Close() })
			c := mcptest.Connect(t, b, front, &client.Options{Roots: []*mcp.Root{{URI: "file:///a"}}})
			got, err := client.Call[string](t.Context(), c, "roots", nil)
			if err != nil || !strings.Contains(got, "file:///a") {
				t.Errorf("the roots are %q, error %v", got, err)
			}
		})
	}
}

// Several questions of a call at once reach a client that has to come back with all
// the answers.
func TestQuestionsAtOnce(t *testing.T) {
	overPairs(t, func(t *testing.T, front, back mcptest.Mode) {
		b := bridged(t, serving(func(ctx context.Context, x *mcp.Exchange) (any, error) {
			var questions []mcp.InputRequest
			for i := range 3 {
				questions = append(questions, mcp.InputRequest{
					Key: fmt.Sprint(i), Method: mcp.MethodElicit,
					Params: json.RawMessage(fmt.Sprintf(`{"message":"%d","requestedSchema":{"type":"object","properties":{}}}`, i)),
				})
			}
			answers, err := x.Back.Input(ctx, questions...)
			if err != nil {
				return nil, err
			}
			var text strings.Builder
			for _, a := range answers {
				text.WriteString(string(a))
			}
			return &mcp.CallToolResult{Content: mcp.Contents{mcp.Text(text.String())}}, nil
		}), back)
		c := mcptest.Connect(t, b, front, &client.Options{
			Capabilities: everything(),
			Answer: func(_ context.Context, _ string, params json.RawMessage) (json.RawMessage, error) {
				var p mcp.ElicitParams
				if err := json.Unmarshal(params, &p); err != nil {
					return nil, err
				}
				return json.RawMessage(`{"action":"accept","content":{"n":` + p.Message + `}}`), nil
			},
		})
		r, err := c.CallTool(t.Context(), "x", nil)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := r.Content[0].(*mcp.TextContent)
		if want := []string{`"n":0`, `"n":1`, `"n":2`}; !slices.IsSortedFunc(want, func(a, b string) int {
			return strings.Index(text.Text, a) - strings.Index(text.Text, b)
		}) || strings.Count(text.Text, "accept") != 3 {
			t.Errorf("the answers are %s", text.Text)
		}
	})
}

// A call does not wait forever for a client that does not come back.
func TestClientThatDoesNotComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		s := serving(func(ctx context.Context, x *mcp.Exchange) (any, error) {
			_, err := x.Back.Input(ctx, mcp.InputRequest{Key: "a", Method: mcp.MethodRoots})
			ended <- err
			return nil, err
		})
		tr := &mcptest.Transport{Handler: s, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
		b, err := bridge.New(t.Context(), bridge.Options{Parking: bridge.Parking{Time: time.Minute}, Logger: mcptest.Quiet(), Connect: func(ctx context.Context, _ *mcp.Peer, c *client.Options) (*client.Client, error) {
			c.Revisions = []mcp.Revision{mcp.Revision20251125}
			return client.Connect(ctx, tr, c)
		}})
		if err != nil {
			t.Fatal(err)
		}
		c, stop := connect(t, b, modes[2], client.Options{Roots: []*mcp.Root{{URI: "file:///a"}}, NoTasks: true})
		_, err = c.Do(t.Context(), mcp.MethodCallTool, json.RawMessage(`{"name":"x"}`), client.WithInputRequired())
		ask, ok := errors.AsType[*mcp.InputRequired](err)
		if !ok || len(ask.Requests) != 1 {
			t.Fatalf("the error is %v", err)
		}
		select {
		case err := <-ended:
			t.Errorf("the call has ended already: %v", err)
		default:
		}
		pass(2 * time.Minute)
		synctest.Wait()
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "did not come back") {
			t.Errorf("the call ended with %v", err)
		}
		answers := map[string]json.RawMessage{ask.Requests[0].Key: json.RawMessage(`{"roots":[]}`)}
		_, err = c.Do(t.Context(), mcp.MethodCallTool, json.RawMessage(`{"name":"x"}`), client.WithAnswers(answers, ask.State))
		if err == nil || !strings.Contains(err.Error(), "start again") {
			t.Errorf("a late answer: %v", err)
		}
		stop()
		_ = b.Close()
		tr.Wait()
	})
}

// When the server is gone, a session learns why, and clients without one get another
// connection.
func TestServerGone(t *testing.T) {
	for _, front := range modes {
		t.Run(front.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr := &mcptest.Transport{Handler: featured(), Over: mcptest.Lines, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
				b, err := bridge.New(t.Context(), bridge.Options{Logger: mcptest.Quiet(), Connect: func(ctx context.Context, _ *mcp.Peer, c *client.Options) (*client.Client, error) {
					c.Revisions = []mcp.Revision{mcp.Revision20251125}
					return client.Connect(ctx, tr, c)
				}})
				if err != nil {
					t.Fatal(err)
				}
				c, stop := connect(t, b, front, client.Options{})
				if _, err := c.CallTool(t.Context(), "b", nil); err != nil {
					t.Fatal(err)
				}
				tr.Break()
				synctest.Wait()
				select {
				case <-b.Lost():
				default:
					t.Error("nobody is told that the server is gone")
				}
				_, err = c.CallTool(t.Context(), "b", nil)
				if owned := front == modes[1]; owned != (err != nil) {
					t.Errorf("the next call: %v", err)
				}
				stop()
				_ = b.Close()
				tr.Wait()
			})
		})
	}
}

// A client that cannot be asked gets an error of its own revision, and nothing is
// logged as a mistake.
func TestClientThatCannotBeAsked(t *testing.T) {
	overPairs(t, func(t *testing.T, front, back mcptest.Mode) {
		b := bridged(t, serving(work(new(record))), back)
		c := mcptest.Connect(t, b, front, nil)
		_, err := c.CallTool(t.Context(), "work", nil)
		rpc, ok := errors.AsType[*jsonrpc.Error](err)
		if !ok {
			t.Fatalf("the error is %v", err)
		}
		if missing := rpc.Code == mcp.CodeMissingCapability; missing && !stateless(front) {
			t.Errorf("the code is not one of a session: %v", rpc)
		} else if stateless(front) && stateless(back) && (!missing || !strings.Contains(string(rpc.Data), `"elicitation"`)) {
			t.Errorf("the error does not say what is missing: %v %s", rpc, rpc.Data)
		}
	})
}

// pass lets time pass inside a bubble.
func pass(d time.Duration) { <-time.NewTimer(d).C }
