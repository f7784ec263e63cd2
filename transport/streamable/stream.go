package streamable

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/httpserve"
	"github.com/parley-mcp/parley/internal/sse"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/mcp"
)

// stream is a sequence of messages to the client of a session: those of one
// request, or those that belong to none. It outlives the HTTP response that
// carries it: a client that lost one comes back for the rest.
//
// Spec: 2025-11-25 basic/transports#resumability-and-redelivery.
type stream struct {
	session *session

	mu       sync.Mutex
	id       string              // its name, or "" while there is no event to come back for
	primed   bool                // whether it begins with an event that says how to come back
	seq      uint64              // of the last event
	told     uint64              // of the last event that went out
	response *httpserve.Response // nil while nobody listens
	left     chan struct{}       // closed when response carries the stream no longer
	held     bool                // response is of the goroutine that serves the request
	done     bool                // the answer was sent: nothing follows

	// For those who cannot wait for mu.
	ended  atomic.Bool   // done
	untold atomic.Uint64 // how many events never went out
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
func (st *stream) attach(p *httpserve.Response) <-chan struct{} {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.attachLocked(p)
}

func (st *stream) attachLocked(p *httpserve.Response) <-chan struct{} {
	_ = st.endLocked() // whoever lost the old response does not miss it
	st.response, st.left = p, make(chan struct{})
	return st.left
}

// hold lets p carry the stream, which is of the response of the goroutine that
// serves the request: it ends with the request, and has to be cut off before.
func (st *stream) hold(p *httpserve.Response) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.response, st.held = p, true
}

// endLocked ends the response that carries the stream, while the stream goes
// on.
func (st *stream) endLocked() error {
	p, held := st.response, st.held
	st.leaveLocked()
	if held {
		return p.Cut()
	}
	return nil
}

// leave takes the stream away from p, if p still carries it.
func (st *stream) leave(p *httpserve.Response) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.response == p {
		st.leaveLocked()
	}
}

func (st *stream) leaveLocked() {
	if st.left != nil {
		close(st.left)
	}
	st.response, st.left, st.held = nil, nil, false
}

// resume lets p carry the stream from after event seq on: first what it
// missed, then what comes.
func (st *stream) resume(p *httpserve.Response, seq uint64) (<-chan struct{}, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	left, err := st.resumeLocked(p, seq)
	if errors.Is(err, ErrForgotten) && seq < st.told { // what went out on a response that broke
		st.session.seen.DropMany(mcp.Sent, mcp.DropForgotten, st.told-seq, err)
	}
	return left, err
}

// listen lets p carry the stream from the first event on that never went out.
// What is not kept until then is lost: nobody came for it.
func (st *stream) listen(p *httpserve.Response) (<-chan struct{}, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	left, err := st.resumeLocked(p, st.told)
	if errors.Is(err, ErrForgotten) {
		st.session.seen.DropMany(mcp.Sent, mcp.DropForgotten, st.untold.Load(), err)
		return st.resumeLocked(p, st.seq)
	}
	return left, err
}

func (st *stream) resumeLocked(p *httpserve.Response, seq uint64) (<-chan struct{}, error) {
	missed, err := st.missedLocked(seq)
	if err != nil {
		return nil, err
	}
	left := st.attachLocked(p)
	st.tellLocked(seq)
	if p.Start() != nil {
		st.leaveLocked()
	}
	for _, data := range missed {
		seq++
		if !st.writeLocked(seq, data) {
			break
		}
	}
	if st.done {
		st.leaveLocked()
	}
	return left, nil
}

// errUnreadable says that the EventStore failed.
var errUnreadable = errors.New("the events cannot be read")

// missedLocked returns all events after number seq.
func (st *stream) missedLocked(seq uint64) ([][]byte, error) {
	switch {
	case seq > st.seq:
		return nil, fmt.Errorf("%q is no event of this server", st.eventID(seq))
	case seq == st.seq:
		return nil, nil
	}
	opts := &st.session.owner.h.opts
	missed, err := opts.Events.After(st.session.id, st.id, seq)
	switch {
	case errors.Is(err, ErrForgotten):
		return nil, ErrForgotten
	case err != nil:
		opts.Logger.Error("events not read", "stream", st.id, "error", err)
		return nil, errUnreadable
	case uint64(len(missed)) != st.seq-seq: // one was not kept, or the stream was dropped meanwhile
		return nil, ErrForgotten
	}
	return missed, nil
}

var errEnded = tap.Because(mcp.DropClosed, errors.New("the stream has ended"))

// send keeps an event and writes it to whoever listens.
func (st *stream) send(data []byte) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.done {
		return errEnded
	}
	return st.sendLocked(data)
}

// sendLocked fails when nobody gets the event, now or later.
func (st *stream) sendLocked(data []byte) error {
	st.nameLocked()
	st.seq++
	opts := &st.session.owner.h.opts
	err := opts.Events.Append(st.session.id, st.id, st.seq, data)
	if err != nil {
		opts.Logger.Error("event not kept", "stream", st.id, "error", err)
		err = tap.Because(mcp.DropNotKept, fmt.Errorf("event not kept: %w", err))
	}
	st.primeLocked()
	switch {
	case st.writeLocked(st.seq, data):
		return nil
	case err == nil: // kept for when the client comes back
		st.untold.Add(1)
	}
	return err
}

// tellLocked notes that all events up to a number have gone out, or are given
// up.
func (st *stream) tellLocked(seq uint64) {
	if seq > st.told {
		st.told = seq
		st.untold.Store(st.seq - seq)
	}
}

// nameLocked has the session remember a stream from its first event on: most
// have none.
func (st *stream) nameLocked() {
	if st.id == "" {
		st.id = st.session.remember(st)
	}
}

// writeLocked writes an event to whoever listens, and reports whether it went
// out.
func (st *stream) writeLocked(seq uint64, data []byte) bool {
	if st.response == nil {
		return false
	}
	if st.response.Event(sse.Event{ID: st.eventID(seq), Data: data}) != nil {
		st.leaveLocked()
		return false
	}
	st.tellLocked(seq)
	return true
}

// primeLocked writes the event that lets a client come back before there was
// a message.
//
// Spec: 2025-11-25 basic/transports#sending-messages-to-the-server (6).
func (st *stream) primeLocked() {
	if st.primed || st.response == nil || !st.session.polling() {
		return
	}
	st.primed = true
	if st.response.Event(sse.Event{ID: st.eventID(st.seq - 1), Retry: st.session.owner.h.opts.Retry}) != nil {
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
	defer st.ended.Store(true)
	if st.response != nil && failed != nil {
		st.response.Challenge(failed.Challenge)
	}
	if st.seq == 0 && !st.primed && st.response != nil {
		if ok, err := st.response.Object(sessionStatus(failed), frame); ok {
			st.leaveLocked()
			return err
		}
	}
	err := st.sendLocked(frame)
	st.leaveLocked()
	return err
}

// drop ends the stream without an answer. A response that has nothing yet
// becomes an event stream without events: it has to be of some type.
//
// Spec: 2025-11-25 basic/transports#sending-messages-to-the-server (5).
func (st *stream) drop() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.done {
		st.done = true
		st.ended.Store(true)
	}
	if st.response != nil {
		_ = st.response.Start() // a client that is gone does not matter
	}
	st.leaveLocked()
}

// detach ends the response that carries the stream, while the stream goes on.
//
// Spec: 2025-11-25 basic/transports#sending-messages-to-the-server (6).
func (st *stream) detach(retry time.Duration) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.done || st.response == nil {
		return nil
	}
	if retry <= 0 {
		retry = st.session.owner.h.opts.Retry
	}
	st.nameLocked()
	st.primed = true
	err := st.response.Event(sse.Event{ID: st.eventID(st.seq), Retry: retry})
	return errors.Join(err, st.endLocked())
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
