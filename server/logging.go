package server

import (
	"context"
	"log/slog"
	"slices"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Log writes a message to the server's Options.Logger and, if the server
// declares logging and the client wants messages of this level for this
// request, to the client. data is any value with a JSON form; it must hold no
// secrets. A level that does not exist counts as mcp.LevelInfo. It may block
// while the client reads slowly. Over Options.LogRate, messages are left out for
// the client, and one says in the end how many.
//
// Revision 2026-07-28 deprecates log messages to clients (docs/deprecated.md): a new
// server should log to standard error, or use package otelmcp.
//
// Spec: 2026-07-28 server/utilities/logging#log-message-notifications.
func (c *Call) Log(ctx context.Context, level mcp.LoggingLevel, data any) {
	if level.Severity() < 0 {
		level = mcp.LevelInfo
	}
	if text, ok := data.(string); ok {
		c.s.log.Log(ctx, level.Slog(), text, "method", c.x.Method)
	} else if c.s.log.Enabled(ctx, level.Slog()) {
		c.s.log.Log(ctx, level.Slog(), "message to the client", "method", c.x.Method, "data", data)
	}
	c.tell(ctx, level, "", data)
}

func (c *Call) wants(level mcp.LoggingLevel) bool {
	return c.s.opts.Logging && c.x.Back != nil && c.x.Back.LogEnabled(level)
}

func (c *Call) tell(ctx context.Context, level mcp.LoggingLevel, logger string, data any) {
	if !c.wants(level) {
		c.x.Drop(mcp.DropNotWanted, mcp.NoteMessage, nil)
		return
	}
	if c.mayTell(level) {
		c.send(ctx, &mcp.LogParams{Level: level, Logger: logger, Data: data})
	}
}

func (c *Call) send(ctx context.Context, params *mcp.LogParams) {
	if err := c.notify(ctx, mcp.NoteMessage, params); err != nil {
		c.s.log.DebugContext(ctx, "log message not sent to the client", "error", err)
	}
}

// Logger returns a logger that writes where Log does. The client gets an object
// that holds the message as "msg" and the attributes; name, which may be empty,
// tells the loggers of a server apart.
//
// Revision 2026-07-28 deprecates log messages to clients (docs/deprecated.md); the logger then
// writes to Options.Logger only.
func (c *Call) Logger(name string) *slog.Logger {
	local := c.s.log.Handler()
	if name != "" {
		local = local.WithAttrs([]slog.Attr{slog.String("logger", name)})
	}
	return slog.New(&logHandler{call: c, name: name, local: local})
}

// logHandler is a slog.Handler that writes to the client and to the server's
// log.
type logHandler struct {
	call  *Call
	name  string
	local slog.Handler
	scope []scoped
}

// scoped are attributes within groups, as WithAttrs and WithGroup added them.
type scoped struct {
	group string // opens a group if not empty
	attrs []slog.Attr
}

func (h *logHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.local.Enabled(ctx, level) || h.call.wants(mcp.LevelFromSlog(level))
}

func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	var err error
	if h.local.Enabled(ctx, r.Level) {
		err = h.local.Handle(ctx, r)
	}
	if level := mcp.LevelFromSlog(r.Level); h.call.wants(level) {
		h.call.tell(ctx, level, h.name, h.object(r))
	} else {
		h.call.x.Drop(mcp.DropNotWanted, mcp.NoteMessage, nil)
	}
	return err
}

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.with(scoped{attrs: attrs}, h.local.WithAttrs(attrs))
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return h.with(scoped{group: name}, h.local.WithGroup(name))
}

func (h *logHandler) with(s scoped, local slog.Handler) slog.Handler {
	return &logHandler{h.call, h.name, local, append(slices.Clip(h.scope), s)}
}

// object returns what the client gets of a record.
func (h *logHandler) object(r slog.Record) map[string]any {
	object := map[string]any{slog.MessageKey: r.Message}
	at := object
	for _, s := range h.scope {
		if s.group != "" {
			at = subgroup(at, s.group)
		}
		addAttrs(at, s.attrs)
	}
	r.Attrs(func(a slog.Attr) bool {
		addAttr(at, a)
		return true
	})
	return object
}

func subgroup(object map[string]any, name string) map[string]any {
	if inner, ok := object[name].(map[string]any); ok {
		return inner
	}
	inner := map[string]any{}
	object[name] = inner
	return inner
}

func addAttrs(object map[string]any, attrs []slog.Attr) {
	for _, a := range attrs {
		addAttr(object, a)
	}
}

func addAttr(object map[string]any, a slog.Attr) {
	v := a.Value.Resolve()
	switch {
	case v.Kind() == slog.KindGroup && a.Key == "":
		addAttrs(object, v.Group())
	case v.Kind() == slog.KindGroup && len(v.Group()) > 0:
		addAttrs(subgroup(object, a.Key), v.Group())
	case v.Kind() != slog.KindGroup && !a.Equal(slog.Attr{}):
		object[a.Key] = logValue(v)
	}
}

// logValue returns a value that encodes, whatever was logged.
func logValue(v slog.Value) any {
	switch v.Kind() {
	case slog.KindString, slog.KindBool, slog.KindInt64, slog.KindUint64:
		return v.Any()
	case slog.KindDuration:
		return v.Duration().String()
	default:
	}
	if err, ok := v.Any().(error); ok {
		return err.Error()
	}
	raw, err := wire.Marshal(v.Any())
	if err != nil {
		return v.String()
	}
	return rawJSON(raw)
}

// rawJSON is JSON that is encoded verbatim.
type rawJSON []byte

// MarshalJSON returns the JSON.
func (r rawJSON) MarshalJSON() ([]byte, error) { return r, nil }
