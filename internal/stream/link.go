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
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Link is the client's end of a connection of frames.
type Link struct {
	frames    Frames
	receiver  mcp.Receiver
	decoder   jsonrpc.Decoder
	calls     calls.Table
	listens   sync.Map        // of jsonrpc.ID: subscriptions in flight
	bad       sync.Map        // jsonrpc.ID → error: why a call has no answer that could be read
	asked     era.InFlight    // requests of the server
	refusals  serial.Queue    // of such requests; reading goes on while they are written
	ctx       context.Context //nolint:containedctx // the connection's life: ended by its end
	end       context.CancelCauseFunc
	done      chan struct{}
	work      sync.WaitGroup
	farewells sync.WaitGroup // withdrawals that are being written

	mu      sync.Mutex
	err     error
	closing bool
}

var _ mcp.Conn = (*Link)(nil)

// maxAsked bounds the server's requests that are answered at a time.
const maxAsked = 256

// Dial starts reading frames. The goroutine it starts, and those that answer
// requests of the server, have ended when Close returns. explain, which may
// be nil, adds to the error of a connection that ended by itself what its
// owner knows of it.
func Dial(frames Frames, receiver mcp.Receiver, limit int, explain func(error) error) *Link {
	l := &Link{frames: frames, receiver: receiver, decoder: jsonrpc.Decoder{MaxBytes: limit}, done: make(chan struct{})}
	l.ctx, l.end = context.WithCancelCause(context.Background())
	l.work.Add(1)
	go l.run(explain)
	return l
}

func (l *Link) run(explain func(error) error) {
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

func (l *Link) read() error {
	for {
		frame, err := l.frames.Read()
		var long *TooLongError
		switch {
		case errors.As(err, &long):
			// The answer to some call was in it, and nobody knows to which.
			return err
		case err != nil:
			return err
		case jsonrpc.IsBatch(frame):
			l.batch(frame)
		default:
			m, err := l.decoder.Decode(frame)
			l.message(m, err, l.send)
		}
	}
}

// batch takes an array of messages apart; a client understands one in every
// revision, though servers send them only in 2025-03-26. What answers the
// requests in it goes out as one array, too.
//
// Spec: 2025-03-26 basic#batching.
func (l *Link) batch(frame []byte) {
	entries, err := l.decoder.DecodeBatch(frame)
	if err != nil {
		return // ignored, as any line that is not a message
	}
	open := 0
	for _, e := range entries {
		if asks(e.Message) {
			open++
		}
	}
	g := era.NewGather(open, l.frames.Write)
	for _, e := range entries {
		l.message(e.Message, e.Err, g.Settle)
	}
}

// asks reports whether a message, which may be malformed, waits for an answer.
func asks(m *jsonrpc.Message) bool {
	return m.Kind == jsonrpc.Request && m.Method != "" && !m.ID.IsZero()
}

// reply takes the answer to a request of the server; nil if there is none.
type reply func(frame []byte) error

// message passes a message on. A line that is not a message is ignored, but
// for an answer that is malformed: its call fails instead of waiting.
func (l *Link) message(m *jsonrpc.Message, bad error, to reply) {
	switch {
	case asks(m):
		l.answer(m, bad, to)
	case bad != nil && m.Method == "" && !m.ID.IsZero():
		l.malformed(m.ID, bad)
	case bad != nil:
	case m.Kind == jsonrpc.Response:
		l.calls.Resolve(m)
	case l.tornDown(m):
	case !l.asked.Notice(m):
		l.receiver.Notification(l.ctx, m)
	}
}

// malformed fails a call whose answer could not be read. The reason is this
// side's own, so errors.As must not find an error in it that looks like one
// the server sent.
//
// Spec: 2026-07-28 basic#error-codes.
func (l *Link) malformed(id jsonrpc.ID, bad error) {
	l.fail(id, errors.New("the server sent a malformed answer: "+bad.Error()))
}

// fail ends a call with an error of this side.
func (l *Link) fail(id jsonrpc.ID, err error) {
	l.bad.Store(id, err)
	if !l.calls.Resolve(&jsonrpc.Message{Kind: jsonrpc.Response, ID: id}) {
		l.bad.Delete(id)
	}
}

// tornDown handles a notification by which a server ends a subscription, and
// reports whether m was one. The answer that should follow may never come.
//
// Spec: 2026-07-28 basic/patterns/cancellation#behavior-requirements (2).
func (l *Link) tornDown(m *jsonrpc.Message) bool {
	var p mcp.CancelledParams
	if m.Method != mcp.NoteCancelled || wire.Unmarshal(m.Params, &p) != nil {
		return false
	}
	if _, ok := l.listens.LoadAndDelete(p.RequestID); !ok {
		return false
	}
	l.calls.Resolve(&jsonrpc.Message{Kind: jsonrpc.Response, ID: p.RequestID, Result: json.RawMessage("{}")})
	return true
}

// answer answers a request; bad is the error of its decoding.
func (l *Link) answer(m *jsonrpc.Message, bad error, to reply) {
	if bad != nil {
		// Nothing has this method. The receiver still says by it whether
		// this side answers at all.
		m = &jsonrpc.Message{Kind: jsonrpc.Request, ID: m.ID}
	}
	ctx, err := l.asked.Add(l.ctx, m, maxAsked)
	if err != nil {
		refused := &jsonrpc.Message{Kind: jsonrpc.Request, ID: m.ID}
		l.refusals.Add(func() { _ = to(l.request(l.ctx, refused, err)) }) // a connection that is gone shows in the next Read
		return
	}
	l.work.Go(func() { // ends with the answer; Close waits for it
		defer l.asked.Remove(m.ID)
		_ = to(l.request(ctx, m, bad)) // a connection that is gone shows in the next Read
	})
}

// request asks the receiver, and returns the answer or nil.
//
// Spec: 2025-11-25 basic/utilities/cancellation#behavior-requirements (4).
func (l *Link) request(ctx context.Context, m *jsonrpc.Message, bad error) []byte {
	result, rpc := l.receiver.Request(ctx, m)
	switch cause := context.Cause(ctx); {
	case result == nil && rpc == nil:
		return nil
	case errors.Is(cause, era.ErrCancelRequest):
		return encode(m.ID, nil, era.Cancelled())
	case cause != nil:
		return nil
	case bad != nil:
		return encode(m.ID, nil, bad)
	case rpc != nil:
		return encode(m.ID, nil, rpc)
	}
	return encode(m.ID, result, nil)
}

// encode returns the frame of an answer.
func encode(id jsonrpc.ID, result any, failed error) []byte {
	if failed == nil {
		if frame, err := jsonrpc.AppendResult(nil, id, result); err == nil {
			return frame
		}
	}
	var rpc *jsonrpc.Error
	if !errors.As(failed, &rpc) {
		rpc = jsonrpc.Errorf(jsonrpc.CodeInternalError, "internal error")
	}
	frame, err := jsonrpc.Append(nil, jsonrpc.NewError(id, rpc))
	if err != nil { // the data was not JSON
		frame, _ = jsonrpc.Append(nil, jsonrpc.NewError(id, jsonrpc.Errorf(rpc.Code, "%s", rpc.Message)))
	}
	return frame
}

// send is the reply to a request that came by itself.
func (l *Link) send(frame []byte) error {
	if frame == nil {
		return nil
	}
	return l.frames.Write(frame)
}

func (l *Link) write(m *jsonrpc.Message) {
	if frame, err := jsonrpc.Append(nil, m); err == nil {
		_ = l.frames.Write(frame)
	}
}

// RoundTrip implements mcp.Conn.
//
// Spec: 2026-07-28 basic/transports/stdio#cancellation.
func (l *Link) RoundTrip(ctx context.Context, request *jsonrpc.Message) (*jsonrpc.Message, error) {
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
func (l *Link) writeCall(ctx context.Context, id jsonrpc.ID, frame []byte) error {
	if l.apart() {
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
func (l *Link) writeWithin(ctx context.Context, frame []byte) error {
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
func (l *Link) broken(err error) error {
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
func (l *Link) withdraw(request *jsonrpc.Message, why error) {
	m, err := jsonrpc.NewNotification(mcp.NoteCancelled, &mcp.CancelledParams{RequestID: request.ID, Reason: why.Error()})
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing || l.err != nil {
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
func (l *Link) Send(ctx context.Context, notification *jsonrpc.Message) error {
	frame, err := jsonrpc.Append(nil, notification)
	if err != nil {
		return err
	}
	if l.apart() {
		return l.postWithin(ctx, frame)
	}
	if err := l.writeWithin(ctx, frame); err != nil {
		return l.broken(err)
	}
	return nil
}

// Done implements mcp.Conn.
func (l *Link) Done() <-chan struct{} { return l.done }

// Err implements mcp.Conn.
func (l *Link) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		return nil
	}
	return l.err
}

// Close implements mcp.Conn.
func (l *Link) Close() error {
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
