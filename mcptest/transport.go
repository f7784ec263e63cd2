package mcptest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/parley-mcp/parley/internal/caching"
	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/stream"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/mcp"
)

// Transport serves a handler in this process. Over frames, each Connect starts
// a server of its own, which ends with the connection; over HTTP, all
// connections reach the same server. Its fields must not change once it is in
// use; its methods may be called concurrently.
type Transport struct {
	Handler mcp.Handler
	// Over is how the frames travel: Memory, Lines, HTTP or SSE. "" means
	// Memory.
	Over string
	// Serve are the server's options; nil means the defaults.
	Serve *mcp.ServeOptions

	mu      sync.Mutex
	servers sync.WaitGroup
	last    stream.Frames
	web     *web
}

var _ mcp.Transport = (*Transport)(nil)

// Name implements mcp.Transport.
func (t *Transport) Name() string { return "in memory" }

// Connect implements mcp.Transport.
func (t *Transport) Connect(ctx context.Context, r mcp.Receiver) (mcp.Conn, error) {
	switch t.Over {
	case HTTP, SSE:
		return t.connectWeb(ctx, r)
	case "", Memory, Lines:
		caching.OneAuthority(ctx)
		return t.connectFrames(r, tap.Take(ctx)), nil //nolint:contextcheck // the connection outlives this call
	}
	return nil, fmt.Errorf("mcptest: there is no transport %q; there are %q, %q, %q and %q", t.Over, Memory, Lines, HTTP, SSE)
}

func (t *Transport) connectFrames(r mcp.Receiver, seen *tap.Conn) mcp.Conn {
	near, far := t.pair()
	t.mu.Lock()
	t.last = far
	t.mu.Unlock()
	t.servers.Go(func() { // the server outlives the call that connects to it, and ends with the client; Wait waits for it
		_ = stream.Serve(context.Background(), t.Handler, far, era.WithDefaults(t.Serve)) // the client sees how the connection ends
	})
	return stream.Dial(near, r, maxFrame, nil, seen)
}

func (t *Transport) connectWeb(ctx context.Context, r mcp.Receiver) (mcp.Conn, error) {
	t.mu.Lock()
	if t.web == nil {
		var err error
		if t.web, err = newWeb(t); err != nil {
			t.mu.Unlock()
			return nil, err
		}
	}
	w := t.web
	t.mu.Unlock()
	return w.connect(ctx, t, r)
}

// Break ends the newest connection from the server's side, as a crash would.
// Over HTTP it closes all connections, and the next ones reach a new server,
// which has no sessions.
func (t *Transport) Break() {
	t.mu.Lock()
	last, web := t.last, t.web
	t.mu.Unlock()
	if last != nil {
		_ = last.Close() // closing a pipe does not fail
	}
	if web != nil {
		web.crash()
	}
}

// Wait returns when every server has ended. Over frames, servers end with their
// connections; over HTTP, Wait ends the server, so clients must be closed
// before.
func (t *Transport) Wait() {
	t.mu.Lock()
	web := t.web
	t.web = nil
	t.mu.Unlock()
	if web != nil {
		web.close()
	}
	t.servers.Wait()
}

// Raw connects without a client: it returns a function that sends one frame,
// whatever its contents, and calls receive with each frame of the server, one
// at a time. The connection ends with the test. It is for frames, so tr must
// not use HTTP: there, use NewSite and its Client.
func Raw(t testing.TB, tr *Transport, receive func(frame []byte)) (send func(frame string)) {
	t.Helper()
	if (Mode{Transport: tr.Over}).IsHTTP() {
		t.Fatalf("mcptest.Raw sends frames, and over %q there are requests: use NewSite and its Client", tr.Over)
	}
	near, far := tr.pair()
	served := make(chan struct{})
	go func() { // ends when near is closed; the cleanup waits for it
		defer close(served)
		_ = stream.Serve(context.Background(), tr.Handler, far, era.WithDefaults(tr.Serve)) // the frames show the error
	}()
	read := make(chan struct{})
	go func() { // ends when near is closed; the cleanup waits for it
		defer close(read)
		for {
			frame, err := near.Read()
			if err != nil {
				return
			}
			receive(frame)
		}
	}()
	t.Cleanup(func() {
		_ = near.Close() // closing a pipe does not fail
		<-served
		<-read
	})
	return func(frame string) {
		t.Helper()
		if err := near.Write([]byte(frame)); err != nil {
			t.Errorf("send: %v", err)
		}
	}
}
