package client

import (
	"sync"

	"github.com/parley-mcp/parley/internal/serial"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// progress takes the notifications of one call. They are told on a goroutine
// of the call's own, so that a slow listener holds up nobody else.
type progress struct {
	c     *Client
	token mcp.ProgressToken
	dog   *watchdog
	tell  func(*mcp.ProgressParams)
	queue serial.Queue

	mu   sync.Mutex
	next *mcp.ProgressParams // what has come since the last was told
	over bool                // the call has its answer: nothing is told any more
}

// Spec: 2026-07-28 basic/patterns/progress#progress-flow.
func (c *Client) expect(tell func(*mcp.ProgressParams), dog *watchdog) *progress {
	p := &progress{c: c, token: jsonrpc.IntID(c.tokens.Add(1)), dog: dog, tell: tell}
	c.progress.Store(p.token, p)
	return p
}

// progressed routes a notification. An unknown token belongs to a call that
// is over.
func (c *Client) progressed(m *jsonrpc.Message) {
	params := new(mcp.ProgressParams)
	if err := unmarshal(m.Params, params); err != nil {
		c.opts.Logger.Warn("malformed progress", "error", err)
		return
	}
	if p, ok := c.progress.Load(params.ProgressToken); ok {
		p.(*progress).came(params) //nolint:forcetypeassert // the map holds nothing else
	}
}

// came keeps the newest: one that waits has become stale when the next comes.
func (p *progress) came(params *mcp.ProgressParams) {
	p.dog.progress()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	waiting := p.next != nil
	p.next = params
	if waiting {
		return
	}
	p.queue.Add(func() {
		p.mu.Lock()
		next := p.next
		p.next = nil
		p.mu.Unlock()
		p.tell(next)
	})
}

// finish waits until everything that came before the answer was told.
func (p *progress) finish() {
	p.c.progress.Delete(p.token)
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	p.queue.Wait()
}
