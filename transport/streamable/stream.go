package streamable

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/httpserve"
	"github.com/parley-mcp/parley/internal/sse"
)

// stream is a sequence of messages to the client of a session: those of one
// request, or those that belong to none. It outlives the HTTP response that
// carries it: a client that lost one comes back for the rest.
//
// Spec: 2025-11-25 basic/transports#resumability-and-redelivery.
type stream struct {
	session *session
	id      string
	primed  bool // whether it begins with an event that says how to come back

	mu     sync.Mutex
	seq    uint64         // of the last event
	told   uint64         // of the last event that went out
	pen    *httpserve.Pen // nil while nobody listens
	left   chan struct{}
	done   bool // the answer was sent: nothing follows
	ending chan struct{}
}

func newStream(s *session, id string) *stream {
	return &stream{session: s, id: id, ending: make(chan struct{})}
}

func (st *stream) eventID(seq uint64) string { return st.id + "_" + strconv.FormatUint(seq, 10) }

// parseEventID is the inverse of eventID.
func parseEventID(id string) (stream string, seq uint64, err error) {
	stream, number, ok := strings.Cut(id, "_")
	if ok {
		seq, err = strconv.ParseUint(number, 10, 64)
	}
	if !ok || err != nil || stream == "" {
		return "", 0, fmt.Errorf("%q is no event of this server", id)
	}
	return stream, seq, nil
}

// attach lets p carry the stream. It returns a channel that is closed when p
// does so no longer.
func (st *stream) attach(p *httpserve.Pen) <-chan struct{} {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.attachLocked(p)
}

func (st *stream) attachLocked(p *httpserve.Pen) <-chan struct{} {
	st.leaveLocked()
	st.pen, st.left = p, make(chan struct{})
	return st.left
}

// leave takes the stream away from p, if p still carries it.
func (st *stream) leave(p *httpserve.Pen) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.pen == p {
		st.leaveLocked()
	}
}

func (st *stream) leaveLocked() {
	if st.pen != nil {
		st.pen = nil
		close(st.left)
	}
}

// resume lets p carry the stream from after event seq on: first what it
// missed, then what comes.
func (st *stream) resume(p *httpserve.Pen, seq uint64) (<-chan struct{}, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	missed, err := st.session.owner.h.opts.Events.After(st.session.id, st.id, seq)
	if err != nil {
		return nil, err
	}
	if err := p.Start(); err != nil {
		return nil, err
	}
	left := st.attachLocked(p)
	for i, data := range missed {
		if p.Event(sse.Event{ID: st.eventID(seq + uint64(i) + 1), Data: data}) != nil {
			st.leaveLocked()
			return left, nil
		}
	}
	st.told = st.seq
	if st.done {
		st.leaveLocked()
	}
	return left, nil
}

// send keeps an event and writes it to whoever listens.
func (st *stream) send(data []byte) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.sendLocked(data)
}

func (st *stream) sendLocked(data []byte) error {
	st.seq++
	if err := st.session.owner.h.opts.Events.Append(st.session.id, st.id, st.seq, data); err != nil {
		return fmt.Errorf("event not kept: %w", err)
	}
	if st.pen == nil {
		return nil // kept for when the client comes back
	}
	st.primeLocked()
	if st.pen == nil || st.pen.Event(sse.Event{ID: st.eventID(st.seq), Data: data}) != nil {
		st.leaveLocked()
		return nil
	}
	st.told = st.seq
	return nil
}

// primeLocked writes the event that lets a client come back before there was
// a message.
//
// Spec: 2025-11-25 basic/transports#sending-messages-to-the-server (6).
func (st *stream) primeLocked() {
	if st.primed || !st.session.polling() {
		return
	}
	st.primed = true
	if st.pen.Event(sse.Event{ID: st.eventID(st.seq - 1), Retry: st.session.owner.h.opts.Retry}) != nil {
		st.leaveLocked()
	}
}

// answer ends the stream: as a JSON object when nothing preceded it and
// somebody listens, as its last event otherwise.
func (st *stream) answer(frame []byte, failed *era.Failure) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.done {
		return nil
	}
	st.done = true
	defer close(st.ending)
	if st.seq == 0 && !st.primed && st.pen != nil && st.pen.Object(sessionStatus(failed), frame) {
		st.leaveLocked()
		return nil
	}
	err := st.sendLocked(frame)
	st.leaveLocked()
	return err
}

// drop ends the stream without an answer.
func (st *stream) drop() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.done {
		st.done = true
		close(st.ending)
	}
	st.leaveLocked()
}

// detach ends the response that carries the stream, while the stream goes on.
//
// Spec: 2025-11-25 basic/transports#sending-messages-to-the-server (6).
func (st *stream) detach(retry time.Duration) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.done || st.pen == nil {
		return nil
	}
	if retry <= 0 {
		retry = st.session.owner.h.opts.Retry
	}
	st.primed = true
	err := st.pen.Event(sse.Event{ID: st.eventID(st.seq), Retry: retry})
	st.leaveLocked()
	return err
}

// requestOut is the Out of a request of a session.
type requestOut struct{ *stream }

var (
	_ era.Out     = requestOut{}
	_ era.Dropper = requestOut{}
)

func (o requestOut) Message(_ context.Context, frame []byte) error { return o.send(frame) }

func (o requestOut) Answer(_ context.Context, frame []byte, failed *era.Failure) error {
	return o.answer(frame, failed)
}

// Dropped ends the stream of a request that was cancelled.
func (o requestOut) Dropped() { o.drop() }

// standingOut is the Out of what belongs to no request.
type standingOut struct{ *stream }

func (o standingOut) Message(_ context.Context, frame []byte) error { return o.send(frame) }

func (o standingOut) Answer(context.Context, []byte, *era.Failure) error { return nil }
