// Package httpserver is an HTTP server for MCP in one call: it listens, serves an
// mcp.Handler, and ends with a context.
//
//	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
//	defer stop()
//	err := httpserver.Serve(ctx, ":7331", srv, nil)
//
// Clients of every revision that has Streamable HTTP reach the server at /mcp,
// /healthz says that it is alive, and /readyz that it takes requests. An address without
// a host, as here, is on the loopback. Options add TLS, authorization, HTTP+SSE of
// 2024-11-05, and pages of your own.
//
// Who has an http.Server already mounts the handlers of packages streamable and sse
// there instead; see docs/http.md.
package httpserver

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/parley-mcp/parley/internal/webserver"
	"github.com/parley-mcp/parley/mcp"
)

// Serve listens at addr and serves h until ctx ends. opts may be nil.
//
// When ctx ends, /readyz fails at once. Requests in flight have Options.GracePeriod to
// finish, and new ones are refused with 503. Connections are still accepted: the answers
// to the server's questions come on them, and /healthz goes on to say that the process is
// alive. Then Serve cancels what is left, whose clients get an error as their answer,
// ends all streams and sessions, closes the listener, and returns nil. If something does
// not end within Options.CloseTimeout, its connection is cut, and Serve returns an error
// that is context.DeadlineExceeded.
//
// addr is a host and a port. Without a host, such as in ":7331", it is 127.0.0.1, which
// only programs of this machine reach; "0.0.0.0:7331" can be reached from everywhere.
// Then set Options.Hosts, TLS and Options.Guard.
//
// Spec: 2026-07-28 basic/transports/streamable-http#security--endpoint.
func Serve(ctx context.Context, addr string, h mcp.Handler, opts *Options) error {
	site, err := open(h, opts)
	if err != nil {
		return err
	}
	l, err := webserver.Listen(ctx, addr)
	if err != nil {
		return fmt.Errorf("httpserver: %w", err)
	}
	return site.serve(ctx, l)
}

// ServeOn is Serve with a listener of your own, such as one of systemd, or one at port 0
// whose port you want to know. When it returns, l is closed.
func ServeOn(ctx context.Context, l net.Listener, h mcp.Handler, opts *Options) error {
	site, err := open(h, opts)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	return site.serve(ctx, l)
}
