// Package client calls MCP servers: any server, of any released revision, over any
// transport. A Client finds out by itself which revision its server speaks, answers
// the server's questions through the functions in Options, and is safe for
// concurrent use.
//
//	c, err := client.Connect(ctx, &stdio.Command{Args: []string{"parley", "serve", "--stdio"}}, nil)
//	…
//	defer c.Close()
//	sum, err := client.Call[float64](ctx, c, "calculate", map[string]any{"expression": "2 + 3 * 4"})
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-mcp/parley/internal/content"
	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/rates"
	"github.com/parley-mcp/parley/internal/serial"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Client is a connection to one server. When the server goes away, the client
// reconnects if the era allows it. Close ends it.
type Client struct {
	transport mcp.Transport
	seen      *tap.Conn // for messages that are on no connection
	opts      Options
	self      era.Self
	rules     content.Rules // for what the application gives the client to send
	cache     *scopedCache  // nil when off
	call      atomic.Pointer[CallFunc]
	chain     chain

	ctx  context.Context //nolint:containedctx // the client's lifetime: ended by Close
	end  context.CancelCauseFunc
	work sync.WaitGroup // keep-alive and subscriptions

	watchdogs watchdogs  // of the calls in flight
	dialing   sync.Mutex // held while a connection is made
	mu        sync.Mutex
	live      *live
	dials     []time.Time // of the last minute

	tokens   atomic.Int64
	progress sync.Map // mcp.ProgressToken → *notes
	asking   atomic.Int64
	answered atomic.Int64  // Unix nanoseconds of the last answer to a question
	pause    func() func() // stops the clock of calls while this side answers a question
	events   serial.Queue  // log messages and unknown notifications

	tools   toolbook
	elicits *rates.Keyed[struct{}]
	samples *rates.Keyed[struct{}]
	subs    subscriptions
	follows follows
	visits  visits
	rootsMu sync.Mutex
	roots   []*mcp.Root
	level   atomic.Pointer[mcp.LoggingLevel]
}

// Connect connects to a server and finds out which revision it speaks. ctx bounds
// only this, not the lifetime of the client. opts may be nil. When Connect fails,
// nothing is left running.
func Connect(ctx context.Context, t mcp.Transport, opts *Options) (*Client, error) {
	o := opts.withDefaults()
	caps, err := o.capabilities()
	if err == nil && t == nil {
		err = errors.New("client.Connect: the transport is nil")
	}
	if err != nil {
		return nil, err
	}
	rules := content.Rules{Extensions: caps.Extensions}
	caps = o.withTasks(caps)
	if err := checkRoots(o.Roots, rules); err != nil {
		return nil, err
	}
	if err := rules.Described("", o.Info.Icons, nil, nil); err != nil {
		return nil, fmt.Errorf("Options.Info: %w", err)
	}
	c := &Client{transport: t, seen: tap.New(o.Tap, o.Drops, mcp.ClientSide), opts: o, rules: rules, self: era.Self{Info: o.Info, Capabilities: caps}, roots: o.Roots}
	c.elicits = rates.New[struct{}](o.ElicitRate, defaultElicitRate)
	c.samples = rates.New[struct{}](o.SampleRate, defaultSampleRate)
	c.events.Limit = 4096
	c.pause = (*answers)(c).thinking
	if !o.NoCache {
		c.cache = o.Cache.scope(t.Name())
	}
	if (o.Log != nil || o.Notification != nil) && o.LogLevel != "" {
		c.level.Store(&o.LogLevel)
	}
	c.ctx, c.end = context.WithCancelCause(context.Background())
	context.AfterFunc(c.ctx, func() { c.watchdogs.end(context.Cause(c.ctx)) }) //nolint:contextcheck // c.ctx is the client's own
	c.chain.init(c)
	if _, err := c.connected(ctx); err != nil {
		c.end(ErrClosed)
		return nil, err
	}
	if c.opts.KeepAlive > 0 {
		c.spawn(c.keepAlive) // ends with c.ctx
	}
	return c, nil
}

// Close ends the connection and everything that belongs to the client, and waits
// until all of it has ended. Calls in flight fail. It may be called more than once.
func (c *Client) Close() error {
	c.mu.Lock()
	c.end(ErrClosed)
	c.mu.Unlock()
	c.dialing.Lock()
	c.mu.Lock()
	l := c.live
	c.live = nil
	c.mu.Unlock()
	c.dialing.Unlock()
	var err error
	if l != nil {
		err = l.conn.Close()
	}
	c.work.Wait()
	c.events.Wait()
	return err
}

// spawn starts a goroutine that must end with the client, and that Close waits for.
// It reports false when the client is closed.
func (c *Client) spawn(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return false
	}
	c.work.Go(f)
	return true
}

// Done returns a channel that is closed when the client has ended: by Close, or
// because its session was lost for good. That is noticed at once when the connection
// itself ends, as over standard input and output, where the process exits; over
// HTTP it takes a call, or Options.KeepAlive. In the stateless era nothing is lost with
// a connection: the next call or an open subscription connects again, within
// Options.MaxRestarts, and only if that forbids it does the client end.
func (c *Client) Done() <-chan struct{} { return c.ctx.Done() }

// Err returns why the client has ended, or nil if it has not.
func (c *Client) Err() error {
	if c.ctx.Err() == nil {
		return nil
	}
	return context.Cause(c.ctx)
}

// current returns the current connection, or a zero one after Close.
func (c *Client) current() *live {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live == nil {
		return &live{}
	}
	return c.live
}

// Revision returns the revision that was negotiated.
func (c *Client) Revision() mcp.Revision { return c.current().revision }

// ServerInfo returns how the server names itself.
func (c *Client) ServerInfo() mcp.Implementation { return c.current().offered().info }

// ServerCapabilities returns what the server offers, as far as it has said so until
// now: in the stateless era its answer to server/discover may be of limited duration.
// Then the client asks anew before it makes the next call.
func (c *Client) ServerCapabilities() mcp.ServerCapabilities { return c.current().offered().caps }

// Instructions returns the server's instructions for its use, meant for a model.
func (c *Client) Instructions() string { return c.current().offered().instructions }

// ServerRevisions returns the revisions that the server says it speaks: all of
// them in the stateless era, the session's own otherwise.
func (c *Client) ServerRevisions() []string { return c.current().offered().supported }

var _ era.Complainer = (*receiver)(nil)

// receiver takes what the server of one connection sends besides answers.
type receiver struct {
	c *Client
	l *live
}

func (r *receiver) Notification(ctx context.Context, m *jsonrpc.Message) {
	show(r.l.seen, mcp.Received, m)
	if reason := r.c.notified(ctx, m); reason != 0 {
		r.l.seen.Drop(mcp.Received, reason, m.Method, nil)
		level := slog.LevelDebug // it came too late, or nobody wants it, which is nobody's fault
		if reason == mcp.DropMalformed || reason == mcp.DropNoSubscription {
			level = slog.LevelWarn
		}
		r.c.opts.Logger.Log(ctx, level, "notification of the server dropped", "server", r.c.transport.Name(), "method", m.Method, "reason", reason.Explain())
	}
}

// Complain implements era.Complainer.
func (r *receiver) Complain(message string, args ...any) {
	r.c.opts.Logger.Warn(message, append(args, "server", r.c.transport.Name())...)
}

// Request answers a question of a session. In the stateless era servers send
// none, and a client must not answer.
//
// Spec: 2026-07-28 basic/transports/stdio#sending-messages.
func (r *receiver) Request(ctx context.Context, m *jsonrpc.Message) (any, *jsonrpc.Error) {
	show(r.l.seen, mcp.Received, m)
	result, refusal := r.answer(ctx, m)
	showAnswer(r.l.seen, m.ID, result, refusal)
	return result, refusal
}

func (r *receiver) answer(ctx context.Context, m *jsonrpc.Message) (any, *jsonrpc.Error) {
	r.c.mu.Lock()
	session, begun := r.l.session, r.c.live == r.l
	r.c.mu.Unlock()
	// A server with sessions may ping before its client has found out that it
	// has them.
	// Spec: 2025-11-25 basic/lifecycle#initialization.
	if session == nil && !begun && m.Method == mcp.MethodPing && era.Propose(r.c.opts.Revisions).Err == nil {
		return struct{}{}, nil
	}
	if session == nil {
		r.c.opts.Logger.Warn("request of a server that must not send any", "method", m.Method)
		r.l.seen.Drop(mcp.Received, mcp.DropNotAllowed, m.Method, nil)
		return nil, nil
	}
	ctx, over := r.c.answering(ctx, m)
	defer over()
	return session.Answer(ctx, m)
}

// notified handles one notification. It returns 0, or the reason why a notification
// was dropped: this one, or an older one that this one replaces. It runs on the
// reading goroutine, so it only queues.
func (c *Client) notified(ctx context.Context, m *jsonrpc.Message) mcp.DropReason {
	switch m.Method {
	case mcp.NoteProgress:
		return c.progressed(m)
	case mcp.NoteMessage:
		if c.taken(ctx, m) {
			return 0
		}
		return c.logged(m)
	case mcp.NoteAcknowledged:
		return c.subs.acknowledged(ctx, m)
	case mcp.NoteElicitationComplete:
		reason := c.visits.complete(m)
		if reason == mcp.DropNoCall && c.told(ctx, m) == 0 { // the application sees to the visit
			reason = 0
		}
		return reason
	case mcp.NoteCancelled:
		c.cancelled(m)
		return 0
	}
	return c.told(ctx, m)
}

// told handles a notification that announces a change, or that this package does
// not know.
func (c *Client) told(ctx context.Context, m *jsonrpc.Message) mcp.DropReason {
	if m.Method == mcp.NoteTask || m.Method == mcp.NoteTaskStatus {
		return c.taskChanged(ctx, m)
	}
	d := mcp.MethodNamed(m.Method)
	if d == nil || d.Change == 0 {
		if c.taken(ctx, m) {
			return 0
		}
		return c.unknown(m)
	}
	change := mcp.Change{Kind: d.Change}
	if change.Kind == mcp.ResourceUpdated {
		var p mcp.ResourceUpdatedParams
		if unmarshal(m.Params, &p) != nil {
			return mcp.DropMalformed
		}
		change.URI = p.URI
	}
	return c.changed(ctx, m, change)
}

func (c *Client) unknown(m *jsonrpc.Message) mcp.DropReason {
	if c.opts.Notification == nil {
		return mcp.DropNoTaker
	}
	method, params := m.Method, append(json.RawMessage(nil), m.Params...)
	c.events.Add(func() { c.opts.Notification(c.ctx, method, params) })
	return 0
}
