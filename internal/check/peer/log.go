package peer

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Limits bound what a log keeps of a peer that sends without end.
type Limits struct {
	Message  int // bytes of one message; 0 means 4 MiB
	Total    int // bytes that all messages take in memory, about; 0 means 128 MiB
	Messages int // how many messages; 0 means 100,000
}

func (l Limits) orDefaults() Limits {
	if l.Message == 0 {
		l.Message = 4 << 20
	}
	if l.Total == 0 {
		l.Total = 128 << 20
	}
	if l.Messages == 0 {
		l.Messages = 100_000
	}
	return l
}

// Log is everything that was sent and came, in order. Its methods may be called
// concurrently.
type Log struct {
	// Heard is told of each message, but for the elements of batches, as soon as
	// it is in the log. It must be set before the log is used.
	Heard func(*Message)

	limits Limits
	begun  time.Time

	mu        sync.Mutex
	messages  []*Message
	exchanges []*Exchange
	total     int
	conns     int
	requests  map[key]*Message // the newest of each ID that waits for its answer
	changed   chan struct{}    // closed at the next change
}

// key finds the request that an answer is for.
type key struct {
	conn int
	sent bool
	id   string
}

// NewLog begins a log.
func NewLog(limits Limits) *Log {
	return &Log{limits: limits.orDefaults(), begun: time.Now(), requests: map[key]*Message{}, changed: make(chan struct{})}
}

// Messages returns what is in the log now. A batch comes before its elements.
func (l *Log) Messages() []*Message {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.messages)
}

// Since returns the messages with numbers above n.
func (l *Log) Since(n int) []*Message {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.messages[min(n, len(l.messages)):])
}

// Len returns the number of the newest message.
func (l *Log) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.messages)
}

// Exchanges returns the HTTP exchanges begun until now, as they are now.
func (l *Log) Exchanges() []*Exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.exchanges)
}

// RequestOf returns the request that a response answers, or nil.
func (l *Log) RequestOf(m *Message) *Message {
	l.mu.Lock()
	defer l.mu.Unlock()
	return m.request
}

// Answers is RequestOf for callers that have locked the log, such as those that
// Await calls.
func (m *Message) Answers() *Message { return m.request }

// ResponseTo returns the first answer to a request, or nil.
func (l *Log) ResponseTo(m *Message) *Message {
	l.mu.Lock()
	defer l.mu.Unlock()
	return m.response
}

// Full reports whether the log has reached its limits: whoever reads for it
// stops.
func (l *Log) Full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.full()
}

func (l *Log) full() bool {
	return l.total >= l.limits.Total || len(l.messages) >= l.limits.Messages
}

// overflow marks the log as full: more came than its limits allow.
func (l *Log) overflow() { l.Update(func() { l.total = max(l.total, l.limits.Total) }) }

// event adds an event to an exchange. Events count even if there is no message in
// them.
func (l *Log) event(e *Exchange, event *Event) {
	l.Update(func() {
		e.Events = append(e.Events, event)
		l.total += eventCost + len(event.Name) + len(event.ID) + len(event.Retry)
	})
}

// eventCost is about what an event takes in memory, in bytes.
const eventCost = 100

// Await waits until done reports true, which is asked at each change, while the
// log is locked. It returns false if the context ended first.
func (l *Log) Await(ctx context.Context, done func() bool) bool {
	for {
		l.mu.Lock()
		ok, changed := done(), l.changed
		l.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// NewConn returns the number of a new connection.
func (l *Log) NewConn() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns++
	return l.conns
}

// Begin adds an exchange. Change it with Update only.
func (l *Log) Begin(e *Exchange) {
	l.Update(func() {
		l.exchanges = append(l.exchanges, e)
		e.Number, e.At = len(l.exchanges), time.Since(l.begun)
	})
}

// Look calls look while the log is locked.
func (l *Log) Look(look func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	look()
}

// Update changes something that the log holds, and wakes those who wait.
func (l *Log) Update(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
	close(l.changed)
	l.changed = make(chan struct{})
}

// Add parses a message and adds it, with the elements of a batch after it.
func (l *Log) Add(m *Message) {
	if len(m.Raw) > l.limits.Message {
		m.Cut += len(m.Raw) - l.limits.Message
		m.Raw = m.Raw[:l.limits.Message]
	}
	m.parse()
	l.Update(func() {
		l.append(m)
		items, _ := m.Value.([]any)
		for _, v := range items {
			item := &Message{
				Conn: m.Conn, Sent: m.Sent, Exchange: m.Exchange, Event: m.Event, Batch: m,
				Raw: Encode(v), Value: v,
			}
			item.adopt(v)
			m.Items = append(m.Items, item)
			l.append(item)
		}
	})
	if l.Heard != nil {
		l.Heard(m)
	}
}

func (l *Log) append(m *Message) {
	l.messages = append(l.messages, m)
	m.Number, m.At = len(l.messages), time.Since(l.begun)
	l.total += m.weight()
	if e := m.Exchange; e != nil {
		if m.Sent != e.Incoming {
			if m.Batch == nil {
				e.Message = m
			}
		} else {
			// What is still read of a stream that was broken off may come after the
			// same on the one that resumed it.
			m.Replayed = (e.Header.Get("Last-Event-ID") != "" || e.Aborted) && l.has(m)
			e.Messages = append(e.Messages, m)
		}
	}
	l.pair(m)
}

// has reports whether the same message came before.
func (l *Log) has(m *Message) bool {
	return slices.ContainsFunc(l.messages, func(old *Message) bool {
		return old != m && !old.Sent && old.Conn == m.Conn && old.Same(m)
	})
}

// pair finds what an answer is for.
func (l *Log) pair(m *Message) {
	switch {
	case string(m.ID) == "null": // an answer with it is for anything
	case m.IsRequest():
		l.requests[key{m.Conn, m.Sent, string(m.ID)}] = m
	case m.IsResponse() && m.ID != nil:
		request := l.requests[key{m.Conn, !m.Sent, string(m.ID)}]
		if m.request = request; request != nil && request.response == nil {
			request.response = m
		}
	}
}
