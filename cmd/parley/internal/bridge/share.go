package bridge

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Share says which clients use a connection together.
type Share uint8

const (
	// ShareSession gives each session a connection of its own. Clients without a
	// session share one for each principal and set of capabilities.
	ShareSession Share = iota
	// SharePrincipal has one connection for each principal and set of capabilities,
	// in sessions or not.
	SharePrincipal
	// ShareAll has one connection for all. The other server is told that its client
	// can answer everything; a question to a client that cannot fails, and so does one of
	// which it is not certain whose call it belongs to.
	ShareAll
)

// keyOf says which connection a client uses, and whether it is a session's own.
func (b *Bridge) keyOf(peer *mcp.Peer) (key string, owned bool, err error) {
	switch {
	case b.opts.Share == ShareAll:
		return "all", false, nil
	case b.opts.Share == ShareSession && peer.SessionID != "":
		return "session " + peer.SessionID, true, nil
	}
	key, err = b.keys.of(peer)
	return key, false, err
}

// Key identifies the connection that a client uses.
func (b *Bridge) Key(peer *mcp.Peer) string {
	key, _, err := b.keyOf(peer)
	if err != nil { // it has no connection
		return ""
	}
	return key
}

// keyOfPrincipal says which connection the clients of a principal use that can do the same.
// The settings of extensions count: they are for the server to see.
func keyOfPrincipal(peer *mcp.Peer) (string, error) {
	capabilities, err := canonical(&peer.Capabilities)
	return fmt.Sprintf("principal %q %x", peer.Principal, sha256.Sum256(capabilities)), err
}

func canonical(c *mcp.ClientCapabilities) ([]byte, error) {
	raw, err := wire.Marshal(c)
	if err != nil {
		return nil, err
	}
	return wire.Canonical(raw)
}

// whose returns what all clients have in common that use the connection of peer.
func (b *Bridge) whose(peer *mcp.Peer) mcp.Peer {
	switch {
	case b.opts.Share == ShareAll:
		return mcp.Peer{Capabilities: mcp.ClientCapabilities{
			Roots:       &mcp.RootsCapability{},
			Sampling:    &mcp.SamplingCapability{Tools: &mcp.Empty{}},
			Elicitation: &mcp.ElicitationCapability{Form: &mcp.Empty{}, URL: &mcp.Empty{}},
		}}
	case b.opts.Share == ShareSession && peer.SessionID != "":
		return *peer
	}
	return mcp.Peer{Principal: peer.Principal, Authorization: peer.Authorization, Capabilities: peer.Capabilities}
}

// suits reports whether the connection that is for nobody in particular will do for
// whose. Where connections are opened on demand, they may have the credentials of their
// principal.
func (b *Bridge) suits(spare *link, whose *mcp.Peer) bool {
	if b.opts.OnDemand && whose.Principal != "" {
		return false
	}
	has, err := canonical(&spare.peer.Capabilities)
	if err != nil {
		return false
	}
	wants, err := canonical(&whose.Capabilities)
	return err == nil && string(has) == string(wants)
}

// replaces reports whether a connection that is lost gets another in its place. That of
// a session does not, as a rule: with another one, it would go on as if nothing had
// happened.
func (b *Bridge) replaces(l *link) bool { return !l.owned || b.opts.Replace }

// single reports whether one person uses a connection, so that any of the calls there
// will do for asking something.
func (b *Bridge) single(l *link) bool {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	return l.owned || b.opts.Single || b.opts.Share == SharePrincipal && l.peer.Principal != ""
}

// heard remembers whose request the server may come back to. Lists are asked for by
// everybody alike.
func (l *link) heard(method, principal string) {
	if m := mcp.MethodNamed(method); m != nil && m.List {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.whose == nil {
		l.whose = map[string]bool{}
	}
	if len(l.whose) < 2 {
		l.whose[principal] = true
	}
}

// knows reports whether it is certain whose call a question or notification belongs to.
// That only one call is in flight says nothing where a server may speak of what another
// principal has asked for: of a call that was cancelled, of a task, or of one that it has
// answered too early.
func (l *link) knows(ctx context.Context) bool {
	if !client.OriginOf(ctx).Inferred {
		return true
	}
	if _, n := l.b.pool.asked(l); n > 1 { // calls that were given up count, too
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.whose) < 2
}
