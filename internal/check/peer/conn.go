package peer

import (
	"context"
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
