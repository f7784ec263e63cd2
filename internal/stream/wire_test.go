package stream_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/internal/stream"
	"github.com/parley-mcp/parley/mcp"
)

// methods maps methods to their handlers.
type methods map[string]func(ctx context.Context, x *mcp.Exchange) (any, error)

func (m methods) Serve(ctx context.Context, x *mcp.Exchange) (any, error) {
	if f := m[x.Method]; f != nil {
		return f(ctx, x)
	}
	return echo{}.Serve(ctx, x)
}

func (methods) Describe(ctx context.Context, peer *mcp.Peer) *mcp.Description {
	return echo{}.Describe(ctx, peer)
}

// wire is a client that writes lines and sees each write of the server.
type wire struct {
	io.Writer
	stop context.CancelFunc // stops the server

	mu     sync.Mutex
	writes []string
	stuck  chan struct{} // if not nil, the server's writes block until it is closed
}

// took waits until every goroutine is blocked and returns the writes since the
// last call.
func (w *wire) took() []string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.writes
	w.writes = nil
	return taken
}

func (w *wire) say(t *testing.T, lines ...string) {
	t.Helper()
	if _, err := io.WriteString(w, strings.Join(lines, "\n")+"\n"); err != nil {
		t.Error(err)
	}
}

type writes struct{ *wire }

func (w writes) Write(p []byte) (int, error) {
	if w.stuck != nil {
		<-w.stuck
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes = append(w.writes, string(p))
	return len(p), nil
}

// onWire runs body in a synctest bubble, with a client whose session is open.
func onWire(t *testing.T, h mcp.Handler, body func(t *testing.T, w *wire)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		in, out := io.Pipe()
		w := &wire{Writer: out, stop: cancel}
		served := make(chan struct{})
		go func() { // ends with the input
			defer close(served)
			_ = stream.Serve(ctx, h, stream.Lines(in, writes{w}, 1<<20, in.Close), mcp.ServeOptions{Logger: slog.New(slog.DiscardHandler)})
		}()
		w.say(t, strings.Replace(initNov, `"capabilities":{}`, `"capabilities":{"roots":{}}`, 1), ready)
		w.took()
		body(t, w)
		_ = out.Close() // closing a pipe does not fail
		<-served
	})
}

func request(id int, method string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q}`, id, method)
}

func answer(id int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`+"\n", id) }

func want(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%s: the server wrote\n%q, want\n%q", what, got, want)
	}
}

func wait(d time.Duration) { <-time.NewTimer(d).C }
