package streamable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// take processes what the server sent in response to a call: a message, or an array
// of messages, which servers of 2025-03-26 may send. It returns the answer to the
// call if that was among them, or why there will be none.
//
// Spec: 2025-03-26 basic/transports#sending-messages-to-the-server (6).
func (c *conn) take(call *call, data []byte) (*jsonrpc.Message, error) {
	call.answer, call.failed = nil, nil
	c.inbound.Take(data, call)
	if call.answer != nil {
		return call.answer, nil
	}
	return nil, call.failed
}

var _ era.Pending = (*call)(nil)

// Resolve implements era.Pending. An error without an ID answers the call, too: the
// POST contained nothing else.
func (call *call) Resolve(m *jsonrpc.Message) bool {
	if call.m == nil || m.ID != call.m.ID && !(m.ID.IsZero() && m.Error != nil) {
		return false
	}
	m.ID = call.m.ID
	call.answer = m
	return true
}

// Late implements era.Pending: the stream of a call ends with the call.
func (*call) Late(jsonrpc.ID) bool { return false }

// Fail implements era.Pending. A message whose ID cannot be read may have been the
// answer, so it fails the call.
func (call *call) Fail(id jsonrpc.ID, err error) bool {
	if call.m == nil || !id.IsZero() && id != call.m.ID {
		return false
	}
	call.failed = err
	return true
}

// Undelivered implements era.Pending: the call fails at once, since the server may
// wait for the answer before it goes on.
func (call *call) Undelivered(err error) {
	if call.flight != nil && call.conn.ctx.Err() == nil {
		call.flight.cancel(&undeliveredError{err})
	}
}

// undeliveredError says that a call was given up because the server did not take the
// answer to a question that belongs to it.
type undeliveredError struct{ why error }

func (e *undeliveredError) Error() string {
	return "the server did not take the answer to its question: " + e.why.Error()
}

func (e *undeliveredError) Unwrap() error { return e.why }

// EndListen implements era.Pending.
func (call *call) EndListen(id jsonrpc.ID) bool {
	if call.m == nil || call.m.Method != mcp.MethodListen || id != call.m.ID {
		return false
	}
	call.answer = &jsonrpc.Message{Kind: jsonrpc.Response, ID: id, Result: json.RawMessage("{}")}
	return true
}

// Answers implements era.Pending: in the stateless era servers send no
// requests, and a client must not answer.
//
// Spec: 2026-07-28 basic/transports/streamable-http#sending-messages (4).
// Spec: 2025-11-25 basic/transports#sending-messages-to-the-server (6).
func (call *call) Answers() bool { return !call.stateless }

// Context implements era.Pending.
func (call *call) Context() context.Context {
	if call.m == nil {
		return call.conn.ctx
	}
	return flightContext{Context: call.conn.ctx, caller: call.ctx}
}

// inbox returns the era.Inbound for the server's messages.
func (c *conn) inbox(receiver mcp.Receiver) era.Inbound {
	return era.Inbound{
		Receiver: receiver, Decoder: jsonrpc.Decoder{MaxBytes: c.opts.MaxMessageBytes},
		Reply:  c.reply,
		Seen:   c.seen,
		Go:     c.spawn, // ends with the answer, or with the connection
		Refuse: c.refuse,
		Complain: func(message string, args ...any) {
			c.opts.Logger.Warn(message, append(args, "server", c.opts.Name())...)
		},
	}
}

// refuse queues f, which posts a refusal. It reports false when the queue is full
// or the connection has ended.
func (c *conn) refuse(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.ended && c.refusals.TryAdd(f)
}

// reply posts the answers to the server's requests.
func (c *conn) reply(frame []byte) error {
	err := c.deliver(c.ctx, &call{m: &jsonrpc.Message{Kind: jsonrpc.Response}, frame: frame})
	if err != nil && c.ctx.Err() == nil {
		c.opts.Logger.Warn("answer not delivered", "server", c.opts.Name(), "error", err)
	}
	return err
}

// assigned stores the identifier of the session that the server has opened. That
// happens before the answer is read, since messages that precede it are part of
// the session already.
//
// Spec: 2025-11-25 basic/transports#session-management (1).
func (c *conn) assigned(session string) error {
	for i := range len(session) {
		if session[i] <= ' ' || session[i] > '~' {
			return fmt.Errorf("the server assigned the malformed session ID %q", session)
		}
	}
	c.seen.SetSession(session)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session = session
	return nil
}

// initialized processes the outcome of initialize: it stores the session's revision
// or discards the session, and falls back to HTTP+SSE if the refusal looks like
// that of such a server.
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
	if !c.mayBeOlder(call, m, err) {
		return m, err
	}
	older, failed := c.fallBack(ctx, call)
	switch {
	case failed == nil:
		return older, nil
	case m != nil:
		return m, err // the first refusal is the one to act on
	}
	return nil, fmt.Errorf("%w (and it does not speak HTTP+SSE either: %v)", err, failed) //nolint:errorlint // as above
}

// mayBeOlder reports whether a server that has refused initialize may be one of
// HTTP+SSE: it has answered with a 4xx, with or without an error in the body. Not so
// if that is an error of the stateless era, or the status is about something else.
//
// Spec: 2025-11-25 basic/transports#backwards-compatibility.
// Spec: 2025-06-18 basic/transports#backwards-compatibility.
// Spec: 2026-07-28 basic/transports/streamable-http#http-sse-transport-2024-11-05.
func (c *conn) mayBeOlder(call *call, m *jsonrpc.Message, err error) bool {
	c.mu.Lock()
	tried := c.older
	c.older = true
	c.mu.Unlock()
	if tried || c.opts.NoSSEFallback {
		return false
	}
	if m != nil {
		return call.status/100 == 4 && m.Error != nil && !era.Modern(m.Error)
	}
	var refused *HTTPError
	return errors.As(err, &refused) && refused.Status/100 == 4 && !errors.Is(err, mcp.ErrUnauthorized) && !errors.Is(err, mcp.ErrUnavailable)
}
