package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/calls"
	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/serial"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Conn is the client's end of a connection of frames.
type Conn struct {
	frames    Frames
	junk      junk
	seen      *tap.Conn
	inbound   era.Inbound
	calls     calls.Table
	listens   sync.Map        // of jsonrpc.ID: subscriptions in flight
	bad       sync.Map        // jsonrpc.ID → error: why the answer to a call could not be read
	refusals  serial.Queue    // of the server's requests; reading goes on while they are written
	ctx       context.Context //nolint:containedctx // the connection's lifetime: cancelled when it ends
	end       context.CancelCauseFunc
	done      chan struct{}
	work      sync.WaitGroup
	farewells sync.WaitGroup // withdrawals that are being written

	mu      sync.Mutex
	err     error
	closing bool
	stuck   bool // a write was given up, and the connection with it
}

var _ mcp.Conn = (*Conn)(nil)

// Dial starts reading frames. The goroutine it starts, and those that answer
// the server's requests, have ended when Close returns. explain, which may be
// nil, adds the owner's knowledge to the error of a connection that was not
// ended by Close. seen observes the connection; Unordered frames report
// themselves to it.
func Dial(frames Frames, receiver mcp.Receiver, limit int, explain func(error) error, seen *tap.Conn) *Conn {
	ctx, end := context.WithCancelCause(context.Background())
	if _, unordered := frames.(Unordered); !unordered {
		frames = watched(asBuffered(frames), seen)
	}
	c := &Conn{frames: frames, seen: seen, ctx: ctx, end: end, done: make(chan struct{})}
	c.inbound = era.Inbound{
		Receiver: receiver, Decoder: jsonrpc.Decoder{MaxBytes: limit}, Seen: seen,
		Reply:  frames.Write,
		Go:     func(f func()) bool { c.work.Go(f); return true }, // ends with the answer; Close waits for it
		Refuse: func(f func()) bool { c.refusals.Add(f); return true },
	}
	if r, ok := receiver.(era.Complainer); ok {
		c.inbound.Complain = r.Complain
	}
	c.work.Add(1)
	go c.run(explain)
	return c
}

func (c *Conn) run(explain func(error) error) {
	defer c.work.Done()
	err := c.read()
	if errors.Is(err, io.EOF) {
		err = jsonrpc.ErrClosed
	}
	c.mu.Lock()
	closing, stuck := c.closing, c.stuck
	c.mu.Unlock()
	switch {
	case closing:
	case stuck:
		err = errNotRead
	case explain != nil:
		err = explain(err)
	}
	c.mu.Lock()
	c.err = err
	c.mu.Unlock()
	c.end(err)
	close(c.done) // before the calls fail: whoever sees one fail may check Done
	c.calls.Close(err)
}

func (c *Conn) read() error {
	for {
		frame, err := c.frames.Read()
		if err != nil {
			// A frame that is too long ends the connection, too: it held the
			// answer to a call, and there is no telling which.
			if long, ok := errors.AsType[*jsonrpc.TooLongError](err); ok {
				c.seen.Drop(mcp.Received, mcp.DropTooLong, "", long)
			}
			return err
		}
		if c.inbound.Take(frame, pending{c}) {
			c.junk.message()
		} else if err := c.junk.count(len(frame)); err != nil {
			return err
		}
	}
}

// pending is the calls of a connection that wait for their answers.
type pending struct{ *Conn }

var _ era.Pending = pending{}

// Resolve implements era.Pending.
func (p pending) Resolve(m *jsonrpc.Message) bool { return p.calls.Resolve(m) }

// Late implements era.Pending.
func (p pending) Late(id jsonrpc.ID) bool { return p.calls.Late(id) }

// Fail implements era.Pending. A response whose ID could not be
// read fails no call.
func (p pending) Fail(id jsonrpc.ID, err error) bool {
	return !id.IsZero() && p.fail(id, err)
}

// EndListen implements era.Pending.
func (p pending) EndListen(id jsonrpc.ID) bool {
	if _, ok := p.listens.LoadAndDelete(id); !ok {
		return false
	}
	p.calls.Resolve(&jsonrpc.Message{Kind: jsonrpc.Response, ID: id, Result: json.RawMessage("{}")})
	return true
}

// Undelivered implements era.Pending. Where messages are sent one by one, as over
// HTTP+SSE, the server may refuse an answer alone. If one call is in flight, it is
// the one that asked, and fails; otherwise there is no telling.
func (p pending) Undelivered(err error) {
	if id, ok := p.calls.Only(); ok && p.ctx.Err() == nil {
		p.fail(id, fmt.Errorf("the server did not take the answer to its question: %w", err))
	}
}

// Answers implements era.Pending. Outside a session it is the receiver that
// refuses to answer.
func (pending) Answers() bool { return true }

// Context implements era.Pending. On a stream nothing tells which call a
// message belongs to, so this is the connection's context.
func (p pending) Context() context.Context { return p.ctx }

// fail ends a call with an error of the client's own, and reports whether
// there is such a call.
func (c *Conn) fail(id jsonrpc.ID, err error) bool {
	c.bad.Store(id, err)
	if !c.calls.Resolve(&jsonrpc.Message{Kind: jsonrpc.Response, ID: id}) {
		c.bad.Delete(id)
		return false
	}
	return true
}

func (c *Conn) write(m *jsonrpc.Message) {
	frame, err := jsonrpc.Append(nil, m)
	if err == nil {
		err = c.frames.Write(frame)
	}
	if err != nil {
		c.seen.DropFrame(mcp.Sent, tap.ReasonOf(err), m.Method, frame, err)
	}
}

// RoundTrip implements mcp.Conn.
//
// Spec: 2026-07-28 basic/transports/stdio#cancellation.
func (c *Conn) RoundTrip(ctx context.Context, request *jsonrpc.Message) (*jsonrpc.Message, error) {
	call, err := c.calls.Start(request.ID)
	if err != nil {
		return nil, err
	}
	if request.Method == mcp.MethodListen {
		c.listens.Store(request.ID, true)
		defer c.listens.Delete(request.ID)
	}
	defer c.bad.Delete(request.ID)
	frame, err := jsonrpc.Append(nil, request)
	if err != nil {
		call.Forget()
		return nil, err
	}
	if err := c.writeCall(ctx, request.ID, frame); err != nil {
		call.Forget()
		return nil, err
	}
	response, err := call.Wait(ctx)
	if lost := c.Err(); err != nil && lost != nil {
		return nil, lost // even if ctx has ended as a consequence
	}
	// initialize must not be cancelled.
	// Spec: 2025-11-25 basic/utilities/cancellation#behavior-requirements (2).
	if err != nil && ctx.Err() != nil && request.Method != mcp.MethodInitialize {
		c.withdraw(request, err)
	}
	if reason, ok := c.bad.Load(request.ID); ok && err == nil {
		return nil, reason.(error) //nolint:forcetypeassert // the map holds nothing else
	}
	return response, err
}

func (c *Conn) writeCall(ctx context.Context, id jsonrpc.ID, frame []byte) error {
	if c.unordered() {
		return c.postCall(id, frame)
	}
	return c.writeWithin(ctx, frame)
}

// errNotRead is why a connection ends on which nothing can be written any more.
var errNotRead = errors.New("the server does not read what it is sent")

// writeWithin writes a frame, but gives up the connection if ctx ends while the
// write is stuck because the server has stopped reading: part of the frame may
// have been sent, so nothing can follow it.
func (c *Conn) writeWithin(ctx context.Context, frame []byte) error {
	written := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { // ends with the write, which it ends after farewell at the latest
		timer := time.NewTimer(farewell)
		defer timer.Stop()
		select {
		case <-written:
		case <-timer.C:
			c.mu.Lock()
			c.stuck = true
			c.mu.Unlock()
			_ = c.frames.Close() // the write then fails
		}
	})
	err := c.frames.Write(frame)
	close(written)
	stop()
	if err == nil {
		return nil
	}
	if err = c.broken(err); errors.Is(err, errNotRead) && ctx.Err() != nil {
		return fmt.Errorf("%w: %w", errNotRead, context.Cause(ctx))
	}
	return err
}

// broken replaces the error of a write by the reason why the connection ended.
// When a peer exits, a write is the first to fail; its last words and its exit
// status are known a moment later.
func (c *Conn) broken(err error) error {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-c.done:
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.err
	case <-timer.C:
		return err
	}
}

// withdraw tells the server that an answer is no longer wanted. It does not
// block: the server may have stopped reading.
func (c *Conn) withdraw(request *jsonrpc.Message, why error) {
	m, err := jsonrpc.NewNotification(mcp.NoteCancelled, &mcp.CancelledParams{RequestID: request.ID, Reason: why.Error()})
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing || c.err != nil {
		c.seen.Drop(mcp.Sent, mcp.DropClosed, mcp.NoteCancelled, c.err)
		return
	}
	c.farewells.Add(1)
	c.work.Go(func() { // ends with the write, which Close ends; Close waits for it
		defer c.farewells.Done()
		c.write(m)
	})
}

// farewell is how long Close waits for withdrawals to go out before it ends the
// connection, so that the server can stop work that nobody wants. A write whose
// caller's context has ended gets the same time.
const farewell = 500 * time.Millisecond

// Send implements mcp.Conn.
func (c *Conn) Send(ctx context.Context, notification *jsonrpc.Message) error {
	frame, err := jsonrpc.Append(nil, notification)
	if err != nil {
		return err
	}
	if c.unordered() {
		return c.postWithin(ctx, frame)
	}
	return c.writeWithin(ctx, frame)
}

// Done implements mcp.Conn.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err implements mcp.Conn.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return nil
	}
	return c.err
}

// Close implements mcp.Conn.
func (c *Conn) Close() error {
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	serial.WaitFor(&c.farewells, farewell)
	c.end(jsonrpc.ErrClosed)
	err := c.frames.Close()
	c.work.Wait()
	c.refusals.Wait()
	return err
}
