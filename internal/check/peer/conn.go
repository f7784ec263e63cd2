package peer

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Patience is how long a connection waits.
type Patience struct {
	Reply time.Duration // for an answer; 0 means 5 seconds
	Quiet time.Duration // before "nothing came" is said, where no answer is due; 0 means 300 ms
}

func (p Patience) orDefaults() Patience {
	if p.Reply == 0 {
		p.Reply = 5 * time.Second
	}
	if p.Quiet == 0 {
		p.Quiet = 300 * time.Millisecond
	}
	return p
}

// ReplyOrDefault is how long to wait for an answer.
func (p Patience) ReplyOrDefault() time.Duration { return p.orDefaults().Reply }

// QuietOrDefault is how long to wait where no answer is due.
func (p Patience) QuietOrDefault() time.Duration { return p.orDefaults().Quiet }

// Conn is one conversation with a server, over any transport. Its methods may
// be called concurrently, but for the fields.
type Conn struct {
	Log    *Log
	Number int
	// Patience may be changed between calls.
	Patience Patience
	// Answer answers a request of the server; nil leaves it without an answer. It
	// is called on a goroutine of its own. It must not be changed once the
	// connection is in use.
	Answer func(*Message) *Out
	// Hear is called with each message that came, in order, and must not wait. It
	// must not be changed once the connection is in use.
	Hear func(*Message)
	// Pace is called before each message is sent, and may wait.
	Pace func(context.Context) error
	// Shape may change each message before it goes, to add what the conversation
	// has agreed on: headers, and the like.
	Shape func(*Out)
	// Resumes is set if streams that end early are resumed, by GET with the ID of
	// their last event.
	Resumes bool

	link    link
	answers sync.WaitGroup
	silent  int // requests in a row that got no answer; guarded by the log
}

// link is what a transport does for a connection.
type link interface {
	// send sends a message and returns without waiting for the peer. exchange is
	// nil where messages are not answered one by one.
	send(ctx context.Context, out *Out) (sent *Message, exchange *Exchange, err error)
	// closed reports whether nothing can come any more. The log is locked.
	closed() bool
	close() error
}

// Out is a message to be sent.
type Out struct {
	Raw []byte // as it goes out
	// Header replaces headers of an HTTP request; one without values is left out.
	Header http.Header
	// HTTPMethod is the method of the HTTP request; "" means POST.
	HTTPMethod string
	// Path replaces the URL of the endpoint, if set.
	URL string
	// Query is added to the URL.
	Query string
}

// Frame makes a message of a value.
func Frame(v any) *Out { return &Out{Raw: Encode(v)} }

// With returns a copy of the message with one more header, or without one if no
// value is given.
func (o *Out) With(name string, values ...string) *Out {
	c := *o
	c.Header = o.Header.Clone()
	if c.Header == nil {
		c.Header = http.Header{}
	}
	c.Header[http.CanonicalHeaderKey(name)] = slices.Clip(values)
	return &c
}

// id is the ID of a request, or nil.
func (o *Out) id() json.RawMessage {
	v, err := Decode(o.Raw)
	if err != nil {
		return nil
	}
	m := Message{Value: v}
	m.adopt(v)
	if !m.IsRequest() {
		return nil
	}
	return m.ID
}

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

// Do sends a message and waits: for the answer to a request, otherwise until
// the HTTP response is whole or, on an ordered connection, for the quiet time.
func (c *Conn) Do(ctx context.Context, out *Out) *Reply {
	r := c.Start(ctx, out)
	defer r.Stop()
	wait := c.Patience.orDefaults().Reply
	if r.Exchange == nil && out.id() == nil {
		wait = c.Patience.orDefaults().Quiet
	}
	return r.wait(ctx, wait)
}

// Start sends a message and returns. The caller ends it with Stop.
func (c *Conn) Start(ctx context.Context, out *Out) *Reply {
	r := &Reply{conn: c}
	ctx, r.abort = context.WithCancel(ctx)
	if c.Pace != nil {
		if r.Err = c.Pace(ctx); r.Err != nil {
			return r
		}
	}
	if c.Shape != nil {
		shaped := *out
		shaped.Header = out.Header.Clone()
		c.Shape(&shaped)
		out = &shaped
	}
	r.from = c.Log.Len()
	r.Sent, r.Exchange, r.Err = c.link.send(ctx, out)
	return r
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

// How often, and after what time at least, a stream is resumed.
const (
	mostResumed = 20
	leastRetry  = 100 * time.Millisecond
)

// mostSilent is how many requests in a row may go without an answer before less
// time is given to each.
const mostSilent = 3

// bear is how long to wait for an answer: a peer that has stopped to answer is
// given less time.
func (c *Conn) bear(patience time.Duration) time.Duration {
	c.Log.Look(func() {
		if c.silent >= mostSilent {
			patience = min(patience, max(patience/10, c.Patience.orDefaults().Quiet))
		}
	})
	return patience
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

// resume asks for the rest of a stream that ended before the answer came.
//
// Spec: 2025-11-25 basic/transports#sending-messages-to-the-server (6).
func (r *Reply) resume(ctx context.Context) bool {
	id, retry := "", time.Duration(0)
	r.conn.Log.Look(func() { id, retry = r.cursor() })
	if id == "" || len(r.resumed) == mostResumed {
		return false
	}
	pause := time.NewTimer(max(retry, leastRetry))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
		return false
	}
	again := r.conn.Get(ctx, http.Header{"Last-Event-Id": {id}})
	r.resumed = append(r.resumed, again)
	return again.Err == nil
}

// cursor is the ID to resume the stream of a request from, or "" if it can't be
// or need not be resumed, and how long to wait before. The log is locked.
func (r *Reply) cursor() (id string, retry time.Duration) {
	last := r.carrier()
	if !r.conn.Resumes || last == nil || r.Sent == nil || !r.Sent.IsRequest() || last.Aborted || !last.IsStream() || r.conn.Log.full() {
		return "", 0
	}
	for _, event := range last.Events {
		if event.HasID {
			id = event.ID
		}
		if ms, err := strconv.Atoi(event.Retry); err == nil {
			retry = time.Duration(ms) * time.Millisecond
		}
	}
	return id, retry
}

// carrier is the exchange that an answer may still come on.
func (r *Reply) carrier() *Exchange {
	if n := len(r.resumed); n > 0 {
		return r.resumed[n-1].Exchange
	}
	return r.Exchange
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

// Await waits until a message of the connection that came after the n-th of the
// log is wanted, and returns it, or nil if none came in time.
func (c *Conn) Await(ctx context.Context, n int, patience time.Duration, want func(*Message) bool) *Message {
	if patience == 0 {
		patience = c.Patience.orDefaults().Reply
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var found *Message
	c.Log.Await(ctx, func() bool {
		for _, m := range c.Log.messages[min(n, len(c.Log.messages)):] {
			if m.Conn == c.Number && !m.Sent && want(m) {
				found = m
				return true
			}
		}
		return c.link.closed()
	})
	return found
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

// Quiet waits for the quiet time, so that what is on its way arrives.
func (c *Conn) Quiet(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, c.Patience.orDefaults().Quiet)
	defer cancel()
	c.Log.Await(ctx, c.link.closed)
}

// Ender is a stream that tells whether the process behind it ends with its
// input, as that of package child does.
type Ender interface {
	// CloseInput closes the process's standard input.
	CloseInput() error
	// Gone waits for the process to end, for a time of its own, and reports whether
	// it has.
	Gone() bool
}

// Hangup closes the input of the peer's process, and reports whether the process
// ended. known is false if there is no process that can be watched.
func (c *Conn) Hangup() (ended, known bool) {
	l, ok := c.link.(*lines)
	if !ok {
		return false, false
	}
	e, ok := l.stream.(Ender)
	if !ok || e.CloseInput() != nil {
		return false, false
	}
	return e.Gone(), true
}

// Closed reports whether nothing can come any more.
func (c *Conn) Closed() bool {
	closed := false
	c.Log.Look(func() { closed = c.link.closed() })
	return closed
}

// Close ends the connection, and waits until all that it runs has ended.
func (c *Conn) Close() error {
	err := c.link.close()
	c.answers.Wait()
	return err
}

// receive adds a message to the log, and answers it if it is a request.
func (c *Conn) receive(ctx context.Context, m *Message) {
	m.Conn = c.Number
	c.Log.Add(m)
	for _, one := range append([]*Message{m}, m.Items...) {
		if c.Hear != nil {
			c.Hear(one)
		}
		if !one.IsRequest() || c.Answer == nil {
			continue
		}
		c.answers.Go(func() { // ends with its function, or the connection
			if out := c.Answer(one); out != nil {
				c.Start(ctx, out) // its exchange ends with the connection
			}
		})
	}
}
