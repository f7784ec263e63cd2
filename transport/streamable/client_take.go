package streamable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// take takes what the server sent: a message, or an array of them, which
// servers of 2025-03-26 may send. It returns the answer to the call if that
// was in it; call is nil on a stream that belongs to none.
//
// Spec: 2025-03-26 basic/transports#sending-messages-to-the-server (6).
func (c *conn) take(call *call, data []byte) (*jsonrpc.Message, error) {
	if !jsonrpc.IsBatch(data) {
		m, err := c.decoder.Decode(data)
		return c.message(call, m, err)
	}
	entries, err := c.decoder.DecodeBatch(data)
	if err != nil {
		return c.message(call, &jsonrpc.Message{}, err)
	}
	var answer *jsonrpc.Message
	for _, e := range entries {
		m, err := c.message(call, e.Message, e.Err)
		if err != nil {
			return nil, err
		}
		if m != nil {
			answer = m
		}
	}
	return answer, nil
}

// message passes a message on, and returns it if it is the answer. bad is the
// error of its decoding.
func (c *conn) message(call *call, m *jsonrpc.Message, bad error) (*jsonrpc.Message, error) {
	switch {
	case m.Kind == jsonrpc.Request && m.Method != "" && !m.ID.IsZero():
		c.question(call, m, bad)
	case bad != nil:
		return nil, c.malformed(call, m, bad)
	case m.Kind == jsonrpc.Response:
		return c.response(call, m), nil
	case c.tornDown(call, m):
		return &jsonrpc.Message{Kind: jsonrpc.Response, ID: call.m.ID, Result: json.RawMessage("{}")}, nil
	case !c.asked.Notice(m):
		c.receiver.Notification(c.contextFor(call), m)
	}
	return nil, nil //nolint:nilnil // no answer yet, and nothing wrong
}

// malformed fails the call whose answer may have been in what could not be
// read. The reason is this side's own, so errors.As must not find an error in
// it that looks like one the server sent.
func (c *conn) malformed(call *call, m *jsonrpc.Message, bad error) error {
	if call == nil || m.Method != "" || !m.ID.IsZero() && m.ID != call.m.ID {
		c.opts.Logger.Warn("malformed message ignored", "server", c.opts.Name(), "error", bad)
		return nil
	}
	return errors.New("the server sent a malformed answer: " + bad.Error())
}

// response returns a response that answers the call. An error without an ID
// is about what was posted, and that was the call alone.
func (c *conn) response(call *call, m *jsonrpc.Message) *jsonrpc.Message {
	if call == nil || m.ID != call.m.ID && !(m.ID.IsZero() && m.Error != nil) {
		c.opts.Logger.Warn("answer to nothing that was asked here", "server", c.opts.Name(), "id", m.ID.String())
		return nil
	}
	m.ID = call.m.ID
	return m
}

// tornDown reports whether a notification ends the subscription whose stream
// it is on. The answer that should follow may never come.
//
// Spec: 2026-07-28 basic/patterns/cancellation#behavior-requirements (2).
func (c *conn) tornDown(call *call, m *jsonrpc.Message) bool {
	if call == nil || call.m.Method != mcp.MethodListen || m.Method != mcp.NoteCancelled {
		return false
	}
	var p mcp.CancelledParams
	return wire.Unmarshal(m.Params, &p) == nil && p.RequestID == call.m.ID
}

// contextFor returns the context of what the server sends beside the answer to
// a call: it ends with the connection, and has the values of the call's.
func (c *conn) contextFor(call *call) context.Context {
	if call == nil {
		return c.ctx
	}
	return flightContext{Context: c.ctx, caller: call.ctx}
}

// maxAsked bounds the server's requests that are answered at a time.
const maxAsked = 256

// question answers a request of the server. In the stateless era there are
// none, and a client must not answer.
//
// Spec: 2026-07-28 basic/transports/streamable-http#sending-messages (4).
// Spec: 2025-11-25 basic/transports#sending-messages-to-the-server (6).
func (c *conn) question(call *call, m *jsonrpc.Message, bad error) {
	if call != nil && call.stateless {
		c.opts.Logger.Warn("request of a server that must not send any", "server", c.opts.Name(), "method", m.Method)
		return
	}
	if bad != nil {
		// Nothing has this method.
		m = &jsonrpc.Message{Kind: jsonrpc.Request, ID: m.ID}
	}
	ctx, err := c.asked.Add(c.contextFor(call), m, maxAsked)
	if err != nil {
		c.opts.Logger.Warn("request of the server not answered", "server", c.opts.Name(), "method", m.Method, "error", err)
		return
	}
	started := c.spawn(func() { // ends with the answer, or with the connection
		defer c.asked.Remove(m.ID)
		if answer := c.reply(ctx, m, bad); answer != nil {
			c.post(answer)
		}
	})
	if !started {
		c.asked.Remove(m.ID)
	}
}

// reply asks the receiver, and returns the response, or nil for none.
//
// Spec: 2025-11-25 basic/utilities/cancellation#behavior-requirements (4).
func (c *conn) reply(ctx context.Context, m *jsonrpc.Message, bad error) *jsonrpc.Message {
	result, rpc := c.receiver.Request(ctx, m)
	switch cause := context.Cause(ctx); {
	case result == nil && rpc == nil:
		return nil
	case errors.Is(cause, era.ErrCancelRequest):
		return jsonrpc.NewError(m.ID, era.Cancelled())
	case cause != nil:
		return nil
	case bad != nil:
		if !errors.As(bad, &rpc) {
			rpc = jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "malformed request")
		}
	}
	if rpc != nil {
		return jsonrpc.NewError(m.ID, rpc)
	}
	answer, err := jsonrpc.NewResult(m.ID, result)
	if err != nil {
		return jsonrpc.NewError(m.ID, jsonrpc.Errorf(jsonrpc.CodeInternalError, "internal error"))
	}
	return answer
}

// post posts the answer to a question.
func (c *conn) post(answer *jsonrpc.Message) {
	call, err := newCall(answer)
	if err == nil {
		err = c.deliver(c.ctx, call)
	}
	if err != nil && c.ctx.Err() == nil {
		c.opts.Logger.Warn("answer not delivered", "server", c.opts.Name(), "error", err)
	}
}

// assigned takes the identifier of the session that a server has opened. What
// it sends before its answer is part of the session already.
//
// Spec: 2025-11-25 basic/transports#session-management (1).
func (c *conn) assigned(session string) error {
	for i := range len(session) {
		if session[i] <= ' ' || session[i] > '~' {
			return fmt.Errorf("the server assigned the malformed session ID %q", session)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session = session
	return nil
}

// initialized takes what came of initialize: the session's revision, a
// refusal, or the news that this is a server of HTTP+SSE.
//
// Spec: 2025-11-25 basic/transports#protocol-version-header.
func (c *conn) initialized(ctx context.Context, call *call, m *jsonrpc.Message, err error) (*jsonrpc.Message, error) {
	var result struct {
		Version string `json:"protocolVersion"`
	}
	if err == nil && m.Error == nil && wire.Unmarshal(m.Result, &result) == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.version = result.Version
		return m, nil
	}
	c.mu.Lock()
	c.session = ""
	c.mu.Unlock()
	var refused *HTTPError
	if errors.As(err, &refused) && !c.opts.NoSSEFallback && olderStatus(refused.Status) {
		return c.fallBack(ctx, call, err)
	}
	return m, err
}

// olderStatus reports whether a server of HTTP+SSE may answer a POST with
// this status.
//
// Spec: 2026-07-28 basic/transports/streamable-http#http-sse-transport-2024-11-05.
func olderStatus(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusNotFound || status == http.StatusMethodNotAllowed
}
