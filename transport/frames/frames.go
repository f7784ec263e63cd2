// Package frames runs the protocol over any connection that carries messages in
// order: a socket, a WebSocket, a subject of a message bus, a pipe in memory.
// Implement Conn for the connection, or make a Conn from a byte stream with Lines.
// Pass it to Serve, or to a client through Client. InProcess connects a client to
// a server in the same process.
//
//	err := frames.Serve(ctx, srv, conn, nil)                       // the server's end
//	c, err := client.Connect(ctx, frames.InProcess(srv, nil), nil) // both ends
//
// A connection carries every revision, of both eras, and follows the rules of
// standard streams: a session, if there is one, lasts as long as the connection,
// and requests are cancelled by notifications/cancelled. How the connection is
// established is up to the caller. The directory examples/websocket has both roles
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
	// Read waits for the next message of the peer and returns it. It is called
	// by one goroutine at a time; the returned slice belongs to the caller.
	//
	// An error ends the connection. io.EOF, which may be wrapped, says that the
	// peer has closed the connection cleanly, and that requests in flight may
	// still be answered. The one exception is a *jsonrpc.TooLongError, which says
	// that a message was skipped because of its length: a server refuses the
	// message and reads on, whereas a client gives up, since it cannot tell which
	// call the message answered. After Close, Read fails.
	Read() ([]byte, error)
	// Write sends a message, which contains no line break. It may be called
	// concurrently with itself, Read and Close, and must not interleave messages.
	// It must not retain the message after it returns. It may block on a slow
	// peer until Close. Once it has failed, the connection is unusable, and Read
	// should fail as well.
	Write(message []byte) error
	// Close closes the connection in both directions and unblocks Read and
	// Write. It may be called more than once, and concurrently.
	Close() error
}

// Options configure Serve and InProcess. The zero value is complete: it serves an
// unauthenticated client.
type Options struct {
	mcp.ServeOptions

	// Principal is the identity that the client was authenticated as. It becomes
	// mcp.Peer.Principal of every exchange. "" means the principal of
	// Authorization.
	Principal string
	// Authorization is what was verified about the principal, or nil. It becomes
	// mcp.Peer.Authorization of every exchange. When it expires, the connection
	// ends.
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
// authorization expires. If the client closed the connection, requests in flight
// have mcp.ServeOptions.DrainTimeout to finish, and Serve returns nil. Otherwise
// they are cancelled, and Serve returns the error of Conn.Read, or the cause of
// ctx. When Serve returns, conn is closed and all goroutines of the connection
// have ended, except one in a Read that does not return after Close. opts may be
// nil.
//
// Messages over MaxMessageBytes are refused; the connection stays open.
func Serve(ctx context.Context, h mcp.Handler, conn Conn, opts *Options) error {
	return stream.ServeFor(ctx, h, conn, opts.serve(), opts.sender())
}

// Lines returns a Conn over two byte streams, with one message on each line, the
// format of standard streams. Close closes r and w if they are io.Closers; a Read
// that waits for an r that is not returns only when r does. A line longer than
// maxMessageBytes is skipped; 0 means 64 MiB. While a client sends requests faster
// than they are answered, several answers go out in one write.
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
		_ = c.Close() // no data can be lost here; r may be the same as w
	}
	return err
}

// Pipe returns the two ends of a connection in memory. It holds up to 64
// messages in each direction; then Write waits for the other end to read. Messages
// that were written before Close can still be read.
func Pipe() (a, b Conn) { return stream.Pipe() }

// orDefault returns the bound of a message in bytes: the given one, or 64 MiB.
func orDefault(maxMessageBytes int) int {
	if maxMessageBytes <= 0 {
		return 64 << 20
	}
	return maxMessageBytes
}
