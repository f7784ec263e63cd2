package jsonrpc

import (
	"context"
	"strconv"
	"sync"
)

// Calls correlates the requests that one side has sent with the answers that
// come back. The zero value is ready. It is safe for concurrent use.
type Calls struct {
	mu      sync.Mutex
	last    int64
	waiting map[ID]chan *Message
	err     error
}

// Call is one request in flight.
type Call struct {
	ID    ID
	calls *Calls
	done  chan *Message
}

// New registers a call under an ID that was never used before on this table.
// It fails when the table was closed.
func (c *Calls) New() (*Call, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, c.err
	}
	c.last++
	return c.add(ID{strconv.FormatInt(c.last, 10)}), nil
}

// Start registers a call under an ID that the caller keeps unique. It fails
// when the table was closed, or when the ID is in flight.
func (c *Calls) Start(id ID) (*Call, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, c.err
	}
	if _, ok := c.waiting[id]; ok {
		return nil, Errorf(CodeInvalidRequest, "id %s is already in flight", id)
	}
	return c.add(id), nil
}

func (c *Calls) add(id ID) *Call {
	call := &Call{ID: id, calls: c, done: make(chan *Message, 1)}
	if c.waiting == nil {
		c.waiting = make(map[ID]chan *Message)
	}
	c.waiting[id] = call.done
	return call
}

// Resolve hands a response to the call that waits for it and reports whether
// there was one.
func (c *Calls) Resolve(response *Message) bool {
	c.mu.Lock()
	done, ok := c.waiting[response.ID]
	delete(c.waiting, response.ID)
	c.mu.Unlock()
	if ok {
		done <- response
	}
	return ok
}

// Close ends every call in flight with err and refuses new ones with it.
// Only the first Close counts.
func (c *Calls) Close(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = err
	for id, done := range c.waiting {
		delete(c.waiting, id)
		close(done)
	}
}

// Waiting returns how many calls are in flight.
func (c *Calls) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting)
}

// Err returns what Close was told, or nil while the table is open.
func (c *Calls) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Done is where the response arrives. It is closed without one when the table
// is closed; Calls.Err then says why.
func (c *Call) Done() <-chan *Message { return c.done }

// Forget gives up on the answer; one that still comes is not resolved.
func (c *Call) Forget() {
	c.calls.mu.Lock()
	defer c.calls.mu.Unlock()
	delete(c.calls.waiting, c.ID)
}

// Wait returns the response, or the reason why there will be none. When ctx
// ends first, the call is forgotten.
func (c *Call) Wait(ctx context.Context) (*Message, error) {
	select {
	case m, ok := <-c.done:
		if !ok {
			return nil, c.calls.Err()
		}
		return m, nil
	case <-ctx.Done():
		c.Forget()
		return nil, context.Cause(ctx)
	}
}
