package redact

import (
	"context"
	"log/slog"
)

// Logger returns a logger whose records have no secrets: errors, which quote what others
// have said, are redacted as by Thorough, and of other texts what is known to be secret.
func Logger(l *slog.Logger, secrets *Changing) *slog.Logger {
	return slog.New(&handler{l.Handler(), secrets})
}

type handler struct {
	slog.Handler

	secrets *Changing
}

// Handle implements slog.Handler.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	shown := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		shown.AddAttrs(h.shown(a))
		return true
	})
	return h.Handler.Handle(ctx, shown)
}

// shown returns an attribute without secrets.
func (h *handler) shown(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, h.secrets.Now().known(v.String()))
	case slog.KindGroup:
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(h.all(v.Group())...)}
	case slog.KindAny:
		if err, ok := v.Any().(error); ok && err != nil {
			return slog.String(a.Key, h.secrets.Now().Thorough(err.Error()))
		}
	default:
	}
	return a
}

func (h *handler) all(attrs []slog.Attr) []slog.Attr {
	shown := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		shown[i] = h.shown(a)
	}
	return shown
}

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{h.Handler.WithAttrs(h.all(attrs)), h.secrets}
}

// WithGroup implements slog.Handler.
func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.Handler.WithGroup(name), h.secrets}
}
