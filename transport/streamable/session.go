package streamable

import (
	"container/list"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/httpserve"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// session is one client's conversation, and the streams that carry it.
//
// Spec: 2025-11-25 basic/transports#session-management.
type session struct {
	owner        *sessions
	id           string
	opener       string // the Owner of the sender that opened it
	party        party  // who it counts for
	seen         *tap.Conn
	conversation *era.Conversation
	unused       *list.Element // guarded by the table; nil once the session was used
	standing     *standing
	work         sync.WaitGroup  // requests being served
	ctx          context.Context //nolint:containedctx // the session's lifetime: cancelled by close
	end          context.CancelCauseFunc

	mu      sync.Mutex
	closed  bool
	last    int                // the name that was given out last
	streams map[string]*stream // by name
	order   []string           // the names, oldest first
	using   []context.Context  // of the HTTP requests in flight
	freed   time.Time          // when the last of those ended
	idle    *time.Timer
	timed   bool // whether idle is running
	// deserted says that the clients of all requests in flight were gone when the
	// idle timer last fired.
	deserted bool
}

// maxStreams bounds the finished streams that a session remembers.
const maxStreams = 64

// use registers an HTTP request, by its context, until release; a session in use
// does not expire. It reports false if the session has ended.
func (s *session) use(request context.Context) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.using, s.deserted = append(s.using, request), false
	return true
}

// release ends what use began. A timer that is running is not reset: when it fires
// it checks whether the session was used meanwhile.
func (s *session) release(request context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.using, request)
	s.using = slices.Delete(s.using, i, i+1)
	after := s.owner.h.opts.SessionIdle
	if len(s.using) > 0 || s.closed || after < 0 {
		return
	}
	if s.freed = time.Now(); !s.timed {
		s.timeLocked(after)
	}
}

func (s *session) timeLocked(after time.Duration) {
	s.timed = true
	if s.idle == nil {
		s.idle = time.AfterFunc(after, s.expire)
		return
	}
	s.idle.Reset(after)
}

// expire ends the session if it has been idle for too long.
func (s *session) expire() {
	if !s.owner.h.enter() {
		return // Close ends the session
	}
	defer s.owner.h.busy.Done()
	if s.stale() {
		s.owner.forget(s)
		s.finish(errors.New("the session was idle for too long"))
	}
}

// stale closes a session that has been idle for too long, and reports whether it
// did. Otherwise it restarts the timer, unless the session is closed already.
func (s *session) stale() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	after := s.owner.h.opts.SessionIdle
	s.timed = false
	switch left := after - time.Since(s.freed); {
	case s.closed:
		return false
	case slices.ContainsFunc(s.using, alive):
		s.deserted = false
		s.timeLocked(after)
		return false
	case len(s.using) > 0 && !s.deserted: // there is no telling since when
		s.deserted = true
		s.timeLocked(after)
		return false
	case len(s.using) == 0 && left > 0:
		s.timeLocked(left)
		return false
	}
	return s.shutLocked()
}

// alive reports whether the client of a request is still connected. The request
// goes on without its client, but no longer keeps the session in use.
func alive(request context.Context) bool { return request.Err() == nil }

// close ends the session: it cancels its requests and waits for them.
func (s *session) close(cause error) {
	s.mu.Lock()
	first := s.shutLocked()
	s.mu.Unlock()
	if first {
		s.finish(cause)
	}
}

// shutLocked marks the session as closed, so that it accepts nothing more. It
// reports false if it was closed before.
func (s *session) shutLocked() bool {
	if s.closed {
		return false
	}
	s.closed = true
	if s.idle != nil {
		s.idle.Stop()
	}
	return true
}

func (s *session) finish(cause error) {
	s.conversation.Cancel(era.ErrShutdown)
	s.conversation.Close(cause)
	s.work.Wait()
	s.end(cause)
	s.standing.drop()
	s.tellUntold()
	s.owner.h.opts.Events.Drop(s.id)
}

// begin returns a new stream for a request, which close waits for until settle.
func (s *session) begin() (*stream, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, false
	}
	s.work.Add(1)
	return &stream{session: s}, true
}

// beginCall is begin for what a drain waits for, too, until settle. If there is no
// stream, beginCall answers with an error and returns nil.
func (s *session) beginCall(w http.ResponseWriter, id jsonrpc.ID) *stream {
	h := s.owner.h
	if !h.calls.Begin() {
		h.refuseLate(w, id)
		return nil
	}
	st, ok := s.begin()
	if !ok {
		h.calls.End()
		s.owner.gone(w, id)
		return nil
	}
	st.call = true
	return st
}

// settle ends what begin or beginCall began.
func (s *session) settle(st *stream) {
	st.drop()
	s.work.Done()
	if st.call {
		s.owner.h.calls.End()
	}
}

// remember gives a stream a name, by which its client can resume it.
func (s *session) remember(st *stream) (id string) {
	s.mu.Lock()
	s.last++
	id = strconv.Itoa(s.last)
	s.streams[id] = st
	s.order = append(s.order, id)
	forgotten, untold := s.forgetFinished()
	s.mu.Unlock()
	s.seen.DropMany(mcp.Sent, mcp.DropForgotten, untold, errNotFetched)
	for _, old := range forgotten {
		s.owner.h.opts.Events.DropStream(s.id, old)
	}
	return id
}

var errNotFetched = errors.New("the client did not come back for the rest of its stream")

// tellUntold counts as dropped the messages that were kept for the client, which did
// not come back for them before the session ended.
func (s *session) tellUntold() {
	s.mu.Lock()
	untold := s.standing.first.untold.Load()
	for _, st := range s.streams {
		untold += st.untold.Load()
	}
	s.mu.Unlock()
	s.seen.DropMany(mcp.Sent, mcp.DropClosed, untold, errNotFetched)
}

// forgetFinished forgets the oldest streams that have ended, if there are more than
// maxStreams, and returns their names. untold is how many of their messages never
// went out.
func (s *session) forgetFinished() (forgotten []string, untold uint64) {
	if len(s.order) <= maxStreams {
		return nil, 0
	}
	excess := len(s.order) - maxStreams
	s.order = slices.DeleteFunc(s.order, func(id string) bool {
		if len(forgotten) >= excess || !s.streams[id].ended.Load() {
			return false
		}
		untold += s.streams[id].untold.Load()
		delete(s.streams, id)
		forgotten = append(forgotten, id)
		return true
	})
	return forgotten, untold
}

func (s *session) stream(id string) *stream {
	if first := s.standing.first; id == first.id {
		return first
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.streams[id]
}

func (s *session) polling() bool {
	f := s.conversation.Facts()
	return f != nil && f.Polling
}

// serve serves a request, which goes on if the client loses the response or the
// handler ends the response early. If the response can be cut, serve returns when
// the request has ended; otherwise when the response has.
//
// Spec: 2025-11-25 basic/transports#sending-messages-to-the-server (6).
func (s *session) serve(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message, hold *httpserve.Hold, sender era.Sender) {
	st := s.beginCall(w, m.ID)
	if st == nil {
		return
	}
	req, err := s.conversation.Admit(httpserve.Within(s.ctx, r.Context()), m, requestOut{st})
	if err != nil {
		s.settle(st)
		s.owner.h.refuseMessage(w, http.StatusOK, m.ID, err)
		return
	}
	resp := s.owner.h.response(w, func(error) {})
	defer resp.Close()
	resp.OnQuiet(st.begin)
	if s.polling() {
		sender.Detach = st.detach
	}
	if httpserve.Cuttable(w, r) {
		defer s.settle(st)
		st.hold(resp)
		req.Serve(sender) //nolint:contextcheck // a request has its own context, made when it was admitted
		return
	}
	left := st.attach(resp)
	hold.Keep()
	go func() { //nolint:contextcheck // as above; it ends with the request, which close cancels and waits for
		defer hold.Release()
		defer s.settle(st)
		req.Serve(sender)
	}()
	s.carry(r, st, resp, left)
}

// carry returns when resp no longer carries the stream.
func (s *session) carry(r *http.Request, st *stream, resp *httpserve.Response, left <-chan struct{}) {
	select {
	case <-left:
	case <-r.Context().Done():
		st.leave(resp)
	case <-s.ctx.Done():
		st.leave(resp)
	}
}
