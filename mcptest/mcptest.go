// Package mcptest tests servers and clients: pairs in memory, and a matrix
// that runs one test body in every mode of the protocol, so that what works
// in one revision is known to work in all. HTTP is not among the modes: for
// what depends on it, put a streamable.Handler behind an httptest.Server.
//
//	func TestGreet(t *testing.T) {
//		mcptest.Run(t, newServer, nil, func(t *testing.T, c *client.Client) {
//			got, err := client.Call[string](t.Context(), c, "greet", map[string]any{"name": "Ann"})
//			…
//		})
//	}
package mcptest

import (
	"context"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/stream"
	"github.com/parley-mcp/parley/mcp"
)

// Mode is one way for a client to reach a server.
type Mode struct {
	Revision  mcp.Revision
	Transport string // "memory" or "stdio"
}

// String returns the mode's name, as it appears in the names of tests.
func (m Mode) String() string { return m.Transport + "/" + m.Revision.String() }

// Modes returns the matrix: each transport with the oldest and the newest
// revision of each era. PARLEY_TEST_ALL=1 adds the revisions in between.
func Modes() []Mode {
	revisions := []mcp.Revision{mcp.Revision20241105, mcp.Revision20251125, mcp.Revision20260728}
	if os.Getenv("PARLEY_TEST_ALL") != "" {
		revisions = mcp.Revisions()
	}
	var modes []Mode
	for _, t := range []string{"memory", "stdio"} {
		for _, r := range revisions {
			modes = append(modes, Mode{r, t})
		}
	}
	return modes
}

// Run runs body as a subtest in each of Modes, each time with a new server
// and a client connected to it. opts configure the client; they may be nil,
// and are asked for anew each time. Run fails the test when a client cannot
// connect, and closes everything when the body has returned.
func Run(t *testing.T, server func() mcp.Handler, opts func() *client.Options, body func(t *testing.T, c *client.Client)) {
	t.Helper()
	RunModes(t, Modes(), server, opts, body)
}

// RunModes is Run with a matrix of your own.
func RunModes(t *testing.T, modes []Mode, server func() mcp.Handler, opts func() *client.Options, body func(t *testing.T, c *client.Client)) {
	t.Helper()
	for _, m := range modes {
		t.Run(m.String(), func(t *testing.T) {
			var o *client.Options
			if opts != nil {
				o = opts()
			}
			body(t, Connect(t, server(), m, o))
		})
	}
}

// Connect connects a client to a server in one mode. Both end with the test.
func Connect(t testing.TB, h mcp.Handler, m Mode, opts *client.Options) *client.Client {
	t.Helper()
	o := client.Options{}
	if opts != nil {
		o = *opts
	}
	o.Revisions = []mcp.Revision{m.Revision}
	if o.Logger == nil {
		o.Logger = Quiet()
	}
	transport := &Transport{Handler: h, Lines: m.Transport == "stdio", Serve: &mcp.ServeOptions{Logger: Quiet()}}
	c, err := client.Connect(t.Context(), transport, &o)
	if err != nil {
		t.Fatalf("%s: %v", m, err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		transport.Wait()
	})
	return c
}

// Quiet returns a logger that drops everything.
func Quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// Transport serves a handler in this process: each Connect starts a server of
// its own for it, which ends with the connection.
type Transport struct {
	Handler mcp.Handler
	// Serve are the server's options; nil means the defaults.
	Serve *mcp.ServeOptions
	// Lines puts the frames on a byte stream, as stdio has it, instead of
	// handing them over whole.
	Lines bool
	// Tap sees every frame, if it is not nil. It may be called concurrently
	// for the two directions, and must not keep the frame.
	Tap func(fromClient bool, frame []byte)

	mu      sync.Mutex
	servers sync.WaitGroup
	last    stream.Frames
}

var _ mcp.Transport = (*Transport)(nil)

// Name implements mcp.Transport.
func (t *Transport) Name() string { return "in memory" }

// Connect implements mcp.Transport.
func (t *Transport) Connect(_ context.Context, r mcp.Receiver) (mcp.Conn, error) {
	near, far := t.pair()
	if t.Tap != nil {
		near = &tapped{near, t.Tap}
	}
	t.mu.Lock()
	t.last = far
	t.mu.Unlock()
	t.servers.Go(func() { //nolint:contextcheck // the server outlives the call that connects to it, and ends with the client; Wait waits for it
		_ = stream.Serve(context.Background(), t.Handler, far, t.Serve.WithDefaults()) // how a connection ends is the client's to see
	})
	return stream.Dial(near, r, 64<<20, nil), nil //nolint:contextcheck // the connection outlives this call
}

// Raw connects without a client: it returns a function that sends one frame,
// whatever it is, and calls receive with each frame of the server, one at a
// time. The connection ends with the test.
func Raw(t testing.TB, tr *Transport, receive func(frame []byte)) (send func(frame string)) {
	t.Helper()
	near, far := tr.pair()
	served := make(chan struct{})
	go func() { // ends when near is closed; the cleanup waits for it
		defer close(served)
		_ = stream.Serve(context.Background(), tr.Handler, far, tr.Serve.WithDefaults()) // the frames tell
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

func (t *Transport) pair() (near, far stream.Frames) {
	if !t.Lines {
		return stream.Pipe()
	}
	return linesPair()
}

// Break ends the newest connection from the server's side, as a crash would.
func (t *Transport) Break() {
	t.mu.Lock()
	last := t.last
	t.mu.Unlock()
	if last != nil {
		_ = last.Close()
	}
}

// Wait returns when every server has ended.
func (t *Transport) Wait() { t.servers.Wait() }

// linesPair connects two ends by byte streams.
func linesPair() (near, far stream.Frames) {
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	closeAll := func() error {
		for _, c := range []io.Closer{fromClient, fromServer, toServer, toClient} {
			_ = c.Close() // closing a pipe does not fail
		}
		return nil
	}
	const limit = 64 << 20
	return stream.Lines(toClient, fromClient, limit, closeAll), stream.Lines(toServer, fromServer, limit, closeAll)
}

type tapped struct {
	stream.Frames
	tap func(fromClient bool, frame []byte)
}

func (f *tapped) Read() ([]byte, error) {
	frame, err := f.Frames.Read()
	if err == nil {
		f.tap(false, slices.Clone(frame))
	}
	return frame, err
}

func (f *tapped) Write(frame []byte) error {
	f.tap(true, slices.Clone(frame))
	return f.Frames.Write(frame)
}
