package cli

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/internal/webserver"
	"github.com/parley-mcp/parley/transport/sse"
	"github.com/parley-mcp/parley/transport/streamable"
)

// site serves endpoints, which can become others while it is there.
type site struct {
	f       *httpFlags
	origin  string // at which clients reach it
	gates   *gates
	logger  *slog.Logger
	pages   atomic.Pointer[http.ServeMux]
	metrics http.Handler // nil unless they are here
	health  webserver.Health

	mu     sync.Mutex
	open   map[string]webserver.Endpoint // by their paths
	ending bool                          // there will be no others
	work   sync.WaitGroup                // endpoints that are being closed
}

// serve makes these the endpoints. Those that are there already go on, and those that are
// not among them are closed.
func (s *site) serve(at []endpoint) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending {
		return webserver.ErrEnding
	}
	if err := s.gates.admit(at); err != nil {
		return err
	}
	next := make(map[string]webserver.Endpoint, len(at))
	for _, e := range at {
		h := s.open[e.path]
		if h == nil {
			var err error
			if h, err = e.open(s.f, s.logger); err != nil {
				return usagef("%v", err)
			}
		}
		next[e.path] = h
	}
	old := s.open
	s.open = next
	s.pages.Store(s.routes())
	for path, h := range old {
		if next[path] == nil {
			s.work.Go(func() { s.leave(path, h) }) // ends after the grace period and webserver.CloseTimeout at the latest
		}
	}
	return nil
}

// leave closes an endpoint that is not served any more. Its running calls may finish, as
// at the end.
func (s *site) leave(path string, h webserver.Endpoint) {
	if s.f.grace > 0 {
		if err := within(s.f.grace, h.Drain); err != nil {
			s.logger.Warn("some requests to an endpoint that is gone did not finish in time, and are cancelled", "path", path, "time", s.f.grace)
		}
	}
	if err := within(webserver.CloseTimeout, h.Close); err != nil {
		s.logger.Warn("an endpoint was closed with requests in flight", "path", path, "error", err)
	}
}

func within(d time.Duration, f func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return f(ctx)
}

// drain waits for the calls of all endpoints.
func (s *site) drain(ctx context.Context) error { return webserver.Drain(ctx, s.last()) }

// close closes all endpoints.
func (s *site) close(ctx context.Context) error {
	err := webserver.Close(ctx, s.last())
	s.work.Wait()
	return err
}

// last returns the endpoints, which do not become others any more.
func (s *site) last() []webserver.Endpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending = true
	return slices.Collect(maps.Values(s.open))
}

// sessions counts those that are open, by the name of the transport.
func (s *site) sessions() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := map[string]int{"http": 0, "sse": 0}
	for _, h := range s.open {
		switch h := h.(type) {
		case *streamable.Handler:
			n["http"] += h.Sessions()
		case *sse.Handler:
			n["sse"] += h.Sessions()
		}
	}
	return n
}

// ServeHTTP implements http.Handler.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.pages.Load().ServeHTTP(w, r) }

// routes are all pages but those of the card.
func (s *site) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for path, h := range s.open {
		pattern := path
		if path == "/" {
			pattern = "/{$}" // and nothing below it
		}
		mux.Handle(pattern, s.gates.protect(path, bearer(s.f.bearer, h)))
	}
	s.gates.mount(mux)
	s.health.Mount(mux)
	for pattern, h := range s.f.pages {
		mux.Handle(pattern, h)
	}
	if s.metrics != nil {
		mux.Handle("GET "+config.MetricsPage, s.gates.protectPage(bearer(s.f.bearer, s.metrics)))
	}
	return mux
}
