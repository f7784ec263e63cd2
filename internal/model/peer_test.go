package model_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/parley-mcp/parley/internal/sse"
	"github.com/parley-mcp/parley/internal/stream"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/streamable"
)

// received is a frame of the server. via is the tag of the request on whose
// response it came, where there are such, and otherwise "".
type received struct{ via, frame string }

// peer is the client's end of a connection.
type peer interface {
	// send sends a frame about the request with that tag, "" for none. It does
	// not wait for an answer.
	send(tag, frame string)
	// abandon closes the response to a request; it reports whether there are
	// such.
	abandon(tag string) bool
	// close goes away, and returns when the server's end has noticed.
	close()
	// heard returns what has come so far.
	heard() []received
}

// ears collects what comes.
type ears struct {
	mu  sync.Mutex
	all []received
}

func (e *ears) hear(via, frame string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, received{via, frame})
}

func (e *ears) heard() []received {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]received(nil), e.all...)
}

// pipe is a connection of frames, such as stdio is.
type pipe struct {
	ears
	near    stream.Frames
	running sync.WaitGroup
}

func newPipe(h mcp.Handler) *pipe {
	near, far := stream.Pipe()
	p := &pipe{near: near}
	p.running.Go(func() { // ends when near is closed
		_ = stream.Serve(context.Background(), h, far, mcp.ServeOptions{Logger: mcptest.Quiet()}) // how it ended is seen in what it said
	})
	p.running.Go(func() { // ends when near is closed
		for {
			frame, err := near.Read()
			if err != nil {
				return
			}
			p.hear("", string(frame))
		}
	})
	return p
}

func (p *pipe) send(_, frame string) { _ = p.near.Write([]byte(frame)) }

func (p *pipe) abandon(string) bool { return false }

func (p *pipe) close() {
	_ = p.near.Close()
	p.running.Wait()
}

// web is a client of an HTTP handler, without a network: each message is a
// request of its own.
type web struct {
	ears
	h       *streamable.Handler
	version string
	running sync.WaitGroup

	mu      sync.Mutex
	session string
	open    map[string]context.CancelFunc // responses, by tag
}

func newWeb(h *streamable.Handler, version string) *web {
	return &web{h: h, version: version, open: map[string]context.CancelFunc{}}
}

func (w *web) send(tag, frame string) { w.do(http.MethodPost, tag, frame) }

// listen opens the standing stream of a session.
func (w *web) listen() { w.do(http.MethodGet, "", "") }

func (w *web) do(method, tag, frame string) {
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, method, "http://127.0.0.1/", strings.NewReader(frame))
	if err != nil {
		panic(err) // the test is wrong
	}
	r.RemoteAddr = "127.0.0.1:1"
	w.mu.Lock()
	w.header(r, frame)
	w.open[tag+"\x00"+frame] = cancel
	w.mu.Unlock()
	w.running.Go(func() { // ends with the response
		defer cancel()
		resp := &response{web: w, tag: tag, header: http.Header{}}
		w.h.ServeHTTP(resp, r)
		if resp.header.Get("Content-Type") == "application/json" && resp.buf.Len() > 0 {
			w.hear(tag, resp.buf.String())
		}
	})
}

// header says what the message says. The caller holds w.mu.
func (w *web) header(r *http.Request, frame string) {
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if w.version != "2026-07-28" {
		if w.session != "" {
			r.Header.Set("Mcp-Session-Id", w.session)
		}
		return
	}
	m := decoded(frame)
	r.Header.Set("MCP-Protocol-Version", w.version)
	r.Header.Set("Mcp-Method", m.Method)
	if m.Params.Name != "" {
		r.Header.Set("Mcp-Name", m.Params.Name)
	}
}

func (w *web) abandon(tag string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, cancel := range w.open {
		if strings.HasPrefix(key, tag+"\x00") {
			cancel()
		}
	}
	return true
}

func (w *web) close() {
	w.mu.Lock()
	for _, cancel := range w.open {
		cancel()
	}
	w.mu.Unlock()
	w.running.Wait()
	if w.session != "" {
		w.do(http.MethodDelete, "", "")
		w.running.Wait()
	}
}

// response is the writer of one HTTP response.
type response struct {
	web    *web
	tag    string
	header http.Header
	buf    bytes.Buffer
}

func (r *response) Header() http.Header { return r.header }

func (r *response) WriteHeader(int) {
	if id := r.header.Get("Mcp-Session-Id"); id != "" {
		r.web.mu.Lock()
		r.web.session = id
		r.web.mu.Unlock()
	}
}

func (r *response) Write(b []byte) (int, error) { return r.buf.Write(b) }

// Flush implements http.Flusher: what has been written has come.
func (r *response) Flush() {
	if r.header.Get("Content-Type") != sse.ContentType {
		return
	}
	events := sse.NewReader(bytes.NewReader(r.buf.Bytes()), 1<<20)
	for {
		e, err := events.Next()
		if err != nil {
			break
		}
		if len(e.Data) > 0 {
			r.web.hear(r.tag, string(e.Data))
		}
	}
	r.buf.Reset()
}
