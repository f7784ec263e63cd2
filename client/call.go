package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Request is one call as middleware sees it. Middleware may replace Params
// and Meta before it calls on, but must not change what they refer to: the
// caller may use it elsewhere.
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
	timeout    time.Duration
	maxTimeout time.Duration
	onProgress func(*mcp.ProgressParams)
	meta       mcp.Meta
	logLevel   mcp.LoggingLevel
	fresh      bool
	err        error
}

// WithTimeout bounds how long the call may go without an answer or progress;
// negative means for ever. See Options.Timeout.
func WithTimeout(d time.Duration) CallOption { return func(o *callOptions) { o.timeout = d } }

// WithMaxTimeout bounds the call as a whole, progress or not; negative means
// no bound. See Options.MaxTimeout.
func WithMaxTimeout(d time.Duration) CallOption { return func(o *callOptions) { o.maxTimeout = d } }

// WithProgress asks the server for progress. f is called for each notification,
// one at a time and in order, and not after the call has returned. When f is
// slower than the server, what has become stale is skipped.
func WithProgress(f func(*mcp.ProgressParams)) CallOption {
	return func(o *callOptions) { o.onProgress = f }
}

// WithMeta puts a value into the call's _meta. Keys of your own need a prefix
// such as "com.example/".
func WithMeta(key string, v any) CallOption {
	return func(o *callOptions) {
		if err := o.meta.Set(key, v); err != nil && o.err == nil {
			o.err = fmt.Errorf("meta %q: %w", key, err)
		}
	}
}

// WithLogLevel asks for log messages of this call, in the stateless era. In a
// session, use Client.SetLogLevel.
func WithLogLevel(l mcp.LoggingLevel) CallOption { return func(o *callOptions) { o.logLevel = l } }

// WithFresh makes the call reach the server, whatever the cache has. The result
// is kept as any other is.
func WithFresh() CallOption { return func(o *callOptions) { o.fresh = true } }

// Do calls any method and returns the raw result. params must encode to a
// JSON object, or be nil; members that this module does not know pass
// unchanged in both directions. A _meta member in params is kept.
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
	req.Meta = req.opts.meta
	if params == nil {
		return req, nil
	}
	if raw, ok := params.(encoded); ok {
		req.Params = json.RawMessage(raw)
		return req, nil
	}
	raw, err := wire.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("%s: params: %w", method, err)
	}
	return req, req.setParams(raw)
}

// encoded are params that are JSON already: an object without _meta.
type encoded json.RawMessage

// setParams takes _meta out of params that bring one along.
func (r *Request) setParams(raw json.RawMessage) error {
	if string(raw) == "null" {
		return nil
	}
	if raw[0] == '{' && !hasMember(raw, "_meta") {
		r.Params = raw
		return nil
	}
	var has struct {
		Meta mcp.Meta `json:"_meta"`
	}
	if err := wire.Unmarshal(raw, &has); err != nil {
		return fmt.Errorf("%s: params: %w", r.Method, err)
	}
	if has.Meta == nil {
		r.Params = raw
		return nil
	}
	maps.Copy(has.Meta, r.Meta)
	r.Meta = has.Meta
	var err error
	r.Params, err = wire.Without(raw, "_meta")
	return err
}

func (c *Client) logLevel() mcp.LoggingLevel {
	if l := c.level.Load(); l != nil {
		return *l
	}
	return ""
}

// send is the end of the middleware chain: it makes the call. A server that
// does not know the session has refused the call without looking at it, so it
// can be made again in a new one.
//
// Spec: 2025-11-25 basic/transports#session-management (4).
func (c *Client) send(ctx context.Context, req *Request) (json.RawMessage, error) {
	result, err := c.sendOnce(ctx, req)
	if errors.Is(err, mcp.ErrSessionGone) {
		result, err = c.sendOnce(ctx, req)
	}
	return result, err
}

func (c *Client) sendOnce(ctx context.Context, req *Request) (json.RawMessage, error) {
	l, err := c.connected(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", req.Method, err)
	}
	if err := l.declared(req.Method); err != nil {
		return nil, err
	}
	key, cached := c.cache.get(req)
	if cached != nil {
		return cached, nil
	}
	result, retried, err := c.exchange(ctx, l, req)
	if err != nil {
		c.cache.refused(req, err)
		return nil, notFound(req.Method, fmt.Errorf("%s: %w", req.Method, err), l.session != nil)
	}
	if !retried {
		c.cache.put(key, result)
	}
	return result, nil
}

// exchange makes one call under its time limits.
func (c *Client) exchange(ctx context.Context, l *live, req *Request) (json.RawMessage, bool, error) {
	ctx, dog := c.bound(ctx, &req.opts)
	defer dog.stop()
	o := &era.Outgoing{Method: req.Method, Params: req.Params, Meta: req.Meta, LogLevel: req.opts.logLevel}
	if req.opts.onProgress != nil {
		p := c.expect(req.opts.onProgress, dog)
		defer p.finish()
		o.ProgressToken = p.token
	}
	result, retried, err := l.call(ctx, o)
	if err != nil && !isAnswer(err) {
		err = c.reason(ctx, err)
	}
	return result, retried, err
}

// reason prefers why a call was given up, or the client closed, to what that
// did to the connection.
func (c *Client) reason(ctx context.Context, err error) error {
	switch {
	case c.ctx.Err() != nil:
		return context.Cause(c.ctx) //nolint:contextcheck // the reason for which the client ended
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

// declared refuses locally what the server has not offered.
//
// Spec: 2025-11-25 basic/lifecycle#operation.
func (l *live) declared(method string) error {
	var missing string
	switch method {
	case mcp.MethodListTools, mcp.MethodCallTool:
		missing = when(l.caps.Tools == nil, "tools")
	case mcp.MethodListResources, mcp.MethodListTemplates, mcp.MethodReadResource:
		missing = when(l.caps.Resources == nil, "resources")
	case mcp.MethodSubscribe, mcp.MethodUnsubscribe:
		missing = when(l.caps.Resources == nil || !l.caps.Resources.Subscribe, "resources.subscribe")
	case mcp.MethodListPrompts, mcp.MethodGetPrompt:
		missing = when(l.caps.Prompts == nil, "prompts")
	case mcp.MethodComplete:
		missing = when(l.caps.Completions == nil && !l.completionsUndeclarable(), "completions")
	case mcp.MethodSetLevel:
		missing = when(l.caps.Logging == nil, "logging")
	}
	if missing == "" {
		return nil
	}
	return &NotDeclaredError{Method: method, Capability: missing}
}

// completionsUndeclarable: the first revision has completion, but no
// capability that says so.
//
// Spec: 2025-03-26 changelog.
func (l *live) completionsUndeclarable() bool {
	return l.session != nil && !l.session.Facts().Completions
}

func when(missing bool, capability string) string {
	if missing {
		return capability
	}
	return ""
}

// get makes a call and decodes its result.
func get[T any](ctx context.Context, c *Client, method string, params any, opts []CallOption) (*T, error) {
	raw, err := c.Do(ctx, method, params, opts...)
	if err != nil {
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
	return result, nil
}

func unmarshal(data []byte, v any) error { return wire.Unmarshal(data, v) }
