package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// program returns one of the programs of a principal, which all declare something else.
func program(principal string, n int) mcp.Peer {
	c := *everything()
	c.Extensions = map[string]json.RawMessage{"com.example/x": json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))}
	return mcp.Peer{Revision: mcp.Revision20260728, Principal: principal, Capabilities: c}
}

// calls has a program call a tool.
func calls(ctx context.Context, b *bridge.Bridge, peer mcp.Peer, tool string) (string, error) {
	x := &mcp.Exchange{ID: jsonrpc.IntID(1), Method: mcp.MethodCallTool, Params: json.RawMessage(fmt.Sprintf(`{"name":%q,"arguments":{}}`, tool)), Back: askLater{}, Peer: peer}
	result, err := b.Serve(ctx, x)
	raw, _ := result.(json.RawMessage)
	return string(raw), err
}

// occupy makes calls of different programs of a principal until one fails, each of which
// keeps a connection busy, and returns how many those are, and why there are no more.
func occupy(b *bridge.Bridge, principal string) (n int, err error) {
	for {
		_, err = calls(context.Background(), b, program(principal, n), "work")
		if _, asked := errors.AsType[*mcp.InputRequired](err); !asked {
			return n, err
		}
		n++
	}
}

// However many connections a principal wants, as many are left for others; and whoever has
// none gets one as long as there is any.
func TestNobodyTakesAllConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := boundBy(t, asking(new(record)), modes[0], bridge.Options{
			Share: bridge.SharePrincipal, OnDemand: true, MaxConnections: 10, MaxConnectionsBy: "backends.b.max_connections",
		})
		for _, of := range []struct {
			principal string
			gets      int
			why       string
		}{
			{"Eve", 5, "you have 5 of 10 connections (backends.b.max_connections) in use, and the others are kept for other users; try again when some of your"},
			{"Mallory", 3, "you have 3 of 10 connections"},
			{"Ann", 1, "you have 1 of 10 connections"},
			{"Bob", 1, "all 10 connections are in use (backends.b.max_connections); try again later"},
		} {
			n, err := occupy(b, of.principal)
			if n != of.gets || err == nil || !strings.Contains(err.Error(), of.why) {
				t.Errorf("%s gets %d connections and then the error %v; want %d, and %q", of.principal, n, err, of.gets, of.why)
			}
		}
		_ = b.Close()
	})
}

// Where nobody is logged in, there is nobody to leave a connection to.
func TestTheOnlyUserHasAllConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := boundBy(t, asking(new(record)), modes[0], bridge.Options{Share: bridge.SharePrincipal, OnDemand: true, MaxConnections: 10})
		if n, err := occupy(b, ""); n != 10 || err == nil || !strings.Contains(err.Error(), "all 10 connections are in use; try again later") {
			t.Errorf("%d connections, and then the error %v", n, err)
		}
		_ = b.Close()
	})
}

// A connection that is idle makes room; first one of whoever has the most.
func TestIdleConnectionsOfWhoHasMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Int64
		b := processes(t, &open, bridge.Options{Share: bridge.SharePrincipal, OnDemand: true, MaxConnections: 4})
		expect := func(peer mcp.Peer, want string) {
			t.Helper()
			if got, err := calls(t.Context(), b, peer, "count"); err != nil || !strings.Contains(got, want) {
				t.Errorf("%s counts %s, error %v; want %s", peer.Principal, got, err, want)
			}
		}
		expect(program("Ann", 0), `"text":"1"`)
		for n := range 10 {
			expect(program("Eve", n), `"text":"1"`)
		}
		expect(program("Eve", 9), `"text":"2"`)
		expect(program("Ann", 0), `"text":"2"`)
		synctest.Wait()
		if n := open.Load(); n != 4 {
			t.Errorf("%d connections are open, want 4", n)
		}
		_ = b.Close()
	})
}

// slowly returns a bridge to a server that is connected to for ever, and counts the
// attempts that are going on.
func slowly(t *testing.T, o bridge.Options) (b *bridge.Bridge, attempts *atomic.Int64) {
	t.Helper()
	attempts = new(atomic.Int64)
	o.OnDemand, o.Logger = true, mcptest.Quiet()
	o.Connect = func(ctx context.Context, _ *mcp.Peer, _ *client.Options) (*client.Client, error) {
		attempts.Add(1)
		defer attempts.Add(-1)
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	b, err := bridge.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return b, attempts
}

// leaves has a program make a call, and give up on it while the server is connected to.
func leaves(t *testing.T, b *bridge.Bridge, peer mcp.Peer) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { // ends with the call
		_, err := calls(ctx, b, peer, "count")
		ended <- err
	}()
	synctest.Wait()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v", err)
	}
}

// Clients that do not wait until the server is connected to leave no more attempts behind
// than there may be connections.
func TestConnectingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, attempts := slowly(t, bridge.Options{Share: bridge.SharePrincipal, MaxConnections: 2})
		for n := range 10 {
			leaves(t, b, program("Eve", n))
		}
		synctest.Wait()
		if n := attempts.Load(); n != 2 {
			t.Errorf("%d attempts to connect are going on, want 2", n)
		}
		_ = b.Close()
	})
}

// What a session has left under way when it ended opens no connection for it any more.
func TestEndedSessionGetsNoConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Int64
		b := processes(t, &open, bridge.Options{OnDemand: true, Replace: true})
		session := mcp.Peer{Revision: mcp.Revision20251125, SessionID: "one"}
		if _, err := calls(t.Context(), b, session, "count"); err != nil {
			t.Fatal(err)
		}
		b.Over(&session)
		if _, err := calls(t.Context(), b, session, "count"); err == nil || !strings.Contains(err.Error(), "the session has ended") {
			t.Errorf("a call of a session that has ended: %v", err)
		}
		synctest.Wait()
		if n, _ := b.Connections(); n != 0 || open.Load() != 0 {
			t.Errorf("%d connections are known and %d open, of no session", n, open.Load())
		}
		other := mcp.Peer{Revision: mcp.Revision20251125, SessionID: "two"}
		if _, err := calls(t.Context(), b, other, "count"); err != nil {
			t.Errorf("a call of another session: %v", err)
		}
		_ = b.Close()
	})
}

// A connection that is still being made when its session ends is given up.
func TestEndedSessionDoesNotConnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, attempts := slowly(t, bridge.Options{})
		for n := range 10 {
			session := mcp.Peer{Revision: mcp.Revision20251125, SessionID: fmt.Sprint(n)}
			leaves(t, b, session)
			b.Over(&session)
		}
		synctest.Wait()
		if n := attempts.Load(); n != 0 {
			t.Errorf("%d attempts to connect are going on for sessions that have ended", n)
		}
		_ = b.Close()
	})
}

// The sessions that are remembered because they have ended are bounded.
func TestEndedSessionsAreForgotten(t *testing.T) {
	b, _ := slowly(t, bridge.Options{})
	for n := range 3 * bridge.MaxGone {
		b.Over(&mcp.Peer{Revision: mcp.Revision20251125, SessionID: fmt.Sprint(n / 2)})
	}
	if n := b.Gone(); n != bridge.MaxGone {
		t.Errorf("%d sessions are remembered, want %d", n, bridge.MaxGone)
	}
	_ = b.Close()
}

// A connection that is made while the bridge closes is closed, too.
func TestConnectedTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b *bridge.Bridge
		var late *client.Client
		tr := &mcptest.Transport{Handler: newServer(), Over: mcptest.Lines, Serve: &mcp.ServeOptions{Logger: mcptest.Quiet()}}
		b, err := bridge.New(t.Context(), bridge.Options{OnDemand: true, Logger: mcptest.Quiet(), Connect: func(ctx context.Context, _ *mcp.Peer, o *client.Options) (_ *client.Client, err error) {
			late, err = client.Connect(ctx, tr, o)
			_ = b.Close()
			return late, err
		}})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Look(t.Context()); err == nil || !strings.Contains(err.Error(), "the bridge is closed") {
			t.Errorf("looking at the server ended with %v", err)
		}
		select {
		case <-late.Done():
		default:
			t.Error("the connection is open")
		}
		tr.Wait()
	})
}
