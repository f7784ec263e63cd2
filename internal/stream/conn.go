package stream

import (
	"context"
	"encoding/json"
	"errors"
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
	seen      *tap.Conn
	inbound   era.Inbound
	calls     calls.Table
	listens   sync.Map        // of jsonrpc.ID: subscriptions in flight
	bad       sync.Map        // jsonrpc.ID → error: why a call has no answer that could be read
	refusals  serial.Queue    // of requests of the server; reading goes on while they are written
	ctx       context.Context //nolint:containedctx // the connection's life: ended by its end
	end       context.CancelCauseFunc
	done      chan struct{}
	work      sync.WaitGroup
	farewells sync.WaitGroup // withdrawals that are being written

	mu      sync.Mutex
	err     error
	closing bool
}

var _ mcp.Conn = (*Conn)(nil)

// Dial starts reading frames. The goroutine it starts, and those that answer
// requests of the server, have ended when Close returns. explain, which may
// be nil, adds to the error of a connection that ended by itself what its
// owner knows of it. seen is the connection as it is observed; an
// Unordered one shows its frames itself.
func Dial(frames Frames, receiver mcp.Receiver, limit int, explain func(error) error, seen *tap.Conn) *Conn {
	ctx, end := context.WithCancelCause(context.Background())
	if _, unordered := frames.(Unordered); !unordered {
		frames = watched(asBuffered(frames), seen)
	}
	l := &Conn{frames: frames, seen: seen, ctx: ctx, end: end, done: make(chan struct{})}
	l.inbound = era.Inbound{
		Receiver: receiver, Decoder: jsonrpc.Decoder{MaxBytes: limit}, Seen: seen,
		Reply:  frames.Write,
		Go:     func(f func()) bool { l.work.Go(f); return true }, // ends with the answer; Close waits for it
		Refuse: func(f func()) bool { l.refusals.Add(f); return true },
	}
	l.work.Add(1)
	go l.run(explain)
	return l
}

func (l *Conn) run(explain func(error) error) {
	defer l.work.Done()
	err := l.read()
	if errors.Is(err, io.EOF) {
		err = jsonrpc.ErrClosed
	}
	l.mu.Lock()
	closing := l.closing
	l.mu.Unlock()
	if !closing && explain != nil {
		err = explain(err)
	}
	l.mu.Lock()
	l.err = err
	l.mu.Unlock()
	l.end(err)
	close(l.done) // before the calls fail: whoever sees that may look what is left
	l.calls.Close(err)
}

func (l *Conn) read() error {
	for {
		frame, err := l.frames.Read()
		if err != nil {
			// Also one that is too long: the answer to some call was in it, and
			// nobody knows to which.
			if long, ok := errors.AsType[*jsonrpc.TooLongError](err); ok {
				l.seen.Drop(mcp.Received, mcp.DropTooLong, "", long)
			}
			return err
		}
		l.inbound.Take(frame, pending{l})
	}
}

// pending are the calls of a link.
type pending struct{ *Conn }

var _ era.Pending = pending{}

// Resolve implements era.Pending.
func (p pending) Resolve(m *jsonrpc.Message) bool { return p.calls.Resolve(m) }

// Fail implements era.Pending. A call whose ID is not known goes on waiting.
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

// Answers implements era.Pending. Where there is no session, the receiver does
// not answer.
func (pending) Answers() bool { return true }

// Context implements era.Pending: it is not known which call something belongs
// to.
func (p pending) Context() context.Context { return p.ctx }

// fail ends a call with an error of this side, and reports whether there is
// such a call.
func (l *Conn) fail(id jsonrpc.ID, err error) bool {
	l.bad.Store(id, err)
	if !l.calls.Resolve(&jsonrpc.Message{Kind: jsonrpc.Response, ID: id}) {
		l.bad.Delete(id)
		return false
	}
	return true
}

func (l *Conn) write(m *jsonrpc.Message) {
	frame, err := jsonrpc.Append(nil, m)
	if err == nil {
		err = l.frames.Write(frame)
	}
	if err != nil {
		l.seen.DropFrame(mcp.Sent, tap.ReasonOf(err), m.Method, frame, err)
	}
}

// RoundTrip implements mcp.Conn.
//
// Spec: 2026-07-28 basic/transports/stdio#cancellation.
func (l *Conn) RoundTrip(ctx context.Context, request *jsonrpc.Message) (*jsonrpc.Message, error) {
	call, err := l.calls.Start(request.ID)
	if err != nil {
		return nil, err
	}
	if request.Method == mcp.MethodListen {
		l.listens.Store(request.ID, true)
		defer l.listens.Delete(request.ID)
	}
	defer l.bad.Delete(request.ID)
	frame, err := jsonrpc.Append(nil, request)
	if err != nil {
		call.Forget()
		return nil, err
	}
	if err := l.writeCall(ctx, request.ID, frame); err != nil {
		call.Forget()
		return nil, err
	}
	response, err := call.Wait(ctx)
	// initialize must not be cancelled.
	// Spec: 2025-11-25 basic/utilities/cancellation#behavior-requirements (2).
	if err != nil && ctx.Err() != nil && request.Method != mcp.MethodInitialize {
		l.withdraw(request, err)
	}
	if reason, ok := l.bad.Load(request.ID); ok && err == nil {
		return nil, reason.(error) //nolint:forcetypeassert // the map holds nothing else
	}
	return response, err
}

// writeCall writes a request.
func (l *Conn) writeCall(ctx context.Context, id jsonrpc.ID, frame []byte) error {
	if l.unordered() {
		return l.postCall(id, frame)
	}
	if err := l.writeWithin(ctx, frame); err != nil {
		return l.broken(err)
	}
	return nil
}

// writeWithin writes a frame for a caller who does not wait for ever. A server
// that has stopped reading, for so long that nothing more can be written, is
// given up: a part of a frame may be out already, and nothing can follow it.
func (l *Conn) writeWithin(ctx context.Context, frame []byte) error {
	written := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { // ends with the write, which it ends
		timer := time.NewTimer(farewell)
		defer timer.Stop()
		select {
		case <-written:
		case <-timer.C:
			_ = l.frames.Close() // the write then says what became of it
		}
	})
	err := l.frames.Write(frame)
	close(written)
	stop()
	return err
}

// broken prefers what ended the connection to what a write says of it. A peer
// that ended is noticed by a write first: what it said last, and how it ended,
// is known a moment later.
func (l *Conn) broken(err error) error {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-l.done:
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.err
	case <-timer.C:
		return err
	}
}

// withdraw tells the server that an answer is no longer wanted. It does not
// hold up the caller: the server may have stopped reading.
func (l *Conn) withdraw(request *jsonrpc.Message, why error) {
	m, err := jsonrpc.NewNotification(mcp.NoteCancelled, &mcp.CancelledParams{RequestID: request.ID, Reason: why.Error()})
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing || l.err != nil {
		l.seen.Drop(mcp.Sent, mcp.DropClosed, mcp.NoteCancelled, l.err)
		return
	}
	l.farewells.Add(1)
	l.work.Go(func() { // ends with the write, which Close ends; Close waits for it
		defer l.farewells.Done()
		l.write(m)
	})
}

// farewell is how long Close lets withdrawals go out before it ends the
// connection: a server that hears of them stops work that nobody wants. A
// write whose caller has gone has as long.
const farewell = 500 * time.Millisecond

// Send implements mcp.Conn.
func (l *Conn) Send(ctx context.Context, notification *jsonrpc.Message) error {
	frame, err := jsonrpc.Append(nil, notification)
	if err != nil {
		return err
	}
	if l.unordered() {
		return l.postWithin(ctx, frame)
	}
	if err := l.writeWithin(ctx, frame); err != nil {
		return l.broken(err)
	}
	return nil
}

// Done implements mcp.Conn.
func (l *Conn) Done() <-chan struct{} { return l.done }

// Err implements mcp.Conn.
func (l *Conn) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		return nil
	}
	return l.err
}

// Close implements mcp.Conn.
func (l *Conn) Close() error {
	l.mu.Lock()
	l.closing = true
	l.mu.Unlock()
	serial.WaitFor(&l.farewells, farewell)
	l.end(jsonrpc.ErrClosed)
	err := l.frames.Close()
	l.work.Wait()
	l.refusals.Wait()
	return err
}
