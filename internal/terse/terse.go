// Package terse keeps what a peer does from filling its user's log.
package terse

import (
	"context"
	"log/slog"
	"math/bits"
	"sync"
	"time"
)

const (
	// window is how long records are counted together.
	window = time.Minute
	// inFull is how many records with the same message are passed on in a window.
	// Of the others only those pass whose number is a power of two.
	inFull = 10
	// maxText bounds each text in a record, in bytes.
	maxText = 2000
)

// Logger returns a logger that passes on at most a few records with the same message
// in each minute: the first ten, and then, with an attribute "repeated" that counts
// them, the 16th, 32nd, 64th and so on. Long texts are cut. Debug records count like
// others. Messages must be constants: each is remembered. Loggers that are derived
// from one another share the counts. A logger whose handler is a Handler already is
// returned as it is.
func Logger(l *slog.Logger) *slog.Logger {
	if _, ok := l.Handler().(Handler); ok {
		return l
	}
	return slog.New(&handler{Handler: l.Handler(), counts: &counts{of: make(map[string]*count)}})
}

// Handler is a handler that bounds by itself what it passes on.
type Handler interface {
	slog.Handler
	// Terse marks the handler.
	Terse()
}

type handler struct {
	slog.Handler
	counts *counts
}

type counts struct {
	mu sync.Mutex
	of map[string]*count
}

type count struct {
	since time.Time
	n     uint64
}

// add counts a record, and returns its number in its window.
func (c *counts) add(message string, now time.Time) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.of[message]
	if n == nil || now.Sub(n.since) >= window {
		n = &count{since: now}
		c.of[message] = n
	}
	n.n++
	return n.n
}

// Handle implements slog.Handler.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	n := h.counts.add(r.Message, time.Now())
	if n > inFull && bits.OnesCount64(n) != 1 {
		return nil
	}
	short := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		short.AddAttrs(cut(a))
		return true
	})
	if n > inFull {
		short.AddAttrs(slog.Uint64("repeated", n))
	}
	return h.Handler.Handle(ctx, short)
}

// cut shortens an attribute that is a text or an error.
func cut(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	text := ""
	switch err, ok := v.Any().(error); {
	case ok && err != nil:
		text = err.Error()
	case v.Kind() == slog.KindString:
		text = v.String()
	}
	if len(text) <= maxText {
		return a
	}
	return slog.String(a.Key, text[:maxText]+"…")
}

// Terse implements Handler.
func (*handler) Terse() {}

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{h.Handler.WithAttrs(attrs), h.counts}
}

// WithGroup implements slog.Handler.
func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.Handler.WithGroup(name), h.counts}
}
