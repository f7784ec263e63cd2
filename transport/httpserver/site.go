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
	endpoints []endpoint // that of Streamable HTTP first
}

// endpoint is where clients reach the server.
type endpoint struct {
	path    string
	guard   *auth.Guard // nil lets everybody in
	handler webserver.Endpoint
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
	s.endpoints = []endpoint{{o.Path, o.Guard, main}}
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
		Logger: s.opts.Logger, Drain: s.drain, GracePeriod: s.opts.GracePeriod, End: s.end, CloseTimeout: s.opts.CloseTimeout,
	}
	return web.Serve(ctx, l)
}

// drain waits for the requests of all endpoints.
func (s *site) drain(ctx context.Context) error { return webserver.Drain(ctx, s.handlers()) }

// end ends the requests and sessions of all endpoints.
func (s *site) end(ctx context.Context) error {
	err := webserver.Close(ctx, s.handlers())
	if s.opts.Finish != nil {
		err = errors.Join(err, s.opts.Finish(ctx))
	}
	return err
}

func (s *site) handlers() []webserver.Endpoint {
	all := make([]webserver.Endpoint, 0, len(s.endpoints))
	for _, e := range s.endpoints {
		all = append(all, e.handler)
	}
	return all
}

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
	webserver.Health{Ending: ctx.Done(), Ready: s.opts.Ready}.Mount(mux)
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
