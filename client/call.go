package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/related"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Request is one call as middleware sees it. Middleware may replace Params and
// Meta before it calls the next function, but must not modify what they refer to:
// the caller may use that elsewhere.
type Request struct {
	Method string
	// Params is a JSON object without _meta, or nil.
	Params json.RawMessage
	Meta   mcp.Meta
	// Revision is the revision of the connection.
	Revision mcp.Revision

	opts callOptions
}

// CallOption changes how one call is made.
type CallOption func(*callOptions)

type callOptions struct {
	timeout        time.Duration
	maxTimeout     time.Duration
	progress       bool // ask for progress
	onProgress     func(*mcp.ProgressParams)
	onNotification func(ctx context.Context, method string, params json.RawMessage)
	meta           mcp.Meta
	logLevel       mcp.LoggingLevel
	fresh          bool
	bounded        bool // maxTimeout was asked for by the caller
	wantsTask      bool
	wantsHandle    bool // even if there is no task
	taskTTL        time.Duration
	leavesTask     bool
	onTask         func(*mcp.Task)
	kept           *keptNotes // who takes the notifications of a call that becomes a task
	within         *watchdog  // the call on whose behalf this one is made; nil if it is its own
	handOver       bool
	takesTask      bool
	answers        map[string]json.RawMessage
	state          json.RawMessage
	err            error
}

// WithTimeout bounds how long the call may go without an answer or progress;
// negative means forever. See Options.Timeout.
func WithTimeout(d time.Duration) CallOption { return func(o *callOptions) { o.timeout = d } }

// WithMaxTimeout bounds the call as a whole, progress or not; negative means
// no bound. See Options.MaxTimeout.
func WithMaxTimeout(d time.Duration) CallOption {
	return func(o *callOptions) { o.maxTimeout, o.bounded = d, true }
}

// WithProgress asks the server for progress. f is called for each notification,
// one at a time and in order, and never after the call has returned. When f is
// slower than the server, outdated notifications are skipped. f may be nil: progress
// still extends the call's time limit. For a call that becomes a task and reports no
// progress, as in 2026-07-28, f gets the task's status messages, and Progress counts
// them.
func WithProgress(f func(*mcp.ProgressParams)) CallOption {
	return func(o *callOptions) { o.progress, o.onProgress = true, f }
}

// WithNotifications passes the notifications that belong to the call to f, as the
// server sent them, one at a time, in order, and before the call returns: progress,
// if WithProgress asks for it (its own function may then be nil), log messages, and
// notifications that this package does not know. They go to f instead of the
// functions in Options. OriginOf explains which notifications belong to a call; for
// notifications, a call of any method qualifies. Progress names its call by a token
// that this client chose, and which is in params. ctx is the context of the call. A
// question that belongs to the call is answered only after f has returned for
// everything that came before it. If f falls thousands of notifications behind,
// nothing more is read from the server until it catches up.
func WithNotifications(f func(ctx context.Context, method string, params json.RawMessage)) CallOption {
	return func(o *callOptions) { o.onNotification = f }
}

// WithMeta puts a value into the call's _meta. Keys of your own need a prefix
// such as "com.example/". The call fails when the key is malformed, when the protocol
// reserves it for itself (see mcp.ReservedMeta), and when it has a prefix that is kept
// for official extensions and none with that prefix is declared.
func WithMeta(key string, v any) CallOption {
	return func(o *callOptions) {
		if mcp.ReservedMeta(key) {
			o.err = fmt.Errorf("meta %q: the protocol reserves this key; progress is asked for by WithProgress, and log messages by WithLogLevel", key)
			return
		}
		if err := o.meta.Set(key, v); err != nil && o.err == nil {
			o.err = fmt.Errorf("meta %q: %w", key, err)
		}
	}
}

// WithLogLevel asks for log messages of this call, in the stateless era. In a
// session, use Client.SetLogLevel.
//
// Revision 2026-07-28 deprecates log messages to clients (docs/deprecated.md).
func WithLogLevel(l mcp.LoggingLevel) CallOption { return func(o *callOptions) { o.logLevel = l } }

// WithFresh makes the call reach the server, whatever is in the cache. The result
// is cached like any other.
func WithFresh() CallOption { return func(o *callOptions) { o.fresh = true } }

// WithInputRequired makes the call return the server's questions to the caller, as
// an error that is an *mcp.InputRequired, instead of having the functions in Options
// answer them. The Params of its requests are a json.RawMessage as the server sent
// it, or nil; its State is the server's requestState as a JSON string, or null if
// there is none, and is opaque. The caller continues by making the same call again
// with WithAnswers, here or in another process.
//
// In a session, where a server asks with requests of its own while the call stays
// open, the functions in Options answer, with the context of the call. Only the error
// that requires the user to visit URLs first is returned to the caller, who makes the
// call again afterwards; that a visit is over is then a notification like any other.
//
// Spec: 2025-11-25 client/elicitation#url-elicitation-required-error.
// Spec: 2026-07-28 basic/patterns/mrtr#client-requirements-basic-workflow.
func WithInputRequired() CallOption {
	return func(o *callOptions) { o.handOver = true }
}

// WithTaskTaken says, in the stateless era, that this call may be answered with a task,
// whatever Options.Capabilities declare: then the result of Do has the type
// mcp.ResultTask, and Client.Task goes on with it, given the same option. A gateway
// passes a call on like that whose own client asks for a task in another way. In a
// session it does nothing.
//
// Spec: ext-tasks/draft tasks#capability-negotiation.
func WithTaskTaken() CallOption { return func(o *callOptions) { o.takesTask = true } }

// WithAnswers continues a call that has returned an *mcp.InputRequired: answers are
// the results of its requests by their keys, each a JSON object, and state is its
// State. Method and params must be the same as before. Without answers and state
// this is a first call, so Exchange.Answers and Exchange.State can be passed in as
// they are. In a session it does nothing: the call starts from the beginning.
//
// Spec: 2026-07-28 basic/patterns/mrtr#client-requirements-basic-workflow.
func WithAnswers(answers map[string]json.RawMessage, state json.RawMessage) CallOption {
	return func(o *callOptions) { o.answers, o.state = answers, state }
}

// Do calls any method and returns the raw result. params must encode to a JSON
// object, or be nil. Params and results pass through verbatim, including members
// that this module does not know, their order, and the text of numbers and strings.
//
// Only _meta belongs to the protocol: if params have one, it is sent without the
// reserved keys (mcp.ReservedMeta), which describe this call. Likewise, where a
// server may ask for input, inputResponses and requestState are removed; see
// WithAnswers. The params of an mcp.Exchange can be passed to Do, whatever revisions
// its client and this server speak. In a session an empty nextCursor, with which servers
// end a list, is removed: from 2026-07-28 on it would be a cursor like any other.
func (c *Client) Do(ctx context.Context, method string, params any, opts ...CallOption) (json.RawMessage, error) {
	req, err := c.request(method, params, opts)
	if err != nil {
		return nil, err
	}
	return (*c.call.Load())(ctx, req)
}

func (c *Client) request(method string, params any, opts []CallOption) (*Request, error) {
	req := &Request{Method: method, Revision: c.Revision()}
	req.opts = callOptions{timeout: c.opts.Timeout, maxTimeout: c.opts.MaxTimeout, logLevel: c.logLevel()}
	for _, o := range opts {
		o(&req.opts)
	}
	if req.opts.err != nil {
		return nil, req.opts.err
	}
	if err := c.rules.Meta(req.opts.meta); err != nil {
		return nil, err
	}
	if raw, ok := params.(encoded); ok {
		req.Params, req.Meta = json.RawMessage(raw), req.opts.meta
		return req, nil
	}
	content, meta, err := unwrap(method, params)
	if err != nil {
		return nil, err
	}
	req.Params, req.Meta = content, req.opts.meta
	if meta != nil {
		maps.Copy(meta, req.Meta)
		req.Meta = meta
	}
	return req, nil
}

// encoded are params that are JSON already: an object without _meta.
type encoded json.RawMessage

// unwrap encodes params, and separates their _meta if they have one.
func unwrap(method string, params any) (json.RawMessage, mcp.Meta, error) {
	if params == nil {
		return nil, nil, nil
	}
	raw, err := wire.Marshal(params)
	if err == nil && string(raw) == "null" {
		return nil, nil, nil
	}
	var meta mcp.Meta
	if err == nil {
		raw, meta, err = era.Unwrap(method, raw)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: params: %w", method, err)
	}
	return raw, meta, nil
}

func (c *Client) logLevel() mcp.LoggingLevel {
	if l := c.level.Load(); l != nil {
		return *l
	}
	return ""
}

// send is the end of the middleware chain: it makes the call. A server that does not
// know the session has refused the call without processing it, so the call can be
// repeated in a new session, unless it is for a page of a list that the old one began.
//
// Spec: 2025-11-25 basic/transports#session-management (4).
// Spec: 2025-11-25 server/utilities/pagination#implementation-guidelines (3).
func (c *Client) send(ctx context.Context, req *Request) (json.RawMessage, error) {
	result, err := c.sendOnce(ctx, req)
	if errors.Is(err, mcp.ErrSessionGone) && !isFurtherPage(req) {
		result, err = c.sendOnce(ctx, req)
	}
	return result, err
}

// isFurtherPage reports whether a request is for a page of a list that is not the first.
func isFurtherPage(req *Request) bool {
	m := mcp.MethodNamed(req.Method)
	return m != nil && m.List && hasMember(req.Params, "cursor")
}

func (c *Client) sendOnce(ctx context.Context, req *Request) (json.RawMessage, error) {
	l, err := c.connected(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", req.Method, err)
	}
	if req.opts.within == nil {
		if err := c.declared(ctx, l, req.Method); err != nil {
			return nil, err
		}
	}
	rounds := req.opts.rounds()
	if rounds.Resumes() {
		req.opts.fresh = true
	}
	key, cached := c.cache.get(ctx, req, l.link)
	if cached != nil {
		return cached, nil
	}
	result, reusable, err := c.exchange(ctx, l, req, rounds)
	if err != nil {
		c.cache.refused(req, err)
		return nil, notFound(req.Method, fmt.Errorf("%s: %w", req.Method, err), l.session != nil)
	}
	if req.Method == mcp.MethodDiscover {
		c.rediscovered(l, result)
	}
	if reusable {
		c.cache.put(ctx, key, l.link, result)
	}
	return result, nil
}

// rounds returns which part of the rounds the caller handles itself; nil means none.
func (o *callOptions) rounds() *era.Rounds {
	if !o.handOver && o.answers == nil && o.state == nil {
		return nil
	}
	return &era.Rounds{HandOver: o.handOver, Answers: o.answers, State: o.state}
}

// exchange makes one call under its time watchdog.
func (c *Client) exchange(ctx context.Context, l *live, req *Request, rounds *era.Rounds) (json.RawMessage, bool, error) {
	ctx, watchdog := c.boundCall(ctx, req)
	defer watchdog.stop()
	o := &era.Outgoing{Method: req.Method, Params: req.Params, Meta: req.Meta, LogLevel: req.opts.logLevel, Rounds: rounds, TakesTask: req.opts.takesTask}
	if watchdog.notes != nil {
		o.ProgressToken = watchdog.notes.token
	}
	result, reusable, err := l.call(ctx, o)
	if err != nil && !isAnswer(err) {
		err = c.reason(ctx, l, err)
	}
	if err == nil && req.opts.kept != nil && related.IsTask(result) {
		req.opts.kept.keep(watchdog)
	}
	return result, reusable, err
}

// reason returns why the call was abandoned or the client has ended, if either has
// happened; otherwise err, which may only be a consequence of that.
func (c *Client) reason(ctx context.Context, l *live, err error) error {
	switch {
	case c.ctx.Err() != nil:
		return context.Cause(c.ctx) //nolint:contextcheck // the reason for which the client ended
	case l.final():
		return lostError(l) // the client is about to end for this reason
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return err
}

// isAnswer reports whether an error came from the server.
func isAnswer(err error) bool {
	var rpc *jsonrpc.Error
	return errors.As(err, &rpc)
}

// get makes a call and decodes its result.
func get[T any](ctx context.Context, c *Client, method string, params any, opts []CallOption) (*T, error) {
	raw, err := c.Do(ctx, method, params, opts...)
	if err != nil {
		return nil, err
	}
	return decode[T](c, method, raw)
}

// decode decodes a result, and checks it.
func decode[T any](c *Client, method string, raw json.RawMessage) (*T, error) {
	if err := c.foreign(method, raw); err != nil {
		return nil, err
	}
	if len(raw) == 0 || raw[0] != '{' { // null would decode, too
		return nil, fmt.Errorf("%s: the server sent a malformed result: it must be an object", method)
	}
	result := new(T)
	if err := wire.Unmarshal(raw, result); err != nil {
		return nil, fmt.Errorf("%s: the server sent a malformed result: %w", method, err)
	}
	if err := checkLists(result); err != nil {
		return nil, fmt.Errorf("%s: the server sent a malformed result: %w", method, err)
	}
	c.received(result)
	return result, nil
}

// foreign returns a *ResultTypeError for a result whose type an extension defines.
func (c *Client) foreign(method string, result json.RawMessage) error {
	if len(c.self.Capabilities.Extensions) == 0 || !era.StatelessRevision(c.Revision()) {
		return nil // such a result cannot come
	}
	stated := wire.Find(result, "resultType")
	if stated == nil || wire.Is(stated, mcp.ResultComplete) {
		return nil
	}
	kind, ok := wire.Text(stated)
	if !ok {
		return nil
	}
	return &ResultTypeError{Method: method, Type: kind, Result: result}
}

func unmarshal(data []byte, v any) error { return wire.Unmarshal(data, v) }
