package mcptest

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// Caller is the client's end of the calls that NewCall makes. Its fields say
// who the client is and what it answers, and must not be changed while a
// handler runs; its methods say what the client was asked and sent, and may be
// called concurrently. The zero value is a client that can be asked everything
// and has no answers.
type Caller struct {
	// Peer is the client: its revision, capabilities and principal. nil means
	// an unauthenticated client of the newest revision that has declared every
	// capability. A question that needs a capability that Peer has not declared
	// fails with an *mcp.MissingCapabilityError, as with a real client.
	Peer *mcp.Peer
	// Session is the session that the calls belong to. nil means none, as in
	// 2026-07-28; mcp.NewSession makes one.
	Session *mcp.Session
	// Meta is the _meta of the request.
	Meta mcp.Meta
	// Answers are the answers to questions, by key; the key of roots is
	// server.RootsKey. A form is answered by any value whose JSON is the form's
	// content, a URL by nil, sampling by a string or an
	// *mcp.CreateMessageResult, roots by a []*mcp.Root. An *mcp.ElicitResult is
	// used as it is. server.ErrDeclined and server.ErrCancelled stand for what
	// the user may do instead, and any other error is an error of the client.
	//
	// A question that has no entry in Answers fails with an *mcp.InputRequired,
	// as for every client that cannot be asked in place. The handler must return
	// it; a test that adds the answer and makes another call plays the next
	// round.
	Answers map[string]any
	// Done holds results that server.Once has from earlier rounds, by key.
	Done map[string]any
	// LogLevel is the lowest level of log messages that the client wants. ""
	// means mcp.LevelDebug, which is all of them.
	LogLevel mcp.LoggingLevel

	mu    sync.Mutex
	calls map[*server.Call]*running
	asked []mcp.InputRequest
	told  []Notification
	ran   []string
	once  map[string]json.RawMessage // results of server.Once, by key
}

// Notification is a notification that a handler sent.
type Notification struct {
	Method string
	// Params are what the handler passed; for the protocol's own notifications,
	// a pointer to one of package mcp's types, such as *mcp.ProgressParams.
	Params any
}

func ableToAll() *mcp.Peer {
	return &mcp.Peer{
		Revision: revision.Newest(nil)[0],
		Info:     mcp.Implementation{Name: "mcptest", Version: "0"},
		Capabilities: mcp.ClientCapabilities{
			Roots:       &mcp.RootsCapability{},
			Sampling:    &mcp.SamplingCapability{Tools: &mcp.Empty{}, Context: &mcp.Empty{}},
			Elicitation: &mcp.ElicitationCapability{Form: &mcp.Empty{}, URL: &mcp.Empty{}},
		},
	}
}

// Asked returns the questions that handlers asked, in order, including those
// without an answer.
func (c *Caller) Asked() []mcp.InputRequest {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.asked)
}

// Ran returns the keys that server.Once has run, in order.
func (c *Caller) Ran() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.ran)
}

// Notified returns all notifications that handlers sent, in order: progress,
// log messages and their own.
func (c *Caller) Notified() []Notification {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.told)
}

// Progress returns the progress that handlers reported. As on a wire, values
// that do not exceed the previous one are left out.
func (c *Caller) Progress() []*mcp.ProgressParams { return paramsOf[*mcp.ProgressParams](c) }

// Logged returns the messages that handlers logged for the client.
func (c *Caller) Logged() []*mcp.LogParams { return paramsOf[*mcp.LogParams](c) }

func paramsOf[T any](c *Caller) []T {
	var list []T
	for _, n := range c.Notified() {
		if params, ok := n.Params.(T); ok {
			list = append(list, params)
		}
	}
	return list
}

// Finish ends a call, as a handler's return does on a server, and returns what
// the handler added to its result: the content of Call.AddContent and the _meta
// of Call.SetResultMeta. It returns nil if a server would have refused that,
// and for a call that is not this caller's.
func (c *Caller) Finish(call *server.Call) *mcp.CallToolResult {
	c.mu.Lock()
	r, ok := c.calls[call]
	c.mu.Unlock()
	if !ok {
		return nil
	}
	r.end()
	<-r.finished
	return r.result
}

func (c *Caller) begin(call *server.Call, r *running) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil {
		c.calls = make(map[*server.Call]*running)
	}
	c.calls[call] = r
}
