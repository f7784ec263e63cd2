package gateway

import (
	"context"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/mcp"
)

// opened is called when a client has opened a session. What ends it is the session itself:
// not every client says that it is initialized.
func (v *View) opened(_ context.Context, session *mcp.Session) {
	begun := time.Now()
	session.OnEnd(func() {
		peer := session.Peer()
		v.g.over(&peer)
		kept := &mcp.Exchange{Method: mcp.MethodInitialize, Peer: peer}
		_ = v.g.current.Load().record(&guard.Event{Exchange: kept, View: v.name, Over: true, Begun: begun}) // it has ended anyway
	})
}

// over ends what a session had for itself at the backends.
func (g *Gateway) over(peer *mcp.Peer) {
	if peer.SessionID == "" { // nothing is its own
		return
	}
	s := g.current.Load()
	for _, l := range guard.Leavers(s.guards) {
		l.Left(peer)
	}
	for _, m := range s.members {
		if m.share == bridge.ShareSession { // first of all, so that no request opens a connection again
			s.catalogue.Forget(m.backend.Name(), peer)
		}
		m.backend.Over(peer)
	}
}
