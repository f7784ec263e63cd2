package streamable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/parley-mcp/parley/internal/marked"
	"github.com/parley-mcp/parley/internal/sse"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// call is a message that is being sent, and for a request what came of it. The
// standing stream, which belongs to no message, is read for a call whose m is nil.
type call struct {
	m         *jsonrpc.Message
	ctx       context.Context //nolint:containedctx // the caller's; the server's questions during the call get its values
	frame     []byte
	stateless bool
	version   string // of a stateless message
	name      string // the value of Mcp-Name
	named     bool   // whether there is one
	meta      json.RawMessage
	session   string // the session it was sent in
	status    int    // of the response to it, if that was a refusal

	// The connection, and the answer or the reason why there is none.
	conn   *conn
	flight *flight // nil before it is sent
	answer *jsonrpc.Message
	failed error
}

// newCall encodes a message and extracts what goes into headers. The message is of
// the stateless era if it carries a protocol version of its own.
func newCall(m *jsonrpc.Message) (*call, error) {
	frame, err := jsonrpc.Append(nil, m)
	if err != nil {
		return nil, err
	}
	c := &call{m: m, frame: frame}
	// Append has checked that the params are valid JSON.
	c.meta = wire.Find(m.Params, "_meta")
	if version := wire.Find(c.meta, mcp.MetaProtocolVersion); version != nil {
		c.stateless = true
		c.version, _ = wire.Text(version) // the server refuses a version that is not a string
	}
	if name := named(m); name != nil {
		c.name, c.named = wire.Text(name)
	}
	return c, nil
}

// headerOf returns the header of a call's POST, and sets the session of a call
// that is part of one.
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
		// It opens the session, so it names none.
	case version == "" && session == "" && stateless != "":
		// A notification without a version of its own, on a connection that has
		// carried only stateless requests.
		c.standardHeader(h, call, stateless)
	default:
		call.session = session
		sessionHeader(h, session, version)
	}
	return h
}

// place returns the state of the connection for a call: the session, its version,
// and the version of the last stateless request. The call updates the latter.
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

// standardHeader sets the headers that mirror a message of the stateless era.
//
// Spec: 2026-07-28 basic/transports/streamable-http#standard-request-headers.
func (c *conn) standardHeader(h http.Header, call *call, version string) {
	fieldVersion.set(h, version)
	fieldMethod.set(h, call.m.Method)
	if call.named {
		fieldName.set(h, encodeHeader(call.name))
	}
	c.tools.mirror(h, call)
}

// sessionHeader sets the headers that name the session and its version, except
// those that are "".
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
	if err := c.tools.check(call); err != nil {
		return nil, err
	}
	call.conn, call.ctx = c, ctx
	f := c.begin(ctx)
	call.flight = f
	resp, err := c.do(f.ctx, http.MethodPost, call.frame, c.headerOf(call)) //nolint:contextcheck // the flight ends with ctx
	if err != nil {
		defer f.over()
		return nil, f.reason(unreachable(err))
	}
	if resp.StatusCode/100 != 2 {
		defer f.landed(resp.Body)
		return c.refused(f, call, resp)
	}
	if call.m.Method == mcp.MethodInitialize {
		if err := c.assigned(fieldSession.get(resp.Header)); err != nil {
			defer f.over()
			_ = resp.Body.Close() // its content does not matter
			return nil, err
		}
	}
	return c.answer(f, call, resp) //nolint:contextcheck // the server's questions outlive the call
}

// answer reads the answer from a successful response.
//
// Spec: 2026-07-28 basic/transports/streamable-http#sending-messages (6).
func (c *conn) answer(f *flight, call *call, resp *http.Response) (*jsonrpc.Message, error) {
	kind := mediaType(resp)
	if kind == sse.ContentType { // whatever the 2xx: some servers say 202
		return c.stream(f, call, resp.Body)
	}
	if resp.StatusCode == http.StatusAccepted || resp.StatusCode == http.StatusNoContent || kind != "application/json" {
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
		err = fmt.Errorf("the server sent something that is not an answer to request %s", call.m.ID)
	}
	return m, err
}

// noAnswer says what is wrong with a successful response that is neither JSON
// nor an event stream.
func (c *conn) noAnswer(resp *http.Response) error {
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answered %d %s, which carries no answer", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	head, _ := readBody(resp.Body, 64, 64) // only to quote it; a part is enough
	kind := "without a Content-Type"
	if stated := resp.Header.Get("Content-Type"); stated != "" {
		kind = fmt.Sprintf("of the Content-Type %.100q", stated)
	}
	return marked.As(mcp.ErrNotMCP, fmt.Errorf("the server sent a body %s, neither JSON nor an event stream, which begins %q; is %q an MCP endpoint?",
		kind, head[:min(len(head), 64)], c.opts.Name()))
}

// unreachable makes an error of sending a request match mcp.ErrUnavailable: the server
// has not answered at all.
func unreachable(err error) error { return marked.As(mcp.ErrUnavailable, err) }

// refused handles a response whose status is not a success. It returns the error
// response in the body as the answer, or otherwise an error of the client's own.
//
// Spec: 2026-07-28 basic/transports/streamable-http#backward-compatibility.
// Spec: 2025-11-25 basic/transports#session-management (3).
func (c *conn) refused(f *flight, call *call, resp *http.Response) (*jsonrpc.Message, error) {
	body, err := readBody(resp.Body, resp.ContentLength, maxErrorBody)
	if err != nil && f.ctx.Err() != nil {
		return nil, f.reason(err)
	}
	show(resp, body)
	call.status = resp.StatusCode
	m := c.rpcError(body)
	switch status := resp.StatusCode; {
	case call.session != "" && forgets(status, call, m):
		return nil, c.lose()
	case m == nil || status == http.StatusUnauthorized || status == http.StatusForbidden:
		return nil, httpError(resp, body)
	case status >= http.StatusInternalServerError && call.m.Method == mcp.MethodDiscover:
		// A probe must not take a server in trouble for one without the method.
		// Spec: 2026-07-28 basic/versioning#compatibility-matrix.
		return nil, httpError(resp, body)
	}
	m.ID = call.m.ID
	return m, nil
}

// forgets reports whether a refusal means that the server does not know the session
// that the request named. refusal is the error response in the body, or nil;
// request is nil for a GET.
//
// Spec: 2025-11-25 basic/transports#session-management (3).
func forgets(status int, request *call, refusal *jsonrpc.Message) bool {
	switch {
	case status == http.StatusNotFound:
		// Unless it is the method of the request that is not found.
		return refusal == nil || request == nil || request.m.Kind == jsonrpc.Response || refusal.ID != request.m.ID || refusal.Error.Code != jsonrpc.CodeMethodNotFound
	case status != http.StatusBadRequest || refusal == nil || !refusal.ID.IsZero() || refusal.Error.Code != codeTypeScript:
		return false
	}
	// This is the wording of servers modelled on the TypeScript SDK's examples.
	words := strings.ToLower(refusal.Error.Message)
	return strings.Contains(words, "session") || strings.Contains(words, "not initialized")
}

// codeTypeScript is the code that the TypeScript SDK uses when no other fits.
const codeTypeScript = -32000

// rpcError returns the error response in a body, or nil.
func (c *conn) rpcError(body []byte) *jsonrpc.Message {
	m, err := c.inbound.Decoder.Decode(body)
	if err != nil || m.Kind != jsonrpc.Response || m.Error == nil {
		return nil
	}
	return m
}

// deliver posts a message that gets no answer.
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

// callStateless makes a call of the stateless era, which is cancelled by closing
// its stream.
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
	// In a session a disconnection does not cancel a request.
	// Spec: 2025-11-25 basic/transports#sending-messages-to-the-server (6).
	_, undelivered := errors.AsType[*undeliveredError](err)
	if undelivered || err != nil && ctx.Err() != nil {
		c.withdraw(call, err) //nolint:contextcheck // the call's context has ended
	}
	return m, err
}

// withdraw tells the server that an answer is no longer wanted. It does not block.
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
		ctx, cancel := context.WithTimeoutCause(c.ctx, c.opts.CloseTimeout, errors.New("the server did not accept the cancellation in time"))
		defer cancel()
		if err := c.deliver(ctx, note); err != nil {
			c.opts.Logger.Debug("cancellation not delivered", "server", c.opts.Name(), "error", err)
			c.seen.DropFrame(mcp.Sent, tap.ReasonOf(err), mcp.NoteCancelled, note.frame, err)
		}
	})
}
