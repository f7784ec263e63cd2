package stream

import (
	"context"

	"github.com/parley-mcp/parley/jsonrpc"
)

// Unordered is Frames that go out one by one, in no order: each is a request of
// its own, which the server may be slow to take, or refuse. Write then waits
// for that, within a bound of its own, and Close ends it. A frame that is
// stuck holds up no other one, and neither its call, once the answer has come.
type Unordered interface {
	Frames
	// WriteInAnyOrder marks Frames as such.
	WriteInAnyOrder()
}

// unordered reports whether frames go out one by one.
func (l *Conn) unordered() bool {
	_, ok := l.frames.(Unordered)
	return ok
}

// post writes a frame beside the caller, and tells then how it went. It fails
// when the connection is closed.
func (l *Conn) post(frame []byte, then func(error)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		return jsonrpc.ErrClosed
	}
	l.work.Go(func() { then(l.frames.Write(frame)) }) // ends with the write, which has a bound; Close waits for it
	return nil
}

// postCall writes a request beside the caller, who waits for its answer.
func (l *Conn) postCall(id jsonrpc.ID, frame []byte) error {
	return l.post(frame, func(err error) {
		if err != nil {
			l.fail(id, err)
		}
	})
}

// postWithin writes a frame and waits for that, as long as ctx goes on.
func (l *Conn) postWithin(ctx context.Context, frame []byte) error {
	posted := make(chan error, 1)
	if err := l.post(frame, func(err error) { posted <- err }); err != nil {
		return err
	}
	select {
	case err := <-posted:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
