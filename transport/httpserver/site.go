package httpserver

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/parley-mcp/parley/auth"
	"github.com/parley-mcp/parley/internal/webserver"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/sse"
	"github.com/parley-mcp/parley/transport/streamable"
)

// site is what is served.
type site struct {
	opts      Options
	main      *streamable.Handler
	endpoints []endpoint // main first
}

// endpoint is where clients reach the server.
type endpoint struct {
	path    string
	guard   *auth.Guard // nil lets everybody in
	handler closer
}

// closer is a streamable.Handler or an sse.Handler.
type closer interface {
	http.Handler
	Close(ctx context.Context) error
}

func open(h mcp.Handler, opts *Options) (*site, error) {
	o := opts.withDefaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	s := &site{opts: o}
	main, err := streamable.New(h, &o.Options)
	if err != nil {
		return nil, err
	}
	s.main, s.endpoints = main, []endpoint{{o.Path, o.Guard, main}}
	if o.SSEPath != "" {
		old, err := sse.New(h, o.forSSE())
		if err != nil {
			return nil, err
		}
		s.endpoints = append(s.endpoints, endpoint{o.SSEPath, o.SSEGuard, old})
	}
	return s, nil
}

func (s *site) serve(ctx context.Context, l net.Listener) error {
	all, err := s.pages(ctx)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	s.announce(l.Addr())
	web := webserver.Server{
		Handler: all, TLS: s.opts.TLS, CertFile: s.opts.CertFile, KeyFile: s.opts.KeyFile,
		Logger: s.opts.Logger, End: s.end, CloseTimeout: s.opts.CloseTimeout,
	}
	if s.opts.GracePeriod > 0 {
		web.Drain, web.DrainTimeout = s.main.Drain, s.opts.GracePeriod
	}
	return web.Serve(ctx, l)
}

// end ends the requests and sessions of all endpoints.
func (s *site) end(ctx context.Context) error {
	ended := make(chan error, len(s.endpoints))
	for _, e := range s.endpoints {
		go func() { ended <- e.handler.Close(ctx) }() // ends with ctx, at the latest
	}
	var err error
	for range s.endpoints {
		err = errors.Join(err, <-ended)
	}
	if s.opts.Finish != nil {
		err = errors.Join(err, s.opts.Finish(ctx))
	}
	return err
}

var errEnding = errors.New("the server is shutting down")

// pages returns all that is served.
func (s *site) pages(ctx context.Context) (http.Handler, error) {
	mux := http.NewServeMux()
	for _, e := range s.endpoints {
		h, err := streamable.CORS(s.opts.Origins, e.protected())
		if err != nil {
			return nil, err
		}
		mux.Handle(exactly(e.path), h)
	}
	mux.Handle("GET "+healthPath, webserver.Health(func(context.Context) error { return nil }))
	mux.Handle("GET "+readyPath, webserver.Health(s.readiness(ctx)))
	if s.opts.Mount != nil { // before the guards, which leave out what is there already
		if err := s.opts.Mount(mux); err != nil {
			return nil, err
		}
	}
	for _, e := range s.endpoints {
		if e.guard != nil {
			e.guard.Mount(mux)
		}
	}
	if s.opts.Wrap != nil {
		return s.opts.Wrap(mux), nil
	}
	return mux, nil
}

// readiness fails from the end of ctx on, while the server still answers: balancers are to
// turn away in time, but nobody is to kill a process that ends in order.
func (s *site) readiness(ctx context.Context) func(ctx context.Context) error {
	return func(request context.Context) error {
		switch {
		case ctx.Err() != nil:
			return errEnding
		case s.opts.Ready != nil:
			return s.opts.Ready(request)
		}
		return nil
	}
}

func (e *endpoint) protected() http.Handler {
	if e.guard == nil {
		return e.handler
	}
	return e.guard.Protect(e.handler)
}

// exactly returns the pattern that matches a path, and nothing below it.
func exactly(path string) string {
	if path[len(path)-1] == '/' {
		return path + "{$}"
	}
	return path
}

func (s *site) announce(addr net.Addr) {
	scheme := "http"
	if s.opts.hasTLS() {
		scheme = "https"
	}
	log := s.opts.Logger
	log.Info("serving", "url", scheme+"://"+addr.String()+s.opts.Path)
	if webserver.IsPublic(addr) && s.opts.Guard == nil && s.opts.Principal == nil {
		log.Warn("this address can be reached from other machines, and clients are not authenticated")
	}
}
