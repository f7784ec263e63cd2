package client

import (
	"context"
	"encoding/json"
	"sync"
)

// CallFunc makes one call and returns its raw result.
type CallFunc func(ctx context.Context, req *Request) (json.RawMessage, error)

// Middleware wraps every call of a client: typed ones, Do, and the calls
// behind iterators. Connecting is not wrapped.
type Middleware func(next CallFunc) CallFunc

// chain holds the middleware, which is composed when added, not with every call.
type chain struct {
	mu   sync.Mutex
	list []Middleware
}

func (ch *chain) init(c *Client) {
	f := CallFunc(c.send)
	c.call.Store(&f)
}

// Use adds middleware; the first added is the outermost. Calls in flight are not
// affected.
func (c *Client) Use(mw ...Middleware) {
	c.chain.mu.Lock()
	defer c.chain.mu.Unlock()
	c.chain.list = append(c.chain.list, mw...)
	f := CallFunc(c.send)
	for i := len(c.chain.list) - 1; i >= 0; i-- {
		f = c.chain.list[i](f)
	}
	c.call.Store(&f)
}
