package spec_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/caching"
	"github.com/parley-mcp/parley/internal/stream"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// The tests in the files spec2026_*_test.go go through the pages of revision
// 2026-07-28, rule by rule. Servers get raw frames, and clients get a server
// that does what the test says, right or wrong.

var only2026 = []mcp.Revision{mcp.Revision20260728}

// metaWith is the _meta of a request whose client has these capabilities; more,
// which may be empty, is appended and begins with a comma.
func metaWith(caps, more string) string {
	return `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},"io.modelcontextprotocol/clientCapabilities":` + caps + more + `}`
}

// frame2026 is a request. members are the members of params other than _meta.
func frame2026(id, method, members string) string {
	return frameWith(id, method, members, metaWith(`{}`, ""))
}

func frameWith(id, method, members, meta string) string {
	if members != "" {
		members = "," + members
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + meta + members + `}}`
}

// wire is a connection to a server without a client.
type wire struct {
	t      *testing.T
	send   func(frame string)
	frames chan message
}

// message is a decoded frame.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *jsonrpc.Error  `json:"error"`
	raw     string
}

// rawly connects to a server over lines, as stdio does.
func rawly(t *testing.T, h mcp.Handler, o *mcp.ServeOptions) *wire {
	t.Helper()
	if o == nil {
		o = &mcp.ServeOptions{}
	}
	o.Logger = mcptest.Quiet()
	w := &wire{t: t, frames: make(chan message, 1024)}
	w.send = mcptest.Raw(t, &mcptest.Transport{Handler: h, Serve: o, Over: mcptest.Lines}, func(frame []byte) {
		m := message{raw: string(frame)}
		if err := json.Unmarshal(frame, &m); err != nil {
			t.Errorf("the server sent what is not JSON: %v in %s", err, frame)
		}
		w.frames <- m
	})
	return w
}

// next returns the server's next message.
func (w *wire) next() message {
	w.t.Helper()
	return soon(w.t, w.frames, "message of the server")
}

// soon receives a value from a channel. It only waits long if the test fails.
func soon[T any](t *testing.T, ch <-chan T, what string) T {
	t.Helper()
	timer := time.NewTimer(10 * time.Second)
	defer timer.Stop()
	select {
	case v := <-ch:
		return v
	case <-timer.C:
		t.Fatalf("there was no %s", what)
		panic("unreachable")
	}
}

// call sends a request and returns its response, and what came before that.
func (w *wire) call(id, method, members string) (answer message, before []message) {
	w.t.Helper()
	return w.exchange(id, frame2026(id, method, members))
}

func (w *wire) exchange(id, frame string) (answer message, before []message) {
	w.t.Helper()
	w.send(frame)
	for {
		m := w.next()
		if string(m.ID) == id && m.Method == "" {
			return m, before
		}
		before = append(before, m)
	}
}

// alive checks that the connection still works.
func (w *wire) alive() {
	w.t.Helper()
	if a, _ := w.call(`"alive"`, mcp.MethodDiscover, ""); a.Result == nil {
		w.t.Errorf("the connection is dead: %s", a.raw)
	}
}

// refused checks that a frame is answered with a code, under its ID, and with a
// message that contains text.
func (w *wire) refused(id, frame string, code int64, text string) {
	w.t.Helper()
	a, _ := w.exchange(id, frame)
	switch {
	case a.Error == nil:
		w.t.Errorf("%s\nwas answered by %s\nwant an error", frame, a.raw)
	case a.Error.Code != code || !strings.Contains(a.Error.Message, text):
		w.t.Errorf("%s\nwas answered by %s\nwant code %d and %q", frame, a.raw, code, text)
	}
}

// scripted is a transport to a server that does what a test says. Discovery is
// answered unless discovers is set.
type scripted struct {
	// script serves a request. It is called for one message at a time.
	script func(s *scripted, m *jsonrpc.Message)
	// notes, if not nil, gets the client's notifications.
	notes func(m *jsonrpc.Message)
	// wrote, if not nil, gets every frame of the client.
	wrote func(frame string)
	// caps are the server's capabilities; "" means all but logging.
	caps string
	// discovers makes script serve server/discover, too.
	discovers bool

	mu      sync.Mutex
	far     stream.Frames
	running sync.WaitGroup
}

func (s *scripted) Name() string { return "scripted" }

func (s *scripted) Connect(ctx context.Context, r mcp.Receiver) (mcp.Conn, error) {
	near, far := stream.Pipe()
	s.mu.Lock()
	s.far = far
	s.mu.Unlock()
	s.running.Go(func() { s.serve(far) }) // ends with the connection; connectTo waits for it
	caching.OneAuthority(ctx)
	return stream.Dial(near, r, 1<<20, nil, nil), nil
}

func (s *scripted) serve(far stream.Frames) {
	var d jsonrpc.Decoder
	for {
		frame, err := far.Read()
		if err != nil {
			return
		}
		if s.wrote != nil {
			s.wrote(string(frame))
		}
		m, err := d.Decode(frame)
		switch {
		case err != nil:
		case m.Kind == jsonrpc.Notification:
			if s.notes != nil {
				s.notes(m)
			}
		case m.Kind == jsonrpc.Request && m.Method == mcp.MethodDiscover && !s.discovers:
			caps := s.caps
			if caps == "" {
				caps = `{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{},"completions":{}}`
			}
			s.result(m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":`+caps+`,"ttlMs":0,"cacheScope":"private"}`)
		case m.Kind == jsonrpc.Request && s.script != nil:
			s.script(s, m)
		}
	}
}

// send sends any frame to the client.
func (s *scripted) send(format string, args ...any) {
	s.mu.Lock()
	far := s.far
	s.mu.Unlock()
	_ = far.Write(fmt.Appendf(nil, format, args...)) // the client may be gone
}

func (s *scripted) result(m *jsonrpc.Message, result string) {
	s.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

func (s *scripted) fail(m *jsonrpc.Message, code int, message, data string) {
	if data != "" {
		data = `,"data":` + data
	}
	s.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q%s}}`, m.ID, code, message, data)
}

// crash closes the connection abruptly.
func (s *scripted) crash() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.far.Close()
}

// connectTo connects a client to a scripted server; stop ends both. It is for
// tests in a bubble; others use connectScripted.
func connectTo(t *testing.T, s *scripted, o *client.Options) (c *client.Client, stop func()) {
	t.Helper()
	if o == nil {
		o = &client.Options{}
	}
	if o.Revisions == nil {
		o.Revisions = only2026
	}
	if o.Logger == nil {
		o.Logger = mcptest.Quiet()
	}
	c, err := client.Connect(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return c, func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		s.running.Wait()
	}
}

func connectScripted(t *testing.T, s *scripted, o *client.Options) *client.Client {
	t.Helper()
	c, stop := connectTo(t, s, o)
	t.Cleanup(stop)
	return c
}

// served is the server's end of a connection that a test ends itself.
type served struct {
	shutdown func() // like a signal to the process; returns when the server has ended
}

// recorded is the client's end: it keeps everything that the server sends.
type recorded struct {
	frames stream.Frames
	done   chan struct{}
	got    []string
}

func (r *recorded) write(frame string) { _ = r.frames.Write([]byte(frame)) }

// all returns what the server has sent, after it has ended.
func (r *recorded) all() []string {
	<-r.done
	return r.got
}

// serveOver serves one connection until the test shuts the server down.
func serveOver(t *testing.T, h mcp.Handler) (*recorded, *served) {
	t.Helper()
	near, far := stream.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { // ends with ctx; shutdown waits for it
		defer close(ended)
		_ = stream.Serve(ctx, h, far, mcp.ServeOptions{Logger: mcptest.Quiet()}) // it ends with the cause of ctx
	}()
	r := &recorded{frames: near, done: make(chan struct{})}
	go func() { // ends with the connection; all waits for it
		defer close(r.done)
		for {
			frame, err := near.Read()
			if err != nil {
				return
			}
			r.got = append(r.got, string(frame))
		}
	}()
	return r, &served{shutdown: func() {
		cancel()
		<-ended
	}}
}

// pass lets fake time pass, in a bubble.
func pass(d time.Duration) { <-time.NewTimer(d).C }
