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
// request, or, on a standing stream, those that belong to no request. It outlives
// the HTTP response that carries it, so that a client that lost the response can
// come back for the rest.
//
// Spec: 2025-11-25 basic/transports#resumability-and-redelivery.
type stream struct {
	session  *session
	standing bool
	call     bool // counts as one of the handler's calls

	mu       sync.Mutex
	id       string              // its name, or "" before the first event
	primed   bool                // whether the event that lets the client come back was written
	seq      uint64              // number of the last event
	told     uint64              // number of the last event that went out
	response *httpserve.Response // nil while nobody listens
	left     chan struct{}       // closed when response no longer carries the stream
	held     bool                // response belongs to the goroutine that serves the request
	done     bool                // the answer was sent: nothing follows

	// Readable without mu.
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
		return "", 0, fmt.Errorf("%q is not an event of this server", id)
	}
	return stream, seq, nil
}

// attach lets resp carry the stream. It returns a channel that is closed when resp
// no longer carries it.
func (st *stream) attach(resp *httpserve.Response) <-chan struct{} {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.attachLocked(resp)
}

func (st *stream) attachLocked(resp *httpserve.Response) <-chan struct{} {
	st.retryLocked()
	_ = st.endLocked() // the client has given up the old response
	st.response, st.left = resp, make(chan struct{})
	return st.left
}

// hold lets resp carry the stream. resp belongs to the goroutine that serves the
// request, so it ends with the request; to end earlier it must be cut.
func (st *stream) hold(resp *httpserve.Response) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.response, st.held = resp, true
}

// endLocked ends the response that carries the stream, but not the stream.
func (st *stream) endLocked() error {
	resp, held := st.response, st.held
	st.leaveLocked()
	if held {
		return resp.Cut()
	}
	return nil
}

// leave takes the stream away from resp, if resp still carries it.
func (st *stream) leave(resp *httpserve.Response) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.response == resp {
		st.retryLocked()
		st.leaveLocked()
	}
}

// retryLocked says on a response to a GET that is about to end, while the stream goes
// on, when the client should come back. The client may be gone already.
//
// Spec: 2025-11-25 basic/transports#listening-for-messages-from-the-server.
func (st *stream) retryLocked() {
	if st.response != nil && !st.held && !st.done && st.session.polling() {
		_ = st.response.Event(sse.Event{Retry: st.session.owner.h.opts.Retry})
	}
}

func (st *stream) leaveLocked() {
	if st.left != nil {
		close(st.left)
	}
	st.response, st.left, st.held = nil, nil, false
}

// resume lets resp carry the stream from after event seq: first the events that
// were missed, then new ones.
func (st *stream) resume(resp *httpserve.Response, seq uint64) (<-chan struct{}, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	left, err := st.resumeLocked(resp, seq)
	if errors.Is(err, ErrForgotten) && seq < st.told { // they went out on a response that broke
		st.session.seen.DropMany(mcp.Sent, mcp.DropForgotten, st.told-seq, err)
	}
	return left, err
}

// listen lets resp carry the stream, if no other response does, from the first event
// that never went out. If some of those are no longer kept, they are counted as
// dropped, and resp carries new events only.
func (st *stream) listen(resp *httpserve.Response) (left <-chan struct{}, free bool, err error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.response != nil {
		return nil, false, nil
	}
	left, err = st.resumeLocked(resp, st.told)
	if errors.Is(err, ErrForgotten) {
		st.session.seen.DropMany(mcp.Sent, mcp.DropForgotten, st.untold.Load(), err)
		left, err = st.resumeLocked(resp, st.seq)
	}
	return left, true, err
}

func (st *stream) resumeLocked(resp *httpserve.Response, seq uint64) (<-chan struct{}, error) {
	missed, err := st.missedLocked(seq)
	if err != nil {
		return nil, err
	}
	left := st.attachLocked(resp)
	st.tellLocked(seq)
	if resp.Start() != nil {
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

// errUnreadable says that EventStore.After failed.
var errUnreadable = errors.New("the events cannot be read")

// missedLocked returns all events after number seq. It fails if one is missing.
func (st *stream) missedLocked(seq uint64) ([][]byte, error) {
	switch {
	case seq > st.seq:
		return nil, fmt.Errorf("%q is not an event of this server", st.eventID(seq))
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
	case uint64(len(missed)) != st.seq-seq: // one could not be kept, or the stream was dropped meanwhile
		return nil, ErrForgotten
	}
	return missed, nil
}

var errEnded = tap.Because(mcp.DropClosed, errors.New("the stream has ended"))

// send stores an event, and writes it if there is a response.
func (st *stream) send(data []byte) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.done {
		return errEnded
	}
	return st.sendLocked(data)
}

// sendLive is send for a stream that a response carries; otherwise it reports false.
func (st *stream) sendLive(data []byte) (sent bool, err error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.done || st.response == nil {
		return false, nil
	}
	return true, st.sendLocked(data)
}

// sendLocked fails if the event was neither written nor stored.
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

// tellLocked notes that all events up to a number have gone out or been given up.
func (st *stream) tellLocked(seq uint64) {
	if seq > st.told {
		st.told = seq
		st.untold.Store(st.seq - seq)
	}
}

// nameLocked gives the stream a name if it has none, upon its first event: most
// streams have no events.
func (st *stream) nameLocked() {
	if st.id == "" {
		st.id = st.session.remember(st)
	}
}

// writeLocked writes an event if there is a response, and reports whether it went
// out.
func (st *stream) writeLocked(seq uint64, data []byte) bool {
	if st.response == nil {
		return false
	}
	if st.response.Event(sse.Message(st.eventID(seq), data)) != nil {
		st.leaveLocked()
		return false
	}
	st.tellLocked(seq)
	return true
}

// primeLocked writes an event without data, whose ID lets a client come back that
// loses the response before the first message. Later there is none: each ID occurs
// once, and that of the last message serves.
//
// Spec: 2025-11-25 basic/transports#sending-messages-to-the-server (6).
func (st *stream) primeLocked() {
	if st.primed || st.told > 0 || st.response == nil || !st.session.polling() {
		return
	}
	st.primed = true
	if st.response.Event(sse.Event{ID: st.eventID(0), Retry: st.session.owner.h.opts.Retry}) != nil {
		st.leaveLocked()
	}
}

// begin opens the event stream although nothing was said yet, so that comments can
// keep the connection of a long request alive.
func (st *stream) begin() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.done || st.response == nil {
		return
	}
	st.nameLocked()
	if st.primeLocked(); st.response != nil {
		_ = st.response.Start() // it does not matter if the client is gone
	}
}

// answer writes the answer, which ends the stream: as a JSON object if nothing
// preceded it and there is a response, or else as the last event.
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

// drop ends the stream without an answer. A response that has not begun becomes an
// empty event stream, since it needs some Content-Type.
//
// Spec: 2025-11-25 basic/transports#sending-messages-to-the-server (5).
func (st *stream) drop() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.standing {
		st.retryLocked()
	}
	if !st.done {
		st.done = true
		st.ended.Store(true)
	}
	if st.response != nil {
		_ = st.response.Start() // it does not matter if the client is gone
	}
	st.leaveLocked()
}

// detach ends the response that carries the stream, but not the stream, and asks
// the client to come back after retry.
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
	e := sse.Event{Retry: retry}
	if !st.primed && st.told == 0 {
		st.primed, e.ID = true, st.eventID(0)
	}
	err := st.response.Event(e)
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

// Dropped implements era.Dropper: a cancelled request gets no answer.
func (o requestOut) Dropped() { o.drop() }
