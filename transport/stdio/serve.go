// Package stdio is the transport over standard streams: a server that is started
// by its client and uses its standard input and output, and a client that starts
// such a server. The same format works over any reliable byte stream, such as a
// Unix socket.
//
//	err := stdio.Serve(ctx, srv, nil)                                             // a server's main
//	c, err := client.Connect(ctx, &stdio.Command{Args: []string{"greeter"}}, nil) // its client
//
// Spec: 2026-07-28 basic/transports/stdio.
package stdio

import (
	"context"
	"io"
	"os"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/frames"
)

// Serve serves one client on standard input and output until the client closes
// the input or ctx ends. If the client closed the input, requests in flight have
// mcp.ServeOptions.DrainTimeout to finish; otherwise they are cancelled. One
// process serves every revision, of both eras. opts may be nil.
//
// Nothing else may write to standard output while Serve runs, since that carries
// the protocol. Logs belong on standard error.
func Serve(ctx context.Context, h mcp.Handler, opts *mcp.ServeOptions) error {
	return ServeOn(ctx, h, os.Stdin, os.Stdout, opts)
}

// ServeOn is Serve over other streams, such as a socket or a pipe. When it returns,
// those of the two that are io.Closers have been closed. Package frames has the
// client's role as well, and options that say who the client is.
func ServeOn(ctx context.Context, h mcp.Handler, r io.Reader, w io.Writer, opts *mcp.ServeOptions) error {
	o := era.WithDefaults(opts)
	return frames.Serve(ctx, h, frames.Lines(r, w, o.MaxMessageBytes), &frames.Options{ServeOptions: o})
}
