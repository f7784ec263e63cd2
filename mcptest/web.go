package mcptest

import (
	"context"
	"net/http"
	"sync"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/sse"
	"github.com/parley-mcp/parley/transport/streamable"
)

// web is a server over HTTP. Its handler can be replaced by one that has none
// of its state.
type web struct {
	site *Site
	make func() (webHandler, error)

	mu      sync.Mutex
	handler webHandler
}

// webHandler is a streamable.Handler or an sse.Handler.
type webHandler interface {
	http.Handler
	Close(ctx context.Context) error
}

// newWeb starts a server. It sends no comments on idle streams: in a bubble,
// fake time would jump from one to the next.
func newWeb(t *Transport) (*web, error) {
	w := &web{make: func() (webHandler, error) {
		if t.Over == SSE {
			return sse.New(t.Handler, &sse.Options{ServeOptions: era.WithDefaults(t.Serve), KeepAlive: -1})
		}
		return streamable.New(t.Handler, &streamable.Options{ServeOptions: era.WithDefaults(t.Serve), KeepAlive: -1})
	}}
	var err error
	if w.handler, err = w.make(); err != nil {
		return nil, err
	}
	w.site = NewSite(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		h := w.handler
		w.mu.Unlock()
		h.ServeHTTP(rw, r)
	}))
	return w, nil
}

func (w *web) connect(ctx context.Context, t *Transport, r mcp.Receiver) (mcp.Conn, error) {
	if t.Over == SSE {
		return (&sse.Client{URL: w.site.URL, HTTP: w.site.Client}).Connect(ctx, r)
	}
	return (&streamable.Client{URL: w.site.URL, HTTP: w.site.Client, Logger: era.WithDefaults(t.Serve).Logger, NoSSEFallback: true}).Connect(ctx, r)
}

// crash closes all connections and replaces the handler with a new one.
func (w *web) crash() {
	next, err := w.make()
	if err != nil {
		panic("mcptest: " + err.Error()) // the same options worked before
	}
	w.mu.Lock()
	last := w.handler
	w.handler = next
	w.mu.Unlock()
	w.site.Cut()
	_ = last.Close(context.Background()) // it waits as long as that takes
}

// close ends the server once all requests are served.
func (w *web) close() {
	w.mu.Lock()
	h := w.handler
	w.mu.Unlock()
	_ = h.Close(context.Background()) // it waits as long as that takes
	w.site.Close()
}
