package mcptest

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// NewCall returns a call with which a handler can be tested alone, as a plain
// function, without a server or a client. caller is the client's end: it says
// who the client is and what it answers, and records what it was asked and
// sent. nil stands for new(Caller). The call is valid until the test ends, or
// until caller.Finish.
// caller.Finish.
// The call is a tool call, but also works for the handlers of resources,
// prompts and completions. Progress is not throttled. A second call with the
// same caller is the next round of the first: what server.Once has run is not
// run again.
func NewCall(t testing.TB, caller *Caller) *server.Call {
	t.Helper()
	if caller == nil {
		caller = new(Caller)
	}
	x, err := caller.exchange()
	if err != nil {
		t.Fatalf("mcptest.NewCall: %v", err)
	}
	finish := make(chan struct{})
	r := &running{end: sync.OnceFunc(func() { close(finish) }), finished: make(chan struct{})}
	calls := make(chan *server.Call)
	s := server.New(mcp.Implementation{Name: "mcptest", Version: "0"}, &server.Options{Logger: Quiet(), Logging: true, ProgressInterval: -1})
	s.AddRawTool(mcp.Tool{Name: toolName, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, call *server.Call, _ json.RawMessage) (*mcp.CallToolResult, error) {
		calls <- call
		<-finish
		return &mcp.CallToolResult{}, nil
	})
	var refused error // known when r.finished is closed
	go func() {       // ends with Finish, which the cleanup calls, and which waits for it
		defer close(r.finished)
		result, err := s.Serve(context.Background(), x)
		refused = err
		r.result, _ = result.(*mcp.CallToolResult)
	}()
	select {
	case call := <-calls:
		caller.begin(call, r)
		t.Cleanup(func() {
			caller.Finish(call)
			_ = s.Close(context.Background()) // it waits for jobs as long as that takes
		})
		return call
	case <-r.finished:
		t.Fatalf("mcptest.NewCall: the server refused the call: %v", refused)
		return nil
	}
}

// toolName is the name of the tool that NewCall's exchanges call.
const toolName = "mcptest"

// running is a call that was made by NewCall.
type running struct {
	end      func()        // lets its handler return
	finished chan struct{} // closed when result is set
	result   *mcp.CallToolResult
}

// exchange returns the exchange that a transport would make of the request.
func (c *Caller) exchange() (*mcp.Exchange, error) {
	peer := c.Peer
	if peer == nil {
		peer = ableToAll()
	}
	x := &mcp.Exchange{
		ID: jsonrpc.IntID(1), Method: mcp.MethodCallTool, Params: json.RawMessage(`{"name":"` + toolName + `","arguments":{}}`),
		ProgressToken: jsonrpc.IntID(1), Peer: *peer, Session: c.Session, Back: &back{c, peer},
	}
	if c.Meta != nil {
		meta, err := wire.Marshal(c.Meta)
		if err != nil {
			return nil, err
		}
		x.Meta = meta
	}
	return x, nil
}
