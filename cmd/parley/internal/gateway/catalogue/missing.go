package catalogue

import (
	"slices"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/mcp"
)

// told returns what a peer is told of backends that have not answered. Of one of which it
// is shown nothing, as far as is known, it does not even learn the name. Until something is
// known, that depends on whether guards may keep it from the peer.
func (c *Catalogue) told(missing map[string]error, peer *mcp.Peer, sees func(*guard.Definition) bool) (told map[string]string) {
	open := !guard.Discreet(c.opts.Guards)
	for name, err := range missing {
		if !c.byName[name].shows(peer, sees, open) {
			continue
		}
		if told == nil {
			told = map[string]string{}
		}
		told[name] = reason(err)
	}
	return told
}

// shows reports whether a peer sees anything of what the backend has listed last. unknown
// is for when that is nothing.
func (s *source) shows(peer *mcp.Peer, sees func(*guard.Definition) bool, unknown bool) bool {
	whose := s.who(peer)
	known := false
	for _, l := range s.lists {
		last := l.last(whose)
		if last == nil {
			continue
		}
		known = known || len(last.defs) > 0
		if slices.ContainsFunc(last.defs, sees) {
			return true
		}
	}
	return !known && unknown
}

// last returns what the backend has listed last for somebody; nil if it has not.
func (l *list) last(whose who) *content {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range []shareKey{{public: true}, {who: whose}} {
		if s := l.shares[k]; s != nil {
			return s.content
		}
	}
	return nil
}
