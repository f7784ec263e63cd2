package client

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/serial"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// maxNotes is how many notifications of one call may be queued before reading from
// its server stops.
const maxNotes = 4096

// notes queues the notifications of one call. They are delivered on a goroutine of
// the call's own, so that a slow function holds up no other call.
type notes struct {
	c     *Client
	token mcp.ProgressToken // zero: progress was not asked for
	queue serial.Queue

	mu      sync.Mutex
	call    *watchdog // another one, with other opts, once the call has become a task
	opts    *callOptions
	room    sync.Cond
	waiting int
	last    *progressNote // queued progress, while nothing is queued behind it
	over    bool          // the call has its answer: nothing more is queued
	// reported says that the server has reported progress, which is better than the
	// status messages of a task; told counts those.
	reported bool
	told     int
}

type progressNote struct {
	params *mcp.ProgressParams
	raw    json.RawMessage
}

// expect returns the notes of a call, or nil if the caller wants no notifications.
//
// Spec: 2026-07-28 basic/patterns/progress#progress-flow.
func (c *Client) expect(call *watchdog) *notes {
	o := &call.req.opts
	if !o.listens() {
		return nil
	}
	n := &notes{c: c, call: call, opts: o}
	n.room.L = &n.mu
	n.queue.Limit = 2 * maxNotes // never reached: add bounds the queue
	if o.progress {
		n.token = jsonrpc.IntID(c.tokens.Add(1))
	}
	return n
}

// begin registers the token, so that progress is routed to n.
func (n *notes) begin() {
	if !n.token.IsZero() {
		n.c.progress.Store(n.token, n)
	}
}

// progressed routes a progress notification to its call, and returns the reason why
// one was dropped, or 0. An unknown token belongs to a call that is over.
func (c *Client) progressed(m *jsonrpc.Message) mcp.DropReason {
	params := new(mcp.ProgressParams)
	if err := unmarshal(m.Params, params); err != nil {
		return mcp.DropMalformed
	}
	token := params.ProgressToken
	if number, ok := era.Number(token); ok {
		token = number // as a careless server returns it
	}
	if n, ok := c.progress.Load(token); ok {
		return n.(*notes).progressed(params, m.Params) //nolint:forcetypeassert // the map holds nothing else
	}
	return mcp.DropNoCall
}

// progressed queues progress. If the last notification in the queue is progress as
// well, it is replaced, as it is outdated.
func (n *notes) progressed(params *mcp.ProgressParams, raw json.RawMessage) mcp.DropReason {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := progressNote{params: params}
	if n.opts.onNotification != nil {
		p.raw = append(json.RawMessage(nil), raw...)
	}
	n.call.progress()
	n.reported = true
	if n.last != nil && !n.over {
		*n.last = p
		return mcp.DropSuperseded
	}
	next := &p
	if !n.add(func() { n.tellProgress(next) }) {
		return mcp.DropNoCall
	}
	n.last = next
	return 0
}

func (n *notes) tellProgress(next *progressNote) {
	n.mu.Lock()
	p, ctx, opts := *next, n.call.run, n.opts
	if n.last == next {
		n.last = nil
	}
	n.mu.Unlock()
	if opts.onProgress != nil {
		opts.onProgress(p.params)
	}
	if opts.onNotification != nil && p.raw != nil {
		opts.onNotification(ctx, mcp.NoteProgress, p.raw)
	}
}

// came queues any other notification.
func (n *notes) came(m *jsonrpc.Message, inferred bool) {
	method, params := m.Method, append(json.RawMessage(nil), m.Params...)
	n.mu.Lock()
	defer n.mu.Unlock()
	ctx := n.call.run
	if inferred {
		ctx = question{ctx, n.call, true}
	}
	n.last = nil // later progress must not overtake this notification
	if tell := n.opts.onNotification; tell != nil {
		n.add(func() { tell(ctx, method, params) })
	}
}

// add queues a delivery, once there is room. It reports false when the call is over.
// The caller holds n.mu.
func (n *notes) add(tell func()) bool {
	for n.waiting >= maxNotes && !n.over {
		n.room.Wait()
	}
	if n.over {
		return false
	}
	n.waiting++
	n.queue.Add(func() {
		tell()
		n.mu.Lock()
		n.waiting--
		n.mu.Unlock()
		n.room.Signal()
	})
	return true
}

// settle waits until everything that has come so far is delivered, or ctx ends.
func (n *notes) settle(ctx context.Context) {
	told := make(chan struct{})
	n.mu.Lock()
	waits := n.waiting > 0 && n.add(func() { close(told) })
	n.last = nil
	n.mu.Unlock()
	if !waits {
		return
	}
	select {
	case <-told:
	case <-ctx.Done():
	}
}

// finish waits until everything that came before the answer is delivered.
func (n *notes) finish() {
	n.c.progress.Delete(n.token)
	n.mu.Lock()
	n.over = true
	n.mu.Unlock()
	n.room.Broadcast()
	n.queue.Wait()
}

// taken passes a notification to the call that it belongs to, and reports whether
// that call takes notifications.
func (c *Client) taken(ctx context.Context, m *jsonrpc.Message) bool {
	call, inferred := c.callOf(ctx, m, anyMethod)
	if call == nil || call.notes == nil || call.req.opts.onNotification == nil {
		return false
	}
	call.notes.came(m, inferred) //nolint:contextcheck // it is delivered with the call's own context
	return true
}

// cancelled logs why the server withdraws a question, or ends a subscription; the
// connection has done what follows from it.
//
// Spec: 2026-07-28 basic/patterns/cancellation#implementation-notes.
func (c *Client) cancelled(m *jsonrpc.Message) {
	var p mcp.CancelledParams
	if unmarshal(m.Params, &p) == nil {
		c.opts.Logger.Debug("the server cancelled a request", "id", p.RequestID.String(), "reason", era.Brief(p.Reason))
	}
}
