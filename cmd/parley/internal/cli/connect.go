package cli

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"golang.org/x/time/rate"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/cmd/parley/internal/trouble"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// connect connects to a target as the flags say. The caller leaves it.
func (a *app) connect(ctx context.Context, t target.Target) (*client.Client, error) {
	if a.shell != nil {
		return a.shell.client, nil
	}
	transport, err := a.transport(ctx, t)
	if err != nil {
		return nil, err
	}
	return a.connectOver(ctx, t, transport, nil)
}

// connectOver is connect for a transport to the target. nil revisions are those of the flags.
func (a *app) connectOver(ctx context.Context, t target.Target, transport mcp.Transport, revisions []mcp.Revision) (*client.Client, error) {
	opts, err := a.clientOptions(t)
	if err != nil {
		return nil, err
	}
	if revisions != nil {
		opts.Revisions = revisions
	}
	name := newServerName(t)
	answers, err := a.newAnswers(name)
	if err != nil {
		return nil, err
	}
	answers.register(opts)
	opts.Tap = a.tap()
	c, err := client.Connect(ctx, transport, opts)
	if err != nil {
		return nil, notConnected(t, err)
	}
	name.set(c.ServerInfo())
	return c, nil
}

// tap returns what observes the conversation, or nil.
func (a *app) tap() mcp.Tap {
	switch {
	case a.heard == nil && a.flags.trace:
		return a.traceEvent
	case a.heard == nil:
		return nil
	case !a.flags.trace:
		return a.heard.tap
	}
	return func(e mcp.TapEvent) {
		a.heard.tap(e)
		a.traceEvent(e)
	}
}

// notConnected adds a hint to the error of a command that does not start, or
// ends at once, and of a server that refuses to be talked to at all.
func notConnected(t target.Target, err error) error {
	var refused *jsonrpc.Error
	if errors.As(err, &refused) && refused.Code == jsonrpc.CodeInvalidParams {
		return &failure{code: classify(err), err: err, hint: "the server refused the connection itself: --trace shows what was said, --revision names another revision"}
	}
	kind := trouble.Starting(&t, err)
	if kind.Code() != trouble.CodeNotStarted {
		return err
	}
	f := &failure{code: codeNotStarted, err: err, hint: "is it installed, and in PATH?"}
	if kind == trouble.Exited {
		f.hint = "does the command start an MCP server?"
	}
	return f
}

// self is what this program tells servers about itself.
func self() mcp.Implementation {
	return mcp.Implementation{Name: "parley", Title: "Parley", Version: buildVersion()}
}

// clientOptions turns the flags into options, except for the answers to
// servers' questions.
func (a *app) clientOptions(t target.Target) (*client.Options, error) {
	revisions, err := a.flags.revisions()
	if err != nil {
		return nil, err
	}
	if revisions == nil && t.Revision != (mcp.Revision{}) {
		revisions = []mcp.Revision{t.Revision}
	}
	roots, err := a.flags.mcpRoots()
	if err != nil {
		return nil, err
	}
	opts := &client.Options{
		Info:      self(),
		Revisions: revisions,
		Logger:    a.logger(),
		Roots:     roots,
	}
	if a.flags.timed { // then it is the only limit
		opts.Timeout, opts.MaxTimeout = -1, -1
	}
	if a.flags.timeout > 0 {
		opts.ProbeTimeout = min(a.flags.timeout/2, 5*time.Second)
	}
	if a.flags.logLevel != "" {
		opts.LogLevel = mcp.LoggingLevel(a.flags.logLevel)
		opts.Log = a.serverLog
	}
	return opts, nil
}

// logsPerSecond is how many log messages of a server are shown, and ten times as
// many at once.
const logsPerSecond = 200

// serverLog shows a log message of the server, unless there are too many. It is
// called for one message at a time.
func (a *app) serverLog(_ context.Context, m *mcp.LogParams) {
	if a.logs == nil {
		a.logs = rate.NewLimiter(logsPerSecond, 10*logsPerSecond)
	}
	if !a.logs.Allow() {
		a.logsLeftOut.Add(1)
		return
	}
	text, ok := m.Data.(string)
	if !ok {
		raw, err := wire.Marshal(m.Data)
		if err != nil {
			return
		}
		text = string(raw)
	}
	from := ""
	if m.Logger != "" {
		from = label(m.Logger, 100) + ": "
	}
	a.note("%s %s%s", a.err.dim("["+label(string(m.Level), 20)+"]"), from, oneLine(text, 2000))
}

// note writes a line to standard error, where a progress bar may be. Its
// arguments are made harmless as those of printf.
func (a *app) note(format string, args ...any) {
	a.hideBar()
	a.err.printf(format+"\n", args...)
}

// decode reads a server's result.
func decode[T any](raw json.RawMessage) (*T, error) {
	v := new(T)
	return v, wire.Unmarshal(raw, v)
}

// do makes a call and returns the result both ways: as it came, for JSON
// output, and decoded.
func do[T any](ctx context.Context, c *client.Client, method string, params any, opts ...client.CallOption) (json.RawMessage, *T, error) {
	raw, err := c.Do(ctx, method, params, opts...)
	if err != nil {
		return nil, nil, err
	}
	v, err := decode[T](raw)
	if err != nil {
		return nil, nil, malformed(method, err)
	}
	return raw, v, nil
}
