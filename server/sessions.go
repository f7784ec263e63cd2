package server

import (
	"context"
	"slices"

	"github.com/parley-mcp/parley/mcp"
)

// OnSession has f called when a client has opened a session, before anything else of it
// is served; Session.OnEnd then says when it has ended. Functions are called in the order
// in which they were added. One that is added while the server serves learns of sessions
// that are opened later.
//
// Only sessions of revisions up to 2025-11-25 are seen: in 2026-07-28 there are none. What
// is about every request, in all revisions, belongs in middleware; see Use.
func (s *Server) OnSession(f func(ctx context.Context, session *mcp.Session)) {
	s.chainMu.Lock()
	defer s.chainMu.Unlock()
	s.sessions = append(slices.Clip(s.sessions), f)
}

// opened is called by transports, as mcp.Description.OnSession.
func (s *Server) opened(ctx context.Context, session *mcp.Session) {
	s.chainMu.Lock()
	all := s.sessions
	s.chainMu.Unlock()
	for _, f := range all {
		f(ctx, session)
	}
}

// Session returns the session that the call belongs to, or nil if there is none: in
// 2026-07-28, and where the call is a task, or may become one.
func (c *Call) Session() *mcp.Session { return c.x.Session }
