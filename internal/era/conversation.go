package era

import (
	"context"
	"errors"

	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Conversation is the exchange of messages between one client and the server on
// one connection, or in one session: it decides what happens to each message that
// comes in. Transports carry bytes to and from it, and own the goroutines.
// It is safe for concurrent use.
type Conversation struct {
	handler   mcp.Handler
	opts      mcp.ServeOptions
	decoder   *jsonrpc.Decoder
	session   *Session
	stateless *Stateless // nil if no stateless requests come this way
	inflight  inFlight
	seen      *tap.Conn
}

// NewConversation returns a conversation whose session waits for initialize.
// stateless serves the stateless requests; it is nil where only messages of the
// session come. standing takes what belongs to no request, and seen observes the
// connection.
func NewConversation(h mcp.Handler, opts mcp.ServeOptions, stateless *Stateless, standing Out, seen *tap.Conn) *Conversation {
	opts = WithDefaults(&opts)
	return &Conversation{handler: h, opts: opts, decoder: Decoder(opts), session: NewSession(h, opts, standing, seen), stateless: stateless, seen: seen}
}

// Delivery says how a message came, and how to proceed with it.
type Delivery struct {
	// Out takes the answer and what precedes it. It may be nil for messages that
	// are not answered: notifications and responses.
	Out Out
	// Sender is who sent the message.
	Sender Sender
	// Start runs r.Serve, on a goroutine of the transport if need be. It
	// reports false when nothing more is served; then it does not run r.Serve.
	Start func(r *Request) bool
	// Queue runs functions that serve notifications, one after the other.
	// If it is nil, they run at once.
	Queue func(serve func())
}

// Decode reads a frame that holds one message. The results are arguments of Receive.
func (c *Conversation) Decode(frame []byte) (*jsonrpc.Message, error) {
	return c.decoder.Decode(frame)
}

// Receive serves one message; bad is the error of its decoding. Messages that
// change the state of the session have been served when it returns; others may
// have been handed to Start or Queue.
func (c *Conversation) Receive(ctx context.Context, m *jsonrpc.Message, bad error, d *Delivery) {
	switch {
	case bad != nil:
		if c.Malformed(ctx, m, bad) {
			c.Refuse(ctx, m.ID, bad, d.Out)
		}
	case Inline(m):
		c.front(ctx, m).Receive(ctx, m, d.Out, d.Sender)
	case m.Kind == jsonrpc.Request:
		c.request(ctx, m, d)
	case c.inflight.notice(m, c.seen, c.opts.Logger):
	case d.Queue == nil:
		c.front(ctx, m).Receive(ctx, m, nil, d.Sender)
	default:
		sender := d.Sender
		d.Queue(func() { c.front(ctx, m).Receive(ctx, m, nil, sender) })
	}
}

func (c *Conversation) request(ctx context.Context, m *jsonrpc.Message, d *Delivery) {
	r, err := c.Admit(ctx, m, d.Out)
	switch {
	case err != nil:
		c.Refuse(ctx, m.ID, err, d.Out)
	case !d.Start(r):
		r.Drop()
	}
}

// Malformed handles a message that could not be read, and reports whether it may
// be answered. A notification may not. The ID of a response was chosen by this
// side: the question it belongs to fails.
//
// Spec: 2025-11-25 basic#notifications.
func (c *Conversation) Malformed(ctx context.Context, m *jsonrpc.Message, bad error) (answer bool) {
	switch m.Kind {
	case jsonrpc.Notification:
		c.opts.Logger.WarnContext(ctx, "notification ignored", "method", m.Method, "reason", bad)
		c.seen.Drop(mcp.Received, mcp.DropMalformed, m.Method, bad)
		return false
	case jsonrpc.Response:
		c.opts.Logger.WarnContext(ctx, "malformed answer of the client", "id", m.ID, "reason", bad)
		c.seen.Drop(mcp.Received, mcp.DropMalformed, "", bad)
		failed := jsonrpc.Errorf(jsonrpc.CodeInternalError, "the client sent a malformed answer: %v", bad)
		c.session.calls.Resolve(jsonrpc.NewError(m.ID, failed)) // if it belongs to one
		return false
	case jsonrpc.Request:
	}
	return true
}

// Refuse answers a message that is not served, or a frame whose ID could not
// be read, with an error. The conversation goes on.
func (c *Conversation) Refuse(ctx context.Context, id jsonrpc.ID, reason error, out Out) {
	var rpc *jsonrpc.Error
	if !errors.As(reason, &rpc) {
		rpc = jsonrpc.Errorf(jsonrpc.CodeInternalError, "internal error")
	}
	c.opts.Logger.WarnContext(ctx, "message refused", "reason", rpc.Message)
	frame, err := c.encodeRefusal(ctx, id, rpc)
	if err != nil {
		return // cannot happen: only an error's data may fail to encode, and these have none
	}
	if err := out.Answer(ctx, frame, &Failure{Error: rpc, Malformed: true}); err != nil { // the reader notices that the client has gone
		c.seen.DropFrame(mcp.Sent, tap.ReasonOf(err), "", frame, err)
	}
}

// encodeRefusal omits an unknown id where the revision's schema requires that, and
// writes null, as JSON-RPC does, in earlier revisions.
//
// Spec: 2026-07-28 basic#error-responses.
func (c *Conversation) encodeRefusal(ctx context.Context, id jsonrpc.ID, rpc *jsonrpc.Error) ([]byte, error) {
	if id.IsZero() && c.facts(ctx).ErrorWithoutID {
		return jsonrpc.AppendNoID(nil, rpc)
	}
	return jsonrpc.Append(nil, jsonrpc.NewError(id, rpc))
}

// front is what serves the messages of one era.
type front interface {
	Receive(context.Context, *jsonrpc.Message, Out, Sender)
}

func (c *Conversation) front(ctx context.Context, m *jsonrpc.Message) front {
	switch {
	case c.stateless == nil:
		return c.session
	case IsStateless(m), m.Kind == jsonrpc.Notification && m.Method != mcp.NoteInitialized && c.facts(ctx).Stateless:
		return c.stateless
	}
	return c.session
}

// facts returns the facts to apply to a message that names no revision, such as a
// notification of the stateless era: those of the session's revision, or, without
// a session, of the newest that the server speaks.
func (c *Conversation) facts(ctx context.Context) *revision.Facts {
	if f := c.session.Facts(); f != nil {
		return f
	}
	if newest := revision.Newest(Revisions(ctx, c.handler, c.opts.Logger)); len(newest) > 0 {
		return revision.Of(newest[0])
	}
	return revision.Of(revision.Newest(nil)[0])
}

// Facts returns the facts of the session's revision, or nil before initialize.
func (c *Conversation) Facts() *revision.Facts { return c.session.Facts() }

// Cancel ends all requests with a cause, including those that are admitted later.
func (c *Conversation) Cancel(cause error) { c.inflight.cancelAll(cause) }

// CancelListens ends the subscriptions, which never end by themselves.
func (c *Conversation) CancelListens() { c.inflight.cancelListens() }

// Close ends the session: questions to the client fail with the cause, and no
// change is sent after it has returned. Requests go on; see Cancel.
func (c *Conversation) Close(cause error) { c.session.Close(cause) }
