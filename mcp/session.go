package mcp

import "sync"

// Session is a session of a client, in revisions up to 2025-11-25: from initialize
// until the client or the server ends it, its connection ends, or, over HTTP, it has been idle
// for too long. Its methods may be called concurrently.
//
// In 2026-07-28 there are no sessions, on any transport: a server must not rely on what
// came earlier on the same connection. Exchanges have no Session then, and what is to
// be remembered has a name that the client passes as an argument, or belongs to its principal.
//
// Spec: 2025-11-25 basic/lifecycle.
// Spec: 2026-07-28 basic#statelessness.
type Session struct {
	peer Peer

	mu    sync.Mutex
	ended bool
	ends  []func()
}

// NewSession returns a session that lasts until end is called. It is for those who make
// exchanges, such as tests of handlers.
func NewSession(peer Peer) (s *Session, end func()) {
	s = &Session{peer: peer}
	return s, s.end
}

// Peer returns who opened the session, with initialize. The credentials of later exchanges
// may be newer ones of the same principal.
func (s *Session) Peer() Peer { return s.peer }

// OnEnd has f called when the session has ended and its last request has returned. Of
// several functions, the one that was added last is called first. If the session has
// ended already, f is not called, and OnEnd reports false. f must return soon: who ends
// the session waits for it.
func (s *Session) OnEnd(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ends = append(s.ends, f)
	}
	return !s.ended
}

func (s *Session) end() {
	s.mu.Lock()
	ends := s.ends
	s.ended, s.ends = true, nil
	s.mu.Unlock()
	for _, f := range ends {
		defer f() // all of them are called, the last one first, even if one panics
	}
}
