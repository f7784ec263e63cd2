// Package tap is how the other packages tell an mcp.Tap what travels, and count
// what is dropped. Without a tap, all that is left of it is an atomic counter
// for what is dropped.
package tap

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// Conn is one connection as it is observed. A nil Conn is one without a tap
// that counts for the process. It is safe for concurrent use.
type Conn struct {
	tap     mcp.Tap // nil: nobody looks
	drops   *mcp.Drops
	side    mcp.Side
	id      uint64
	session atomic.Pointer[string]
	taken   atomic.Bool
}

// last is the last number that was given to a connection or an HTTP request.
var last atomic.Uint64

// New returns a connection with a number of its own. drops may be nil.
func New(t mcp.Tap, drops *mcp.Drops, side mcp.Side) *Conn {
	c := &Conn{tap: t, drops: cmp.Or(drops, mcp.ProcessDrops()), side: side}
	if t != nil {
		c.id = last.Add(1)
	}
	return c
}

// Serving returns a connection of a server.
func Serving(o mcp.ServeOptions) *Conn { return New(o.Tap, o.Drops, mcp.ServerSide) }

// Another returns a connection that is observed as this one is.
func (c *Conn) Another() *Conn { return New(c.tap, c.drops, c.side) }

// Watched reports whether somebody looks: only then is there a need to show
// frames.
func (c *Conn) Watched() bool { return c != nil && c.tap != nil }

// SetSession says what session, over HTTP, is on the connection from now on.
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

// Drop counts and shows a message that is not there encoded. method may be "",
// and err nil.
func (c *Conn) Drop(d mcp.Direction, reason mcp.DropReason, method string, err error) {
	c.drop(mcp.TapEvent{Direction: d, Dropped: reason, Method: method, Err: err, Count: 1})
}

// DropFrame is Drop for a message that is there.
func (c *Conn) DropFrame(d mcp.Direction, reason mcp.DropReason, method string, frame []byte, err error) {
	c.drop(mcp.TapEvent{Direction: d, Dropped: reason, Method: method, Frame: frame, Err: err, Count: 1})
}

// DropMany is Drop for n messages of which nothing but their number is known;
// 0 is none.
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

// With returns a context for a transport's Connect, whose connection is to be
// observed as c.
func With(ctx context.Context, c *Conn) context.Context { return context.WithValue(ctx, key{}, c) }

// Take returns the Conn of a context, for a transport that shows everything
// that travels on the connection it makes. Where there is none, nobody looks.
func Take(ctx context.Context) *Conn {
	c, ok := ctx.Value(key{}).(*Conn)
	if !ok {
		return New(nil, nil, mcp.ClientSide)
	}
	c.taken.Store(true)
	return c
}

// Taken reports whether a transport has taken the Conn. Where none has, whoever
// uses the transport shows what it knows of the messages.
func (c *Conn) Taken() bool { return c.taken.Load() }

// because is an error that knows under which reason to count what it stopped.
type because struct {
	error
	reason mcp.DropReason
}

func (b *because) Unwrap() error { return b.error }

// Because returns err as one by which ReasonOf finds the reason.
func Because(reason mcp.DropReason, err error) error { return &because{err, reason} }

// ReasonOf returns the reason for which what was to be written was not: that
// of Because, or DropUndelivered.
func ReasonOf(err error) mcp.DropReason {
	if b, ok := errors.AsType[*because](err); ok {
		return b.reason
	}
	return mcp.DropUndelivered
}
