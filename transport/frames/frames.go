// Package frames puts the protocol on any connection that carries messages in
// order: a socket, a WebSocket, a subject of a message bus, a pipe in memory.
// Implement Conn for it, or make one of a stream of bytes with Lines, and hand
// it to Serve, or to a client through Client. InProcess connects a client to a
// server in the same process.
//
// A connection speaks every revision, of both eras, as standard streams do: a
// session, if there is one, lasts as long as the connection, requests are
// cancelled by notifications/cancelled, and how the connection is established
// is up to whoever makes it. The directory examples/websocket has both roles
// over WebSocket.
//
// Spec: 2026-07-28 basic/transports#custom-transports.
package frames

import (
	"context"
	"io"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/stream"
	"github.com/parley-mcp/parley/mcp"
)

// Conn is a connection that carries whole messages in both directions, in
// order, and loses none. A message is the JSON text of one JSON-RPC message, or
// of an array of them; Conn need not look into it.
type Conn interface {
	// Read returns the next message of the peer, and waits for it. It is called
	// by one goroutine at a time; what it returns belongs to the caller.
	//
	// An error ends the connection: io.EOF, which may be wrapped, says that the
	// peer has closed it in good order, and requests in flight may still be
	// answered. One exception is a *jsonrpc.TooLongError, which says that a
	// message was read past because of its length: a server refuses it and
	// reads on, a client cannot know whose answer it was and gives up. After
	// Close, Read fails.
	Read() ([]byte, error)
	// Write sends a message, which has no line break in it. It may be called
	// concurrently, also with Read and Close; the messages must not mix. It
	// must not keep the message when it returns. It may wait for a slow peer,
	// until Close. When it fails, the connection is of no more use, and Read
	// should fail as well.
	Write(message []byte) error
	// Close ends the connection in both directions: calls of Read and Write
	// that wait return. It may be called twice, and concurrently.
	Close() error
}

// Options are what Serve and InProcess take beside the handler. The zero value
// is complete: it serves a client of whom nothing is known.
type Options struct {
	mcp.ServeOptions

	// Principal is who the other end was authenticated as; it becomes
	// mcp.Peer.Principal of every exchange. "" means that of Authorization.
	Principal string
	// Authorization is what is known of the principal, or nil; it becomes
	// mcp.Peer.Authorization. When it expires, the connection ends.
	Authorization *mcp.Authorization
}

func (o *Options) sender() era.Sender {
	if o == nil {
		return era.Sender{}
	}
	sender := era.Sender{Principal: o.Principal, Authorization: o.Authorization}
	if sender.Principal == "" {
		sender.Principal = o.Authorization.Principal()
	}
	return sender
}

func (o *Options) serve() mcp.ServeOptions {
	if o == nil {
		o = new(Options)
	}
	return era.WithDefaults(&o.ServeOptions)
}

// Serve serves one client until it closes the connection, ctx ends, or the
// authorization expires. When the client has closed, requests in flight have
// mcp.ServeOptions.DrainTimeout to finish, and Serve returns nil; otherwise they
// are cancelled, and it returns the error of Conn.Read, or the cause of ctx.
// When Serve returns, conn is closed and nothing that belongs to it runs any
// more, unless its Read does not end with Close. opts may be nil.
//
// Messages over MaxMessageBytes are refused, and the connection goes on.
func Serve(ctx context.Context, h mcp.Handler, conn Conn, opts *Options) error {
	return stream.ServeFor(ctx, h, conn, opts.serve(), opts.sender())
}

// Lines returns a Conn over two streams of bytes, one message to a line, as
// standard streams have it. Close closes those of the two that are io.Closers:
// without that, Read waits as long as r does. A line over maxMessageBytes is
// read past; 0 means 64 MiB. While a client sends requests faster than they are
// answered, answers gather and go out in one write.
//
// Spec: 2026-07-28 basic/transports/stdio.
func Lines(r io.Reader, w io.Writer, maxMessageBytes int) Conn {
	return stream.Lines(r, w, orDefault(maxMessageBytes), func() error { return closeBoth(r, w) })
}

func closeBoth(r io.Reader, w io.Writer) error {
	var err error
	if c, ok := w.(io.Closer); ok {
		err = c.Close()
	}
	if c, ok := r.(io.Closer); ok {
		_ = c.Close() // nothing can be lost here; it may be the same as w
	}
	return err
}

// Pipe returns the two ends of a connection in memory. It holds up to 64
// messages in each direction; then Write waits for the other end to read. What
// was written before Close can still be read.
func Pipe() (a, b Conn) { return stream.Pipe() }

// orDefault returns the bound of a message in bytes.
func orDefault(maxMessageBytes int) int {
	if maxMessageBytes <= 0 {
		return 64 << 20
	}
	return maxMessageBytes
}
