package stream

import (
	"context"

	"github.com/parley-mcp/parley/jsonrpc"
)

// Unordered is Frames that are sent independently of each other, such as each in
// an HTTP request of its own, which the server may be slow to accept, or refuse.
// Write waits for that, within its own time limit, and is ended by Close. A frame
// that is stuck delays no other frame, nor its own call once the answer has come.
type Unordered interface {
	Frames
	// WriteInAnyOrder is a marker and does nothing: it declares that frames may
	// be written concurrently and arrive in any order.
	WriteInAnyOrder()
}

// unordered reports whether frames are sent independently of each other.
func (c *Conn) unordered() bool {
	_, ok := c.frames.(Unordered)
	return ok
}

// post writes a frame on a goroutine of its own, and passes the result to then.
// It fails when the connection is closed.
func (c *Conn) post(frame []byte, then func(error)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return jsonrpc.ErrClosed
	}
	c.work.Go(func() { then(c.frames.Write(frame)) }) // ends with the write, which has a time limit; Close waits for it
	return nil
}

// postCall posts a request. A write that fails ends the call, so the caller only
// has to wait for the answer.
func (c *Conn) postCall(id jsonrpc.ID, frame []byte) error {
	return c.post(frame, func(err error) {
		if err != nil {
			c.fail(id, err)
		}
	})
}

// postWithin posts a frame and waits until it is written or ctx ends.
func (c *Conn) postWithin(ctx context.Context, frame []byte) error {
	posted := make(chan error, 1)
	if err := c.post(frame, func(err error) { posted <- err }); err != nil {
		return err
	}
	select {
	case err := <-posted:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
