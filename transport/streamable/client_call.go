package streamable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/parley-mcp/parley/internal/sse"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// call is one message on its way, or what the stream that belongs to none is
// read for: then m is nil.
type call struct {
	m         *jsonrpc.Message
	ctx       context.Context //nolint:containedctx // its caller's: the server's questions that belong to it have its values
	frame     []byte
	stateless bool
	version   string // stateless: its own
	name      string // what Mcp-Name says
	named     bool
	meta      json.RawMessage
	session   string // the session it was sent in

	// What came of it, on which connection.
	conn   *conn
	answer *jsonrpc.Message
	failed error
}

// newCall reads out of a message what goes into headers. Whether it carries a
// protocol version of its own decides its era.
func newCall(m *jsonrpc.Message) (*call, error) {
	frame, err := jsonrpc.Append(nil, m)
	if err != nil {
		return nil, err
	}
	c := &call{m: m, frame: frame}
	// Append has found the params valid.
	c.meta = wire.Find(m.Params, "_meta")
	if version := wire.Find(c.meta, mcp.MetaProtocolVersion); version != nil {
		c.stateless = true
		c.version, _ = wire.Text(version) // what is no string is the server's to refuse
	}
	if name := named(m); name != nil {
		c.name, c.named = wire.Text(name)
	}
	return c, nil
}

// headerOf returns the header of a call's POST. It remembers in the call what
// session it is part of.
//
// Spec: 2026-07-28 basic/transports/streamable-http#request-metadata.
// Spec: 2025-11-25 basic/transports#protocol-version-header.
func (c *conn) headerOf(call *call) http.Header {
	h := c.postHeader.Clone()
	session, version, stateless := c.place(call)
	switch {
	case call.stateless:
		c.standardHeader(h, call, call.version)
	case call.m.Method == mcp.MethodInitialize:
		// It opens the session that the others are part of.
	case version == "" && session == "" && stateless != "":
		// A notification of the stateless era, which defines none.
		c.standardHeader(h, call, stateless)
	default:
		call.session = session
		sessionHeader(h, session, version)
	}
	return h
}

// place returns where the connection is when a call is made, and notes what
// the call changes of it: the session, its version, and the version of the
// last stateless request.
func (c *conn) place(call *call) (session, version, stateless string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case call.stateless:
		c.stateless = call.version
	case call.m.Method == mcp.MethodInitialize:
		c.stateless = ""
	}
	return c.session, c.version, c.stateless
}

// standardHeader says in headers what a message of the stateless era says.
//
// Spec: 2026-07-28 basic/transports/streamable-http#standard-request-headers.
func (c *conn) standardHeader(h http.Header, call *call, version string) {
	fieldVersion.set(h, version)
	fieldMethod.set(h, call.m.Method)
	if call.named {
		fieldName.set(h, encodeHeader(call.name))
	}
	if call.m.Method == mcp.MethodCallTool && call.stateless {
		c.tools.mirror(h, call)
	}
}

// sessionHeader says what session a request is part of, and its version; ""
// is none.
//
// Spec: 2025-11-25 basic/transports#session-management (2).
func sessionHeader(h http.Header, session, version string) {
	if session != "" {
		fieldSession.set(h, session)
	}
	if version != "" {
		fieldVersion.set(h, version)
	}
}

// roundTrip posts a request and returns its answer.
func (c *conn) roundTrip(ctx context.Context, call *call) (*jsonrpc.Message, error) {
	call.conn, call.ctx = c, ctx
	f := c.begin(ctx)
	resp, err := c.do(f.ctx, http.MethodPost, call.frame, c.headerOf(call)) //nolint:contextcheck // the flight ends with ctx
	if err != nil {
		defer f.over()
		return nil, f.reason(err)
	}
	if resp.StatusCode/100 != 2 {
		defer f.landed(resp.Body)
		return c.refused(f, call, resp)
	}
	if call.m.Method == mcp.MethodInitialize {
		if err := c.assigned(fieldSession.get(resp.Header)); err != nil {
			defer f.over()
			_ = resp.Body.Close() // what is in it is not wanted
			return nil, err
		}
	}
	return c.answer(f, call, resp) //nolint:contextcheck // the server's questions outlive the call
}

// answer reads the answer out of a successful response.
//
// Spec: 2026-07-28 basic/transports/streamable-http#sending-messages (6).
func (c *conn) answer(f *flight, call *call, resp *http.Response) (*jsonrpc.Message, error) {
	kind := mediaType(resp)
	if resp.StatusCode == http.StatusOK && kind == sse.ContentType {
		return c.stream(f, call, resp.Body)
	}
	if resp.StatusCode != http.StatusOK || kind != "application/json" {
		defer f.landed(resp.Body)
		return nil, c.noAnswer(resp)
	}
	body, err := readBody(resp.Body, resp.ContentLength, c.opts.MaxMessageBytes)
	if err != nil {
		defer f.landed(resp.Body)
		return nil, f.reason(err)
	}
	show(resp, body)
	f.arrived(resp.Body)
	m, err := c.take(call, body)
	if m == nil && err == nil {
		err = fmt.Errorf("the server sent something that is no answer to request %s", call.m.ID)
	}
	return m, err
}

// noAnswer says what is wrong with a successful response that is neither JSON
// nor an event stream.
func (c *conn) noAnswer(resp *http.Response) error {
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answered %d %s, which carries no answer", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	head, _ := readBody(resp.Body, 64, 64) // for the message; what is missing does not matter
	return fmt.Errorf("the server sent %q, neither JSON nor an event stream; is %q an MCP endpoint? It begins %q",
		resp.Header.Get("Content-Type"), c.opts.Name(), head[:min(len(head), 64)])
}

// refused makes the answer out of a response that is no success: the error
// in its body, or an error of this side's.
//
// Spec: 2026-07-28 basic/transports/streamable-http#backward-compatibility.
// Spec: 2025-11-25 basic/transports#session-management (3).
func (c *conn) refused(f *flight, call *call, resp *http.Response) (*jsonrpc.Message, error) {
	body, err := readBody(resp.Body, resp.ContentLength, maxErrorBody)
	if err != nil && f.ctx.Err() != nil {
		return nil, f.reason(err)
	}
	show(resp, body)
	m := c.rpcError(body)
	switch status := resp.StatusCode; {
	case call.session != "" && forgets(status, call, m):
		return nil, c.lose()
	case m == nil || status == http.StatusUnauthorized || status == http.StatusForbidden:
		return nil, httpError(resp, body)
	}
	m.ID = call.m.ID
	return m, nil
}

// forgets reports whether a refusal of a request means that the server does
// not know the session that the request named. refusal is its body, nil if
// that is no message.
//
// Spec: 2025-11-25 basic/transports#session-management (3).
func forgets(status int, request *call, refusal *jsonrpc.Message) bool {
	switch {
	case status == http.StatusNotFound:
		// Only the request itself can have an unknown method.
		return refusal == nil || request == nil || request.m.Kind == jsonrpc.Response || refusal.ID != request.m.ID || refusal.Error.Code != jsonrpc.CodeMethodNotFound
	case status != http.StatusBadRequest || refusal == nil || !refusal.ID.IsZero() || refusal.Error.Code != codeTypeScript:
		return false
	}
	// Servers made after the examples of the TypeScript SDK say it like this.
	words := strings.ToLower(refusal.Error.Message)
	return strings.Contains(words, "session") || strings.Contains(words, "not initialized")
}

// codeTypeScript is what the TypeScript SDK says when nothing else fits.
const codeTypeScript = -32000

// rpcError returns the error response in a body, or nil.
func (c *conn) rpcError(body []byte) *jsonrpc.Message {
	m, err := c.inbound.Decoder.Decode(body)
	if err != nil || m.Kind != jsonrpc.Response || m.Error == nil {
		return nil
	}
	return m
}

// deliver posts a message that has no answer.
func (c *conn) deliver(ctx context.Context, call *call) error {
	f := c.begin(ctx)
	resp, err := c.do(f.ctx, http.MethodPost, call.frame, c.headerOf(call)) //nolint:bodyclose,contextcheck // landed closes it; the flight ends with ctx
	if err != nil {
		defer f.over()
		return f.reason(err)
	}
	defer f.landed(resp.Body)
	if resp.StatusCode/100 == 2 {
		return nil
	}
	m, err := c.refused(f, call, resp)
	if err != nil {
		return err
	}
	return m.Error
}

// callStateless makes a call of the stateless era. Closing its stream is what
// cancels it.
//
// Spec: 2026-07-28 basic/transports/streamable-http#cancellation.
func (c *conn) callStateless(ctx context.Context, call *call) (*jsonrpc.Message, error) {
	m, err := c.roundTrip(ctx, call)
	if err != nil {
		return nil, err
	}
	switch {
	case call.m.Method == mcp.MethodCallTool && m.Error != nil && m.Error.Code == mcp.CodeHeaderMismatch:
		return c.callAgain(ctx, call, m)
	case call.m.Method == mcp.MethodListTools && m.Error == nil:
		m.Result = c.tools.learn(m.Result, c.opts.Logger)
	}
	return m, nil
}

// callSession makes a call within a session, or opens one.
func (c *conn) callSession(ctx context.Context, call *call) (*jsonrpc.Message, error) {
	m, err := c.roundTrip(ctx, call)
	if call.m.Method == mcp.MethodInitialize {
		return c.initialized(ctx, call, m, err)
	}
	// A disconnection does not cancel here.
	// Spec: 2025-11-25 basic/transports#sending-messages-to-the-server (6).
	if err != nil && ctx.Err() != nil {
		c.withdraw(call, err) //nolint:contextcheck // the call's own has ended
	}
	return m, err
}

// withdraw tells the server that an answer is no longer wanted. It does not
// hold up the caller.
func (c *conn) withdraw(request *call, why error) {
	m, err := jsonrpc.NewNotification(mcp.NoteCancelled, &mcp.CancelledParams{RequestID: request.m.ID, Reason: why.Error()})
	if err != nil {
		return
	}
	note, err := newCall(m)
	if err != nil {
		return
	}
	c.spawnFarewell(func() { // ends with the POST, after CloseTimeout at the latest, or with the connection
		ctx, cancel := context.WithTimeoutCause(c.ctx, c.opts.CloseTimeout, errors.New("the server did not take it in time"))
		defer cancel()
		if err := c.deliver(ctx, note); err != nil {
			c.opts.Logger.Debug("cancellation not delivered", "server", c.opts.Name(), "error", err)
			c.seen.DropFrame(mcp.Sent, tap.ReasonOf(err), mcp.NoteCancelled, note.frame, err)
		}
	})
}
