package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// asking returns a server that asks its client for a form.
func asking(heard *record) mcp.Handler {
	s := server.New(mcp.Implementation{Name: "asking", Version: "1"}, &server.Options{
		Logger: mcptest.Quiet(), Announce: server.Features{Tools: true}, ToolRate: mcp.Rate{PerSecond: 1e6, Burst: 1e6},
	})
	s.Use(func(mcp.ServeFunc) mcp.ServeFunc { return ask(heard) })
	return s
}

func ask(heard *record) mcp.ServeFunc {
	return func(ctx context.Context, x *mcp.Exchange) (any, error) {
		if x.ID.IsZero() {
			return nil, nil
		}
		answers, err := x.Back.Input(ctx, mcp.InputRequest{Key: "who", Method: mcp.MethodElicit, Params: json.RawMessage(form)})
		if err != nil {
			heard.say("given up: %v", err)
			return nil, err
		}
		heard.say("answered: %s", answers[0])
		return json.RawMessage(`{"content":[]}`), nil
	}
}

// apart asks a bridge as a client without a session.
func apart(b *bridge.Bridge, principal string, answers map[string]json.RawMessage, state json.RawMessage) (any, error) {
	return b.Serve(context.Background(), &mcp.Exchange{
		ID: jsonrpc.IntID(1), Method: mcp.MethodCallTool, Params: json.RawMessage(params + "}"), Back: askLater{},
		Peer: mcp.Peer{Revision: mcp.Revision20260728, Principal: principal, Capabilities: *everything()}, Answers: answers, State: state,
	})
}

// Clients that never come back with an answer keep a bounded number of calls open: each
// of them only so many, and no client those of another.
func TestNobodyComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard record
		b := sharedBy(t, asking(&heard), modes[0], bridge.SharePrincipal)
		leave := func(principal string) (json.RawMessage, error) {
			_, err := apart(b, principal, nil, nil)
			ask, ok := errors.AsType[*mcp.InputRequired](err)
			if !ok {
				return nil, err
			}
			return ask.State, nil
		}
		first, err := leave("Ann")
		if err != nil {
			t.Fatal(err)
		}
		for range 149 {
			if _, err := leave("Ann"); err != nil {
				t.Fatal(err)
			}
		}
		if n := b.Parked(); n != 100 {
			t.Errorf("%d calls of Ann wait, want 100", n)
		}
		synctest.Wait()
		heard.mu.Lock()
		if n := len(heard.list); n != 50 {
			t.Errorf("the server was told of %d calls that were given up, want 50", n)
		}
		heard.mu.Unlock()
		if _, err := apart(b, "Ann", nil, first); err == nil || !strings.Contains(err.Error(), "does not wait for this answer any more") {
			t.Errorf("the call that waited the longest: %v", err)
		}
		for i := range 9 * 100 {
			if _, err := leave(strings.Repeat("B", 1+i/100)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := leave("Carl"); err == nil || !strings.Contains(err.Error(), "1000 calls wait for answers already") {
			t.Errorf("over the limit: %v", err)
		}
		<-time.NewTimer(2 * time.Minute).C
		state, err := leave("Carl")
		if n := b.Parked(); err != nil || n != 1000 {
			t.Errorf("%d calls wait, error %v: none was given up that has waited for long", n, err)
		}
		answer := json.RawMessage(`{"action":"decline"}`)
		if _, err := apart(b, "Carl", map[string]json.RawMessage{"question-1": answer}, state); err != nil {
			t.Errorf("coming back: %v", err)
		}
		<-time.NewTimer(15 * time.Minute).C
		synctest.Wait()
		if n := b.Parked(); n != 0 {
			t.Errorf("%d calls wait after their time", n)
		}
		_ = b.Close()
	})
}

// The bounds are those of the options, and errors name what they are called there.
func TestParking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := boundBy(t, asking(new(record)), modes[0], bridge.Options{
			Share: bridge.SharePrincipal, Parking: bridge.Parking{Calls: 3, Each: 2, Time: 5 * time.Minute, Setting: "backends.b.parked"},
		})
		var first json.RawMessage
		for i, principal := range []string{"Ann", "Ann", "Ann", "Bob"} {
			_, err := apart(b, principal, nil, nil)
			ask, ok := errors.AsType[*mcp.InputRequired](err)
			if !ok {
				t.Fatal(err)
			}
			if i == 0 {
				first = ask.State
			}
		}
		if n := b.Parked(); n != 3 {
			t.Errorf("%d calls wait, want 2 of Ann and 1 of Bob", n)
		}
		if _, err := apart(b, "Carl", nil, nil); err == nil || !strings.Contains(err.Error(), "3 calls wait for answers already, and there can be no more (backends.b.parked.calls); try again later") {
			t.Errorf("a call too many: %v", err)
		}
		if _, err := apart(b, "Ann", nil, first); err == nil || !strings.Contains(err.Error(), "longer than 5m0s (backends.b.parked.time)") || !strings.Contains(err.Error(), "2 of a client can wait (backends.b.parked.each); start again") {
			t.Errorf("the call that made room: %v", err)
		}
		<-time.NewTimer(5 * time.Minute).C
		synctest.Wait()
		if n := b.Parked(); n != 0 {
			t.Errorf("%d calls wait after their time", n)
		}
	})
}

// A client that goes away before it is told of a question leaves nothing behind.
func TestGoneBeforeTheQuestion(t *testing.T) {
	var heard record
	b := bridged(t, asking(&heard), modes[0])
	c := mcptest.Connect(t, b, modes[3], &client.Options{Capabilities: everything(), Answer: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
		return nil, errors.New("nobody is there")
	}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Do(ctx, mcp.MethodCallTool, json.RawMessage(params+"}"), client.WithInputRequired()); err == nil {
		t.Error("the call succeeded")
	}
	if n := b.Parked(); n != 0 {
		t.Errorf("%d calls wait", n)
	}
}

// askLater is the way back to a client without a session, which has to come back.
type askLater struct{ mcp.Backchannel }

func (askLater) LogEnabled(mcp.LoggingLevel) bool          { return false }
func (askLater) Notify(context.Context, string, any) error { return nil }
func (askLater) Input(_ context.Context, questions ...mcp.InputRequest) ([]json.RawMessage, error) {
	return nil, &mcp.InputRequired{Requests: questions}
}
