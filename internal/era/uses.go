package era

import "sync/atomic"

// uses counts who uses a session: the connection, until Close, and everything that is
// being received. Once nobody does, it stays so.
type uses struct{ n atomic.Int64 }

// enter adds a user. It reports false if there are none any more.
func (u *uses) enter() bool {
	for {
		n := u.n.Load()
		if n == 0 {
			return false
		}
		if u.n.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// leave ends what enter, or NewSession, began. The last user ends the mcp.Session.
func (s *Session) leave() {
	if s.uses.n.Add(-1) > 0 {
		return
	}
	if a := s.agreed.Load(); a != nil {
		var result any // there is none
		var err error  // it has been logged
		defer rescue(s.ctx, s.handler, "end of the session", s.opts.Logger, &result, &err)
		a.over()
	}
}
