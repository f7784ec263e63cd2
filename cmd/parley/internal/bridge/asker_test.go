package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// caller is a client of a bridge over HTTP that says who it is when it is asked something.
type caller struct {
	b     *bridge.Bridge
	name  string
	peer  mcp.Peer
	heard heard
}

// callerOf returns a client that can be asked, in a session of its own or without any.
func callerOf(b *bridge.Bridge, name, principal string, stateless bool) *caller {
	c := &caller{b: b, name: name, peer: mcp.Peer{Revision: mcp.Revision20251125, Principal: principal, Source: "192.0.2.1", Capabilities: *everything(), SessionID: name, Info: mcp.Implementation{Name: name, Version: "1"}}}
	if stateless {
		c.peer.Revision, c.peer.SessionID = mcp.Revision20260728, ""
	}
	return c
}

func (c *caller) answer() json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"action":"accept","content":{"name":%q}}`, c.name))
}

// LogEnabled implements mcp.Backchannel.
func (c *caller) LogEnabled(mcp.LoggingLevel) bool { return false }

// Notify implements mcp.Backchannel.
func (c *caller) Notify(context.Context, string, any) error { return nil }

// Input implements mcp.Backchannel: who is in a session answers, and others come back.
func (c *caller) Input(_ context.Context, questions ...mcp.InputRequest) (answers []json.RawMessage, err error) {
	if c.peer.SessionID == "" {
		return nil, &mcp.InputRequired{Requests: questions}
	}
	c.heard.add(string(questions[0].Params.(json.RawMessage)))
	return []json.RawMessage{c.answer()}, nil
}

// Once implements mcp.Backchannel.
func (c *caller) Once(context.Context, string, func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
	return nil, errors.ErrUnsupported
}

// send makes a call, or goes on with one that asks.
func (c *caller) send(ctx context.Context, tool string, ask *mcp.InputRequired) (string, error) {
	x := &mcp.Exchange{
		ID: jsonrpc.IntID(1), Method: mcp.MethodCallTool, Params: json.RawMessage(fmt.Sprintf(`{"name":%q,"arguments":{}}`, tool)),
		Back: c, Peer: c.peer, Header: func(string) []string { return nil },
	}
	if ask != nil {
		x.State, x.Answers = ask.State, map[string]json.RawMessage{ask.Requests[0].Key: c.answer()}
	}
	result, err := c.b.Serve(ctx, x)
	raw, _ := result.(json.RawMessage)
	return string(raw), err
}

// asks makes a call that has to ask first.
func (c *caller) asks(t *testing.T) *mcp.InputRequired {
	t.Helper()
	_, err := c.send(t.Context(), "ask", nil)
	ask, ok := errors.AsType[*mcp.InputRequired](err)
	if !ok {
		t.Fatalf("%s is not asked: %v", c.name, err)
	}
	return ask
}

// call makes a call, and comes back with the answer to a question.
func (c *caller) call(ctx context.Context, tool string) (string, error) {
	result, err := c.send(ctx, tool, nil)
	if ask, ok := errors.AsType[*mcp.InputRequired](err); ok {
		c.heard.add(string(ask.Requests[0].Params.(json.RawMessage)))
		return c.send(ctx, tool, ask)
	}
	return result, err
}

// begin makes a call, whose end it returns a channel for.
func (c *caller) begin(tool string) (end chan string) {
	return during(func() (any, error) { return c.call(context.Background(), tool) })
}

// list asks for the tools.
func (c *caller) list() (end chan string) {
	x := &mcp.Exchange{ID: jsonrpc.IntID(2), Method: mcp.MethodListTools, Back: c, Peer: c.peer, Header: func(string) []string { return nil }}
	return during(func() (any, error) { return c.b.Serve(context.Background(), x) })
}

// during begins what ends later, as the channel says.
func during(f func() (any, error)) (end chan string) {
	end = make(chan string, 1)
	go func() { // ends with f
		result, err := f()
		end <- fmt.Sprint(result, " ", err)
	}()
	synctest.Wait()
	return end
}

// late is a server with tools that ask, that ask once they are told to, and that wait.
type late struct{ ask, end chan struct{} }

func newLate() *late { return &late{make(chan struct{}), make(chan struct{})} }

func (l *late) serve(ctx context.Context, x *mcp.Exchange) (any, error) {
	if x.ID.IsZero() {
		return nil, nil
	}
	wait := l.end
	switch tool := mcp.MethodNamed(x.Method).SubjectOf(x.Params); tool {
	case "ask":
		wait = nil
	case "late":
		wait = l.ask
	}
	if wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if wait == l.end {
		return json.RawMessage(`{"content":[]}`), nil
	}
	answers, err := x.Back.Input(ctx, mcp.InputRequest{Key: "who", Method: mcp.MethodElicit, Params: json.RawMessage(form)})
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: mcp.Contents{}, StructuredContent: answers[0]}, nil
}

// overAskers runs a test for clients with sessions and without, who are one user that has
// logged in or nobody in particular.
func overAskers(t *testing.T, body func(t *testing.T, principal string, stateless bool)) {
	for _, principal := range []string{"ann", ""} {
		for _, stateless := range []bool{false, true} {
			t.Run(fmt.Sprintf("principal %q, stateless %t", principal, stateless), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { body(t, principal, stateless) })
			})
		}
	}
}

// vague are the modes of servers that do not say which call a question belongs to.
var vague = []mcptest.Mode{modes[0], {Revision: mcp.Revision20251125, Transport: mcptest.SSE}}

// A question reaches the client whose call it belongs to, also if another one of the same
// user has made a call since that still runs.
func TestQuestionReachesItsClient(t *testing.T) {
	overAskers(t, func(t *testing.T, principal string, stateless bool) {
		for _, back := range append(vague, modes[1], modes[3]) {
			s := newLate()
			b := sharedBy(t, serving(s.serve), back, bridge.SharePrincipal)
			one, two := callerOf(b, "one", principal, stateless), callerOf(b, "two", principal, stateless)
			asking := one.begin("late")
			waiting := two.begin("sleep")
			want := 1
			if back == vague[0] || back == vague[1] {
				want = 2
			}
			if n, _ := b.Connections(); n != want {
				t.Errorf("to %s, %d connections are open, want %d", back, n, want)
			}
			close(s.ask)
			if got := <-asking; !strings.Contains(got, `"name":"one"`) {
				t.Errorf("to %s, the answer to the question of the first client's call is %s", back, got)
			}
			close(s.end)
			if got := <-waiting; !strings.HasPrefix(got, `{"content":[]`) {
				t.Errorf("to %s, the other call ends with %s", back, got)
			}
			if first, second := one.heard.String(), two.heard.String(); first == "" || second != "" {
				t.Errorf("to %s, whose call asks hears %q, and the other %q", back, first, second)
			}
			_ = b.Close()
		}
	})
}

// Calls that run or wait for their clients keep no other client from being asked, and
// each of them gets its own answer.
func TestAskedAtTheSameTime(t *testing.T) {
	for _, back := range vague {
		overAskers(t, func(t *testing.T, principal string, stateless bool) {
			s := newLate()
			b := sharedBy(t, serving(s.serve), back, bridge.SharePrincipal)
			waiting := callerOf(b, "waiting", principal, stateless).begin("sleep")
			var parked []*mcp.InputRequired
			for i := range 5 {
				if c := callerOf(b, fmt.Sprint(i), principal, stateless); stateless {
					parked = append(parked, c.asks(t))
				} else if got, err := c.call(t.Context(), "ask"); err != nil || !strings.Contains(got, fmt.Sprintf(`"name":"%d"`, i)) {
					t.Errorf("client %d gets %s, error %v", i, got, err)
				}
			}
			for i, ask := range parked {
				if got, err := callerOf(b, fmt.Sprint(i), principal, true).send(t.Context(), "ask", ask); err != nil || !strings.Contains(got, fmt.Sprintf(`"name":"%d"`, i)) {
					t.Errorf("client %d gets %s, error %v", i, got, err)
				}
			}
			close(s.end)
			<-waiting
			_ = b.Close()
		})
	}
}

// A connection that a call had for itself is used again, and closed when it is idle while
// there is another.
func TestConnectionsAreGivenBack(t *testing.T) {
	overAskers(t, func(t *testing.T, principal string, stateless bool) {
		s := newLate()
		b := sharedBy(t, serving(s.serve), modes[0], bridge.SharePrincipal)
		expect := func(open, used int) {
			t.Helper()
			if n, inUse := b.Connections(); n != open || inUse != used {
				t.Errorf("%d connections are open and %d of them in use, want %d and %d", n, inUse, open, used)
			}
		}
		one := callerOf(b, "one", principal, stateless).begin("sleep")
		two := callerOf(b, "two", principal, stateless).begin("sleep")
		expect(2, 2)
		close(s.end)
		<-one
		<-two
		synctest.Wait()
		expect(2, 0)
		for i := range 100 {
			if _, err := callerOf(b, fmt.Sprint(i), principal, stateless).call(t.Context(), "ask"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		expect(2, 0)
		pass(90 * time.Second)
		expect(1, 0)
		_ = b.Close()
	})
}

// Calls that nobody can be asked about, and those of one session, share a connection.
func TestOnlyAskersAreKeptApart(t *testing.T) {
	overAskers(t, func(t *testing.T, principal string, stateless bool) {
		s := newLate()
		b := sharedBy(t, serving(s.serve), modes[0], bridge.SharePrincipal)
		var ends []chan string
		for i := range 5 {
			c := callerOf(b, fmt.Sprint(i), principal, stateless)
			c.peer.Capabilities = mcp.ClientCapabilities{}
			ends = append(ends, c.begin("sleep"))
		}
		if n, _ := b.Connections(); n != 1 {
			t.Errorf("clients that cannot be asked have %d connections, want 1", n)
		}
		if asker := callerOf(b, "asker", principal, false); !stateless {
			ends = append(ends, asker.begin("sleep"), asker.begin("sleep"))
			if got, err := asker.call(t.Context(), "ask"); err != nil || !strings.Contains(got, `"name":"asker"`) {
				t.Errorf("a session that has other calls under way gets %s, error %v", got, err)
			}
			if n, _ := b.Connections(); n != 2 {
				t.Errorf("with one session that can be asked, there are %d connections, want 2", n)
			}
		}
		close(s.end)
		for _, end := range ends {
			<-end
		}
		_ = b.Close()
	})
}

// A call for which there can be no connection of its own waits for one, not for ever; and
// one whose client has not come back for long makes room.
func TestAskersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := boundBy(t, serving(newLate().serve), modes[0], bridge.Options{
			Share: bridge.SharePrincipal, MaxConnections: 2, MaxConnectionsBy: "backends.b.max_connections",
		})
		is := func(name string) *caller { return callerOf(b, name, "", true) }
		first := is("one").asks(t)
		is("two").asks(t)
		began := time.Now()
		const bound = "all 2 connections are in use (backends.b.max_connections)"
		if _, err := is("three").send(t.Context(), "ask", nil); err == nil || !strings.Contains(err.Error(), bound) || time.Since(began) != 10*time.Second {
			t.Errorf("after %s, a call too many ends with %v; want %q after 10s", time.Since(began), err, bound)
		}
		third := is("three").begin("ask")
		if got, err := is("one").send(t.Context(), "ask", first); err != nil {
			t.Errorf("the first call gets %s, error %v", got, err)
		}
		if got := <-third; !strings.Contains(got, `"name":"three"`) {
			t.Errorf("the call that has waited for a connection gets %s", got)
		}
		is("four").asks(t)
		pass(2 * time.Minute)
		is("five").asks(t)
		if n, used := b.Connections(); n != 2 || used != 2 {
			t.Errorf("%d connections are open and %d in use, want 2", n, used)
		}
		_ = b.Close()
	})
}

// Clients that come before it is known how the server is are kept apart if need be.
func TestAskersBeforeTheFirstConnection(t *testing.T) {
	for back, want := range map[mcptest.Mode]int{vague[0]: 2, modes[1]: 1} {
		overAskers(t, func(t *testing.T, principal string, stateless bool) {
			s := newLate()
			tr := &mcptest.Transport{Handler: serving(s.serve), Over: back.Transport, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
			ready := make(chan struct{})
			b, err := bridge.New(t.Context(), bridge.Options{Share: bridge.SharePrincipal, OnDemand: true, Logger: mcptest.Quiet(), Connect: func(ctx context.Context, _ *mcp.Peer, c *client.Options) (*client.Client, error) {
				<-ready
				c.Revisions = []mcp.Revision{back.Revision}
				return client.Connect(ctx, tr, c)
			}})
			if err != nil {
				t.Fatal(err)
			}
			one, two := callerOf(b, "one", principal, stateless), callerOf(b, "two", principal, stateless)
			asking, waiting := one.begin("late"), two.begin("sleep")
			close(ready)
			synctest.Wait()
			if n, _ := b.Connections(); n != want {
				t.Errorf("to %s, %d connections are open, want %d", back, n, want)
			}
			close(s.ask)
			if got := <-asking; !strings.Contains(got, `"name":"one"`) {
				t.Errorf("to %s, the first client's call gets %s", back, got)
			}
			close(s.end)
			<-waiting
			_ = b.Close()
			tr.Wait()
		})
	}
}

// Calls of one client stay together where a server may remember something, also those that
// overlap, and those after one that was given up.
func TestCallsOfOneClientStayTogether(t *testing.T) {
	overAskers(t, func(t *testing.T, principal string, stateless bool) {
		s := newLate()
		b := sharedBy(t, serving(s.serve), modes[0], bridge.SharePrincipal)
		c := callerOf(b, "one", principal, stateless)
		ctx, giveUp := context.WithCancel(t.Context())
		left := during(func() (any, error) { return c.call(ctx, "sleep") })
		giveUp()
		<-left
		first, second := c.begin("sleep"), c.begin("sleep")
		if n, _ := b.Connections(); n != 1 {
			t.Errorf("%d connections are open, want 1", n)
		}
		close(s.end)
		<-first
		<-second
		_ = b.Close()
	})
}
