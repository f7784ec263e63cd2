package check

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/parley-mcp/parley/internal/check/clientprobe"
)

// Client judges a client over HTTP by servers that behave well, ask, change, refuse,
// break off and lie. connect is called once for each of them, with its URL, and has the
// client do whatever it can do there: list, call, read, subscribe. What the client never
// does is not judged. connect returns when the client has ended, and must do so when its
// context ends, after 30 seconds or the time of Patience; what it returns does not
// matter, because many of these servers do what a client has to refuse.
func Client(t testing.TB, connect func(ctx context.Context, url string) error, options ...Option) {
	t.Helper()
	judgeClient(t, false, func(ctx context.Context, p *clientprobe.Place) error { return connect(ctx, p.URL) }, options)
}

// ClientOverLines is Client for one that speaks in lines, as over standard streams.
// open begins a conversation, where the client would start the process of a server; it
// may be called several times.
func ClientOverLines(t testing.TB, connect func(ctx context.Context, open func() io.ReadWriteCloser) error, options ...Option) {
	t.Helper()
	judgeClient(t, true, func(ctx context.Context, p *clientprobe.Place) error { return connect(ctx, p.Connect) }, options)
}

func judgeClient(t testing.TB, lines bool, driver clientprobe.Driver, options []Option) {
	t.Helper()
	var s settings
	for _, option := range options {
		option(&s)
	}
	r, err := clientprobe.Check(t.Context(), driver, &clientprobe.Options{
		Name: "the client", Tool: "mcptest/check", Revisions: s.revisions, Lines: lines, Timeout: s.timeout(),
	})
	if err != nil {
		t.Errorf("the client: %v", err)
		return
	}
	s.judge(t, r)
}

// timeout is how long a client may take for a scenario; 0 means the default.
func (s *settings) timeout() time.Duration { return s.server.Patience.Reply }
