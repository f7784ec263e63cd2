package streamable

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/httpserve"
	"github.com/parley-mcp/parley/jsonrpc"
)

// session is one client's conversation: the era's session, and the streams
// that carry it.
//
// Spec: 2025-11-25 basic/transports#session-management.
type session struct {
	owner     *sessions
	id        string
	principal string
	era       *era.Session
	inflight  era.InFlight
	standing  *stream
	work      sync.WaitGroup  // requests being served
	ctx       context.Context //nolint:containedctx // the session's life: ended by close
	end       context.CancelCauseFunc

	last    atomic.Int64 // number of the last stream
	mu      sync.Mutex
	closed  bool
	streams map[string]*stream
	order   []string // of streams, oldest first
	active  int      // HTTP requests under way
	idle    *time.Timer
}

// maxStreams bounds the finished streams that a session remembers.
const maxStreams = 64

// use counts an HTTP request in; a session in use does not expire. It reports
// false when the session has ended.
func (s *session) use() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.active++
	if s.idle != nil {
		s.idle.Stop()
	}
	return true
}

func (s *session) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active--; s.active == 0 && s.idle != nil && !s.closed {
		s.idle.Reset(s.owner.h.opts.SessionIdle)
	}
}

// expire ends a session that was not used for long.
func (s *session) expire() {
	s.mu.Lock()
	busy := s.active > 0
	s.mu.Unlock()
	if !busy {
		s.owner.end(s, errors.New("the session was idle for too long"))
	}
}

// close ends what the session serves and waits for it.
func (s *session) close(cause error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	if s.idle != nil {
		s.idle.Stop()
	}
	s.mu.Unlock()
	s.inflight.CancelAll(era.ErrShutdown)
	s.era.Close(cause)
	s.work.Wait()
	s.end(cause)
	s.standing.drop()
	s.owner.h.opts.Events.Drop(s.id)
}

// begin makes the stream of a request, and counts the request in.
func (s *session) begin() (*stream, bool) {
	st := newStream(s, strconv.FormatInt(s.last.Add(1), 10))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, false
	}
	s.work.Add(1)
	s.streams[st.id] = st
	s.order = append(s.order, st.id)
	if len(s.order) > maxStreams {
		s.forgetFinished()
	}
	return st, true
}

// forgetFinished drops the oldest streams that have ended.
func (s *session) forgetFinished() {
	kept := s.order[:0]
	excess := len(s.order) - maxStreams
	for _, id := range s.order {
		if excess > 0 && s.streams[id].ended() {
			delete(s.streams, id)
			excess--
			continue
		}
		kept = append(kept, id)
	}
	s.order = kept
}

func (st *stream) ended() bool {
	select {
	case <-st.ending:
		return true
	default:
		return false
	}
}

func (s *session) stream(id string) *stream {
	if id == s.standing.id {
		return s.standing
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.streams[id]
}

func (s *session) polling() bool {
	f := s.era.Facts()
	return f != nil && f.Polling
}

// serve serves a request on a goroutine of its own: the request goes on when
// the client loses the response, or the handler ends it early. It returns
// when the response is over.
//
// Spec: 2025-11-25 basic/transports#sending-messages-to-the-server (6).
func (s *session) serve(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message, via era.Via) {
	ctx, err := s.inflight.Add(s.ctx, m, s.owner.h.opts.MaxInFlight)
	if err != nil {
		s.owner.h.refuseMessage(w, http.StatusOK, m.ID, err)
		return
	}
	st, ok := s.begin()
	if !ok {
		s.inflight.Remove(m.ID)
		s.owner.gone(w, m.ID)
		return
	}
	p := s.owner.h.pen(w, func(error) {})
	defer p.Close()
	left := st.attach(p)
	if s.polling() {
		via.Detach = st.detach
	}
	go func() { // ends with the request, which close cancels and waits for
		defer s.work.Done()
		defer s.inflight.Remove(m.ID)
		s.era.Receive(ctx, m, requestOut{st}, via)
		st.drop()
	}()
	s.carry(r, st, p, left)
}

// carry returns when p carries the stream no longer.
func (s *session) carry(r *http.Request, st *stream, p *httpserve.Pen, left <-chan struct{}) {
	select {
	case <-left:
	case <-r.Context().Done():
		st.leave(p)
	case <-s.ctx.Done():
		st.leave(p)
	}
}
