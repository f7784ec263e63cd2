package mcp

import (
	"context"

	"github.com/parley-mcp/parley/jsonrpc"
)

// Transport is how a client reaches a server. Package client uses it; other
// packages implement it. Its methods may be called concurrently.
type Transport interface {
	// Connect opens a connection. Whatever the server sends other than
	// responses goes to receiver until Conn.Close has returned.
	Connect(ctx context.Context, receiver Receiver) (Conn, error)
	// Name identifies the server in caches and messages, for example by its
	// command line or URL.
	Name() string
}

// Conn is one connection to a server. Its methods may be called concurrently.
type Conn interface {
	// RoundTrip sends a request and returns its response. Messages that
	// precede the response have been given to the Receiver when it returns.
	// When ctx ends first, the server is told that the answer is no longer
	// wanted, and the cause of ctx is returned.
	RoundTrip(ctx context.Context, request *jsonrpc.Message) (*jsonrpc.Message, error)
	// Send sends a notification.
	Send(ctx context.Context, notification *jsonrpc.Message) error
	// Done is closed when the connection has ended, by either side.
	Done() <-chan struct{}
	// Err says why the connection ended; nil before, and after Close.
	Err() error
	// Close ends the connection and waits for what belongs to it.
	Close() error
}

// Receiver takes whatever a server sends other than responses. Where a
// transport knows which call a message belongs to, because the message came on
// the stream of that call's response, the context that it passes carries the
// values of the context that RoundTrip got.
type Receiver interface {
	// Notification takes notifications in order. It must not block for long:
	// nothing is read in the meantime. Those that cancel a request have had
	// their effect already.
	Notification(ctx context.Context, m *jsonrpc.Message)
	// Request answers a request of the server. It is called on a goroutine of
	// its own; ctx ends when the server withdraws the request, or with the
	// connection. Where a client must not send answers, both returns are nil.
	Request(ctx context.Context, m *jsonrpc.Message) (result any, err *jsonrpc.Error)
}
