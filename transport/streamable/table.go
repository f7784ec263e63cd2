package streamable

import (
	"container/list"
	"context"
	"crypto/rand"
	"encoding/hex"
	"sync"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/jsonrpc"
)

// sessions are the sessions of a handler.
type sessions struct {
	h     *Handler
	table table
}

func newSessions(h *Handler) *sessions {
	return &sessions{h: h, table: table{byID: map[string]*session{}, of: map[party]int{}}}
}

func (ss *sessions) len() int { return ss.table.len() }

// party is who sessions are counted by: a principal, or else an address.
type party struct{ principal, source string }

func partyOf(s *era.Sender) party {
	if s.Principal != "" {
		return party{principal: s.Principal}
	}
	return party{source: s.Source}
}

// table finds the sessions by their identifiers, and bounds their number. It is safe
// for concurrent use.
type table struct {
	mu     sync.Mutex
	byID   map[string]*session
	of     map[party]int
	unused list.List // sessions that were opened and have served nothing yet, oldest first
	down   bool
}

func (t *table) len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.byID)
}

// add adds a session. If there are too many, it removes one that nobody has used, and
// returns it; if there is none, it reports false.
func (t *table) add(s *session, most, mostOfOne int) (evicted *session, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.down {
		return nil, false
	}
	switch {
	case mostOfOne > 0 && t.of[s.party] >= mostOfOne:
		evicted = t.idlerLocked(func(other *session) bool { return other.party == s.party })
	case len(t.byID) >= most:
		evicted = t.idlerLocked(func(*session) bool { return true })
	default:
		ok = true
	}
	if evicted != nil {
		t.removeLocked(evicted)
	}
	if ok = ok || evicted != nil; ok {
		t.byID[s.id] = s
		t.of[s.party]++
	}
	return evicted, ok
}

// idlerLocked returns the oldest unused session of a kind, or nil.
func (t *table) idlerLocked(kind func(*session) bool) *session {
	for e := t.unused.Front(); e != nil; e = e.Next() {
		if s, _ := e.Value.(*session); kind(s) {
			return s
		}
	}
	return nil
}

// ready says that a session was opened.
func (t *table) ready(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID[s.id] == s {
		s.unused = t.unused.PushBack(s)
	}
}

// used says that a session serves something after it was opened.
func (t *table) used(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.usedLocked(s)
}

func (t *table) usedLocked(s *session) {
	if s.unused != nil {
		t.unused.Remove(s.unused)
		s.unused = nil
	}
}

func (t *table) remove(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.removeLocked(s)
}

func (t *table) removeLocked(s *session) {
	if t.byID[s.id] != s {
		return
	}
	delete(t.byID, s.id)
	t.usedLocked(s)
	if t.of[s.party]--; t.of[s.party] == 0 {
		delete(t.of, s.party)
	}
}

// lookup returns the session with an identifier, or nil if there is none or somebody
// else opened it.
func (t *table) lookup(id, owner string) *session {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.byID[id]; s != nil && s.opener == owner {
		return s
	}
	return nil
}

// close lets nothing be added any more, and returns the sessions.
func (t *table) close() []*session {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.down = true
	var all []*session
	for _, s := range t.byID {
		all = append(all, s)
		t.removeLocked(s)
	}
	return all
}

// open opens a session. It returns nil, and an error to answer with, if there are too
// many.
//
// Spec: 2025-11-25 basic/transports#session-management (1).
func (ss *sessions) open(sender *era.Sender, seen *tap.Conn) (*session, error) {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails
	s := &session{owner: ss, id: hex.EncodeToString(id), opener: sender.Owner(), party: partyOf(sender), seen: seen, streams: map[string]*stream{}}
	s.ctx, s.end = context.WithCancelCause(context.Background())
	s.standing = &standing{session: s, first: &stream{session: s, id: "0", standing: true}}
	s.conversation = era.NewConversation(ss.h.handler, ss.h.opts.ServeOptions, nil, s.standing, seen)
	evicted, ok := ss.table.add(s, ss.h.opts.MaxSessions, ss.h.opts.MaxSessionsPerClient)
	if evicted != nil {
		evicted.close(errEvicted)
	}
	if !ok {
		s.end(era.ErrShutdown)
		return nil, errTooMany
	}
	return s, nil
}

var (
	errTooMany = jsonrpc.Errorf(jsonrpc.CodeInternalError, "there are too many sessions; end some with DELETE, or come back later")
	errEvicted = jsonrpc.Errorf(jsonrpc.CodeInternalError, "the session was not used, and gave way to another")
)

func (ss *sessions) lookup(id, owner string) *session { return ss.table.lookup(id, owner) }

func (ss *sessions) end(s *session, cause error) {
	ss.forget(s)
	s.close(cause)
}

func (ss *sessions) forget(s *session) { ss.table.remove(s) }

// close ends all sessions.
func (ss *sessions) close() {
	var wg sync.WaitGroup
	for _, s := range ss.table.close() {
		wg.Go(func() { s.close(era.ErrShutdown) })
	}
	wg.Wait()
}
