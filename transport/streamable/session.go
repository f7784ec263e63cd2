package streamable

import (
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
	principal    string
	seen         *tap.Conn
	conversation *era.Conversation
	standing     *stream
	work         sync.WaitGroup  // requests being served
	ctx          context.Context //nolint:containedctx // the session's life: ended by close
	end          context.CancelCauseFunc

	mu      sync.Mutex
	closed  bool
	last    int                // number of the last stream with a name
	streams map[string]*stream // that have one
	order   []string           // of streams, oldest first
	using   []context.Context  // of HTTP requests under way
	freed   time.Time          // when the last of them ended
	idle    *time.Timer
	timed   bool // whether idle runs
	// deserted says that the clients of all requests under way were gone when
	// that was last looked at.
	deserted bool
}

// maxStreams bounds the finished streams that a session remembers.
const maxStreams = 64

// use counts an HTTP request in, by its context; a session in use does not
// expire. It reports false when the session has ended.
func (s *session) use(request context.Context) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.using, s.deserted = append(s.using, request), false
	return true
}

// release counts a request out. The timer is left alone if it runs: it looks
// for itself whether the session was used meanwhile.
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

// expire ends a session that was not used for long.
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

// stale shuts a session that was not used for long. The timer of another one
// goes on.
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
	case len(s.using) > 0 && !s.deserted: // nobody knows for how long
		s.deserted = true
		s.timeLocked(after)
		return false
	case len(s.using) == 0 && left > 0:
		s.timeLocked(left)
		return false
	}
	return s.shutLocked()
}

// alive reports whether the client of a request is still there. A request goes
// on without, and does not keep its session in use then.
func alive(request context.Context) bool { return request.Err() == nil }

// close ends what the session serves and waits for it.
func (s *session) close(cause error) {
	s.mu.Lock()
	first := s.shutLocked()
	s.mu.Unlock()
	if first {
		s.finish(cause)
	}
}

// shutLocked lets nothing more in. It reports false when that was done
// before.
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

// begin makes the stream of a request, and counts the request in.
func (s *session) begin() (*stream, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, false
	}
	s.work.Add(1)
	return &stream{session: s}, true
}

// settle counts a request out.
func (s *session) settle(st *stream) {
	st.drop()
	s.work.Done()
}

// remember gives a stream its name, under which its client can come back for
// it.
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

// tellUntold says how many messages were kept for a client that did not come
// for them while there was a session.
func (s *session) tellUntold() {
	s.mu.Lock()
	untold := s.standing.untold.Load()
	for _, st := range s.streams {
		untold += st.untold.Load()
	}
	s.mu.Unlock()
	s.seen.DropMany(mcp.Sent, mcp.DropClosed, untold, errNotFetched)
}

// forgetFinished forgets the oldest streams that have ended, when there are
// too many, and returns them. untold is how many messages of them never went
// out.
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
	if id == s.standing.id {
		return s.standing
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.streams[id]
}

func (s *session) polling() bool {
	f := s.conversation.Facts()
	return f != nil && f.Polling
}

// serve serves a request, which goes on when the client loses the response, or
// the handler ends it early. It returns when the response is over, or with the
// request where the response can be cut off.
//
// Spec: 2025-11-25 basic/transports#sending-messages-to-the-server (6).
func (s *session) serve(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message, sender era.Sender) {
	st, ok := s.begin()
	if !ok {
		s.owner.gone(w, m.ID)
		return
	}
	req, err := s.conversation.Admit(s.ctx, m, requestOut{st})
	if err != nil {
		s.settle(st)
		s.owner.h.refuseMessage(w, http.StatusOK, m.ID, err)
		return
	}
	p := s.owner.h.response(w, func(error) {})
	defer p.Close()
	if s.polling() {
		sender.Detach = st.detach
	}
	if httpserve.Cuttable(w, r) {
		defer s.settle(st)
		st.hold(p)
		req.Serve(sender)
		return
	}
	left := st.attach(p)
	go func() { // ends with the request, which close cancels and waits for
		defer s.settle(st)
		req.Serve(sender)
	}()
	s.carry(r, st, p, left)
}

// carry returns when p carries the stream no longer.
func (s *session) carry(r *http.Request, st *stream, p *httpserve.Response, left <-chan struct{}) {
	select {
	case <-left:
	case <-r.Context().Done():
		st.leave(p)
	case <-s.ctx.Done():
		st.leave(p)
	}
}
