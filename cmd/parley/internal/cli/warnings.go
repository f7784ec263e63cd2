package cli

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/parley-mcp/parley/internal/terse"
)

// Bounds of what is said about servers that do something wrong all the time.
const (
	sameWarnings = 10   // with the same message
	warningSize  = 1000 // characters of one value
)

// tally counts warnings by their message, which is one of a few.
type tally struct {
	mu   sync.Mutex
	seen map[string]int
}

// take counts a warning and reports whether it is to be shown.
func (t *tally) take(message string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen == nil {
		t.seen = make(map[string]int)
	}
	t.seen[message]++
	return t.seen[message] <= sameWarnings
}

// withheld returns how many warnings were not shown, by message.
func (t *tally) withheld() map[string]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	left := maps.Clone(t.seen)
	for message, n := range left {
		if left[message] = n - sameWarnings; n <= sameWarnings {
			delete(left, message)
		}
	}
	return left
}

// bounded is a handler that shows each warning a few times only.
type bounded struct {
	slog.Handler

	tally *tally
	// heard reports whether the program keeps the lines that are no messages, to
	// show what they say.
	heard func() bool
}

var _ terse.Handler = (*bounded)(nil)

// Handle implements slog.Handler.
func (b *bounded) Handle(ctx context.Context, r slog.Record) error {
	if isUnreadable(r) && b.heard() {
		return nil
	}
	if r.Level >= slog.LevelWarn && !b.tally.take(r.Message) {
		return nil
	}
	return b.Handler.Handle(ctx, r)
}

// isUnreadable reports whether a warning is about something that is no message at all,
// and so has neither a method nor an ID.
func isUnreadable(r slog.Record) bool {
	named := false
	r.Attrs(func(attr slog.Attr) bool {
		named = named || (attr.Key == "method" || attr.Key == "id") && attr.Value.String() != ""
		return !named
	})
	return r.Message == "message of the server ignored" && !named
}

// Terse implements terse.Handler: the library need not bound what is bounded here.
func (*bounded) Terse() {}

// WithAttrs implements slog.Handler.
func (b *bounded) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &bounded{b.Handler.WithAttrs(attrs), b.tally, b.heard}
}

// WithGroup implements slog.Handler.
func (b *bounded) WithGroup(name string) slog.Handler {
	return &bounded{b.Handler.WithGroup(name), b.tally, b.heard}
}

// logger returns a logger of what servers do wrong.
func (a *app) logger() *slog.Logger {
	level := slog.LevelWarn
	if a.flags.logLevel == "debug" {
		level = slog.LevelDebug
	}
	text := slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: level, ReplaceAttr: short})
	return slog.New(&bounded{text, &a.warnings, func() bool { return a.heard != nil }})
}

// short leaves the time out and cuts values that a server can make long.
func short(_ []string, attr slog.Attr) slog.Attr {
	if attr.Key == slog.TimeKey {
		return slog.Attr{}
	}
	switch v := attr.Value.Any().(type) {
	case string:
		attr.Value = slog.StringValue(cut(v, warningSize))
	case error:
		attr.Value = slog.StringValue(cut(v.Error(), warningSize))
	}
	return attr
}

// noteWithheld says which warnings and log messages were not shown.
func (a *app) noteWithheld() {
	if n := a.logsLeftOut.Load(); n > 0 {
		a.note("parley: %d log messages of the server were not shown: at most %d a second are", n, logsPerSecond)
	}
	left := a.warnings.withheld()
	for _, message := range slices.Sorted(maps.Keys(left)) {
		a.note("parley: %d more warnings like %q were not shown", left[message], message)
	}
}

// noteChatter says that the server's command writes to standard output what does not
// belong there, unless the failure that is shown next quotes it.
func (a *app) noteChatter(ctx context.Context, err error) {
	_, junk, more := a.heard.words()
	if len(junk) == 0 || err != nil && failureOf(ctx, err).code.telling() {
		return
	}
	a.note("parley: %d lines on the server's standard output are no messages, such as %q", len(junk)+more, junk[0])
}
