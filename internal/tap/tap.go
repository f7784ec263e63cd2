// Package tap lets the other packages show an mcp.Tap the messages that travel, and
// count those that are dropped. Without a tap, its only cost is an atomic counter of
// dropped messages.
package tap

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// Conn observes one connection. A nil Conn has no tap, and counts what is dropped
// in mcp.ProcessDrops. It is safe for concurrent use.
type Conn struct {
	tap     mcp.Tap // nil if nobody observes
	drops   *mcp.Drops
	side    mcp.Side
	id      uint64
	session atomic.Pointer[string]
	taken   atomic.Bool
}

// last is the number given most recently to a connection or an HTTP request.
var last atomic.Uint64

// New returns a Conn with a number of its own. t may be nil; a nil drops means
// mcp.ProcessDrops().
func New(t mcp.Tap, drops *mcp.Drops, side mcp.Side) *Conn {
	c := &Conn{tap: t, drops: cmp.Or(drops, mcp.ProcessDrops()), side: side}
	if t != nil {
		c.id = last.Add(1)
	}
	return c
}

// Serving returns a Conn for a connection of a server.
func Serving(o mcp.ServeOptions) *Conn { return New(o.Tap, o.Drops, mcp.ServerSide) }

// Another returns a Conn for another connection, with the same tap and drops.
func (c *Conn) Another() *Conn { return New(c.tap, c.drops, c.side) }

// Watched reports whether there is a tap. Frames need to be shown only then.
func (c *Conn) Watched() bool { return c != nil && c.tap != nil }

// SetSession sets the identifier of the HTTP session on the connection from now on.
func (c *Conn) SetSession(id string) {
	if c.Watched() {
		c.session.Store(&id)
	}
}

// Frame shows a frame of a connection without HTTP. It is called before the
// frame is written, or after it was read.
func (c *Conn) Frame(d mcp.Direction, frame []byte) {
	if c.Watched() {
		c.emit(mcp.TapEvent{Direction: d, Frame: frame})
	}
}

// Drop counts and shows a dropped message whose encoded form is not at hand. method
// may be "", and err nil.
func (c *Conn) Drop(d mcp.Direction, reason mcp.DropReason, method string, err error) {
	c.drop(mcp.TapEvent{Direction: d, Dropped: reason, Method: method, Err: err, Count: 1})
}

// DropFrame is Drop for a message whose encoded form is at hand.
func (c *Conn) DropFrame(d mcp.Direction, reason mcp.DropReason, method string, frame []byte, err error) {
	c.drop(mcp.TapEvent{Direction: d, Dropped: reason, Method: method, Frame: frame, Err: err, Count: 1})
}

// DropMany is Drop for n messages of which only their number is known. It does
// nothing if n is 0.
func (c *Conn) DropMany(d mcp.Direction, reason mcp.DropReason, n uint64, err error) {
	if n > 0 {
		c.drop(mcp.TapEvent{Direction: d, Dropped: reason, Err: err, Count: n})
	}
}

func (c *Conn) drop(e mcp.TapEvent) {
	if c == nil {
		mcp.ProcessDrops().Add(e.Dropped, e.Count)
		return
	}
	c.drops.Add(e.Dropped, e.Count)
	if c.tap != nil {
		c.emit(e)
	}
}

func (c *Conn) emit(e mcp.TapEvent) {
	e.Time, e.Side, e.Connection = time.Now(), c.side, c.id
	if id := c.session.Load(); id != nil {
		e.Session = *id
	}
	c.tap(e)
}

type key struct{}

// With returns a context for a transport's Connect, which says that c observes the
// connection.
func With(ctx context.Context, c *Conn) context.Context { return context.WithValue(ctx, key{}, c) }

// Take returns the Conn of a context, for a transport that shows everything that
// travels on the connection it makes. If the context has none, Take returns one
// without a tap.
func Take(ctx context.Context) *Conn {
	c, ok := ctx.Value(key{}).(*Conn)
	if !ok {
		return New(nil, nil, mcp.ClientSide)
	}
	c.taken.Store(true)
	return c
}

// Taken reports whether a transport has taken the Conn. If none has, the user of
// the transport shows the messages instead, as far as it knows them.
func (c *Conn) Taken() bool { return c.taken.Load() }

// because is an error with the reason under which to count the message it stopped.
type because struct {
	error
	reason mcp.DropReason
}

func (b *because) Unwrap() error { return b.error }

// Because wraps err so that ReasonOf finds the reason.
func Because(reason mcp.DropReason, err error) error { return &because{err, reason} }

// ReasonOf returns the reason why a message was not written: the one given to
// Because, or DropUndelivered.
func ReasonOf(err error) mcp.DropReason {
	if b, ok := errors.AsType[*because](err); ok {
		return b.reason
	}
	return mcp.DropUndelivered
}
