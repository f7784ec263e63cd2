// Package calls correlates the requests that one side of a connection has sent
// with the answers that come back.
package calls

import (
	"context"
	"slices"
	"sync"

	"github.com/parley-mcp/parley/jsonrpc"
)

// Table holds the calls in flight. The zero value is ready. It is safe for
// concurrent use.
type Table struct {
	mu      sync.Mutex
	last    int64
	waiting map[jsonrpc.ID]chan *jsonrpc.Message
	given   []jsonrpc.ID // of the calls that were given up last, oldest first
	err     error
}

// maxGiven bounds how many calls that were given up a Table remembers.
const maxGiven = 64

// Call is one request in flight.
type Call struct {
	ID    jsonrpc.ID
	table *Table
	done  chan *jsonrpc.Message
}

// New registers a call under an ID that was never used before in this table. It
// fails when the table is closed.
func (t *Table) New() (*Call, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return nil, t.err
	}
	t.last++
	return t.add(jsonrpc.IntID(t.last)), nil
}

// Start registers a call under an ID that the caller keeps unique. It fails
// when the table is closed, or when the ID is in flight.
func (t *Table) Start(id jsonrpc.ID) (*Call, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return nil, t.err
	}
	if _, ok := t.waiting[id]; ok {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "id %s is already in flight", id)
	}
	return t.add(id), nil
}

func (t *Table) add(id jsonrpc.ID) *Call {
	call := &Call{ID: id, table: t, done: make(chan *jsonrpc.Message, 1)}
	if t.waiting == nil {
		t.waiting = make(map[jsonrpc.ID]chan *jsonrpc.Message)
	}
	t.waiting[id] = call.done
	return call
}

// Resolve hands a response to the call that waits for it and reports whether
// there was such a call.
func (t *Table) Resolve(response *jsonrpc.Message) bool {
	t.mu.Lock()
	done, ok := t.waiting[response.ID]
	delete(t.waiting, response.ID)
	t.mu.Unlock()
	if ok {
		done <- response
	}
	return ok
}

// Settle is Resolve for peers that turn the numbers of IDs into strings: an answer
// to "1" also settles the call 1. It returns the ID of the call.
func (t *Table) Settle(response *jsonrpc.Message) (jsonrpc.ID, bool) {
	if t.Resolve(response) {
		return response.ID, true
	}
	text := response.ID.String()
	if len(text) < 3 || text[0] != '"' {
		return response.ID, false
	}
	id, err := jsonrpc.ParseID([]byte(text[1 : len(text)-1]))
	if err != nil {
		return response.ID, false
	}
	meant := *response
	meant.ID = id
	return id, t.Resolve(&meant)
}

// Only returns the ID of the only call in flight; ok is false if there is none, or
// more than one.
func (t *Table) Only() (id jsonrpc.ID, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id = range t.waiting {
		return id, len(t.waiting) == 1
	}
	return id, false
}

// Close ends every call in flight with err and makes new ones fail with it.
// Only the first Close has an effect.
func (t *Table) Close(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return
	}
	t.err = err
	for id, done := range t.waiting {
		delete(t.waiting, id)
		close(done)
	}
}

// reason returns the error that Close was given.
func (t *Table) reason() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// Forget gives up on the response: one that still arrives is not resolved.
func (c *Call) Forget() {
	t := c.table
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.waiting, c.ID)
	if len(t.given) == maxGiven {
		t.given = slices.Delete(t.given, 0, 1)
	}
	t.given = append(t.given, c.ID)
}

// Late reports whether the call with an ID was given up lately, so that an answer
// to it is only late. It does so once: a second answer is not.
func (t *Table) Late(id jsonrpc.ID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.given, id)
	if i < 0 {
		return false
	}
	t.given = slices.Delete(t.given, i, i+1)
	return true
}

// Wait returns the response, or the reason why there will be none. When ctx
// ends first, the call is forgotten.
func (c *Call) Wait(ctx context.Context) (*jsonrpc.Message, error) {
	select {
	case m, ok := <-c.done:
		if !ok {
			return nil, c.table.reason()
		}
		return m, nil
	case <-ctx.Done():
		c.Forget()
		return nil, context.Cause(ctx)
	}
}
