package stream

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Link is the client's end of a connection of frames.
type Link struct {
	frames   Frames
	receiver mcp.Receiver
	decoder  jsonrpc.Decoder
	calls    jsonrpc.Calls
	asked    era.InFlight    // requests of the server
	ctx      context.Context //nolint:containedctx // the connection's life: ended by its end
	end      context.CancelCauseFunc
	done     chan struct{}
	work     sync.WaitGroup

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
	l.calls.Close(err)
	l.end(err)
	close(l.done)
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
			l.message(m, err)
		}
	}
}

// batch takes an array of messages apart; a client understands one in every
// revision, though servers send them only in 2025-03-26.
func (l *Link) batch(frame []byte) {
	entries, err := l.decoder.DecodeBatch(frame)
	if err != nil {
		l.message(&jsonrpc.Message{}, err)
		return
	}
	for _, e := range entries {
		l.message(e.Message, e.Err)
	}
}

// message passes a message on. A line that is not a message is ignored, but
// for an answer that is malformed: its call fails instead of waiting.
func (l *Link) message(m *jsonrpc.Message, bad error) {
	switch {
	case bad != nil:
		if !m.ID.IsZero() {
			l.calls.Resolve(&jsonrpc.Message{Kind: jsonrpc.Response, ID: m.ID, Error: jsonrpc.Errorf(jsonrpc.CodeInternalError, "the server sent a malformed answer: %v", bad)})
		}
	case m.Kind == jsonrpc.Response:
		l.calls.Resolve(m)
	case m.Kind == jsonrpc.Request:
		l.answer(m)
	case !l.asked.Notice(m):
		l.receiver.Notification(m)
	}
}

func (l *Link) answer(m *jsonrpc.Message) {
	ctx, err := l.asked.Add(l.ctx, m, maxAsked)
	if err != nil {
		var rpc *jsonrpc.Error
		if errors.As(err, &rpc) {
			l.write(jsonrpc.NewError(m.ID, rpc))
		}
		return
	}
	l.work.Add(1)
	go func() { // ends with the answer; Close waits for it
		defer l.work.Done()
		defer l.asked.Remove(m.ID)
		result, rpc := l.receiver.Request(ctx, m)
		if ctx.Err() != nil || result == nil && rpc == nil {
			return
		}
		if rpc != nil {
			l.write(jsonrpc.NewError(m.ID, rpc))
			return
		}
		frame, err := jsonrpc.AppendResult(nil, m.ID, result)
		if err != nil {
			l.write(jsonrpc.NewError(m.ID, jsonrpc.Errorf(jsonrpc.CodeInternalError, "internal error")))
			return
		}
		_ = l.frames.Write(frame) // a connection that is gone shows in the next Read
	}()
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
	frame, err := jsonrpc.Append(nil, request)
	if err == nil {
		err = l.frames.Write(frame)
	}
	if err != nil {
		call.Forget()
		return nil, l.broken(err)
	}
	response, err := call.Wait(ctx)
	// initialize must not be cancelled.
	// Spec: 2025-11-25 basic/utilities/cancellation#behavior-requirements (2).
	if err != nil && ctx.Err() != nil && request.Method != mcp.MethodInitialize {
		l.withdraw(request, err)
	}
	return response, err
}

// broken prefers what ended the connection to what a write says of it.
func (l *Link) broken(err error) error {
	select {
	case <-l.done:
		return l.calls.Err()
	default:
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
	l.work.Add(1)
	go func() { // ends with the write, which Close ends; Close waits for it
		defer l.work.Done()
		l.write(m)
	}()
}

// Send implements mcp.Conn.
func (l *Link) Send(_ context.Context, notification *jsonrpc.Message) error {
	frame, err := jsonrpc.Append(nil, notification)
	if err != nil {
		return err
	}
	if err := l.frames.Write(frame); err != nil {
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
	l.end(jsonrpc.ErrClosed)
	err := l.frames.Close()
	l.work.Wait()
	return err
}
