package peer

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Reply is what came of a message.
type Reply struct {
	Sent     *Message  // nil if there was nothing in the body
	Exchange *Exchange // nil but over HTTP
	// Response is the answer, or nil if none came.
	Response *Message
	// Before are the messages that came in the meantime: over HTTP those of the
	// response, otherwise all of the connection.
	Before []*Message
	// Closed is set if the connection ended without an answer, and Silent if
	// nothing was heard in time.
	Closed, Silent bool
	// Err is why nothing could be sent, or why the HTTP request failed.
	Err error

	conn    *Conn
	from    int // the log's length when it was sent
	abort   context.CancelFunc
	resumed []*Reply // the requests that resumed the stream
}

// Stop ends the HTTP exchange, if it has not ended, as a client does that has
// gone.
func (r *Reply) Stop() {
	for _, again := range r.resumed {
		again.Stop()
	}
	if r.Exchange != nil {
		r.conn.Log.Update(func() { r.Exchange.Aborted = r.Exchange.Aborted || !r.Exchange.Done })
	}
	r.abort()
}

// Wait waits for the answer as Do does, and returns the same reply.
func (r *Reply) Wait(ctx context.Context) *Reply {
	return r.wait(ctx, r.conn.Patience.orDefaults().Reply)
}

// For waits until a message has come for which want reports true, among those
// that came since the message was sent, and returns it. It returns nil if none
// came in time.
func (r *Reply) For(ctx context.Context, want func(*Message) bool) *Message {
	ctx, cancel := context.WithTimeout(ctx, r.conn.Patience.orDefaults().Reply)
	defer cancel()
	var found *Message
	r.conn.Log.Await(ctx, func() bool {
		found = r.find(want)
		return found != nil || r.over()
	})
	return found
}

// wait waits for the answer. The log holds what else came.
func (r *Reply) wait(ctx context.Context, patience time.Duration) *Reply {
	if r.Err != nil {
		r.Closed = true
		return r
	}
	ctx, cancel := context.WithTimeout(ctx, r.conn.bear(patience))
	defer cancel()
	answer := func() bool {
		r.Response = r.find(r.answers)
		// The answer may overtake the response to what it answers.
		return r.Response != nil && (!r.isElsewhere() || r.Exchange == nil || r.Exchange.Done) || r.over()
	}
	answered := r.conn.Log.Await(ctx, answer)
	for answered && r.Response == nil && r.resume(ctx) {
		answered = r.conn.Log.Await(ctx, answer)
	}
	answered = answered || r.Response != nil
	r.Silent = !answered
	r.conn.Log.Look(func() {
		r.count()
		r.Closed = answered && r.Response == nil && (r.Exchange == nil || r.Exchange.Status == 0)
		if r.Exchange != nil && r.Exchange.Done {
			r.Err = r.Exchange.Err
		}
		r.collect()
	})
	return r
}

// count remembers whether requests are answered. The log is locked.
func (r *Reply) count() {
	switch {
	case r.Response != nil:
		r.conn.silent = 0
	case r.Silent && r.Sent != nil && r.Sent.IsRequest():
		r.conn.silent++
	}
}

// over reports whether nothing more can come for the message. The log is locked.
func (r *Reply) over() bool {
	if r.conn.Log.full() {
		return true
	}
	if r.Exchange == nil {
		return r.conn.link.closed()
	}
	if last := r.carrier(); last != nil && !last.Done {
		return false
	}
	// An accepted message is answered elsewhere, if it is one of HTTP+SSE.
	elsewhere, ok := r.conn.link.(interface{ elsewhere() bool })
	return !ok || !elsewhere.elsewhere() || r.Sent == nil || !r.Sent.IsRequest() || r.Exchange.Status/100 != 2 || r.conn.link.closed()
}

// answers reports whether a message answers the one that was sent: by its ID,
// or, if that had none that can be read, as an error without an ID.
func (r *Reply) answers(m *Message) bool {
	if !m.IsResponse() {
		return false
	}
	if r.Sent != nil && r.Sent.IsRequest() && (string(m.ID) == string(r.Sent.ID) || m.ID != nil && loosely(m.ID) == loosely(r.Sent.ID)) {
		return true
	}
	unread := r.Sent == nil || r.Sent.Bad != nil || !r.Sent.IsNotification()
	return unread && (m.ID == nil || string(m.ID) == "null") || r.ofBatch(m)
}

// loosely is an ID as a peer may repeat it that takes numbers for texts. The log
// does not pair such answers: they are wrong, but nobody need wait for others.
func loosely(id json.RawMessage) string { return strings.Trim(string(id), `"`) }

// ofBatch reports whether a message answers an element of the batch that was
// sent.
func (r *Reply) ofBatch(m *Message) bool {
	if r.Sent == nil {
		return false
	}
	return slices.ContainsFunc(r.Sent.Items, func(item *Message) bool {
		return item.IsRequest() && string(item.ID) == string(m.ID)
	})
}

func (r *Reply) find(want func(*Message) bool) *Message {
	for _, m := range r.came() {
		if want(m) {
			return m
		}
	}
	return nil
}

// came are the messages that may belong to the reply. The log is locked.
func (r *Reply) came() []*Message {
	var all []*Message
	for _, m := range r.conn.Log.messages[min(r.from, len(r.conn.Log.messages)):] {
		if !m.Sent && m.Conn == r.conn.Number && (r.Exchange == nil || r.carries(m.Exchange) || r.isElsewhere()) {
			all = append(all, m)
		}
	}
	return all
}

func (r *Reply) carries(e *Exchange) bool {
	return e == r.Exchange || slices.ContainsFunc(r.resumed, func(again *Reply) bool { return again.Exchange == e })
}

func (r *Reply) isElsewhere() bool {
	elsewhere, ok := r.conn.link.(interface{ elsewhere() bool })
	return ok && elsewhere.elsewhere()
}

func (r *Reply) collect() {
	r.Before = r.Before[:0]
	for _, m := range r.came() {
		if m == r.Response {
			break
		}
		r.Before = append(r.Before, m)
	}
}

// Ended waits until an HTTP exchange has ended, and reports whether it has in time.
func (r *Reply) Ended(ctx context.Context) bool {
	if r.Exchange == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, r.conn.Patience.orDefaults().Reply)
	defer cancel()
	return r.conn.Log.Await(ctx, func() bool { return r.Exchange.Done })
}
